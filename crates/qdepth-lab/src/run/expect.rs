//! Results of an emulated device for the points of a plan, for comparison: the same plan and seed,
//! in virtual time, before the first point.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use qdepth_engine::{Outcome, Shard, Target};
use qdepth_linux::keep_freed;
use qdepth_measure::Nanos;
use qdepth_media::fit::{FitError, alarm_threshold, predict};
use qdepth_media::{OpenMedia, TargetExpression};
use qdepth_record::ExpectedRecord;
use qdepth_workload::{Plan, Point};

use crate::execute::emulated::{on_all_processors, window_bytes};
use crate::failure::Usage;

/// Longest virtual time before a window. After 300 ms, a sequential stream over 1 GiB had not yet
/// reached the rhythm that the window of the run shows.
const WARM_UP: Nanos = Nanos::from_secs(1);

/// Refuses an emulated device that cannot run the points of a plan.
///
/// # Errors
/// If it is too small, or has parts with their own streams.
pub(crate) fn check_emulated_device(medium: &TargetExpression, plan: &Plan) -> Result<()> {
    let shape = medium.shape()?;
    if shape.parts > 1 {
        bail!(Usage(format!(
            "--expect {}: it has {} independent parts, but a target is a single device",
            medium.text(),
            shape.parts
        )));
    }
    let area = plan.points.iter().map(|point| point.area.length_bytes).max().unwrap_or(0);
    if area > shape.usable.length_bytes {
        bail!(Usage(format!(
            "--expect {}: it has {} bytes, but the measurement area has {area}. Use a smaller area \
             (--area)",
            medium.text(),
            shape.usable.length_bytes
        )));
    }
    Ok(())
}

/// Results of the device at every point. The loads of a step run together, each step on a new
/// device. Windows end when the rate is known within 0.5 %.
///
/// # Errors
/// If the device cannot be opened for a load.
pub(crate) fn expected(
    medium: &TargetExpression,
    plan: &Plan,
    stop: &AtomicBool,
) -> Result<Vec<ExpectedRecord>> {
    let mut groups: Vec<Vec<Point>> = Vec::new();
    for group in plan.groups() {
        let mut targets: Vec<u32> = group.iter().map(|point| point.target).collect();
        targets.dedup();
        for target in targets {
            let of_target = group.iter().filter(|point| point.target == target);
            groups.push(of_target.map(shortened).collect());
        }
    }
    let mut all = Vec::new();
    let points = plan.points.len();
    keep_freed();
    for emulated in on_all_processors(&groups, |group| emulate(medium, group, points, stop))? {
        all.extend(emulated?);
    }
    all.sort_by_key(|expected| expected.point);
    Ok(all)
}

/// The same load at the beginning of the device, only as long as its rate requires.
fn shortened(point: &Point) -> Point {
    let mut point = point.clone();
    point.area.offset_bytes = 0;
    point.warm_up_ns = point.warm_up_ns.min(WARM_UP.0);
    point.stop.until = None;
    point.stop.steady = None;
    // If a schedule offers the load, the window keeps its length.
    if point.offered_io_per_s().is_none() {
        let bytes = window_bytes(&point);
        point.stop.bytes = if point.stop.bytes == 0 { bytes } else { point.stop.bytes.min(bytes) };
    }
    point
}

/// Results of the device for the points of a group. `points` is the number of points in the plan.
fn emulate(
    medium: &TargetExpression,
    group: &[Point],
    points: usize,
    stop: &AtomicBool,
) -> Result<Vec<ExpectedRecord>> {
    let mut target = medium.open(&OpenMedia::for_points(&group.iter().collect::<Vec<_>>()))?;
    let shards: Vec<Shard<'_>> = group.iter().map(Shard::whole).collect();
    let start = target.now();
    let outcomes = target.measure_together(&shards, start, stop, &mut |_, _| {});
    if stop.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let of_group = group.iter().zip(&outcomes);
    let mut records: Vec<ExpectedRecord> =
        of_group.map(|(point, outcome)| record(medium, point, outcome)).collect();
    if let ([point], [record]) = (group, records.as_mut_slice()) {
        record.below_io_per_s = known_below(medium, point, points, stop)?;
    }
    Ok(records)
}

/// Rate below which a point is lower than expected, for a device model that was fitted to measured
/// runs; `None` for other models.
fn known_below(
    medium: &TargetExpression,
    point: &Point,
    points: usize,
    stop: &AtomicBool,
) -> Result<Option<f64>> {
    match predict(medium, point, stop) {
        Ok(predicted) => Ok(predicted.map(|predicted| alarm_threshold(&predicted, points))),
        Err(FitError::Interrupted) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn record(medium: &TargetExpression, point: &Point, outcome: &Outcome) -> ExpectedRecord {
    let seconds = outcome.duration.0 as f64 / 1e9;
    let completed = outcome.completed();
    let times: u128 = outcome.directions[..3].iter().map(|d| d.latency.sum()).sum();
    // If nothing completed, all figures are 0.
    let over = |sum: f64, by: f64| if completed > 0 && by > 0.0 { sum / by } else { 0.0 };
    ExpectedRecord {
        point: point.index,
        medium: medium.text().to_owned(),
        io_per_s: over(completed as f64, seconds),
        bytes_per_s: over(outcome.bytes() as f64, seconds),
        mean_ns: over(times as f64, completed as f64),
        below_io_per_s: None,
    }
}
