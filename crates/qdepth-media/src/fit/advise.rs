//! Determination of each parameter by the points, and the most informative further point.

use std::collections::BTreeMap;

use qdepth_workload::SizeMix;

use crate::fit::algebra::Symmetric;
use crate::fit::error::FitError;
use crate::fit::observed::Observed;
use crate::fit::search::{GRAIN, Problem, Solution};

/// Two-sided 95 % quantile of the standard normal distribution.
pub(crate) const NORMAL_95: f64 = 1.96;
/// A parameter is well determined if its standard deviation is below this share of its prior's, …
const WELL: f64 = 0.25;
/// … and not determined above this share.
const HARDLY: f64 = 0.7;
/// Maximum number of suggested points.
const ADVISED_MAX: usize = 3;
/// Minimum relative gain for a suggestion.
const WORTH: f64 = 0.02;

/// Determination of a parameter by the points.
#[derive(Clone, Debug, PartialEq)]
pub struct Determined {
    /// Name of the parameter.
    pub name: String,
    /// Fitted value, in the parameter's unit.
    pub value: f64,
    /// 95 % CI, with all other parameters adjusted at each end.
    pub interval: (f64, f64),
    /// `well`, `loosely` or `not`. A parameter that is `not` determined keeps its prior value.
    pub how: &'static str,
}

/// Unmeasured load and the information that it would add.
#[derive(Clone, Debug, PartialEq)]
pub struct InformativePoint {
    /// Label for the user.
    pub label: String,
    /// Relative decrease of the joint uncertainty of all parameters.
    pub gain: f64,
}

/// 95 % CI of each parameter from the curvature of the loss, with all others adjusted. An end is
/// moved out if the loss there is much lower than the curvature predicts.
pub(crate) fn determined(
    problem: &Problem<'_>,
    solution: &Solution,
    information: &Symmetric,
    scatter: f64,
) -> Result<Vec<Determined>, FitError> {
    let Some(covariance) = information.inverse() else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for (index, free) in problem.model.free.iter().enumerate() {
        let deviation = covariance.at(index, index).max(0.0).sqrt();
        let mut ends = [0.0; 2];
        for (end, sign) in ends.iter_mut().zip([-1.0, 1.0]) {
            let far = sign * NORMAL_95 * deviation;
            let mut ln = solution.ln.clone();
            for (other, ln) in ln.iter_mut().enumerate() {
                let with = covariance.at(other, index) / covariance.at(index, index).max(1e-12);
                *ln += far * with;
            }
            let risen = problem.loss_increase(ln, solution)? / (scatter * scatter);
            // The loss at 1.96 standard deviations should be higher by 1.96² ÷ 2 = 1.92.
            let expected = NORMAL_95 * NORMAL_95 / 2.0;
            let wider = if risen < expected / 4.0 { 2.0 } else { 1.0 };
            *end = (libm::exp(solution.ln[index] + far * wider)).clamp(free.low, free.high);
        }
        let share = deviation / free.width;
        let how = match share {
            _ if share < WELL => "well",
            _ if share < HARDLY => "loosely",
            _ => "not",
        };
        all.push(Determined {
            name: free.name.to_owned(),
            value: free.value(solution.ln[index]),
            interval: (ends[0], ends[1]),
            how,
        });
    }
    Ok(all)
}

/// Columns of the Cholesky factor of the covariance: independent joint changes of the parameters,
/// one standard deviation each.
pub(crate) fn directions(
    problem: &Problem<'_>,
    solution: &Solution,
    information: &Symmetric,
) -> Vec<BTreeMap<String, f64>> {
    let Some(lower) = information.inverse().and_then(|covariance| covariance.triangle()) else {
        return Vec::new();
    };
    let free = &problem.model.free;
    let column = |column: usize| -> BTreeMap<String, f64> {
        let each = (0..free.len()).filter_map(|row| {
            let name = free[row].name.to_owned();
            let step = lower.at(row, column);
            // Clamp the step to the parameter's range.
            let to = (solution.ln[row] + step)
                .clamp(libm::log(free[row].low), libm::log(free[row].high));
            let step = ((to - solution.ln[row]) * 1e5).round() / 1e5;
            (step.abs() > 1e-4).then_some((name, step))
        });
        each.collect()
    };
    (0..free.len()).map(column).filter(|direction| !direction.is_empty()).collect()
}

/// Unmeasured loads that would reduce the uncertainty of the parameters most, best first.
pub(crate) fn informative_points(
    used: &[Observed],
    problem: &Problem<'_>,
    solution: &Solution,
    information: &Symmetric,
) -> Result<Vec<InformativePoint>, FitError> {
    let candidates = candidates(used);
    let (Some(covariance), false) = (information.inverse(), candidates.is_empty()) else {
        return Ok(Vec::new());
    };
    let slopes = rate_slopes(&candidates, problem, solution)?;
    // Assumed error of a new point: twice the model resolution.
    let noise = (2.0 * GRAIN).powi(2);
    let gain = |slope: &Vec<f64>| {
        let information = libm::log(1.0 + covariance.form(slope) / noise) / 2.0;
        1.0 - libm::exp(-information / slope.len().max(1) as f64)
    };
    let mut all: Vec<InformativePoint> = candidates
        .iter()
        .zip(&slopes)
        .map(|(load, slope)| InformativePoint {
            label: load.point.profile.clone(),
            gain: gain(slope),
        })
        .filter(|candidate| candidate.gain > WORTH)
        .collect();
    all.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    all.truncate(ADVISED_MAX);
    Ok(all)
}

/// Derivative of each load's log rate by each parameter's logarithm: one row per load.
fn rate_slopes(
    loads: &[Observed],
    problem: &Problem<'_>,
    solution: &Solution,
) -> Result<Vec<Vec<f64>>, FitError> {
    let emulator = problem.emulator.under(loads, problem.pace);
    let center = emulator.results(&problem.values(&solution.ln))?;
    let mut slopes = vec![Vec::new(); loads.len()];
    for (index, free) in problem.model.free.iter().enumerate() {
        let mut ln = solution.ln.clone();
        let step = if ln[index] + 0.1 <= libm::log(free.high) { 0.1 } else { -0.1 };
        ln[index] += step;
        let values = problem.values(&ln);
        for ((slope, moved), center) in
            slopes.iter_mut().zip(emulator.results(&values)?).zip(&center)
        {
            let derivative = (moved.rate - center.rate) / step;
            slope.push(if derivative.is_finite() { derivative } else { 0.0 });
        }
    }
    Ok(slopes)
}

/// Error at these loads that is due to uncertain parameters: root mean square, as a logarithm.
pub(crate) fn parameter_error(
    loads: &[Observed],
    problem: &Problem<'_>,
    solution: &Solution,
    information: &Symmetric,
) -> Result<f64, FitError> {
    let Some(covariance) = information.inverse() else { return Ok(0.0) };
    let slopes = rate_slopes(loads, problem, solution)?;
    let squares: f64 = slopes.iter().map(|slope| covariance.form(slope).max(0.0)).sum();
    Ok((squares / slopes.len().max(1) as f64).sqrt())
}

/// Candidate for a measurement.
#[derive(Clone, Copy)]
struct Load {
    bytes: u32,
    random: f64,
    read: f64,
    queue_depth: u32,
}

impl Load {
    fn distance_to(self, observed: &Observed) -> f64 {
        let times = |a: u32, b: u32| libm::log(f64::from(a) / f64::from(b)).abs();
        (observed.point.random_share - self.random).abs() * 8.0
            + (observed.point.read_share - self.read).abs() * 8.0
            + times(observed.bytes(), self.bytes)
            + times(observed.in_flight(), self.queue_depth)
    }

    /// Point of this load with a rate guessed from the nearest measured one; `None` if it was
    /// measured.
    fn unmeasured_point(self, used: &[Observed]) -> Option<Observed> {
        let near =
            used.iter().min_by(|a, b| self.distance_to(a).total_cmp(&self.distance_to(b)))?;
        if self.distance_to(near) < 1e-9 {
            return None;
        }
        let mut guessed = near.clone();
        let order = if self.random > 0.5 { "random" } else { "sequential" };
        guessed.point.profile = format!(
            "{order} {} KiB, {:.0} % read, queue depth {}",
            self.bytes / 1024,
            self.read * 100.0,
            self.queue_depth
        );
        guessed.io_per_s *= (f64::from(near.bytes()) / f64::from(self.bytes)).min(1.0);
        guessed.point.random_share = self.random;
        guessed.point.read_share = self.read;
        guessed.point.queue_depth = self.queue_depth;
        guessed.point.block_size = SizeMix::fixed(self.bytes);
        guessed.point.alignment_bytes = guessed.point.alignment_bytes.min(u64::from(self.bytes));
        Some(guessed)
    }
}

/// Candidate loads: a grid of patterns, block sizes and queue depths.
fn candidates(used: &[Observed]) -> Vec<Observed> {
    let writes = used.iter().any(|load| !load.is_read());
    let kinds = [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 0.5)];
    let kinds = kinds.into_iter().filter(|(_, read)| writes || *read >= 1.0);
    let sizes = [4_u32, 16, 256, 1024].map(|kib| kib << 10);
    let loads = kinds.flat_map(|(random, read)| {
        sizes.into_iter().flat_map(move |bytes| {
            [1, 8, 128].map(|queue_depth| Load { bytes, random, read, queue_depth })
        })
    });
    loads.filter_map(|load| load.unmeasured_point(used)).collect()
}
