//! The other ranks of a run: what the leader sends them before the first point, and their main
//! function.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use qdepth_host::target::Kind;
use qdepth_linux::EngineChoice;
use qdepth_media::is_emulated;
use qdepth_workload::{Layout, Plan, Point, Stop};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Lab;
use crate::execute::execute;
use crate::execute::measure_options::MeasureOptions;
use crate::execute::written::Written;
use crate::failure::{RemoteError, Usage, exit_status};
use crate::monitor::progress::hostname;
use crate::ranks::all_ranks::AllRanks;
use crate::request::Pinning;
use crate::request::provision::Provision;
use crate::target::prepare::{PrepareOptions, ResolvedTarget, prepare};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Task that the leader broadcasts before the first point.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    /// Version of the leader: another version may measure something else.
    version: String,
    run_id: String,
    plan: String,
    targets: Vec<PathBuf>,
    bytes: u64,
    keep: bool,
    engine: String,
    stamp: u64,
}

/// Answer of a rank to the task.
#[derive(Serialize, Deserialize)]
enum Answer {
    /// All guards passed; holds the name of its node.
    Ready(String),
    /// Refusal and its exit status.
    No(String, u8),
}

/// Checks, before anything is changed, that several ranks can measure the plan together.
pub(crate) fn can_share(lab: Lab<'_>, plan: &Plan, found: &[ResolvedTarget]) -> Result<()> {
    let Some(all_ranks) = lab.all_ranks else { return Ok(()) };
    let makes_files = plan.points.iter().all(|point| point.layout.makes_files());
    let writes = plan.points.iter().any(Point::writes);
    let emulated = found.iter().any(|found| found.real().is_none());
    let ranks = all_ranks.group.borrow().size();
    let no =
        |what: &str| bail!(Usage(format!("{ranks} ranks cannot measure this together: {what}")));
    if let Some(what) = of_one_process(plan) {
        return no(what);
    }
    if lab.request.pinning.named().is_some() {
        return no(
            "--cpus would put all of them on the same CPUs. Remove it, and pin the ranks with the \
             launcher (mpirun --bind-to, srun --cpu-bind)",
        );
    }
    if emulated {
        lab.observer.message(format!(
            "EMULATED: there is only one virtual time, so this rank emulates everything and the \
             other {} wait",
            ranks - 1
        ));
    } else if !makes_files && found.iter().any(is_directory) {
        return no(
            "only one process can create and fill a measurement file. Create it first (qdepth run \
             --keep without mpirun), then use its path with --read-only; or let each rank create \
             its own files: qdepth run bandwidth DIR, qdepth ior",
        );
    } else if !makes_files && writes {
        return no(
            "a process that writes to a file or device locks it against all other processes, on \
             this and other nodes. Add --read-only; or let each rank write its own files: qdepth \
             run bandwidth DIR, qdepth ior",
        );
    }
    if !emulated && plan.wear().is_some() {
        return no(
            "only one process can precondition a target: do it before, in a run without mpirun",
        );
    }
    if plan.points.iter().any(|point| point.flow.is_some()) {
        return no("loads with a `flow` must run in one process: remove mpirun or srun");
    }
    if plan.points.iter().any(|point| point.stop.steady.is_some()) {
        return no("only one process can measure until a point is steady. Remove `until`");
    }
    let known = |stop: &Stop| {
        let ends_together = stop.ends_step || stop.catches_up;
        stop.until.is_none() && stop.samples.is_none() && stop.bytes == 0 && !ends_together
    };
    if !emulated && !plan.points.iter().all(|point| known(&point.stop)) {
        return no(
            "the end of a point would depend on the I/O of all ranks, and each rank sees only its \
             own. Remove `until`, `until-credible`, `bytes` and `catches_up` (IOR's \
             stoneWallingWearOut)",
        );
    }
    let streams = plan.points.iter().map(|point| point.streams).max().unwrap_or(1);
    if !emulated && streams < ranks {
        lab.observer.message(format!(
            "no point has more than {streams} streams: of {ranks} ranks, {} have no work. Increase \
             `streams` in the profile",
            ranks - streams
        ));
    }
    Ok(())
}

/// Reason why a plan needs a single process, whatever its targets are.
fn of_one_process(plan: &Plan) -> Option<&'static str> {
    if plan.points.iter().any(|point| point.layout == Layout::Entries) {
        return Some("only one process can create directory entries: remove mpirun or srun");
    }
    let searches = !plan.answer.is_empty();
    searches.then_some("only one process can search for a rate: remove mpirun or srun")
}

fn is_directory(found: &ResolvedTarget) -> bool {
    found.real().is_some_and(|target| matches!(target.kind, Kind::Directory(_)))
}

/// Sends the plan to all ranks. Every rank asks the guards for its own view of the targets, before
/// any rank begins.
pub(crate) fn distribute(
    lab: Lab<'_>,
    run_id: &str,
    stamp: u64,
    plan: &Plan,
    targets: &[PathBuf],
    bytes: u64,
) -> Result<()> {
    let Some(all_ranks) = lab.all_ranks else { return Ok(()) };
    if targets.iter().any(|target| target.to_str().is_some_and(is_emulated)) {
        // The other ranks wait for a task; none is sent before the end.
        return Ok(());
    }
    let task = Task {
        version: VERSION.to_owned(),
        run_id: run_id.to_owned(),
        plan: plan.text(),
        targets: targets.to_vec(),
        bytes,
        keep: lab.request.keep || plan.keep_files,
        engine: lab.request.engine.name().to_owned(),
        stamp,
    };
    let mut group = all_ranks.group.borrow_mut();
    group.broadcast(&serde_json::to_vec(&task)?);
    let (mut together, mut in_the_way) = (1, Ok(()));
    for (rank, answer) in (1_u32..).zip(group.gather(&|| lab.signals.caught().is_some())) {
        match serde_json::from_slice(&answer?).context("cannot read the answer of a rank")? {
            Answer::Ready(node) => {
                together += u32::from(node == hostname());
                group.set_host(rank, node);
            }
            Answer::No(why, status) => {
                let what = format!("rank {rank} of {}: {why}", group.size());
                in_the_way = in_the_way.and(Err(RemoteError { what, status }));
            }
        }
    }
    in_the_way?;
    *all_ranks.shift.borrow_mut() = together;
    group.broadcast(&together.to_le_bytes());
    Ok(())
}

/// Decodes the leader's task; fails for another version.
fn read_task(text: &[u8]) -> Result<Task> {
    let other = |version: &str| {
        Usage(format!(
            "rank 0 runs qdepth {version}, and this rank qdepth {VERSION}. Install the same \
             version on every node"
        ))
    };
    let version =
        |task: &Value| task["version"].as_str().unwrap_or("with an unknown format").to_owned();
    let task: Value = serde_json::from_slice(text).context("cannot read the task of rank 0")?;
    let found = version(&task);
    let task = serde_json::from_value::<Task>(task).map_err(|_| other(&found))?;
    if found != VERSION { Err(other(&found).into()) } else { Ok(task) }
}

/// Main function of every rank except the leader.
pub(crate) fn run_as_follower(lab: Lab<'_>, all_ranks: &AllRanks) -> Result<()> {
    let stop = lab.signals.stop();
    let stopping = || stop.load(Ordering::Relaxed);
    let receive = || all_ranks.group.borrow_mut().receive(&stopping);
    let text = receive()?;
    if text.is_empty() {
        return Ok(());
    }
    let task = read_task(&text);
    if let Err(why) = &task {
        let answer = Answer::No(format!("{why:#}"), exit_status(why));
        all_ranks.group.borrow_mut().give(&serde_json::to_vec(&answer)?);
    }
    let task = task?;
    let plan = Plan::from_text(&task.plan).map_err(Usage)?;
    let options = PrepareOptions {
        lab,
        run_id: &task.run_id,
        results_dir: Path::new("."),
        writes: &plan.written_targets(),
        provision: &Provision::from_plan(&plan, task.bytes),
        keep: task.keep,
    };
    let prepared = prepare(&task.targets, options);
    let answer = match &prepared {
        Ok(_) => Answer::Ready(hostname()),
        Err(why) => Answer::No(format!("{why:#}"), exit_status(why)),
    };
    all_ranks.group.borrow_mut().give(&serde_json::to_vec(&answer)?);
    let targets = prepared?;
    let shapes: Vec<_> = targets.iter().map(|target| target.shape).collect();
    plan.fits(&shapes).map_err(Usage)?;
    // The leader ends the wait without a plan if another rank refused.
    let Ok(together) = receive()?.try_into() else { return Ok(()) };
    *all_ranks.shift.borrow_mut() = u32::from_le_bytes(together);
    let engine = EngineChoice::from_name(&task.engine).with_context(|| {
        format!("rank 0 uses the engine `{}`, which this rank does not support", task.engine)
    })?;
    let (placement, stamp) = (&Pinning::Scheduler, task.stamp);
    let written = Written::from_plan(&plan);
    let engine = engine.for_plan(&plan);
    let options = MeasureOptions { lab, engine, stamp, written: &written, placement };
    while let Ok(number) = receive()?.try_into().map(u32::from_le_bytes) {
        let Some(points) = plan.groups().find(|group| group[0].group == number) else { break };
        let measured = execute(&targets, points, options, &mut |event| {
            all_ranks.seen.borrow_mut().see(event);
        });
        if let Err(why) = measured {
            all_ranks.group.borrow_mut().fail(&format!("{why:#}"));
        }
    }
    for target in targets {
        target.put_back()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_of_another_version_is_refused() {
        let task = |version: &str| Task {
            version: version.to_owned(),
            run_id: "r".to_owned(),
            plan: String::new(),
            targets: vec!["d".into()],
            bytes: 1,
            keep: false,
            engine: "auto".to_owned(),
            stamp: 7,
        };
        let sent = |task: &Task| serde_json::to_value(task).unwrap();
        let read = |value: &Value| read_task(value.to_string().as_bytes());
        assert_eq!(read(&sent(&task(VERSION))).unwrap().stamp, 7);
        let refused = |value: &Value| {
            let why = read(value).err().expect("it is of another version");
            assert_eq!(exit_status(&why), 2);
            format!("{why:#}")
        };
        assert!(refused(&sent(&task("9.9.9"))).contains("rank 0 runs qdepth 9.9.9"));
        let mut more = sent(&task(VERSION));
        more["share"] = 1.into();
        refused(&more);
        let mut older = sent(&task(VERSION));
        older.as_object_mut().unwrap().remove("version");
        assert!(refused(&older).contains("every node"));
    }
}
