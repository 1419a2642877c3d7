//! Time series of a point: counts and latency histograms for each interval of the window.

use qdepth_measure::{EncodedHistogram, LatencyHistogram, Nanos, Slice};
use qdepth_workload::Direction;
use serde::{Deserialize, Serialize};

/// One interval of the series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, relative to the start of the window.
    pub start: Nanos,
    /// Length of the interval.
    pub length: Nanos,
    /// Completed reads, writes and trims.
    pub completed: [u64; 3],
    /// Bytes of the completed reads, writes and trims.
    pub bytes: [u64; 3],
    /// Sum of the latencies, ns.
    pub latency_sum: u64,
    /// Sum of the response times, ns.
    pub response_time_sum: u64,
    /// End offsets in the arena of the encoded histograms of reads, writes and trims. Without trims
    /// the last histogram is empty.
    pub(crate) ends: [usize; 3],
}

impl Interval {
    /// The interval, shifted in time by `offset`.
    #[must_use]
    pub fn moved(self, offset: Nanos) -> Self {
        Self { start: self.start + offset, ..self }
    }

    /// Adds the counts of another worker's interval at the same time. Histograms are merged
    /// elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.start = other.start;
        self.length = self.length.max(other.length);
        self.latency_sum += other.latency_sum;
        self.response_time_sum += other.response_time_sum;
        for direction in 0..3 {
            self.completed[direction] += other.completed[direction];
            self.bytes[direction] += other.bytes[direction];
        }
    }
}

/// The series of a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedSeries")]
pub struct Series {
    pub(crate) intervals: Vec<Interval>,
    pub(crate) arena: Vec<u8>,
    /// Number of intervals whose histograms did not fit into the arena.
    pub lost: u64,
}

/// A series as received from another process.
#[derive(Deserialize)]
struct UncheckedSeries {
    intervals: Vec<Interval>,
    arena: Vec<u8>,
    lost: u64,
}

impl TryFrom<UncheckedSeries> for Series {
    type Error = &'static str;

    fn try_from(unchecked: UncheckedSeries) -> Result<Self, Self::Error> {
        let UncheckedSeries { intervals, arena, lost } = unchecked;
        let ends = intervals.iter().flat_map(|interval| interval.ends);
        let in_order = ends.clone().is_sorted() && ends.last().unwrap_or(0) <= arena.len();
        in_order.then_some(Self { intervals, arena, lost }).ok_or("slices beyond their histograms")
    }
}

impl Series {
    /// The intervals, ordered by time.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Appends an interval. Not for the loop, because it allocates.
    pub fn push(&mut self, mut interval: Interval, histograms: &[LatencyHistogram; 3]) {
        for (kind, histogram) in histograms.iter().enumerate() {
            if is_kept(kind, histogram) {
                histogram.encode(&mut self.arena);
            }
            interval.ends[kind] = self.arena.len();
        }
        self.intervals.push(interval);
    }

    /// Service-time histograms of the reads, writes and trims of an interval; empty if they were
    /// lost or there were no trims.
    pub fn histograms(&self, index: usize) -> [EncodedHistogram; 3] {
        let start = index.checked_sub(1).map_or(0, |former| self.intervals[former].ends[2]);
        let [reads, writes, trims] = self.intervals[index].ends;
        [start..reads, reads..writes, writes..trims]
            .map(|range| EncodedHistogram(self.arena[range].to_vec()))
    }
}

/// The counts of an interval, as input of a settling rule.
pub(crate) fn slice(interval: &Interval) -> Slice {
    Slice {
        ios: interval.completed.iter().sum(),
        bytes: interval.bytes.iter().sum(),
        latency_ns: interval.latency_sum,
        length: interval.length,
    }
}

/// True if the histogram is stored: hardly any load trims, so an empty histogram of trims is not.
pub(crate) fn is_kept(kind: usize, histogram: &LatencyHistogram) -> bool {
    kind != Direction::Trim as usize || histogram.count() > 0
}
