//! Steady state of a figure: SNIA's rule, and qdepth's stricter one.
//!
//! SNIA's rule (Solid State Storage Performance Test Specification 2.0.2, steady state) uses the
//! last five rounds: the largest and the smallest differ by at most 20 % of their mean, and the
//! regression line rises or falls over the window by at most 10 % of it. A slow decay meets this
//! rule long before its end (see docs/method/steady.md). qdepth's rule therefore uses the last half
//! of the whole series, however long it is, and three conditions must agree.

use std::f64::consts::TAU;

use crate::changes::changes;
use crate::spectrum::{join_neighbours, mean};

/// Rounds of SNIA's window.
pub const WINDOW_ROUNDS: usize = 5;
/// Rounds after which SNIA's search ends without steady state.
pub const ROUNDS_MAX: usize = 25;
/// SNIA's limits for range and slope, as shares of the window's mean.
const RANGE_MOST: f64 = 0.20;
const SLOPE_MOST: f64 = 0.10;

/// qdepth's limits for range and slope of the means of five parts of the last half.
const OWN_RANGE_MOST: f64 = 0.10;
const OWN_SLOPE_MOST: f64 = 0.05;
/// Fewest samples for a verdict.
const SAMPLES_MIN: usize = 20;
/// Number of parts of the last half, and of the finer parts in which a change is searched.
const PARTS: usize = 5;
const FINE_PARTS: usize = 20;
/// Probability below which a change within the last half is considered real, and the smallest
/// relevant change, as a share of the level.
const CHANGE_LEVEL: f64 = 0.01;
const CHANGE_MOST: f64 = 0.02;
/// Share of the level by which a truncation by MSER-5 in the last half must change the level to
/// matter: with little noise, MSER-5 also removes differences of a thousandth.
const CUT_MOST: f64 = 0.002;
/// Von Neumann's ratio below which the parts depend on one another (1 in 30 if they are
/// independent), and the least variation for that to matter, as a share of the level.
const WANDERING: f64 = 1.2;
const WANDERING_MIN: f64 = 0.02;
/// Longer series are halved by joining neighbours until they fit, before a cycle is looked for.
const CYCLE_SAMPLES_MAX: usize = 512;
/// Probability below which a peak of the spectrum is considered a cycle, and its least shares of
/// the variance and of the mean.
const CYCLE_CHANCE: f64 = 1e-4;
const CYCLE_SHARE: f64 = 0.5;
const CYCLE_HEIGHT: f64 = 0.05;
/// Fewest cycles in the last half.
const CYCLES_MIN: usize = 5;
/// Share of the variance of the parts that a line must explain for a figure to be called drifting.
const LINE_SHARE: f64 = 0.6;

/// A regression line by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Rise from one figure to the next.
    pub slope: f64,
    /// Value at round 0.
    pub intercept: f64,
}

impl Line {
    /// The line through figures, the first of which is that of round `first`.
    pub(crate) fn through(figures: &[f64], first: usize) -> Self {
        let centre = first as f64 + (figures.len() as f64 - 1.0) / 2.0;
        let level = mean(figures);
        let (mut above, mut below) = (0.0, 0.0);
        for (round, figure) in (first..).zip(figures) {
            let x = round as f64 - centre;
            above += x * (figure - level);
            below += x * x;
        }
        let slope = if below > 0.0 { above / below } else { 0.0 };
        Self { slope, intercept: level - slope * centre }
    }
}

/// SNIA's window of five rounds, with everything that its report states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Number of its last round; rounds are counted from 1.
    pub last: usize,
    /// Mean of the five rounds.
    pub mean: f64,
    /// Difference between the largest and the smallest.
    pub range: f64,
    /// The regression line over the round numbers.
    pub line: Line,
}

impl Window {
    /// Window of the last five of these rounds; `None` for fewer, or if one is not positive.
    pub fn from_rounds(rounds: &[f64]) -> Option<Self> {
        let first = rounds.len().checked_sub(WINDOW_ROUNDS)?;
        let five = &rounds[first..];
        if five.iter().any(|figure| !figure.is_finite() || *figure <= 0.0) {
            return None;
        }
        let most = five.iter().copied().fold(f64::MIN, f64::max);
        let least = five.iter().copied().fold(f64::MAX, f64::min);
        Some(Self {
            last: rounds.len(),
            mean: mean(five),
            range: most - least,
            line: Line::through(five, first + 1),
        })
    }
    /// Rise or fall of the line from the first of the five rounds to the last.
    pub fn slope_excursion(&self) -> f64 {
        (self.line.slope * (WINDOW_ROUNDS as f64 - 1.0)).abs()
    }
    /// Largest allowed range.
    pub fn range_allowed(&self) -> f64 {
        RANGE_MOST * self.mean
    }
    /// Largest allowed rise or fall of the line.
    pub fn slope_allowed(&self) -> f64 {
        SLOPE_MOST * self.mean
    }
    /// True if range and slope are within their limits.
    pub fn is_steady(&self) -> bool {
        self.range <= self.range_allowed() && self.slope_excursion() <= self.slope_allowed()
    }
}

/// The first window of a series of rounds that is steady by SNIA's rule.
pub fn first_steady(rounds: &[f64]) -> Option<Window> {
    let windows =
        (WINDOW_ROUNDS..=rounds.len()).filter_map(|end| Window::from_rounds(&rounds[..end]));
    windows.into_iter().find(Window::is_steady)
}

/// State of a figure, by qdepth's rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SteadyState {
    /// Too few samples for a verdict.
    TooShort,
    /// Steady: it stays at its level.
    Steady,
    /// Cyclic: it oscillates around a constant level.
    Cyclic {
        /// Samples from one cycle to the next.
        period: f64,
    },
    /// Drifting: it rises or falls.
    Drifting {
        /// True if it rises.
        rises: bool,
    },
    /// None of these.
    NeverSteady,
}

impl SteadyState {
    /// True if the figure has a level: it is steady or cyclic.
    pub fn has_level(self) -> bool {
        matches!(self, Self::Steady | Self::Cyclic { .. })
    }

    /// Name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooShort => "too-short",
            Self::Steady => "steady",
            Self::Cyclic { .. } => "cyclic",
            Self::Drifting { .. } => "drifting",
            Self::NeverSteady => "never-steady",
        }
    }
}

/// A verdict with the figures behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Verdict.
    pub state: SteadyState,
    /// Index of the first sample that was examined, together with all later ones.
    pub from: usize,
    /// Mean of the examined samples.
    pub level: f64,
    /// Range of the means of five parts of the examined samples, relative to the level.
    pub range_share: f64,
    /// Rise of the regression line through those means, relative to the level.
    pub slope_share: f64,
    /// Standard deviation of the samples over the level.
    pub variation: f64,
}

/// State of an evenly spaced series. At least `least` samples are required: the number that the
/// load needs to write every position of its area twice.
///
/// Three conditions must agree. The means of five equal parts of the last half keep 10 % range and
/// 5 % slope. The truncation point of MSER-5 (White, Simulation 69, 1997) is not in the last half,
/// unless the truncation changes the level by less than 0.2 %. The last half has no persistent
/// change ([`changes`], at 1 %) of more than 2 %, and its parts do not depend on one another. If
/// its spectrum has a significant peak, the parts are whole cycles.
pub fn steadiness(series: &[f64], least: usize) -> Steadiness {
    let from = series.len() / 2;
    let tail = &series[from..];
    let level = mean(tail);
    let usable = level > 0.0 && series.iter().all(|figure| figure.is_finite());
    if series.len() < least.max(SAMPLES_MIN) || !usable {
        let (state, [range_share, slope_share, variation]) = (SteadyState::TooShort, [0.0; 3]);
        return Steadiness { state, from, level, range_share, slope_share, variation };
    }
    let (mut joined, mut each) = (tail.to_vec(), 1.0);
    while joined.len() > CYCLE_SAMPLES_MAX {
        join_neighbours(&mut joined);
        each *= 2.0;
    }
    let period = cycle(&joined).map(|period| period * each);
    // Whole cycles only, counted from the end.
    let whole = period.map_or(tail.len(), |period| {
        let cycles = (tail.len() as f64 / period) as usize / PARTS * PARTS;
        ((cycles as f64 * period).round() as usize).min(tail.len())
    });
    let tail_whole = &tail[tail.len() - whole..];
    let (parts, fine) = (means(tail_whole, PARTS), means(tail_whole, FINE_PARTS));
    let (range_share, slope_share) = shares(&parts, level);
    let kept = range_share <= OWN_RANGE_MOST && slope_share.abs() <= OWN_SLOPE_MOST;
    let cut = |point: usize| (mean(&series[point..]) - level).abs() > CUT_MOST * level;
    let settled = truncation(series).is_none_or(|point| point <= from || !cut(point));
    let step = |fine: &[f64]| {
        let changes = changes(fine, CHANGE_LEVEL);
        changes.iter().any(|c| (c.after - c.before).abs() > CHANGE_MOST * level)
    };
    // Parts that are not whole cycles differ by themselves.
    let seen_in = if period.is_some() { &parts } else { &fine };
    let changed = step(seen_in) || (period.is_none() && wanders(&fine, level));
    let state = match period {
        _ if kept && !changed && (settled || period.is_some()) => match period {
            Some(period) => SteadyState::Cyclic { period },
            None => SteadyState::Steady,
        },
        _ if line_share(seen_in) >= LINE_SHARE && slope_share.abs() > OWN_SLOPE_MOST => {
            SteadyState::Drifting { rises: slope_share > 0.0 }
        }
        _ => SteadyState::NeverSteady,
    };
    let variation = variance(tail).sqrt() / level;
    Steadiness { state, from, level, range_share, slope_share, variation }
}

/// Range of the parts, and rise of the regression line over them, relative to the level.
fn shares(parts: &[f64], level: f64) -> (f64, f64) {
    let most = parts.iter().copied().fold(f64::MIN, f64::max);
    let least = parts.iter().copied().fold(f64::MAX, f64::min);
    let rise = Line::through(parts, 1).slope * (parts.len() as f64 - 1.0);
    ((most - least) / level, rise / level)
}

/// Means of `parts` parts that are as equal as whole samples allow.
fn means(series: &[f64], parts: usize) -> Vec<f64> {
    let parts = parts.min(series.len());
    let end = |part: usize| part * series.len() / parts;
    (0..parts).map(|part| mean(&series[end(part)..end(part + 1)])).collect()
}

fn variance(series: &[f64]) -> f64 {
    let level = mean(series);
    series.iter().map(|x| (x - level).powi(2)).sum::<f64>() / (series.len() as f64 - 1.0).max(1.0)
}

/// Share of the variance that a regression line explains.
fn line_share(figures: &[f64]) -> f64 {
    let Line { slope, intercept } = Line::through(figures, 1);
    let left: Vec<f64> =
        (1..).zip(figures).map(|(n, y)| y - (intercept + slope * f64::from(n))).collect();
    let all = variance(figures);
    if all > 0.0 { 1.0 - variance(&left) / all } else { 0.0 }
}

/// True if parts depend on the preceding ones (von Neumann, Annals of Mathematical Statistics 12,
/// 1941): a random walk has no level, although it may stay near one for a while.
fn wanders(parts: &[f64], level: f64) -> bool {
    let variance = variance(parts);
    let steps: f64 = parts.windows(2).map(|two| (two[1] - two[0]).powi(2)).sum();
    let ratio = steps / (parts.len() as f64 - 1.0).max(1.0) / variance;
    variance.sqrt() > WANDERING_MIN * level && ratio < WANDERING
}

/// Truncation point of MSER-5, as an index of the series: the point after which the mean of batches
/// of five has the smallest standard error. `None` for fewer than ten batches.
fn truncation(series: &[f64]) -> Option<usize> {
    const BATCH: usize = 5;
    let batches: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
    if batches.len() < 10 {
        return None;
    }
    // The last five batches are too few for an estimate of their own error.
    let indices = 0..batches.len() - 5;
    let error = |index: usize| {
        let rest = &batches[index..];
        let count = rest.len() as f64;
        variance(rest) * (count - 1.0) / (count * count)
    };
    let best = indices.min_by(|a, b| error(*a).total_cmp(&error(*b)))?;
    Some(best * BATCH)
}

/// Period of a relevant cycle, in samples; `None` if there is none. The largest ordinate of the
/// periodogram of the detrended series must pass Fisher's test (Proceedings of the Royal Society A
/// 125, 1929), have at least five whole cycles, and an amplitude that is a relevant share of the
/// level.
fn cycle(series: &[f64]) -> Option<f64> {
    let count = series.len();
    let Line { slope, intercept } = Line::through(series, 1);
    let flat: Vec<f64> =
        (1..).zip(series).map(|(n, y)| y - (intercept + slope * f64::from(n))).collect();
    let power = |frequency: f64| {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (n, y) in flat.iter().enumerate() {
            let angle = TAU * frequency * n as f64 / count as f64;
            real += y * angle.cos();
            imaginary += y * angle.sin();
        }
        real * real + imaginary * imaginary
    };
    let all: Vec<f64> = (1..count / 2).map(|k| power(k as f64)).collect();
    let sum: f64 = all.iter().sum();
    let (index, _) = all.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    // If the cycles are not whole, the peak extends to its neighbours.
    let around = &all[index.saturating_sub(1)..(index + 2).min(all.len())];
    let share = around.iter().sum::<f64>() / sum;
    let ordinates = all.len() as f64;
    let chance = ordinates * (1.0 - share.min(1.0)).powf(ordinates - 1.0);
    let height = (2.0 * around.iter().sum::<f64>()).sqrt() * 2.0 / count as f64 / mean(series);
    let is_one = index + 1 >= CYCLES_MIN
        && share >= CYCLE_SHARE
        && chance < CYCLE_CHANCE
        && height >= CYCLE_HEIGHT;
    // The period is refined to the largest power between two ordinates.
    let near = (-10..=10).map(|tenth| (index + 1) as f64 + f64::from(tenth) / 10.0);
    let best = near.max_by(|a, b| power(*a).total_cmp(&power(*b)))?;
    is_one.then(|| count as f64 / best)
}

#[cfg(test)]
mod tests;
