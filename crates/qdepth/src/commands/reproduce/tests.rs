use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use qdepth_papers::{Comparison, PointName, Reference, compare};
use qdepth_papers::{emulate, emulate_point, loads, planned};

use crate::flags::read_plan::read_words;

/// Reference cut down to the figures of a single P3700 that its calibration names, each at one
/// point.
fn calibrated() -> Reference {
    let mut reference = Reference::shipped().unwrap().of_document("p3700").unwrap();
    reference.published.retain(|figure| {
        figure.used == qdepth_papers::Use::Calibrated
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
fn wrong_device_model_increases_errors() {
    let right = compared(&calibrated());
    let mut wrong = calibrated();
    wrong.plans.clear();
    for target in &mut wrong.targets {
        target.expression =
            target.expression.replace("p3700-800gb", "p3700-800gb @die_read_us=400");
    }
    let wrong = compared(&wrong);
    let mean = |comparison: &Comparison| comparison.goals[0].errors.mean.unwrap();
    assert_eq!(right.goals[0].errors.missing + wrong.goals[0].errors.missing, 0);
    assert!(!wrong.reached());
    assert!(mean(&wrong) > 2.0 * mean(&right), "{} and {}", mean(&wrong), mean(&right));
}

#[test]
fn same_reference_gives_same_figures() {
    let mut reference = calibrated();
    reference.published.truncate(6);
    assert_eq!(compared(&reference), compared(&reference));
}

#[test]
fn unknown_device_model_fails_with_a_reason() {
    let mut reference = calibrated();
    reference.plans.clear();
    for target in &mut reference.targets {
        target.expression = "media:no-such-drive".to_owned();
    }
    let comparison = compared(&reference);
    let failures = comparison.failures();
    let (why, points) = failures.iter().next().unwrap();
    assert!(
        why.starts_with("media:no-such-drive: there is no emulated device `no-such-drive`"),
        "{why}"
    );
    assert_eq!(*points, reference.points().len());
    assert!(!comparison.reached());
}

#[test]
fn interrupted_emulation_returns_only_errors() {
    let reference = calibrated();
    let emulation = emulate(&reference, &read_words, &AtomicBool::new(true)).unwrap();
    assert!(emulation.values().all(Result::is_err));
}

fn point(target: &str, load: &str, intensity: u32) -> PointName {
    PointName { target: target.to_owned(), load: load.to_owned(), intensity }
}

#[test]
fn every_reference_plan_has_points_for_its_columns() {
    let reference = Reference::shipped().unwrap();
    let wanted = reference.points();
    let mut columns = BTreeSet::new();
    for plan in &reference.plans {
        let has = planned(std::slice::from_ref(plan), &wanted, &read_words).unwrap();
        assert!(!has.is_empty(), "{}", plan.command());
        columns.extend(has.into_keys().map(|name| name.target));
    }
    for column in reference.plans.iter().flat_map(|plan| &plan.columns) {
        assert!(columns.contains(column), "no plan has points of `{column}`");
    }
}

/// The plan of a section and the expression in `targets.toml` define the same load.
#[test]
fn plan_measures_the_same_as_its_column_expressions() {
    let mut reference = Reference::shipped().unwrap();
    let wanted = BTreeSet::from([
        point("p3700", "database", 32),
        point("p3700-x4", "database", 32),
        point("p3700-raid0x4", "file-server", 32),
        point("p3700-4-processes", "random-4k-read", 64),
        point("p3700-full", "random-8k-write", 16),
        point("iodrive320-max-write-raid1", "file-copy", 16),
        point("cards", "ior-read-1m", 132),
    ]);
    let planned = planned(&reference.plans, &wanted, &read_words).unwrap();
    assert!(planned.keys().eq(&wanted));
    assert_eq!(planned[&point("p3700-x4", "database", 32)].loads(), 4);
    assert_eq!(planned[&point("cards", "ior-read-1m", 132)].loads(), 12);
    reference.plans.clear();
    let stop = AtomicBool::new(false);
    let alone =
        |name: &PointName| emulate_point(&reference, &loads().unwrap(), name, &stop).unwrap();
    for (name, group) in planned {
        let (ours, alone) = (group.run(&stop).unwrap(), alone(&name));
        let off = ours.io_per_s / alone.io_per_s - 1.0;
        assert!(off.abs() < 0.02, "{name:?}: {} and {}", ours.io_per_s, alone.io_per_s);
        let off = ours.latency_ns / alone.latency_ns - 1.0;
        assert!(off.abs() < 0.02, "{name:?}: {} and {}", ours.latency_ns, alone.latency_ns);
    }
}
