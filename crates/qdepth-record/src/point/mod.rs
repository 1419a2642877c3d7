//! A point: its record, how it is stored, what its facts amount to, and how it is shown.

mod cells;
mod entries;
mod fields;
mod merged;
mod stored;
mod summary;

use crate::record::{DirectionRecord, RunRecord};

pub(crate) use cells::{PERCENTILES, point_fields};
pub use entries::{CpuPerIo, ErrorEntry, FindingEntry, Latency, LatencyByDirection, finding_entry};
pub use fields::{PointEntry, PointRecord};
pub(crate) use fields::{Shown, entry};
pub use summary::{ByDirection, LatencySummary, PointSummary, follows, percentile_name};

impl<'a> Shown<'a> {
    pub(crate) fn new(run: &'a RunRecord, point: &'a PointRecord) -> Self {
        Self { run, point, summary: PointSummary::from_point(point) }
    }
}

/// What of a point went which way.
pub(crate) fn transfers(
    point: &PointRecord,
) -> impl Iterator<Item = (&'static str, &DirectionRecord)> {
    let [reads, writes, trims] = point.transfers();
    [("read", reads), ("write", writes), ("trim", trims), ("sync", &point.syncs)].into_iter()
}

impl PointRecord {
    /// Reads, writes and trims, which are what its rate and its latency are of.
    pub fn transfers(&self) -> [&DirectionRecord; 3] {
        [&self.reads, &self.writes, &self.trims]
    }

    /// Reads, writes and trims completed in full.
    pub fn completed(&self) -> u64 {
        self.transfers().map(|each| each.completed).into_iter().fold(0, u64::saturating_add)
    }

    /// Bytes of those.
    pub fn bytes(&self) -> u64 {
        self.transfers().map(|each| each.bytes).into_iter().fold(0, u64::saturating_add)
    }

    /// Share of requests that write data, 0..=1.
    pub fn write_share(&self) -> f64 {
        1.0 - self.read_share - self.trim_share
    }
}
