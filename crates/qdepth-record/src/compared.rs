//! Machine output of a comparison: its columns at every load and intensity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use qdepth_measure::{Estimate, Grade, fairness, quotient, skew};

use crate::point::{PointRecord, PointSummary};
use crate::record::{ComparisonRecord, RunRecord};
use crate::together::{Cell, cells};

/// A column of a comparison at one load and intensity: its points as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedEntry {
    /// Index of the column in `run.comparison.variants`.
    pub variant: u32,
    /// Name of the load profile.
    pub profile: String,
    /// Outstanding I/Os: those of each drive or process.
    pub outstanding: u32,
    /// Transaction rate of all its points together, I/Os per second.
    pub io_per_s: f64,
    /// 95 % interval of `io_per_s`, low and high; null where none can be given honestly.
    pub interval: Option<[f64; 2]>,
    /// Throughput of all together, MiB/s.
    pub mib_per_s: f64,
    /// Mean response time over all its I/Os, ns; null without I/Os.
    pub mean_ns: Option<f64>,
    /// `io_per_s` over that of the base, or the other way round where `base_above` is true; null
    /// where one of the two is missing or not valid.
    pub quotient: Option<f64>,
    /// 95 % interval of `quotient`, low and high; null where one of the two has none.
    pub quotient_interval: Option<[f64; 2]>,
    /// Transaction rate of each of its points, I/Os per second: drives or processes.
    pub parts_io_per_s: Vec<f64>,
    /// Difference between the fastest and the slowest of them, 0..1; null for one.
    pub skew: Option<f64>,
    /// Fairness (Jain): 1/n..1; null without I/Os.
    pub fairness: Option<f64>,
    /// End of the work of the first of them, ns from their common start.
    pub first_done_ns: u64,
    /// End of the work of the last of them, ns from their common start.
    pub last_done_ns: u64,
    /// Transaction rate of all together until the first had; null where that was within the first
    /// slice of the series.
    pub io_per_s_until_first_done: Option<f64>,
    /// `A` (no findings), `B` (remarks) or `C` (not valid): the worst of its points.
    pub grade: String,
}

/// Every column of the run's comparison, in the order of the plan; nothing where it compares
/// nothing.
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

/// The valid figures of the base under the same load at the same intensity.
fn base_of<'c>(
    comparison: &ComparisonRecord,
    cells: &'c [(Cell<'_>, PointSummary)],
    wanted: &Cell<'_>,
) -> Option<&'c PointSummary> {
    let key = |cell: &Cell<'_>| (cell.whole.profile.clone(), cell.whole.outstanding);
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
        outstanding: cell.whole.outstanding,
        io_per_s: summary.io_per_s.value,
        interval: ends(&summary.io_per_s),
        mib_per_s: summary.mib_per_s,
        mean_ns: summary.response_time.all.mean_ns,
        quotient: divided.map(|quotient| quotient.value),
        quotient_interval: divided.as_ref().and_then(ends),
        skew: skew(&parts),
        fairness: fairness(&parts),
        parts_io_per_s: parts,
        first_done_ns,
        last_done_ns,
        io_per_s_until_first_done: cell.io_per_s_until_first_done(),
        grade: summary.grade.to_string(),
    }
}
