//! A point as an entry of a document.

use super::entries::{
    CpuPerIo, ErrorEntry, FindingEntry, Latency, LatencyByDirection, by_direction, errors,
    finding_entry, finite, latency, reported_as, target_name,
};
use super::fields::rows;
use super::record::PointRecord;
use super::summary::PointSummary;
use crate::fields::entry;
use crate::record::{ExpectedEntry, MonitorEntry, RunRecord, expected_entry, monitor_entry};
use crate::step::shown_step;

/// Context from which the entry of a point is computed: the point, its run and its statistics.
pub(crate) struct Shown<'a> {
    pub(crate) run: &'a RunRecord,
    pub(crate) point: &'a PointRecord,
    pub(crate) summary: PointSummary,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(run: &'a RunRecord, point: &'a PointRecord) -> Self {
        Self { run, point, summary: PointSummary::from_point(point) }
    }
}

rows! {
    entry
    /// A measured point.
    entry PointEntry;
}
