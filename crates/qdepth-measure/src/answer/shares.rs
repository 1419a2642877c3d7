//! The share of requests beyond a limit as a function of the rate.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Smallest and largest reach of a round to each side of the answer, relative to the answer.
pub(super) const REACH: [f64; 2] = [0.005, 0.15];
/// Fewest requests beyond a limit for a line.
pub(super) const BEYOND_LEAST: f64 = 40.0;

/// Result of a probe: its rate, its requests, and those beyond a limit.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) rate: f64,
    pub(super) count: f64,
    pub(super) beyond: f64,
}

/// A rate at which a share equals the allowed share.
pub(super) struct Crossing {
    pub(super) rate: f64,
    /// 95 % interval.
    pub(super) interval: (f64, f64),
    /// Standard error.
    pub(super) error: f64,
    /// Number of independent bursts that it is computed from.
    pub(super) bursts: f64,
}

/// Logarithm of the share at the mean rate of some neighbouring probes.
pub(super) struct Level {
    /// Mean rate of the probes.
    rate: f64,
    level: f64,
    variance: f64,
    degrees: f64,
    bursts: f64,
}

impl Level {
    /// The level of at least four probes; `None` for fewer.
    pub(super) fn near(points: &[Point], line: &Line) -> Option<Self> {
        let beyond: f64 = points.iter().map(|point| point.beyond).sum();
        if points.len() < 4 || beyond < BEYOND_LEAST {
            return None;
        }
        let rate = points.iter().map(|point| point.rate).sum::<f64>() / points.len() as f64;
        let weight =
            |point: &Point| point.count * (line.slope * (point.rate - rate) / line.centre).exp();
        let share = beyond / points.iter().map(weight).sum::<f64>();
        let rest = |point: &Point| {
            let mean = share * weight(point);
            ((point.beyond - mean) / (1.0 - mean / beyond)).powi(2).max(mean)
        };
        let variance = points.iter().map(rest).sum::<f64>() / (beyond * beyond);
        let bursts = 1.0 / variance;
        let degrees = (points.len() as f64 - 1.0).min((bursts / 3.0).max(2.0));
        Some(Self { rate, level: share.ln(), variance, degrees, bursts })
    }

    /// The rate at which the level has this value, with an interval by Fieller's theorem; `None` if
    /// the interval is unbounded.
    pub(super) fn crossing(&self, line: &Line, value: f64) -> Option<Crossing> {
        let t = StudentsT::new(0.0, 1.0, self.degrees.min(line.degrees)).ok()?.inverse_cdf(0.975);
        let rise = value - self.level;
        let of_slope = line.variance_of_slope;
        let a = line.slope * line.slope - t * t * of_slope;
        let b = -2.0 * line.slope * rise;
        let c = rise * rise - t * t * self.variance;
        let root = (b * b - 4.0 * a * c).sqrt();
        let at = |x: f64| self.rate + x * line.centre;
        let x = rise / line.slope;
        let error = (self.variance + x * x * of_slope).sqrt() / line.slope * line.centre;
        let interval = (at((-b - root) / (2.0 * a)), at((-b + root) / (2.0 * a)));
        let is_bounded = a > 0.0 && root.is_finite() && interval.0 > 0.0;
        is_bounded.then_some(Crossing { rate: at(x), interval, error, bursts: self.bursts })
    }
}

/// Logarithm of a share as a linear function of the rate, by quasi-Poisson regression. Rates are
/// relative to their mean.
pub(super) struct Line {
    pub(super) centre: f64,
    level: f64,
    pub(super) slope: f64,
    variance_of_slope: f64,
    degrees: f64,
}

impl Line {
    /// The line through probes; `None` if they show no rise.
    pub(super) fn through(points: &[Point]) -> Option<Self> {
        let degrees = points.len() as f64 - 2.0;
        let total: f64 = points.iter().map(|point| point.beyond).sum();
        if degrees < 3.0 || total < BEYOND_LEAST {
            return None;
        }
        let centre = points.iter().map(|point| point.rate).sum::<f64>() / points.len() as f64;
        let x = |point: &Point| point.rate / centre - 1.0;
        let count: f64 = points.iter().map(|point| point.count).sum();
        let (mut level, mut slope) = ((total / count).ln(), 0.0);
        let mean = |point: &Point, level: f64, slope: f64| {
            point.count * (level + slope * x(point)).min(0.0).exp()
        };
        let mut sums = [0.0; 3];
        for _ in 0..50 {
            let mut right = [0.0; 2];
            sums = [0.0; 3];
            for point in points {
                let (x, mean) = (x(point), mean(point, level, slope));
                right[0] += point.beyond - mean;
                right[1] += (point.beyond - mean) * x;
                sums[0] += mean;
                sums[1] += mean * x;
                sums[2] += mean * x * x;
            }
            let determinant = sums[0] * sums[2] - sums[1] * sums[1];
            if determinant <= 0.0 || determinant.is_nan() {
                return None;
            }
            let step = [
                (sums[2] * right[0] - sums[1] * right[1]) / determinant,
                (sums[0] * right[1] - sums[1] * right[0]) / determinant,
            ];
            level += step[0].clamp(-2.0, 2.0);
            slope += step[1].clamp(-1e3, 1e3);
            if step[0].abs() < 1e-10 && step[1].abs() < 1e-10 * slope.abs().max(1.0) {
                break;
            }
        }
        // The residuals are larger at higher rates, where bursts are longer. The variance is
        // therefore estimated from the residuals themselves (HC3; MacKinnon and White 1985), not
        // from a common dispersion.
        let determinant = sums[0] * sums[2] - sums[1] * sums[1];
        let [a, b, c] = [sums[2], sums[0], -sums[1]].map(|sum| sum / determinant);
        let of_point = |point: &Point| {
            let (x, mean) = (x(point), mean(point, level, slope));
            let leverage = mean * (a + 2.0 * c * x + b * x * x);
            let rest = ((point.beyond - mean) / (1.0 - leverage.min(0.9))).powi(2).max(mean);
            rest * (c + b * x).powi(2)
        };
        let variance_of_slope = points.iter().map(of_point).sum();
        let is_rising = slope > 0.0 && slope.is_finite();
        is_rising.then_some(Self { centre, level, slope, variance_of_slope, degrees })
    }

    /// The rate at which the line has the value `level`.
    pub(super) fn rate_at(&self, level: f64) -> f64 {
        (1.0 + (level - self.level) / self.slope) * self.centre
    }

    /// Distance from a rate at which the share triples or falls to a third, within limits.
    pub(super) fn reach(&self, rate: f64) -> f64 {
        (3.0_f64.ln() / self.slope * self.centre).clamp(REACH[0] * rate, REACH[1] * rate)
    }
}
