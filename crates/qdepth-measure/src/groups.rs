//! Two groups of runs of one load: by what factor B differs from A, and what may be said of it.
//!
//! The run is the unit. What varies within a run tells nothing of what varies from run to run:
//! two single runs compared by their samples raise up to 89 % false alarms (Kalibera and Jones,
//! "Rigorous Benchmarking in Reasonable Time", ISMM 2013, on why the highest level counts). Ratios
//! are differences of logarithms; their interval is Welch's (Biometrika 34, 1947), with the pooled
//! variance where one side has a single run. From three runs a side on, the figures of a table
//! borrow strength from one another ([`pooled`]), so that few runs can decide: a loss of 10 % of
//! one figure among 60 was found with 4 + 4 runs of 2 % scatter in 98 % of simulated tables, where
//! a permutation test held over the table found it in none, since 70 deals have none that is rare
//! enough. A difference must also be as rare as it can be among the ways to deal the same runs to
//! two sides: storage has modes, and where it has, Welch's test alone raised false alarms over 7 %
//! of tables where 5 % are promised. Significance is held over a whole table by Holm's step down
//! (Scandinavian Journal of Statistics 6, 1979). Equality is an interval that lies whole within the
//! practical threshold (Schuirmann, 1987, at 2.5 % a side).

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::deals::{deals, share_as_far};

/// False alarms over a whole table, and what an interval may miss.
const ALPHA: f64 = 0.05;
/// Fewer runs a side than this decide nothing by themselves: two modes of a storage were called a
/// difference in 12 % of simulated tables with two a side, in 4.5 % with three.
const RUNS_MIN: u32 = 3;
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
    /// Variance of the logarithms within the sides, pooled.
    variance: f64,
    /// Share of the deals of these runs to two sides that are as far apart; 1 if not tried.
    dealt: f64,
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
    let within = (a.count - 1.0) * a.variance + (b.count - 1.0) * b.variance;
    let variance = within / (a.count + b.count - 2.0).max(1.0);
    let p = probability(difference, error, degrees)?;
    let is_dealt = runs[0] > 1 && runs[1] > 1 && error > 0.0 && p <= ALPHA;
    let dealt = if is_dealt { share_as_far(&both[0], &both[1]) } else { 1.0 };
    let p = if is_dealt { p.max(dealt) } else { p };
    let half = error * StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(1.0 - ALPHA / 2.0);
    let [value, low, high] = [difference, difference - half, difference + half].map(f64::exp);
    Some(Ratio { value, low, high, p, degrees, runs, variance, dealt })
}

/// Probability of a difference of logarithms as large as this where there is none, by Student's t.
fn probability(difference: f64, error: f64, degrees: f64) -> Option<f64> {
    Some(match (error > 0.0, difference.abs() > 0.0) {
        (true, _) => 2.0 * StudentsT::new(0.0, 1.0, degrees).ok()?.sf((difference / error).abs()),
        // Figures that never vary, as those of one seed in virtual time.
        (false, differs) => f64::from(u8::from(!differs)),
    })
}

/// The ratios of one figure over the loads of a table. A row with at least three runs a side gets
/// the larger of its own variance and the median of all rows, with 2 − 1/rows times its degrees of
/// freedom: few runs of one load may scatter little by chance, but not those of most loads. That
/// keeps false alarms over a whole table at 5 % where loads scatter differently, have modes or
/// outliers, or where whole runs differ (simulated in `groups/tests.rs`). The idea is that of
/// Smyth's moderated t (Statistical Applications in Genetics and Molecular Biology 3, 2004), with a
/// bound in place of a weighted mean, which raised up to 21 % with modes.
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
        // No deal is rarer than this and its mirror image.
        let rarest = 2.0 / deals(ratio.runs[0], ratio.runs[1]);
        let is_rarest = ratio.dealt <= rarest * (1.0 + 1e-9) || error <= 0.0;
        let [low, high] = [difference - half, difference + half].map(f64::exp);
        let p = if is_rarest { p } else { p.max(ratio.p) };
        Some(Ratio { low, high, p, degrees, ..*ratio })
    };
    ratios.iter().map(|ratio| ratio.as_ref().and_then(pool)).collect()
}

/// The median of a variance of so many degrees of freedom, as a share of the true one (Wilson and
/// Hilferty's approximation of chi-squared).
fn median_share(degrees: f64) -> f64 {
    (1.0 - 2.0 / (9.0 * degrees)).powi(3)
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
    /// Degrees of freedom of the variance within its sides.
    fn own_degrees(&self) -> f64 {
        f64::from(self.runs[0] + self.runs[1]) - 2.0
    }

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

/// More runs a side after which the interval would be as narrow as half the threshold on each side,
/// or a difference that is there already could be told in a table of so many rows. An interval
/// shrinks with the root of their number.
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
