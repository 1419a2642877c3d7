//! Points that are measured in several visits, in turn with the others of their sweep: how the visits
//! differ tells what the mean is worth, however the rate wanders within one.

use anyhow::Result;
use jiff::Timestamp;
use qdepth_engine::{Ended, Interval, Outcome};
use qdepth_logbook::Logbook;
use qdepth_measure::{Finding, Instant, Nanos, Seed};
use qdepth_workload::Point;

use crate::lab::Lab;
use crate::lab::begin::Ready;
use crate::lab::events::Events;
use crate::lab::execute::{Measured, execute};
use crate::lab::steady_point::{rule_of, until_steady};
use crate::lab::virtual_time;

/// Longest turnover of a queue that visits wait for: five of them then take 45 s. Beyond it the
/// finding `queue-unsettled` stands.
const TURNOVER_MOST: Nanos = Nanos::from_secs(4);

/// Those who look on.
pub(crate) struct Shown<'a, 'b> {
    pub(crate) logbook: &'a Logbook,
    pub(crate) events: &'a mut Events<'b>,
    /// Planned time of what was measured before.
    pub(crate) before: Nanos,
}

/// One visit to a group.
pub(crate) struct Visit {
    pub(crate) measured: Vec<Measured>,
    /// When it began, RFC 3339, and by the clock.
    started_at: String,
    pub(crate) began: Instant,
}

impl Visit {
    /// Whether a further visit would be one to another target, or to none.
    pub(crate) fn is_broken(&self) -> bool {
        is_broken(&self.measured)
    }

    fn unrecorded(self) -> Self {
        let measured = self.measured.into_iter().map(Measured::unrecorded).collect();
        Self { measured, ..self }
    }

    /// How long a queue takes to be turned over once, by Little's law: I/Os in flight ÷ rate.
    fn turnover(&self) -> Nanos {
        let of = |outcome: &Outcome| {
            (outcome.in_flight_integral / outcome.completed().max(1) as f64) as u64
        };
        Nanos(self.measured.iter().map(|one| of(&one.outcome)).max().unwrap_or(0))
    }
}

fn is_broken(measured: &[Measured]) -> bool {
    measured.iter().any(|m| m.outcome.failure.is_some() || m.changed.is_some())
}

/// What came of the visits to a group.
#[derive(Default)]
pub(crate) struct Visited {
    pub(crate) measured: Vec<Measured>,
    /// When the first began, RFC 3339.
    pub(crate) started_at: String,
    began: Instant,
    visits: u32,
    /// What is doubted of each load; empty where nothing is.
    pub(crate) doubts: Vec<Option<Finding>>,
}

impl Visited {
    /// The former visits with another behind them.
    pub(crate) fn with(former: Option<Self>, visit: Visit) -> Self {
        let Some(former) = former else {
            let Visit { measured, started_at, began } = visit;
            return Self { measured, started_at, began, visits: 1, doubts: Vec::new() };
        };
        let offset = visit.began.since(former.began);
        let both = former.measured.into_iter().zip(visit.measured);
        let measured = both.map(|(former, later)| former.followed_by(later, offset)).collect();
        Self { measured, visits: former.visits + 1, ..former }
    }

    /// The former visits with another behind them that only leads in to the next: of it stand what
    /// failed and what the kernel counted.
    pub(crate) fn led_in(former: Option<Self>, visit: Visit) -> Self {
        let visits = former.as_ref().map_or(0, |former| former.visits);
        Self { visits, ..Self::with(former, visit.unrecorded()) }
    }

    /// Whether a further visit would be one to another target, or to none.
    fn is_over(&self) -> bool {
        is_broken(&self.measured)
    }
}

/// Whether visits take turns. In virtual time nothing but the load itself changes a rate, and ranks
/// of other machines go through the groups one after the other.
fn takes_turns(lab: Lab<'_>, ready: &Ready) -> bool {
    lab.crew.is_none() && !ready.run.emulated
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
    group.iter().map(|p| p.lead_in_ns() + p.stop.duration_ns).max().unwrap_or(0)
}

/// Measures the groups of a sweep, visit by visit; none of a group that was not begun, since the run
/// was to stop.
pub(crate) fn in_turn(
    lab: Lab<'_>,
    ready: &Ready,
    groups: &[&[Point]],
    shown: &mut Shown<'_, '_>,
) -> Result<Vec<Option<Visited>>> {
    let of_groups = groups.iter().copied().flatten().map(|point| point.stop.visits).max();
    let visits = of_groups.filter(|_| takes_turns(lab, ready)).unwrap_or(1);
    let mut all: Vec<Place<'_>> = groups.iter().map(|group| Place::new(group)).collect();
    for turn in 0..visits {
        for number in order(ready.plan.seed, groups, turn) {
            let place = &mut all[number];
            let over = place.visited.as_ref().is_some_and(Visited::is_over);
            if lab.signals.caught().is_some() || over {
                continue;
            }
            if let Some(rule) = rule_of(place.group) {
                place.visited = Some(until_steady(lab, ready, (place.group, rule), shown)?);
                continue;
            }
            let one = place.visit(lab, ready, (turn, visits), shown)?;
            place.visited = Some(Visited::with(place.visited.take(), one));
        }
    }
    let mut all: Vec<Option<Visited>> = all.into_iter().map(|place| place.visited).collect();
    for visited in all.iter_mut().flatten().filter(|one| one.visits < visits && !one.is_over()) {
        for measured in &mut visited.measured {
            measured.outcome.interrupted = true;
            measured.outcome.ended = Ended::Interrupted;
        }
    }
    Ok(all)
}

/// A group among those whose visits take turns.
struct Place<'a> {
    group: &'a [Point],
    visited: Option<Visited>,
    /// What its queue takes to be turned over once, where that is more than a usual lead-in.
    turnover: Nanos,
}

impl<'a> Place<'a> {
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
        (turn, visits): (u32, u32),
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
            let one = visit(lab, ready, &points, began, shown)?;
            let turnover = one.turnover().min(TURNOVER_MOST);
            let settled = points.iter().all(|point| point.warm_up_ns >= turnover.0);
            let over = one.is_broken() || lab.signals.caught().is_some();
            if turn > 0 || settled || over || turnover <= self.turnover {
                return Ok(one);
            }
            self.visited = Some(Visited::led_in(self.visited.take(), one));
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
    order.sort_by_key(|place| seed.derive(&format!("{visit} {place}")).0);
    order
}

/// Measures a group once; `first` is when its first visit began, where this is a later one.
pub(crate) fn visit(
    lab: Lab<'_>,
    ready: &Ready,
    points: &[Point],
    first: Option<Instant>,
    shown: &mut Shown<'_, '_>,
) -> Result<Visit> {
    let Shown { logbook, events, before } = shown;
    let points = &*virtual_time::bounded(&ready.targets, points);
    let (started_at, began) = (Timestamp::now().to_string(), qdepth_linux::now());
    let offset = first.map_or(Nanos::ZERO, |first| began.since(first));
    if first.is_none() {
        events.group(logbook, points, *before);
    }
    let mut seen = |place: usize, interval: &Interval| {
        events.interval(logbook, points[place].index, &interval.moved(offset));
    };
    let manner = ready.manner(lab);
    let stop = lab.signals.stop();
    let measured = execute(lab.system, &ready.targets, points, manner, stop, &mut seen);
    events.paused(logbook, points);
    let measured = measured?;
    let lengths = points.iter().map(|p| p.warm_up_ns + p.stop.duration_ns);
    *before += Nanos(lengths.max().unwrap_or(0));
    Ok(Visit { measured, started_at, began })
}
