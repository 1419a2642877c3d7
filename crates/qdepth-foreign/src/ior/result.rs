//! Export of results in IOR's formats: table, summary, CSV and CSV of ranks. Written from the
//! documentation (user guide of hpc/ior, "Output") and from IOR's output.

use std::fmt::Write as _;

use super::Ior;
use crate::spread::Spread;

pub(super) const MIB: f64 = 1_048_576.0;
/// Version of IOR whose formats these are.
pub(super) const FORM: &str = "4.0.0";

/// Results of one rank in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IorRank {
    /// Bytes transferred.
    pub bytes: u64,
    /// Number of transfers.
    pub transfers: u64,
    /// Time to open the file, s.
    pub open_s: f64,
    /// Time from the common start to the last completion, s.
    pub moved_s: f64,
    /// Time to close the file, s.
    pub close_s: f64,
    /// Time from the common start to the deadline, if the task continued after it, s.
    pub wall_s: f64,
    /// Bytes transferred before the deadline.
    pub wall_bytes: u64,
}

/// Phase of a repetition: all ranks write, or all read.
#[derive(Clone, Debug, PartialEq)]
pub struct IorPhase {
    /// `write` or `read`.
    pub access: &'static str,
    /// Repetition, from 0.
    pub iteration: u32,
    /// Results of all ranks.
    pub ranks: Vec<IorRank>,
}

/// File system of the test files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileSystem {
    /// Path of the first file.
    pub path: String,
    /// Size, bytes.
    pub total_bytes: u64,
    /// Free space, bytes.
    pub free_bytes: u64,
    /// Number of inodes.
    pub inodes: u64,
    /// Number of free inodes.
    pub free_inodes: u64,
}

/// Test with its results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IorTest {
    /// Command line.
    pub ior: Ior,
    /// Number of the test, from 0.
    pub id: u32,
    /// Start time, RFC 3339.
    pub began: String,
    /// Number of ranks.
    pub tasks: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// File system of the test files.
    pub file_system: Option<FileSystem>,
    /// Phases, in order.
    pub phases: Vec<IorPhase>,
}

/// All tests of a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IorRun {
    /// Command line.
    pub command_line: String,
    /// Version of the program.
    pub program: String,
    /// Start time, RFC 3339.
    pub began: String,
    /// End time, RFC 3339.
    pub finished: String,
    /// Output of `uname`.
    pub machine: String,
    /// True if it was measured in virtual time.
    pub emulated: bool,
    /// Tests, in order.
    pub tests: Vec<IorTest>,
}

/// Figures of a phase.
pub(super) struct Figures {
    pub(super) mib_per_s: f64,
    pub(super) io_per_s: f64,
    pub(super) latency_s: f64,
    pub(super) open_s: f64,
    pub(super) moved_s: f64,
    pub(super) close_s: f64,
    pub(super) total_s: f64,
}

impl IorPhase {
    pub(super) fn bytes(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.bytes).sum()
    }

    /// Maximum number of transfers of a rank.
    pub fn pairs(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.transfers).max().unwrap_or(0)
    }

    /// Deadline, s, and mean bytes per rank until then.
    fn wall(&self) -> (f64, f64) {
        let bytes: u64 = self.ranks.iter().map(|rank| rank.wall_bytes).sum();
        let wall_s = self.ranks.iter().map(|rank| rank.wall_s).fold(0.0, f64::max);
        (wall_s, bytes as f64 / self.ranks.len().max(1) as f64)
    }

    /// Figures of the phase. The bandwidth includes opening and closing, the rate of transfers does
    /// not. The latency is the smallest mean of a rank.
    pub(super) fn figures(&self) -> Figures {
        let longest = |time: fn(&IorRank) -> f64| self.ranks.iter().map(time).fold(0.0, f64::max);
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

    /// Columns of the table and of the CSV.
    fn columns(&self, ior: &Ior) -> [f64; 9] {
        let f = self.figures();
        let [block, transfer] = [ior.block, ior.transfer].map(|bytes| bytes as f64 / 1024.0);
        let [mib, ios, latency] = [f.mib_per_s, f.io_per_s, f.latency_s];
        [mib, ios, latency, block, transfer, f.open_s, f.moved_s, f.close_s, f.total_s]
    }
}

fn per(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

/// Number in a column of ten characters: six decimals below 1, two below 3600, none above, a dash
/// if negative.
fn column(value: f64) -> String {
    let text = match value {
        value if value < 0.0 => "-".to_owned(),
        value if value < 1.0 => format!("{value:.6}"),
        value if value < 3600.0 => format!("{value:.2}"),
        value => format!("{value:.0}"),
    };
    format!("{text:<10} ")
}

/// IOR's text output.
pub fn ior_text(run: &IorRun) -> String {
    let mut out = header(run);
    for test in &run.tests {
        begin(&mut out, test);
        out.push_str(
            "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) \
             xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\
             ------    ---------  ----       ----------  ---------- \
             ---------  --------   --------   --------   --------   ----\n",
        );
        test.phases.iter().for_each(|phase| row(&mut out, &test.ior, phase));
        if test.ior.verbose > 0 {
            for (name, access) in [("Max Write:", "write"), ("Max Read: ", "read")] {
                if let Some(best) = maximum(&test.phases, access) {
                    let mb = best * MIB / 1e6;
                    let _ = writeln!(out, "{name} {best:.2} MiB/sec ({mb:.2} MB/sec)");
                }
            }
        }
    }
    out.push_str(&summary(run));
    let _ = write!(out, "Finished            : {}", run.finished);
    out
}

fn row(out: &mut String, ior: &Ior, phase: &IorPhase) {
    if ior.wear_out {
        let (least, (wall_s, mean)) =
            (phase.ranks.iter().map(|rank| rank.wall_bytes).min().unwrap_or(0), phase.wall());
        let gib = |bytes: f64| bytes / MIB / 1024.0;
        let _ = writeln!(
            out,
            "stonewalling pairs accessed min: {} max: {} -- min data: {:.1} GiB mean data: {:.1} \
             GiB time: {wall_s:.1}s",
            least / ior.transfer.max(1),
            phase.pairs(),
            gib(least as f64),
            gib(mean)
        );
    }
    let _ = write!(out, "{:<10}", phase.access);
    out.extend(phase.columns(ior).map(column));
    let _ = writeln!(out, "{:<4}", phase.iteration);
}

pub(super) fn maximum(phases: &[IorPhase], access: &str) -> Option<f64> {
    let of_access = phases.iter().filter(|phase| phase.access == access);
    of_access.map(|phase| phase.figures().mib_per_s).reduce(f64::max)
}

fn header(run: &IorRun) -> String {
    let mark = if run.emulated { " EMULATED" } else { "" };
    let mut out = format!(
        "IOR-{FORM}: MPI Coordinated Test of Parallel I/O (measured by {}{mark})\n",
        run.program
    );
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:<20}: {value}");
    };
    line("Began", &run.began);
    line("Command line", &format!("ior {}", run.command_line));
    line("Machine", &run.machine);
    out
}

fn begin(out: &mut String, test: &IorTest) {
    let _ = writeln!(out, "{:<20}: {}", "TestID", test.id);
    let _ = writeln!(out, "{:<20}: {}", "StartTime", test.began);
    if let Some(FileSystem { path, .. }) = &test.file_system {
        let Space { capacity, used, inodes, used_inodes } = space(test);
        let _ = writeln!(out, "{:<20}: {path}", "Path");
        let _ = writeln!(
            out,
            "{:<20}: {capacity}   Used FS: {used}   Inodes: {inodes}   Used Inodes: {used_inodes}",
            "FS"
        );
    }
    out.push_str("\nOptions: \n");
    for (name, value) in options(test) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(out, "{name:<20}: {value}");
    }
    out.push_str("\nResults: \n\n");
}

/// Space of a file system, as text.
pub(crate) struct Space {
    pub(crate) capacity: String,
    pub(crate) used: String,
    pub(crate) inodes: String,
    pub(crate) used_inodes: String,
}

pub(super) fn space(test: &IorTest) -> Space {
    test.file_system.clone().unwrap_or_default().space()
}

impl FileSystem {
    pub(crate) fn space(&self) -> Space {
        let gib = self.total_bytes as f64 / (1_u64 << 30) as f64;
        let capacity = match gib > 1024.0 {
            true => format!("{:.1} TiB", gib / 1024.0),
            false => format!("{gib:.1} GiB"),
        };
        let used =
            |free: u64, all: u64| format!("{:2.1}%", (1.0 - per(free as f64, all as f64)) * 100.0);
        Space {
            capacity,
            used: used(self.free_bytes, self.total_bytes),
            inodes: format!("{:.1} Mi", self.inodes as f64 / MIB),
            used_inodes: used(self.free_inodes, self.inodes),
        }
    }
}

/// IOR's option summary before the results of a test.
pub(super) fn options(test: &IorTest) -> Vec<(&'static str, serde_json::Value)> {
    let ior = &test.ior;
    let access = if ior.file_per_process { "file-per-process" } else { "single-shared-file" };
    let all = ior.block.saturating_mul(u64::from(ior.segments)).saturating_mul(test.tasks.into());
    let mut options: Vec<(&'static str, serde_json::Value)> = vec![
        ("api", "POSIX".into()),
        ("apiVersion", "".into()),
        ("test filename", ior.files.join("@").into()),
        ("access", access.into()),
        ("type", "independent".into()),
        ("segments", ior.segments.into()),
        ("ordering in a file", if ior.random > 0 { "random" } else { "sequential" }.into()),
    ];
    let inter = match (ior.reorder > 0, ior.reorder_random > 0) {
        (_, true) => "random task offset",
        (true, false) => "constant task offset",
        (false, false) => "no tasks offsets",
    };
    options.push(("ordering inter file", inter.into()));
    if ior.reorder > 0 || ior.reorder_random > 0 {
        options.push(("task offset", ior.task_offset.into()));
    }
    if ior.reorder_random > 0 {
        options.push(("reorder random seed", ior.reorder_seed.into()));
    }
    options.extend([
        ("nodes", test.nodes.into()),
        ("tasks", test.tasks.into()),
        ("clients per node", (test.tasks / test.nodes.max(1)).into()),
        ("memoryBuffer", "CPU".into()),
        ("dataAccess", "CPU".into()),
        ("GPUDirect", "0".into()),
        ("repetitions", ior.repetitions.into()),
        ("xfersize", human(ior.transfer).into()),
        ("blocksize", human(ior.block).into()),
        ("aggregate filesize", human(all).into()),
    ]);
    if ior.verbose > 0 {
        options.push(("verbose", ior.verbose.into()));
    }
    if ior.deadline_s > 0 {
        options.push(("stonewallingTime", ior.deadline_s.into()));
        options.push(("stoneWallingWearOut", u32::from(ior.wear_out).into()));
    }
    options
}

/// Formats bytes: `65536 bytes`, `1 MiB`, `2.50 GiB`.
fn human(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    match unit {
        None => format!("{bytes} bytes"),
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / unit as f64),
    }
}

/// Summary of all phases of one kind.
pub(super) struct PhaseSummary {
    /// Bandwidth, MiB/s.
    pub(super) rate: Spread,
    /// Transfers per second, derived from the bandwidth.
    pub(super) ops: Spread,
    pub(super) mean_s: f64,
    /// MiB transferred in the first phase.
    pub(super) mib: f64,
    /// Deadline, s, and MiB/s per rank until then.
    pub(super) wall: Option<(f64, f64)>,
}

pub(super) fn phase_summary(test: &IorTest, access: &str) -> Option<PhaseSummary> {
    let phases: Vec<&IorPhase> =
        test.phases.iter().filter(|phase| phase.access == access).collect();
    let rates: Vec<f64> = phases.iter().map(|phase| phase.figures().mib_per_s).collect();
    let ops: Vec<f64> = rates.iter().map(|rate| rate * MIB / test.ior.transfer as f64).collect();
    let times: Vec<f64> = phases.iter().map(|phase| phase.figures().total_s).collect();
    let (wall_s, bytes) = phases.iter().map(|phase| phase.wall()).fold((0.0, 0.0), |sum, wall| {
        let (time, bytes): (f64, f64) = sum;
        (time + wall.0, bytes + wall.1)
    });
    let wall = (wall_s / phases.len().max(1) as f64, per(bytes / MIB, wall_s));
    Some(PhaseSummary {
        mib: phases.first()?.bytes() as f64 / MIB,
        rate: Spread::new(&rates, 0),
        ops: Spread::new(&ops, 0),
        mean_s: Spread::new(&times, 0).mean,
        wall: Some(wall).filter(|_| test.ior.wear_out),
    })
}

fn summary(run: &IorRun) -> String {
    let mut out = String::from(
        "\nSummary of all tests:\n\
         Operation   \
         Max(MiB)   \
         Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) \
         Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed \
         segcnt   blksiz    xsize aggs(MiB)   API RefNum\n",
    );
    for test in &run.tests {
        for access in ["write", "read"] {
            if let Some(totals) = phase_summary(test, access) {
                summary_line(&mut out, test, access, &totals);
            }
        }
    }
    out
}

fn summary_line(out: &mut String, test: &IorTest, access: &str, totals: &PhaseSummary) {
    let ior = &test.ior;
    let _ = write!(out, "{access:<9} ");
    for value in
        [&totals.rate, &totals.ops].iter().flat_map(|s| [s.max, s.min, s.mean, s.deviation])
    {
        let _ = write!(out, "{value:10.2} ");
    }
    let none = || "NA".to_owned();
    let _ = writeln!(
        out,
        "{:10.5} {:>10} {:>13} {:5} {:6} {:3} {:4} {:3} {:5} {:8} {:9} {:4} {:6} {:8} {:8} {:9.1} \
         {:>3} {:6}",
        totals.mean_s,
        totals.wall.map_or_else(none, |(seconds, _)| format!("{seconds:.2}")),
        totals.wall.map_or_else(none, |(_, rate)| format!("{rate:.2}")),
        test.id,
        test.tasks,
        test.tasks / test.nodes.max(1),
        ior.repetitions,
        u32::from(ior.file_per_process),
        ior.reorder,
        ior.task_offset,
        ior.reorder_random,
        ior.reorder_seed,
        ior.segments,
        ior.block,
        ior.transfer,
        totals.mib,
        "POSIX",
        ior.reference
    );
}

/// IOR's CSV (`-O summaryFormat=CSV`): a row per phase.
pub fn ior_csv(run: &IorRun) -> String {
    let mut out = String::from(
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),\
         numTasks,iter",
    );
    for (test, phase) in
        run.tests.iter().flat_map(|test| test.phases.iter().map(move |p| (test, p)))
    {
        let _ = write!(out, "\n{},", phase.access);
        for (value, decimals) in phase.columns(&test.ior).iter().zip([4, 4, 6, 2, 2, 6, 6, 6, 6]) {
            let _ = write!(out, "{value:.decimals$},");
        }
        let _ = write!(out, "{},{}", test.tasks, phase.iteration);
    }
    out
}

/// CSV of `-O saveRankPerformanceDetailsCSV`: times of each rank, and its rates for the mean bytes
/// per rank.
pub fn ior_ranks_csv(run: &IorRun) -> String {
    let mut out = String::from(
        "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n",
    );
    for phase in run.tests.iter().flat_map(|test| &test.phases) {
        let bytes = phase.bytes() as f64 / phase.ranks.len().max(1) as f64;
        for (number, rank) in phase.ranks.iter().enumerate() {
            let all_s = rank.open_s + rank.moved_s + rank.close_s;
            let [all, moved] = [all_s, rank.moved_s].map(|seconds| per(bytes, seconds));
            let values = [all_s, rank.moved_s, all, moved].map(exponent);
            let _ = writeln!(out, "{},{number},{}", phase.access, values.join(","));
        }
    }
    out
}

/// Number in C's `%.10e` format.
fn exponent(value: f64) -> String {
    let text = format!("{value:.10e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Ranks whose time deviates from the mean by more than `most_s` seconds (`-j`).
pub fn ior_outliers(phases: &[IorPhase], most_s: u32) -> Vec<String> {
    type Time = (&'static str, fn(&IorRank) -> f64);
    let times: [Time; 3] = [
        ("elapsed create time", |rank| rank.open_s),
        ("elapsed transfer time", |rank| rank.moved_s),
        ("elapsed close time", |rank| rank.close_s),
    ];
    let mut lines = Vec::new();
    for phase in phases.iter().filter(|_| most_s > 0) {
        for (name, time) in times {
            let values: Vec<f64> = phase.ranks.iter().map(time).collect();
            let Spread { mean, deviation, .. } = Spread::new(&values, 0);
            for (rank, value) in values.iter().enumerate() {
                if (value - mean).abs() > f64::from(most_s) {
                    lines.push(format!(
                        "task {rank}, {} {name} is {value:.6} (mean={mean:.6}, \
                         stddev={deviation:.6})",
                        phase.access
                    ));
                }
            }
        }
    }
    lines
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ior::ior_json;
    use serde_json::Value;

    /// Two ranks of 8 MiB each; the second is twice as long.
    pub(crate) fn sample(options: &str) -> IorRun {
        let line = format!("-t 1m -b 8m -i 2 -F -o out {options}");
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let rank = |moved_s| IorRank {
            bytes: 8 << 20,
            transfers: 8,
            open_s: 0.25,
            moved_s,
            close_s: 0.25,
            wall_s: 0.5,
            wall_bytes: 4 << 20,
        };
        let phase =
            |access, iteration| IorPhase { access, iteration, ranks: vec![rank(0.75), rank(1.5)] };
        let test = IorTest {
            ior: Ior::read(&words).unwrap(),
            tasks: 2,
            nodes: 1,
            phases: vec![phase("write", 0), phase("read", 0), phase("write", 1), phase("read", 1)],
            ..IorTest::default()
        };
        IorRun {
            command_line: line.trim().to_owned(),
            program: "qdepth 0.1.0".into(),
            tests: vec![test],
            ..IorRun::default()
        }
    }

    /// 16 MiB in 2 s is 8 MiB/s with opening and closing; 16 transfers in 1.5 s are 10.67 a second;
    /// the faster rank took 0.75 s for 8.
    #[test]
    fn ior_table_has_the_documented_columns() {
        let text = ior_text(&sample("-v"));
        let row = "write     \
                   8.00       \
                   10.67      \
                   0.093750   \
                   8192       1024.00    0.250000   1.50       0.250000   2.00       0   \n";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("Max Write: 8.00 MiB/sec (8.39 MB/sec)"), "{text}");
        let line = "write           \
                    8.00       \
                    8.00       \
                    8.00       \
                    0.00       \
                    8.00       \
                    8.00       \
                    8.00       \
                    0.00    \
                    2.00000         \
                    NA            \
                    NA     \
                    0      \
                    2   \
                    2    2   1     0        1         0    0      1  8388608  1048576      16.0 \
                    POSIX      0\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("access              : file-per-process\n"), "{text}");
    }

    #[test]
    fn ior_json_is_a_single_document() {
        let document: Value = serde_json::from_str(&ior_json(&sample(""))).unwrap();
        let results = &document["tests"][0]["Results"];
        assert_eq!(results.as_array().unwrap().len(), 4, "one after the other, as IOR's");
        assert_eq!(results[1]["access"], "read");
        assert_eq!(results[0]["bwMiB"], 8.0);
        assert_eq!(document["summary"][1]["bwStdMIB"], 0.0);
    }

    #[test]
    fn ior_csv_has_a_row_per_phase() {
        let text = ior_csv(&sample(""));
        assert_eq!(text.lines().count(), 5);
        assert!(text.lines().nth(1).unwrap().starts_with("write,8.0000,10.6667,0.093750,8192.00"));
    }

    #[test]
    fn stonewall_wear_out_has_separate_figures() {
        let text = ior_text(&sample("-D 1 -O stoneWallingWearOut=1 -A 7"));
        let expected = "stonewalling pairs accessed min: 4 max: 8 -- min data: 0.0 GiB mean data: \
                        0.0 GiB time: 0.5s\nwrite ";
        assert!(text.contains(expected), "{text}");
        // 4 MiB a rank in half a second.
        assert!(text.contains("    2.00000       0.50          8.00     0 "), "{text}");
        assert!(text.lines().any(|line| line.ends_with("POSIX      7")), "{text}");
    }

    #[test]
    fn ranks_csv_has_a_row_per_rank() {
        let text = ior_ranks_csv(&sample(""));
        assert_eq!(text.lines().count(), 9);
        let row = "write,0,1.2500000000e+00,7.5000000000e-01,6.7108864000e+06,1.1184810667e+07";
        assert_eq!(text.lines().nth(1).unwrap(), row);
    }

    #[test]
    fn ranks_far_from_mean_are_named() {
        let mut phases = sample("").tests[0].phases.clone();
        phases[0].ranks[1].moved_s = 10.0;
        let lines = ior_outliers(&phases, 3);
        assert_eq!(lines.len(), 2, "both are as far from the mean: {lines:?}");
        assert!(lines[1].starts_with("task 1, write elapsed transfer time is 10.0"), "{lines:?}");
        assert!(ior_outliers(&phases, 5).is_empty() && ior_outliers(&phases, 0).is_empty());
    }
}
