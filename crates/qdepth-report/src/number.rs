//! Formatting of estimates, with as many digits as the interval supports.

use qdepth_measure::Estimate;
use qdepth_record::shown_step;

pub(crate) use qdepth_document::number::{
    MIB, MIB_PER_S, TimeUnit, at_least, binary_bytes, count, decimal_bytes, distinct, duration,
    load, percent, spaced_sizes, thousands, three_digits,
};
use qdepth_document::number::{finest_place, magnitude, to_place};

/// Half-width below which a number counts as exact (emulated series repeat to the last bit).
const EXACT: f64 = 1e-9;

/// An estimate as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rounded {
    /// The value.
    pub(crate) value: String,
    /// Half-width of the 95 % interval, if there is one.
    pub(crate) half_width: Option<String>,
}

impl Rounded {
    /// Both in one piece without line breaks, for example `12,345 ± 67`, or the value alone.
    pub(crate) fn joined(&self) -> String {
        match &self.half_width {
            Some(half) => format!("{}\u{a0}±\u{a0}{half}", self.value),
            None => self.value.clone(),
        }
    }
}

/// Rounds to the second digit of the half-width; without an interval to three digits.
pub(crate) fn rounded(estimate: &Estimate) -> Rounded {
    let Some((low, high)) = estimate.interval else {
        return Rounded { value: three_digits(estimate.value), half_width: None };
    };
    let half = (high - low) / 2.0;
    let exponent = if half < EXACT { finest_place(estimate.value) } else { magnitude(half) - 1 };
    let exponent = exponent.max(finest_place(estimate.value));
    // A half-width must not be rounded to zero: it is at least one unit of the last digit.
    let half = if half < EXACT { half } else { half.max(10f64.powi(exponent)) };
    Rounded {
        value: to_place(estimate.value, exponent),
        half_width: Some(to_place(half, exponent)),
    }
}

/// Formats for prose: three digits, and the interval only if it changes the third.
pub(crate) fn in_prose(estimate: &Estimate) -> String {
    let exponent = magnitude(estimate.value) - 2;
    match estimate.interval {
        Some((low, high)) if (high - low) / 2.0 >= 10f64.powi(exponent) / 2.0 => {
            rounded(estimate).joined()
        }
        _ => three_digits(estimate.value),
    }
}

/// Name of a step, with a space between numbers and units, and with rates in MiB/s.
pub(crate) fn step(title: &str) -> String {
    let shown = shown_step(title);
    let rate = shown.strip_suffix(" MiB/s").and_then(|rate| rate.parse::<f64>().ok());
    match rate.filter(|rate| *rate >= 1000.0 && rate.fract() == 0.0) {
        Some(rate) => format!("{} MiB/s", thousands(rate, 0)),
        None => spaced_sizes(&shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, half: Option<f64>) -> Estimate {
        let interval = half.map(|h| (value - h, value + h));
        Estimate { value, interval, degrees: 16, autocorrelation: 0.0 }
    }

    #[test]
    fn step_titles_use_the_report_unit() {
        for (title, name) in [
            ("100 MB/s", "100 MiB/s"),
            ("12.5 MB/s", "12.5 MiB/s"),
            ("1200 MB/s", "1,200 MiB/s"),
            ("100 MB/s of it", "100 MB/s of it"),
            ("2 × 16MiB", "2 × 16 MiB"),
            ("fast MB/s", "fast MB/s"),
        ] {
            assert_eq!(step(title), name);
        }
    }

    #[test]
    fn printed_digits_follow_the_interval() {
        for (value, half, text) in [
            (12_345.6, Some(67.4), "12,346 ± 67"),
            (45_678.0, Some(1234.0), "45,700 ± 1,200"),
            (101.26, Some(1.23), "101.3 ± 1.2"),
            (123_456.7, Some(0.04), "123,457 ± 1"),
            (5.4321, Some(0.021), "5.43 ± 0.02"),
            (12_345.6, None, "12,300"),
            (0.0, Some(0.0), "0.000 ± 0.000"),
            (999.96, None, "1,000"),
            (1_000_000.0, Some(99.97), "1,000,000 ± 100"),
        ] {
            let joined = rounded(&estimate(value, half)).joined().replace('\u{a0}', " ");
            assert_eq!(joined, text, "{value} {half:?}");
        }
    }

    #[test]
    fn prose_figures_have_three_digits_or_an_interval() {
        let estimate = |value: f64, half: f64| Estimate {
            value,
            interval: Some((value - half, value + half)),
            degrees: 9,
            autocorrelation: 0.0,
        };
        assert_eq!(in_prose(&estimate(191_079.0, 34.0)), "191,000");
        assert_eq!(
            in_prose(&estimate(191_079.0, 600.0)),
            rounded(&estimate(191_079.0, 600.0)).joined()
        );
        assert_eq!(in_prose(&estimate(5_480.0, 310.0)), "5,480\u{a0}±\u{a0}310");
        assert_eq!(in_prose(&Estimate { interval: None, ..estimate(2_409.7, 1.0) }), "2,410");
    }
}
