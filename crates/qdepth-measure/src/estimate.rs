//! Estimates with their uncertainty: the mean of an autocorrelated series with its interval, and
//! percentiles with their order-statistic intervals.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::histogram::LatencyHistogram;
use crate::spectrum::{MeanError, Workspace, mean};
use crate::units::Nanos;

/// Fewest samples beyond a percentile for it to be reported (docs/method/thresholds.md).
pub(crate) const BEYOND_MIN: f64 = 10.0;
/// Upper quantile of a two-sided 95 % interval.
const UPPER_QUANTILE: f64 = 0.975;

/// Factor by which interim checks widen the interval of a point that ended when its interval was
/// narrow enough (found by simulation, `tests/coverage.rs`).
const INTERIM_WIDENING: f64 = 1.13;

/// Turnovers of the queue after which a segment is no longer affected by the simultaneous start of
/// its requests (found by simulation, `tests/short_segments.rs`).
const SETTLED: f64 = 6.0;

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub value: f64,
    /// Lower and upper end of the 95 % interval; `None` if the series is too short or too
    /// correlated to give one honestly.
    pub interval: Option<(f64, f64)>,
    /// Degrees of freedom of the interval; 0 without an interval.
    pub degrees: usize,
    /// Lag-1 autocorrelation of the series.
    pub autocorrelation: f64,
}

impl Estimate {
    /// Half the width of the interval as a share of the value.
    pub fn half_width_share(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        (self.value > 0.0).then(|| (high - low) / 2.0 / self.value)
    }

    /// The estimate of a measurement that ended because its interval was narrow enough. The
    /// interval is 1.13 times as wide, because each interim check costs coverage.
    pub fn interim(self) -> Self {
        let wider = |end: f64| self.value + (end - self.value) * INTERIM_WIDENING;
        Self { interval: self.interval.map(|(low, high)| (wider(low), wider(high))), ..self }
    }

    /// The estimate from interleaved segments of only a few turnovers of the queue each. If
    /// requests complete in step, each segment may contain up to half a request per place in the
    /// queue more or less than its share, and segments do not differ in that. The interval is wider
    /// by that amount, and `None` below one turnover.
    #[must_use]
    pub fn widened_for_short_segments(self, turnovers: f64) -> Self {
        if turnovers >= SETTLED {
            return self;
        }
        let more = self.value / (2.0 * turnovers);
        let wider = |(low, high): (f64, f64)| ((low - more).max(0.0), high + more);
        Self { interval: self.interval.filter(|_| turnovers >= 1.0).map(wider), ..self }
    }
}

/// Mean of an evenly spaced series, with a 95 % interval that allows for autocorrelation. The
/// variance at frequency zero comes from the lowest 3 to 16 cosine ordinates, as far up as the
/// spectrum is flat (by an autoregressive model, and by tests for peaks and slopes); then Student's
/// t.
///
/// Method: equal-weighted cosine estimator (Lazarus, Lewis, Stock and Watson 2018).
/// `tests/coverage.rs` checks its coverage.
///
/// ```
/// use qdepth_measure::series_mean;
/// let steady = [99.0, 102.0, 100.0, 101.0, 98.0].repeat(8);
/// let estimate = series_mean(&steady);
/// assert_eq!(estimate.value, 100.0);
/// assert!(estimate.interval.is_some());
/// assert!(series_mean(&steady[..10]).interval.is_none());
/// ```
pub fn series_mean(series: &[f64]) -> Estimate {
    series_mean_in(&mut Workspace::for_samples(series.len()), series)
}

/// Fewest interleaved segments for an interval.
const SEGMENTS_MIN: usize = 4;

/// Mean of interleaved segments that are short compared with the pauses between them, with a 95 %
/// interval by Student's t over the segments. Variation within a segment needs no model, and
/// variation between segments is in the interval. `tests/coverage.rs` checks its coverage.
///
/// ```
/// use qdepth_measure::segments_mean;
/// let estimate = segments_mean(&[98.0, 101.0, 100.0, 99.0, 102.0]);
/// let (low, high) = estimate.interval.unwrap();
/// assert!((low - 98.04).abs() < 0.01 && (high - 101.96).abs() < 0.01);
/// assert!(segments_mean(&[98.0, 101.0, 100.0]).interval.is_none());
/// ```
pub fn segments_mean(segments: &[f64]) -> Estimate {
    let (value, autocorrelation) = (mean(segments), lag_one(segments));
    if segments.len() < SEGMENTS_MIN {
        return Estimate { value, interval: None, degrees: 0, autocorrelation };
    }
    let degrees = segments.len() - 1;
    let squares: f64 = segments.iter().map(|segment| (segment - value).powi(2)).sum();
    let half = student(degrees) * (squares / (degrees * segments.len()) as f64).sqrt();
    Estimate { value, interval: Some((value - half, value + half)), degrees, autocorrelation }
}

/// Mean of consecutive rounds, whose samples are `series`, with a 95 % interval: by Student's t
/// over the rounds, or from the spectrum of the series, whichever is wider. There is no interval if
/// the spectrum gives none: correlation over more than a round does not show in the differences of
/// rounds. `tests/coverage.rs` checks its coverage.
pub fn rounds_mean(rounds: &[f64], series: &[f64]) -> Estimate {
    let (of_rounds, of_series) = (segments_mean(rounds), series_mean(series));
    let half = |estimate: &Estimate| estimate.interval.map(|(low, high)| (high - low) / 2.0);
    let widest = half(&of_rounds).zip(half(&of_series)).map(|(a, b)| a.max(b));
    let value = of_rounds.value;
    Estimate { interval: widest.map(|half| (value - half, value + half)), ..of_rounds }
}

pub(crate) fn series_mean_in(workspace: &mut Workspace, series: &[f64]) -> Estimate {
    let (value, autocorrelation) = (mean(series), lag_one(series));
    match workspace.mean_error(series) {
        Some(MeanError { variance, degrees }) => {
            let half = student(degrees) * variance.sqrt();
            let interval = Some((value - half, value + half));
            Estimate { value, interval, degrees, autocorrelation }
        }
        None => Estimate { value, interval: None, degrees: 0, autocorrelation },
    }
}

fn student(degrees: usize) -> f64 {
    StudentsT::new(0.0, 1.0, degrees as f64)
        .map_or(f64::INFINITY, |t| t.inverse_cdf(UPPER_QUANTILE))
}

fn lag_one(values: &[f64]) -> f64 {
    let centre = mean(values);
    let variance: f64 = values.iter().map(|x| (x - centre).powi(2)).sum();
    if variance <= 0.0 {
        return 0.0;
    }
    let covariance: f64 = values.windows(2).map(|w| (w[0] - centre) * (w[1] - centre)).sum();
    covariance / variance
}

/// A percentile with its order-statistic interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// Quantile in 0..1.
    pub quantile: f64,
    /// Its value.
    pub value: Nanos,
    /// 95 % interval by binomial ranks (normal approximation), taken as if the samples were
    /// independent.
    pub interval: (Nanos, Nanos),
}

/// The percentile at `quantile`; `None` with fewer than ten samples beyond it.
///
/// Ranks of the interval: n·q ± z·√(n·q·(1−q)) (David and Nagaraja, *Order Statistics*, 7.1).
pub fn percentile(histogram: &LatencyHistogram, quantile: f64) -> Option<Percentile> {
    let n = histogram.count() as f64;
    // Half a sample of slack: n·(1−q) is not exact in binary, and 10 000 × 0.001 must count as 10.
    if n * (1.0 - quantile) + 1e-6 * n.sqrt() < BEYOND_MIN {
        return None;
    }
    let z = Normal::standard().inverse_cdf(UPPER_QUANTILE);
    let spread = z * (n * quantile * (1.0 - quantile)).sqrt();
    let rank = |r: f64| histogram.at_rank((r.round() as u64).clamp(1, histogram.count()));
    Some(Percentile {
        quantile,
        value: histogram.quantile(quantile)?,
        interval: (rank(n * quantile - spread)?, rank(n * quantile + spread + 1.0)?),
    })
}

/// The percentiles of a report (50, 90, 99, 99.9 … 99.9999) that the number of samples supports.
pub fn reported_percentiles(histogram: &LatencyHistogram) -> Vec<Percentile> {
    [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999]
        .into_iter()
        .filter_map(|quantile| percentile(histogram, quantile))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn trend_gets_no_interval() {
        let trend: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(series_mean(&trend).interval, None);
    }

    #[test]
    fn percentiles_need_ten_samples_above() {
        let mut histogram = LatencyHistogram::new();
        for n in 1..=10_000 {
            histogram.record(Nanos(n));
        }
        let quantiles: Vec<f64> =
            reported_percentiles(&histogram).iter().map(|p| p.quantile).collect();
        assert_eq!(quantiles, [0.5, 0.9, 0.99, 0.999]);
        let p99 = percentile(&histogram, 0.99).expect("enough samples");
        assert!(p99.interval.0 <= p99.value && p99.value <= p99.interval.1);
        // Binomial ranks 9880 and 9920 of 10 000; a bucket there is 32 wide.
        assert!(p99.interval.0.0.abs_diff(9880) <= 32 && p99.interval.1.0.abs_diff(9921) <= 32);
    }

    proptest! {
        #[test]
        fn any_series_estimate_never_panics(series in prop::collection::vec(-1e9f64..1e9, 0..200)) {
            let _ = series_mean(&series);
        }
    }
}
