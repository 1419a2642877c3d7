//! Comparison of independent measurements: ratios with their intervals, and the evenness of the
//! parts of a whole.

use crate::estimate::Estimate;

/// Ratio `above` ÷ `below` of independent measurements, with its 95 % interval; `None` if `below`
/// is not above 0. The ratio has no interval if one of the two has none, or if the interval of
/// `below` contains 0.
///
/// Method: Fieller (1954), *Some problems in interval estimation*, for independent means, with the
/// half-widths of both intervals instead of t times the standard errors.
///
/// ```
/// use qdepth_measure::{Estimate, quotient};
/// let known = |value: f64, half: f64| Estimate {
///     value,
///     interval: Some((value - half, value + half)),
///     degrees: 16,
///     autocorrelation: 0.0,
/// };
/// let factor = quotient(&known(400.0, 4.0), &known(100.0, 1.0)).unwrap();
/// assert_eq!(factor.value, 4.0);
/// let (low, high) = factor.interval.unwrap();
/// assert!((low - 3.944).abs() < 0.001 && (high - 4.057).abs() < 0.001);
/// ```
pub fn quotient(above: &Estimate, below: &Estimate) -> Option<Estimate> {
    let value = above.value / below.value;
    if !value.is_finite() || below.value <= 0.0 {
        return None;
    }
    let interval = half(above).zip(half(below)).and_then(|(a, b)| {
        let (a2, b2) = (above.value.powi(2) - a.powi(2), below.value.powi(2) - b.powi(2));
        let product = above.value * below.value;
        // The exact value is not negative, but rounding can make it so if both estimates are exact.
        let root = (product.powi(2) - a2 * b2).max(0.0).sqrt();
        (b2 > 0.0).then(|| ((product - root) / b2, (product + root) / b2))
    });
    let degrees = interval.map_or(0, |_| above.degrees.min(below.degrees));
    Some(Estimate { value, interval, degrees, autocorrelation: 0.0 })
}

/// Half-width of the interval.
fn half(estimate: &Estimate) -> Option<f64> {
    estimate.interval.map(|(low, high)| (high - low) / 2.0)
}

/// Shading class of an increase, given as a share (0.3 is 30 %): 0 up to 30 % and for any decrease,
/// 1 up to 60 %, 2 up to 120 %, 3 above.
///
/// ```
/// use qdepth_measure::shade;
/// assert_eq!([-0.5, 0.3, 0.301, 0.6, 0.601, 1.2, 1.201].map(shade), [0, 0, 1, 1, 2, 2, 3]);
/// ```
pub fn shade(increase: f64) -> u8 {
    [0.3, 0.6, 1.2].iter().map(|bar| u8::from(increase > *bar)).sum()
}

/// Fairness of the parts of a sum: 1 if all are equal, 1/n if one has all. `None` if the sum is
/// zero.
///
/// Method: Jain, Chiu and Hawe (1984), *A quantitative measure of fairness and discrimination*.
///
/// ```
/// use qdepth_measure::fairness;
/// assert_eq!(fairness(&[5.0, 5.0, 5.0, 5.0]), Some(1.0));
/// assert_eq!(fairness(&[20.0, 0.0, 0.0, 0.0]), Some(0.25));
/// ```
pub fn fairness(parts: &[f64]) -> Option<f64> {
    let sum: f64 = parts.iter().sum();
    let squares: f64 = parts.iter().map(|part| part.powi(2)).sum();
    let fairness = sum.powi(2) / (parts.len() as f64 * squares);
    fairness.is_finite().then_some(fairness)
}

/// Difference between the fastest and the slowest part, as a share of the fastest: 0 if all are
/// equal. `None` for fewer than two parts, or if the fastest is zero.
///
/// ```
/// use qdepth_measure::skew;
/// assert_eq!(skew(&[100.0, 75.0, 90.0]), Some(0.25));
/// ```
pub fn skew(parts: &[f64]) -> Option<f64> {
    let fastest = parts.iter().copied().fold(0.0, f64::max);
    let slowest = parts.iter().copied().fold(f64::INFINITY, f64::min);
    (parts.len() > 1 && fastest > 0.0).then(|| 1.0 - slowest / fastest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn estimate(value: f64, half: f64) -> Estimate {
        let interval = Some((value - half, value + half));
        Estimate { value, interval, degrees: 16, autocorrelation: 0.0 }
    }

    #[test]
    fn ratio_of_exact_values_is_exact() {
        let exact = quotient(&estimate(589_000.0, 0.0), &estimate(186_000.0, 0.0)).unwrap();
        let (low, high) = exact.interval.unwrap();
        assert!((low - exact.value).abs() < 1e-9 && (high - exact.value).abs() < 1e-9);
    }

    #[test]
    fn division_by_possible_zero_has_no_result() {
        assert_eq!(quotient(&estimate(1.0, 0.1), &estimate(0.0, 0.1)), None);
        assert_eq!(quotient(&estimate(1.0, 0.1), &estimate(1.0, 1.5)).unwrap().interval, None);
        let alone = Estimate { interval: None, ..estimate(1.0, 0.0) };
        assert_eq!(quotient(&alone, &estimate(2.0, 0.1)).unwrap().interval, None);
        assert_eq!((fairness(&[]), fairness(&[0.0]), skew(&[1.0])), (None, None, None));
    }

    /// Draws of a normal distribution by the sum of twelve uniform ones.
    fn normal(state: &mut u64) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            sum += (*state >> 11) as f64 / (1u64 << 53) as f64;
        }
        sum
    }

    #[test]
    fn ratio_interval_covers_truth_at_nominal_rate() {
        let (mut state, mut held) = (7, 0);
        const TRIES: u32 = 20_000;
        for _ in 0..TRIES {
            let above = 400.0 + 8.0 * normal(&mut state);
            let below = 100.0 + 4.0 * normal(&mut state);
            let factor = quotient(&estimate(above, 8.0 * 1.96), &estimate(below, 4.0 * 1.96));
            let (low, high) = factor.unwrap().interval.unwrap();
            held += u32::from(low <= 4.0 && 4.0 <= high);
        }
        let share = f64::from(held) / f64::from(TRIES);
        assert!((0.945..0.955).contains(&share), "{share}");
    }

    proptest! {
        #[test]
        fn fairness_is_a_scale_independent_share(
            parts in prop::collection::vec(0.1f64..1e6, 1..64), scale in 0.1f64..100.0
        ) {
            let fair = fairness(&parts).unwrap();
            prop_assert!(fair <= 1.0 + 1e-12 && fair >= 1.0 / parts.len() as f64 - 1e-12);
            let scaled: Vec<f64> = parts.iter().map(|part| part * scale).collect();
            prop_assert!((fairness(&scaled).unwrap() - fair).abs() < 1e-9);
        }

        #[test]
        fn ratio_lies_in_its_interval(
            a in 0.0f64..1e9, b in 1.0f64..1e9, ha in 0.0f64..0.5, hb in 0.0f64..0.9
        ) {
            let factor = quotient(&estimate(a, a * ha), &estimate(b, b * hb)).unwrap();
            let (low, high) = factor.interval.unwrap();
            prop_assert!(low <= factor.value * (1.0 + 1e-9) && factor.value <= high * (1.0 + 1e-9));
        }
    }
}
