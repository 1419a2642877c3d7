//! Emulates the points that a comparison with published figures needs: as part of the plan of their
//! section, or individually if no plan has them. Uses the ordinary measurement loop, on one thread
//! per CPU; results do not depend on the number of threads.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::{EmulatedPoint, Emulation, Intensity, PointName, Reference};
use anyhow::{Context, Result};
use qdepth_lab::execute::emulated::{WARM_UP, WINDOW, on_all_processors, window_bytes};
use qdepth_media::{OpenMedia, TargetExpression};
use qdepth_workload::{
    Choices, Extent, PlanFile, Point, Profile, TargetShape, profiles, resolve, shipped_profile_text,
};

use crate::figures::figures;
use crate::planned::{Group, ReadWords, planned};

/// Emulates every point of a reference. Setting `stop` ends it early, and the remaining points
/// become errors.
///
/// # Errors
/// If a load of the reference cannot be read: a bug.
pub fn emulate(reference: &Reference, read: &ReadWords, stop: &AtomicBool) -> Result<Emulation> {
    let loads = loads()?;
    let wanted = reference.points();
    let planned = planned(&reference.plans, &wanted, read)?;
    let names: Vec<PointName> = wanted.into_iter().collect();
    let emulated = |name: &PointName| {
        let by_itself = || emulate_point(reference, &loads, name, stop);
        (name.clone(), planned.get(name).map_or_else(by_itself, |group: &Group| group.run(stop)))
    };
    Ok(on_all_processors(&names, emulated)?.into_iter().collect())
}

/// Loads of the reference that are not shipped profiles, by name.
///
/// # Errors
/// If they cannot be read: a bug.
pub fn loads() -> Result<BTreeMap<String, Profile>> {
    let loads = profiles(Reference::loads_text()).context("reference/loads.toml")?;
    Ok(loads.into_iter().map(|profile| (profile.name.clone(), profile)).collect())
}

/// Emulates a single point on the target that `reference/targets.toml` defines.
///
/// # Errors
/// A message with the reason why the point has no result.
pub fn emulate_point(
    reference: &Reference,
    loads: &BTreeMap<String, Profile>,
    name: &PointName,
    stop: &AtomicBool,
) -> Result<EmulatedPoint, String> {
    let target = reference
        .target(&name.target)
        .ok_or_else(|| format!("reference/targets.toml has no `{}`", name.target))?;
    let message = |error: &dyn std::fmt::Display| format!("{}: {error}", target.expression);
    let medium = TargetExpression::read(&target.expression).map_err(|error| message(&error))?;
    let shape = medium.shape().map_err(|error| message(&error))?;
    let (streams, queue_depth) = match target.intensity {
        Intensity::Outstanding => (shape.parts, name.intensity),
        Intensity::Streams => (name.intensity, 1),
    };
    let profile = profile(loads, &name.load)?;
    let mut file: PlanFile =
        plan_text(queue_depth).parse().map_err(|error| format!("the plan of a point: {error}"))?;
    file.own_profiles = vec![Profile { streams: Some(streams), ..profile }];
    let choices = Choices { area: Some("full".to_owned()), ..Choices::default() };
    let usable =
        Extent { offset_bytes: 0, length_bytes: shape.area_bytes * u64::from(shape.parts) };
    // The number of streams is fixed, so independent parts must not multiply it.
    let shape = TargetShape::whole(usable, shape.block_bytes);
    let plan = resolve(&file, &choices, &[shape]).map_err(|error| message(&error))?;
    let mut point = plan.points.into_iter().next().ok_or("the plan has no point")?;
    point.stop.bytes = window_bytes(&point);
    run(&medium, &point, stop).map_err(|error| message(&error))
}

fn plan_text(queue_depth: u32) -> String {
    format!(
        "name = \"reproduce\"\nqueue_depth = [{queue_depth}]\nwarm_up = \"{WARM_UP}\"\n\
         duration = \"{WINDOW}\"\n"
    )
}

fn profile(loads: &BTreeMap<String, Profile>, name: &str) -> Result<Profile, String> {
    if let Some(profile) = loads.get(name) {
        return Ok(profile.clone());
    }
    let text = shipped_profile_text(name).ok_or_else(|| {
        format!("`{name}` is neither in reference/loads.toml nor a shipped profile")
    })?;
    text.parse().map_err(|error| format!("profile {name}: {error}"))
}

fn run(
    medium: &TargetExpression,
    point: &Point,
    stop: &AtomicBool,
) -> Result<EmulatedPoint, String> {
    let mut target =
        medium.open(&OpenMedia::for_point(point)).map_err(|error| error.to_string())?;
    let outcome = target.measure(point, stop).ok_or("nothing was emulated (internal error)")?;
    figures(&outcome)?.ok_or_else(|| "nothing completed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_in_reference_has_a_profile() {
        let loads = loads().unwrap();
        for point in Reference::shipped().unwrap().points() {
            profile(&loads, &point.load).unwrap();
        }
    }
}
