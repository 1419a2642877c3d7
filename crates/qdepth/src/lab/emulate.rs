//! Emulates the points that a comparison with published figures needs, as the plan of their section
//! measures them, and by themselves where no plan has them: the ordinary loop on ordinary points, in
//! as many threads as there are processors. What comes out depends on neither.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use qdepth_engine::{Outcome, measure};
use qdepth_measure::Nanos;
use qdepth_media::{OpenMedia, Spelled};
use qdepth_reference::{EmulatedPoint, Emulation, Intensity, PointName, Reference};
use qdepth_workload::{
    Choices, Extent, PlanFile, Point, Profile, TargetShape, resolve, shipped_profile_text,
};
use serde::Deserialize;

use crate::lab::planned::{Group, ReadWords, planned};

/// Virtual time before the window: many times what fills the write buffer of a drive.
pub(crate) const WARM_UP: Nanos = Nanos::from_millis(300);
/// A window ends after so many requests: the share of reads among them is then within 0.5 %.
const REQUESTS: u64 = 40_000;
/// … or, where they are large, after so many bytes, but not before each slot had twenty.
const BYTES: u64 = 4 << 30;
const ROUNDS: u64 = 20;
/// … or after so long.
pub(crate) const WINDOW: Nanos = Nanos::from_secs(60);

/// Emulates every point of a reference. `stop` ends it early: what is not emulated says so.
///
/// # Errors
/// Where a load of the reference cannot be read: a bug.
pub(crate) fn emulate(
    reference: &Reference,
    read: &ReadWords,
    stop: &AtomicBool,
) -> Result<Emulation> {
    let loads = loads()?;
    let wanted = reference.points();
    let planned = planned(&reference.plans, &wanted, read)?;
    let names: Vec<PointName> = wanted.into_iter().collect();
    let one = |name: &PointName| {
        let by_itself = || emulate_point(reference, &loads, name, stop);
        (name.clone(), planned.get(name).map_or_else(by_itself, |group: &Group| group.run(stop)))
    };
    Ok(on_all_processors(&names, one)?.into_iter().collect())
}

/// Does the work for each, in as many threads as there are processors; in any order.
pub(crate) fn on_all_processors<T: Sync, R: Send>(
    all: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut done = Vec::new();
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(work(one));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        workers.into_iter().map(|w| w.join()).collect::<Vec<_>>()
    });
    let mut done = Vec::new();
    for part in parts {
        done.extend(part.map_err(|_| anyhow::anyhow!("a worker ended by a bug of qdepth"))?);
    }
    Ok(done)
}

#[derive(Deserialize)]
struct Loads {
    profile: Vec<Profile>,
}

/// The loads of the reference that are no shipped profiles, by name.
pub(crate) fn loads() -> Result<BTreeMap<String, Profile>> {
    let loads: Loads = toml::from_str(Reference::loads_text()).context("reference/loads.toml")?;
    Ok(loads.profile.into_iter().map(|profile| (profile.name.clone(), profile)).collect())
}

pub(crate) fn emulate_point(
    reference: &Reference,
    loads: &BTreeMap<String, Profile>,
    name: &PointName,
    stop: &AtomicBool,
) -> Result<EmulatedPoint, String> {
    let target = reference
        .target(&name.target)
        .ok_or_else(|| format!("reference/targets.toml has no `{}`", name.target))?;
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", target.spelling);
    let spelled = Spelled::read(&target.spelling).map_err(|error| said(&error))?;
    let shape = spelled.shape().map_err(|error| said(&error))?;
    let (streams, outstanding) = match target.intensity {
        Intensity::Outstanding => (shape.parts, name.intensity),
        Intensity::Streams => (name.intensity, 1),
    };
    let profile = profile(loads, &name.load)?;
    let mut file: PlanFile = toml::from_str(&plan_text(outstanding))
        .map_err(|error| format!("the plan of a point: {error}"))?;
    file.own_profiles = vec![Profile { streams: Some(streams), ..profile }];
    let choices = Choices { area: Some("full".to_owned()), ..Choices::default() };
    let usable =
        Extent { offset_bytes: 0, length_bytes: shape.area_bytes * u64::from(shape.parts) };
    // The streams are given: parts are not counted again.
    let shape = TargetShape::whole(usable, shape.block_bytes);
    let plan = resolve(&file, &choices, &[shape]).map_err(|error| said(&error))?;
    let mut point = plan.points.into_iter().next().ok_or("the plan has no point")?;
    point.stop.bytes = window_bytes(&point);
    run(&spelled, &point, stop).map_err(|error| said(&error))
}

fn plan_text(outstanding: u32) -> String {
    format!(
        "name = \"reproduce\"\noutstanding = [{outstanding}]\nwarm_up = \"{WARM_UP}\"\nduration = \"{WINDOW}\"\n"
    )
}

pub(crate) fn window_bytes(point: &Point) -> u64 {
    let size = u64::from(point.request_size.max());
    let rounds = u64::from(point.in_flight_max()) * ROUNDS * size;
    (REQUESTS * size).min(BYTES.max(rounds))
}

fn profile(loads: &BTreeMap<String, Profile>, name: &str) -> Result<Profile, String> {
    if let Some(profile) = loads.get(name) {
        return Ok(profile.clone());
    }
    let text = shipped_profile_text(name).ok_or_else(|| {
        format!("`{name}` is neither in reference/loads.toml nor a shipped profile")
    })?;
    toml::from_str(text).map_err(|error| format!("profile {name}: {error}"))
}

fn run(spelled: &Spelled, point: &Point, stop: &AtomicBool) -> Result<EmulatedPoint, String> {
    let mut target =
        spelled.open(&OpenMedia::for_point(point)).map_err(|error| error.to_string())?;
    let outcome = measure(&mut target, point, stop, &mut |_| {});
    if outcome.interrupted {
        return Err("interrupted".to_owned());
    }
    if let Some(failure) = &outcome.failure {
        return Err(failure.to_string());
    }
    figures(&outcome).ok_or_else(|| "nothing completed".to_owned())
}

/// Rate, throughput and mean latency of an emulated load; none where nothing completed.
pub(crate) fn figures(outcome: &Outcome) -> Option<EmulatedPoint> {
    let times = outcome.directions[..2].iter().map(|d| d.service_time.sum()).sum();
    EmulatedPoint::of(outcome.completed(), outcome.bytes(), outcome.duration.0, times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::read_plan::read_words;
    use qdepth_reference::{Comparison, compare};

    /// The figures of a single P3700 at one point each, which its calibration names.
    fn calibrated() -> Reference {
        let mut reference = Reference::shipped().unwrap().of_document("p3700").unwrap();
        reference.published.retain(|figure| {
            figure.used == qdepth_reference::Use::Calibrated
                && figure.medium.starts_with("P3700 800GB")
                && figure.arrangement == "single"
                && figure.emulated.as_ref().is_some_and(|e| e.single_point().is_some())
        });
        reference.relations.clear();
        reference.diagrams.clear();
        reference.maxima.clear();
        reference
    }

    fn compared(reference: &Reference) -> Comparison {
        compare(reference, emulate(reference, &read_words, &AtomicBool::new(false)).unwrap())
    }

    #[test]
    fn a_wrong_medium_is_found() {
        let right = compared(&calibrated());
        let mut wrong = calibrated();
        wrong.plans.clear();
        for target in &mut wrong.targets {
            target.spelling =
                target.spelling.replace("p3700-800gb", "p3700-800gb @die_read_us=400");
        }
        let wrong = compared(&wrong);
        let mean = |comparison: &Comparison| comparison.goals[0].errors.mean.unwrap();
        assert_eq!(right.goals[0].errors.missing + wrong.goals[0].errors.missing, 0);
        assert!(!wrong.reached());
        assert!(mean(&wrong) > 2.0 * mean(&right), "{} and {}", mean(&wrong), mean(&right));
    }

    #[test]
    fn the_same_reference_gives_the_same_figures() {
        let mut reference = calibrated();
        reference.published.truncate(6);
        assert_eq!(compared(&reference), compared(&reference));
    }

    #[test]
    fn what_cannot_be_emulated_says_why() {
        let mut reference = calibrated();
        reference.plans.clear();
        for target in &mut reference.targets {
            target.spelling = "media:no-such-drive".to_owned();
        }
        let comparison = compared(&reference);
        let failures = comparison.failures();
        let (why, points) = failures.iter().next().unwrap();
        assert!(
            why.starts_with("media:no-such-drive: there is no medium `no-such-drive`"),
            "{why}"
        );
        assert_eq!(*points, reference.points().len());
        assert!(!comparison.reached());
    }

    #[test]
    fn an_interruption_leaves_nothing_half_done() {
        let reference = calibrated();
        let emulation = emulate(&reference, &read_words, &AtomicBool::new(true)).unwrap();
        assert!(emulation.values().all(Result::is_err));
    }

    #[test]
    fn every_load_of_the_reference_is_known() {
        let loads = loads().unwrap();
        for point in Reference::shipped().unwrap().points() {
            profile(&loads, &point.load).unwrap();
        }
    }
}
