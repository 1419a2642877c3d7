//! Checks answer, conclusion and recommendation of a report together against its points: no maximum
//! is missing, no tie is broken, all numbers are correct, and there is no contradiction.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use qdepth_measure::{Code, Estimate, Finding};
use qdepth_record::PointRecord;

use super::{SMALL, certain, figure, near, read, record, time};
use crate::document::Block;
use crate::presentation::Presentation;
use crate::section::{answer, explain, summary};
use crate::tests::fixture;
use crate::view::{Load, View};
use crate::words::Lang;

/// Number of result sets in a manual test; `QDEPTH_TRIES` overrides it.
const SETS: u32 = 200;
const TITLES: [&str; 5] = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"];

/// A drawn point: its counts, true for a tie with the first target, and its validity (valid,
/// invalid or missing).
type Drawn = (Vec<u64>, bool, u8);

fn rates() -> impl Strategy<Value = (usize, Vec<bool>, usize, Vec<Drawn>)> {
    let point = (2.0f64..4.6, 0.0f64..0.03, prop::collection::vec(-1.0f64..1.0, 20), any::<bool>())
        .prop_map(|(size, noise, slices, tied)| {
            let count = |share: &f64| (10f64.powf(size) * (1.0 + noise * share)) as u64;
            (slices.iter().map(count).collect::<Vec<u64>>(), tied)
        });
    let point = (point, 0u8..24).prop_map(|((counts, tied), fate)| (counts, tied, fate));
    let loads = prop::collection::vec(any::<bool>(), 1..=TITLES.len());
    (1usize..4, loads, 1usize..5).prop_flat_map(move |(targets, loads, depths)| {
        let points = prop::collection::vec(point.clone(), targets * loads.len() * depths);
        (Just(targets), Just(loads), Just(depths), points)
    })
}

fn points(targets: usize, loads: &[bool], depths: usize, drawn: &[Drawn]) -> Vec<PointRecord> {
    let of_target = loads.len() * depths;
    let mut all = Vec::new();
    for (index, (counts, tied, fate)) in drawn.iter().enumerate().take(targets * of_target) {
        let (target, load, depth) =
            (index / of_target, index % of_target / depths, index % of_target % depths);
        let counts = if *tied { &drawn[index % of_target].0 } else { counts };
        let mut point = record(index as u32, target as u32, 4 << depth, counts);
        point.profile = TITLES[load].to_lowercase();
        point.profile_title = TITLES[load].into();
        point.reported_as_throughput = loads[load];
        match fate {
            0 => point.findings.push(Finding::invalid(Code::IoErrors)),
            1 => continue,
            _ => {}
        }
        all.push(point);
    }
    all
}

fn tops(view: &View<'_>, load: &Load<'_>) -> Vec<(u32, Estimate)> {
    let value = |target: u32| {
        let valid = load.on(target).filter(|point| point.is_valid()).map(|point| *point.main());
        // The first of equal values counts; another may have no interval.
        let values: Vec<Estimate> = valid.collect();
        values.into_iter().rev().max_by(|a, b| a.value.total_cmp(&b.value))
    };
    view.targets.iter().filter_map(|target| Some((*target, value(*target)?))).collect()
}

fn claims(text: &str, value: f64) -> bool {
    text.split([' ', '\u{a0}', '(']).any(|word| near(figure(word), value))
}

/// The highest and the lowest maximum of each unit, and the ends of latency.
fn answered(view: &View<'_>, answer: &str) {
    let (rates, latency) = answer.split_once("The mean ").unwrap_or((answer, ""));
    let is_whole = answer::has_no_curves(view);
    let lowest = if is_whole { "The lowest values: " } else { "The lowest maxima: " };
    let (best, worst) = rates.split_once(lowest).unwrap_or((rates, ""));
    for unit in ["IOPS", "MiB/s"] {
        let of_unit = || view.swept().filter(|load| load.unit() == unit);
        let mut values: Vec<f64> =
            of_unit().flat_map(|load| tops(view, load)).map(|(_, top)| top.value).collect();
        if is_whole {
            let valid = of_unit().flat_map(|load| &load.points).filter(|point| point.is_valid());
            values = valid.map(|point| point.main().value).collect();
        }
        values.sort_by(f64::total_cmp);
        let (Some(low), Some(high)) = (values.first(), values.last()) else { continue };
        assert!(claims(best, *high), "{high} {unit} is not in: {answer}");
        assert!(low >= high || claims(worst, *low), "{low} {unit} is not in: {answer}");
    }
    let at = |load: &Load<'_>, target| load.at(target, view.lowest())?.latency().mean_ns;
    let latencies: Vec<f64> = view
        .swept()
        .flat_map(|load| view.targets.iter().filter_map(move |target| at(load, *target)))
        .collect();
    if latencies.is_empty() {
        return;
    }
    let (_, claim) = latency.split_once(" is ").unwrap_or_else(|| panic!("no latency: {answer}"));
    let claim = claim.trim_end_matches('.');
    let (shortest, longest) = claim.split_once(" to ").unwrap_or((claim, claim));
    let [shortest, longest] = [shortest, longest]
        .map(|claim| time(claim.split_once(" (").map_or(claim, |(time, _)| time)));
    let beyond = |mean: &f64| *mean < 0.98 * shortest || *mean > 1.02 * longest;
    assert!(!latencies.iter().any(beyond), "{latencies:?}: {answer}");
}

/// Each maximum belongs to the named targets, and to no other.
fn held(view: &View<'_>, text: &str) {
    for load in view.swept() {
        let Some((_, rest)) = text.split_once(&format!("{} reaches up to ", load.title)) else {
            continue;
        };
        let claim = rest.split("; ").next().unwrap_or_default();
        let claim = claim.split(". ").next().unwrap_or_default();
        let tops = tops(view, load);
        let most =
            tops.iter().map(|(_, top)| *top).reduce(|a, b| if b.value > a.value { b } else { a });
        let most = most.expect("a maximum");
        for (target, top) in &tops {
            let named = claim.contains(&view.target_name(*target));
            let below = certain(top, &most, 0.0)
                || top.value < most.value && (top.interval.is_none() || most.interval.is_none());
            assert!(named != below, "{} {named}: {claim}: {tops:?}", view.target_name(*target));
        }
    }
}

/// A target that is called the first of all is the first under every load, wherever the text says
/// so.
fn first(view: &View<'_>, text: &str) -> bool {
    let template = view.words.summary.first_of_all;
    let (claim, after) = template.split_once("{target}").expect("a template");
    let after = after.split_once('{').expect("a template").0;
    let Some((_, rest)) = text.split_once(claim) else { return false };
    let Some((name, _)) = rest.split_once(after) else { return false };
    for load in view.swept() {
        let tops = tops(view, load);
        let own = tops.iter().find(|(target, _)| view.target_name(*target) == name);
        let (own, top) = own.expect("a maximum");
        let others = tops.iter().filter(|(target, _)| target != own);
        others.for_each(|(_, other)| assert!(certain(other, top, 0.0), "{text}: {tops:?}"));
    }
    true
}

fn recommended(view: &View<'_>, text: &str) {
    let words = view.words.explain;
    let has = |items: &str, load: &Load<'_>| items.contains(&load.title);
    let (mut rest, mut chosen) = (text, Vec::new());
    loop {
        let (values, behind, choice) = match (read(words.choose, rest), read(words.open, rest)) {
            (Some((values, behind)), _) => (values, behind, true),
            (_, Some((values, behind))) => (values, behind, false),
            _ => break,
        };
        rest = behind;
        for load in view.swept().filter(|load| has(&values["items"], load)) {
            let tops = tops(view, load);
            let is_best =
                |target: u32| choice && values["best"].contains(&view.target_name(target));
            for (target, top) in &tops {
                let others = tops.iter().filter(|(other, _)| other != target);
                if is_best(*target) {
                    chosen.push((load, *target));
                    let least = figure(&values["least"]) * (1.0 - 1e-9);
                    let mut behind = others.filter(|(other, _)| !is_best(*other));
                    let times =
                        |other: &Estimate| top.interval.unwrap().0 / other.interval.unwrap().1;
                    assert!(behind.all(|(_, other)| times(other) >= least), "{text}");
                } else {
                    let ahead = others.clone().all(|(_, other)| certain(other, top, 0.0));
                    assert!(others.count() == 0 || !ahead, "{text}: {tops:?}");
                }
            }
        }
    }
    for (load, target) in chosen {
        let beaten = load.on(target).filter(|point| point.is_valid()).any(|point| {
            let others = view.targets.iter().filter(|other| **other != target);
            let mut others = others.filter_map(|o| load.at(*o, point.record.queue_depth));
            others.any(|other| certain(point.main(), other.main(), SMALL))
        });
        let claim = text.contains(&format!("Exception: under {}", load.title))
            || text.contains(" more load");
        assert!(!beaten || claim, "{} on {target} is beaten: {text}", load.title);
    }
}

/// The ratios at equal queue depths are between the stated smallest and largest ones.
fn at_one_depth(view: &View<'_>, answer: &str) {
    let base = view.targets[0];
    let mut all = Vec::new();
    for load in view.swept() {
        for point in load.on(base).filter(|point| point.is_valid()) {
            let others = view.targets.iter().skip(1);
            let others = others.filter_map(|o| load.at(*o, point.record.queue_depth));
            all.extend(others.map(|other| other.main().value / point.main().value));
        }
    }
    let Some((_, claim)) = answer.split_once("At equal queue depth, ") else { return };
    let (_, claim) = claim.split_once(" is between ").expect("a sentence");
    let (low, high) = claim.split_once(") and ").expect("two ratios");
    let value = |text: &str| figure(text.split(' ').next().unwrap_or_default());
    let ends =
        [all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(0.0, f64::max)];
    assert!(near(value(low), ends[0]) && near(value(high), ends[1]), "{ends:?}: {answer}");
}

fn judge(targets: usize, points: &[PointRecord]) {
    let mut run = fixture::run(targets as u32);
    for target in &mut run.targets {
        target.name = format!("drive-{}", target.index);
    }
    let presentation = Presentation::from(Lang::En);
    let view = View::new(&run, points, None, &presentation);
    let answer = answer::sentence(&view);
    if view.points().all(|(_, point)| !point.is_valid()) {
        assert_eq!(answer, view.words.summary.no_result);
        return;
    }
    let conclusion = summary::conclusion(&view)[0].clone();
    answered(&view, &answer);
    for load in view.swept() {
        let most = tops(&view, load).iter().map(|(_, top)| top.value).fold(0.0, f64::max);
        assert!(most <= 0.0 || claims(&conclusion, most), "{most} is not in: {conclusion}");
    }
    [&answer, &conclusion].into_iter().for_each(|text| held(&view, text));
    assert_eq!(first(&view, &answer), first(&view, &conclusion), "{answer} {conclusion}");
    at_one_depth(&view, &answer);
    let paragraphs = explain::recommendation(&view).into_iter().filter_map(|block| match block {
        Block::Paragraph(text) => Some(text),
        _ => None,
    });
    recommended(&view, &paragraphs.collect::<Vec<_>>().join(" "));
}

#[test]
fn random_reports_agree_with_their_points() {
    let asked = std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(SETS);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let tried = std::cell::Cell::new(0);
    TestRunner::new(config)
        .run(&rates(), |(targets, loads, depths, drawn)| {
            tried.set(tried.get() + 1);
            judge(targets, &points(targets, &loads, depths, &drawn));
            Ok(())
        })
        .unwrap_or_else(|refuted| panic!("{refuted}"));
    assert!(tried.get() >= cases);
    println!("TRIES judgement {}", tried.get());
}
