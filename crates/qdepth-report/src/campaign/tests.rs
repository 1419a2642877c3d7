//! Papers of several runs.

use std::collections::BTreeSet;

use qdepth_record::TargetKind;

use crate::Lang;
use crate::compose;
use crate::compose_campaign;
use crate::document::{Align, Block, Document};
use crate::figures_json;
use crate::html;
use crate::markdown;
use crate::presentation::Measured;
use crate::presentation::Presentation;
use crate::tests::fixture;
use crate::tests::{assert_self_contained, assert_well_formed, pictures};
use crate::typst;

/// Two runs: one of both drives, and another of the first drive only, a day later, on another
/// kernel.
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
fn campaign_of_single_run_equals_its_report() {
    let runs = [(fixture::run(2), fixture::points(2))];
    assert_eq!(compose_campaign(&runs, Lang::En), compose(&runs[0].0, &runs[0].1, Lang::En));
    let none = compose_campaign(&[], Lang::Ja);
    assert!(none.sections.is_empty());
}

#[test]
fn first_page_has_maxima_and_curves_of_runs() {
    let runs = runs();
    for lang in Lang::ALL {
        let document = compose_campaign(&runs, lang);
        let [Block::Pictures(pictures), Block::Table(table)] = &document.answer[..] else {
            panic!("{:?}", document.answer);
        };
        assert!(table.columns.iter().all(|column| column.align != Align::Places));
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
        let listed = |index: usize| {
            let number = (index + 1).to_string();
            table.rows.iter().any(|row| row.cells.iter().any(|cell| cell.text.contains(&number)))
        };
        assert!((0..runs.len()).all(listed), "a row for each run: {table:?}");
        assert_eq!(pictures.len(), 1);
        let drawn: BTreeSet<&str> =
            pictures[0].figure.series.iter().map(|series| series.name.as_str()).collect();
        assert!(drawn.len() > 1, "{drawn:?}");
    }
}

#[test]
fn campaign_has_one_method_and_results_per_run() {
    let runs = runs();
    let document = compose_campaign(&runs, Lang::En);
    for id in ["method", "media", "environment", "runs", "literature"] {
        assert_eq!(document.sections.iter().filter(|s| s.id == id).count(), 1, "{id}");
    }
    // Both runs have the same profiles, so there are five rows, not ten.
    assert_eq!(rows(&section(&document, "method").blocks).len(), 5);
    for (index, (run, points)) in runs.iter().enumerate() {
        let alone = compose(run, points, Lang::En);
        let chapter = section(&document, &format!("run-{}", index + 1));
        let key = rows(&section(&alone, "key-figures").blocks);
        assert!(key.iter().all(|row| rows(&chapter.blocks).contains(row)), "run {index}");
        let drawn = pictures(&document)
            .into_iter()
            .filter(|picture| picture.id.starts_with(&format!("run-{}-", index + 1)));
        let figures: Vec<_> = drawn.map(|picture| &picture.figure).collect();
        assert_eq!(figures, pictures(&alone).into_iter().map(|p| &p.figure).collect::<Vec<_>>());
        assert!(section(&document, "reproduce").blocks.iter().any(
            |block| matches!(block, Block::Facts(facts) if facts.iter().any(|f| f.value == run.id))
        ));
    }
}

#[test]
fn figure_ids_and_numbers_are_unique_in_campaign() {
    for lang in Lang::ALL {
        let document = compose_campaign(&runs(), lang);
        let all = pictures(&document);
        let ids: BTreeSet<&str> = all.iter().map(|picture| picture.id.as_str()).collect();
        assert_eq!(ids.len(), all.len());
        let page = html(&document).unwrap();
        assert_well_formed(&page);
        assert_self_contained(&page);
        let label = crate::words::words(lang).paper.labels.document[1];
        // The first page repeats one.
        assert!(page.contains(&format!("{label} {}: ", all.len() + 1)));
        assert!(!page.contains(&format!("{label} {}: ", all.len() + 2)));
        assert_eq!(markdown(&document, "f").1.len(), all.len());
        assert_eq!(
            typst(&document).keys().filter(|name| name.ends_with(".svg")).count(),
            all.len()
        );
    }
}

#[test]
fn environment_lists_common_facts_once_and_differences_separately() {
    let document = compose_campaign(&runs(), Lang::En);
    let all = rows(&section(&document, "environment").blocks);
    let count = |fact: &str| all.iter().filter(|row| row[1] == fact).count();
    assert_eq!(count("governor"), 1);
    let kernel = all.iter().position(|row| row[1] == "kernel").unwrap();
    assert_eq!(all[kernel][2..], ["6.1.0-28-amd64", "1"]);
    assert_eq!(all[kernel + 1][2..], ["6.12.0-1-amd64", "2"]);
}

#[test]
fn changed_device_has_a_second_column() {
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
fn partly_emulated_paper_marks_the_emulated_runs() {
    let mut runs = runs();
    runs[1].0.emulated = true;
    runs[1].0.targets[0].kind = TargetKind::Emulated;
    let document = compose_campaign(&runs, Lang::En);
    assert_eq!(document.mark, "PARTLY EMULATED");
    assert_eq!(document.banners.len(), 1);
    assert!(document.banners[0].text.starts_with("In Run 2, "), "{:?}", document.banners);
    let json: serde_json::Value = serde_json::from_str(&figures_json(&document)).unwrap();
    for figure in json["figures"].as_array().unwrap() {
        if figure["id"].as_str().unwrap().starts_with("runs-") {
            assert_eq!(
                (figure["emulated"].as_bool(), figure["run"].as_str()),
                (Some(true), Some(""))
            );
            continue;
        }
        let second = figure["id"].as_str().unwrap().starts_with("run-2-");
        assert_eq!(figure["emulated"], second, "{}", figure["id"]);
        assert_eq!(figure["run"], runs[usize::from(second)].0.id);
    }
    runs[0].0.emulated = true;
    assert_eq!(compose_campaign(&runs, Lang::En).mark, "EMULATED");
}

#[test]
fn name_has_same_pseudonym_in_every_run() {
    let mut runs = runs();
    for (run, serial) in [(0, "S4EWNX0M123456"), (1, "S4EWNX0M999999")] {
        let mut fact = runs[run].0.targets[0].facts[0].clone();
        (fact.key, fact.value) = ("serial".into(), Ok(serial.into()));
        runs[run].0.targets[0].facts.push(fact);
    }
    let presentation = Presentation { redact: true, ..Presentation::default() };
    let page = html(&compose_campaign(&runs, presentation)).unwrap();
    assert!(!page.contains("S4EWNX0M"));
    assert!(page.contains("serial-1") && page.contains("serial-2"), "two drives, two names");
}

/// Curves of a picture, with their numbers of markers, by name.
fn curves(picture: &crate::Picture) -> Vec<(String, usize)> {
    let series = picture.figure.series.iter();
    series.map(|series| (series.name.clone(), series.marks.len())).collect()
}

#[test]
fn curves_of_all_runs_share_a_diagram() {
    let mut runs = runs();
    // The second run has fewer queue depths: its curves skip those that it did not measure.
    runs[1].1.retain(|point| [1, 4, 16, 64].contains(&point.queue_depth));
    let document = compose_campaign(&runs, Lang::En);
    let all = pictures(&document);
    let both: Vec<_> = all.into_iter().filter(|p| p.id.starts_with("runs-")).collect();
    assert_eq!(both.len(), 10, "rate and latency of five loads");
    for picture in &both {
        let latency = picture.id.ends_with("latency");
        let names = ["nvme0n1 (Run 1)", "nvme1n1 (Run 1)", "nvme0n1 (Run 2)"];
        let names = names.map(|n| if latency { format!("{n}, mean") } else { n.to_owned() });
        let expected: Vec<_> = names.into_iter().zip([9, 9, 4]).collect();
        assert_eq!(curves(picture), expected);
        assert!(!picture.description.contains("missing"), "{}", picture.description);
        assert_eq!(picture.origin.run, "", "of no one run");
        assert!(picture.figure.series.iter().flat_map(|s| &s.marks).all(|m| m.points.is_empty()));
        let colours: BTreeSet<usize> = picture.figure.series.iter().map(|s| s.colour).collect();
        assert_eq!(colours.len(), 3, "each has a colour and a mark of its own");
    }
    // The values are those of the run's own diagram.
    let own = pictures(&document).into_iter().find(|p| p.id == "run-2-load-1-rate").unwrap();
    let values = |series: &crate::Series| series.marks.iter().map(|m| m.value).collect::<Vec<_>>();
    assert_eq!(values(&both[0].figure.series[2]), values(&own.figure.series[0]));
}

#[test]
fn loads_of_single_run_have_no_comparison_diagram() {
    let mut runs = runs();
    runs[0].1.retain(|point| point.profile == "database");
    runs[1].1.retain(|point| point.profile == "restore");
    let document = compose_campaign(&runs, Lang::En);
    assert!(document.sections.iter().all(|section| section.id != "side-by-side"));
    let mut of_both = self::runs();
    of_both[1].1.retain(|point| point.profile == "restore");
    of_both[1].0.emulated = true;
    let document = compose_campaign(&of_both, Lang::Ja);
    let drawn = section(&document, "side-by-side");
    let titles: Vec<&str> = pictures(&document)
        .into_iter()
        .filter(|picture| picture.id.starts_with("runs-"))
        .map(|picture| picture.title.as_str())
        .collect();
    assert_eq!(drawn.title, "計測の比較");
    assert_eq!(titles.len(), 2);
    assert!(titles.iter().all(|title| title.ends_with("（一部 EMULATED）")), "{titles:?}");
    let names =
        curves(pictures(&document).into_iter().find(|p| p.id.starts_with("runs-")).unwrap());
    assert_eq!(names[2].0, "nvme0n1（計測 2）（EMULATED）");
}
