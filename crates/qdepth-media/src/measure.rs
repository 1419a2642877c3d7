//! Measurement loop on emulated targets, compiled once here instead of in every crate that
//! emulates.

use std::sync::atomic::AtomicBool;

use qdepth_engine::{Interval, Outcome, Shard, Target, measure_shard, measure_together};
use qdepth_measure::Instant;
use qdepth_workload::Point;

use crate::emulated::{Emulated, FastPath};

impl Emulated {
    /// Measures a point, starting now: [`qdepth_engine::measure`].
    pub fn measure(&mut self, point: &Point, stop: &AtomicBool) -> Option<Outcome> {
        let start = self.now();
        self.measure_together(&[Shard::whole(point)], start, stop, &mut |_, _| {}).pop()
    }

    /// Measures several concurrent loads, like [`qdepth_engine::measure_together`]. A single load
    /// uses the faster loop for one. One outcome per load, in their order.
    pub fn measure_together(
        &mut self,
        shards: &[Shard<'_>],
        start: Instant,
        stop: &AtomicBool,
        seen: &mut dyn FnMut(usize, &Interval),
    ) -> Vec<Outcome> {
        match shards {
            [shard] => {
                let mut seen = |interval: &Interval| seen(0, interval);
                vec![match self.fast_path() {
                    Some(FastPath::Ssd(mut medium)) => {
                        measure_shard(&mut medium, shard, start, stop, &mut seen)
                    }
                    Some(FastPath::Array(mut medium)) => {
                        measure_shard(&mut medium, shard, start, stop, &mut seen)
                    }
                    None => measure_shard(self, shard, start, stop, &mut seen),
                }]
            }
            shards => {
                let mut seen = |load: usize, interval: &Interval| seen(load, interval);
                measure_together(self, shards, start, stop, &mut seen)
            }
        }
    }
}
