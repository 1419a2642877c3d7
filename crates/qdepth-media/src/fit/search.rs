//! Levenberg–Marquardt search (damped Gauss–Newton, Levenberg 1944) on the logarithms of the
//! parameters. The error model later reuses its slopes.
//!
//! A residual is ln(emulated ÷ measured), divided by the standard error of the point. Huber's loss
//! applies beyond 2.5 standard errors, so that single outliers do not distort the fit. Every
//! parameter has a wide prior, so one that the points do not determine keeps its start value.

use std::collections::BTreeMap;

use crate::fit::algebra::Symmetric;
use crate::fit::emulate::{Emulator, LogResult, Pace};
use crate::fit::error::FitError;
use crate::fit::model::{Free, Model, START_CHUNK_KIB};

/// Model resolution: relative error of the rate that no parameters can remove.
pub(crate) const GRAIN: f64 = 0.02;
/// Weight of latency residuals relative to that of the rate.
const LATENCY_WEIGHT: f64 = 0.5;
/// Residual at which Huber's loss becomes linear, in standard errors.
const KNEE: f64 = 2.5;
/// Residual of a point that the trial model cannot serve.
const NOT_SERVED: f64 = 50.0;
/// Step of the finite differences, as a logarithm.
const STEP: f64 = 0.06;
/// Maximum step of the search, as a logarithm.
const STEP_MAX: f64 = 0.8;
/// Relative decrease of the loss below which the search ends.
const CONVERGED: f64 = 0.004;

/// Maximum rounds (one set of slopes each) of a brief search and of a full one.
pub(crate) const ROUNDS_FIRST: usize = 3;
pub(crate) const ROUNDS: usize = 6;
/// Expected loss of a residual of one standard error.
const EXPECTED_LOSS: f64 = 0.5;

/// Data and model of one fit.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) emulator: &'a Emulator<'a>,
    pub(crate) model: &'a Model,
    pub(crate) alternative: &'a BTreeMap<&'static str, f64>,
    pub(crate) measured: &'a [LogResult],
    /// Relative standard error of each point.
    pub(crate) spread: &'a [f64],
    /// True if the 90th percentile of service times is fitted in addition to the means.
    pub(crate) drawn: bool,
    /// Length of the emulated loads.
    pub(crate) pace: Pace,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) ln: Vec<f64>,
    pub(crate) loss: f64,
    pub(crate) residuals: Vec<f64>,
}

impl Solution {
    /// True if the residuals exceed the standard errors of the points.
    pub(crate) fn is_off(&self) -> bool {
        self.loss > EXPECTED_LOSS * self.residuals.len() as f64
    }
}

impl Problem<'_> {
    fn free(&self) -> &[Free] {
        &self.model.free
    }

    /// Chunk size of a die in KiB, if it is part of the alternative.
    pub(crate) fn chunk_kib(&self) -> Option<f64> {
        self.alternative.get("die_chunk_kib").copied()
    }

    /// Start of a search without prior knowledge.
    pub(crate) fn fresh(&self) -> Vec<f64> {
        let larger = self.chunk_kib().map_or(1.0, |kib| kib / START_CHUNK_KIB);
        let start: Vec<f64> = self.free().iter().map(|free| libm::log(free.start)).collect();
        self.model.rechunked(&start, larger)
    }

    /// Best solution from two starts: a brief search from each, then a full one from the better
    /// result.
    pub(crate) fn best_from(&self, starts: [Vec<f64>; 2]) -> Result<Solution, FitError> {
        let [first, other] = starts;
        let (first, other) = (self.search(first, ROUNDS_FIRST)?, self.search(other, ROUNDS_FIRST)?);
        self.search(if first.loss < other.loss { first.ln } else { other.ln }, ROUNDS)
    }

    pub(crate) fn values(&self, ln: &[f64]) -> BTreeMap<String, f64> {
        let free = self.free().iter().zip(ln).map(|(f, ln)| (f.name.to_owned(), f.value(*ln)));
        let set = self.alternative.iter().map(|(name, value)| ((*name).to_owned(), *value));
        free.chain(set).collect()
    }

    fn residuals(&self, ln: &[f64]) -> Result<Vec<f64>, FitError> {
        let emulated = self.emulator.results(&self.values(ln))?;
        let mut all = Vec::with_capacity(emulated.len() * 2);
        for ((emulated, measured), spread) in emulated.iter().zip(self.measured).zip(self.spread) {
            let scale = spread.hypot(GRAIN);
            let residual = |a: f64, b: f64| if a.is_nan() { NOT_SERVED } else { (a - b) / scale };
            all.push(residual(emulated.rate, measured.rate));
            if measured.read.is_finite() && measured.write.is_finite() {
                all.push(residual(emulated.read, measured.read) * LATENCY_WEIGHT);
                all.push(residual(emulated.write, measured.write) * LATENCY_WEIGHT);
            }
            if self.drawn && measured.late.is_finite() {
                all.push(residual(emulated.late, measured.late) * LATENCY_WEIGHT);
            }
        }
        Ok(all)
    }

    fn prior(&self, ln: &[f64]) -> f64 {
        let each = |(f, ln): (&Free, &f64)| ((ln - libm::log(f.start)) / f.width).powi(2) / 2.0;
        self.free().iter().zip(ln).map(each).sum()
    }

    fn at(&self, ln: Vec<f64>) -> Result<Solution, FitError> {
        let residuals = self.residuals(&ln)?;
        let loss = residuals.iter().map(|r| huber(*r)).sum::<f64>() + self.prior(&ln);
        Ok(Solution { ln, loss, residuals })
    }

    /// Increase of the loss at `ln` compared with the solution.
    pub(crate) fn loss_increase(&self, ln: Vec<f64>, solution: &Solution) -> Result<f64, FitError> {
        let ln = ln.into_iter().enumerate().map(|(index, ln)| self.within(index, ln)).collect();
        Ok(self.at(ln)?.loss - solution.loss)
    }

    fn within(&self, free: usize, ln: f64) -> f64 {
        let free = &self.free()[free];
        ln.clamp(libm::log(free.low), libm::log(free.high))
    }

    /// Neighbouring value: one step away, or at least ± 1 for a whole-number parameter.
    fn neighbour(&self, index: usize, ln: f64, step: f64) -> f64 {
        let free = &self.free()[index];
        let mut to = ln + step;
        if free.whole && (free.value(to) - free.value(ln)).abs() < 1.0 {
            to = libm::log((free.value(ln) + step.signum()).max(1.0));
        }
        self.within(index, to)
    }

    /// Derivative of each residual by each parameter's logarithm, by finite differences.
    pub(crate) fn slopes(&self, from: &Solution) -> Result<Vec<Vec<f64>>, FitError> {
        let mut slopes = Vec::with_capacity(from.ln.len());
        for (index, ln) in from.ln.iter().enumerate() {
            // At the upper end of a range, step down.
            let up = self.neighbour(index, *ln, STEP);
            let to = if up - ln > STEP / 4.0 { up } else { self.neighbour(index, *ln, -STEP) };
            let mut trial = from.ln.clone();
            trial[index] = to;
            let length = match self.free()[index].whole {
                true => libm::log(self.free()[index].value(to) / self.free()[index].value(*ln)),
                false => to - ln,
            };
            if length.abs() < 1e-9 {
                slopes.push(vec![0.0; from.residuals.len()]);
                continue;
            }
            let neighbour = self.residuals(&trial)?;
            let slope = |(a, b): (&f64, &f64)| {
                if a.abs() >= NOT_SERVED || b.abs() >= NOT_SERVED { 0.0 } else { (a - b) / length }
            };
            slopes.push(neighbour.iter().zip(&from.residuals).map(slope).collect());
        }
        Ok(slopes)
    }

    /// Information matrix of the points and the prior: the inverse covariance of the parameters if
    /// residuals have the standard deviation `scatter`.
    pub(crate) fn information(
        &self,
        solution: &Solution,
        slopes: &[Vec<f64>],
        scatter: f64,
    ) -> Symmetric {
        let n = slopes.len();
        let mut all = Symmetric::zero(n);
        for a in 0..n {
            for b in 0..n {
                let cell = (0..solution.residuals.len())
                    .map(|i| slopes[a][i] * slopes[b][i] * weight(solution.residuals[i]))
                    .sum::<f64>();
                all.add(a, b, cell / (scatter * scatter));
            }
            all.add(a, a, 1.0 / self.free()[a].width.powi(2));
        }
        all
    }

    fn step(&self, from: &Solution, slopes: &[Vec<f64>], damping: f64) -> Option<Vec<f64>> {
        let mut matrix = self.information(from, slopes, 1.0);
        let mut right = Vec::with_capacity(slopes.len());
        for (a, slope) in slopes.iter().enumerate() {
            let along = |(s, r): (&f64, &f64)| s * r * weight(*r);
            let down: f64 = slope.iter().zip(&from.residuals).map(along).sum();
            let free = &self.free()[a];
            right.push(-down - (from.ln[a] - libm::log(free.start)) / free.width.powi(2));
            matrix.add(a, a, damping * (matrix.at(a, a) + 1e-3));
        }
        let step = matrix.solve(&right)?;
        let to = |(index, step): (usize, f64)| {
            self.within(index, from.ln[index] + step.clamp(-STEP_MAX, STEP_MAX))
        };
        Some(step.into_iter().enumerate().map(to).collect())
    }

    /// Local optimum near the start, after at most this many rounds.
    pub(crate) fn search(&self, start: Vec<f64>, rounds: usize) -> Result<Solution, FitError> {
        let mut best = self.at(start)?;
        let mut damping = 0.03;
        for _ in 0..rounds {
            let slopes = self.slopes(&best)?;
            let before = best.loss;
            for _ in 0..4 {
                let Some(to) = self.step(&best, &slopes, damping) else { break };
                let trial = self.at(to)?;
                if trial.loss < best.loss {
                    best = trial;
                    damping = (damping / 4.0).max(1e-3);
                    break;
                }
                damping *= 5.0;
            }
            if before - best.loss < CONVERGED * before {
                break;
            }
        }
        Ok(best)
    }

    /// Tries whole-number parameters at ± 1 and ± 2 with the others adjusted: there is no slope
    /// between whole numbers.
    fn try_integers(&self, from: Solution) -> Result<Solution, FitError> {
        let slopes = self.slopes(&from)?;
        let Some(covariance) = self.information(&from, &slopes, 1.0).inverse() else {
            return Ok(from);
        };
        let mut best = from.clone();
        let whole = (0..from.ln.len()).filter(|index| self.free()[*index].whole);
        for (index, by) in whole.flat_map(|index| [-2.0, -1.0, 1.0, 2.0].map(|by| (index, by))) {
            let now = self.free()[index].value(from.ln[index]);
            let step = libm::log((now + by).max(1.0)) - from.ln[index];
            let with = |other| covariance.at(other, index) / covariance.at(index, index).max(1e-12);
            let to = |other| self.within(other, from.ln[other] + step * with(other));
            let trial = self.at((0..from.ln.len()).map(to).collect())?;
            if trial.loss < best.loss {
                best = trial;
            }
        }
        Ok(best)
    }

    /// Tries large steps of each single parameter, to leave a local optimum where one bottleneck
    /// hides another.
    pub(crate) fn escape_local_optimum(&self, from: Solution) -> Result<Solution, FitError> {
        let mut best = self.try_integers(from)?;
        for index in 0..best.ln.len() {
            for step in [0.7, -0.7, 0.25, -0.25] {
                let mut ln = best.ln.clone();
                ln[index] = self.neighbour(index, ln[index], step);
                let trial = self.at(ln)?;
                if trial.loss < best.loss {
                    best = trial;
                }
            }
        }
        Ok(best)
    }
}

fn weight(residual: f64) -> f64 {
    (KNEE / residual.abs()).min(1.0)
}

fn huber(residual: f64) -> f64 {
    let size = residual.abs();
    if size <= KNEE { size * size / 2.0 } else { KNEE * (size - KNEE / 2.0) }
}
