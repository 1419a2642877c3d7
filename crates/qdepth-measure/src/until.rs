//! Decides when a point has been measured long enough: the rule of `--until ±2%`.

use std::fmt;
use std::str::FromStr;

use crate::estimate::series_mean_in;
use crate::rounds::SteadyRule;
use crate::spectrum::{DEGREES_TO_END, Workspace};
use crate::units::Nanos;

/// Factor between the times of successive interim checks. They are geometric, because each further
/// check of the same data costs coverage.
const CHECK_FACTOR: f64 = 1.5;
/// Allowed range of a tolerance.
const SHARE_MIN: f64 = 0.0005;
const SHARE_MAX: f64 = 0.5;

/// Largest half-width of the 95 % CI of a rate, as a share of the rate.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Tolerance(f64);

impl Tolerance {
    /// From a share, for example 0.02 for ±2 %; `None` outside ±0.05 % to ±50 %.
    pub fn from_share(share: f64) -> Option<Self> {
        (SHARE_MIN..=SHARE_MAX).contains(&share).then_some(Self(share))
    }
    /// Share, for example 0.02 for ±2 %.
    pub const fn share(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Two decimal places are enough for any allowed tolerance.
        let text = format!("{:.3}", self.0 * 100.0);
        write!(f, "±{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Error for a text that is not a tolerance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a tolerance: use 0.05% to 50%, for example 2% or ±2%")]
pub struct ParseToleranceError(String);

impl FromStr for Tolerance {
    type Err = ParseToleranceError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = text.trim().trim_start_matches(['±', '+', '-', '/']).trim_start();
        let number = bare.strip_suffix('%').and_then(|n| n.trim_end().parse::<f64>().ok());
        number
            .and_then(|percent| Self::from_share(percent / 100.0))
            .ok_or_else(|| ParseToleranceError(text.to_owned()))
    }
}

/// Condition that ends a point early: a precise rate, or steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EarlyEnd {
    /// The 95 % interval of the rate is within this tolerance.
    Precise(Tolerance),
    /// The rate is steady by this rule.
    Steady(SteadyRule),
}

impl fmt::Display for EarlyEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Precise(tolerance) => tolerance.fmt(f),
            Self::Steady(SteadyRule::Own) => f.write_str("steady"),
            Self::Steady(SteadyRule::Snia) => f.write_str("steady-snia"),
        }
    }
}

/// Error for a text that is not such a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; or steady, steady-snia")]
pub struct ParseEarlyEndError(ParseToleranceError);

impl FromStr for EarlyEnd {
    type Err = ParseEarlyEndError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "steady" => Ok(Self::Steady(SteadyRule::Own)),
            "steady-snia" => Ok(Self::Steady(SteadyRule::Snia)),
            other => other.parse().map(Self::Precise).map_err(ParseEarlyEndError),
        }
    }
}

/// Watches a growing series, and decides when its mean is known within the tolerance.
///
/// The first check is at the least time, and each further check at 1.5 times the time of the one
/// before. It uses the interval of [`Estimate::interim`](crate::Estimate::interim), so that the
/// interval reported afterwards meets the tolerance too. Nothing is allocated after
/// [`new`](Self::new).
#[derive(Clone, Debug)]
pub struct Precision {
    tolerance: Tolerance,
    next_check: Nanos,
    elapsed: Nanos,
    interim_checks: u32,
    series: Vec<f64>,
    workspace: Workspace,
}

impl Precision {
    /// A rule that makes no check before `least` has passed, with room for this many intervals.
    pub fn new(tolerance: Tolerance, least: Nanos, intervals: usize) -> Self {
        Self {
            tolerance,
            next_check: least,
            elapsed: Nanos::ZERO,
            interim_checks: 0,
            series: Vec::with_capacity(intervals),
            workspace: Workspace::for_samples(intervals),
        }
    }

    /// Adds an interval of the series; returns true once the tolerance is met.
    pub fn closed(&mut self, completed: u64, length: Nanos) -> bool {
        if length == Nanos::ZERO || self.series.len() == self.series.capacity() {
            return false;
        }
        self.series.push(completed as f64 / length.as_secs_f64());
        self.elapsed += length;
        if self.elapsed < self.next_check {
            return false;
        }
        self.next_check = Nanos((self.elapsed.0 as f64 * CHECK_FACTOR) as u64);
        self.interim_checks += 1;
        let estimate = series_mean_in(&mut self.workspace, &self.series).interim();
        let met = |share: f64| share <= self.tolerance.share();
        estimate.degrees >= DEGREES_TO_END && estimate.half_width_share().is_some_and(met)
    }

    /// Number of interim checks so far.
    pub fn interim_checks(&self) -> u32 {
        self.interim_checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_parsed_in_common_spellings() {
        for text in ["±2%", "2%", " ± 2 %", "+-2%", "+/-2%", "2.0%"] {
            let read: Tolerance = text.parse().expect(text);
            assert!((read.share() - 0.02).abs() < 1e-12, "{text}");
            assert_eq!(read.to_string(), "±2%");
        }
        assert_eq!("0.25%".parse::<Tolerance>().map(|t| t.to_string()), Ok("±0.25%".to_owned()));
        for text in ["2", "0%", "51%", "two%", "", "%", "NaN%", "0.02"] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
    }

    #[test]
    fn early_end_is_precision_or_steady_state() {
        for text in ["±2%", "steady", "steady-snia"] {
            let read: EarlyEnd = text.parse().expect(text);
            assert_eq!(read.to_string(), text);
        }
        let wrong = "stedy".parse::<EarlyEnd>().expect_err("a typo").to_string();
        assert!(wrong.contains("`stedy`") && wrong.contains("steady-snia"), "{wrong}");
    }

    /// Number of intervals until the rule is met, at most 1,000.
    fn intervals(mut rule: Precision, rate: impl Fn(u64) -> u64) -> (u64, u32) {
        let ended = (0..1000).find(|n| rule.closed(rate(*n), Nanos::from_millis(100)));
        (ended.map_or(1000, |n| n + 1), rule.interim_checks())
    }

    #[test]
    fn precision_is_checked_at_growing_intervals() {
        let rule = || Precision::new(Tolerance(0.02), Nanos::from_secs(5), 1000);
        // A steady rate is known at the first interim check.
        let noise = |n: u64| {
            let n = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 58
        };
        assert_eq!(intervals(rule(), |n| 1000 + noise(n)), (50, 1));
        assert_eq!(intervals(rule(), |_| 1000), (50, 1));
        // The rate of a trend never is. Checks at 50, 75, 113, 170, 255, 383, 575, 863 intervals.
        assert_eq!(intervals(rule(), |n| 1000 + n), (1000, 8));
        // Nothing completed: there is no rate to be precise about.
        assert_eq!(intervals(rule(), |_| 0).0, 1000);
    }

    #[test]
    fn precision_rule_with_full_buffer_never_ends() {
        let mut rule = Precision::new(Tolerance(0.02), Nanos::from_secs(1), 5);
        assert!((0..100).all(|_| !rule.closed(7, Nanos::from_millis(100))));
    }
}
