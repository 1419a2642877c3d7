//! The smallest difference that a machine can resolve.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Variation of a repeated figure, and the smallest difference that follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeatability {
    /// Standard deviation over mean.
    pub variation: f64,
    /// Smallest difference, as a share, that a comparison with this number of runs a side detects
    /// in 80 % of cases, with 5 % false alarms.
    pub smallest_difference: f64,
}

/// Computes the repeatability from repeated figures, for two sides of `runs` each. `None` for fewer
/// than three figures, for a mean that is not positive, or for fewer than two runs a side.
///
/// The difference is (t(0.975) + t(0.8)) · s · √(2/n) with 2n − 2 degrees of freedom, the usual
/// formula of a two-sided t-test (Cohen 1988, chapter 2) for normal scatter.
pub fn repeatability(figures: &[f64], runs: u32) -> Option<Repeatability> {
    let n = figures.len() as f64;
    if figures.len() < 3 || runs < 2 {
        return None;
    }
    let mean = figures.iter().sum::<f64>() / n;
    if !(mean.is_finite() && mean > 0.0) {
        return None;
    }
    let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
    let variation = (squares / (n - 1.0)).sqrt() / mean;
    let t = StudentsT::new(0.0, 1.0, f64::from(2 * runs - 2)).ok()?;
    let both = t.inverse_cdf(0.975) + t.inverse_cdf(0.8);
    let smallest_difference = both * variation * (2.0 / f64::from(runs)).sqrt();
    Some(Repeatability { variation, smallest_difference })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cohen's tables: 80 % power at 5 % two-sided needs 17 a side for d = 1, and 10 a side find
    /// d = 1.32 (table 2.3.5 and 2.4.1, to their two digits).
    #[test]
    fn smallest_detectable_difference_matches_published_tables() {
        let figures = [90.0, 100.0, 110.0];
        let seventeen = repeatability(&figures, 17).unwrap();
        assert!((seventeen.variation - 0.1).abs() < 1e-12);
        assert!((seventeen.smallest_difference / 0.1 - 1.0).abs() < 0.02, "{seventeen:?}");
        let ten = repeatability(&figures, 10).unwrap();
        assert!((ten.smallest_difference / 0.1 - 1.32).abs() < 0.03, "{ten:?}");
    }

    #[test]
    fn repeatability_needs_enough_valid_figures() {
        assert_eq!(repeatability(&[1.0, 2.0], 5), None);
        assert_eq!(repeatability(&[0.0; 9], 5), None);
        assert_eq!(repeatability(&[1.0, f64::NAN, 2.0], 5), None);
        assert_eq!(repeatability(&[1.0, 2.0, 3.0], 1), None);
        let still = repeatability(&[5.0; 9], 5).unwrap();
        assert!(still.smallest_difference.abs() < 1e-12);
    }
}
