//! Numbers that never travel without their error: the interval of a mean from an autocorrelated
//! series, and percentiles with their order-statistic interval.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::histogram::LatencyHistogram;
use crate::units::Nanos;

/// Fewest batches for an interval (notes on trust, 2.2).
const BATCHES_MIN: usize = 20;
/// Largest lag-1 autocorrelation of the batch means for an interval.
const AUTOCORRELATION_MAX: f64 = 0.2;
/// Fewest samples beyond a percentile for it to be reported (notes on trust, 2.3).
const BEYOND_MIN: f64 = 10.0;
/// Two-sided 95 %.
const UPPER_QUANTILE: f64 = 0.975;

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub value: f64,
    /// Lower and upper end of the 95 % interval; none where the series is too short or too
    /// correlated to give one honestly.
    pub interval: Option<(f64, f64)>,
    /// Number of batches the interval was drawn from, or that were left when it was refused.
    pub batches: usize,
    /// Lag-1 autocorrelation of the batch means.
    pub autocorrelation: f64,
}

/// Mean of an evenly spaced series with a 95 % interval by batch means: batches are doubled until
/// the lag-1 autocorrelation of their means is at most 0.2, with at least 20 batches, then
/// Student's t. Method and its coverage: notes on trust 2.2; Law and Kelton, *Simulation Modeling
/// and Analysis*, 9.5.3.
///
/// ```
/// use qdepth_measure::batch_means;
/// let steady = [99.0, 101.0].repeat(20);
/// let estimate = batch_means(&steady);
/// assert_eq!(estimate.value, 100.0);
/// assert!(batch_means(&steady[..10]).interval.is_none());
/// ```
pub fn batch_means(series: &[f64]) -> Estimate {
    let value = mean(series);
    let mut batches = series.to_vec();
    loop {
        let autocorrelation = lag_one(&batches);
        let enough = batches.len() >= BATCHES_MIN;
        if enough && autocorrelation <= AUTOCORRELATION_MAX {
            let half = half_width(&batches);
            let interval = Some((value - half, value + half));
            return Estimate { value, interval, batches: batches.len(), autocorrelation };
        }
        if batches.len() / 2 < BATCHES_MIN {
            return Estimate { value, interval: None, batches: batches.len(), autocorrelation };
        }
        batches = batches.chunks_exact(2).map(mean).collect();
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn half_width(batches: &[f64]) -> f64 {
    let n = batches.len() as f64;
    let centre = mean(batches);
    let variance = batches.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (n - 1.0);
    let t =
        StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::INFINITY, |t| t.inverse_cdf(UPPER_QUANTILE));
    t * (variance / n).sqrt()
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
    /// Which, as a quantile in 0..1.
    pub quantile: f64,
    /// Its value.
    pub value: Nanos,
    /// 95 % interval by binomial ranks (normal approximation), taken as if the samples were
    /// independent.
    pub interval: (Nanos, Nanos),
}

/// The percentile at `quantile`, or nothing with fewer than ten samples beyond it.
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

/// The percentiles of a report (50, 90, 99, 99.9 … 99.9999) that the number of samples bears.
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

    /// SplitMix64 with the sum of twelve uniforms as a normal draw: enough for a coverage count.
    fn noise(state: &mut u64) -> f64 {
        (0..12)
            .map(|_| {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = *state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
            })
            .sum::<f64>()
            - 6.0
    }

    /// Share of printed intervals that hold the truth, and share of series with an interval.
    fn coverage(rho: f64, length: usize) -> (f64, f64) {
        let (mut state, mut held, mut printed, runs) = (7, 0, 0, 1500);
        for _ in 0..runs {
            let mut x = noise(&mut state);
            let series: Vec<f64> = (0..length)
                .map(|_| {
                    x = rho * x + (1.0 - rho * rho).sqrt() * noise(&mut state);
                    100.0 + x
                })
                .collect();
            if let Some((low, high)) = batch_means(&series).interval {
                printed += 1;
                held += usize::from((low..=high).contains(&100.0));
            }
        }
        (held as f64 / printed as f64, printed as f64 / runs as f64)
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let (independent, _) = coverage(0.0, 300);
        assert!((0.93..=0.97).contains(&independent), "{independent}");
        let (correlated, printed) = coverage(0.5, 1200);
        assert!((0.90..=0.97).contains(&correlated) && printed > 0.9, "{correlated} {printed}");
    }

    #[test]
    fn a_trend_gets_no_interval() {
        let trend: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(batch_means(&trend).interval, None);
    }

    #[test]
    fn percentiles_need_ten_samples_beyond() {
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
        fn any_series_is_read_without_panic(series in prop::collection::vec(-1e9f64..1e9, 0..200)) {
            let _ = batch_means(&series);
        }
    }
}
