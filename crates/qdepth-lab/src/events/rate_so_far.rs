//! Running estimate of a point's rate, computed like the estimate in its record.

use std::collections::BTreeMap;

use qdepth_engine::Interval;
use qdepth_measure::{Nanos, segments_mean, series_mean};
use qdepth_workload::Point;

/// Number of latest samples that may be incomplete, because workers report at different times.
const LAG: usize = 2;
/// Length below which a segment has no interval, because the state of the queue affects its rate
/// (`qdepth_record::PointSummary`).
const SEGMENT_LEAST: Nanos = Nanos::from_millis(500);

/// Running estimate of the rate of a point.
#[derive(Debug, Default)]
pub(crate) struct RateSoFar {
    is_interleaved: bool,
    /// True if the record will have an interval of another kind, wider than this estimate's.
    is_unknown: bool,
    /// Rates of the completed segments.
    segments: Vec<f64>,
    /// I/Os of the samples of the current segment, by start.
    slices: BTreeMap<u64, u64>,
    /// Length of a sample, except for the last one of a window.
    length: Nanos,
}

impl RateSoFar {
    pub(crate) fn from_point(point: &Point) -> Self {
        let stop = &point.stop;
        let is_interleaved = stop.interleaved_segments > 1;
        let is_short = is_interleaved && stop.duration_ns < SEGMENT_LEAST.0;
        let is_unknown = stop.steady.is_some() || stop.until.is_some() || is_short;
        Self { is_interleaved, is_unknown, ..Self::default() }
    }

    /// Adds a worker's part of a sample.
    pub(crate) fn push(&mut self, slice: &Interval) {
        self.length = self.length.max(slice.length);
        *self.slices.entry(slice.start.0).or_default() += slice.completed.iter().sum::<u64>();
    }

    /// Ends the current segment, because other points are measured before the next one.
    pub(crate) fn segment_ended(&mut self) {
        let count = self.slices.len() as f64;
        let ios: u64 = self.slices.values().sum();
        if count > 0.0 {
            self.segments.push(ios as f64 / (count * self.length.as_secs_f64()));
        }
        self.slices.clear();
    }

    /// The 95 % interval, I/Os per second; `None` if none can be computed honestly yet.
    pub(crate) fn interval(&self) -> Option<[f64; 2]> {
        let estimate = if self.is_unknown {
            return None;
        } else if self.is_interleaved {
            segments_mean(&self.segments)
        } else {
            let seconds = self.length.as_secs_f64();
            let whole = self.slices.len().saturating_sub(LAG);
            let rates = self.slices.values().take(whole).map(|ios| *ios as f64 / seconds);
            series_mean(&rates.collect::<Vec<f64>>())
        };
        let (low, high) = estimate.interval?;
        (low.is_finite() && high.is_finite()).then_some([low, high])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(start_ms: u64, ios: u64) -> Interval {
        let mut slice = Interval::default().moved(Nanos::from_millis(start_ms));
        slice.length = Nanos::from_millis(100);
        slice.completed = [ios, 0, 0];
        slice
    }

    #[test]
    fn workers_of_a_point_form_one_narrowing_interval() {
        let mut rate = RateSoFar::default();
        // A linear congruential generator: values from 40 to 60 without order.
        let mut seed = 1_u64;
        let mut drawn = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            40 + (seed >> 33) % 21
        };
        let mut widths = Vec::new();
        for number in 0..400 {
            (0..2).for_each(|_| rate.push(&slice(number * 100, drawn())));
            widths.extend(rate.interval().map(|[low, high]| high - low));
        }
        let [low, high] = rate.interval().unwrap_or_default();
        assert!(low < 1000.0 && 1000.0 < high, "{low} to {high}");
        assert!(widths.last() < widths.first(), "{widths:?}");
    }

    #[test]
    fn segments_have_an_interval_after_four() {
        let mut rate = RateSoFar { is_interleaved: true, ..RateSoFar::default() };
        for segment in 0..4 {
            assert_eq!(rate.interval(), None);
            (0..5).for_each(|n| rate.push(&slice(segment * 900 + n * 100, 10 + segment % 2)));
            rate.segment_ended();
        }
        let [low, high] = rate.interval().unwrap_or_default();
        assert!(low < 105.0 && 105.0 < high, "{low} to {high}");
        rate.is_unknown = true;
        assert_eq!(rate.interval(), None);
    }
}
