//! The measuring loop and its monomorphised variants.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Arrivals, Point};

use crate::coupled::Coupled;
use crate::driver::{Driver, Drivers, OneDriver};
use crate::durable::Durable;
use crate::flow::Flow;
use crate::outcome::Outcome;
use crate::pacing::{Closed, Finite, Pacing, Scheduled, Thinking};
use crate::series::Interval;
use crate::shard::Shard;
use crate::target::{Completion, Completions, Target, TargetFailure};

/// Measures all streams of a point, from now: issues requests until the point ends, waits for those
/// in flight, and returns the outcome. `stop` ends the point early; `seen` receives each interval
/// of the series as it closes.
///
/// Nothing is allocated between the first request and the last completion.
pub fn measure<T: Target>(
    target: &mut T,
    point: &Point,
    stop: &AtomicBool,
    seen: &mut impl FnMut(&Interval),
) -> Outcome {
    measure_shard(target, &Shard::whole(point), Instant::default(), stop, seen)
}

/// Measures one worker's share of a point, from `start`, which all workers of the point share, or
/// from now if that is later.
pub fn measure_shard<T: Target>(
    target: &mut T,
    shard: &Shard<'_>,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut (impl FnMut(&Interval) + ?Sized),
) -> Outcome {
    let start = start.max(target.now());
    if shard.point.durability.syncs() {
        return measure_any(target, shard, start, stop, &mut |interval| seen(interval));
    }
    // A type parameter for `seen` would compile a separate loop for each caller.
    let seen = &mut |interval: &Interval| seen(interval);
    choose(shard, start, SingleLoad { target, shard, start, stop, seen })
}

/// Like [`measure_shard`], for targets whose work per request costs more than a virtual call: they
/// share one compiled loop.
pub fn measure_any(
    target: &mut dyn Target,
    shard: &Shard<'_>,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(&Interval),
) -> Outcome {
    let start = start.max(target.now());
    if !shard.point.durability.syncs() {
        return choose(shard, start, DynamicLoad { target, shard, start, stop, seen });
    }
    let mut durable = Durable::new(target, std::slice::from_ref(shard), start);
    let any = DynamicLoad { target: &mut durable, shard, start, stop, seen };
    let outcome = choose(shard, start, any);
    Outcome { parts: durable.into_parts().pop().flatten(), ..outcome }
}

/// Measures several loads on one target from one worker, each with its own results. Virtual time
/// uses this instead of several workers, because one worker holds all streams.
///
/// `seen` also receives the index in `shards` of the load that the interval belongs to.
pub fn measure_together<T: Target>(
    target: &mut T,
    shards: &[Shard<'_>],
    start: Instant,
    stop: &AtomicBool,
    seen: &mut impl FnMut(usize, &Interval),
) -> Vec<Outcome> {
    if !shards.iter().any(|shard| shard.point.durability.syncs()) {
        return together(target, shards, start, stop, seen, |shard, shared| {
            choose(shard, start, shared)
        });
    }
    let mut durable = Durable::new(target, shards, start);
    let mut any: &mut dyn Target = &mut durable;
    let mut outcomes = together(&mut any, shards, start, stop, seen, |shard, shared| {
        choose(shard, start, Boxed(shared))
    });
    for (outcome, parts) in outcomes.iter_mut().zip(durable.into_parts()) {
        outcome.parts = parts;
    }
    outcomes
}

fn together<'a, T: Target>(
    target: &mut T,
    shards: &[Shard<'a>],
    start: Instant,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(usize, &Interval),
    make: impl for<'p> Fn(&'p Shard<'a>, SharedLoop<'p, 'a, T>) -> Box<dyn OneDriver<T> + 'a>,
) -> Vec<Outcome> {
    let mut together = Together { drivers: Vec::new(), owners: Vec::new() };
    for (number, shard) in shards.iter().enumerate() {
        let base = together.owners.len() as u32;
        let slots = shard.slots();
        let shared = SharedLoop { number, shard, base, start, on: PhantomData };
        together.drivers.push(make(shard, shared));
        together.owners.extend(std::iter::repeat_n(number, slots as usize));
    }
    let slots = together.owners.len() as u32;
    drive(target, &mut together, slots, start, stop, seen);
    together.drivers.into_iter().map(OneDriver::into_outcome).collect()
}

/// Consumer of a pacing rule: monomorphised by the rule's type, or given any rule as a trait
/// object.
trait ForRule<'a> {
    type Output;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Self::Output;
    fn with_any<const RESPONSE: bool>(self, pacing: Box<dyn Pacing + 'a>) -> Self::Output;
}

/// Chooses the pacing rule before the loop, so that the loop has no branch for it. The loop is
/// compiled per target for closed and open loads without a byte limit or coupling. All other loads
/// share one compiled loop, whatever their target is.
fn choose<'a, F: ForRule<'a>>(shard: &Shard<'a>, start: Instant, consumer: F) -> F::Output {
    let start = start + Nanos(shard.point.delay_ns);
    match shard.point.arrivals {
        Arrivals::Closed => {
            unless_ending::<_, _, false>(Closed::new(shard.slots()), shard, consumer)
        }
        Arrivals::ThinkTime { time_ns, requests } => {
            let rule = Thinking::new(shard, Nanos(time_ns), requests);
            consumer.with_any::<false>(ending(rule, shard))
        }
        Arrivals::Paced { .. } => {
            let rule = Scheduled::<false>::new(shard, start);
            consumer.with_any::<false>(ending(rule, shard))
        }
        Arrivals::Fixed { .. } | Arrivals::Poisson { .. } | Arrivals::Recorded { .. } => {
            unless_ending::<_, _, true>(Scheduled::<true>::new(shard, start), shard, consumer)
        }
    }
}

fn unless_ending<'a, F: ForRule<'a>, P: Pacing + 'a, const RESPONSE: bool>(
    rule: P,
    shard: &Shard<'a>,
    consumer: F,
) -> F::Output {
    if shard.point.stop.bytes_per_stream == 0 && flow(shard).is_none() {
        return consumer.with::<P, RESPONSE>(rule);
    }
    consumer.with_any::<RESPONSE>(ending(rule, shard))
}

/// The rule, wrapped with a byte limit per stream and a coupling to other loads if the load has
/// these.
#[inline(never)]
fn ending<'a, P: Pacing + 'a>(rule: P, shard: &Shard<'a>) -> Box<dyn Pacing + 'a> {
    let rule: Box<dyn Pacing + 'a> = match shard.point.stop.bytes_per_stream {
        0 => Box::new(rule),
        _ => Box::new(Finite::new(rule, shard)),
    };
    match flow(shard) {
        Some(flow) => Box::new(Coupled::new(rule, flow, shard)),
        None => rule,
    }
}

fn flow<'a>(shard: &Shard<'a>) -> Option<&'a Flow> {
    shard.stop_group.and_then(|stop_group| stop_group.flow(shard))
}

/// Consumer that receives its rule as a trait object.
struct Boxed<F>(F);

impl<'a, F: ForRule<'a>> ForRule<'a> for Boxed<F> {
    type Output = F::Output;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> F::Output {
        self.with_any::<RESPONSE>(Box::new(pacing))
    }
    fn with_any<const RESPONSE: bool>(self, pacing: Box<dyn Pacing + 'a>) -> F::Output {
        self.0.with_any::<RESPONSE>(pacing)
    }
}

/// One load that has the loop to itself.
struct SingleLoad<'p, 'a, T> {
    target: &'p mut T,
    shard: &'p Shard<'a>,
    start: Instant,
    stop: &'p AtomicBool,
    seen: &'p mut dyn FnMut(&Interval),
}

impl<'a, T: Target> ForRule<'a> for SingleLoad<'_, 'a, T> {
    type Output = Outcome;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Outcome {
        let Self { target, shard, start, stop, seen } = self;
        let mut driver = Driver::<_, RESPONSE>::new(0, shard, 0, start, pacing);
        drive(target, &mut driver, shard.slots(), start, stop, &mut |_, interval| seen(interval));
        driver.into_outcome()
    }
    fn with_any<const RESPONSE: bool>(self, pacing: Box<dyn Pacing + 'a>) -> Outcome {
        let Self { target, shard, start, stop, seen } = self;
        DynamicLoad { target, shard, start, stop, seen }.with_any::<RESPONSE>(pacing)
    }
}

/// One load that has the loop to itself, with target and rule as trait objects.
struct DynamicLoad<'p, 'a> {
    target: &'p mut dyn Target,
    shard: &'p Shard<'a>,
    start: Instant,
    stop: &'p AtomicBool,
    seen: &'p mut dyn FnMut(&Interval),
}

impl<'a> ForRule<'a> for DynamicLoad<'_, 'a> {
    type Output = Outcome;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Outcome {
        self.with_any::<RESPONSE>(Box::new(pacing))
    }
    fn with_any<const RESPONSE: bool>(self, pacing: Box<dyn Pacing + 'a>) -> Outcome {
        if RESPONSE { self.open(pacing) } else { self.closed(pacing) }
    }
}

/// Not generic, so that the two loops are compiled in this crate only.
impl<'a> DynamicLoad<'_, 'a> {
    fn closed(self, pacing: Box<dyn Pacing + 'a>) -> Outcome {
        let Self { mut target, shard, start, stop, seen } = self;
        SingleLoad { target: &mut target, shard, start, stop, seen }.with::<_, false>(pacing)
    }
    fn open(self, pacing: Box<dyn Pacing + 'a>) -> Outcome {
        let Self { mut target, shard, start, stop, seen } = self;
        SingleLoad { target: &mut target, shard, start, stop, seen }.with::<_, true>(pacing)
    }
}

/// One load of several that share the loop.
struct SharedLoop<'p, 'a, T> {
    number: usize,
    shard: &'p Shard<'a>,
    base: u32,
    start: Instant,
    on: PhantomData<fn(&mut T)>,
}

impl<'a, T: Target> ForRule<'a> for SharedLoop<'_, 'a, T> {
    type Output = Box<dyn OneDriver<T> + 'a>;
    fn with<P: Pacing + 'a, const RESPONSE: bool>(self, pacing: P) -> Self::Output {
        Box::new(Driver::<_, RESPONSE>::new(self.number, self.shard, self.base, self.start, pacing))
    }
    fn with_any<const RESPONSE: bool>(self, pacing: Box<dyn Pacing + 'a>) -> Self::Output {
        self.with::<_, RESPONSE>(pacing)
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

/// The loop, generic over the target and the drivers: one per pacing rule, or several.
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

/// Waits for the start in a function of its own, because the loop inlines `wait` of its target.
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
