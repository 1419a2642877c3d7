//! Points that a search adds to its plan.

use qdepth_measure::{Nanos, Seed};

use crate::arrival::Arrivals;
use crate::plan::{Point, Stop};

/// Maximum number of requests in flight over all streams.
const IN_FLIGHT: u32 = 512;

impl Point {
    /// The point as an open loop with random arrivals at this rate over all streams, I/Os per
    /// second, and with the maximum number of requests in flight.
    pub fn at_rate(&self, index: u32, rate: f64, warm_up: Nanos, window: Nanos) -> Self {
        let stop = Stop { duration_ns: window.0, interleaved_segments: 1, ..self.stop };
        Self {
            index,
            group: index,
            step: format!("{rate:.0} IOPS"),
            arrivals: Arrivals::Poisson { rate: rate / f64::from(self.streams.max(1)) },
            queue_depth: (IN_FLIGHT / self.streams.max(1)).max(1),
            warm_up_ns: warm_up.0,
            stop,
            seed: Seed(self.seed).derive("rate").derive(&index.to_string()).0,
            ..self.clone()
        }
    }
}
