//! The loop on a kernel target behind a wrapper that accesses its buffers.

use std::sync::atomic::AtomicBool;

use qdepth_engine::{Interval, Outcome, Shard};
use qdepth_measure::Instant;

use crate::kernel_target::KernelTarget;
use crate::looped::run_any;
use crate::repeating::Repeating;
use crate::verify::Verifying;

impl Verifying<'_, KernelTarget> {
    /// Like [`KernelTarget::measure_shard`], but compares every read with the data written.
    pub fn measure_shard(
        &mut self,
        shard: &Shard<'_>,
        start: Instant,
        stop: &AtomicBool,
        seen: &mut dyn FnMut(&Interval),
    ) -> Outcome {
        run_any(self, shard, start, stop, seen)
    }
}

impl Repeating<'_, KernelTarget> {
    /// Like [`KernelTarget::measure_shard`], but some writes repeat the content of others.
    pub fn measure_shard(
        &mut self,
        shard: &Shard<'_>,
        start: Instant,
        stop: &AtomicBool,
        seen: &mut dyn FnMut(&Interval),
    ) -> Outcome {
        run_any(self, shard, start, stop, seen)
    }
}
