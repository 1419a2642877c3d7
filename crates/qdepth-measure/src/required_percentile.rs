//! Number of samples that a percentile needs: the rule for `--until-credible 99.99`.

use std::fmt;
use std::str::FromStr;

use crate::estimate::BEYOND_MIN;
use crate::limit::percentile_name;

/// Rarest percentile that can be requested: ten samples beyond it need ten billion samples in all.
const RAREST: f64 = 0.999_999_999;

/// A percentile that a measurement must reach, with ten samples beyond it, the fewest with which a
/// percentile is reported.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct RequiredPercentile(f64);

impl RequiredPercentile {
    /// From a quantile, for example 0.9999 for p99.99; `None` outside 0.5 to 0.999999999.
    pub fn from_quantile(quantile: f64) -> Option<Self> {
        (0.5..=RAREST).contains(&quantile).then_some(Self(quantile))
    }
    /// Quantile, for example 0.9999 for p99.99.
    pub const fn quantile(self) -> f64 {
        self.0
    }
    /// Number of samples that the percentile needs.
    pub fn samples(self) -> u64 {
        // In floating point, 1 − 0.9999 is not exactly 0.0001, so the quotient is rounded.
        (BEYOND_MIN / (1.0 - self.0)).round() as u64
    }
}

impl fmt::Display for RequiredPercentile {
    /// In percent, as [`FromStr`] reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&percentile_name(self.0))
    }
}

/// Error for a text that is not a percentile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a percentile: use 50 to 99.9999999, for example 99.99")]
pub struct ParseRequiredPercentileError(String);

impl FromStr for RequiredPercentile {
    type Err = ParseRequiredPercentileError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = text.trim().trim_start_matches('p').trim_end_matches('%').trim();
        let percent = bare.parse::<f64>().ok();
        percent
            .and_then(|percent| Self::from_quantile(percent / 100.0))
            .ok_or_else(|| ParseRequiredPercentileError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LatencyHistogram, Nanos, percentile};

    #[test]
    fn required_samples_are_exactly_sufficient_for_a_percentile() {
        for text in ["50", "90", "p99", "99.9%", "99.99", "99.999"] {
            let credible: RequiredPercentile = text.parse().expect(text);
            let is_printed = |samples: u64| {
                let mut histogram = LatencyHistogram::new();
                (0..samples).for_each(|_| histogram.record(Nanos(1000)));
                percentile(&histogram, credible.quantile()).is_some()
            };
            assert!(is_printed(credible.samples()), "{text}");
            assert!(!is_printed(credible.samples() * 99 / 100), "{text}");
        }
        let rarest = "99.9999999".parse::<RequiredPercentile>().expect("the rarest").samples();
        assert!(rarest.abs_diff(10_000_000_000) < 1000, "{rarest}");
        for wrong in ["100", "49", "99.99999999", "p", "x", "-1", "nan"] {
            assert!(wrong.parse::<RequiredPercentile>().is_err(), "{wrong}");
        }
    }
}
