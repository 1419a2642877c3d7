//! Points that ran at the same time, merged into one: drives with a load each, or processes.

use std::collections::BTreeMap;

use crate::point::PointRecord;
use crate::record::{ComparisonRecord, IntervalRecord, VariantRecord};

/// A variant of a comparison at one load and queue depth: one point, or several of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell<'a> {
    /// Index of its variant.
    pub variant: u32,
    /// All points merged into one. Its `queue_depth` is the queue depth of a stream of each drive.
    pub whole: PointRecord,
    /// The points, one for each drive or process.
    pub parts: Vec<&'a PointRecord>,
}

impl Cell<'_> {
    /// Time at which the first and the last part finished, ns from their common start. Parts
    /// measured for a time end together; parts that move a number of bytes do not.
    pub fn done_ns(&self) -> (u64, u64) {
        let durations = || self.parts.iter().map(|part| part.duration_ns);
        (durations().min().unwrap_or(0), durations().max().unwrap_or(0))
    }

    /// IOPS of all parts together until the first of them finished, from the complete samples of
    /// their series; `None` if it finished within the first sample.
    pub fn io_per_s_until_first_done(&self) -> Option<f64> {
        let (first, _) = self.done_ns();
        let whole = |slice: &&IntervalRecord| slice.start_ns + slice.length_ns <= first;
        let slices = || self.whole.intervals.iter().filter(whole);
        let seconds = slices().map(|slice| slice.length_ns).sum::<u64>() as f64 / 1e9;
        let ended = slices().map(IntervalRecord::completed).fold(0, u64::saturating_add);
        (seconds > 0.0).then(|| ended as f64 / seconds)
    }
}

/// The cells of a comparison, in the order of the plan. A group with missing parts (the run was
/// interrupted) gives no cell, because a part of it is not a figure of the variant.
pub fn cells<'a>(comparison: &ComparisonRecord, points: &'a [PointRecord]) -> Vec<Cell<'a>> {
    let mut groups: BTreeMap<u32, Vec<&PointRecord>> = BTreeMap::new();
    for point in points.iter().filter(|point| point.variant.is_some()) {
        groups.entry(point.group).or_default().push(point);
    }
    let cell = |mut parts: Vec<&'a PointRecord>| {
        parts.sort_by_key(|part| part.index);
        let variant = parts.first()?.variant?;
        let expected = comparison.variants.get(variant as usize)?;
        (parts.len() == expected.parts as usize).then(|| {
            let whole = together(&parts, expected);
            Cell { variant, whole, parts }
        })
    };
    groups.into_values().filter_map(cell).collect()
}

/// Merges the points of one variant. Counts, histograms and series are exact sums over the longest
/// window.
fn together(parts: &[&PointRecord], variant: &VariantRecord) -> PointRecord {
    let Some((first, others)) = parts.split_first() else { return PointRecord::default() };
    let mut whole = (*first).clone();
    others.iter().for_each(|part| whole.join(part));
    whole.queue_depth = first.queue_depth / variant.times.max(1);
    whole
}
