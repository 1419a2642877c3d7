//! Outcome of a point.

use qdepth_measure::{LatencyHistogram, Nanos};
use serde::{Deserialize, Serialize};

use crate::durable::DurableParts;
use crate::least::Shortfall;
use crate::series::Series;
use crate::target::{CpuTime, TargetFailure};

/// Room for this many different error numbers in a direction.
const KINDS_MAX: usize = 16;

/// Failed requests by error number; fixed room, so that counting never allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    kinds: [(i32, u64); KINDS_MAX],
    others: u64,
    total: u64,
}

impl Errors {
    /// Stands for all kinds beyond the sixteenth: no error has the number 0.
    pub const OTHERS: i32 = 0;

    /// Counts one. The seventeenth kind and later ones are counted together, as
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

    /// Adds those of another worker.
    pub(crate) fn add(&mut self, other: &Self) {
        for (errno, count) in other.kinds() {
            self.count_many(errno, count);
        }
    }
    /// All of them.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// Error number and count of each kind seen, those beyond the room together at the end.
    pub fn kinds(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let others = (Self::OTHERS, self.others);
        self.kinds.iter().copied().chain([others]).filter(|(_, n)| *n > 0)
    }
}

/// One direction within the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionOutcome {
    /// Completed in full.
    pub completed: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Failed: in no rate, in no latency.
    pub errors: Errors,
    /// Transfers that came back short and were completed by further requests.
    pub short: u64,
    /// completed − issued.
    pub service_time: LatencyHistogram,
    /// completed − intended; none in a closed loop, where it is the same.
    pub response_time: Option<LatencyHistogram>,
}

/// Reason why a point ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// Its time was over.
    #[default]
    Duration,
    /// Its rate was known as well as asked.
    Precision,
    /// Its rate was steady.
    Steady,
    /// So many bytes had been moved.
    Bytes,
    /// Its rate was below what it is to keep.
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
    /// Parts of durable writes, where a sync behind each write belongs to it.
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
    /// Never came back.
    pub abandoned: u64,
    /// Time-integral of the requests in flight, I/O·ns, counted by the loop.
    pub in_flight_integral: f64,
    /// Sum of the parts of all latencies that lie in the window, ns, from the stamps.
    pub latency_in_window: f64,
    /// Longest interval without a completion.
    pub longest_gap: Nanos,
    /// Intervals without a completion over 100 ms, 1 s, 10 s.
    pub gaps: [u64; 3],
    /// Most requests of one stream that were due and could not be issued.
    pub backlog_max: u64,
    /// CPU time of the worker.
    pub cpu: CpuTime,
    /// The series.
    pub series: Series,
    /// Reason why the window ended.
    pub ended: Ended,
    /// Start of catching up with the fastest stream, if there was any.
    pub caught_up_from: Nanos,
    /// Bytes that it had moved by then.
    pub bytes_before: u64,
    /// Number of checks of the rate's precision.
    pub interim_checks: u32,
    /// The rate that it did not keep, where that ended it.
    pub shortfall: Option<Shortfall>,
    /// True if it was stopped before its time.
    pub interrupted: bool,
    /// Why it ended early, where it did.
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
    /// Bytes of the window.
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|d| d.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_kinds_beyond_the_room_are_counted_as_others() {
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
