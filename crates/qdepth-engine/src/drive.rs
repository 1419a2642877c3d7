//! The loop itself.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Arrivals, Point};

use crate::driver::{Driver, Drivers, OneDriver};
use crate::outcome::Outcome;
use crate::pacing::{Closed, Finite, Pacing, Scheduled, Thinking};
use crate::series::Interval;
use crate::shard::Shard;
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
    measure_shard(target, &Shard::whole(point), start, stop, seen)
}

/// Measures what one worker drives of a point, from `start`, which workers that measure together
/// share.
pub fn measure_shard<T: Target>(
    target: &mut T,
    shard: &Shard<'_>,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut impl FnMut(&Interval),
) -> Outcome {
    choose(shard, start, Alone { target, shard, start, stop, seen })
}

/// Measures several loads on one target from one worker, each with its own results: what stands for
/// workers where time is virtual, since there one worker holds all streams.
///
/// `seen` is also told whose interval it is, by place in `shards`.
pub fn measure_together<T: Target>(
    target: &mut T,
    shards: &[Shard<'_>],
    start: Instant,
    stop: &AtomicBool,
    seen: &mut impl FnMut(usize, &Interval),
) -> Vec<Outcome> {
    let mut together = Together { drivers: Vec::new(), owners: Vec::new() };
    for (number, shard) in shards.iter().enumerate() {
        let base = together.owners.len() as u32;
        let slots = shard.slots();
        let among = Among { number, shard, base, start, on: PhantomData };
        together.drivers.push(choose(shard, start, among));
        together.owners.extend(std::iter::repeat_n(number, slots as usize));
    }
    let slots = together.owners.len() as u32;
    drive(target, &mut together, slots, start, stop, seen);
    together.drivers.into_iter().map(OneDriver::into_outcome).collect()
}

/// Maps a pacing rule to its type.
trait ForRule<'a> {
    type Output;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Self::Output;
}

/// Chooses the rule that a load asks for, so that the loop asks no questions. The loop is compiled
/// for closed and for open loads without an amount, and once for all others, behind a pointer.
fn choose<'a, F: ForRule<'a>>(shard: &Shard<'a>, start: Instant, consumer: F) -> F::Output {
    let start = start + Nanos(shard.point.delay_ns);
    match shard.point.arrivals {
        Arrivals::Closed => ending::<_, _, false>(Closed::new(shard.slots()), shard, consumer),
        Arrivals::ThinkTime { time_ns, requests } => {
            let rule = Box::new(Thinking::new(shard, Nanos(time_ns), requests));
            ending::<_, Box<dyn Pacing + 'a>, false>(rule, shard, consumer)
        }
        Arrivals::Paced { .. } => {
            let rule = Box::new(Scheduled::<false>::new(shard, start));
            ending::<_, Box<dyn Pacing + 'a>, false>(rule, shard, consumer)
        }
        Arrivals::Fixed { .. } | Arrivals::Poisson { .. } | Arrivals::Recorded { .. } => {
            ending::<_, _, true>(Scheduled::<true>::new(shard, start), shard, consumer)
        }
    }
}

fn ending<'a, F: ForRule<'a>, P: Pacing + 'a, const RESPONSE: bool>(
    rule: P,
    shard: &Shard<'a>,
    consumer: F,
) -> F::Output {
    let finite = shard.point.stop.bytes_per_stream > 0;
    let flow = shard.stop_group.and_then(|stop_group| stop_group.flow(shard));
    if !finite && flow.is_none() {
        return consumer.with::<P, RESPONSE>(rule);
    }
    let mut rule: Box<dyn Pacing + 'a> =
        if finite { Box::new(Finite::new(rule, shard)) } else { Box::new(rule) };
    if let Some(flow) = flow {
        rule = Box::new(Tied::new(rule, flow, shard));
    }
    consumer.with::<_, RESPONSE>(rule)
}

/// One load has the loop for itself.
struct Alone<'p, 'a, T, S> {
    target: &'p mut T,
    shard: &'p Shard<'a>,
    start: Instant,
    stop: &'p AtomicBool,
    seen: &'p mut S,
}

impl<'a, T: Target, S: FnMut(&Interval)> ForRule<'a> for Alone<'_, 'a, T, S> {
    type Output = Outcome;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Outcome {
        let Self { target, shard, start, stop, seen } = self;
        let mut driver = Driver::<_, RESPONSE>::new(0, shard, 0, start, pacing);
        drive(target, &mut driver, shard.slots(), start, stop, &mut |_, interval| seen(interval));
        driver.into_outcome()
    }
}

/// A load is one driver among others.
struct Among<'p, 'a, T> {
    number: usize,
    shard: &'p Shard<'a>,
    base: u32,
    start: Instant,
    on: PhantomData<fn(&mut T)>,
}

impl<'a, T: Target> ForRule<'a> for Among<'_, 'a, T> {
    type Output = Box<dyn OneDriver<T> + 'a>;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Self::Output {
        Box::new(Driver::<_, RESPONSE>::new(self.number, self.shard, self.base, self.start, pacing))
    }
}

struct Together<'a, T> {
    drivers: Vec<Box<dyn OneDriver<T> + 'a>>,
    /// Owner of each slot.
    owners: Vec<usize>,
}

impl<T: Target> Drivers<T> for Together<'_, T> {
    fn turn(
        &mut self,
        now: Instant,
        target: &mut T,
        interrupted: bool,
        seen: &mut dyn FnMut(usize, &Interval),
    ) -> bool {
        let mut alive = false;
        for driver in &mut self.drivers {
            alive |= driver.turn(now, target, interrupted, seen);
        }
        alive
    }

    fn wake(&self, now: Instant) -> Instant {
        self.drivers.iter().map(|driver| driver.wake(now)).min().unwrap_or(now)
    }

    fn completed(&mut self, completion: &Completion, target: &mut T) {
        let owner = self.owners[completion.slot.0 as usize];
        self.drivers[owner].completed(completion, target);
    }

    fn failed(&mut self, failure: &TargetFailure) {
        for driver in &mut self.drivers {
            driver.failed(failure);
        }
    }
}

/// The loop: one for every target, every rule of pacing, and any number of drivers.
fn drive<T: Target, L: Drivers<T>>(
    target: &mut T,
    drivers: &mut L,
    slots: u32,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(usize, &Interval),
) {
    let mut done = Completions::with_capacity(slots as usize);
    if let Err(failure) = until(start, target, stop, &mut done) {
        drivers.failed(&failure);
    }
    let mut now = target.now();
    while drivers.turn(now, target, stop.load(Ordering::Relaxed), seen) {
        done.clear();
        let answer = target.wait(drivers.wake(now), &mut done);
        for completion in done.as_slice() {
            drivers.completed(completion, target);
        }
        if let Err(failure) = answer {
            drivers.failed(&failure);
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
