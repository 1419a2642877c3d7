//! Results as IOR prints them: table, summary, JSON and CSV, from its documented forms (user guide
//! of hpc/ior, "Output" of version 4).

use std::fmt::Write as _;

use serde_json::{Value, json};

const MIB: f64 = 1_048_576.0;
/// The version whose forms these are.
const FORM: &str = "4.0.0";

/// What one rank did in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IorRank {
    /// Bytes that it moved.
    pub bytes: u64,
    /// Transfers that it made.
    pub transfers: u64,
    /// Time that its file took to open, s.
    pub open_s: f64,
    /// From the common start to its last completion, s.
    pub moved_s: f64,
    /// Time that its file took to close, s.
    pub close_s: f64,
}

/// A phase of a repetition: all ranks write, or all read.
#[derive(Clone, Debug, PartialEq)]
pub struct IorPhase {
    /// `write` or `read`.
    pub access: &'static str,
    /// Repetition, from 0.
    pub iteration: u32,
    /// Its ranks.
    pub ranks: Vec<IorRank>,
}

/// What was asked for, as the header says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IorTest {
    /// As given.
    pub command_line: String,
    /// Version of the program.
    pub program: String,
    /// RFC 3339.
    pub began: String,
    /// RFC 3339.
    pub finished: String,
    /// `uname`.
    pub machine: String,
    /// Names as given, with `@` between them.
    pub file_name: String,
    /// Whether each rank has a file.
    pub file_per_process: bool,
    /// Ranks.
    pub tasks: u32,
    /// Nodes.
    pub nodes: u32,
    /// Repetitions.
    pub repetitions: u32,
    /// Bytes of a transfer.
    pub transfer: u64,
    /// Bytes of a block.
    pub block: u64,
    /// Segments.
    pub segments: u32,
    /// Whether transfers are in random order.
    pub random: bool,
    /// Whether ranks read back what others wrote, by a constant offset.
    pub reorder: bool,
    /// The offset.
    pub task_offset: u32,
    /// Whether ranks read back what others wrote, by chance.
    pub reorder_random: bool,
    /// Seed of the order.
    pub seed: u64,
    /// Seconds after which a phase ends; 0: none.
    pub deadline_s: u32,
    /// Whether it was measured in virtual time.
    pub emulated: bool,
}

/// Figures of a phase.
struct Figures {
    mib_per_s: f64,
    io_per_s: f64,
    latency_s: f64,
    open_s: f64,
    moved_s: f64,
    close_s: f64,
    total_s: f64,
}

impl IorPhase {
    fn bytes(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.bytes).sum()
    }

    /// Bandwidth counts opening and closing, the rate of transfers does not; the latency is the
    /// smallest of the ranks' means.
    fn figures(&self) -> Figures {
        let longest = |of: fn(&IorRank) -> f64| self.ranks.iter().map(of).fold(0.0, f64::max);
        let (open_s, moved_s) = (longest(|r| r.open_s), longest(|r| r.moved_s));
        let close_s = longest(|r| r.close_s);
        let total_s = open_s + moved_s + close_s;
        let transfers: u64 = self.ranks.iter().map(|rank| rank.transfers).sum();
        let means = self.ranks.iter().filter(|rank| rank.transfers > 0);
        let latency = means.map(|rank| rank.moved_s / rank.transfers as f64);
        Figures {
            mib_per_s: per(self.bytes() as f64 / MIB, total_s),
            io_per_s: per(transfers as f64, moved_s),
            latency_s: latency.reduce(f64::min).unwrap_or(-1.0),
            open_s,
            moved_s,
            close_s,
            total_s,
        }
    }
}

fn per(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

/// A number in a column of ten: six decimals below 1, two below 3600, none above, a dash below 0.
fn column(value: f64) -> String {
    let text = match value {
        value if value < 0.0 => "-".to_owned(),
        value if value < 1.0 => format!("{value:.6}"),
        value if value < 3600.0 => format!("{value:.2}"),
        value => format!("{value:.0}"),
    };
    format!("{text:<10} ")
}

/// Everything that IOR prints for people.
pub fn ior_text(test: &IorTest, phases: &[IorPhase], verbose: u32) -> String {
    let mut out = header(test);
    out.push_str(
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\
         ------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----\n",
    );
    for phase in phases {
        let figures = phase.figures();
        let _ = write!(out, "{:<10}", phase.access);
        let columns = [
            figures.mib_per_s,
            figures.io_per_s,
            figures.latency_s,
            test.block as f64 / 1024.0,
            test.transfer as f64 / 1024.0,
            figures.open_s,
            figures.moved_s,
            figures.close_s,
            figures.total_s,
        ];
        out.extend(columns.map(column));
        let _ = writeln!(out, "{:<4}", phase.iteration);
    }
    if verbose > 0 {
        for (name, access) in [("Max Write", "write"), ("Max Read", "read")] {
            if let Some(best) = maximum(phases, access) {
                let _ = writeln!(out, "{name}: {best:.2} MiB/sec ({:.2} MB/sec)", best * MIB / 1e6);
            }
        }
    }
    out.push_str(&summary(test, phases));
    let _ = write!(out, "Finished            : {}", test.finished);
    out
}

fn maximum(phases: &[IorPhase], access: &str) -> Option<f64> {
    let of = phases.iter().filter(|phase| phase.access == access);
    of.map(|phase| phase.figures().mib_per_s).reduce(f64::max)
}

fn header(test: &IorTest) -> String {
    let mark = if test.emulated { " EMULATED" } else { "" };
    let mut out = format!(
        "IOR-{FORM}: MPI Coordinated Test of Parallel I/O (measured by {}{mark})\n",
        test.program
    );
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:<20}: {value}");
    };
    line("Began", &test.began);
    line("Command line", &format!("ior {}", test.command_line));
    line("Machine", &test.machine);
    line("TestID", "0");
    line("StartTime", &test.began);
    out.push_str("\nOptions: \n");
    for (name, value) in options(test) {
        let _ = writeln!(out, "{name:<20}: {value}");
    }
    out.push_str("\nResults: \n\n");
    out
}

fn options(test: &IorTest) -> Vec<(&'static str, String)> {
    let inter = match (test.reorder, test.reorder_random) {
        (_, true) => "random task offset".to_owned(),
        (true, false) => "constant task offset".to_owned(),
        (false, false) => "no tasks offsets".to_owned(),
    };
    let access = if test.file_per_process { "file-per-process" } else { "single-shared-file" };
    let all = test.block * u64::from(test.segments) * u64::from(test.tasks);
    vec![
        ("api", "POSIX".to_owned()),
        ("apiVersion", String::new()),
        ("test filename", test.file_name.clone()),
        ("access", access.to_owned()),
        ("type", "independent".to_owned()),
        ("segments", test.segments.to_string()),
        ("ordering in a file", if test.random { "random" } else { "sequential" }.to_owned()),
        ("ordering inter file", inter),
        ("nodes", test.nodes.to_string()),
        ("tasks", test.tasks.to_string()),
        ("clients per node", (test.tasks / test.nodes.max(1)).to_string()),
        ("repetitions", test.repetitions.to_string()),
        ("xfersize", human(test.transfer)),
        ("blocksize", human(test.block)),
        ("aggregate filesize", human(all)),
    ]
}

/// `1 MiB`, `2.50 GiB`.
fn human(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    match unit {
        None => format!("{bytes} bytes"),
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / unit as f64),
    }
}

/// Least, greatest, mean and standard deviation of a population.
struct Spread {
    max: f64,
    min: f64,
    mean: f64,
    deviation: f64,
}

fn spread(values: &[f64]) -> Spread {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    Spread {
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        mean,
        deviation: variance.sqrt(),
    }
}

/// Bandwidth, transfers of block size per second, and time of the phases of one kind.
fn spreads(test: &IorTest, phases: &[IorPhase], access: &str) -> Option<(Spread, Spread, f64)> {
    let of: Vec<&IorPhase> = phases.iter().filter(|phase| phase.access == access).collect();
    let rates: Vec<f64> = of.iter().map(|phase| phase.figures().mib_per_s).collect();
    let ops: Vec<f64> = rates.iter().map(|rate| rate * MIB / test.transfer as f64).collect();
    let times: Vec<f64> = of.iter().map(|phase| phase.figures().total_s).collect();
    (!of.is_empty()).then(|| (spread(&rates), spread(&ops), spread(&times).mean))
}

fn summary(test: &IorTest, phases: &[IorPhase]) -> String {
    let mut out = String::from(
        "\nSummary of all tests:\n\
         Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum\n",
    );
    for access in ["write", "read"] {
        let Some((rate, ops, mean_s)) = spreads(test, phases, access) else { continue };
        let _ = write!(out, "{access:<9} ");
        for value in [&rate, &ops].iter().flat_map(|s| [s.max, s.min, s.mean, s.deviation]) {
            let _ = write!(out, "{value:10.2} ");
        }
        let all = phases.iter().find(|p| p.access == access).map_or(0, IorPhase::bytes);
        let _ = writeln!(
            out,
            "{mean_s:10.5} {:>10} {:>13} {:5} {:6} {:3} {:4} {:3} {:5} {:8} {:9} {:4} {:6} {:8} {:8} {:9.1} {:>3} {:6}",
            "NA",
            "NA",
            0,
            test.tasks,
            test.tasks / test.nodes.max(1),
            test.repetitions,
            u32::from(test.file_per_process),
            u32::from(test.reorder),
            test.task_offset,
            u32::from(test.reorder_random),
            test.seed,
            test.segments,
            test.block,
            test.transfer,
            all as f64 / MIB,
            "POSIX",
            0
        );
    }
    out
}

/// IOR's JSON (`-O summaryFormat=JSON`): one valid document.
pub fn ior_json(test: &IorTest, phases: &[IorPhase]) -> String {
    let iterations = (0..test.repetitions).map(|iteration| {
        let of = phases.iter().filter(|phase| phase.iteration == iteration);
        Value::Array(of.map(|phase| access(test, phase)).collect())
    });
    let mut max = serde_json::Map::new();
    for access in ["write", "read"] {
        if let Some(best) = maximum(phases, access) {
            max.insert(format!("{access}MiB"), json!(best));
            max.insert(format!("{access}MB"), json!(best * MIB / 1e6));
        }
    }
    let options: serde_json::Map<String, Value> =
        options(test).into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let summaries: Vec<Value> =
        ["write", "read"].iter().filter_map(|name| of_all(test, phases, name)).collect();
    let document = json!({
        "Version": FORM,
        "Program": test.program,
        "Emulated": test.emulated,
        "Began": test.began,
        "Command line": format!("ior {}", test.command_line),
        "Machine": test.machine,
        "tests": [{
            "TestID": 0,
            "StartTime": test.began,
            "Parameters": {
                "testID": 0,
                "api": "POSIX",
                "testFileName": test.file_name,
                "deadlineForStonewall": test.deadline_s,
                "repetitions": test.repetitions,
                "filePerProc": u32::from(test.file_per_process),
                "reorderTasks": u32::from(test.reorder),
                "taskPerNodeOffset": test.task_offset,
                "reorderTasksRandom": u32::from(test.reorder_random),
                "randomOffset": u32::from(test.random),
                "segmentCount": test.segments,
                "blockSize": test.block,
                "transferSize": test.transfer,
                "numTasks": test.tasks,
                "nodes": test.nodes,
            },
            "Options": options,
            "Results": iterations.collect::<Vec<_>>(),
            "max": max,
        }],
        "summary": summaries,
        "Finished": test.finished,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn access(test: &IorTest, phase: &IorPhase) -> Value {
    let figures = phase.figures();
    json!({
        "access": phase.access,
        "bwMiB": figures.mib_per_s,
        "blockKiB": test.block as f64 / 1024.0,
        "xferKiB": test.transfer as f64 / 1024.0,
        "iops": figures.io_per_s,
        "latency": figures.latency_s,
        "openTime": figures.open_s,
        "wrRdTime": figures.moved_s,
        "closeTime": figures.close_s,
        "totalTime": figures.total_s,
    })
}

fn of_all(test: &IorTest, phases: &[IorPhase], name: &str) -> Option<Value> {
    let (rate, ops, mean_s) = spreads(test, phases, name)?;
    Some(json!({
        "operation": name,
        "API": "POSIX",
        "TestID": 0,
        "ReferenceNumber": 0,
        "segmentCount": test.segments,
        "blockSize": test.block,
        "transferSize": test.transfer,
        "numTasks": test.tasks,
        "tasksPerNode": test.tasks / test.nodes.max(1),
        "repetitions": test.repetitions,
        "filePerProc": u32::from(test.file_per_process),
        "reorderTasks": u32::from(test.reorder),
        "taskPerNodeOffset": test.task_offset,
        "reorderTasksRandom": u32::from(test.reorder_random),
        "bwMaxMIB": rate.max,
        "bwMinMIB": rate.min,
        "bwMeanMIB": rate.mean,
        "bwStdMIB": rate.deviation,
        "OPsMax": ops.max,
        "OPsMin": ops.min,
        "OPsMean": ops.mean,
        "OPsSD": ops.deviation,
        "MeanTime": mean_s,
        "xsizeMiB": phases.iter().find(|p| p.access == name).map_or(0.0, |p| p.bytes() as f64 / MIB),
    }))
}

/// IOR's CSV (`-O summaryFormat=CSV`): a row for each phase.
pub fn ior_csv(test: &IorTest, phases: &[IorPhase]) -> String {
    let mut out = String::from(
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter",
    );
    for phase in phases {
        let f = phase.figures();
        let _ = write!(
            out,
            "\n{},{:.4},{:.4},{:.6},{:.2},{:.2},{:.6},{:.6},{:.6},{:.6},{},{}",
            phase.access,
            f.mib_per_s,
            f.io_per_s,
            f.latency_s,
            test.block as f64 / 1024.0,
            test.transfer as f64 / 1024.0,
            f.open_s,
            f.moved_s,
            f.close_s,
            f.total_s,
            test.tasks,
            phase.iteration
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ranks of 8 MiB each; the second is twice as long.
    fn sample() -> (IorTest, Vec<IorPhase>) {
        let rank = |moved_s| IorRank {
            bytes: 8 << 20,
            transfers: 8,
            open_s: 0.25,
            moved_s,
            close_s: 0.25,
        };
        let phase =
            |access, iteration| IorPhase { access, iteration, ranks: vec![rank(0.75), rank(1.5)] };
        let test = IorTest {
            command_line: "-t 1m -b 8m -i 2 -F -o out".into(),
            program: "qdepth 0.1.0".into(),
            file_name: "out".into(),
            file_per_process: true,
            tasks: 2,
            nodes: 1,
            repetitions: 2,
            transfer: 1 << 20,
            block: 8 << 20,
            segments: 1,
            task_offset: 1,
            ..IorTest::default()
        };
        (test, vec![phase("write", 0), phase("read", 0), phase("write", 1), phase("read", 1)])
    }

    /// 16 MiB in 2 s is 8 MiB/s with opening and closing; 16 transfers in 1.5 s are 10.67 a second;
    /// the faster rank took 0.75 s for 8.
    #[test]
    fn the_table_has_the_documented_columns() {
        let (test, phases) = sample();
        let text = ior_text(&test, &phases, 1);
        let row = "write     8.00       10.67      0.093750   8192       1024.00    0.250000   1.50       0.250000   2.00       0   \n";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("Max Write: 8.00 MiB/sec (8.39 MB/sec)"), "{text}");
        let line = "write           8.00       8.00       8.00       0.00       8.00       8.00       8.00       0.00    2.00000         NA            NA     0      2   2    2   1     0        1         0    0      1  8388608  1048576      16.0 POSIX      0\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("access              : file-per-process\n"), "{text}");
    }

    #[test]
    fn the_json_is_one_document() {
        let (test, phases) = sample();
        let document: Value = serde_json::from_str(&ior_json(&test, &phases)).unwrap();
        let results = &document["tests"][0]["Results"];
        assert_eq!(results.as_array().unwrap().len(), 2);
        assert_eq!(results[1][1]["access"], "read");
        assert_eq!(results[0][0]["bwMiB"], 8.0);
        assert_eq!(document["summary"][1]["bwStdMIB"], 0.0);
    }

    #[test]
    fn the_csv_has_a_row_for_each_phase() {
        let (test, phases) = sample();
        let text = ior_csv(&test, &phases);
        assert_eq!(text.lines().count(), 5);
        assert!(text.lines().nth(1).unwrap().starts_with("write,8.0000,10.6667,0.093750,8192.00"));
    }
}
