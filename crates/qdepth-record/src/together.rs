//! Points that ran at the same time, as one: drives under loads of their own, or processes.

use std::collections::BTreeMap;

use crate::point::PointRecord;
use crate::record::{ComparisonRecord, IntervalRecord, VariantRecord};

/// A column of a comparison at one load and intensity: one point, or several of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell<'a> {
    /// Index of its variant.
    pub variant: u32,
    /// All of its points as one; its outstanding I/Os are the intensity that it stands at: those of
    /// a stream of each drive.
    pub whole: PointRecord,
    /// The points, one for each drive or process.
    pub parts: Vec<&'a PointRecord>,
}

impl Cell<'_> {
    /// End of the work of the first and the last part, ns from their common start. Parts that are
    /// measured for a time end together; those that move a number of bytes do not.
    pub fn done_ns(&self) -> (u64, u64) {
        let durations = || self.parts.iter().map(|part| part.duration_ns);
        (durations().min().unwrap_or(0), durations().max().unwrap_or(0))
    }

    /// Transaction rate of all parts together until the first of them had done its work, I/Os per
    /// second, from the whole slices of their series; `None` if it was done within the first.
    pub fn io_per_s_until_first_done(&self) -> Option<f64> {
        let (first, _) = self.done_ns();
        let whole = |slice: &&IntervalRecord| slice.start_ns + slice.length_ns <= first;
        let slices = || self.whole.intervals.iter().filter(whole);
        let seconds = slices().map(|slice| slice.length_ns).sum::<u64>() as f64 / 1e9;
        let ended = slices().map(IntervalRecord::completed).fold(0, u64::saturating_add);
        (seconds > 0.0).then(|| ended as f64 / seconds)
    }
}

/// The cells of a comparison, in the order of the plan. A group of which parts are missing (the run
/// was interrupted) is none: half of it would be no figure of the variant.
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

/// The points of one variant as one: counts, histograms and series are exact sums over the longest
/// window.
fn together(parts: &[&PointRecord], variant: &VariantRecord) -> PointRecord {
    let Some((first, others)) = parts.split_first() else { return PointRecord::default() };
    let mut whole = (*first).clone();
    others.iter().for_each(|part| whole.join(part));
    whole.outstanding = first.outstanding / variant.times.max(1);
    whole
}
