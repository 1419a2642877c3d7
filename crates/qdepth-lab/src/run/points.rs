//! The points of a run: measured, sealed and kept, one group after the other.

use std::collections::BTreeSet;

use anyhow::Result;
use qdepth_logbook::Logbook;
use qdepth_measure::{Code, Finding, Nanos, Severity};
use qdepth_record::{PointRecord, follows};

use qdepth_workload::Point;

use crate::Lab;
use crate::execute::virtual_time;
use crate::outcome::findings::{PointSeen, of_point};
use crate::outcome::measured::Measured;
use crate::outcome::seal::seal;
use crate::ranks::all_ranks::AllRanks;
use crate::request::worker_result::WorkerResults;
use crate::run::begin::Ready;
use crate::run::events::Events;
use crate::run::visit::{Shown, Visited};
use crate::run::visits::{in_turn, length, sweeps};
use crate::target::left_behind::unless_it_answers;

/// Measures what is not yet done, and says how many points lie beyond the end of the steps. `ranks`
/// takes what each worker of each point did.
pub(crate) fn points(
    lab: Lab<'_>,
    ready: &Ready,
    logbook: &mut Logbook,
    ranks: &mut WorkerResults,
    events: &mut Events<'_>,
) -> Result<usize> {
    let signals = lab.signals;
    let mut before = Nanos::ZERO;
    let (mut ended, mut beyond) = (steps_ended(ready, logbook)?, 0);
    for sweep in sweeps(lab, ready) {
        if signals.caught().is_some() {
            break;
        }
        let all = || sweep.iter().copied().flatten();
        if all().any(|point| ended.contains(&point.target)) {
            beyond += all().filter(|point| !ready.done.contains(&point.index)).count();
            continue;
        }
        // Loads that run together are measured together, again too where one of them is missing.
        let missing = |group: &&[Point]| !group.iter().all(|p| ready.done.contains(&p.index));
        let wanted: Vec<&[Point]> = sweep.iter().copied().filter(missing).collect();
        let show = &mut Shown { events: &mut *events, before };
        let measured = in_turn(lab, ready, &wanted, show)?;
        for (group, visited) in wanted.iter().zip(measured) {
            let Some(Visited { measured, started_at, findings, .. }) = visited else { continue };
            let group = &*virtual_time::bounded(&ready.targets, group);
            let of_workers = group.iter().zip(&measured);
            ranks.extend(of_workers.map(|(point, result)| (point.clone(), result.ranks.clone())));
            for (index, (point, measured)) in group.iter().zip(&measured).enumerate() {
                if ready.done.contains(&point.index) {
                    continue;
                }
                let limit = unless_it_answers();
                let mut sealed = one_sealed(lab, ready, point, measured, &started_at);
                drop(limit);
                sealed.findings.extend(findings.get(index).cloned().flatten());
                let whole = measured.outcome.failure.is_none() && measured.changed.is_none();
                if ready.plan.ends_when_not_followed && whole && !follows(&sealed) {
                    ended.insert(point.target);
                }
                let kept = logbook.add_point(&ready.run.id, &sealed);
                events.ended(&sealed);
                kept?;
                must_be_cool(lab, &sealed)?;
            }
        }
        if let Some(lost) = lab.all_ranks.and_then(AllRanks::lost) {
            return Err(lost.into());
        }
        before += Nanos(sweep.iter().map(|group| length(group)).sum());
    }
    if ready.plan.ends_when_not_followed {
        let all = ready.plan.points.len() - beyond;
        logbook.plan_points(&ready.run.id, all as u32)?;
    }
    Ok(beyond)
}

/// Targets whose steps ended before this run was taken up again.
fn steps_ended(ready: &Ready, logbook: &Logbook) -> Result<BTreeSet<u32>> {
    if !ready.plan.ends_when_not_followed || ready.done.is_empty() {
        return Ok(BTreeSet::new());
    }
    let points = logbook.points(&ready.run.id)?;
    // One that lost its target is measured again, and says nothing of what it can follow.
    let whole = points.iter().filter(|point| ready.done.contains(&point.index));
    Ok(whole.filter(|point| !follows(point)).map(|point| point.target).collect())
}

/// A point as it is kept, with what is said of it besides its own laws.
fn one_sealed(
    lab: Lab<'_>,
    ready: &Ready,
    point: &Point,
    measured: &Measured,
    started_at: &str,
) -> PointRecord {
    let mut sealed = seal(point, measured, started_at);
    let seen = PointSeen {
        system: lab.system,
        point,
        prepared: &ready.targets[point.target as usize],
        measured,
        ceiling: ready.ceilings.get(&point.in_flight_max()).copied(),
        expected: ready.run.expected_at(point.index),
        is_resumed: lab.request.plan.is_none(),
        is_staircase: ready.plan.ends_when_not_followed,
    };
    sealed.findings = of_point(&seen, &sealed);
    sealed
}

/// With `--stop-on-throttle` nothing is measured after a point that heat slowed down.
fn must_be_cool(lab: Lab<'_>, point: &PointRecord) -> Result<()> {
    let hot = |finding: &Finding| {
        finding.code == Code::Throttled && finding.severity == Severity::Invalid
    };
    if lab.request.stop_on_throttle && point.findings.iter().any(hot) {
        anyhow::bail!(
            "heat slowed something down during {} × {}, and --stop-on-throttle was given; let it \
             cool, then `qdepth run --resume`",
            point.profile_title,
            point.outstanding
        );
    }
    Ok(())
}
