//! Merge rules for points, in addition to `crate::merged`: for parts of one load that started
//! together.

use qdepth_measure::EncodedHistogram;

use crate::record::{DirectionRecord, EndedBy, IntervalRecord};

/// Adds offered rates; `None` unless all loads are open.
pub(super) fn both(whole: &mut Option<f64>, part: &Option<f64>) {
    *whole = whole.zip(*part).map(|(a, b)| a + b);
}

/// Adds counts.
pub(super) fn sum_32(whole: &mut u32, part: &u32) {
    *whole = whole.saturating_add(*part);
}

pub(super) fn least_each(whole: &mut [u64; 3], part: &[u64; 3]) {
    for (mine, theirs) in whole.iter_mut().zip(part) {
        *mine = (*mine).min(*theirs);
    }
}

/// Keeps the reason of the first part that ended early.
pub(super) fn ended_by(whole: &mut EndedBy, part: &EndedBy) {
    if *whole == EndedBy::Duration {
        *whole = *part;
    }
}

pub(super) fn direction(sum: &mut DirectionRecord, part: &DirectionRecord) {
    sum.join(part);
}

/// Merges the latencies of both parts. A histogram that cannot be decoded is left out.
pub(super) fn histogram(sum: &mut Option<EncodedHistogram>, part: &Option<EncodedHistogram>) {
    let both = [&*sum, part].map(|each| each.as_ref().and_then(|it| it.decode().ok()));
    let [mine, theirs] = both;
    *sum = mine
        .into_iter()
        .chain(theirs)
        .reduce(|mut all, other| {
            all.merge(&other);
            all
        })
        .map(EncodedHistogram::from);
}

/// Merges samples by index: samples with the same index cover the same time, because the parts
/// started together. Histograms are not merged.
pub(super) fn series(sum: &mut Vec<IntervalRecord>, part: &[IntervalRecord]) {
    sum.iter_mut().zip(part).for_each(|(mine, theirs)| mine.join(theirs));
    sum.extend(part.iter().skip(sum.len()).cloned());
    for slice in sum {
        slice.read_latency = Default::default();
        slice.write_latency = Default::default();
        slice.trim_latency = Default::default();
    }
}
