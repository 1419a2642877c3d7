//! Measures the points of a run and stores them, one group after the other.

use std::collections::BTreeSet;

use anyhow::Result;
use qdepth_logbook::Logbook;
use qdepth_measure::Nanos;
use qdepth_record::follows;
use qdepth_workload::Point;

use crate::Lab;
use crate::request::worker_result::WorkerResults;
use crate::run::begin::PreparedRun;
use crate::run::events::Events;
use crate::run::interleaved::{length, sweeps};
use crate::run::keeper::Keeper;
use crate::run::search::search;

/// Measures the remaining points, and returns the number of points after the steps that the target
/// did not follow. `ranks` receives the results of each worker of each point.
pub(crate) fn points(
    lab: Lab<'_>,
    ready: &PreparedRun,
    logbook: &mut Logbook,
    ranks: &mut WorkerResults,
    events: &mut Events<'_>,
) -> Result<usize> {
    let mut before = Nanos::ZERO;
    let (ended, mut beyond) = (steps_ended(ready, logbook)?, 0);
    let mut keeper = Keeper { lab, ready, logbook, ranks, events, ended, broken: BTreeSet::new() };
    for sweep in sweeps(lab, ready) {
        if lab.signals.caught().is_some() {
            break;
        }
        let all = || sweep.iter().copied().flatten();
        if all().any(|point| keeper.ended.contains(&point.target)) {
            beyond += all().filter(|point| !ready.done.contains(&point.index)).count();
            continue;
        }
        // A group is measured again as a whole if any of its loads is missing.
        let missing = |group: &&[Point]| !group.iter().all(|p| ready.done.contains(&p.index));
        let wanted: Vec<&[Point]> = sweep.iter().copied().filter(missing).collect();
        keeper.measure(&wanted, before)?;
        before += Nanos(sweep.iter().map(|group| length(group)).sum());
    }
    search(&mut keeper, before)?;
    if ready.plan.ends_when_not_followed {
        let all = ready.plan.points.len() - beyond;
        logbook.plan_points(&ready.run.id, all as u32)?;
    }
    Ok(beyond)
}

/// Targets whose steps ended before this run was resumed.
fn steps_ended(ready: &PreparedRun, logbook: &Logbook) -> Result<BTreeSet<u32>> {
    if !ready.plan.ends_when_not_followed || ready.done.is_empty() {
        return Ok(BTreeSet::new());
    }
    let points = logbook.points(&ready.run.id)?;
    // A point that lost its target is measured again, and does not show what the target can follow.
    let whole = points.iter().filter(|point| ready.done.contains(&point.index));
    Ok(whole.filter(|point| !follows(point)).map(|point| point.target).collect())
}
