//! `qdepth host calibrate TARGET`: finds the engine that reads this storage fastest.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use qdepth_files::shell_word;
use qdepth_host::{Problem, Refusal};
use qdepth_linux::{Engine, EngineChoice};
use qdepth_measure::Grade;
use qdepth_record::{PointRecord, PointSummary};
use qdepth_report::Table;
use qdepth_workload::{Choices, PlanFile};

use crate::commands::read::{print_list, table};
use crate::commands::run::measure_on;
use crate::exit_status::Status;
use crate::flags::{LOGBOOK_NAME, RunReport};
use crate::screen::Screen;
use crate::terminal::print;
use qdepth_lab::failure::Usage;
use qdepth_lab::request::{PlanRequest, RunRequest};

/// Number of rounds. Engines alternate within a round, so that drift affects all alike. Five is the
/// smallest number for which two engines are separated completely by chance in less than 1 % of
/// cases (1 of 126; Mann and Whitney 1947).
const ROUNDS: usize = 5;
/// Queue depths: one I/O at a time, and enough to keep a drive busy.
const OUTSTANDING: [u32; 2] = [1, 32];

/// Plan of one round: reads of a small area, because the test compares engines, not storage.
const PLAN: &str = r#"
name = "engines"
profiles = ["random-4k-read"]
warm_up = "100ms"
duration = "300ms"
file_size = "64MiB"
"#;

/// Note below a table in which a dash replaces a figure.
const NONE_VALID: &str = "–: no round was valid; `qdepth host check` shows what interferes.";

/// IOPS and CPU time per I/O (ns) of each valid round.
#[derive(Default)]
struct RoundResults {
    io_per_s: Vec<f64>,
    cpu_ns: Vec<f64>,
}

/// Rounds of an engine by queue depth, or the reason why the storage or the kernel refuses it.
type EngineResult = Result<BTreeMap<u32, RoundResults>, String>;

/// Reads the target with each engine, round-robin, and prints the fastest.
///
/// # Errors
/// If no engine can read the target: the error of the default engine.
pub(crate) fn compare(target: &Path) -> Result<Status> {
    if target.to_str().is_some_and(qdepth_media::is_emulated) {
        anyhow::bail!(Usage(format!(
            "{} is emulated, so the kernel's engines cannot read it. Name a file, a directory or a \
             block device",
            target.display()
        )));
    }
    // A mapping always uses the page cache, so it is not comparable.
    let engines = Engine::ALL.into_iter().filter(|engine| *engine != Engine::Mmap);
    let mut answers: Vec<(Engine, EngineResult)> =
        engines.map(|engine| (engine, Ok(BTreeMap::new()))).collect();
    for round in 0..ROUNDS {
        let mut turn: Vec<_> = answers.iter_mut().collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for (engine, answer) in turn {
            let Ok(tried) = answer else { continue };
            match measured(target, *engine) {
                Ok((interrupted @ Status::Interrupted(_), _)) => return Ok(interrupted),
                Ok((_, points)) => add(tried, &points),
                // If `threads` fails too, the fault lies with the target, not with io_uring.
                Err(why) if *engine == Engine::IoUring && round == 0 => {
                    let usual = measured(target, Engine::Threads);
                    *answer = Err(usual.map(|_| reason(&why)).map_err(|_| why)?);
                }
                Err(why) => *answer = Err(reason(&why)),
            }
        }
    }
    print_list(&rates_table(target, &answers))?;
    print(&verdict(target, &answers))?;
    Ok(Status::Valid)
}

fn measured(target: &Path, engine: Engine) -> Result<(Status, Vec<PointRecord>)> {
    let file: PlanFile =
        PLAN.parse().context("the plan of engines cannot be read (internal error)")?;
    let queue_depth = if engine == Engine::Sync { &OUTSTANDING[..1] } else { &OUTSTANDING };
    let file = PlanFile { queue_depth: queue_depth.to_vec(), ..file };
    let plan =
        PlanRequest { file, choices: Choices::default(), targets: vec![target.to_path_buf()] };
    let engine = EngineChoice::Only(engine);
    let usual = RunRequest::new(plan, LOGBOOK_NAME.into());
    let request = RunRequest { is_kept: false, engine, ..usual };
    let mut points = Vec::new();
    let screen = Screen::quiet();
    let status = measure_on(&screen, &screen, &RunReport::none(), &request, |ran| {
        points.clone_from(&ran.points);
        Ok(())
    })?;
    Ok((status, points))
}

fn add(tried: &mut BTreeMap<u32, RoundResults>, points: &[PointRecord]) {
    for point in points {
        let entry = tried.entry(point.queue_depth).or_default();
        // Invalid points say nothing about the engine.
        if Grade::from_findings(&point.findings) == Grade::C {
            continue;
        }
        let summary = PointSummary::from_point(point);
        let cpu = summary.cpu_user_ns_per_io.zip(summary.cpu_system_ns_per_io);
        entry.io_per_s.push(summary.io_per_s.value);
        entry.cpu_ns.extend(cpu.map(|(user, system)| user + system));
    }
}

/// Error text without the advice, which applies to `qdepth run`.
fn reason(why: &anyhow::Error) -> String {
    let refusal = why.downcast_ref::<Refusal>().or_else(|| match why.downcast_ref::<Problem>() {
        Some(Problem::Refused(refusal)) => Some(refusal),
        _ => None,
    });
    refusal.map_or_else(|| format!("{why:#}"), |refusal| refusal.found.clone())
}

fn rates_table(target: &Path, answers: &[(Engine, EngineResult)]) -> Table {
    let taken =
        || answers.iter().filter_map(|(engine, answer)| Some((engine, answer.as_ref().ok()?)));
    let found = || {
        taken().flat_map(|(engine, tried)| {
            tried.iter().map(move |at_intensity| (engine, at_intensity))
        })
    };
    let none_valid = found().any(|(_, (_, tried))| tried.io_per_s.is_empty());
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.0}"));
    let row = |(engine, (queue_depth, tried)): (&Engine, (&u32, &RoundResults))| {
        let rates = spread(&tried.io_per_s);
        let figures = [1, 0, 2].map(|at| shown(rates.map(|rates| rates[at])));
        let cpu = shown(spread(&tried.cpu_ns).map(|[_, middle, _]| middle));
        let head = [engine.name().to_owned(), queue_depth.to_string()];
        head.into_iter().chain(figures).chain([cpu]).collect()
    };
    let headings = ["engine", "queue depth", "IOPS", "lowest", "highest", "CPU per I/O"];
    let mut table = table(&headings, found().map(row).collect());
    for (column, unit) in table.columns.iter_mut().zip(["", "", "IOPS", "IOPS", "IOPS", "ns"]) {
        unit.clone_into(&mut column.unit);
    }
    table.caption = format!(
        "Random reads of 4 KiB of {} by each engine, medians of {ROUNDS} rounds",
        target.display()
    );
    table.note = if none_valid { NONE_VALID.to_owned() } else { String::new() };
    table
}

/// Smallest value, median and largest value; `None` without values.
fn spread(values: &[f64]) -> Option<[f64; 3]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some([*sorted.first()?, sorted[sorted.len() / 2], *sorted.last()?])
}

fn verdict(target: &Path, answers: &[(Engine, EngineResult)]) -> String {
    let mut lines = Vec::new();
    for queue_depth in OUTSTANDING {
        let tried = answers.iter().filter_map(|(engine, answer)| {
            let tried = answer.as_ref().ok()?.get(&queue_depth)?;
            Some((*engine, spread(&tried.io_per_s)))
        });
        lines.push(best(queue_depth, &tried.collect::<Vec<_>>()));
    }
    lines.push(format!(
        "By default, qdepth uses io_uring if possible. To use another engine:\n  qdepth run \
         standard {} --engine NAME",
        shell_word(&target.to_string_lossy())
    ));
    let refused = answers.iter().filter_map(|(engine, answer)| {
        let why = answer.as_ref().err()?;
        let why =
            why.strip_prefix(engine.name()).and_then(|why| why.strip_prefix(": ")).unwrap_or(why);
        Some(format!("{} cannot be used: {why}", engine.name()))
    });
    lines.extend(refused);
    lines.join("\n")
}

/// Fastest engine, if there is one: its slowest round is faster than every round of the others. An
/// engine without a valid round is ignored.
fn best(queue_depth: u32, tried: &[(Engine, Option<[f64; 3]>)]) -> String {
    let rates: Vec<(Engine, [f64; 3])> =
        tried.iter().filter_map(|(engine, rates)| Some((*engine, (*rates)?))).collect();
    let fastest = rates.iter().max_by(|(_, rate), (_, other)| rate[1].total_cmp(&other[1]));
    let Some((first, [least, middle, _])) = fastest else {
        return format!("queue depth {queue_depth}: no round of any engine was valid");
    };
    let among = if rates.len() < tried.len() { " of those with a valid round" } else { "" };
    let others = rates.iter().filter(|(engine, _)| engine != first);
    let as_fast: Vec<&str> =
        others.filter(|(_, [.., most])| most >= least).map(|(engine, _)| engine.name()).collect();
    let usual = rates.iter().find(|(engine, _)| *engine == Engine::IoUring);
    let factor = usual
        .filter(|_| *first != Engine::IoUring)
        .map(|(_, [_, usual, _])| format!(", {:.2} times the rate of io_uring", middle / usual));
    if as_fast.is_empty() {
        format!(
            "queue depth {queue_depth}: {} is the fastest{among}{}",
            first.name(),
            factor.unwrap_or_default()
        )
    } else {
        format!(
            "queue depth {queue_depth}: {} and {} do not differ significantly",
            first.name(),
            as_fast.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fastest_engine_beats_every_round_of_other_engines() {
        let usual = (Engine::IoUring, Some([90.0, 100.0, 110.0]));
        let apart = best(1, &[usual, (Engine::Sync, Some([120.0, 150.0, 160.0]))]);
        assert_eq!(apart, "queue depth 1: sync is the fastest, 1.50 times the rate of io_uring");
        let alike = best(1, &[usual, (Engine::Sync, Some([105.0, 150.0, 160.0]))]);
        assert_eq!(alike, "queue depth 1: sync and io_uring do not differ significantly");
        let slower = best(32, &[usual, (Engine::Threads, Some([50.0, 60.0, 70.0]))]);
        assert_eq!(slower, "queue depth 32: io_uring is the fastest");
        let unknown = best(32, &[usual, (Engine::Threads, None)]);
        assert_eq!(unknown, "queue depth 32: io_uring is the fastest of those with a valid round");
        let none = best(32, &[(Engine::IoUring, None), (Engine::Threads, None)]);
        assert_eq!(none, "queue depth 32: no round of any engine was valid");
    }
}
