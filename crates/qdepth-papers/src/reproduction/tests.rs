//! Tests of the page and the edition of a comparison.

#[path = "../../../qdepth-document/tests/common/checklist.rs"]
mod checklist;
#[path = "../../../qdepth-document/tests/common/japanese.rs"]
mod japanese;
#[path = "../../../qdepth-document/tests/common/page.rs"]
mod page;

use std::collections::BTreeMap;

use crate::{
    Comparison, EmulatedPoint, Emulation, PointName, Published, Quantity, Reference, RelationText,
    ShareResult, compare,
};
use qdepth_document::document::{Block, Document, Mark, Row};
use qdepth_document::figure::{Horizontal, MarkValue, Markers, Series, Stroke};
use qdepth_document::{html, markdown};
use qdepth_words::Lang;

use crate::phrases::{heading, translated};

use self::checklist::{Edition, hold};
use self::japanese::{faults_of_all, is_japanese};
use self::page::{assert_self_contained, assert_well_formed, pictures};
use super::{compose_edition, compose_reproduction, reproduction_tables};

/// Comparison whose emulated figures are the published ones times a factor if a single point is
/// printed, and 1 IOPS elsewhere. Points on 2 TB drives could not be emulated.
fn comparison(factor: f64) -> Comparison {
    let reference = Reference::shipped().unwrap();
    let mut printed: BTreeMap<PointName, (Quantity, f64)> = BTreeMap::new();
    for figure in reference.published.iter().filter(|figure| figure.used.counts()) {
        if let Some((quantity, point)) = figure.emulated.as_ref().and_then(|e| e.single_point()) {
            printed.insert(point, (quantity, figure.value() * factor));
        }
    }
    let emulated = |name: &PointName| {
        let mut point = EmulatedPoint { io_per_s: 1.0, bytes_per_s: 1048576.0, latency_ns: 1e6 };
        match printed.get(name) {
            Some((Quantity::Rate, value)) => point.io_per_s = *value,
            Some((Quantity::Throughput, value)) => point.bytes_per_s = value * 1048576.0,
            Some((Quantity::ThroughputGb, value)) => point.bytes_per_s = value * 1e9,
            Some((Quantity::Latency, value)) => point.latency_ns = value * 1e6,
            None if name.target.starts_with("p3700-2tb") => {
                return Err("there is no medium <2 TB>".to_owned());
            }
            None => {}
        }
        Ok(point)
    };
    let emulation: Emulation =
        reference.points().into_iter().map(|name| (name.clone(), emulated(&name))).collect();
    compare(&reference, emulation)
}

/// Edition of all documents.
fn edition(lang: Lang) -> Document {
    compose_edition(&comparison(1.02), "0.1.0", "qdepth reproduce", lang)
}

fn page(comparison: &Comparison) -> Document {
    compose_reproduction(comparison, "0.1.0", "qdepth reproduce", Lang::En)
}

#[test]
fn reproduction_page_is_self_contained_and_marked_emulated() {
    let document = page(&comparison(1.02));
    let text = html(&document).unwrap();
    assert_well_formed(&text);
    assert_self_contained(&text);
    assert_eq!(document.mark, "EMULATED");
    for picture in pictures(&document) {
        assert!(picture.title.ends_with("(EMULATED)"), "{}", picture.title);
        assert!(picture.data.caption.contains("EMULATED"));
    }
    assert!(text.contains("there is no medium &#60;2\u{a0}TB&#62;"), "reasons cannot break out");
}

#[test]
fn same_figures_give_identical_pages() {
    let first = html(&page(&comparison(0.97))).unwrap();
    assert_eq!(first, html(&page(&comparison(0.97))).unwrap());
}

#[test]
fn every_published_diagram_shows_points_over_curves() {
    let comparison = comparison(1.02);
    let document = page(&comparison);
    let drawn = pictures(&document);
    // The documents have diagrams of bars too: a bar for each medium, a group for each load.
    let (bars, drawn): (Vec<_>, Vec<_>) = drawn.into_iter().partition(|p| p.id.starts_with("bars"));
    assert_eq!(drawn.len(), comparison.diagrams.len());
    assert_eq!(bars.len(), comparison.maxima.len());
    for picture in bars {
        let Horizontal::Groups(groups) = &picture.figure.x_axis else { panic!("{}", picture.id) };
        assert!(picture.figure.series.iter().all(|series| series.marks.len() == groups.len()));
        assert_eq!(picture.figure.series.len() + 1, picture.data.columns.len());
    }
    let known = |series: &Series| {
        series.marks.iter().filter(|m| matches!(m.value, MarkValue::Known(..))).count()
    };
    let mut published = 0;
    for picture in drawn {
        let names = picture.data.columns[1..].iter().map(|column| column.heading.as_str());
        for (series, name) in picture.figure.series.iter().zip(names) {
            match series.stroke {
                Stroke::Dashed => {
                    assert!(series.name.ends_with(", EMULATED") && name == series.name);
                }
                Stroke::None => {
                    assert!(name.ends_with(", published"));
                    assert_eq!(series.markers, Markers::Plain);
                    published += known(series);
                }
                Stroke::Dotted => assert!(name.ends_with(", published maximum")),
                Stroke::Solid => panic!("nothing here was measured: {}", series.name),
            }
        }
    }
    assert!(published > 100, "{published} published points");
}

#[test]
fn figure_beyond_its_threshold_is_highlighted() {
    let document = page(&comparison(1.5));
    let figures = document.sections.iter().find(|section| section.id == "figures").unwrap();
    let cells = figures.blocks.iter().flat_map(|block| match block {
        Block::Table(table) => table.rows.iter().flat_map(|row| &row.cells).collect(),
        _ => Vec::new(),
    });
    let alarms: Vec<_> = cells.filter(|cell| cell.mark == Mark::Alarm).collect();
    let halves = alarms.iter().filter(|cell| cell.text == "+50.0").count();
    assert!(halves > 100, "{halves}");
}

#[test]
fn terminal_shows_missed_thresholds_or_everything() {
    let comparison = comparison(1.02);
    let rows = |all| {
        let (tables, summary) = reproduction_tables(&comparison, all, Lang::En);
        assert!(summary.len() >= 3, "{summary:?}");
        tables.iter().map(|table| table.rows.len()).sum::<usize>()
    };
    assert!(rows(true) > rows(false) && rows(false) > 0);
}

/// The first sentence, the exit status and the rows of the tables count the same goals.
#[test]
fn comparison_is_reached_only_with_all_goals() {
    let mut comparison = comparison(1.0);
    for goal in &mut comparison.goals {
        goal.reached = true;
    }
    let sentences = |comparison: &Comparison| reproduction_tables(comparison, false, Lang::En).1;
    comparison.relations_held = ShareResult::new(67, 80, 0.95);
    comparison.shading_held = ShareResult::new(99, 100, 0.9);
    let goals = comparison.goals.len() + 2;
    assert!(!comparison.reached());
    let missed =
        format!("{} of {goals} goals are reached; missed: “Relations that hold”, 84 %", goals - 1);
    assert!(sentences(&comparison)[0].starts_with(&missed), "{:?}", sentences(&comparison));
    comparison.relations_held = ShareResult::new(80, 80, 0.95);
    assert!(comparison.reached());
    assert_eq!(sentences(&comparison)[0], format!("All {goals} goals are reached."));
}

/// Edition of one document.
fn edition_of(document: &str, lang: Lang) -> Document {
    let mut edition = comparison(1.02);
    edition.documents.retain(|d| d.id == document);
    edition.figures.retain(|f| f.published.document == document);
    edition.sections.retain(|s| s.document == document);
    edition.diagrams.retain(|d| d.document == document);
    edition.maxima.retain(|m| m.document == document);
    edition.relations.retain(|r| r.relation.document == document);
    compose_edition(&edition, "0.1.0", "qdepth reproduce", lang)
}

#[test]
fn edition_has_document_sections_in_order_with_errors() {
    let titles = |document: &Document| -> Vec<String> {
        let results = document.sections.iter().filter(|s| s.id.starts_with("results-"));
        results.map(|section| section.title.clone()).collect()
    };
    // docs/method/checklist.md, items 44 to 51.
    let p3700 = edition_of("p3700", Lang::En);
    assert_eq!(
        titles(&p3700),
        [
            // The document's statements about its devices and machine are in their section, too.
            "Introduction and technical data",
            "Measurement environment",
            "A single PCIe-SSD: Random accesses",
            "A single PCIe-SSD: Sequential accesses",
            "Two PCIe-SSDs",
            "Four PCIe-SSDs",
            "Storage capacity share under load",
            "Access of several processes to a PCIe-SSD",
            "Optimizing the current processor frequency",
            "Comparison with other storage media",
            "What the document concludes",
        ]
    );
    // The document's own numbers would conflict with the edition's.
    let uv300 = titles(&edition_of("uv300", Lang::Ja));
    assert_eq!(uv300.first().map(String::as_str), Some("序論"));
    assert_eq!(uv300.last().map(String::as_str), Some("文書の結論"));
    let section = p3700.sections.iter().find(|s| s.title == "Two PCIe-SSDs").unwrap();
    let texts = section.blocks.iter().filter_map(|block| match block {
        Block::Paragraph(text) => Some(text.as_str()),
        _ => None,
    });
    // Every single point was made 2 % too fast.
    let fitted = "For 4 figures that parameters were fitted to, the emulated values are off by 2.0 \
                  % on average";
    let texts: Vec<&str> = texts.collect();
    let at = texts.iter().position(|text| text.starts_with(fitted)).unwrap();
    assert!(texts[at + 1].contains("figures that nothing was fitted to"), "{texts:?}");
    // Texts next to the diagrams about the document's statements.
    let shown = ["The emulated figures confirm", "They do not confirm: "];
    assert!(at > 0 && texts[..at].iter().all(|text| shown.iter().any(|s| text.starts_with(s))));
    assert!(p3700.summary[0].contains("nothing was fitted to"), "{:?}", p3700.summary);
}

/// Editions once had rows that differed only in their figures, and names that made each row three
/// lines high.
#[test]
fn edition_rows_are_distinct_and_name_storage_once() {
    let iodrive = edition_of("iodrive", Lang::En);
    let blocks = iodrive.sections.iter().flat_map(|section| &section.blocks);
    let tables =
        blocks.filter_map(|b| if let Block::Table(table) = b { Some(table) } else { None });
    let (mut stated, mut named) = (0, 0);
    for table in tables {
        if table.caption.starts_with("Devices, machine and measurement") {
            let cells =
                |row: &Row| row.cells.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
            let mut all: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
            // Thresholds are one quantity with several values.
            all.retain(|cells| !cells.concat().contains("threshold"));
            let bare = |row: &Vec<String>| [&row[..row.len() - 2], &row[row.len() - 1..]].concat();
            let distinct: std::collections::BTreeSet<Vec<String>> = all.iter().map(bare).collect();
            assert_eq!(distinct.len(), all.len(), "{all:?}");
            stated += 1;
        } else if table.caption.starts_with("Published and emulated figures") {
            let names: Vec<&str> =
                table.rows.iter().map(|r| &*r.cells[1].text).filter(|n| !n.is_empty()).collect();
            let once: std::collections::BTreeSet<&str> = names.iter().copied().collect();
            assert!(once.len() == names.len() && names.len() < table.rows.len(), "{names:?}");
            named += 1;
        }
    }
    assert!(stated > 3 && named > 3, "{stated} {named}");
}

#[test]
fn edition_contains_every_published_item() {
    let edition = markdown(&edition(Lang::En), "figures").0;
    hold(|stands, name| !matches!(stands, Edition(_)) || edition.contains(name));
}

#[test]
fn editions_follow_the_japanese_style() {
    let documents =
        [edition(Lang::Ja), compose_reproduction(&comparison(1.02), "0.1.0", "qdepth", Lang::Ja)];
    let wrong = faults_of_all(&documents, &[]);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn reference_data_is_translated_into_japanese() {
    let reference = Reference::shipped().unwrap();
    let assert_told = |text: &str| assert!(is_japanese(&translated(Lang::Ja, text)), "{text}");
    reference.goals.iter().for_each(|goal| assert_told(&goal.title));
    reference.diagrams.iter().for_each(|diagram| assert_told(&diagram.title));
    // Names of hardware are the same in every language.
    let named = |figure: &&Published| !["CPU", "DRAM"].contains(&figure.quantity.as_str());
    let quantities = reference.published.iter().filter(named);
    quantities.for_each(|figure| assert_told(&figure.quantity));
    let is_word = |word: &str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    // Names as the documents and the command line write them.
    let names = ["imsm", "xvm", "xfs", "gpfs", "raid"];
    let untranslated: Vec<String> = reference
        .published
        .iter()
        .flat_map(|p| {
            [&p.medium, &p.arrangement, &p.profile, &p.processes, &p.queue_depth, &p.unit]
        })
        .map(|text| translated(Lang::Ja, text))
        .filter(|text| {
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| is_word(word) && !names.contains(&word))
        })
        .collect();
    assert!(untranslated.is_empty(), "{untranslated:?}");
    for relation in &reference.relations {
        let RelationText { says, .. } = relation.text_in("ja");
        assert!(is_japanese(says) && says.ends_with('。'), "{}: {says}", relation.id);
    }
    let sections = reference.published.iter().map(|figure| &figure.section);
    for section in sections.filter(|section| !section.contains("Test ")) {
        assert!(is_japanese(&heading(Lang::Ja, section)), "{section}");
    }
}
