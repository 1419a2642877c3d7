//! Emulates the measured points with trial parameters. Each point keeps its load and seed, and its
//! length follows from its rate.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{OpenMedia, TargetExpression};
use qdepth_workload::Point;

use crate::fit::error::FitError;
use crate::fit::observed::{Observed, late_ns};

/// Minimum number of requests per point and per slot. Trials differ only by their parameters.
const REQUESTS: u64 = 2500;
const ROUNDS: u64 = 10;
/// The same for a disk, where each request is expensive: a disk compares its whole queue.
const REQUESTS_DEAR: u64 = 600;
const ROUNDS_DEAR: u64 = 4;
/// Minimum number of requests before the window.
const WARM_UP: u64 = 1500;
const WARM_UP_DEAR: u64 = 100;
/// Requests that are not counted, as a multiple of those that fill the write buffers: buffers drain
/// while they fill.
const FILLINGS: u64 = 2;
/// Maximum number of filling requests, reached by loads with few writes.
const FILLING_MAX: f64 = 20_000.0;
/// Maximum number of requests if time is part of the load (credits).
const REQUESTS_MAX: f64 = 150_000.0;
/// Name of the trial model in target expressions.
pub(crate) const NAME: &str = "fitted.toml";

/// Logarithms of the rate and the mean service times of a point; NaN if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogResult {
    pub(crate) rate: f64,
    pub(crate) read: f64,
    pub(crate) write: f64,
    /// 90th percentile of all service times, as a logarithm.
    pub(crate) late: f64,
}

impl LogResult {
    const NOTHING: Self = Self { rate: f64::NAN, read: f64::NAN, write: f64::NAN, late: f64::NAN };

    pub(crate) fn from_observed(observed: &Observed) -> Self {
        let ln = |value: Option<f64>| value.map_or(f64::NAN, libm::log);
        Self {
            rate: libm::log(observed.io_per_s),
            read: ln(observed.read_ns),
            write: ln(observed.write_ns),
            late: ln(observed.late_ns),
        }
    }
}

/// Length of an emulated load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Long enough for a fixed number of requests.
    Ordinary,
    /// Fewer requests, because each is expensive to emulate.
    Dear,
    /// The measured time, which is part of the load.
    Timed,
}

/// Emulates a set of points with trial parameters.
pub(crate) struct Emulator<'s> {
    medium: TargetExpression,
    points: Vec<Point>,
    stop: &'s AtomicBool,
}

impl<'s> Emulator<'s> {
    /// Emulator of the device model in `text`, for these points.
    pub(crate) fn new(
        text: &str,
        observed: &[Observed],
        pace: Pace,
        stop: &'s AtomicBool,
    ) -> Result<Self, FitError> {
        let medium =
            TargetExpression::read_with(&format!("media:{NAME}"), &|_| Ok(text.to_owned()))?;
        let points = shortened_all(&medium, observed, pace);
        Ok(Self { medium, points, stop })
    }

    /// Emulator of the same device for other points.
    pub(crate) fn under(&self, observed: &[Observed], pace: Pace) -> Self {
        let points = shortened_all(&self.medium, observed, pace);
        Self { medium: self.medium.clone(), points, stop: self.stop }
    }

    /// Result of every point with these parameter values.
    pub(crate) fn results(
        &self,
        values: &BTreeMap<String, f64>,
    ) -> Result<Vec<LogResult>, FitError> {
        let mut medium = self.medium.clone();
        for (name, value) in values {
            medium.set_parameter(name, *value);
        }
        let mut all = vec![LogResult::NOTHING; self.points.len()];
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = self.points.len().div_ceil(threads).max(1);
        let some = |points: &[Point], out: &mut [LogResult]| {
            for (point, out) in points.iter().zip(out) {
                *out = emulate_load(&medium, point, self.stop).unwrap_or(LogResult::NOTHING);
            }
        };
        std::thread::scope(|scope| {
            for (points, out) in self.points.chunks(share).zip(all.chunks_mut(share)) {
                scope.spawn(|| some(points, out));
            }
        });
        if self.stop.load(Ordering::Relaxed) {
            return Err(FitError::Interrupted);
        }
        Ok(all)
    }
}

fn shortened_all(medium: &TargetExpression, observed: &[Observed], pace: Pace) -> Vec<Point> {
    let point = |load: &Observed| {
        shortened(&load.point, load.io_per_s, pace, filling(medium, NAME, &load.point))
    };
    observed.iter().map(point).collect()
}

/// Number of requests that fill the write buffers of the drives, so that writes wait for dies;
/// until then small writes can be many times faster. In addition to the buffers' contents, each
/// request in flight may have completed a waiting chunk.
pub(crate) fn filling(medium: &TargetExpression, name: &str, point: &Point) -> u64 {
    let value = |parameter| medium.parameter(name, parameter);
    let Some((chunks, kib)) = value("buffer_chunks").zip(value("die_chunk_kib")) else { return 0 };
    if !point.writes() {
        return 0;
    }
    let size = point.block_size.mean();
    let chunk = kib * 1024.0;
    let held = chunks * medium.drives().max(1) as f64 * chunk;
    let waits = f64::from(point.in_flight_max()) * chunk.max(size);
    ((held + waits) / size / point.write_share().max(0.01)).min(FILLING_MAX) as u64
}

/// The load with the length that its rate needs, at offset 0, and a warm-up that covers `filling`
/// requests.
pub(crate) fn shortened(point: &Point, io_per_s: f64, pace: Pace, filling: u64) -> Point {
    let mut point = point.clone();
    point.area.offset_bytes = 0;
    point.delay_ns = 0;
    point.stop.until = None;
    point.stop.steady = None;
    point.stop.samples = None;
    point.stop.bytes = 0;
    let in_flight = u64::from(point.in_flight_max());
    let ns = |requests: f64| (requests / io_per_s.max(1e-3) * 1e9) as u64;
    let (least, rounds, before) = match pace {
        Pace::Timed => {
            point.warm_up_ns = point.warm_up_ns.min(ns(REQUESTS_MAX));
            point.stop.duration_ns = point.stop.duration_ns.min(ns(REQUESTS_MAX));
            return point;
        }
        Pace::Ordinary => (REQUESTS, ROUNDS, WARM_UP),
        Pace::Dear => (REQUESTS_DEAR, ROUNDS_DEAR, WARM_UP_DEAR),
    };
    point.warm_up_ns = ns(before.max(in_flight * 3).max(filling * FILLINGS) as f64);
    point.stop.duration_ns = ns(least.max(in_flight * rounds) as f64);
    point
}

/// Emulated rate and service times of a load; `None` if it cannot be served or was interrupted.
pub(crate) fn emulate_load(
    medium: &TargetExpression,
    point: &Point,
    stop: &AtomicBool,
) -> Option<LogResult> {
    let mut target = medium.open(&OpenMedia::for_point(point)).ok()?;
    let outcome = target.measure(point, stop)?;
    let rate = outcome.completed() as f64 / outcome.duration.as_secs_f64();
    let mean = |side: usize| {
        let times = &outcome.directions[side].latency;
        let mean = times.sum() as f64 / times.count() as f64;
        if mean.is_finite() { libm::log(mean) } else { f64::NAN }
    };
    let mut all = outcome.directions[0].latency.clone();
    all.merge(&outcome.directions[1].latency);
    let late = late_ns(&all).map_or(f64::NAN, libm::log);
    (rate > 0.0).then(|| LogResult { rate: libm::log(rate), read: mean(0), write: mean(1), late })
}
