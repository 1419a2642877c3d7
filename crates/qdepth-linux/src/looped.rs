//! Instances of the loop for each engine, compiled once in this crate and not in every crate that
//! measures.

use std::sync::atomic::AtomicBool;

use qdepth_engine::{Interval, Outcome, Shard, Target, measure_any, measure_shard};
use qdepth_measure::Instant;

/// Measures from `start`, or from now if that is later.
pub(crate) fn run<T: Target>(
    target: &mut T,
    shard: &Shard<'_>,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(&Interval),
) -> Outcome {
    let start = start.max(target.now());
    measure_shard(target, shard, start, stop, &mut |interval: &Interval| seen(interval))
}

/// Measures from `start`, or from now if that is later, on a target whose work per request costs
/// more than a virtual call, for example [`Verifying`](crate::Verifying). Such targets share one
/// compiled loop.
pub fn run_any(
    target: &mut dyn Target,
    shard: &Shard<'_>,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(&Interval),
) -> Outcome {
    let start = start.max(target.now());
    measure_any(target, shard, start, stop, seen)
}
