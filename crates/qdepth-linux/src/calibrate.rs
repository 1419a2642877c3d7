//! Cost of the parts of the loop: reading the clock, recording a latency, and submission and
//! completion through the ring.

use std::hint::black_box;

use qdepth_measure::{LatencyHistogram, Nanos};
use rustix::io_uring::IoringOp;

use crate::clock::Clock;
use crate::ring::{Await, Ring};
use crate::ring_queue::{CompletionMode, open};

/// Requests of one round trip through the ring.
const BATCH: u32 = 64;
/// Number of round trips. The median of this many ignores interrupted ones.
const TRIPS: usize = 201;
/// Clock readings, and recordings, of one round trip.
const OPERATIONS: u32 = 1000;

/// Medians, in nanoseconds per operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Source of stamps: `tsc` or `clock_gettime`.
    pub clock: &'static str,
    /// Reading the clock.
    pub clock_read_ns: f64,
    /// Recording a latency in a histogram.
    pub record_ns: f64,
    /// A no-op on `io_uring`, in batches of 64; `None` if `io_uring` is not available.
    pub ring: Option<RingCosts>,
}

/// Nanoseconds per request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingCosts {
    /// Putting it into the submission queue.
    pub submit_ns: f64,
    /// Time in the kernel: one system call for the batch.
    pub enter_ns: f64,
    /// Taking its completion.
    pub reap_ns: f64,
}

/// Measures the costs. Takes some milliseconds.
pub fn costs() -> Costs {
    let clock = Clock::get();
    let clock_read_ns = median_of(|| {
        let from = clock.now();
        for _ in 1..OPERATIONS {
            black_box(clock.now());
        }
        clock.now().since(from).0 as f64 / f64::from(OPERATIONS)
    });
    let mut histogram = LatencyHistogram::new();
    let record_ns = median_of(|| {
        let from = clock.now();
        for n in 0..u64::from(OPERATIONS) {
            // Spread over some powers of two, like real latencies.
            histogram.record(Nanos(black_box(20_000 + n * 137)));
        }
        clock.now().since(from).0 as f64 / f64::from(OPERATIONS)
    });
    Costs { clock: clock.check().source, clock_read_ns, record_ns, ring: ring(clock) }
}

fn ring(clock: Clock) -> Option<RingCosts> {
    let mut ring: Ring = open(BATCH, CompletionMode::Interrupts, &mut Vec::new()).ok()?;
    let mut trips = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..TRIPS {
        let began = clock.now();
        for _ in 0..BATCH {
            ring.next().opcode = IoringOp::Nop;
            ring.queue();
        }
        let queued = clock.now();
        ring.enter(Await::Until(BATCH, Nanos::from_secs(1))).ok()?;
        let entered = clock.now();
        for _ in 0..ring.ready() {
            black_box(ring.take().user_data);
        }
        ring.give_back();
        let taken = clock.now();
        let parts = [queued.since(began), entered.since(queued), taken.since(entered)];
        for (trip, part) in trips.iter_mut().zip(parts) {
            trip.push(part.0 as f64 / f64::from(BATCH));
        }
    }
    let [submit_ns, enter_ns, reap_ns] = trips.map(median);
    Some(RingCosts { submit_ns, enter_ns, reap_ns })
}

fn median_of(mut trip: impl FnMut() -> f64) -> f64 {
    median((0..TRIPS).map(|_| trip()).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibrated_costs_are_plausible() {
        let costs = costs();
        for ns in [costs.clock_read_ns, costs.record_ns] {
            assert!(ns > 0.1 && ns < 10_000.0, "{costs:?}");
        }
        if let Some(ring) = costs.ring {
            for ns in [ring.submit_ns, ring.enter_ns, ring.reap_ns] {
                assert!(ns > 0.1 && ns < 100_000.0, "{costs:?}");
            }
        } else {
            println!("SKIPPED: no io_uring here");
        }
    }
}
