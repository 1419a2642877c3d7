//! The loop itself.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Arrivals, Point};

use crate::lane::{Lane, Lanes, OneLane};
use crate::ledger::Interval;
use crate::outcome::Outcome;
use crate::pacing::{Closed, Finite, Pacing, Scheduled, Thinking};
use crate::part::Part;
use crate::target::{Completion, Completions, Target, TargetFailure};
use crate::tied::Tied;

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
    choose(part, start, Alone { target, part, start, stop, seen })
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
        let among = Among { number, part, base, start, on: PhantomData };
        together.lanes.push(choose(part, start, among));
        together.owners.extend(std::iter::repeat_n(number, slots as usize));
    }
    let slots = together.owners.len() as u32;
    drive(target, &mut together, slots, start, stop, seen);
    together.lanes.into_iter().map(OneLane::into_outcome).collect()
}

/// What a rule of pacing is chosen for, as a type.
trait ForRule<'a> {
    type Made;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Self::Made;
}

/// Chooses the rule that a load asks for, so that the loop asks no questions.
fn choose<'a, F: ForRule<'a>>(part: &Part<'a>, start: Instant, made: F) -> F::Made {
    let start = start + Nanos(part.point.delay_ns);
    match part.point.arrivals {
        Arrivals::ThinkTime { time_ns, requests } => {
            ending::<_, _, false>(Thinking::new(part, Nanos(time_ns), requests), part, made)
        }
        Arrivals::Closed => ending::<_, _, false>(Closed::new(part.slots()), part, made),
        Arrivals::Paced { .. } => {
            ending::<_, _, false>(Scheduled::<false>::new(part, start), part, made)
        }
        Arrivals::Fixed { .. } | Arrivals::Poisson { .. } => {
            ending::<_, _, true>(Scheduled::<true>::new(part, start), part, made)
        }
    }
}

fn ending<'a, F: ForRule<'a>, P: Pacing + 'a, const RESPONSE: bool>(
    rule: P,
    part: &Part<'a>,
    made: F,
) -> F::Made {
    let finite = part.point.stop.bytes_per_stream > 0;
    if let Some(flow) = part.company.and_then(|company| company.flow(part)) {
        let rule: Box<dyn Pacing + 'a> =
            if finite { Box::new(Finite::new(rule, part)) } else { Box::new(rule) };
        made.with::<_, RESPONSE>(Tied::new(rule, flow, part))
    } else if finite {
        made.with::<_, RESPONSE>(Finite::new(rule, part))
    } else {
        made.with::<P, RESPONSE>(rule)
    }
}

/// One load has the loop for itself.
struct Alone<'p, 'a, T, S> {
    target: &'p mut T,
    part: &'p Part<'a>,
    start: Instant,
    stop: &'p AtomicBool,
    seen: &'p mut S,
}

impl<'a, T: Target, S: FnMut(&Interval)> ForRule<'a> for Alone<'_, 'a, T, S> {
    type Made = Outcome;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Outcome {
        let Self { target, part, start, stop, seen } = self;
        let mut lane = Lane::<_, RESPONSE>::new(0, part, 0, start, pacing);
        drive(target, &mut lane, part.slots(), start, stop, &mut |_, interval| seen(interval));
        lane.into_outcome()
    }
}

/// A load is one lane among others.
struct Among<'p, 'a, T> {
    number: usize,
    part: &'p Part<'a>,
    base: u32,
    start: Instant,
    on: PhantomData<fn(&mut T)>,
}

impl<'a, T: Target> ForRule<'a> for Among<'_, 'a, T> {
    type Made = Box<dyn OneLane<T> + 'a>;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Self::Made {
        Box::new(Lane::<_, RESPONSE>::new(self.number, self.part, self.base, self.start, pacing))
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
    if let Err(failure) = until(start, target, stop, &mut done) {
        lanes.failed(&failure);
    }
    let mut now = target.now();
    while lanes.turn(now, target, stop.load(Ordering::Relaxed), seen) {
        done.clear();
        let answer = target.wait(lanes.wake(now), &mut done);
        for completion in done.as_slice() {
            lanes.completed(completion, target);
        }
        if let Err(failure) = answer {
            lanes.failed(&failure);
        }
        now = target.now_after(done.as_slice().len());
    }
}

/// Waits for the start, apart from the loop, which holds its target's `wait` inlined.
#[cold]
#[inline(never)]
fn until<T: Target>(
    start: Instant,
    target: &mut T,
    stop: &AtomicBool,
    done: &mut Completions,
) -> Result<(), TargetFailure> {
    while target.now() < start && !stop.load(Ordering::Relaxed) {
        target.wait(start, done)?;
    }
    Ok(())
}
