//! The fit: a short search of every alternative, a full search of the best one, and the error at
//! held-out points.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::fit::advise::{
    Determined, InformativePoint, NORMAL_95, determined, directions, informative_points,
    parameter_error,
};
use crate::fit::emulate::{Emulator, LogResult};
use crate::fit::error::FitError;
use crate::fit::model::{Kind, Model, template};
use crate::fit::observed::{Observed, held_out_folds};
use crate::fit::search::{Problem, ROUNDS, ROUNDS_FIRST, Solution};
use crate::fit::start::model_of;

/// Minimum number of points for a fit.
const POINTS_MIN: usize = 8;
/// Minimum decrease of the loss per parameter of an optional mechanism. By chance alone, an
/// uninformative parameter decreases it by more in about one fit of 200.
const ASKED_FOR: f64 = 4.0;
/// Relative error above which a point is unexplained, if the error is also more than three times
/// the usual one.
const UNEXPLAINED_ERROR: f64 = 0.1;

/// Measured and emulated rate of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointError {
    /// Profile and queue depth.
    pub label: String,
    /// Measured rate, I/Os per second.
    pub measured: f64,
    /// Emulated rate, I/Os per second.
    pub emulated: f64,
    /// True if the point was held out of the fit.
    pub held_out: bool,
}

impl PointError {
    /// Relative error: emulated ÷ measured − 1.
    pub fn error(&self) -> f64 {
        self.emulated / self.measured - 1.0
    }
}

/// Fitted device model with its diagnostics.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Kind of device.
    pub kind: Kind,
    /// Parameters of the device: name, value, source.
    pub parameters: Vec<(String, f64, String)>,
    /// Parameters of the host computer: name, value, source; empty if they were not fitted.
    pub computer: Vec<(String, f64, String)>,
    /// Determination of each free parameter by the points.
    pub determined: Vec<Determined>,
    /// Uncertain directions of the parameters: see [`crate::ErrorModel::direction`].
    pub directions: Vec<BTreeMap<String, f64>>,
    /// All points, fitted and held-out.
    pub points: Vec<PointError>,
    /// Points that the model does not explain, out of `points`.
    pub unexplained: Vec<PointError>,
    /// Most informative unmeasured loads, best first.
    pub informative_points: Vec<InformativePoint>,
    /// Root mean square of ln(emulated ÷ measured) at the held-out points.
    pub error: f64,
    /// Part of `error` that is due to uncertain parameters.
    pub parameter_error: f64,
}

impl Fitted {
    /// Mean absolute relative error of the held-out points, or of the fitted ones.
    pub fn mean_error(&self, held_out: bool) -> f64 {
        let errors: Vec<f64> = self
            .points
            .iter()
            .filter(|point| point.held_out == held_out)
            .map(|point| point.error().abs())
            .collect();
        errors.iter().sum::<f64>() / errors.len().max(1) as f64
    }

    /// True if the error was cross-validated: each held-out point is also a fitted one.
    pub(crate) fn is_cross_validated(&self) -> bool {
        let fitted =
            |label: &str| self.points.iter().any(|point| !point.held_out && point.label == label);
        self.points.iter().any(|point| point.held_out && fitted(&point.label))
    }

    /// Number of held-out points.
    pub fn held_out(&self) -> usize {
        self.points.iter().filter(|point| point.held_out).count()
    }
}

/// Fits a device model of a kind; without a kind, chooses the simplest one that the held-out points
/// do not distinguish from the best.
///
/// # Errors
/// If there are too few points, if no point can be held out, if no parameters fit, or if `stop` was
/// set.
pub fn fit(
    observed: &[Observed],
    kind: Option<Kind>,
    capacity_bytes: u64,
    stop: &AtomicBool,
) -> Result<Fitted, FitError> {
    let folds = held_out_folds(observed);
    let have = observed.len();
    if have < POINTS_MIN {
        return Err(FitError::TooFew { have, need: POINTS_MIN });
    }
    if folds.is_empty() {
        return Err(FitError::NoneBetween { have });
    }
    let attempt = |kind| of_kind(observed, &folds, Drive { kind, capacity_bytes, stop });
    if let Some(kind) = kind {
        return attempt(kind);
    }
    let (mut fitted, mut why) = (Vec::new(), String::new());
    for kind in Kind::ALL {
        match attempt(kind) {
            Ok(medium) => fitted.push(medium),
            Err(FitError::Interrupted) => return Err(FitError::Interrupted),
            Err(error) => why = error.to_string(),
        }
    }
    simplest(fitted).ok_or(FitError::NoMedium { kind: "any".to_owned(), why })
}

/// Simplest of the kinds whose errors on the held-out points do not differ significantly (95 %)
/// from the smallest, and whose errors on the fitted points are no larger. The logarithms of two
/// root mean squares of n normal errors each differ by chance with a deviation of 1 ÷ √n (delta
/// method, large n). Seven points of a throttled device could not distinguish 17 parameters of
/// flash (0.42 %) from five of a volume (0.61 %), and the latter predicted other loads with a
/// quarter of the error.
fn simplest(fitted: Vec<Fitted>) -> Option<Fitted> {
    let best = fitted.iter().min_by(|a, b| a.error.total_cmp(&b.error))?;
    let by_chance = (NORMAL_95 / (best.held_out().max(1) as f64).sqrt()).exp();
    let (held_out, of_fitted) = (best.error * by_chance, best.mean_error(false));
    let as_good = fitted
        .into_iter()
        .filter(|medium| medium.error <= held_out && medium.mean_error(false) <= of_fitted);
    // An empty list means that the information matrix is singular: rank the kind last.
    let parameters = |medium: &Fitted| match medium.determined.len() {
        0 => usize::MAX,
        some => some,
    };
    as_good.min_by(|a, b| parameters(a).cmp(&parameters(b)).then(a.error.total_cmp(&b.error)))
}

/// Drive to fit, and its kind.
#[derive(Clone, Copy)]
struct Drive<'s> {
    kind: Kind,
    capacity_bytes: u64,
    stop: &'s AtomicBool,
}

/// Fitted points, held-out points, and the use of cross-validation.
#[derive(Clone, Copy)]
struct Loads<'o> {
    used: &'o [Observed],
    held_out: &'o [Observed],
    is_cross_validated: bool,
}

fn of_kind(
    observed: &[Observed],
    folds: &[Vec<bool>],
    drive: Drive<'_>,
) -> Result<Fitted, FitError> {
    let pick = |back: &[bool], wanted: bool| -> Vec<Observed> {
        let each = observed.iter().zip(back).filter(|(_, back)| **back == wanted);
        each.map(|(load, _)| load.clone()).collect()
    };
    if let [back] = folds {
        let (used, held_out) = (pick(back, false), pick(back, true));
        return search_and(&used, drive, |problem, solution| {
            let kept = point_errors(problem, solution, &held_out, true)?;
            let loads = Loads { used: &used, held_out: &held_out, is_cross_validated: false };
            summarize(problem, solution, drive.kind, loads, kept)
        });
    }
    // Conservative: the model of a fold was fitted to fewer points than the final one.
    let (mut kept, mut all_held) = (Vec::new(), Vec::new());
    for back in folds {
        let (used, held_out) = (pick(back, false), pick(back, true));
        kept.extend(search_and(&used, drive, |p, solution| {
            point_errors(p, solution, &held_out, true)
        })?);
        all_held.extend(held_out);
    }
    search_and(observed, drive, |problem, solution| {
        let loads = Loads { used: observed, held_out: &all_held, is_cross_validated: true };
        summarize(problem, solution, drive.kind, loads, kept)
    })
}

/// Searches the alternatives briefly and the best one fully, then passes the solution to `then`.
fn search_and<T>(
    used: &[Observed],
    drive: Drive<'_>,
    then: impl FnOnce(&Problem<'_>, &Solution) -> Result<T, FitError>,
) -> Result<T, FitError> {
    let Drive { kind, capacity_bytes, stop } = drive;
    let model = model_of(kind, used);
    let measured: Vec<LogResult> = used.iter().map(LogResult::from_observed).collect();
    let spread: Vec<f64> = used.iter().map(|load| load.spread).collect();
    let text = template(kind, &model, capacity_bytes);
    let emulator = Emulator::new(&text, used, kind.pace(), stop)?;
    let none = BTreeMap::new();
    let problem = Problem {
        emulator: &emulator,
        model: &model,
        alternative: &none,
        measured: &measured,
        spread: &spread,
        drawn: kind.is_drawn(),
        pace: kind.pace(),
    };
    let (mut problem, mut solution) = best_of(problem)?;
    // Most drives lack the optional mechanism, so it is tried only if the fit without it is poor.
    let (more, on_path) = (model.with_mechanism(), on_path(problem.alternative));
    if !model.mechanism.is_empty() && solution.is_off() {
        let asked = solution.loss - ASKED_FOR * model.mechanism.len() as f64;
        let found = more.with_added_starts(&solution.ln);
        for alternative in [problem.alternative, &on_path] {
            let other = Problem { model: &more, alternative, ..problem };
            let trial = other.best_from([found.clone(), other.fresh()])?;
            if trial.loss < asked.min(solution.loss) {
                (problem, solution) = (other, trial);
            }
        }
    }
    let solution = problem.escape_local_optimum(solution)?;
    let solution = problem.search(solution.ln, ROUNDS)?;
    then(&problem, &solution)
}

/// Searches each alternative briefly and the best one fully.
fn best_of(problem: Problem<'_>) -> Result<(Problem<'_>, Solution), FitError> {
    let mut best: Option<(Problem<'_>, Solution)> = None;
    for alternative in &problem.model.alternatives {
        let attempt = Problem { alternative, ..problem };
        let trial = attempt.search(attempt.fresh(), ROUNDS_FIRST)?;
        if best.as_ref().is_none_or(|(_, best)| trial.loss < best.loss) {
            best = Some((attempt, trial));
        }
    }
    let Some((winner, solution)) = best else {
        let why = "no alternative".to_owned();
        return Err(FitError::NoMedium { kind: "any".to_owned(), why });
    };
    let solution = winner.search(solution.ln, ROUNDS)?;
    rechunked(winner, solution)
}

/// Retries with the other chunk sizes, starting from the solution: after a few rounds far from the
/// optimum, a wrong size can be ahead of the right one.
fn rechunked<'p>(
    found: Problem<'p>,
    solution: Solution,
) -> Result<(Problem<'p>, Solution), FitError> {
    let Some(kib) = found.chunk_kib() else { return Ok((found, solution)) };
    let rule = found.alternative.get("ahead_when_busy");
    let (mut best, mut lowest) = (found, solution.clone());
    for alternative in &found.model.alternatives {
        let attempt = Problem { alternative, ..found };
        let same = alternative.get("ahead_when_busy") == rule;
        let Some(other) = attempt.chunk_kib().filter(|other| same && (*other - kib).abs() > 0.5)
        else {
            continue;
        };
        let start = attempt.model.rechunked(&solution.ln, other / kib);
        let trial = attempt.search(start, ROUNDS)?;
        if trial.loss < lowest.loss {
            (best, lowest) = (attempt, trial);
        }
    }
    Ok((best, lowest))
}

/// The alternative with garbage collection that occupies the shared data path and not only the
/// dies, typical of drives whose host or single processor translates addresses.
fn on_path(alternative: &BTreeMap<&'static str, f64>) -> BTreeMap<&'static str, f64> {
    let mut alternative = alternative.clone();
    alternative.insert("collection_on_path", 1.0);
    alternative
}

/// Compares measured and emulated rates of the points. `held_out` marks them as held out.
fn point_errors(
    problem: &Problem<'_>,
    solution: &Solution,
    observed: &[Observed],
    held_out: bool,
) -> Result<Vec<PointError>, FitError> {
    let emulator = problem.emulator.under(observed, problem.pace);
    let all = emulator.results(&problem.values(&solution.ln))?;
    let point_error = |(load, result): (&Observed, &LogResult)| {
        let emulated = libm::exp(result.rate);
        let emulated = if emulated.is_finite() { emulated } else { 0.0 };
        PointError { label: load.label(), measured: load.io_per_s, emulated, held_out }
    };
    Ok(observed.iter().zip(&all).map(point_error).collect())
}

/// Fitted model with parameters, uncertainties and errors, from the solution of a search.
fn summarize(
    problem: &Problem<'_>,
    solution: &Solution,
    kind: Kind,
    loads: Loads<'_>,
    kept: Vec<PointError>,
) -> Result<Fitted, FitError> {
    let values = problem.values(&solution.ln);
    let Loads { used, held_out, is_cross_validated } = loads;
    let mut points = point_errors(problem, solution, used, false)?;
    points.extend(kept);
    let slopes = problem.slopes(solution)?;
    // Residuals are in standard errors of their points, so their scatter is at least 1.
    let degrees = solution.residuals.len().saturating_sub(slopes.len()).max(4) as f64;
    let squares: f64 = solution.residuals.iter().map(|r| r.clamp(-5.0, 5.0).powi(2)).sum();
    let scatter = (squares / degrees).sqrt().max(1.0);
    let information = problem.information(solution, &slopes, scatter);
    let error = if is_cross_validated { robust(&points) } else { root_mean_square(&points, true) };
    let usual = root_mean_square(&points, false).min(error);
    let odd = |point: &&PointError| {
        let error = libm::log(point.emulated.max(1e-9) / point.measured).abs();
        error > UNEXPLAINED_ERROR && error > 3.0 * usual.min(UNEXPLAINED_ERROR)
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
        informative_points: informative_points(used, problem, solution, &information)?,
        error,
        parameter_error: parameter_error(held_out, problem, solution, &information)?,
    })
}

/// Root mean square error of cross-validated points, each error limited to three times the robust
/// standard deviation (1.48 × median). A point that alone shows some effect has a large error in
/// the fold that holds it out, although the final fit includes it.
fn robust(points: &[PointError]) -> f64 {
    let distance = |point: &PointError| libm::log(point.emulated.max(1e-9) / point.measured).abs();
    let kept = points.iter().filter(|point| point.held_out);
    let mut errors: Vec<f64> = kept.map(distance).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
    let most = 3.0 * 1.48 * median;
    let squares: f64 = errors.iter().map(|error| error.min(most).powi(2)).sum();
    (squares / errors.len().max(1) as f64).sqrt().max(root_mean_square(points, false))
}

fn root_mean_square(points: &[PointError], held_out: bool) -> f64 {
    let squares: Vec<f64> = points
        .iter()
        .filter(|point| point.held_out == held_out)
        .map(|point| libm::log(point.emulated.max(1e-9) / point.measured).powi(2))
        .collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

type Numbers = Vec<(String, f64, String)>;

/// Parameters of the device and of its host computer, each with its source.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A fit with this many parameters and these relative errors at held-out and fitted points.
    fn fitted(kind: Kind, parameters: usize, held_out: f64, of_fitted: f64) -> Fitted {
        let parameter = |at: usize| Determined {
            name: format!("parameter {at}"),
            value: 1.0,
            interval: (0.9, 1.1),
            how: "well",
        };
        let point_error = |at: usize, by: f64, held_out| PointError {
            label: format!("load at {at}"),
            measured: 1000.0,
            emulated: 1000.0 * (1.0 + by),
            held_out,
        };
        let fitted = (0..38).map(|at| point_error(at, of_fitted, false));
        Fitted {
            kind,
            parameters: Vec::new(),
            computer: Vec::new(),
            determined: (0..parameters).map(parameter).collect(),
            directions: Vec::new(),
            points: fitted.chain((38..45).map(|at| point_error(at, held_out, true))).collect(),
            unexplained: Vec::new(),
            informative_points: Vec::new(),
            error: held_out,
            parameter_error: 0.0,
        }
    }

    fn chosen(fitted: Vec<Fitted>) -> Kind {
        simplest(fitted).unwrap().kind
    }

    #[test]
    fn indistinguishable_fits_select_the_kind_with_fewer_parameters() {
        let flash = || fitted(Kind::Flash, 17, 0.0042, 0.045);
        assert_eq!(chosen(vec![flash(), fitted(Kind::Volume, 5, 0.0061, 0.029)]), Kind::Volume);
        // Two equal errors of seven points differ by chance by a factor of up to e^(1.96 ÷ √7) =
        // 2.1.
        assert_eq!(chosen(vec![flash(), fitted(Kind::Volume, 5, 0.0093, 0.029)]), Kind::Flash);
        assert_eq!(chosen(vec![flash(), fitted(Kind::Volume, 5, 0.0050, 0.050)]), Kind::Flash);
        assert_eq!(chosen(vec![flash(), fitted(Kind::Volume, 0, 0.0050, 0.029)]), Kind::Flash);
        assert_eq!(chosen(vec![flash(), fitted(Kind::Volume, 18, 0.0040, 0.029)]), Kind::Volume);
        assert!(simplest(Vec::new()).is_none());
    }
}
