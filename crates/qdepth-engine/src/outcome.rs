//! Outcome of a point.

use qdepth_measure::{LatencyHistogram, Nanos};
use serde::{Deserialize, Serialize};

use crate::durable::DurableParts;
use crate::minimum_rate::Shortfall;
use crate::series::Series;
use crate::target::{CpuTime, TargetFailure};

/// Number of different error numbers that are counted separately in a direction.
const KINDS_MAX: usize = 16;

/// Failed requests by error number. The capacity is fixed, so that counting never allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    kinds: [(i32, u64); KINDS_MAX],
    others: u64,
    total: u64,
}

impl Errors {
    /// Stands for all error numbers beyond the sixteenth: no error has the number 0.
    pub const OTHERS: i32 = 0;

    /// Counts one error. Error numbers beyond the sixteenth are counted together under
    /// [`OTHERS`](Self::OTHERS).
    pub fn count(&mut self, errno: i32) {
        self.count_many(errno, 1);
    }

    /// Adds to the count of one kind.
    pub fn count_many(&mut self, errno: i32, count: u64) {
        self.total += count;
        let room = self.kinds.iter_mut().find(|(e, n)| *e == errno || *n == 0);
        match room.filter(|_| errno != Self::OTHERS) {
            Some(kind) => *kind = (errno, kind.1 + count),
            None => self.others += count,
        }
    }

    /// Adds the counts of another worker.
    pub(crate) fn add(&mut self, other: &Self) {
        for (errno, count) in other.kinds() {
            self.count_many(errno, count);
        }
    }
    /// Number of errors of all kinds.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// Error number and count of each kind, those counted under [`OTHERS`](Self::OTHERS) last.
    pub fn kinds(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let others = (Self::OTHERS, self.others);
        self.kinds.iter().copied().chain([others]).filter(|(_, n)| *n > 0)
    }
}

/// Results of one direction within the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionOutcome {
    /// Requests completed in full.
    pub completed: u64,
    /// Bytes of the completed requests.
    pub bytes: u64,
    /// Failed requests, which are in no rate and no latency.
    pub errors: Errors,
    /// Transfers that came back short and were completed by further requests.
    pub short: u64,
    /// Completed − issued.
    pub latency: LatencyHistogram,
    /// Completed − intended; `None` in a closed loop, where it equals the latency.
    pub response_time: Option<LatencyHistogram>,
}

/// Reason why a point ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// Its time was over.
    #[default]
    Duration,
    /// Its rate was known with the requested precision.
    Precision,
    /// Its rate was steady.
    Steady,
    /// The requested number of bytes had been moved.
    Bytes,
    /// Its rate was below the required minimum.
    Rate,
    /// It was asked to stop.
    Interrupted,
    /// The target failed.
    Failure,
}

/// Outcome of a point. Figures refer to the window unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Length of the window.
    pub duration: Nanos,
    /// Reads, writes, trims and syncs, in this order.
    pub directions: [DirectionOutcome; 4],
    /// Latencies of the parts of durable writes; `None` if the load is not durable.
    pub parts: Option<DurableParts>,
    /// Requests issued, warm-up and drain included. Continuations of short transfers are not
    /// counted again.
    pub issued: u64,
    /// Completed outside the window.
    pub completed_outside: u64,
    /// Bytes completed outside the window.
    pub bytes_outside: u64,
    /// Failed outside the window.
    pub failed_outside: u64,
    /// I/Os that never completed.
    pub abandoned: u64,
    /// Time integral of the requests in flight, I/O·ns, counted by the loop.
    pub in_flight_integral: f64,
    /// Sum of the parts of all latencies that lie in the window, ns, computed from the stamps.
    pub latency_in_window: f64,
    /// Longest interval without a completion. In an open loop, time with nothing in flight does not
    /// count.
    pub longest_gap: Nanos,
    /// Such intervals over 100 ms, 1 s, 10 s.
    pub gaps: [u64; 3],
    /// Largest number of requests of one stream that were due while no slot was free.
    pub backlog_max: u64,
    /// CPU time of the worker.
    pub cpu: CpuTime,
    /// Time series of the window.
    pub series: Series,
    /// Reason why the window ended.
    pub ended: Ended,
    /// Time at which the load began to catch up with the fastest stream; 0 if it never did.
    pub caught_up_from: Nanos,
    /// Bytes that the load had moved by then.
    pub bytes_before: u64,
    /// Number of checks of the rate's precision.
    pub interim_checks: u32,
    /// The minimum rate that was missed; `None` if none was.
    pub shortfall: Option<Shortfall>,
    /// True if the point was stopped before its end.
    pub interrupted: bool,
    /// The failure that ended the point early, if any.
    pub failure: Option<TargetFailure>,
}

impl Outcome {
    /// Completed in the window, all directions.
    pub fn completed(&self) -> u64 {
        self.directions.iter().map(|d| d.completed).sum()
    }
    /// Failed in the window, all directions.
    pub fn failed(&self) -> u64 {
        self.directions.iter().map(|d| d.errors.total()).sum()
    }
    /// Bytes completed in the window, all directions.
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|d| d.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_error_kinds_are_counted_as_others() {
        let mut errors = Errors::default();
        for errno in (1..=18).chain([16, 18]) {
            errors.count(errno);
        }
        let kinds: Vec<(i32, u64)> = errors.kinds().collect();
        let first: Vec<(i32, u64)> = (1..=16).map(|e| (e, 1 + u64::from(e == 16))).collect();
        assert_eq!(kinds[..16], first);
        assert_eq!(kinds[16..], [(Errors::OTHERS, 3)]);
        assert_eq!(errors.total(), 20);
    }
}
