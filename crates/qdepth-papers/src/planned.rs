//! Points of a comparison that a section's plan contains. They are measured as `qdepth run` would
//! measure them, but in the shorter window of a reproduction.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::{EmulatedPoint, PointName, SectionPlan};
use anyhow::{Context, Result};
use qdepth_host::system::System;
use qdepth_lab::execute::emulated::{WARM_UP, WINDOW, measure, window_bytes};
use qdepth_lab::request::PlanRequest;
use qdepth_lab::target::prepare::ResolvedTarget;
use qdepth_lab::target::preview::{Preview, preview};
use qdepth_measure::Bytes;
use qdepth_media::TargetExpression;
use qdepth_workload::{BANDWIDTH, BASELINE, PlanFile, Point, shipped_profile_names};

use crate::figures::figures;

/// Loads that run at the same time and form one point of a comparison, with the plan's devices.
#[derive(Clone, Debug)]
pub struct Group {
    targets: Arc<Vec<TargetExpression>>,
    points: Vec<Point>,
}

/// Parser for the arguments of `qdepth run`, supplied by the command line.
pub type ReadWords = dyn Fn(&[String]) -> Result<PlanRequest>;

/// Wanted points that plans contain, with their loads. If two plans contain a point, both define it
/// equally.
///
/// # Errors
/// If a plan of the reference cannot be read: a bug.
pub fn planned(
    plans: &[SectionPlan],
    wanted: &BTreeSet<PointName>,
    read: &ReadWords,
) -> Result<BTreeMap<PointName, Group>> {
    let mut all = BTreeMap::new();
    for plan in plans {
        let of_it: Vec<&PointName> =
            wanted.iter().filter(|name| plan.columns.contains(&name.target)).collect();
        if of_it.is_empty() {
            continue;
        }
        let groups = groups(plan, &of_it, read).with_context(|| plan.command())?;
        all.extend(groups.into_iter().filter(|(name, _)| wanted.contains(name)));
    }
    Ok(all)
}

/// Groups of a plan, reduced to the wanted points.
fn groups(
    plan: &SectionPlan,
    wanted: &[&PointName],
    read: &ReadWords,
) -> Result<Vec<(PointName, Group)>> {
    let mut asked = read(&plan.run)?;
    if !asked.file.queue_depth.is_empty() {
        narrow(&mut asked, plan, wanted);
        if asked.choices.profiles.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
    }
    let Preview { plan: resolved, found, .. } = preview(&System::real(), &asked)?;
    let media = found.into_iter().filter_map(|found| match found {
        ResolvedTarget::Emulated(medium) => Some(medium),
        ResolvedTarget::Real(_) => None,
    });
    let targets = Arc::new(media.collect());
    let named = |points: &[Point]| {
        let name = name(plan, points)?;
        let points = shortened(points);
        Some((name, Group { targets: Arc::clone(&targets), points }))
    };
    Ok(resolved.groups().filter_map(named).collect())
}

/// Reduces a request to the wanted loads and queue depths. An array has the sum of its drives'
/// queue depths, so its depth is a multiple of the plan's.
fn narrow(asked: &mut PlanRequest, plan: &SectionPlan, wanted: &[&PointName]) {
    let drives = asked.targets.len() - asked.choices.arrays;
    let mut intensities = BTreeSet::new();
    for name in wanted {
        let is_array = asked.choices.arrays > 0 && plan.columns.last() == Some(&name.target);
        let times = if is_array { drives as u32 } else { 1 };
        if name.intensity.is_multiple_of(times) {
            intensities.insert(name.intensity / times);
        }
    }
    let loads: BTreeSet<&String> = wanted.iter().map(|name| &name.load).collect();
    let known = loads.into_iter().filter(|load| has(&asked.file, load)).cloned();
    asked.choices.profiles = Some(known.collect());
    asked.choices.queue_depth = Some(intensities.into_iter().collect());
}

fn has(file: &PlanFile, load: &str) -> bool {
    file.own_profiles.iter().any(|own| own.name == load)
        || shipped_profile_names().any(|name| name == load)
}

/// Point that a group represents in expressions; `None` if its loads belong to no column.
fn name(plan: &SectionPlan, points: &[Point]) -> Option<PointName> {
    let first = points.first()?;
    let streams = points.iter().map(|point| point.streams).sum();
    let (column, load, intensity) = match first.variant {
        Some(variant) => (variant as usize, first.profile.clone(), first.queue_depth),
        None => {
            let writes = [BANDWIDTH[0], BASELINE[0]].contains(&first.profile.as_str());
            let direction = if writes { "write" } else { "read" };
            let mebibytes = u64::from(first.block_size.max()) / Bytes::mib(1).0;
            let alone = BASELINE.contains(&first.profile.as_str());
            let column = if alone { 0 } else { plan.columns.len() - 1 };
            (column, format!("ior-{direction}-{mebibytes}m"), streams)
        }
    };
    Some(PointName::new(plan.columns.get(column)?, &load, intensity))
}

/// Points with the window of a reproduction: enough I/Os for the rate, however long they take, in
/// one uninterrupted segment. Interleaved segments would start at random offsets; the documents'
/// loads start at the beginning.
fn shortened(points: &[Point]) -> Vec<Point> {
    let shorter = |point: &Point| {
        let mut point = point.clone();
        point.warm_up_ns = WARM_UP.0;
        point.stop.duration_ns = WINDOW.0;
        point.stop.bytes_per_stream = 0;
        point.stop.interleaved_segments = 1;
        point.stop.segment_warm_up_ns = 0;
        point.stop.bytes = window_bytes(&point).div_ceil(points.len() as u64);
        point
    };
    points.iter().map(shorter).collect()
}

impl Group {
    /// Number of loads in the group.
    pub fn loads(&self) -> usize {
        self.points.len()
    }

    /// Measures the group in virtual time.
    pub fn run(&self, stop: &AtomicBool) -> Result<EmulatedPoint, String> {
        let message = |error: anyhow::Error| format!("{error:#}");
        let mut parts = Vec::new();
        for outcome in &measure(&self.targets, &self.points, stop).map_err(message)? {
            parts.extend(figures(outcome)?);
        }
        EmulatedPoint::together(&parts).ok_or_else(|| "nothing completed".to_owned())
    }
}
