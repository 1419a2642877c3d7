//! Sums over loads that ran at the same time, and the smallest number of threads or drives that
//! saturates.

use crate::estimate::Estimate;

/// A rate within this share of the best counts as reached.
const SATURATED: f64 = 0.95;

/// Total rate of loads that ran at the same time, each of which moved `amount` in `seconds`: the
/// sum of the amounts over the longest time, because all began together. Its 95 % interval combines
/// the loads' own half-widths as independent; `None` if a load has none.
pub fn together(loads: &[(f64, f64, Estimate)]) -> Estimate {
    let amount: f64 = loads.iter().map(|(amount, _, _)| amount).sum();
    let longest = loads.iter().map(|(_, seconds, _)| *seconds).fold(0.0, f64::max);
    let value = if longest > 0.0 { amount / longest } else { 0.0 };
    let rates: f64 = loads.iter().map(|(_, _, rate)| rate.value).sum();
    let square = |(_, _, rate): &(f64, f64, Estimate)| {
        let (low, high) = rate.interval?;
        Some(((high - low) / 2.0).powi(2))
    };
    let squares: Option<f64> = loads.iter().map(square).sum();
    let half = squares.map(|sum| sum.sqrt() / rates * value).filter(|half| half.is_finite());
    Estimate {
        value,
        interval: half.map(|half| (value - half, value + half)),
        degrees: loads.iter().map(|(_, _, rate)| rate.degrees).min().unwrap_or(0),
        autocorrelation: 0.0,
    }
}

/// Smallest number that saturates, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// The smallest number whose rate is at least 95 % of the best.
    pub number: u32,
    /// Smallest number that may saturate, and the smallest that certainly does, by the 95 %
    /// intervals. The second is `None` if no measured number is certain; the pair is `None` if a
    /// rate has no interval.
    pub interval: Option<(u32, Option<u32>)>,
}

/// The smallest number (of threads, of drives) that saturates, from the rates by number in
/// ascending order; `None` without rates.
pub fn saturation(rates: &[(u32, Estimate)]) -> Option<Saturation> {
    let best = rates.iter().map(|(_, rate)| rate).max_by(|a, b| a.value.total_cmp(&b.value))?;
    let first = |enough: &dyn Fn(&Estimate) -> bool| {
        rates.iter().find(|(_, rate)| enough(rate)).map(|(number, _)| *number)
    };
    let number = first(&|rate| rate.value >= SATURATED * best.value)?;
    let known = rates.iter().all(|(_, rate)| rate.interval.is_some());
    let interval = best.interval.filter(|_| known).and_then(|(low, high)| {
        let ends = |rate: &Estimate| rate.interval.unwrap_or((rate.value, rate.value));
        let may = first(&|rate| ends(rate).1 >= SATURATED * low)?;
        Some((may, first(&|rate| ends(rate).0 >= SATURATED * high)))
    });
    Some(Saturation { number, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(value: f64, half: f64) -> Estimate {
        let interval = Some((value - half, value + half));
        Estimate { value, interval, degrees: 8, autocorrelation: 0.0 }
    }

    #[test]
    fn total_rate_extends_to_last_end() {
        let sum = together(&[(100.0, 1.0, rate(100.0, 3.0)), (100.0, 2.0, rate(50.0, 4.0))]);
        assert!((sum.value - 100.0).abs() < 1e-9);
        // √(3² + 4²) = 5, which is a thirtieth of 150.
        let (low, high) = sum.interval.unwrap();
        assert!((high - low - 2.0 * 100.0 / 30.0).abs() < 1e-9, "{low} {high}");
        let unknown = Estimate { interval: None, ..rate(1.0, 0.0) };
        assert_eq!(together(&[(1.0, 1.0, unknown), (1.0, 1.0, rate(1.0, 0.1))]).interval, None);
        assert!(together(&[]).value.abs() < 1e-12);
    }

    #[test]
    fn saturation_point_has_an_interval() {
        let rates = [(1, 100.0), (2, 196.0), (4, 380.0), (8, 398.0), (16, 400.0)];
        let exact: Vec<(u32, Estimate)> = rates.map(|(n, v)| (n, rate(v, 0.0))).into();
        let found = saturation(&exact).unwrap();
        assert_eq!(found, Saturation { number: 4, interval: Some((4, Some(4))) });
        let wide: Vec<(u32, Estimate)> = rates.map(|(n, v)| (n, rate(v, 10.0))).into();
        // 390 may be enough (0.95 × 390), and certainly is (0.95 × 410 = 389.5); 388 is not.
        assert_eq!(saturation(&wide).unwrap().interval, Some((4, Some(16))));
        let wider: Vec<(u32, Estimate)> = rates.map(|(n, v)| (n, rate(v, 100.0))).into();
        assert_eq!(saturation(&wider).unwrap().interval, Some((2, None)));
        assert_eq!(saturation(&[]), None);
    }
}
