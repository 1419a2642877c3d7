//! Tests from records to a page.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

mod checklist;
mod editor;
pub(crate) mod fixture;
#[path = "../../../qdepth-document/tests/common/japanese.rs"]
pub(crate) mod japanese;
#[path = "../../../qdepth-document/tests/common/page.rs"]
mod page;
pub(crate) mod refuter;
pub(crate) mod style;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use qdepth_measure::{Code, Finding, Severity};
use qdepth_record::{Observation, PointRecord, PointSummary, RunRecord, RunState, TargetKind};
use sha2::{Digest, Sha256};

pub(crate) use self::page::{assert_self_contained, assert_well_formed, pictures};
use crate::document::{Block, Document, Mark, Table};
use crate::figure::MarkValue;
use crate::words::{Lang, finding_text};
use crate::{compose, html, html_part, markdown, number, point_tables, summary_sentences};

fn tables(document: &Document) -> Vec<&Table> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    blocks.filter_map(|block| if let Block::Table(t) = block { Some(t) } else { None }).collect()
}

#[test]
fn page_allows_only_its_own_script_by_hash() {
    let page = html(&compose(&fixture::run(1), &fixture::points(1), Lang::Ja)).expect("a page");
    let (_, rest) = page.split_once("<script>").expect("a script");
    let (script, _) = rest.split_once("</script>").expect("it ends");
    let hash = STANDARD.encode(Sha256::digest(script));
    assert!(page.contains(&format!("script-src 'sha256-{hash}'\"")), "{hash}");
    assert!(script.len() < 15 << 10, "{} bytes", script.len());
    for asking in ["fetch", "XMLHttpRequest", "import", "eval", "http", "innerHTML", "src"] {
        assert!(!script.contains(asking), "{asking}");
    }
    // A part of another page, as made for `qdepth serve`, has none of it.
    let part = html_part(&compose(&fixture::run(1), &fixture::points(1), Lang::Ja)).unwrap();
    assert!(!part.contains("<script"));
}

#[test]
fn key_figures_match_the_records() {
    let (run, points) = (fixture::run(2), fixture::troubled(fixture::points(2)));
    let document = compose(&run, &points, Lang::En);
    let key = tables(&document)[0];
    assert_eq!(key.rows.len(), 10);
    for row in &key.rows {
        let cell = |n: usize| row.cells[n].text.as_str();
        let target = u32::from(cell(1) == "nvme1n1");
        let mine = |p: &&PointRecord| {
            let invalid = p.findings.iter().any(|f| f.severity == Severity::Invalid);
            p.profile_title == cell(0) && p.target == target && !invalid
        };
        let completed = |p: &PointRecord| p.reads.completed + p.writes.completed;
        let best = points
            .iter()
            .filter(mine)
            .max_by_key(|p| (completed(p), std::cmp::Reverse(p.queue_depth)))
            .expect("a maximum");
        let io_per_s = completed(best) as f64 / 3.0;
        let value = match cell(4) {
            "MiB/s" => io_per_s * best.block_size_mean_bytes / 1_048_576.0,
            unit => {
                assert_eq!(unit, "IOPS");
                io_per_s
            }
        };
        let printed = |n: usize| -> f64 { cell(n).replace(',', "").parse().expect("a number") };
        // Within the rounding: a tenth of the printed half-width, or three digits without one.
        let slack = cell(3).replace(',', "").parse().map_or(value * 0.005, |half: f64| half * 0.1);
        assert!((printed(2) - value).abs() <= slack + 0.5, "{value} {row:?}");
        assert_eq!(cell(5), number::count(best.queue_depth.into()));
        let mean = |p: &PointRecord| {
            let sum = p.reads.latency.sum() + p.writes.latency.sum();
            let count = p.reads.latency.count() + p.writes.latency.count();
            sum as f64 / count as f64
        };
        let unit = if key.columns[6].unit == "ms" { 1e6 } else { 1e3 };
        let same = |printed: f64, ns: f64| (printed * unit / ns - 1.0).abs() < 0.0051;
        assert!(same(printed(6), mean(best)), "{row:?}");
        let lowest = points.iter().filter(mine).find(|p| p.queue_depth == 1).expect("one");
        assert!(same(printed(8), mean(lowest)), "{row:?}");
    }
}

#[test]
fn ratios_are_second_over_first() {
    let document = compose(&fixture::run(2), &fixture::points(2), Lang::En);
    let quotients = tables(&document)[1];
    assert_eq!(quotients.columns[4].heading, "nvme1n1 ÷ nvme0n1");
    for row in &quotients.rows {
        let number = |n: usize| row.cells[n].text.replace(',', "").parse::<f64>().expect("number");
        assert!((number(4) - number(3) / number(2)).abs() < 0.011, "{row:?}");
    }
}

/// Every value and label that a finding's documentation names.
const NAMES: &[&str] = &[
    "integral_ns",
    "latency_sum_ns",
    "difference",
    "asked",
    "mean",
    "expected",
    "counted",
    "expected_bytes",
    "counted_bytes",
    "kernel_bytes",
    "our_bytes",
    "share",
    "mib_per_s",
    "link_mib_per_s",
    "median_ns",
    "unwritten_share",
    "ceiling_io_per_s",
    "io_per_s",
    "ratio",
    "failed",
    "short",
    "abandoned",
    "waited_ns",
    "longest_ns",
    "over_100ms",
    "over_1s",
    "over_10s",
    "backlog_max",
    "limit",
    "autocorrelation",
    "samples",
    "asked_share",
    "reached_share",
    "drift",
    "bytes",
    "standard_bytes",
    "lost_intervals",
    "transitions",
    "celsius",
    "warning_celsius",
    "rise",
    "cpu_share",
    "memory_share",
    "pages",
];
const LABELS: &[&str] = &[
    "law", "why", "errors", "evidence", "engine", "feature", "was", "is", "monitor", "code",
    "program", "version", "file", "remarks", "option", "what", "device", "counter",
];

#[test]
fn every_finding_has_text_with_and_without_figures() {
    let mut titles = BTreeMap::new();
    for code in Code::ALL {
        let bare = Finding::remark(*code);
        let mut full = NAMES.iter().fold(bare.clone(), |f, name| f.value(name, 2.0));
        full = LABELS.iter().fold(full, |f, name| f.label(name, "a [{x}] b"));
        for finding in [&bare, &full] {
            let text = finding_text(finding, Lang::En);
            for part in [&text.title, &text.explanation, &text.advice] {
                assert!(part.len() > 5, "{code}");
                let own = part.replace("[{x}]", "x");
                assert!(!own.contains(['{', '}', '[', ']']), "{code}: {own}");
                assert!(!own.contains("  ") && !own.contains(" ."), "{code}: {own}");
                assert!(
                    own.starts_with(|c: char| !c.is_lowercase() || own.starts_with("io_uring")),
                    "{code}: {own}"
                );
            }
            assert!(text.explanation.ends_with('.'), "{code}");
        }
        let title = finding_text(&bare, Lang::En).title;
        assert_ne!(title, "A doubt without a description", "{code}");
        assert_eq!(titles.insert(title, code), None, "two codes share a title");
    }
}

#[test]
fn figures_in_findings_have_units() {
    let finding = Finding::remark(Code::SmallArea)
        .value("bytes", 1_073_741_824.0)
        .value("standard_bytes", 34_359_738_368.0);
    let text = finding_text(&finding, Lang::En);
    assert!(text.explanation.contains("1 GiB instead of 32 GiB"), "{}", text.explanation);
    let finding = Finding::remark(Code::KernelSawLess).value("share", -0.034);
    assert!(finding_text(&finding, Lang::En).explanation.contains("counted 3.4 % fewer bytes"));
}

#[test]
fn page_is_self_contained_with_titled_figures() {
    for targets in [1, 2] {
        let (run, points) = (fixture::run(targets), fixture::troubled(fixture::points(targets)));
        let document = compose(&run, &points, Lang::En);
        let page = html(&document).expect("a page");
        assert_well_formed(&page);
        assert_self_contained(&page);
        let drawn = page.matches("role=\"img\"").count();
        // Two for each load, the storage topology, and the one of the first page.
        assert_eq!(drawn, 12);
        assert_eq!(page.matches("<title id=").count(), drawn);
        assert_eq!(page.matches("<desc id=").count(), drawn);
        assert_eq!(page, html(&compose(&run, &points, Lang::En)).expect("again"), "same bytes");
        for table in tables(&document) {
            assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
        }
    }
}

#[test]
fn target_names_cannot_inject_markup() {
    let (mut run, points) = (fixture::run(2), fixture::points(2));
    let evil = "<script>alert(1)</script>\" onload=\"x";
    run.targets[1].name = evil.into();
    let command = "qdepth run standard /dev/nvme0n1 '</td><script>alert(3)</script>'";
    let (subject, key) = RunRecord::COMMAND;
    run.environment.push(Observation {
        subject: subject.into(),
        key: key.into(),
        value: Ok(command.into()),
        source: "command line of qdepth".into(),
    });
    run.plan_text = "</pre><script>alert(2)</script>".into();
    let page = html(&compose(&run, &points, Lang::En)).expect("a page");
    assert_well_formed(&page);
    assert_self_contained(&page);
    assert!(!page.contains("\" onload=\""));
    let document = compose(&run, &points, Lang::En);
    assert_eq!(command_of(&document), Some(command));
    // A run without such a command must not suggest another one.
    run.environment.pop();
    assert_eq!(command_of(&compose(&run, &points, Lang::En)), None);
}

fn command_of(document: &Document) -> Option<&str> {
    document.sections.iter().flat_map(|section| &section.blocks).find_map(|block| match block {
        Block::Facts(facts) => {
            facts.iter().find(|fact| fact.name == "Command").map(|fact| &*fact.value)
        }
        _ => None,
    })
}

/// The machine-readable value of a cell has the same digits as the printed one.
#[test]
fn page_cell_contains_only_its_text() {
    let document = compose(&fixture::run(2), &fixture::points(2), Lang::En);
    let page = html(&document).unwrap();
    let cells: BTreeSet<String> = page
        .split("<td ")
        .skip(1)
        .map(|rest| {
            let cell = rest.split_once('>').unwrap().1.split_once("</td>").unwrap().0;
            cell.trim_start_matches("<s>").trim_end_matches("</s>").to_owned()
        })
        .collect();
    let mut padded = 0;
    for table in tables(&document) {
        for cell in table.rows.iter().flat_map(|row| &row.cells) {
            if cell.mark != Mark::Head {
                let text = escaped(&qdepth_document::number::unbroken(&cell.text));
                assert!(cells.contains(&text), "{}: {text}", table.caption);
                padded += usize::from(cell.text.contains('.'));
            }
        }
    }
    assert!(padded > 50, "{padded}");
    assert!(cells.iter().all(|cell| !cell.contains('<')), "a tag within a cell");
    for attribute in page.split("data-pad=\"").skip(1) {
        let room = attribute.split('"').next().unwrap();
        assert!(!room.chars().any(char::is_alphanumeric), "{room}");
    }
}

fn escaped(text: &str) -> String {
    let named = [("&", "&#38;"), ("<", "&#60;"), (">", "&#62;"), ("\"", "&#34;"), ("'", "&#39;")];
    named.iter().fold(text.to_owned(), |text, (letter, name)| text.replace(letter, name))
}

/// Two drives with the same line style, or a legend taller than its diagram, are unreadable.
#[test]
fn diagrams_of_many_targets_have_small_panels() {
    for targets in [4, 5, 7, 23] {
        let (run, points) = (fixture::run(targets), fixture::points(targets));
        let document = compose(&run, &points, Lang::En);
        let of_loads = pictures(&document).into_iter().filter(|p| p.id.starts_with("load-"));
        let (mut drawn, many) = (0, usize::from(targets > 4));
        for picture in of_loads {
            let panels = &picture.figure.panels;
            assert_eq!(panels.len(), targets as usize * many, "{}", picture.id);
            let svg = picture.svg();
            assert_eq!(svg.matches("font-size=\"12\" font-weight=\"bold\"").count(), panels.len());
            let lines = picture.figure.series.len() / targets as usize;
            let named =
                if many == 0 { lines * targets as usize } else { lines * (lines - 1).min(1) };
            assert_eq!(svg.matches("<text x=\"37\"").count(), named, "{}", picture.id);
            drawn += 1;
        }
        assert!(drawn >= 8, "{drawn} pictures");
        let answer = &summary_sentences(&run, &points, Lang::En)[0];
        assert!(answer.contains("Database reaches up to ") && answer.len() < 600, "{answer}");
    }
}

#[test]
fn missing_and_invalid_points_are_gaps() {
    let points = fixture::troubled(fixture::points(1));
    let document = compose(&fixture::run(1), &points, Lang::En);
    let marks = |id: &str| {
        let picture = pictures(&document).into_iter().find(|p| p.id == id).expect("a picture");
        picture.figure.series[0].marks.clone()
    };
    // File server at 16 is invalid; Streaming at 16 was not measured.
    assert_eq!(marks("load-2-rate")[4].value, MarkValue::Invalid);
    assert_eq!(marks("load-2-latency")[4].value, MarkValue::Invalid);
    assert_eq!(marks("load-4-rate")[4].value, MarkValue::Missing);
    assert!(matches!(marks("load-1-rate")[2].value, MarkValue::Known(_, None)));
    let struck: Vec<&str> = tables(&document)
        .iter()
        .filter(|t| t.caption.contains("every point"))
        .flat_map(|t| &t.rows)
        .filter(|row| row.cells.iter().any(|cell| cell.mark == Mark::Struck))
        .map(|row| row.cells[0].text.as_str())
        .collect();
    assert_eq!(struck, ["16"]);
    let trust = summary_sentences(&fixture::run(1), &points, Lang::En)[2].clone();
    assert!(trust.contains("38 of 44 points have grade A, 5 grade B"), "{trust}");
    assert!(
        trust.contains("1 point is missing") && trust.contains("I/Os failed (1 point)"),
        "{trust}"
    );
}

#[test]
fn single_point_is_described_in_the_singular() {
    let trust = |finding: Finding| {
        let point = PointRecord { findings: vec![finding], ..fixture::one_point(8) };
        summary_sentences(&fixture::run(1), &[point], Lang::En)[2].clone()
    };
    let remarked = trust(Finding::remark(Code::TooFewSamples));
    assert!(remarked.starts_with("The point is valid with warnings (grade B)"), "{remarked}");
    let invalid = trust(Finding::invalid(Code::TooFewSamples));
    assert!(invalid.starts_with("The point is invalid (grade C) and excluded"), "{invalid}");
}

#[test]
fn unusual_runs_produce_valid_pages() {
    let mut run = fixture::run(1);
    run.state = RunState::Interrupted;
    let mut failed = fixture::points(1);
    for point in &mut failed {
        point.findings.push(Finding::invalid(Code::Hung).value("abandoned", 1.0));
    }
    let empty = vec![PointRecord::default(); 3];
    let lone = vec![fixture::one_point(7)];
    for points in [vec![], failed, empty, lone] {
        let document = compose(&run, &points, Lang::En);
        let page = html(&document).expect("a page");
        assert_well_formed(&page);
        assert!(!page.contains("NaN") && !page.contains("inf "), "{}", points.len());
        assert!(document.banners.iter().any(|b| b.label == "Interrupted"));
        assert_eq!(document.summary.len(), 3);
    }
    run.targets.clear();
    run.environment.clear();
    let page = html(&compose(&run, &fixture::points(2), Lang::En)).expect("a page");
    assert!(page.contains("target 2"));
}

/// Retracted runs say so before their first figure, in every format.
#[test]
fn retracted_run_is_marked_before_its_figures() {
    let mut run = fixture::run(1);
    let (subject, key) = RunRecord::RETRACTED;
    run.environment.push(Observation {
        subject: subject.to_owned(),
        key: key.to_owned(),
        value: Ok("the cable was loose".to_owned()),
        source: "qdepth retract".to_owned(),
    });
    for (lang, label) in [(Lang::En, "Retracted"), (Lang::Ja, "取り消し")] {
        let document = compose(&run, &fixture::points(1), lang);
        assert_eq!(document.banners[0].label, label);
        for text in [html(&document).unwrap(), markdown(&document, "report").0] {
            let (reason, figure) = (text.find("the cable was loose"), text.find("IOPS"));
            assert!(reason.unwrap() < figure.unwrap(), "{lang:?}");
        }
    }
}

#[test]
fn emulated_run_is_marked_first() {
    let mut run = fixture::run(1);
    run.emulated = true;
    run.targets[0].kind = TargetKind::Emulated;
    let document = compose(&run, &fixture::points(1), Lang::En);
    assert_eq!(document.banners[0].label, "EMULATED");
    assert!(document.summary[1].contains("emulated") && document.summary[2].contains("EMULATED"));
    assert!(pictures(&document).iter().all(|p| p.title.ends_with("(EMULATED)")));
    for table in tables(&document).iter().filter(|t| t.caption.contains("every point")) {
        assert!(table.rows.iter().all(|r| r.cells.last().is_some_and(|c| c.text == "EMULATED")));
    }
    let page = html(&document).expect("a page");
    assert!(page.contains("<body data-mark=\"EMULATED\">"));
}

#[test]
fn terminal_table_has_a_row_per_point() {
    let points = fixture::points(2);
    let table = point_tables(&fixture::run(2), &points, Lang::En).remove(0);
    assert_eq!(table.rows.len(), points.len());
    for row in &table.rows {
        let rate = row.cells[3].text.replace(',', "").parse::<f64>().expect("a rate");
        let near = |p: &PointRecord| {
            let truth = PointSummary::from_point(p).io_per_s.value;
            (rate - truth).abs() <= truth * 0.01 && p.queue_depth.to_string() == row.cells[2].text
        };
        assert!(points.iter().any(near), "{row:?}");
    }
}

/// Writes pages for visual inspection, if `QDEPTH_REPORT_SHOW` names a directory.
#[test]
fn sample_pages_are_written_on_request() {
    let Some(directory) = std::env::var_os("QDEPTH_REPORT_SHOW") else { return };
    let directory = std::path::PathBuf::from(directory);
    let mut interrupted = fixture::run(1);
    interrupted.state = RunState::Interrupted;
    interrupted.emulated = true;
    let mut partial = fixture::points(1);
    partial.truncate(23);
    let pages = [
        ("one.html", fixture::run(1), fixture::points(1)),
        ("two.html", fixture::run(2), fixture::troubled(fixture::points(2))),
        ("part.html", interrupted, partial),
        ("none.html", fixture::run(1), vec![]),
    ];
    for (name, run, points) in pages {
        for lang in Lang::ALL {
            let document = compose(&run, &points, lang);
            let page = html(&document).expect("a page");
            let path = directory.join(lang.tag());
            std::fs::create_dir_all(&path).expect("a directory");
            std::fs::write(path.join(name), page).expect("a writable directory");
            let (text, pictures) = crate::markdown(&document, "pictures");
            std::fs::write(path.join(name).with_extension("md"), text).expect("a file");
            let folder = path.join(name).with_extension("typst");
            std::fs::create_dir_all(&folder).expect("a directory");
            for (file, bytes) in crate::typst(&document).into_iter().chain(pictures) {
                std::fs::write(folder.join(file), bytes).expect("a file");
            }
        }
    }
}

/// The rate of each mark is that of its point, computed from the record.
#[test]
fn every_mark_names_its_point() {
    let (run, points) = (fixture::run(2), fixture::troubled(fixture::points(2)));
    let document = compose(&run, &points, Lang::En);
    let (mut known, mut invalid) = (0, 0);
    for picture in pictures(&document).into_iter().filter(|p| p.id.ends_with("-rate")) {
        assert_eq!(picture.origin.run, run.id);
        let traced = picture.data.columns.last().unwrap();
        assert_eq!(traced.heading, "Point");
        for mark in picture.figure.series.iter().flat_map(|series| &series.marks) {
            let MarkValue::Known(value, _) = mark.value else {
                invalid += usize::from(mark.value == MarkValue::Invalid && mark.points.len() == 1);
                continue;
            };
            let [index] = mark.points[..] else { panic!("{:?}", mark.points) };
            let point = points.iter().find(|point| point.index == index).unwrap();
            assert!((f64::from(point.queue_depth) - mark.at).abs() < 0.5);
            let bytes = (point.reads.bytes + point.writes.bytes) as f64 / 1_048_576.0;
            let count = (point.reads.completed + point.writes.completed) as f64;
            let moved = if point.reported_as_throughput { bytes } else { count };
            let rate = moved / (point.duration_ns as f64 / 1e9);
            assert!((value / rate - 1.0).abs() < 1e-9, "{value} {rate}");
            known += 1;
        }
    }
    assert!(known > 80 && invalid > 0, "{known} {invalid}");
}

#[test]
fn published_figures_appear_only_with_equal_loads() {
    let database = |value| crate::PublishedValue {
        load: "database".to_owned(),
        quantity: crate::PublishedQuantity::Rate,
        value,
    };
    let drive = crate::PublishedDrive {
        name: "p3700-800gb".to_owned(),
        title: "P3700 800GB".to_owned(),
        document: "p3700".to_owned(),
        maxima: vec![database(192_881.0)],
        points: vec![(1, database(10_000.0))],
    };
    let paper =
        crate::Paper::from_toml("[[data-sheet]]\nname = \"P3700\"\nsequential-read-mb-s = 2800\n");
    let presentation = crate::Presentation {
        published: vec![drive.clone(), drive],
        paper: paper.unwrap(),
        ..crate::Presentation::default()
    };
    let (run, mut points) = (fixture::run(1), fixture::points(1));
    // Another load with a published name.
    for point in points.iter_mut().filter(|point| point.profile == "file-copy") {
        point.read_share = 0.4;
    }
    let document = compose(&run, &points, presentation);
    let names = |load: usize| {
        let all = pictures(&document);
        let picture = all.into_iter().find(|p| p.id == format!("load-{load}-rate")).unwrap();
        let series = picture.figure.series.iter().skip(1);
        series.map(|s| (s.name.clone(), s.marks.clone())).collect::<Vec<_>>()
    };
    let database = names(1);
    assert_eq!(database[0].0, "P3700 800GB (published)");
    assert_eq!(database[0].1[0].value, MarkValue::Known(10_000.0, None));
    assert_eq!(database[1].0, "P3700 800GB (published maximum)");
    assert!(database[1].1.iter().all(|m| m.value == MarkValue::Known(192_881.0, None)));
    assert_eq!(database.len(), 2, "the drive that was named twice stands once");
    assert_eq!(names(3), [], "not the published load");
    let streaming = names(4);
    let sheet = streaming.last().unwrap();
    assert_eq!(sheet.0, "P3700: data-sheet maximum");
    let MarkValue::Known(value, _) = sheet.1[0].value else { panic!() };
    assert!((value - 2800e6 / 1_048_576.0).abs() < 0.01, "{value}");
}

#[test]
fn data_sheet_applies_to_device_but_not_array() {
    let promised = |expression: &str, value: &str| {
        let mut run = fixture::run(1);
        run.targets[0].expression = expression.to_owned();
        run.targets[0].facts.push(qdepth_record::Observation {
            subject: "p3700".to_owned(),
            key: "data_sheet_sequential_read_mb_s".to_owned(),
            value: Ok(value.to_owned()),
            source: qdepth_record::source::DESCRIPTION.to_owned(),
        });
        let document = compose(&run, &fixture::points(1), Lang::En);
        let all = pictures(&document);
        let streaming = all.into_iter().find(|p| p.id == "load-4-rate").unwrap();
        let sheet = streaming.figure.series.iter().find(|s| s.name.contains("data-sheet maximum"));
        sheet.map(|series| (series.name.clone(), series.marks[0].value))
    };
    let (name, value) = promised("media:p3700", "2800 MB/s (10^6 bytes)").unwrap();
    assert_eq!(name, "nvme0n1: data-sheet maximum");
    let MarkValue::Known(value, _) = value else { panic!("{value:?}") };
    assert!((value - 2800e6 / 1_048_576.0).abs() < 0.01, "{value}");
    assert_eq!(promised("raid0(media:p3700*2)", "2800 MB/s (10^6 bytes)"), None);
    for wrong in ["", "inf MiB/s", "-1 MiB/s", "fast"] {
        assert_eq!(promised("media:p3700", wrong), None, "{wrong}");
    }
}

#[test]
fn terminal_tables_have_no_point_column() {
    for table in point_tables(&fixture::run(2), &fixture::points(2), Lang::En) {
        assert!(table.columns.iter().all(|column| column.heading != "Point"));
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
    }
}

#[test]
fn unknown_facts_are_grouped_by_reason() {
    let document = compose(&fixture::run(2), &fixture::points(2), Lang::En);
    let environment = document.sections.iter().find(|s| s.id == "environment").unwrap();
    let [Block::Drawing(_), Block::Table(known), Block::Table(unknown)] = &environment.blocks[..]
    else {
        panic!("{} blocks", environment.blocks.len());
    };
    let cells = known.rows.iter().flat_map(|row| &row.cells);
    assert!(cells.clone().all(|cell| !cell.text.contains("no cpufreq directory")));
    assert!(cells.clone().any(|cell| cell.text == "6.1.0-28-amd64"));
    let row = |subject: &str| unknown.rows.iter().find(|row| row.cells[0].text == subject).unwrap();
    assert_eq!(row("cpu").cells[1].text, "governor");
    assert_eq!(row("cpu").cells[2].text, "no cpufreq directory");
}

#[test]
fn snia_pages_show_tested_device_and_state() {
    let mut run = fixture::run(1);
    let tested = |run: &RunRecord, lang| compose(run, &fixture::points(1), lang).cover.tested;
    assert_eq!(tested(&run, Lang::En), "", "other plans have no such head");
    run.plan_name = "pts-iops".to_owned();
    assert!(tested(&run, Lang::En).contains(", not preconditioned by this run  |  "));
    let firmware = "8DV1\"}</style><script>";
    for (key, value) in [("firmware", firmware), ("preconditioned", "steady")] {
        let facts = &mut run.targets[0].facts;
        facts.retain(|fact| fact.key != key);
        facts.push(fixture::observation("nvme0n1", key, Ok(value), "here"));
    }
    let head = tested(&run, Lang::En);
    let begins = format!("pts-iops  |  nvme0n1, firmware {firmware}, preconditioned: steady  |  ");
    assert!(head.starts_with(&begins) && head.contains("E5-2637"), "{head}");
    assert!(tested(&run, Lang::Ja).contains("プリコンディショニング：定常状態"));
    let document = compose(&run, &fixture::points(1), Lang::En);
    let page = html(&document).unwrap();
    let rule = page.split_once("@top-left { content: \"").unwrap().1.split_once("\";").unwrap().0;
    assert!(rule.starts_with("pts-iops  |  nvme0n1, firmware 8DV1\\000022"), "{rule}");
    assert!(!rule.contains(['<', '}']), "{rule}");
    // A space in the text must not end an escaped character.
    run.targets[0].facts.retain(|fact| fact.key != "firmware");
    run.targets[0].facts.push(fixture::observation("nvme0n1", "firmware", Ok("a_ b"), "here"));
    let page = html(&compose(&run, &fixture::points(1), Lang::En)).unwrap();
    assert!(page.contains("firmware a\\00005f  b, "), "{}", page.len());
    let files = crate::typst(&document);
    let markup = std::str::from_utf8(&files["document.typ"]).unwrap();
    assert!(markup.contains("tested: \"pts-iops  |  nvme0n1, firmware"), "{markup:.900}");
}

/// A table, a picture or a file taken out of an emulated report says that it is emulated; one from
/// a measured report does not.
#[test]
fn every_emulated_figure_and_file_is_marked() {
    let mut run = fixture::run(2);
    for emulated in [true, false] {
        run.emulated = emulated;
        for lang in [Lang::En, Lang::Ja] {
            let document = compose(&run, &fixture::points(2), lang);
            let results =
                |id: &str| !["environment", "parameters", "method", "media"].contains(&id);
            let sections = document.sections.iter().filter(|section| results(&section.id));
            let mut tables = 0;
            for block in sections.flat_map(|section| &section.blocks) {
                if let Block::Table(table) = block {
                    assert_eq!(table.caption.contains("EMULATED"), emulated, "{}", table.caption);
                    tables += 1;
                }
            }
            assert!(tables > 3, "{tables}");
            for picture in pictures(&document) {
                let svg = picture.svg();
                let seen = svg.split_once("</desc>").unwrap().1;
                assert_eq!(seen.contains(">EMULATED</text>"), emulated, "{}", picture.title);
                assert_eq!(picture.data.caption.contains("EMULATED"), emulated);
            }
            for (name, csv) in crate::figures_csv(&document) {
                let text = String::from_utf8(csv).unwrap();
                let rows = text.lines().skip(1);
                assert!(rows.clone().all(|row| row.starts_with(&emulated.to_string())), "{name}");
                assert!(rows.count() > 0, "{name}");
            }
        }
    }
}
