//! The loop itself.

use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_measure::Instant;
use qdepth_workload::{Arrivals, Point};

use crate::lane::{Lane, Lanes, OneLane, Part};
use crate::ledger::Interval;
use crate::outcome::Outcome;
use crate::pacing::{Closed, Scheduled};
use crate::target::{Completion, Completions, Target, TargetFailure};

/// Measures one point, all streams of it, from now: issues its requests until its end, waits for
/// those in flight, and says what came of it. `stop` ends it early; `seen` is handed each interval
/// of the series as it closes.
///
/// Nothing is allocated between the first request and the last completion.
pub fn measure<T: Target>(
    target: &mut T,
    point: &Point,
    stop: &AtomicBool,
    seen: &mut impl FnMut(&Interval),
) -> Outcome {
    let start = target.now();
    measure_part(target, &Part::whole(point), start, stop, seen)
}

/// Measures what one worker drives of a point, from `start`, which workers that measure together
/// share.
pub fn measure_part<T: Target>(
    target: &mut T,
    part: &Part<'_>,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut impl FnMut(&Interval),
) -> Outcome {
    let slots = part.slots();
    let mut see = |_: usize, interval: &Interval| seen(interval);
    match part.point.arrivals {
        Arrivals::Closed => {
            let mut lane = Lane::<_, false>::new(0, part, 0, start, Closed::new(slots));
            drive(target, &mut lane, slots, start, stop, &mut see);
            lane.into_outcome()
        }
        Arrivals::Paced { .. } => {
            let pacing = Scheduled::<false>::new(part, start);
            let mut lane = Lane::<_, false>::new(0, part, 0, start, pacing);
            drive(target, &mut lane, slots, start, stop, &mut see);
            lane.into_outcome()
        }
        Arrivals::Fixed { .. } | Arrivals::Poisson { .. } => {
            let pacing = Scheduled::<true>::new(part, start);
            let mut lane = Lane::<_, true>::new(0, part, 0, start, pacing);
            drive(target, &mut lane, slots, start, stop, &mut see);
            lane.into_outcome()
        }
    }
}

/// Measures several loads on one target from one worker, each with its own books: what stands for
/// workers where time is virtual, since there one worker holds all streams.
///
/// `seen` is also told whose interval it is, by place in `parts`.
pub fn measure_together<T: Target>(
    target: &mut T,
    parts: &[Part<'_>],
    start: Instant,
    stop: &AtomicBool,
    seen: &mut impl FnMut(usize, &Interval),
) -> Vec<Outcome> {
    let mut together = Together { lanes: Vec::new(), owners: Vec::new() };
    for (number, part) in parts.iter().enumerate() {
        let base = together.owners.len() as u32;
        let slots = part.slots();
        together.lanes.push(lane(number, part, base, start));
        together.owners.extend(std::iter::repeat_n(number, slots as usize));
    }
    let slots = together.owners.len() as u32;
    drive(target, &mut together, slots, start, stop, seen);
    together.lanes.into_iter().map(OneLane::into_outcome).collect()
}

fn lane<'a, T: Target>(
    number: usize,
    part: &Part<'a>,
    base: u32,
    start: Instant,
) -> Box<dyn OneLane<T> + 'a> {
    match part.point.arrivals {
        Arrivals::Closed => {
            let pacing = Closed::new(part.slots());
            Box::new(Lane::<_, false>::new(number, part, base, start, pacing))
        }
        Arrivals::Paced { .. } => {
            let pacing = Scheduled::<false>::new(part, start);
            Box::new(Lane::<_, false>::new(number, part, base, start, pacing))
        }
        Arrivals::Fixed { .. } | Arrivals::Poisson { .. } => {
            let pacing = Scheduled::<true>::new(part, start);
            Box::new(Lane::<_, true>::new(number, part, base, start, pacing))
        }
    }
}

struct Together<'a, T> {
    lanes: Vec<Box<dyn OneLane<T> + 'a>>,
    /// Whose each slot is.
    owners: Vec<usize>,
}

impl<T: Target> Lanes<T> for Together<'_, T> {
    fn turn(
        &mut self,
        now: Instant,
        target: &mut T,
        interrupted: bool,
        seen: &mut dyn FnMut(usize, &Interval),
    ) -> bool {
        let mut alive = false;
        for lane in &mut self.lanes {
            alive |= lane.turn(now, target, interrupted, seen);
        }
        alive
    }

    fn wake(&self, now: Instant) -> Instant {
        self.lanes.iter().map(|lane| lane.wake(now)).min().unwrap_or(now)
    }

    fn completed(&mut self, completion: &Completion, target: &mut T) {
        let owner = self.owners[completion.slot.0 as usize];
        self.lanes[owner].completed(completion, target);
    }

    fn failed(&mut self, failure: &TargetFailure) {
        for lane in &mut self.lanes {
            lane.failed(failure);
        }
    }
}

/// The loop: one for every target, every rule of pacing, and any number of lanes.
fn drive<T: Target, L: Lanes<T>>(
    target: &mut T,
    lanes: &mut L,
    slots: u32,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(usize, &Interval),
) {
    let mut done = Completions::with_capacity(slots as usize);
    let mut now = target.now();
    while now < start && !stop.load(Ordering::Relaxed) {
        if let Err(failure) = target.wait(start, &mut done) {
            lanes.failed(&failure);
            break;
        }
        now = target.now();
    }
    while lanes.turn(now, target, stop.load(Ordering::Relaxed), seen) {
        done.clear();
        let answer = target.wait(lanes.wake(now), &mut done);
        for completion in done.as_slice() {
            lanes.completed(completion, target);
        }
        if let Err(failure) = answer {
            lanes.failed(&failure);
        }
        now = target.now();
    }
}
