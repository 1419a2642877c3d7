//! Prediction for a fitted model, or an array of it, under a load: value, 95 % CI and basis.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::known::LoadCharacteristics;
use crate::{Checked, ErrorModel, TargetExpression, Unmeasured};
use qdepth_measure::Seed;
use qdepth_workload::Point;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::fit::emulate::{LogResult, Pace, emulate_load, filling, shortened};
use crate::fit::error::FitError;
use crate::fit::model::is_whole;

/// Probability per night that an unchanged drive is reported as slow.
const FALSE_ALARMS: f64 = 0.01;
/// Number of requests in the trial emulation that estimates the rate.
const GUESS: u64 = 300;
/// Time limit of the trial emulation, ns of virtual time.
const GUESS_NS: u64 = 120_000_000_000;
/// Number of seeds for a sequential load, whose only random choice is its start. Streams with
/// read-ahead can lock into a slow or a fast pattern: three of 100 random flash drives had two such
/// rates, a third apart, and a single seed shows only one of them.
const SEEDS: u64 = 8;
/// Maximum step along a direction, as a logarithm.
const STEP_MAX: f64 = 1.5;
/// Maximum contribution of one parameter direction to the CI, as a logarithm.
const DIRECTION_MAX: f64 = 1.0;

/// Standard deviation of the rate's logarithm if the model is based only on a data sheet or a
/// class: a factor of two. This is an assumption; the deviation of drives from their data sheets
/// was not measured.
const DATA_SHEET_DEVIATION: f64 = std::f64::consts::LN_2;
/// Degrees of freedom of an assumed deviation: practically a normal distribution.
const ASSUMED_DEGREES: f64 = 1e6;

/// Basis of a prediction.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Basis {
    /// The load is within the measured range.
    #[default]
    Inside,
    /// The load is outside the measured range: the CI may not hold.
    Extrapolated(Vec<Unmeasured>),
    /// No such load was measured: there is no prediction.
    NotKnown(Vec<Unmeasured>),
    /// Models based on data sheets or classes, by name: their error was never measured, and the CI
    /// is assumed.
    Assumed(Vec<(String, Checked)>),
}

/// Prediction for a load. EMULATED.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Reads and writes completed per second.
    pub io_per_s: f64,
    /// Bytes read and written per second.
    pub bytes_per_s: f64,
    /// Mean service time of reads and writes, ns.
    pub mean_ns: f64,
    /// Standard deviation of the rate's logarithm, from the error at held-out points and the
    /// uncertainty of the parameters.
    pub deviation: f64,
    /// Degrees of freedom of `deviation`.
    pub degrees: f64,
    /// Standard deviation of the logarithm between days, in addition to `deviation`, for
    /// comparisons with a measurement of another day.
    pub day_to_day: f64,
    /// Basis of the prediction.
    pub basis: Basis,
}

impl Prediction {
    /// Rates and service time of an emulated load, as exact figures.
    fn exact(result: &LogResult, point: &Point) -> Self {
        let io_per_s = libm::exp(result.rate);
        let part = |ln: f64, share: f64| if ln.is_nan() { 0.0 } else { libm::exp(ln) * share };
        let (read, write) = (point.read_share, 1.0 - point.read_share);
        Self {
            io_per_s,
            bytes_per_s: io_per_s * point.block_size.mean(),
            mean_ns: part(result.read, read) + part(result.write, write),
            ..Self::default()
        }
    }

    /// 95 % CI of the rate, I/Os per second.
    pub fn interval(&self) -> (f64, f64) {
        let far = libm::exp(student(0.975, self.degrees) * self.deviation);
        (self.io_per_s / far, self.io_per_s * far)
    }
}

/// Alarm threshold, I/Os per second: in a night of `points` points, an unchanged drive has a point
/// below it with a probability of 1 %. 0 if the prediction would be an extrapolation.
pub fn alarm_threshold(prediction: &Prediction, points: usize) -> f64 {
    if matches!(prediction.basis, Basis::Extrapolated(_) | Basis::NotKnown(_)) {
        return 0.0;
    }
    let quantile = 1.0 - FALSE_ALARMS / points.max(1) as f64;
    let deviation = prediction.deviation.hypot(prediction.day_to_day);
    // Errors repeat every night and are correlated within a profile, so half of the degrees of
    // freedom count for the tails.
    prediction.io_per_s / libm::exp(student(quantile, prediction.degrees / 2.0) * deviation)
}

fn student(quantile: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees.max(1.0)).map_or(f64::MAX, |t| t.inverse_cdf(quantile))
}

/// Predicts a load on a target whose models are all fitted, or are all based on data sheets or
/// classes. `None` for any other target.
///
/// # Errors
/// If the target cannot serve the load, or `stop` was set.
pub fn predict(
    medium: &TargetExpression,
    point: &Point,
    stop: &AtomicBool,
) -> Result<Option<Prediction>, FitError> {
    let (fitted, others) = medium.error_models();
    let Some((name, known)) = fitted.first().filter(|_| !others) else {
        return assumed(medium, point, stop);
    };
    let mut basis = basis(known, medium, point);
    if fitted.len() > 1 && basis == Basis::Inside {
        basis = Basis::Extrapolated(vec![Unmeasured::SeveralMedia]);
    }
    if matches!(basis, Basis::NotKnown(_)) {
        return Ok(Some(Prediction { degrees: 1.0, basis, ..Prediction::default() }));
    }
    let timed = medium.parameter(name, "credits").is_some_and(|credits| credits > 0.0);
    let pace = if timed { Pace::Timed } else { Pace::Ordinary };
    let (short, center) = emulated(medium, name, point, pace, stop)?;
    let error = fitted.iter().map(|(_, known)| known.error.powi(2)).fold(0.0, f64::max);
    let mut parameter_variance = 0.0;
    for direction in &known.direction {
        let value = |parameter: &String| medium.parameter(name, parameter);
        let times = whole_steps(direction, &value);
        let mut moved_medium = medium.clone();
        for (parameter, step) in direction {
            if let Some(value) = value(parameter) {
                let to = value * libm::exp(step * times);
                let to = if is_whole(parameter) { to.round().max(1.0) } else { to };
                moved_medium.set_parameter(parameter, to);
            }
        }
        let moved = emulate_load(&moved_medium, &short, stop)
            .map_or(0.0, |result| result.rate - center.rate);
        let moved = moved / times;
        parameter_variance += moved.clamp(-DIRECTION_MAX, DIRECTION_MAX).powi(2);
    }
    let (center, apart) = over_seeds(medium, &short, center, stop);
    if stop.load(Ordering::Relaxed) {
        return Err(FitError::Interrupted);
    }
    // The error at held-out points already includes the uncertainty of the parameters there. Of 72
    // drives of four kinds, 93 to 97 % were inside the CI with this correction, 97 to 100 % with
    // the plain sum.
    let parameter_variance = (parameter_variance - known.of_parameters.powi(2)).max(0.0);
    // The rates of all seeds are taken as the range of ± 2 standard deviations.
    let variance = error + parameter_variance + (apart / 2.0).powi(2);
    Ok(Some(Prediction {
        deviation: variance.sqrt(),
        degrees: f64::from(known.held_out),
        day_to_day: known.day_to_day,
        basis,
        ..Prediction::exact(&center, point)
    }))
}

/// Median result over all seeds, and the largest deviation of one seed, as a logarithm. A load with
/// random addresses covers all phases: its result is `center`, with deviation 0.
fn over_seeds(
    medium: &TargetExpression,
    short: &Point,
    center: LogResult,
    stop: &AtomicBool,
) -> (LogResult, f64) {
    if short.random_share > 0.0 {
        return (center, 0.0);
    }
    let under = |number: u64| {
        let seed = Seed(short.seed).derive(&format!("seed {number}")).0;
        emulate_load(medium, &Point { seed, ..short.clone() }, stop)
    };
    let mut all: Vec<LogResult> = (1..SEEDS).filter_map(under).chain([center]).collect();
    all.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let middle = all[all.len() / 2];
    let far = |result: &LogResult| (result.rate - middle.rate).abs();
    (middle, all.iter().map(far).fold(0.0, f64::max))
}

/// Load shortened to the length that its rate needs, and its emulated result.
fn emulated(
    medium: &TargetExpression,
    name: &str,
    point: &Point,
    pace: Pace,
    stop: &AtomicBool,
) -> Result<(Point, LogResult), FitError> {
    let missing = || {
        if stop.load(Ordering::Relaxed) {
            return FitError::Interrupted;
        }
        let why =
            format!("{} at queue depth {} completes no I/O", point.profile, point.queue_depth);
        FitError::NoMedium { kind: medium.text().to_owned(), why }
    };
    let filling = filling(medium, name, point);
    let guess = guessed(medium, point, filling, stop).ok_or_else(missing)?;
    let short = shortened(point, guess, pace, filling);
    let result = emulate_load(medium, &short, stop).ok_or_else(missing)?;
    Ok((short, result))
}

/// Prediction for a target whose models are all based on data sheets or classes; `None` for any
/// other target.
fn assumed(
    medium: &TargetExpression,
    point: &Point,
    stop: &AtomicBool,
) -> Result<Option<Prediction>, FitError> {
    let media = medium.checked();
    if !media.iter().all(|(_, checked)| checked.is_unmeasured()) {
        return Ok(None);
    }
    let name = media.first().map_or("", |(name, _)| name);
    let (_, center) = emulated(medium, name, point, Pace::Ordinary, stop)?;
    Ok(Some(Prediction {
        deviation: DATA_SHEET_DEVIATION,
        degrees: ASSUMED_DEGREES,
        basis: Basis::Assumed(media),
        ..Prediction::exact(&center, point)
    }))
}

/// Factor for a direction such that its whole-number parameter moves by a whole step. The caller
/// divides the effect by this factor.
fn whole_steps(direction: &BTreeMap<String, f64>, value: &dyn Fn(&String) -> Option<f64>) -> f64 {
    let Some((parameter, step)) = direction.iter().find(|(name, _)| is_whole(name)) else {
        return 1.0;
    };
    let Some(from) = value(parameter) else { return 1.0 };
    let by = (from * (libm::exp(*step) - 1.0)).round();
    let by = if by.abs() < 0.5 { step.signum() } else { by };
    let by = if from + by < 1.0 { 1.0 } else { by };
    let times = libm::log((from + by) / from) / step;
    let longest = direction.values().fold(0.0_f64, |most, step| most.max(step.abs()));
    if (times * longest).abs() > STEP_MAX { 1.0 } else { times }
}

/// Rate estimated from a few requests, I/Os per second. The `filling` requests that fill write
/// buffers come first, at the rate of an initial trial.
fn guessed(
    medium: &TargetExpression,
    point: &Point,
    filling: u64,
    stop: &AtomicBool,
) -> Option<f64> {
    let mut short = shortened(point, 1.0, Pace::Ordinary, 0);
    let requests = GUESS.max(u64::from(point.in_flight_max()) * 3);
    short.warm_up_ns = 0;
    short.stop.duration_ns = GUESS_NS;
    short.stop.bytes = requests * u64::from(point.block_size.max());
    let rate =
        |short: &Point| emulate_load(medium, short, stop).map(|result| libm::exp(result.rate));
    let at_first = rate(&short)?;
    if filling == 0 {
        return Some(at_first);
    }
    short.warm_up_ns = (filling as f64 / at_first * 1e9) as u64;
    rate(&short)
}

fn basis(known: &ErrorModel, medium: &TargetExpression, point: &Point) -> Basis {
    let drives = medium.drives().max(1) as f64;
    let load = LoadCharacteristics {
        request_bytes: f64::from(point.block_size.max()),
        in_flight: (f64::from(point.in_flight_max()) / drives).max(1.0),
        area_bytes: point.area.length_bytes as f64 / drives,
        read_share: point.read_share,
        random_share: point.random_share,
    };
    let [not, mut beyond] = known.outside(&load);
    if point.offered_io_per_s().is_some() {
        beyond.push(Unmeasured::Schedule);
    }
    match (not.is_empty(), beyond.is_empty()) {
        (false, _) => Basis::NotKnown(not),
        (true, false) => Basis::Extrapolated(beyond),
        (true, true) => Basis::Inside,
    }
}
