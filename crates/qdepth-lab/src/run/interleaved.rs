//! Points measured in interleaved segments, alternating with the other points of their sweep. The
//! variation between segments gives the confidence interval of the mean, whatever the variation
//! within a segment is.

use anyhow::Result;
use qdepth_engine::Ended;
use qdepth_measure::{Nanos, Seed};
use qdepth_workload::Point;

use crate::Lab;
use crate::run::begin::PreparedRun;
use crate::run::segment::{MergedSegments, Receivers, Segment, measure_segment};
use crate::run::steady_point::{rule_of, until_steady};

/// Longest turnover of a queue that segments wait for: five of them then take 45 s. Slower queues
/// have the finding `queue-unsettled`.
const TURNOVER_MOST: Nanos = Nanos::from_secs(4);

/// True if segments are interleaved. In virtual time only the load itself changes a rate, and
/// several ranks measure the groups one after the other.
fn takes_turns(lab: Lab<'_>, ready: &PreparedRun) -> bool {
    lab.all_ranks.is_none() && !ready.run.emulated
}

/// The groups of a plan, in the lists that are measured and stored together.
pub(crate) fn sweeps<'a>(lab: Lab<'_>, ready: &'a PreparedRun) -> Vec<Vec<&'a [Point]>> {
    if takes_turns(lab, ready) {
        ready.plan.sweeps()
    } else {
        ready.plan.groups().map(|group| vec![group]).collect()
    }
}

/// Longest time of a group, all segments together, ns.
pub(crate) fn length(group: &[Point]) -> u64 {
    group.iter().map(|p| p.length_ns()).max().unwrap_or(0)
}

/// Measures the groups of a sweep, segment by segment. A group that was not begun, because the run
/// was stopped, gives `None`.
pub(crate) fn measure_interleaved(
    lab: Lab<'_>,
    ready: &PreparedRun,
    groups: &[&[Point]],
    receivers: &mut Receivers<'_, '_>,
) -> Result<Vec<Option<MergedSegments>>> {
    let of_groups =
        groups.iter().copied().flatten().map(|point| point.stop.interleaved_segments).max();
    let segments = of_groups.filter(|_| takes_turns(lab, ready)).unwrap_or(1);
    let mut all: Vec<InterleavedGroup<'_>> =
        groups.iter().map(|group| InterleavedGroup::new(group)).collect();
    for turn in 0..segments {
        for number in order(ready.plan.seed, groups, turn) {
            let current = &mut all[number];
            let over = current.merged.as_ref().is_some_and(MergedSegments::is_over);
            if lab.signals.caught().is_some() || over {
                continue;
            }
            if let Some(rule) = rule_of(current.group) {
                current.merged = Some(until_steady(lab, ready, current.group, rule, receivers)?);
                continue;
            }
            let merged = current.segment(lab, ready, turn, segments, receivers)?;
            current.merged = Some(MergedSegments::with(current.merged.take(), merged));
        }
    }
    let mut all: Vec<Option<MergedSegments>> =
        all.into_iter().map(|current| current.merged).collect();
    for merged in
        all.iter_mut().flatten().filter(|merged| merged.segments < segments && !merged.is_over())
    {
        for measured in &mut merged.measured {
            measured.outcome.interrupted = true;
            measured.outcome.ended = Ended::Interrupted;
        }
    }
    Ok(all)
}

/// A group whose segments alternate with those of other groups.
struct InterleavedGroup<'a> {
    group: &'a [Point],
    merged: Option<MergedSegments>,
    /// Time to turn its queue over once, if that is longer than the usual warm-up of a segment.
    turnover: Nanos,
}

impl<'a> InterleavedGroup<'a> {
    fn new(group: &'a [Point]) -> Self {
        Self { group, merged: None, turnover: Nanos::ZERO }
    }

    /// Measures the next segment. If the first segment shows that its warm-up was shorter than one
    /// turnover of the queue, its latencies are too short: the segment becomes a warm-up, and is
    /// repeated with a sufficient warm-up, as are all later ones.
    fn segment(
        &mut self,
        lab: Lab<'_>,
        ready: &PreparedRun,
        turn: u32,
        segments: u32,
        receivers: &mut Receivers<'_, '_>,
    ) -> Result<Segment> {
        if segments == 1 {
            let points: Vec<Point> = self.group.iter().map(Point::in_one_go).collect();
            return measure_segment(lab, ready, &points, None, receivers);
        }
        let mut warm_ups = 0;
        loop {
            // A repeated segment has other draws, because a cache may hold the former data.
            let draws = turn + segments * warm_ups;
            let points = self.group.iter().map(|p| p.segment(draws).settling(self.turnover));
            let points: Vec<Point> = points.collect();
            let began = self.merged.as_ref().map(|merged| merged.began);
            let merged = measure_segment(lab, ready, &points, began, receivers)?;
            let turnover = merged.turnover().min(TURNOVER_MOST);
            let settled = points.iter().all(|point| point.warm_up_ns >= turnover.0);
            let over = merged.is_broken() || lab.signals.caught().is_some();
            if turn > 0 || settled || over || turnover <= self.turnover {
                return Ok(merged);
            }
            self.merged = Some(MergedSegments::with_warm_up(self.merged.take(), merged));
            self.turnover = turnover;
            warm_ups += 1;
        }
    }
}

/// Order of the groups in a round: random, because segments at equal distances would be in step
/// with anything periodic.
fn order(seed: u64, groups: &[&[Point]], segment: u32) -> Vec<usize> {
    let of_sweep = groups.first().and_then(|group| group.first()).map_or(0, |point| point.index);
    let seed = Seed(seed).derive("visits").derive(&of_sweep.to_string());
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|index| seed.derive(&format!("{segment} {index}")).0);
    order
}
