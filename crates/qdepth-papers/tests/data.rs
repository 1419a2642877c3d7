//! Consistency of the files of `reference/`: they are readable and agree with one another, and our
//! conditions for each relation hold on the printed figures.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::collections::BTreeMap;

use qdepth_papers::{
    EmulatedPoint, Emulation, Outcome, Reference, RelationUse, Use, Verdict, compare,
};

fn reference() -> Reference {
    Reference::shipped().expect("the shipped files can be read")
}

/// Emulation with the same figure for every point.
fn everywhere(reference: &Reference, point: EmulatedPoint) -> Emulation {
    reference.points().into_iter().map(|name| (name, Ok(point))).collect()
}

const ONE: EmulatedPoint = EmulatedPoint { io_per_s: 1e4, bytes_per_s: 1e9, latency_ns: 1e5 };

#[test]
fn every_target_exists_and_is_used() {
    let reference = reference();
    let used: Vec<String> = reference.points().into_iter().map(|p| p.target).collect();
    for name in &used {
        assert!(reference.target(name).is_some(), "`{name}` is not in targets.toml");
    }
    for target in &reference.targets {
        assert!(used.contains(&target.name), "nothing uses `{}`", target.name);
    }
}

#[test]
fn plans_belong_to_sections_and_use_known_targets() {
    let reference = reference();
    assert!(!reference.plans.is_empty());
    for plan in &reference.plans {
        let of_it =
            |document: &str, section: &str| document == plan.document && section == plan.section;
        let printed = reference.published.iter().any(|p| of_it(&p.document, &p.section));
        assert!(printed, "{}: no figure is of {}", plan.document, plan.section);
        for column in &plan.columns {
            assert!(reference.target(column).is_some(), "`{column}` is not in targets.toml");
        }
    }
    let four = reference.plans.iter().find(|plan| plan.section == "Four PCIe-SSDs").unwrap();
    assert_eq!(
        four.command(),
        "qdepth run devices 'media:p3700-800gb*4' --array 'raid0(media:p3700-800gb*4)'"
    );
}

#[test]
fn every_figure_has_document_and_every_goal_figures() {
    let reference = reference();
    for figure in &reference.published {
        assert!(reference.documents.iter().any(|d| d.id == figure.document), "{}", figure.id);
        let beside = figure.emulated.is_some() || !figure.used.counts();
        assert!(beside, "{}: nothing stands beside it", figure.id);
        if figure.used.counts() && figure.group != "write-pressure" {
            let goals = reference.goals.iter().filter(|goal| goal.covers(figure)).count();
            assert!(goals > 0, "{}: no goal covers it", figure.id);
        }
    }
    for goal in &reference.goals {
        assert!(reference.published.iter().any(|figure| goal.covers(figure)), "{}", goal.id);
    }
}

/// `media/calibration.toml` lists the figures to which the device models were fitted, and
/// `published.csv` marks them too: a fitted figure must never count as a prediction.
#[test]
fn calibrated_figures_match_the_calibration_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/calibration.toml");
    let calibration: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let named = |list: &str| -> Vec<String> {
        let fits = calibration["fit"].as_array().unwrap();
        let lines = fits.iter().filter_map(|fit| fit.get(list)?.as_array()).flatten();
        let id =
            |line: &toml::Value| line.as_str().unwrap().split(" | ").next().unwrap().to_owned();
        lines.map(id).collect()
    };
    let (fitted, predicted) = (named("figures"), named("predictions"));
    for figure in &reference().published {
        let says = matches!(figure.used, Use::Calibrated | Use::ReproducedNotValidated);
        let is = fitted.contains(&figure.id);
        let fits = if is { says } else { figure.used != Use::Calibrated };
        assert!(fits, "{}: {:?}, fitted: {is}", figure.id, figure.used);
        if predicted.contains(&figure.id) {
            assert_eq!((figure.used, is), (Use::Predicted, false), "{}", figure.id);
        }
    }
    assert!(fitted.len() > 100 && predicted.len() > 50, "{} and {}", fitted.len(), predicted.len());
}

#[test]
fn every_condition_has_a_result() {
    // Conditions on lists of different lengths would never have a result.
    let reference = reference();
    let comparison = compare(&reference, everywhere(&reference, ONE));
    for compared in &comparison.relations {
        for (condition, evaluated) in compared.relation.holds.iter().zip(&compared.emulated) {
            assert!(evaluated.complete, "{}: {}", compared.relation.id, condition.text());
        }
    }
    for figure in &comparison.figures {
        let computed = figure.published.emulated.is_none() || figure.emulated.is_some();
        assert!(computed, "{}: has no value", figure.published.id);
    }
}

#[test]
fn relations_hold_for_the_published_figures() {
    let comparison = compare(&reference(), BTreeMap::new());
    let (mut seen, mut faults) = (0, Vec::new());
    for compared in &comparison.relations {
        let fails = compared.published.iter().any(|e| e.outcome == Outcome::Fails);
        seen += usize::from(compared.published.iter().any(|e| e.outcome != Outcome::Unknown));
        match compared.relation.used {
            RelationUse::Held if fails => faults.push(format!("{:#?}", compared)),
            RelationUse::Inconsistent if !fails => {
                faults.push(format!("{}: the figures do not contradict it", compared.relation.id));
            }
            _ => {}
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 100, "only {seen} relations could be checked");
}

#[test]
fn missing_emulation_reaches_no_goal() {
    let comparison = compare(&reference(), BTreeMap::new());
    assert!(!comparison.reached());
    assert!(comparison.goals.iter().all(|goal| !goal.reached));
    assert!(comparison.relations.iter().all(|r| r.verdict != Verdict::Holds));
}

#[test]
fn constant_figures_reach_no_goal() {
    let reference = reference();
    let comparison = compare(&reference, everywhere(&reference, ONE));
    assert!(comparison.goals.iter().all(|goal| !goal.reached));
    assert!(!comparison.relations_held.reached && !comparison.shading_held.reached);
}
