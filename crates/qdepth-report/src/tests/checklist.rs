//! Elements of published reports that qdepth's reports have, each at the place that the checklist
//! states.

#[path = "../../../qdepth-document/tests/common/checklist.rs"]
mod items;

use std::collections::BTreeSet;

use self::items::{Cover, Edition, Not, Paper, Pressure, hold};
use crate::Lang;
use crate::compose;
use crate::document::{Block, Document};
use crate::html;
use crate::section::pressure;
use crate::tests::fixture;
use crate::typst;

fn ids(document: &Document) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for section in &document.sections {
        all.insert(section.id.clone());
        for block in &section.blocks {
            if let Block::Pictures(pictures) = block {
                all.extend(pictures.iter().map(|picture| picture.id.clone()));
            }
        }
    }
    all
}

fn paper() -> Document {
    let file = "introduction = \"Why.\"\nversion = \"1.0b\"\n[[history]]\nversion = \"1.0b\"\n\
                date = \"2026-11-21\"\nchanges = \"Second series\"\n";
    let presentation = crate::Presentation {
        paper: crate::Paper::from_toml(file).unwrap(),
        ..crate::Presentation::default()
    };
    compose(&fixture::run(2), &fixture::points(2), presentation)
}

#[test]
fn every_checklist_item_is_present_or_explained() {
    let paper = paper();
    let (of_paper, of_pressure) = (ids(&paper), ids(&pressure::tests::example(crate::Lang::En)));
    let files = typst(&paper);
    let print: String = files.values().map(|bytes| String::from_utf8_lossy(bytes)).collect();
    let pages = html(&paper).unwrap() + &print;
    hold(|stands, name| match stands {
        Paper(_) => of_paper.contains(name),
        Pressure(_) => of_pressure.contains(name),
        Cover(_) => pages.contains(name),
        // Checked by the crate that makes editions.
        Edition(_) | Not(_) => true,
    });
}

/// A campaign of 1,000 points is composed and written in a few seconds, even in a debug build.
#[test]
fn report_of_thousand_points_is_fast_and_bounded() {
    let points: Vec<_> = (0..1_000)
        .map(|n| qdepth_record::PointRecord {
            index: n,
            profile: format!("profile-{}", n / 10),
            profile_title: format!("Profile {}", n / 10),
            ..fixture::one_point(1 << (n % 10))
        })
        .collect();
    let document = compose(&fixture::run(1), &points, Lang::Ja);
    let page = html(&document).unwrap();
    // Two for each load, the storage topology, and the one of the first page, which stays small.
    assert_eq!(page.matches("role=\"img\"").count(), 202);
    let small = document.answer.iter().all(|block| match block {
        Block::Table(table) => table.rows.len() <= 6,
        Block::Pictures(pictures) => pictures[0].figure.series.len() <= 6,
        _ => false,
    });
    assert!(small, "the first page is a page");
    let section = document.sections.iter().find(|section| section.id == "points").unwrap();
    let [Block::Attachment { text, .. }] = &*section.blocks else { panic!("a file") };
    let (head, rows) = text.split_once('\n').unwrap();
    assert_eq!(rows.lines().count(), 1_000, "each point");
    assert!(
        ["reads_p99", "writes_p99", "io_per_s_low"].iter().all(|part| head.contains(part)),
        "{head}"
    );
}
