//! The series of a point: what was done in each slice of its window, with the histograms of each.

use qdepth_measure::{EncodedHistogram, LatencyHistogram, Nanos, Slice};
use qdepth_workload::Direction;
use serde::{Deserialize, Serialize};

/// One slice of the series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// From the start of the window.
    pub start: Nanos,
    /// Its length.
    pub length: Nanos,
    /// Completed reads, writes and trims.
    pub completed: [u64; 3],
    /// Their bytes.
    pub bytes: [u64; 3],
    /// Sum of their service times, ns.
    pub service_time_sum: u64,
    /// Sum of their response times, ns.
    pub response_time_sum: u64,
    /// Ends of the encoded histograms of reads, writes and trims in the arena; without trims the
    /// last is empty.
    pub(crate) ends: [usize; 3],
}

impl Interval {
    /// The same so much later.
    #[must_use]
    pub fn moved(self, offset: Nanos) -> Self {
        Self { start: self.start + offset, ..self }
    }

    /// Adds what another worker did in the same slice; the histograms lie elsewhere.
    pub fn add(&mut self, other: &Self) {
        let Self { start, length, completed, bytes, service_time_sum, response_time_sum, ends: _ } =
            other;
        self.start = *start;
        self.length = self.length.max(*length);
        self.service_time_sum += service_time_sum;
        self.response_time_sum += response_time_sum;
        for direction in 0..3 {
            self.completed[direction] += completed[direction];
            self.bytes[direction] += bytes[direction];
        }
    }
}

/// The series of a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedSeries")]
pub struct Series {
    pub(crate) intervals: Vec<Interval>,
    pub(crate) arena: Vec<u8>,
    /// Intervals whose histograms found no room.
    pub lost: u64,
}

/// A series as another process sent it.
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
    /// The slices in order of time.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Adds a slice; outside the loop, since it allocates.
    pub fn push(&mut self, mut interval: Interval, histograms: &[LatencyHistogram; 3]) {
        for (kind, histogram) in histograms.iter().enumerate() {
            if is_kept(kind, histogram) {
                histogram.encode(&mut self.arena);
            }
            interval.ends[kind] = self.arena.len();
        }
        self.intervals.push(interval);
    }

    /// Histograms of the service times of reads, writes and trims of a slice; empty where they were
    /// lost, and of trims where there were none.
    pub fn histograms(&self, index: usize) -> [EncodedHistogram; 3] {
        let start = index.checked_sub(1).map_or(0, |former| self.intervals[former].ends[2]);
        let [reads, writes, trims] = self.intervals[index].ends;
        [start..reads, reads..writes, writes..trims]
            .map(|range| EncodedHistogram(self.arena[range].to_vec()))
    }
}

/// Input of a rule from one interval.
pub(crate) fn slice(interval: &Interval) -> Slice {
    Slice {
        ios: interval.completed.iter().sum(),
        bytes: interval.bytes.iter().sum(),
        latency_ns: interval.service_time_sum,
        length: interval.length,
    }
}

/// Hardly any load trims: what does not is kept as if nothing could.
pub(crate) fn is_kept(kind: usize, histogram: &LatencyHistogram) -> bool {
    kind != Direction::Trim as usize || histogram.count() > 0
}
