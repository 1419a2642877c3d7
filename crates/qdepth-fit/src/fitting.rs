//! A fit: alternatives are searched a little, the best of them to its end, and what was kept back
//! says how good it is.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::advise::{Determined, Teaches, determined, directions, of_parameters, teaches};
use crate::emulate::{Emulator, Seen};
use crate::error::FitError;
use crate::model::{Kind, Model, template};
use crate::observed::{Observed, kept_back};
use crate::search::{Problem, Solution};
use crate::start::model_of;

/// Fewest points of a fit.
const POINTS_MIN: usize = 8;
/// Sets of slopes for each alternative, and for the best of them.
const ROUNDS_FIRST: usize = 3;
const ROUNDS: usize = 6;
/// A point that is missed by more than this share, and more than three times the usual, is odd.
const ODD: f64 = 0.1;

/// A point that the medium misses.
#[derive(Clone, Debug, PartialEq)]
pub struct Missed {
    /// Profile and intensity.
    pub label: String,
    /// Measured rate, I/Os per second.
    pub measured: f64,
    /// Emulated.
    pub emulated: f64,
    /// Whether it was kept back from the fit.
    pub kept_back: bool,
}

impl Missed {
    /// Emulated over measured, less one.
    pub fn error(&self) -> f64 {
        self.emulated / self.measured - 1.0
    }
}

/// A medium as fitted.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Of which kind.
    pub kind: Kind,
    /// Every parameter of the medium: name, value, where from.
    pub parameters: Vec<(String, f64, String)>,
    /// The same of the computer, where it was fitted.
    pub computer: Vec<(String, f64, String)>,
    /// How well the points determine each free parameter.
    pub determined: Vec<Determined>,
    /// What of the parameters is not known: see [`qdepth_media::Known::direction`].
    pub directions: Vec<BTreeMap<String, f64>>,
    /// Every point: measured and emulated.
    pub points: Vec<Missed>,
    /// Those that the medium cannot explain.
    pub unexplained: Vec<Missed>,
    /// Loads that would teach most, the best first.
    pub teaches: Vec<Teaches>,
    /// Root mean square error of the points kept back, as a logarithm.
    pub error: f64,
    /// What of it is that of the parameters.
    pub of_parameters: f64,
}

impl Fitted {
    /// Mean error of the points that were kept back, or of the others, as a share.
    pub fn mean_error(&self, kept_back: bool) -> f64 {
        let errors: Vec<f64> = self
            .points
            .iter()
            .filter(|point| point.kept_back == kept_back)
            .map(|point| point.error().abs())
            .collect();
        errors.iter().sum::<f64>() / errors.len().max(1) as f64
    }

    /// How many points were kept back.
    pub fn kept_back(&self) -> usize {
        self.points.iter().filter(|point| point.kept_back).count()
    }
}

/// Fits a medium of a kind; without one, the kind whose kept-back points are met best.
///
/// # Errors
/// Where there are too few points, no medium answers them, or `stop` was set.
pub fn fit(
    observed: &[Observed],
    kind: Option<Kind>,
    capacity_bytes: u64,
    stop: &AtomicBool,
) -> Result<Fitted, FitError> {
    let back = kept_back(observed);
    if observed.len() < POINTS_MIN || !back.contains(&true) {
        return Err(FitError::TooFew { have: observed.len(), need: POINTS_MIN });
    }
    let of = |kind| of_kind(observed, &back, kind, capacity_bytes, stop);
    if let Some(kind) = kind {
        return of(kind);
    }
    let mut best: Option<Fitted> = None;
    let mut why = String::new();
    for kind in Kind::ALL {
        match of(kind) {
            Ok(one) if best.as_ref().is_none_or(|best| one.error < best.error) => best = Some(one),
            Ok(_) => {}
            Err(FitError::Interrupted) => return Err(FitError::Interrupted),
            Err(error) => why = error.to_string(),
        }
    }
    best.ok_or(FitError::NoMedium { kind: "any".to_owned(), why })
}

fn of_kind(
    observed: &[Observed],
    back: &[bool],
    kind: Kind,
    capacity_bytes: u64,
    stop: &AtomicBool,
) -> Result<Fitted, FitError> {
    let pick = |wanted: bool| -> Vec<Observed> {
        let each = observed.iter().zip(back).filter(|(_, back)| **back == wanted);
        each.map(|(one, _)| one.clone()).collect()
    };
    let (used, held) = (pick(false), pick(true));
    let model = model_of(kind, &used);
    let measured: Vec<Seen> = used.iter().map(Seen::from_observed).collect();
    let spread: Vec<f64> = used.iter().map(|one| one.spread).collect();
    let start: Vec<f64> = model.free.iter().map(|free| libm::log(free.start)).collect();
    let text = template(kind, &model, capacity_bytes);
    let emulator = Emulator::new(&text, &used, kind.pace(), stop)?;
    let problem = |alternative| Problem {
        emulator: &emulator,
        model: &model,
        alternative,
        measured: &measured,
        spread: &spread,
        drawn: kind.is_drawn(),
        pace: kind.pace(),
    };
    let mut best: Option<(usize, Solution)> = None;
    for (place, alternative) in model.alternatives.iter().enumerate() {
        let solution = problem(alternative).search(start.clone(), ROUNDS_FIRST)?;
        if best.as_ref().is_none_or(|(_, best)| solution.loss < best.loss) {
            best = Some((place, solution));
        }
    }
    let Some((place, solution)) = best else {
        return Err(FitError::NoMedium { kind: kind.to_string(), why: "no alternative".into() });
    };
    let problem = problem(&model.alternatives[place]);
    let solution = problem.search(solution.ln, ROUNDS)?;
    let solution = problem.shaken(solution)?;
    let solution = problem.search(solution.ln, ROUNDS)?;
    finished(&problem, &solution, kind, &used, &held)
}

/// What a search found, with everything that is said of it.
fn finished(
    problem: &Problem<'_>,
    solution: &Solution,
    kind: Kind,
    used: &[Observed],
    held: &[Observed],
) -> Result<Fitted, FitError> {
    let values = problem.values(&solution.ln);
    let emulated = |observed: &[Observed]| -> Result<Vec<f64>, FitError> {
        let emulator = problem.emulator.under(observed, problem.pace);
        Ok(emulator.seen(&values)?.iter().map(|seen| libm::exp(seen.rate)).collect())
    };
    let mut points = Vec::new();
    for (observed, kept_back) in [(used, false), (held, true)] {
        for (one, emulated) in observed.iter().zip(emulated(observed)?) {
            let emulated = if emulated.is_finite() { emulated } else { 0.0 };
            points.push(Missed { label: one.label(), measured: one.io_per_s, emulated, kept_back });
        }
    }
    let slopes = problem.slopes(solution)?;
    // What residuals scatter by is never less than what a point can be known to.
    let degrees = solution.residuals.len().saturating_sub(slopes.len()).max(4) as f64;
    let squares: f64 = solution.residuals.iter().map(|r| r.clamp(-5.0, 5.0).powi(2)).sum();
    let scatter = (squares / degrees).sqrt().max(1.0);
    let information = problem.information(solution, &slopes, scatter);
    let error = root_mean_square(&points, true);
    let usual = root_mean_square(&points, false).min(error);
    let odd = |point: &&Missed| {
        let error = libm::log(point.emulated.max(1e-9) / point.measured).abs();
        error > ODD && error > 3.0 * usual.min(ODD)
    };
    let (parameters, computer) = numbers(problem.model, &values);
    Ok(Fitted {
        kind,
        parameters,
        computer,
        determined: determined(problem, solution, &information, scatter)?,
        directions: directions(problem, solution, &information),
        unexplained: points.iter().filter(odd).cloned().collect(),
        points,
        teaches: teaches(used, problem, solution, &information)?,
        error,
        of_parameters: of_parameters(held, problem, solution, &information)?,
    })
}

fn root_mean_square(points: &[Missed], kept_back: bool) -> f64 {
    let squares: Vec<f64> = points
        .iter()
        .filter(|point| point.kept_back == kept_back)
        .map(|point| libm::log(point.emulated.max(1e-9) / point.measured).powi(2))
        .collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

type Numbers = Vec<(String, f64, String)>;

/// The numbers of the medium, and those of its computer.
fn numbers(model: &Model, values: &BTreeMap<String, f64>) -> (Numbers, Numbers) {
    let (mut medium, mut computer) = (Numbers::new(), Numbers::new());
    for free in &model.free {
        let value = values.get(free.name).copied().unwrap_or(free.start);
        let into = if free.computer { &mut computer } else { &mut medium };
        into.push((free.name.to_owned(), value, "fitted".to_owned()));
    }
    for fixed in &model.fixed {
        let into = if fixed.computer { &mut computer } else { &mut medium };
        into.push((fixed.name.to_owned(), fixed.value, fixed.from.to_owned()));
    }
    let known = model.free.iter().map(|f| f.name).chain(model.fixed.iter().map(|f| f.name));
    let known: Vec<&str> = known.collect();
    for (name, value) in values.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        medium.push((name.clone(), *value, "fitted: best of the alternatives".to_owned()));
    }
    (medium, computer)
}
