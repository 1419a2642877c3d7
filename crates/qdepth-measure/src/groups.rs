//! Two groups of runs of one load: by what factor B differs from A, and what may be said of it.
//!
//! The run is the unit. What varies within a run tells nothing of what varies from run to run:
//! two single runs compared by their samples raise up to 89 % false alarms (Kalibera and Jones,
//! "Rigorous Benchmarking in Reasonable Time", ISMM 2013, on why the highest level counts). Ratios
//! are differences of logarithms; their interval is Welch's (Biometrika 34, 1947), with the pooled
//! variance where one side has a single run. A difference must also be rare among the ways to deal
//! the same runs to two sides (a permutation test: storage has modes, and where it has, Welch's
//! test alone raised false alarms over 7 % of tables where 5 % are promised); significance is held
//! over a whole table by Holm's step down (Scandinavian Journal of Statistics 6, 1979). Equality is
//! an interval that lies whole within the practical threshold (Schuirmann, 1987, at 2.5 % a side).

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::deals::{deals, share_as_far};

/// False alarms over a whole table, and what an interval may miss.
const ALPHA: f64 = 0.05;
/// More runs than this are not foretold.
const MORE_MAX: f64 = 999.0;

/// Variation between runs of one load: standard deviation of the logarithm of a figure, and its
/// degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Deviation of the natural logarithm: 0.03 is about 3 %.
    pub deviation: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

impl Spread {
    /// Variation of these figures; `None` for fewer than three, or if one is not above 0.
    pub fn from_figures(figures: &[f64]) -> Option<Self> {
        let logs = Logs::from_figures(figures)?;
        (figures.len() >= 3)
            .then(|| Self { deviation: logs.variance.sqrt(), degrees: logs.count - 1.0 })
    }
}

/// A ratio B ÷ A of mean figures (geometric means over runs) with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Probability of so large a difference where there is none.
    pub p: f64,
    /// Degrees of freedom of the interval.
    pub degrees: f64,
    /// Runs of A and of B.
    pub runs: [u32; 2],
}

/// Mean and variance of logarithms.
struct Logs {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Logs {
    fn from_figures(figures: &[f64]) -> Option<Self> {
        let usable = |figure: &f64| figure.is_finite() && *figure > 0.0;
        if figures.is_empty() || !figures.iter().all(usable) {
            return None;
        }
        let count = figures.len() as f64;
        let mean = figures.iter().map(|figure| figure.ln()).sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure.ln() - mean).powi(2)).sum();
        Some(Self { count, mean, variance: squares / (count - 1.0).max(1.0) })
    }
}

/// The geometric mean of a figure over runs with its 95 % interval; none of fewer than three, or
/// where one is not above 0.
pub fn mean_over_runs(figures: &[f64]) -> Option<(f64, [f64; 2])> {
    let (logs, spread) = (Logs::from_figures(figures)?, Spread::from_figures(figures)?);
    let student = StudentsT::new(0.0, 1.0, spread.degrees).ok()?;
    let half = spread.deviation / logs.count.sqrt() * student.inverse_cdf(1.0 - ALPHA / 2.0);
    Some((logs.mean.exp(), [(logs.mean - half).exp(), (logs.mean + half).exp()]))
}

/// B ÷ A from a figure of each run; `None` if nothing can be known: a figure that is not above 0,
/// or one run a side and no `history` of how such runs differ.
pub fn ratio(a: &[f64], b: &[f64], history: Option<Spread>) -> Option<Ratio> {
    let runs = [a.len() as u32, b.len() as u32];
    let both = [a, b].map(|side| side.iter().map(|figure| figure.ln()).collect::<Vec<_>>());
    let (a, b) = (Logs::from_figures(a)?, Logs::from_figures(b)?);
    let (error, degrees) = match (runs[0], runs[1]) {
        (1, 1) => {
            let Spread { deviation, degrees } = history?;
            (deviation * 2f64.sqrt(), degrees)
        }
        (1, _) | (_, 1) => {
            let degrees = a.count + b.count - 2.0;
            let pooled = ((a.count - 1.0) * a.variance + (b.count - 1.0) * b.variance) / degrees;
            ((pooled * (1.0 / a.count + 1.0 / b.count)).sqrt(), degrees)
        }
        _ => {
            let (of_a, of_b) = (a.variance / a.count, b.variance / b.count);
            let below = of_a.powi(2) / (a.count - 1.0) + of_b.powi(2) / (b.count - 1.0);
            let sum = of_a + of_b;
            (sum.sqrt(), if below > 0.0 { sum.powi(2) / below } else { a.count + b.count - 2.0 })
        }
    };
    let difference = b.mean - a.mean;
    let student = StudentsT::new(0.0, 1.0, degrees).ok()?;
    let half = error * student.inverse_cdf(1.0 - ALPHA / 2.0);
    let p = match (error > 0.0, difference.abs() > 0.0) {
        (true, _) => {
            let p = 2.0 * student.sf((difference / error).abs());
            let dealt = runs[0] > 1 && runs[1] > 1 && p <= ALPHA;
            if dealt { p.max(share_as_far(&both[0], &both[1])) } else { p }
        }
        // Figures that never vary, as those of one seed in virtual time.
        (false, differs) => f64::from(u8::from(!differs)),
    };
    let [value, low, high] = [difference, difference - half, difference + half].map(f64::exp);
    Some(Ratio { value, low, high, p, degrees, runs })
}

/// Verdict on B compared with A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The figure of B is higher, by more than chance over the whole table.
    Higher,
    /// It is lower.
    Lower,
    /// The whole interval lies within the practical threshold.
    Equal,
    /// Neither; so many more runs a side would decide, as far as can be foretold.
    CannotTell {
        /// None where it cannot be foretold.
        more: Option<u32>,
    },
}

impl Ratio {
    /// The interval that misses the truth in so small a share, in place of 5 %.
    fn missing(&self, share: f64) -> (f64, f64) {
        let factor = StudentsT::new(0.0, 1.0, self.degrees).map_or(f64::INFINITY, |student| {
            student.inverse_cdf(1.0 - share / 2.0) / student.inverse_cdf(1.0 - ALPHA / 2.0)
        });
        let half = (self.high / self.low).ln() / 2.0;
        let wider = if half > 0.0 { half * factor } else { 0.0 };
        (self.value * (-wider).exp(), self.value * wider.exp())
    }
}

/// Verdicts over a whole table: at most 5 % of tables without any difference have one that is
/// called a difference. `threshold` is the practical one, 0.02 for 2 %. Where runs were added until
/// the verdicts were clear, `interim_checks` is how often that may be asked: each check has its
/// part of the 5 % (Bonferroni), since any of them may be the one that is wrong; else 1.
pub fn verdicts(ratios: &[Option<Ratio>], threshold: f64, interim_checks: u32) -> Vec<Verdict> {
    let alpha = ALPHA / f64::from(interim_checks.max(1));
    let all = ratios.iter().map(|ratio| ratio.map(|r| r.p)).collect::<Vec<_>>();
    let significant = holm(&all, alpha);
    let rows = ratios.iter().flatten().count() as f64;
    let verdict = |(ratio, significant): (&Option<Ratio>, bool)| {
        let Some(ratio) = ratio else { return Verdict::CannotTell { more: None } };
        let above = 1.0 + threshold;
        let (low, high) = ratio.missing(alpha);
        if low >= 1.0 / above && high <= above {
            return Verdict::Equal;
        }
        match (significant, ratio.value > 1.0) {
            (true, true) => Verdict::Higher,
            (true, false) => Verdict::Lower,
            (false, _) => {
                Verdict::CannotTell { more: more(ratio, threshold, rows / alpha * ALPHA) }
            }
        }
    };
    ratios.iter().zip(significant).map(verdict).collect()
}

/// Significance of these probabilities at `alpha` over all of them.
fn holm(all: &[Option<f64>], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..all.len()).filter(|index| all[*index].is_some()).collect();
    order.sort_by(|a, b| all[*a].partial_cmp(&all[*b]).unwrap_or(std::cmp::Ordering::Equal));
    let mut significant = vec![false; all.len()];
    for (rank, index) in order.iter().enumerate() {
        let left = (order.len() - rank) as f64;
        if all[*index].is_none_or(|p| p > alpha / left) {
            break;
        }
        significant[*index] = true;
    }
    significant
}

/// Runs a side after which the interval is as narrow as half the threshold on each side, and a
/// difference could be told in a table of so many rows, less those that are there. An interval
/// shrinks with the root of their number.
fn more(ratio: &Ratio, threshold: f64, rows: f64) -> Option<u32> {
    let half = (ratio.high / ratio.low).ln() / 2.0;
    let there = ratio.runs[0].min(ratio.runs[1]);
    let narrow = f64::from(there) * (half / ((1.0 + threshold).ln() / 2.0)).powi(2);
    let can_differ = |runs: &u32| 2.0 / deals(*runs, *runs) <= ALPHA / rows;
    let least = (2..).find(can_differ).map_or(narrow, f64::from);
    let is_apart = ratio.low > 1.0 || ratio.high < 1.0;
    let needed = if is_apart { least } else { narrow.max(least) };
    let more = (needed - f64::from(there)).ceil().max(1.0);
    (more.is_finite() && more <= MORE_MAX).then_some(more as u32)
}

#[cfg(test)]
mod tests;
