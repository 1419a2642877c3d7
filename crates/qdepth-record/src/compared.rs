//! Machine output of a comparison: its variants at every load and queue depth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use qdepth_measure::{Estimate, Grade, fairness, quotient, skew};

use crate::point::{PointRecord, PointSummary};
use crate::record::{ComparisonRecord, RunRecord};
use crate::together::{Cell, cells};

/// A variant of a comparison at one load and queue depth: its points combined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedEntry {
    /// Index in `run.comparison.variants`.
    pub variant: u32,
    /// Name of the load profile.
    pub profile: String,
    /// Queue depth of each drive or process.
    pub queue_depth: u32,
    /// IOPS of all its points together.
    pub io_per_s: f64,
    /// 95 % confidence interval of `io_per_s`; null if it cannot be determined.
    pub confidence_interval: Option<[f64; 2]>,
    /// Throughput of all together, MiB/s.
    pub mib_per_s: f64,
    /// Mean response time over all its I/Os, ns; null without I/Os.
    pub mean_ns: Option<f64>,
    /// Ratio of `io_per_s` to that of the base, inverted if `base_above` is true; null if one of
    /// the two is missing or invalid.
    pub ratio: Option<f64>,
    /// 95 % confidence interval of `ratio`; null if one of the two values has none.
    pub ratio_confidence_interval: Option<[f64; 2]>,
    /// IOPS of each of its points: drives or processes.
    pub parts_io_per_s: Vec<f64>,
    /// Difference between the fastest and the slowest point, 0..1; null for one.
    pub skew: Option<f64>,
    /// Fairness (Jain): 1/n..1; null without I/Os.
    pub fairness: Option<f64>,
    /// End of the first point, ns from the common start.
    pub first_done_ns: u64,
    /// End of the last point, ns from the common start.
    pub last_done_ns: u64,
    /// IOPS of all points until the first one ended; null if it ended within the first sample.
    pub io_per_s_until_first_done: Option<f64>,
    /// Worst grade of its points: `A`, `B` or `C`.
    pub grade: String,
}

/// All variants of the run's comparison at every load and queue depth, in the order of the plan;
/// empty without a comparison.
pub(crate) fn entries(run: &RunRecord, points: &[PointRecord]) -> Vec<ComparedEntry> {
    let Some(comparison) = &run.comparison else { return Vec::new() };
    let cells: Vec<(Cell<'_>, PointSummary)> = cells(comparison, points)
        .into_iter()
        .map(|cell| {
            let summary = PointSummary::from_point(&cell.whole);
            (cell, summary)
        })
        .collect();
    let row = |(cell, summary): &(Cell<'_>, PointSummary)| {
        let base = base_of(comparison, &cells, cell).filter(|_| summary.grade != Grade::C);
        entry(cell, summary, base.and_then(|base| divided(comparison, summary, base)))
    };
    cells.iter().map(row).collect()
}

/// The valid figures of the base under the same load at the same queue depth.
fn base_of<'c>(
    comparison: &ComparisonRecord,
    cells: &'c [(Cell<'_>, PointSummary)],
    wanted: &Cell<'_>,
) -> Option<&'c PointSummary> {
    let key = |cell: &Cell<'_>| (cell.whole.profile.clone(), cell.whole.queue_depth);
    let base = cells.iter().find(|(cell, summary)| {
        cell.variant == comparison.base && key(cell) == key(wanted) && summary.grade != Grade::C
    });
    base.map(|(_, summary)| summary)
}

fn divided(
    comparison: &ComparisonRecord,
    value: &PointSummary,
    base: &PointSummary,
) -> Option<Estimate> {
    if comparison.base_above {
        quotient(&base.io_per_s, &value.io_per_s)
    } else {
        quotient(&value.io_per_s, &base.io_per_s)
    }
}

fn entry(cell: &Cell<'_>, summary: &PointSummary, divided: Option<Estimate>) -> ComparedEntry {
    let ends = |estimate: &Estimate| estimate.interval.map(|(low, high)| [low, high]);
    let parts: Vec<f64> =
        cell.parts.iter().map(|p| PointSummary::from_point(p).io_per_s.value).collect();
    let (first_done_ns, last_done_ns) = cell.done_ns();
    ComparedEntry {
        variant: cell.variant,
        profile: cell.whole.profile.clone(),
        queue_depth: cell.whole.queue_depth,
        io_per_s: summary.io_per_s.value,
        confidence_interval: ends(&summary.io_per_s),
        mib_per_s: summary.mib_per_s,
        mean_ns: summary.response_time.all.mean_ns,
        ratio: divided.map(|ratio| ratio.value),
        ratio_confidence_interval: divided.as_ref().and_then(ends),
        skew: skew(&parts),
        fairness: fairness(&parts),
        parts_io_per_s: parts,
        first_done_ns,
        last_done_ns,
        io_per_s_until_first_done: cell.io_per_s_until_first_done(),
        grade: summary.grade.to_string(),
    }
}
