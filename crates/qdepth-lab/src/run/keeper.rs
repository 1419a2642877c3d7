//! Measures groups of points, and stores them in the logbook.

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
use crate::run::begin::PreparedRun;
use crate::run::events::Events;
use crate::run::interleaved::measure_interleaved;
use crate::run::segment::{MergedSegments, Receivers};
use crate::target::left_behind::unless_it_answers;

/// Measures groups of points, and stores them.
pub(crate) struct Keeper<'a, 'e> {
    pub(crate) lab: Lab<'a>,
    pub(crate) ready: &'a PreparedRun,
    pub(crate) logbook: &'a mut Logbook,
    /// Results of each worker of each point.
    pub(crate) ranks: &'a mut WorkerResults,
    pub(crate) events: &'a mut Events<'e>,
    /// Targets whose steps have ended.
    pub(crate) ended: BTreeSet<u32>,
    /// Targets that failed.
    pub(crate) broken: BTreeSet<u32>,
}

impl Keeper<'_, '_> {
    /// True if a target failed or changed.
    pub(crate) fn is_broken(&self, target: u32) -> bool {
        self.broken.contains(&target)
    }

    /// Measures these groups, interleaved, and returns the points that were stored. `before` is the
    /// planned time of everything measured before.
    pub(crate) fn measure(
        &mut self,
        groups: &[&[Point]],
        before: Nanos,
    ) -> Result<Vec<PointRecord>> {
        let Self { lab, ready, .. } = *self;
        let receivers = &mut Receivers { events: &mut *self.events, before };
        let measured = measure_interleaved(lab, ready, groups, receivers)?;
        // All of them are measured: an error with one must not lose the others.
        let (mut kept, mut stored) = (Vec::new(), Ok(()));
        for (group, merged) in groups.iter().zip(measured) {
            let Some(merged) = merged else { continue };
            let group = virtual_time::bounded(&ready.targets, group);
            stored = stored.and(self.keep(&group, merged, &mut kept));
        }
        stored?;
        match lab.all_ranks.and_then(AllRanks::lost) {
            Some(lost) => Err(lost.into()),
            None => Ok(kept),
        }
    }

    /// Stores all points of a group; returns the first error.
    fn keep(
        &mut self,
        group: &[Point],
        merged: MergedSegments,
        kept: &mut Vec<PointRecord>,
    ) -> Result<()> {
        let MergedSegments { measured, started_at, findings, .. } = merged;
        let Self { lab, ready, .. } = *self;
        let of_workers = group.iter().zip(&measured);
        self.ranks.extend(of_workers.map(|(point, result)| (point.clone(), result.ranks.clone())));
        let mut ended = Ok(());
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
                self.ended.insert(point.target);
            }
            if !whole {
                self.broken.insert(point.target);
            }
            let stored = self.logbook.add_point(&ready.run.id, &sealed);
            self.events.ended(&sealed);
            ended = ended.and(stored.map_err(Into::into)).and(stop_if_throttled(lab, &sealed));
            kept.push(sealed);
        }
        ended
    }
}

/// Record of a point with all its findings.
fn one_sealed(
    lab: Lab<'_>,
    ready: &PreparedRun,
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
        is_staircase: ready.plan.ends_when_not_followed || !ready.plan.answer.is_empty(),
    };
    sealed.findings = of_point(&seen, &sealed);
    sealed
}

/// With `--stop-on-throttle`, ends the run after a point with thermal throttling.
fn stop_if_throttled(lab: Lab<'_>, point: &PointRecord) -> Result<()> {
    let hot = |finding: &Finding| {
        finding.code == Code::Throttled && finding.severity == Severity::Invalid
    };
    if lab.request.stop_on_throttle && point.findings.iter().any(hot) {
        anyhow::bail!(
            "thermal throttling during {} × {}, and --stop-on-throttle is set. Let the machine \
             cool down, then continue with `qdepth run --resume`",
            point.profile_title,
            point.queue_depth
        );
    }
    Ok(())
}
