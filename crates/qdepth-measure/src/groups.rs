//! Comparison of two groups of runs of one load: the ratio of B to A, and the verdict on it.
//!
//! The unit is the run. Variation within a run says nothing about variation from run to run: two
//! single runs compared by their samples raise up to 89 % false alarms (Kalibera and Jones,
//! "Rigorous Benchmarking in Reasonable Time", ISMM 2013, on why the highest level counts). Ratios
//! are differences of logarithms. Their interval is Welch's (Biometrika 34, 1947), with the pooled
//! variance if one side has a single run. From three runs a side, the figures of a table borrow
//! strength from one another ([`pooled`]), so that few runs can decide. In 98 % of simulated
//! tables, a loss of 10 % of one figure among 60 was found with 4 + 4 runs of 2 % scatter. A
//! permutation test over the whole table found it in none, because none of the 70 assignments is
//! rare enough.
//!
//! A difference must also be as rare as possible among the ways to assign the same runs to two
//! sides. Storage has modes, with which Welch's test alone raised false alarms in 7 % of tables
//! instead of 5 %. Holm's step-down method (Scandinavian Journal of Statistics 6, 1979) limits
//! false alarms over the whole table. Two sides are equal if the whole interval is within the
//! practical threshold (Schuirmann, 1987, at 2.5 % a side).

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::permutation_test::{assignments, share_at_least_as_far};

/// Share of tables with a false alarm, and of intervals that may miss the true value.
const ALPHA: f64 = 0.05;
/// Fewest runs a side that can decide on their own. In simulated tables, two modes of a storage
/// device were called a difference in 12 % with two runs a side, and in 4.5 % with three.
const RUNS_MIN: u32 = 3;
/// Largest number of additional runs that is estimated.
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

/// Ratio B ÷ A of mean figures (geometric means over runs), with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Probability of a difference at least this large if there is none.
    pub p: f64,
    /// Degrees of freedom of the interval.
    pub degrees: f64,
    /// Runs of A and of B.
    pub runs: [u32; 2],
    /// Variance of the logarithms within the sides, pooled.
    variance: f64,
    /// Share of the assignments of these runs to two sides that are at least as far apart; 1 if not
    /// computed.
    permutation_p: f64,
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

/// The geometric mean of a figure over runs, with its 95 % interval; `None` for fewer than three
/// runs, or if a figure is not above 0.
pub fn mean_over_runs(figures: &[f64]) -> Option<(f64, [f64; 2])> {
    let (logs, spread) = (Logs::from_figures(figures)?, Spread::from_figures(figures)?);
    let student = StudentsT::new(0.0, 1.0, spread.degrees).ok()?;
    let half = spread.deviation / logs.count.sqrt() * student.inverse_cdf(1.0 - ALPHA / 2.0);
    Some((logs.mean.exp(), [(logs.mean - half).exp(), (logs.mean + half).exp()]))
}

/// Ratio B ÷ A from one figure of each run. `None` if nothing can be known: a figure is not above
/// 0, or each side has one run and there is no `history` of the variation between runs.
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
    let within = (a.count - 1.0) * a.variance + (b.count - 1.0) * b.variance;
    let variance = within / (a.count + b.count - 2.0).max(1.0);
    let p = probability(difference, error, degrees)?;
    let is_permuted = runs[0] > 1 && runs[1] > 1 && error > 0.0 && p <= ALPHA;
    let permutation_p = if is_permuted { share_at_least_as_far(&both[0], &both[1]) } else { 1.0 };
    let p = if is_permuted { p.max(permutation_p) } else { p };
    let half = error * StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(1.0 - ALPHA / 2.0);
    let [value, low, high] = [difference, difference - half, difference + half].map(f64::exp);
    Some(Ratio { value, low, high, p, degrees, runs, variance, permutation_p })
}

/// Probability by Student's t of a difference of logarithms at least this large if there is none.
fn probability(difference: f64, error: f64, degrees: f64) -> Option<f64> {
    Some(match (error > 0.0, difference.abs() > 0.0) {
        (true, _) => 2.0 * StudentsT::new(0.0, 1.0, degrees).ok()?.sf((difference / error).abs()),
        // Figures without variation, for example of runs in virtual time with one seed.
        (false, differs) => f64::from(u8::from(!differs)),
    })
}

/// The ratios of one figure over the loads of a table. A row with at least three runs a side gets
/// the larger of its own variance and the median of all rows, with 2 − 1/rows times its degrees of
/// freedom: few runs of one load may scatter little by chance, but not those of most loads. That
/// keeps false alarms over a whole table at 5 %, even if loads scatter differently, have modes or
/// outliers, or if whole runs differ (simulated in `groups/tests.rs`). The idea is that of Smyth's
/// moderated t (Statistical Applications in Genetics and Molecular Biology 3, 2004), with a lower
/// bound instead of a weighted mean, which raised up to 21 % false alarms with modes.
pub fn pooled(ratios: &[Option<Ratio>]) -> Vec<Option<Ratio>> {
    let has_enough = |ratio: &Ratio| ratio.runs[0].min(ratio.runs[1]) >= RUNS_MIN;
    let mut variances: Vec<f64> = ratios
        .iter()
        .flatten()
        .filter(|ratio| has_enough(ratio))
        .map(|ratio| ratio.variance / median_share(ratio.own_degrees()))
        .collect();
    variances.sort_by(f64::total_cmp);
    let rows = variances.len();
    let median = match rows {
        0 => 0.0,
        odd if odd % 2 == 1 => variances[rows / 2],
        _ => f64::midpoint(variances[rows / 2 - 1], variances[rows / 2]),
    };
    let pool = |ratio: &Ratio| {
        if !has_enough(ratio) {
            return Some(*ratio);
        }
        let variance = if rows > 1 { ratio.variance.max(median) } else { ratio.variance };
        let [of_a, of_b] = ratio.runs.map(f64::from);
        let error = (variance * (1.0 / of_a + 1.0 / of_b)).sqrt();
        let degrees = ratio.own_degrees() * (2.0 - 1.0 / rows as f64);
        let difference = ratio.value.ln();
        let half = error * StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(1.0 - ALPHA / 2.0);
        let p = probability(difference, error, degrees)?;
        // The rarest case is one assignment and its mirror image.
        let rarest = 2.0 / assignments(ratio.runs[0], ratio.runs[1]);
        let is_rarest = ratio.permutation_p <= rarest * (1.0 + 1e-9) || error <= 0.0;
        let [low, high] = [difference - half, difference + half].map(f64::exp);
        let p = if is_rarest { p } else { p.max(ratio.p) };
        Some(Ratio { low, high, p, degrees, ..*ratio })
    };
    ratios.iter().map(|ratio| ratio.as_ref().and_then(pool)).collect()
}

/// Median of an estimated variance with these degrees of freedom, as a share of the true variance
/// (Wilson and Hilferty's approximation of chi-squared).
fn median_share(degrees: f64) -> f64 {
    (1.0 - 2.0 / (9.0 * degrees)).powi(3)
}

/// Verdict on B compared with A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The figure of B is significantly higher, with the false alarms of the whole table limited.
    Higher,
    /// The figure of B is significantly lower.
    Lower,
    /// The whole interval lies within the practical threshold.
    Equal,
    /// None of these. More runs a side may decide.
    CannotTell {
        /// Estimated number of additional runs a side that would decide; `None` if it cannot be
        /// estimated.
        more: Option<u32>,
    },
}

impl Ratio {
    /// Degrees of freedom of the variance within its sides.
    fn own_degrees(&self) -> f64 {
        f64::from(self.runs[0] + self.runs[1]) - 2.0
    }

    /// The interval that misses the true value with probability `share` instead of 5 %.
    fn missing(&self, share: f64) -> (f64, f64) {
        let factor = StudentsT::new(0.0, 1.0, self.degrees).map_or(f64::INFINITY, |student| {
            student.inverse_cdf(1.0 - share / 2.0) / student.inverse_cdf(1.0 - ALPHA / 2.0)
        });
        let half = (self.high / self.low).ln() / 2.0;
        let wider = if half > 0.0 { half * factor } else { 0.0 };
        (self.value * (-wider).exp(), self.value * wider.exp())
    }
}

/// Verdicts over a whole table: at most 5 % of tables without a difference have a row that is
/// called different. `threshold` is the practical one, 0.02 for 2 %. If runs are added until the
/// verdicts are clear, `interim_checks` is the maximum number of such checks, else 1. Each check
/// gets an equal part of the 5 % (Bonferroni), because any of them may be the wrong one.
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

/// True for each probability that is significant at `alpha` over all of them (Holm).
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

/// Additional runs a side after which the interval would be as narrow as half the threshold on each
/// side, or an existing difference would be significant in a table of `rows` rows. The width of an
/// interval is inversely proportional to the square root of the number of runs.
fn more(ratio: &Ratio, threshold: f64, rows: f64) -> Option<u32> {
    let half = (ratio.high / ratio.low).ln() / 2.0;
    let there = f64::from(ratio.runs[0].min(ratio.runs[1]));
    let least = f64::from(RUNS_MIN);
    let is_apart = ratio.low > 1.0 || ratio.high < 1.0;
    let needed = if is_apart {
        let student = StudentsT::new(0.0, 1.0, ratio.degrees).ok()?;
        let error = half / student.inverse_cdf(1.0 - ALPHA / 2.0);
        let asked = student.inverse_cdf(1.0 - ALPHA / rows / 2.0);
        there * (asked * error / ratio.value.ln().abs()).powi(2)
    } else {
        there * (half / ((1.0 + threshold).ln() / 2.0)).powi(2)
    };
    let more = (needed.max(least) - there).ceil().max(1.0);
    (more.is_finite() && more <= MORE_MAX).then_some(more as u32)
}

#[cfg(test)]
mod tests;
