//! Results in mdtest's format, written from its output.

use std::fmt::Write as _;

use super::Mdtest;
use crate::ior::FileSystem;
use crate::ior::result::Space;
use crate::spread::Spread;

/// Version of mdtest whose format this is.
const FORM: &str = "4.1.0";

/// Results of a phase of a repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MdtestPhase {
    /// Name in the summary, for example `File creation`.
    pub name: String,
    /// Number of operations of all tasks.
    pub operations: u64,
    /// Time from the common start to the end of the last task, s.
    pub seconds: f64,
}

/// Results of a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MdtestRun {
    /// Command line.
    pub mdtest: Mdtest,
    /// Version of the program.
    pub program: String,
    /// Start time.
    pub began: String,
    /// End time.
    pub finished: String,
    /// Number of tasks.
    pub tasks: u32,
    /// File system of the directory.
    pub file_system: FileSystem,
    /// Phases of all repetitions, in order.
    pub phases: Vec<MdtestPhase>,
}

/// Text output of mdtest.
pub fn mdtest_text(run: &MdtestRun) -> String {
    let MdtestRun { mdtest, tasks, file_system, .. } = run;
    let items = mdtest.items.saturating_mul(u64::from(*tasks));
    let kind = match (mdtest.files_only, mdtest.directories_only) {
        (true, _) => "files",
        (_, true) => "directories",
        _ => "files/directories",
    };
    let Space { capacity, used, inodes, used_inodes } = file_system.space();
    let mut out = format!(
        "-- started at {} --\n\n\
         mdtest-{FORM}+{} was launched with {tasks} total task(s) on 1 node(s)\n\
         Command line used: mdtest{}\n\
         Path                : {}\n\
         FS                  : {capacity}   Used FS: {used}   Inodes: {inodes}   Used Inodes: \
         {used_inodes}\n\
         {tasks} tasks, {items} {kind}\n",
        run.began, run.program, mdtest.command_line, file_system.path,
    );
    if !mdtest.time || mdtest.rate_and_time {
        summary(&mut out, run, "rate (in ops/sec)", |phase| per(phase.operations, phase.seconds));
    }
    if mdtest.time || mdtest.rate_and_time {
        let each = |phase: &MdtestPhase| {
            let of_task = phase.operations as f64 / f64::from(run.tasks);
            if of_task > 0.0 { phase.seconds * 1e3 / of_task } else { 0.0 }
        };
        summary(&mut out, run, "time (in ms/op)", each);
    }
    let _ = writeln!(out, "-- finished at {} --", run.finished);
    out
}

fn per(amount: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount as f64 / seconds } else { 0.0 }
}

/// A table. Phases that did not run have zeros, as mdtest prints them.
fn summary(out: &mut String, run: &MdtestRun, what: &str, value: impl Fn(&MdtestPhase) -> f64) {
    let _ = write!(
        out,
        "\nSUMMARY {what}: (of {} iterations)\n   \
         Operation                     Max            Min           Mean        Std Dev\n   \
         ---------                     ---            ---           ----        -------\n",
        run.mdtest.iterations
    );
    let rows = |kind: &'static str, shown: bool, names: &'static [&'static str]| {
        names.iter().filter(move |_| shown).map(move |name| format!("{kind} {name}"))
    };
    let all = rows("Directory", !run.mdtest.files_only, &["creation", "stat", "rename", "removal"])
        .chain(rows("File", !run.mdtest.directories_only, &["creation", "stat", "read", "removal"]))
        .chain(rows("Tree", true, &["creation", "removal"]));
    for name in all {
        let values: Vec<f64> =
            run.phases.iter().filter(|phase| phase.name == name).map(&value).collect();
        let Spread { max, min, mean, deviation, .. } = Spread::new(&values, 1);
        let _ =
            writeln!(out, "   {name:<18}     {max:14.3} {min:14.3} {mean:14.3} {deviation:14.3}");
    }
}
