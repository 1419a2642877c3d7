//! Points that end once their rate is steady. They are measured in rounds, and the steady ones are
//! reported. The rounds before them count as warm-up.

use anyhow::Result;
use qdepth_engine::Ended;
use qdepth_measure::{Finding, Nanos, SteadyRounds, SteadyRule};
use qdepth_workload::{Point, STEADY_ROUNDS};

use crate::Lab;
use crate::execute::until_steady::slices;
use crate::outcome::findings::not_steady;
use crate::outcome::measured::Measured;
use crate::run::begin::PreparedRun;
use crate::run::segment::{MergedSegments, Receivers, Segment, measure_segment};

/// Rule that ends a group when its rates are steady; `None` if it has no such rule.
pub(crate) fn rule_of(group: &[Point]) -> Option<SteadyRule> {
    group.iter().find_map(|point| point.stop.steady)
}

/// Loads of a group, measured in rounds.
struct GroupRounds<'a> {
    ready: &'a PreparedRun,
    group: &'a [Point],
    rule: SteadyRule,
    known: Vec<SteadyRounds>,
}

impl<'a> GroupRounds<'a> {
    fn new(ready: &'a PreparedRun, group: &'a [Point], rule: SteadyRule) -> Self {
        // A load that only reads, or whose target was preconditioned, does not have to write first.
        let written = |point: &Point| {
            let is_known = reads_only(point) || ready.plan.wear().is_some();
            if is_known { SteadyRounds::WRITTEN_MOST } else { 0.0 }
        };
        let known = group.iter().map(|point| SteadyRounds::new(rule, written(point))).collect();
        Self { ready, group, rule, known }
    }

    /// Adds a round of the load with this index: its samples, and the bytes that it wrote.
    fn push(&mut self, index: usize, slices: &[(u64, Nanos)], written: u64) {
        let area = self.group[index].area.length_bytes.max(1);
        self.known[index].push(slices, written as f64 / area as f64);
    }

    fn count(&self) -> usize {
        self.known.first().map_or(0, SteadyRounds::count)
    }

    fn is_over(&self) -> bool {
        let over = |rounds: &SteadyRounds| rounds.is_settled() || rounds.is_over(STEADY_ROUNDS);
        self.known.iter().all(over)
    }

    /// Index of the first round that the verdicts are based on; `None` unless all loads are steady.
    fn steady_from(&self) -> Option<usize> {
        let first: Option<Vec<usize>> = self.known.iter().map(SteadyRounds::steady_from).collect();
        first?.into_iter().max()
    }

    fn findings(&self) -> Vec<Option<Finding>> {
        let finding = |(point, rounds): (&Point, &SteadyRounds)| {
            let target = &self.ready.targets[point.target as usize];
            not_steady(target, &point.steady_round(0), rounds, self.rule)
        };
        self.group.iter().zip(&self.known).map(finding).collect()
    }
}

fn reads_only(point: &Point) -> bool {
    point.read_share >= 1.0
}

/// Measures the loads of a group at the same time, until each is settled or has the maximum number
/// of rounds. If all are settled, the result consists of the rounds that the rule used; else of all
/// rounds, with a finding.
pub(crate) fn until_steady(
    lab: Lab<'_>,
    ready: &PreparedRun,
    group: &[Point],
    rule: SteadyRule,
    receivers: &mut Receivers<'_, '_>,
) -> Result<MergedSegments> {
    let group_rounds = GroupRounds::new(ready, group, rule);
    if ready.run.emulated {
        in_virtual_time(lab, group_rounds, receivers)
    } else {
        in_rounds(lab, group_rounds, receivers)
    }
}

fn in_rounds(
    lab: Lab<'_>,
    mut group_rounds: GroupRounds<'_>,
    receivers: &mut Receivers<'_, '_>,
) -> Result<MergedSegments> {
    let mut rounds: Vec<Segment> = Vec::new();
    while !group_rounds.is_over() {
        let number = rounds.len() as u32;
        let points: Vec<Point> =
            group_rounds.group.iter().map(|p| p.steady_round(number)).collect();
        let first = rounds.first().map(|first| first.began);
        let round = measure_segment(lab, group_rounds.ready, &points, first, receivers)?;
        for (index, measured) in round.measured.iter().enumerate() {
            // I/O outside the window is not known by direction, so it is left out.
            group_rounds.push(index, &slices(measured), measured.outcome.directions[1].bytes);
        }
        let is_broken = round.is_broken();
        rounds.push(round);
        if is_broken || lab.signals.caught().is_some() {
            return Ok(merge_rounds(rounds, 0, cut_short(is_broken), Vec::new()));
        }
    }
    let from = group_rounds.steady_from();
    let ended = if from.is_some() { Ended::Steady } else { Ended::Duration };
    Ok(merge_rounds(rounds, from.unwrap_or(0), ended, group_rounds.findings()))
}

/// An emulated device starts afresh with each measurement, so its rounds are parts of one
/// measurement. The first covers the whole time. The second has the same draws, and treats
/// everything before the steady rounds as warm-up.
fn in_virtual_time(
    lab: Lab<'_>,
    mut group_rounds: GroupRounds<'_>,
    receivers: &mut Receivers<'_, '_>,
) -> Result<MergedSegments> {
    let points: Vec<Point> = group_rounds.group.iter().map(Point::in_one_go).collect();
    let whole = measure_segment(lab, group_rounds.ready, &points, None, receivers)?;
    if whole.is_broken() || lab.signals.caught().is_some() {
        let ended = cut_short(whole.is_broken());
        return Ok(merge_rounds(vec![whole], 0, ended, Vec::new()));
    }
    let parts: Vec<Vec<RoundSlices>> =
        group_rounds.group.iter().zip(&whole.measured).map(|(point, m)| parts(point, m)).collect();
    for number in 0..STEADY_ROUNDS as usize {
        for (index, of_load) in parts.iter().enumerate() {
            let (slices, written) = of_load.get(number).cloned().unwrap_or_default();
            group_rounds.push(index, &slices, written);
        }
        if group_rounds.is_over() {
            break;
        }
    }
    let Some(from) = group_rounds.steady_from() else {
        return Ok(merge_rounds(vec![whole], 0, Ended::Duration, group_rounds.findings()));
    };
    let (from, count) = (from as u32, group_rounds.count() as u32);
    let points: Vec<Point> =
        group_rounds.group.iter().map(|p| p.steady_part(from, count)).collect();
    let steady = measure_segment(lab, group_rounds.ready, &points, Some(whole.began), receivers)?;
    Ok(merge_rounds(vec![steady], 0, Ended::Steady, group_rounds.findings()))
}

/// End reason of loads that were cut short: a failed load reports its failure itself; otherwise all
/// were interrupted.
fn cut_short(is_broken: bool) -> Ended {
    if is_broken { Ended::Duration } else { Ended::Interrupted }
}

/// Samples of a round, and the bytes written in it.
type RoundSlices = (Vec<(u64, Nanos)>, u64);

/// Splits one measurement into rounds.
fn parts(point: &Point, measured: &Measured) -> Vec<RoundSlices> {
    let round = point.steady_round(0).stop.duration_ns.max(1);
    let mut parts: Vec<RoundSlices> = vec![RoundSlices::default(); STEADY_ROUNDS as usize];
    let mut passed = 0;
    for slice in measured.outcome.series.intervals() {
        let middle = passed + slice.length.0 / 2;
        if let Some((slices, written)) = parts.get_mut((middle / round) as usize) {
            slices.push((slice.completed.iter().sum(), slice.length));
            *written += slice.bytes[1];
        }
        passed += slice.length.0;
    }
    parts
}

/// Merges the rounds from index `from` on into one measurement; earlier rounds become its warm-up.
fn merge_rounds(
    rounds: Vec<Segment>,
    from: usize,
    ended: Ended,
    findings: Vec<Option<Finding>>,
) -> MergedSegments {
    let joined = rounds.into_iter().enumerate().fold(None, |former, (number, round)| {
        let with = if number < from { MergedSegments::with_warm_up } else { MergedSegments::with };
        Some(with(former, round))
    });
    let mut whole = joined.unwrap_or_default();
    for measured in &mut whole.measured {
        let outcome = &mut measured.outcome;
        if outcome.failure.is_none() && !outcome.interrupted {
            outcome.interrupted = ended == Ended::Interrupted;
            outcome.ended = ended;
        }
    }
    whole.findings = findings;
    whole
}
