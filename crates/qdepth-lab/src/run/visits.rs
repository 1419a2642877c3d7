//! Points that are measured in several visits, in turn with the others of their sweep: how the
//! visits differ tells what the mean is worth, however the rate wanders within one.

use anyhow::Result;
use qdepth_engine::Ended;
use qdepth_measure::{Nanos, Seed};
use qdepth_workload::Point;

use crate::Lab;
use crate::run::begin::Ready;
use crate::run::steady_point::{rule_of, until_steady};
use crate::run::visit::{Shown, Visit, Visited, visit};

/// Longest turnover of a queue that visits wait for: five of them then take 45 s. Beyond it the
/// finding `queue-unsettled` stands.
const TURNOVER_MOST: Nanos = Nanos::from_secs(4);

/// True if visits take turns. In virtual time nothing but the load itself changes a rate, and ranks
/// of other machines go through the groups one after the other.
fn takes_turns(lab: Lab<'_>, ready: &Ready) -> bool {
    lab.all_ranks.is_none() && !ready.run.emulated
}

/// The groups of a plan in the lists that are measured, and kept, together.
pub(crate) fn sweeps<'a>(lab: Lab<'_>, ready: &'a Ready) -> Vec<Vec<&'a [Point]>> {
    if takes_turns(lab, ready) {
        ready.plan.sweeps()
    } else {
        ready.plan.groups().map(|group| vec![group]).collect()
    }
}

/// Time that a group takes at most, all visits together, ns.
pub(crate) fn length(group: &[Point]) -> u64 {
    group.iter().map(|p| p.length_ns()).max().unwrap_or(0)
}

/// Measures the groups of a sweep, visit by visit; none of a group that was not begun, since the
/// run was to stop.
pub(crate) fn in_turn(
    lab: Lab<'_>,
    ready: &Ready,
    groups: &[&[Point]],
    shown: &mut Shown<'_, '_>,
) -> Result<Vec<Option<Visited>>> {
    let of_groups = groups.iter().copied().flatten().map(|point| point.stop.visits).max();
    let visits = of_groups.filter(|_| takes_turns(lab, ready)).unwrap_or(1);
    let mut all: Vec<GroupVisits<'_>> =
        groups.iter().map(|group| GroupVisits::new(group)).collect();
    for turn in 0..visits {
        for number in order(ready.plan.seed, groups, turn) {
            let current = &mut all[number];
            let over = current.visited.as_ref().is_some_and(Visited::is_over);
            if lab.signals.caught().is_some() || over {
                continue;
            }
            if let Some(rule) = rule_of(current.group) {
                current.visited = Some(until_steady(lab, ready, current.group, rule, shown)?);
                continue;
            }
            let visited = current.visit(lab, ready, turn, visits, shown)?;
            current.visited = Some(Visited::with(current.visited.take(), visited));
        }
    }
    let mut all: Vec<Option<Visited>> = all.into_iter().map(|current| current.visited).collect();
    for visited in
        all.iter_mut().flatten().filter(|visited| visited.visits < visits && !visited.is_over())
    {
        for measured in &mut visited.measured {
            measured.outcome.interrupted = true;
            measured.outcome.ended = Ended::Interrupted;
        }
    }
    Ok(all)
}

/// A group among those whose visits take turns.
struct GroupVisits<'a> {
    group: &'a [Point],
    visited: Option<Visited>,
    /// Time to turn its queue over once, if that is longer than the usual warm-up of a segment.
    turnover: Nanos,
}

impl<'a> GroupVisits<'a> {
    fn new(group: &'a [Point]) -> Self {
        Self { group, visited: None, turnover: Nanos::ZERO }
    }

    /// The next visit. Where the first shows that its lead-in was over before the queue had been
    /// turned over once, it only leads in (its latencies are too short), and this and all later
    /// visits have the time that they need.
    fn visit(
        &mut self,
        lab: Lab<'_>,
        ready: &Ready,
        turn: u32,
        visits: u32,
        shown: &mut Shown<'_, '_>,
    ) -> Result<Visit> {
        if visits == 1 {
            let points: Vec<Point> = self.group.iter().map(Point::in_one_go).collect();
            return visit(lab, ready, &points, None, shown);
        }
        let mut led_in = 0;
        loop {
            // What only led in is followed by other draws: a cache may hold what was asked for.
            let draws = turn + visits * led_in;
            let points = self.group.iter().map(|p| p.visit(draws).settling(self.turnover));
            let points: Vec<Point> = points.collect();
            let began = self.visited.as_ref().map(|visited| visited.began);
            let visited = visit(lab, ready, &points, began, shown)?;
            let turnover = visited.turnover().min(TURNOVER_MOST);
            let settled = points.iter().all(|point| point.warm_up_ns >= turnover.0);
            let over = visited.is_broken() || lab.signals.caught().is_some();
            if turn > 0 || settled || over || turnover <= self.turnover {
                return Ok(visited);
            }
            self.visited = Some(Visited::led_in(self.visited.take(), visited));
            self.turnover = turnover;
            led_in += 1;
        }
    }
}

/// The order of a round: drawn, since visits at equal distances would be in step with whatever has
/// a period.
fn order(seed: u64, groups: &[&[Point]], visit: u32) -> Vec<usize> {
    let of_sweep = groups.first().and_then(|group| group.first()).map_or(0, |point| point.index);
    let seed = Seed(seed).derive("visits").derive(&of_sweep.to_string());
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|index| seed.derive(&format!("{visit} {index}")).0);
    order
}
