//! Points that are measured in several visits, in turn with the others of their sweep: how the visits
//! differ tells what the mean is worth, however the rate wanders within one.

use anyhow::Result;
use jiff::Timestamp;
use qdepth_engine::{Ended, Interval};
use qdepth_logbook::Logbook;
use qdepth_measure::{Finding, Instant, Nanos, Seed};
use qdepth_workload::Point;

use crate::lab::Lab;
use crate::lab::begin::Ready;
use crate::lab::events::Events;
use crate::lab::execute::{Measured, execute};
use crate::lab::steady_point::{rule_of, until_steady};
use crate::lab::virtual_time;
use crate::screen::Running;

/// Those who look on.
pub(crate) struct Shown<'a, 'b> {
    pub(crate) logbook: &'a Logbook,
    pub(crate) events: &'a mut Events<'b>,
    pub(crate) running: &'a Running,
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
    pub(crate) fn of(first: Visit) -> Self {
        let Visit { measured, started_at, began } = first;
        Self { measured, started_at, began, visits: 1, doubts: Vec::new() }
    }

    /// With another visit, behind those before it.
    pub(crate) fn followed_by(self, later: Visit) -> Self {
        let offset = later.began.since(self.began);
        let both = self.measured.into_iter().zip(later.measured);
        let measured = both.map(|(former, later)| former.followed_by(later, offset)).collect();
        Self { measured, visits: self.visits + 1, ..self }
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
    let mut all: Vec<Option<Visited>> = groups.iter().map(|_| None).collect();
    for turn in 0..visits {
        for place in order(ready.plan.seed, groups, turn) {
            let former = all[place].take();
            if lab.signals.caught().is_some() || former.as_ref().is_some_and(Visited::is_over) {
                all[place] = former;
                continue;
            }
            if let Some(rule) = rule_of(groups[place]) {
                all[place] = Some(until_steady(lab, ready, (groups[place], rule), shown)?);
                continue;
            }
            let points: Vec<Point> = if visits > 1 {
                groups[place].iter().map(|point| point.visit(turn)).collect()
            } else {
                groups[place].iter().map(Point::in_one_go).collect()
            };
            let one =
                visit(lab, ready, &points, former.as_ref().map(|former| former.began), shown)?;
            all[place] = Some(match former {
                Some(former) => former.followed_by(one),
                None => Visited::of(one),
            });
        }
    }
    for visited in all.iter_mut().flatten().filter(|one| one.visits < visits && !one.is_over()) {
        for measured in &mut visited.measured {
            measured.outcome.interrupted = true;
            measured.outcome.ended = Ended::Interrupted;
        }
    }
    Ok(all)
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
    let Shown { logbook, events, running, before } = shown;
    let points = &*virtual_time::bounded(&ready.targets, points);
    running.group(points, |target| &ready.run.targets[target as usize].name, *before);
    let (started_at, began) = (Timestamp::now().to_string(), qdepth_linux::now());
    let offset = first.map_or(Nanos::ZERO, |first| began.since(first));
    if first.is_none() {
        events.group(logbook, points, *before);
    }
    let mut seen = |place: usize, interval: &Interval| {
        events.interval(logbook, points[place].index, &interval.moved(offset));
        running.interval(place, interval, *before, Nanos(points[place].warm_up_ns));
    };
    let manner = ready.manner(lab);
    let stop = lab.signals.stop();
    let measured = execute(lab.system, &ready.targets, points, manner, stop, &mut seen)?;
    let lengths = points.iter().map(|p| p.warm_up_ns + p.stop.duration_ns);
    *before += Nanos(lengths.max().unwrap_or(0));
    Ok(Visit { measured, started_at, began })
}
