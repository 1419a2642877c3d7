//! Tests that every plan has its question, and every run an answer on the first page.

#![expect(clippy::disallowed_methods, reason = "tests read the plans that are shipped")]

use std::path::Path;

use qdepth_measure::{Code, Finding, Limit};
use qdepth_record::{AnswerEntry, ExpectedRecord, PointRecord, RunState};

use super::*;
use crate::compose;
use crate::figure::Horizontal;
use crate::html;
use crate::presentation::Presentation;
use crate::section::summary;
use crate::tests::fixture;
use crate::words::{Lang, entry, step_title, words};

/// Names and texts of the shipped plans.
fn shipped_plans() -> impl Iterator<Item = (String, String)> {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    std::fs::read_dir(plans).unwrap().map(|file| file.unwrap().path()).map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&file).unwrap())
    })
}

#[test]
fn every_shipped_plan_has_a_translated_question() {
    let names: Vec<String> = shipped_plans().map(|(name, _)| name).collect();
    for lang in Lang::ALL {
        let questions = words(lang).answer.questions;
        for name in &names {
            let question = entry(questions, name).unwrap_or_else(|| panic!("{name}: {lang:?}"));
            assert!(question.ends_with(['?', '。']), "{question}");
        }
        assert_eq!(names.len(), questions.len(), "{lang:?}");
    }
}

/// A report in another language contains no English: titles of steps are stored with the plan.
#[test]
fn every_shipped_step_title_is_translated() {
    let mut titles = 0;
    for (name, text) in shipped_plans() {
        for step in text.split("[[step]]").skip(1) {
            let title = step.split_once("title = \"").and_then(|(_, rest)| rest.split_once('"'));
            let (title, rest) = title.unwrap_or_else(|| panic!("{name}: {step}"));
            // Repeated steps are numbered.
            let number = if rest.contains("\ntimes = ") { " 2/6" } else { "" };
            let title = format!("{title}{number}");
            for lang in Lang::ALL.into_iter().filter(|lang| *lang != Lang::En) {
                let translated = step_title(lang, &title);
                assert!(
                    !translated.contains("pause") && !translated.contains("after"),
                    "{title}: {translated}"
                );
                assert_ne!(translated, title);
            }
            titles += 1;
        }
    }
    assert!(titles > 10, "{titles}");
}

#[test]
fn first_page_has_one_diagram_and_small_table() {
    for lang in Lang::ALL {
        for targets in [1, 2] {
            let (run, points) = (fixture::run(targets), fixture::points(targets));
            let document = compose(&run, &points, lang);
            let [Block::Pictures(pictures), Block::Table(table)] = &*document.answer else {
                panic!("{:?}", document.answer.len());
            };
            assert_eq!((pictures.len(), table.rows.len()), (1, 5));
            assert!(table.columns.len() < 8 && !document.question.is_empty());
            let page = html(&document).unwrap();
            let first = page.split("<nav").next().unwrap();
            assert!(first.contains(&document.question) && !first.contains(&run.plan_hash));
            assert!(!first.contains(&run.id), "ids belong to the end");
            assert!(page.contains(&run.plan_hash) && page.contains(&run.id));
        }
    }
}

/// A single load is shown in its measured unit; several have only shares of their maxima in common.
#[test]
fn single_load_is_shown_in_its_unit() {
    let (run, mut points) = (fixture::run(1), fixture::points(1));
    let label = |points: &[PointRecord]| {
        let document = compose(&run, points, Lang::En);
        let Some(Block::Pictures(pictures)) = document.answer.first() else { panic!() };
        (pictures[0].id.clone(), pictures[0].figure.y_label.clone())
    };
    assert_eq!(label(&points).1, "Share of the maximum [%]");
    let profile = points[0].profile.clone();
    points.retain(|point| point.profile == profile);
    let (id, axis) = label(&points);
    assert!(id == "answer" && axis.contains("IOPS"), "{id}: {axis}");
}

#[test]
fn load_without_valid_point_is_named() {
    let (run, mut points) = (fixture::run(2), fixture::points(2));
    let answer = |points: &[PointRecord]| compose(&run, points, Lang::En).summary.swap_remove(0);
    assert!(!answer(&points).contains("No valid point"), "{}", answer(&points));
    let fail = |point: &mut PointRecord| point.findings.push(Finding::invalid(Code::IoErrors));
    let is_lost = |point: &PointRecord| match &*point.profile {
        "restore" => true,
        "streaming" => point.target == 1,
        _ => false,
    };
    points.iter_mut().filter(|point| is_lost(point)).for_each(fail);
    let name = &run.targets[1].name;
    let lacks = format!(" No valid point: Streaming ({name}) and Restore.");
    assert!(answer(&points).ends_with(&lacks), "{}", answer(&points));
    points.iter_mut().for_each(fail);
    let document = compose(&run, &points, Lang::En);
    assert_eq!(document.summary[0], "There is no valid result.");
    let graded = document.summary.last().unwrap();
    assert!(graded.starts_with("All 90 points are invalid (grade C)"), "{graded}");
}

/// Queue depths whose value lies in the interval of the largest share the maximum.
#[test]
fn tied_queue_depths_share_the_maximum() {
    let (run, mut points) = (fixture::run(1), fixture::points(1));
    points.retain(|point| point.profile == "database");
    let of_32 = points.iter().find(|point| point.queue_depth == 32).unwrap().clone();
    for point in points.iter_mut().filter(|point| point.queue_depth > 32) {
        point.reads = of_32.reads.clone();
        point.writes = of_32.writes.clone();
        point.intervals.clone_from(&of_32.intervals);
    }
    let top = points.last_mut().unwrap();
    top.reads.completed += 1;
    let text = compose(&run, &points, Lang::En).summary.swap_remove(0);
    assert!(text.contains(" IOPS (QD 32 to 256)"), "{text}");
    let page = html(&compose(&run, &points, Lang::En)).unwrap();
    assert!(page.contains(" at 256 (already at 32, within its CI)."));
}

/// Two targets: the table shows ratios of the largest values.
#[test]
fn ratio_table_divides_the_maxima() {
    let (run, points) = (fixture::run(2), fixture::points(2));
    let presentation = Presentation::from(Lang::En);
    let view = View::new(&run, &points, None, &presentation);
    let factors = factors::collect(&view).unwrap();
    let table = factors.table();
    for (row, load) in table.rows.iter().zip(view.swept()) {
        let top = |target: u32| load.maximum(target).unwrap().main().value;
        let quotient: f64 = row.cells[3].text.split('\u{a0}').next().unwrap().parse().unwrap();
        assert!((quotient - top(1) / top(0)).abs() < 0.01, "{row:?}");
    }
    let sentence = factors.sentence().unwrap();
    assert!(sentence.starts_with("Compared with nvme0n1, the largest values are "), "{sentence}");
}

/// A column without a valid point does not displace one that differs most.
#[test]
fn largest_ratios_are_named_despite_invalid_target() {
    let (run, mut points) = (fixture::run(6), fixture::points(6));
    for point in points.iter_mut().filter(|point| point.target == 1) {
        point.findings.push(Finding::invalid(Code::DeviceGone));
    }
    // Each of targets 2 to 5 is twice as fast as the one before.
    for point in &mut points {
        let times = 1 << point.target.saturating_sub(2);
        for slice in &mut point.intervals {
            (slice.reads, slice.writes) = (slice.reads * times, slice.writes * times);
        }
        for direction in [&mut point.reads, &mut point.writes] {
            direction.completed *= times;
        }
    }
    let presentation = Presentation::from(Lang::En);
    let view = View::new(&run, &points, None, &presentation);
    let sentence = factors::collect(&view).unwrap().sentence().unwrap();
    let ratios = ["1.31 to 2.62 times", "1.31 to 5.24 times", "1.31 to 10.48 times"];
    assert_eq!(ratios.map(|ratio| sentence.contains(ratio)), [false, true, true], "{sentence}");
    assert!(sentence.contains("2 others are in the table"), "{sentence}");
}

/// Large gains do not displace the only column that is slower than the base.
#[test]
fn only_loss_is_named_among_larger_gains() {
    let (run, mut points) = (fixture::run(6), fixture::points(6));
    for point in &mut points {
        let times = 1 << point.target.saturating_sub(2);
        let share = if point.target == 1 { 4 } else { 1 };
        for slice in &mut point.intervals {
            slice.reads = slice.reads * times / share;
            slice.writes = slice.writes * times / share;
        }
        for direction in [&mut point.reads, &mut point.writes] {
            direction.completed = direction.completed * times / share;
        }
    }
    let presentation = Presentation::from(Lang::En);
    let view = View::new(&run, &points, None, &presentation);
    let sentence = factors::collect(&view).unwrap().sentence().unwrap();
    assert!(sentence.contains("nvme1n1") && sentence.contains("times as high"), "{sentence}");
}

#[test]
fn interrupted_run_names_its_measured_targets() {
    let mut run = fixture::run(2);
    run.state = RunState::Interrupted;
    let presentation = Presentation::from(Lang::En);
    let view =
        |points: &[PointRecord]| summary::measured(&View::new(&run, points, None, &presentation));
    assert!(view(&fixture::points(2)).contains("nvme1n1"));
    assert!(!view(&fixture::points(1)).contains("nvme1n1"), "{}", view(&fixture::points(1)));
}

/// The closed loop that bounds a search for a rate is not its conclusion.
#[test]
fn search_concludes_with_its_answer() {
    let (run, points) = (fixture::run(1), fixture::points(1));
    let presentation = Presentation::from(Lang::En);
    let mut view = View::new(&run, &points, None, &presentation);
    let limit: Limit = "p99=1ms".parse().unwrap();
    view.answers = vec![AnswerEntry {
        target: 0,
        limits: vec![limit],
        answer: "always".into(),
        io_per_s: Some(1640.0),
        confidence_interval: None,
        limit: None,
        mean_in_flight: None,
        generator_limits: false,
    }];
    let conclusion = summary::conclusion(&view).concat();
    assert!(conclusion.starts_with(&sentence(&view)), "{conclusion}");
    assert!(!conclusion.contains(" reaches "), "{conclusion}");
}

/// A directory next to its twin: differences by chance are not reported.
#[test]
fn ratios_within_intervals_are_not_significant() {
    let run = fixture::run(2);
    let mut points = fixture::points(2);
    let (first, second): (Vec<_>, Vec<_>) = points.drain(..).partition(|point| point.target == 0);
    // The second has the rates of the first, sample by sample, 0.5 % higher.
    let raised = second.into_iter().zip(&first).map(|(point, like)| {
        let mut of_first = like.clone();
        for slice in &mut of_first.intervals {
            (slice.reads, slice.writes) = (slice.reads * 201 / 200, slice.writes * 201 / 200);
        }
        for direction in [&mut of_first.reads, &mut of_first.writes] {
            direction.completed = direction.completed * 201 / 200;
        }
        (of_first.index, of_first.target) = (point.index, point.target);
        of_first
    });
    let points: Vec<PointRecord> = first.clone().into_iter().chain(raised).collect();
    let sentence = |lang: Lang| {
        let presentation = Presentation::from(lang);
        let view = View::new(&run, &points, None, &presentation);
        factors::collect(&view).unwrap().sentence().unwrap()
    };
    assert!(
        sentence(Lang::En).starts_with("There is no significant difference between the maxima of "),
        "{}",
        sentence(Lang::En)
    );
    assert!(sentence(Lang::Ja).contains("差は確認できません"), "{}", sentence(Lang::Ja));
}

#[test]
fn run_at_depth_1_is_answered_by_latency() {
    let (mut run, mut points) = (fixture::run(1), fixture::points(1));
    points.retain(|point| point.queue_depth == 1);
    run.plan_name = "latency".into();
    let document = compose(&run, &points, Lang::En);
    assert!(document.summary[0].starts_with("The mean latency at queue depth 1 is "));
    // For several targets, too, the table shows latencies, not ratios of rates.
    let mut points = fixture::points(2);
    points.retain(|point| point.queue_depth == 1);
    let both = compose(&fixture::run(2), &points, Lang::En);
    let table =
        both.answer.iter().find_map(|b| if let Block::Table(t) = b { Some(t) } else { None });
    let heads = table.unwrap().columns.iter().map(|column| &*column.heading).collect::<Vec<_>>();
    assert_eq!(heads, ["Load profile", "Target", "mean", "p99", "p99.9"]);
    assert_eq!(document.question, "What is the minimum latency of this storage?");
    run.plan_name = "of-my-own".into();
    assert_eq!(compose(&run, &points, Lang::En).question, "");
}

/// With a single queue depth, a share of the maximum is meaningless: the question is what each load
/// reaches.
#[test]
fn loads_at_one_depth_are_answered_by_extremes() {
    let (mut run, mut points) = (fixture::run(1), fixture::points(1));
    points.retain(|point| point.queue_depth == 32);
    run.plan_name = "of-my-own".into();
    for lang in Lang::ALL {
        let document = compose(&run, &points, lang);
        let sentence = &document.summary[0];
        let [Block::Pictures(pictures), Block::Table(table)] = &*document.answer else { panic!() };
        assert_eq!(table.rows.len(), 5);
        let figure = &pictures[0].figure;
        assert_eq!(figure.series.len(), 1, "one axis, one unit");
        for load in ["IOPS", "MiB/s"] {
            assert!(sentence.contains(load), "{sentence}");
        }
        let drawn = document.sections.iter().flat_map(|section| &section.blocks);
        let drawn = drawn.filter(|block| matches!(block, Block::Pictures(_))).count();
        assert_eq!(drawn, 0, "a single value is not a curve");
        let diagrams = document.sections.iter().find(|section| section.id == "diagrams");
        assert_eq!(diagrams.unwrap().blocks.len(), 1, "the key figures state each value");
    }
}

/// CrystalDiskMark's eight numbers: loads at different queue depths have a bar and a row each.
#[test]
fn loads_at_different_depths_have_separate_bars() {
    let (run, mut points) = (fixture::run(1), fixture::points(1));
    points.retain(|point| match &*point.profile {
        "database" | "file-server" => [1, 32].contains(&point.queue_depth),
        "streaming" | "restore" => [1, 8].contains(&point.queue_depth),
        _ => false,
    });
    let document = compose(&run, &points, Lang::En);
    let [Block::Pictures(pictures), Block::Table(table)] = &*document.answer else { panic!() };
    let Horizontal::Groups(groups) = &pictures[0].figure.x_axis else { panic!() };
    assert_eq!((groups.len(), table.rows.len()), (4, 8));
    let names: Vec<&str> = pictures[0].figure.series.iter().map(|series| &*series.name).collect();
    assert_eq!(names, ["queue depth 1", "queue depth 8", "queue depth 32"]);
    assert_eq!(table.rows[1].cells[0].text, "Database, queue depth 32");
    assert_eq!(pictures[0].figure.y_label, "Throughput [MiB/s]");
    // Loads that were all measured at the same queue depths have curves.
    let (run, mut points) = (fixture::run(1), fixture::points(1));
    points.retain(|point| [1, 32].contains(&point.queue_depth));
    let document = compose(&run, &points, Lang::En);
    let Some(Block::Pictures(pictures)) = document.answer.first() else { panic!() };
    assert_eq!(pictures[0].figure.y_label, "Share of the maximum [%]");
}

/// Write saturation is a time series within one point: start, end, and the values between.
#[test]
fn saturation_test_is_answered_by_start_and_end() {
    let (mut run, mut points) = (fixture::run(1), fixture::points(1));
    points.retain(|point| point.queue_depth == 32 && point.profile == "file-copy");
    run.plan_name = "pts-wsat".into();
    for slice in points.iter_mut().flat_map(|point| &mut point.intervals).skip(15) {
        (slice.reads, slice.writes) = (slice.reads / 2, slice.writes / 2);
    }
    let document = compose(&run, &points, Lang::En);
    let sentence = &document.summary[0];
    let share: f64 =
        sentence.split(", ").last().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(sentence.contains(" starts at ") && (share - 50.0).abs() < 5.0, "{sentence}");
    let [Block::Pictures(pictures), Block::Table(table)] = &*document.answer else { panic!() };
    assert_eq!((pictures[0].id.as_str(), table.rows.len()), ("answer", 6));
    assert!(matches!(pictures[0].figure.x_axis, Horizontal::UpTo(_)));
}

/// SNIA's matrix: one group per block size, and of seven read shares the first, the middle and the
/// last.
#[test]
fn loads_of_several_sizes_and_mixes_form_matrix() {
    let (run, like) = (fixture::run(1), fixture::points(1));
    let like = like.iter().find(|point| point.queue_depth == 32).unwrap();
    let (sizes, shares) = (["64KiB", "4KiB", "512B"], [1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0]);
    let mut points: Vec<PointRecord> = Vec::new();
    for share in shares {
        for (at, size) in sizes.iter().enumerate() {
            let mut point = like.clone();
            point.index = points.len() as u32;
            point.profile = format!("{size}-{share}");
            point.profile_title = format!("Random {size}, {share}");
            (point.read_share, point.block_size) = (share, (*size).into());
            point.block_size_mean_bytes = [65536.0, 4096.0, 512.0][at];
            for slice in &mut point.intervals {
                slice.reads *= (at + 1) as u64;
            }
            points.push(point);
        }
    }
    let document = compose(&run, &points, Lang::En);
    let [Block::Pictures(pictures), Block::Table(table)] = &*document.answer else { panic!() };
    let Horizontal::Groups(groups) = &pictures[0].figure.x_axis else { panic!() };
    assert_eq!(groups, &["512 B", "4 KiB", "64 KiB"]);
    let names: Vec<&str> = pictures[0].figure.series.iter().map(|series| &*series.name).collect();
    assert_eq!(names, ["100 % read", "50 % read", "0 % read"]);
    assert_eq!((table.rows.len(), table.columns.len()), (3, 4));
    assert!(table.note.contains("12 more loads"), "{}", table.note);
    assert!(document.summary[0].contains(" reaches "), "{}", document.summary[0]);
}

#[test]
fn equal_maxima_without_intervals_are_a_tie() {
    let mut points: Vec<PointRecord> = [1, 2, 1, 2].map(fixture::one_point).into();
    for (index, point) in points.iter_mut().enumerate() {
        (point.index, point.group) = (index as u32, index as u32);
        point.intervals.clear();
        if index > 1 {
            (point.profile, point.profile_title) = ("other".into(), "Other".into());
        }
    }
    let presentation = Presentation::default();
    let run = fixture::run(1);
    let text = sentence(&View::new(&run, &points, None, &presentation));
    let is_tied = |pair: &str| text.contains(&format!("{pair} reach the same value."));
    assert!(is_tied("Database and Other") || is_tied("Other and Database"), "{text}");
}

#[test]
fn invalid_points_are_left_out_of_expectation_aloud() {
    let mut run = fixture::run(1);
    let mut points: Vec<PointRecord> = [1, 2].map(fixture::one_point).into();
    (points[1].index, points[1].group) = (1, 1);
    for point in 0..2 {
        let medium = "media:p3700-800gb".to_owned();
        run.expected.push(ExpectedRecord { point, medium, io_per_s: 1e4, ..Default::default() });
    }
    let expected = |points: &[PointRecord]| {
        let presentation = Presentation::default();
        summary::expected(&View::new(&run, points, None, &presentation)).unwrap()
    };
    assert!(!expected(&points).contains("left out"));
    points[1].findings.push(Finding::invalid(Code::LittlesLaw));
    let text = expected(&points);
    assert!(text.ends_with("; 1 point is left out, because it is invalid (grade C)."), "{text}");
    points[0].findings.push(Finding::invalid(Code::LittlesLaw));
    let none = expected(&points);
    assert!(none.starts_with("No point is compared with media:p3700-800gb"), "{none}");
}

/// An interrupted run answers nothing about the loads that were never measured.
#[test]
fn loads_without_record_are_on_page_one() {
    let (mut run, mut points) = (fixture::run(1), fixture::points(1));
    let planned = points.iter().map(|point| {
        format!(r#"{{"profile":"{}","profile_title":"{}"}}"#, point.profile, point.profile_title)
    });
    // The loads of a second target follow those of the first.
    let planned = planned.collect::<Vec<_>>().join(",");
    run.plan_text = format!(r#"{{"points":[{planned},{planned}]}}"#);
    let whole = compose(&run, &points, Lang::En).summary.swap_remove(0);
    assert!(!whole.contains("Not measured"), "{whole}");
    points.truncate(15);
    run.state = RunState::Interrupted;
    for text in ["Not measured: File copy, Streaming and Restore.", "測定されなかった負荷"]
    {
        let lang = if text.is_ascii() { Lang::En } else { Lang::Ja };
        let first = compose(&run, &points, lang).summary.swap_remove(0);
        assert!(first.contains(text), "{first}");
    }
}

/// The answer is on page one and in the conclusion, and nowhere between.
#[test]
fn answer_is_not_repeated_in_its_chapter() {
    let document = pressure::tests::example(Lang::En);
    let boxes = document.sections.iter().flat_map(|section| &section.blocks);
    assert!(!boxes.clone().any(|block| matches!(block, Block::SumUp { .. })));
    let conclusion = document.sections.iter().find(|section| section.id == "conclusion").unwrap();
    assert_eq!(conclusion.blocks[0], Block::Paragraph(document.summary[0].clone()));
}
