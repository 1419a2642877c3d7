//! Papers of several runs.

use std::collections::BTreeSet;

use qdepth_logbook::record::TargetKind;

use crate::compose::Measured;
use crate::document::{Block, Document};
use crate::tests::{assert_self_contained, assert_well_formed, pictures};
use crate::{
    Lang, Telling, compose, compose_campaign, figures_json, fixture, html, markdown, typst,
};

/// A run of both drives; another of the first drive alone, a day later, on another kernel.
fn runs() -> Vec<Measured> {
    let mut later = fixture::run(1);
    later.id = "019a9d00-0000-7000-8000-000000000001".into();
    later.started_at = "2026-11-22T09:30:12Z".into();
    later.environment[0].value = Ok("6.12.0-1-amd64".into());
    later.plan_name = "quick".into();
    vec![(fixture::run(2), fixture::points(2)), (later, fixture::points(1))]
}

fn section<'d>(document: &'d Document, id: &str) -> &'d crate::Section {
    document.sections.iter().find(|section| section.id == id).expect(id)
}

fn rows(blocks: &[Block]) -> Vec<Vec<String>> {
    let tables = blocks.iter().filter_map(|b| if let Block::Table(t) = b { Some(t) } else { None });
    let rows = tables.flat_map(|table| &table.rows);
    rows.map(|row| row.cells.iter().map(|cell| cell.text.clone()).collect()).collect()
}

#[test]
fn one_run_is_told_as_ever() {
    let runs = [(fixture::run(2), fixture::points(2))];
    assert_eq!(compose_campaign(&runs, Lang::En), compose(&runs[0].0, &runs[0].1, Lang::En));
    let none = compose_campaign(&[], Lang::Ja);
    assert!(none.sections.is_empty());
}

#[test]
fn the_method_stands_once_and_the_results_of_every_run_are_its_own() {
    let runs = runs();
    let document = compose_campaign(&runs, Lang::En);
    for id in ["method", "media", "environment", "runs", "literature"] {
        assert_eq!(document.sections.iter().filter(|s| s.id == id).count(), 1, "{id}");
    }
    // The same profiles in both runs: five rows, not ten.
    assert_eq!(rows(&section(&document, "method").blocks).len(), 5);
    for (place, (run, points)) in runs.iter().enumerate() {
        let alone = compose(run, points, Lang::En);
        let chapter = section(&document, &format!("run-{}", place + 1));
        let key = rows(&section(&alone, "key-figures").blocks);
        assert!(key.iter().all(|row| rows(&chapter.blocks).contains(row)), "run {place}");
        let drawn = pictures(&document)
            .into_iter()
            .filter(|picture| picture.id.starts_with(&format!("run-{}-", place + 1)));
        let figures: Vec<_> = drawn.map(|picture| &picture.figure).collect();
        assert_eq!(figures, pictures(&alone).into_iter().map(|p| &p.figure).collect::<Vec<_>>());
        assert!(section(&document, "reproduce").blocks.iter().any(
            |block| matches!(block, Block::Facts(facts) if facts.iter().any(|f| f.value == run.id))
        ));
    }
}

#[test]
fn names_are_unique_and_figures_are_numbered_through() {
    for lang in Lang::ALL {
        let document = compose_campaign(&runs(), lang);
        let all = pictures(&document);
        let ids: BTreeSet<&str> = all.iter().map(|picture| picture.id.as_str()).collect();
        assert_eq!(ids.len(), all.len());
        let page = html(&document).unwrap();
        assert_well_formed(&page);
        assert_self_contained(&page);
        let label = crate::words::words(lang).paper.labels.document[1];
        assert!(page.contains(&format!("{label} {}: ", all.len())));
        assert!(!page.contains(&format!("{label} {}: ", all.len() + 1)));
        assert_eq!(markdown(&document, "f").1.len(), all.len());
        assert_eq!(
            typst(&document).keys().filter(|name| name.ends_with(".svg")).count(),
            all.len()
        );
    }
}

#[test]
fn the_environment_says_once_what_is_alike_and_who_saw_what_is_not() {
    let document = compose_campaign(&runs(), Lang::En);
    let all = rows(&section(&document, "environment").blocks);
    let of = |fact: &str| all.iter().filter(|row| row[1] == fact).count();
    assert_eq!(of("governor"), 1);
    let kernel = all.iter().position(|row| row[1] == "kernel").unwrap();
    assert_eq!(all[kernel][2..], ["6.1.0-28-amd64", "1"]);
    assert_eq!(all[kernel + 1][2..], ["6.12.0-1-amd64", "2"]);
}

#[test]
fn a_medium_that_changed_stands_twice_and_an_unchanged_one_once() {
    let mut runs = runs();
    let heading = |document: &Document| match &section(document, "media").blocks[0] {
        Block::Table(table) => table.columns.iter().map(|c| c.heading.clone()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let document = compose_campaign(&runs, Lang::En);
    assert_eq!(heading(&document), ["", "nvme0n1", "nvme1n1"]);
    runs[1].0.targets[0].facts[0].value = Ok("INTEL SSDPEDMD016T4".into());
    let document = compose_campaign(&runs, Lang::En);
    assert_eq!(heading(&document), ["", "nvme0n1", "nvme1n1", "nvme0n1 (Run 2)"]);
}

#[test]
fn a_paper_of_emulated_and_measured_runs_says_which_is_which() {
    let mut runs = runs();
    runs[1].0.emulated = true;
    runs[1].0.targets[0].kind = TargetKind::Emulated;
    let document = compose_campaign(&runs, Lang::En);
    assert_eq!(document.mark, "PARTLY EMULATED");
    assert_eq!(document.banners.len(), 1);
    assert!(document.banners[0].text.starts_with("In Run 2 "), "{:?}", document.banners);
    let json: serde_json::Value = serde_json::from_str(&figures_json(&document)).unwrap();
    for figure in json["figures"].as_array().unwrap() {
        let second = figure["id"].as_str().unwrap().starts_with("run-2-");
        assert_eq!(figure["emulated"], second, "{}", figure["id"]);
        assert_eq!(figure["run"], runs[usize::from(second)].0.id);
    }
    runs[0].0.emulated = true;
    assert_eq!(compose_campaign(&runs, Lang::En).mark, "EMULATED");
}

#[test]
fn a_name_has_the_same_pseudonym_in_every_run() {
    let mut runs = runs();
    for (run, serial) in [(0, "S4EWNX0M123456"), (1, "S4EWNX0M999999")] {
        let mut fact = runs[run].0.targets[0].facts[0].clone();
        (fact.key, fact.value) = ("serial".into(), Ok(serial.into()));
        runs[run].0.targets[0].facts.push(fact);
    }
    let telling = Telling { redact: true, ..Telling::default() };
    let page = html(&compose_campaign(&runs, telling)).unwrap();
    assert!(!page.contains("S4EWNX0M"));
    assert!(page.contains("serial-1") && page.contains("serial-2"), "two drives, two names");
}
