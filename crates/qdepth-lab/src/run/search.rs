//! Points that a run adds to its plan: rates of an open loop, in search of the highest one at which
//! a percentile of the response time stays within its limit.

use anyhow::Result;
use qdepth_measure::Nanos;
use qdepth_record::{PointRecord, searched};
use qdepth_workload::Point;

use crate::run::begin::PreparedRun;
use crate::run::keeper::Keeper;

/// Runs the searches of a plan, one target after the other.
pub(crate) fn search(keeper: &mut Keeper<'_, '_>, mut before: Nanos) -> Result<()> {
    let (signals, ready) = (keeper.lab.signals, keeper.ready);
    if ready.plan.answer.is_empty() {
        return Ok(());
    }
    let mut points = keeper.logbook.points(&ready.run.id)?;
    for base in first_of_each_target(&ready.plan.points) {
        while let Some(point) = next(&points, ready, base) {
            if signals.caught().is_some() || keeper.is_broken(base.target) {
                break;
            }
            let index = point.index;
            before += Nanos(point.length_ns());
            keeper.logbook.plan_points(&ready.run.id, index + 1)?;
            points.extend(keeper.measure(&[&[point]], before)?);
        }
    }
    Ok(())
}

fn first_of_each_target(points: &[Point]) -> Vec<&Point> {
    let mut firsts: Vec<&Point> = Vec::new();
    for point in points {
        if firsts.iter().all(|first| first.target != point.target) {
            firsts.push(point);
        }
    }
    firsts
}

/// The next point of the search on a target; `None` once there is an answer.
fn next(points: &[PointRecord], ready: &PreparedRun, base: &Point) -> Option<Point> {
    let within = Nanos(ready.plan.answer_within_ns);
    let own: Vec<&PointRecord> = points.iter().filter(|p| p.target == base.target).collect();
    let (_, wanted) = searched(&ready.plan.answer, within, &own)?;
    let probe = wanted.first()?;
    let index = points.iter().map(|point| point.index + 1).max().unwrap_or_default();
    Some(base.at_rate(index, probe.rate, probe.warm_up, probe.length))
}
