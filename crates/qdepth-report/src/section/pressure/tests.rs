//! Tests from hand-made records of steps to tables, sentences and pictures.

use proptest::prelude::*;
use qdepth_measure::{Code, Finding, LatencyHistogram, Nanos};
use qdepth_record::{DirectionRecord, IntervalRecord, PointRecord, RunRecord};

use crate::compose;
use crate::document::{Block, Document, Mark};
use crate::figure::MarkValue;
use crate::html;
use crate::point_tables;
use crate::presentation::Presentation;
use crate::summary_sentences;
use crate::tests::fixture;
use crate::words::Lang;

const SECOND: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;

/// A reader's point. Half of the reads are 10 % shorter than the mean, and half are longer.
fn reader(target: u32, group: u32, step: &str, mean_ns: u64) -> PointRecord {
    let completed = SECOND / mean_ns;
    let mut latency = LatencyHistogram::new();
    for n in 0..completed {
        latency.record(Nanos(if n % 2 == 0 {
            mean_ns - mean_ns / 10
        } else {
            mean_ns + mean_ns / 10
        }));
    }
    let mut encoded = Vec::new();
    let mut of_interval = LatencyHistogram::new();
    of_interval.record(Nanos(mean_ns));
    of_interval.encode(&mut encoded);
    let interval = |n: u64| IntervalRecord {
        start_ns: n * SECOND / 100,
        length_ns: SECOND / 100,
        reads: completed / 100,
        read_latency: qdepth_measure::EncodedHistogram(encoded.clone()),
        ..IntervalRecord::default()
    };
    PointRecord {
        profile: "reader".into(),
        profile_title: "Reader".into(),
        read_share: 1.0,
        queue_depth: 1,
        arrivals: "closed".into(),
        reads: DirectionRecord {
            completed,
            bytes: completed * 8192,
            latency,
            ..DirectionRecord::default()
        },
        intervals: (0..100).map(interval).collect(),
        ..point(target, group, step)
    }
}

fn writers(target: u32, group: u32, step: &str, asked_mib: u64, achieved_mib: u64) -> PointRecord {
    PointRecord {
        profile: "writers".into(),
        profile_title: "Writers".into(),
        queue_depth: 8,
        offered_io_per_s: Some((asked_mib * MIB / 8192) as f64),
        arrivals: format!("paced {}/s", asked_mib * MIB / 8192),
        writes: DirectionRecord {
            completed: achieved_mib * MIB / 8192,
            bytes: achieved_mib * MIB,
            ..DirectionRecord::default()
        },
        ..point(target, group, step)
    }
}

fn point(target: u32, group: u32, step: &str) -> PointRecord {
    PointRecord {
        group,
        target,
        step: step.into(),
        block_size: "8KiB".into(),
        block_size_mean_bytes: 8192.0,
        random_share: 1.0,
        streams: 1,
        workers: 1,
        duration_ns: SECOND,
        ..PointRecord::default()
    }
}

/// Steps of 100 MiB/s each, with the reader's mean latencies by target. `last_achieved` is the
/// write load of the last step, if the target does not follow it.
fn staircase(means_ns: &[&[u64]], last_achieved: Option<u64>) -> Vec<PointRecord> {
    let mut points = Vec::new();
    for (target, means) in means_ns.iter().enumerate() {
        for (n, mean) in means.iter().enumerate() {
            let (asked, group) = ((n as u64 + 1) * 100, (target * 100 + n) as u32);
            let step = format!("{asked} MiB/s");
            let last = n + 1 == means.len();
            let achieved = last_achieved.filter(|_| last).unwrap_or(asked);
            points.push(reader(target as u32, group, &step, *mean));
            points.push(writers(target as u32, group, &step, asked, achieved));
        }
    }
    for (index, point) in points.iter_mut().enumerate() {
        point.index = index as u32;
    }
    points
}

/// The achieved load of a step that was not sustained belongs on the axis of achieved loads.
#[test]
fn unsustained_step_is_marked_and_named_by_load() {
    let document = example(Lang::En);
    let [Block::Pictures(pictures), Block::Table(table)] = &*document.answer else { panic!() };
    assert!(pictures[0].description.contains(" at 390 MiB/s."), "{}", pictures[0].description);
    let heads: Vec<&str> = table.rows.iter().map(|row| &*row.cells[0].text).collect();
    assert!(heads.last().unwrap().contains("(not sustained)"), "{heads:?}");
    assert!(!heads[0].contains("not sustained"), "{heads:?}");
}

/// A report of two targets under write pressure.
pub(crate) fn example(lang: Lang) -> crate::Document {
    compose(&run(2), &staircase(&[NAND, FLAT], Some(390)), lang)
}

fn run(targets: u32) -> RunRecord {
    RunRecord { plan_name: "write-pressure".into(), ..fixture::run(targets) }
}

fn sentences(points: &[PointRecord], targets: u32, limit: &str) -> String {
    let limits = vec![limit.parse().expect("a limit")];
    summary_sentences(&run(targets), points, Presentation { limits, ..Presentation::default() })
        .join(" ")
}

fn document(points: &[PointRecord]) -> Document {
    compose(&run(2), points, Lang::En)
}

/// Scatters the rates by some per cent without a pattern, so that they have a 95 % interval.
fn scatter(points: &mut [PointRecord]) {
    let readers = points.iter_mut().filter(|point| point.read_share >= 1.0);
    for (at, interval) in readers.flat_map(|point| point.intervals.iter_mut().enumerate()) {
        let draw = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59;
        interval.reads += interval.reads * draw / 300;
    }
}

const NAND: &[u64] = &[100_000, 150_000, 400_000, 1_000_000];
const FLAT: &[u64] = &[10_000, 10_000, 11_000, 12_500];

#[test]
fn rise_ends_at_the_highest_sustained_step() {
    let text = sentences(&staircase(&[NAND], Some(390)), 1, "p50=1h");
    assert!(text.contains("to 400 µs at 300 MiB/s, by a factor of 4"), "{text}");
    let text = sentences(&staircase(&[NAND], None), 1, "p50=1h");
    assert!(text.contains("to 1 ms at 400 MiB/s, by a factor of 10"), "{text}");
}

/// The only common step has no writes.
#[test]
fn comparison_without_writes_states_what_each_sustained() {
    let mut points = vec![
        reader(0, 0, "0 MiB/s", 100_000),
        reader(0, 1, "100 MiB/s", 400_000),
        writers(0, 1, "100 MiB/s", 100, 100),
        reader(1, 100, "0 MiB/s", 50_000),
        reader(1, 101, "100 MiB/s", 7_000_000),
        writers(1, 101, "100 MiB/s", 100, 88),
    ];
    for (index, point) in points.iter_mut().enumerate() {
        point.index = index as u32;
    }
    let text = sentences(&points, 2, "p50=1h");
    let sustained = text.find("nvme0n1 sustained up to 100 MiB/s of writes, with a mean read");
    let common = text.find("At 0 MiB/s of writes").expect("the common step");
    assert!(sustained.is_some_and(|at| at < common), "{text}");
    assert!(!text.contains("nvme1n1 sustained"), "{text}");
}

#[test]
fn pressure_table_has_rows_per_step_and_target() {
    let points = staircase(&[NAND, FLAT], Some(390));
    let tables = point_tables(&run(2), &points, Lang::En);
    assert_eq!(tables.len(), 1);
    let rows: Vec<Vec<&str>> = tables[0]
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| cell.text.as_str()).collect())
        .collect();
    assert_eq!(rows.len(), 8);
    assert_eq!(&rows[0][..6], ["100 MiB/s", "nvme0n1", "100", "100", "100", "110"]);
    assert_eq!(&rows[6][..5], ["400 MiB/s", "nvme0n1", "400", "390", "1,000"]);
    // 1,000 reads support a 99th percentile, but no higher one.
    assert_eq!(&rows[6][6..8], ["–", "–"]);
    let marked: Vec<usize> = (0..8).filter(|row| rows[*row].contains(&"not sustained")).collect();
    assert_eq!(marked, [6, 7]);
}

#[test]
fn comparison_uses_highest_step_of_all_targets() {
    let points = staircase(&[NAND, FLAT], Some(390));
    let text = sentences(&points, 2, "mean=200us");
    assert!(text.contains("At 300 MiB/s of writes"), "{text}");
    assert!(text.contains("400 µs on nvme0n1 and 11.0 µs on nvme1n1"), "{text}");
    assert!(text.contains("36.4 times as fast"), "{text}");
    // No point lies between the two, so it is unknown where the limit is exceeded.
    let between = "exceeds 200 µs between write loads of 200 and 300 MiB/s";
    assert!(text.contains(between), "{text}");
    assert!(text.contains("stays within 200 µs up to a write load of 390 MiB/s"), "{text}");
}

#[test]
fn ratio_with_intervals_has_a_lower_bound() {
    let mut points = staircase(&[NAND, FLAT], None);
    scatter(&mut points);
    let text = sentences(&points, 2, "mean=200us");
    let quotient = number_before(&text, " times as fast").expect("a quotient");
    let least = number_before(&text, " times, by the").expect("a least quotient");
    assert!(least < quotient && least > 0.9 * quotient, "{text}");
}

#[test]
fn invalid_step_is_struck_and_not_drawn() {
    let mut points = staircase(&[NAND, FLAT], None);
    points[7].findings.push(Finding::invalid(Code::IoErrors));
    let text = sentences(&points, 2, "mean=900us");
    assert!(text.contains("At 300 MiB/s of writes"), "{text}");
    assert!(text.contains("stays within 900 µs up to a write load of 300 MiB/s"), "{text}");
    let table = &point_tables(&run(2), &points, Lang::En)[0];
    assert_eq!(table.rows[6].cells[4].mark, Mark::Struck);
    let document = document(&points);
    let section = section(&document, "write-pressure");
    let line = section.blocks.iter().find_map(|block| match block {
        Block::Pictures(pictures) => Some(&pictures[0].figure.series[0]),
        _ => None,
    });
    let after = line.expect("a picture").marks.iter().filter(|mark| mark.at > 3.0);
    assert!(after.clone().all(|mark| mark.value == MarkValue::Missing), "{after:?}");
}

#[test]
fn pressure_section_has_diagrams_and_percentile_counts() {
    let document = document(&staircase(&[NAND, FLAT], Some(390)));
    let section = section(&document, "write-pressure");
    assert_eq!(section.title, "Responsiveness under write pressure");
    let mut ids = Vec::new();
    let mut tables = Vec::new();
    for block in &section.blocks {
        match block {
            Block::Pictures(pictures) => ids.extend(pictures.iter().map(|p| p.id.as_str())),
            Block::Table(table) => tables.push(table),
            _ => {}
        }
    }
    assert_eq!(
        ids,
        ["pressure-time-linear", "pressure-time-log", "pressure-load-linear", "pressure-load-log"]
    );
    assert_eq!(tables.len(), 3);
    let (values, counts) = (&tables[1].rows[0].cells, &tables[1].rows[1].cells);
    // 10,000 reads of 100 µs: 100, 10, 1, 0 … beyond.
    assert_eq!(values[1].text, "10,000");
    let texts = |cells: &[crate::Cell]| cells.iter().map(|c| c.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&counts[2..6]), ["100", "10", "1", "0"]);
    assert_eq!(texts(&values[4..6]), ["too few", "too few"]);
    assert_eq!((values[3].mark, values[4].mark), (Mark::Plain, Mark::Unknown));
    let page = html(&document).expect("a page");
    assert!(page.contains("Write load [MiB/s]") && !page.contains("NaN"));
    // There is no diagram of a single point of every step, and no table of maxima over steps.
    assert!(!page.contains("id=\"diagrams\"") && !page.contains("id=\"key-figures\""));
}

#[test]
fn recommendation_limits_writes_next_to_a_reader() {
    let at_once: &[u64] = &[100_000, 300_000, 400_000, 1_000_000];
    let recommended = |means: &[u64]| {
        let document = document(&staircase(&[means, FLAT], None));
        let texts = |block: &Block| match block {
            Block::Paragraph(text) => Some(text.clone()),
            _ => None,
        };
        section(&document, "recommendation").blocks.iter().filter_map(texts).collect::<Vec<_>>()
    };
    let [nand, flat, ..] = &recommended(NAND)[..] else { panic!("one for each target") };
    assert!(nand.starts_with("On nvme0n1, limit writes to 200 MiB/s"), "{nand}");
    assert!(nand.contains("from 300 MiB/s on"), "{nand}");
    assert!(
        flat.starts_with("On nvme1n1, the mean read latency does not permanently exceed"),
        "{flat}"
    );
    let advice = &recommended(at_once)[0];
    assert!(advice.contains("avoid writes") && advice.contains("from 200 MiB/s on"), "{advice}");
}

#[test]
fn knee_is_a_lasting_doubling_of_latency() {
    let knee_if = |means: &[u64], last_achieved: Option<u64>| {
        let points = staircase(&[means], last_achieved);
        let document = compose(&run(1), &points, Lang::En);
        let blocks = document.sections.into_iter().flat_map(|section| section.blocks);
        let mut texts =
            blocks.filter_map(|b| if let Block::Paragraph(t) = b { Some(t) } else { None });
        texts.find(|text| text.contains(" knee")).expect("a knee or none")
    };
    let knee = |means: &[u64]| knee_if(means, None);
    // A step that was not sustained has the load that was reached, not the one requested.
    let stopped = knee_if(&[100_000, 300_000], Some(120));
    assert!(stopped.contains("and 120 MiB/s (300 µs)"), "{stopped}");
    assert!(knee(NAND).contains(
        "knee of nvme0n1 lies between 200 MiB/s (mean read latency 150 µs) and 300 MiB/s (400 µs)"
    ));
    assert!(knee(FLAT).contains("nvme0n1 has no knee"));
    // The latency falls below twice the first again, so the first rise is not the knee.
    assert!(knee(&[100_000, 300_000, 120_000, 500_000]).contains("between 300 MiB/s"));
}

/// Reads in step with an exact schedule made the curve of an emulated drive zigzag.
#[test]
fn falling_latency_under_pressure_is_explained() {
    let falls = |points: &[PointRecord]| {
        let document = document(points);
        let blocks = &section(&document, "write-pressure").blocks;
        let texts = blocks.iter().filter_map(|b| match b {
            Block::Paragraph(text) if text.contains("does not grow") => Some(text.clone()),
            _ => None,
        });
        texts.collect::<Vec<String>>()
    };
    let means = [100_000, 200_000, 150_000, 300_000];
    let mut points = staircase(&[&means, NAND], None);
    scatter(&mut points);
    let text = falls(&points).join(" ");
    assert!(text.contains("200 µs at 200 MiB/s and 150 µs at 300 MiB/s"), "{text}");
    assert!(!text.contains("nvme1n1"), "{text}");
}

#[test]
fn steps_without_write_pressure_are_listed_by_load() {
    let mut points = staircase(&[&[100_000, 200_000]], None);
    for point in &mut points {
        point.read_share = 0.5;
    }
    let table = &point_tables(&run(1), &points, Lang::En)[0];
    let texts: Vec<&str> = table.rows.iter().map(|row| row.cells[1].text.as_str()).collect();
    assert_eq!(texts, ["Reader", "Writers", "Reader", "Writers"]);
    assert_eq!(section(&document(&points), "steps").title, "Steps");
}

fn section<'a>(document: &'a crate::Document, id: &str) -> &'a crate::Section {
    document.sections.iter().find(|section| section.id == id).expect("the section")
}

/// The number before a word in a sentence.
fn number_before(text: &str, word: &str) -> Option<f64> {
    let (before, _) = text.split_once(word)?;
    before.rsplit(' ').next()?.replace([',', '('], "").parse().ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn pressure_sentences_agree_with_their_data(
        first in prop::collection::vec(10_000u64..2_000_000, 2..5),
        second in prop::collection::vec(10_000u64..2_000_000, 2..5),
        short in prop::option::of(1u64..100),
        limit_us in 5u64..3_000,
    ) {
        let means: [&[u64]; 2] = [&first, &second];
        let mut points = staircase(&means, short);
        scatter(&mut points);
        let text = sentences(&points, 2, &format!("mean={limit_us}us"));
        // Steps that both followed: all but the last one of a target that did not follow it.
        let followed = |means: &[u64]| means.len() - usize::from(short.is_some());
        let common = followed(&first).min(followed(&second));
        let mean = |means: &[u64]| {
            let completed = SECOND / means[common - 1];
            let (ns, odd) = (means[common - 1], completed / 2);
            let sum = (completed - odd) * (ns - ns / 10) + odd * (ns + ns / 10);
            sum as f64 / completed as f64
        };
        let (a, b) = (mean(&first), mean(&second));
        let step = format!("At {} MiB/s of writes", common * 100);
        prop_assert!(text.contains(&step), "{text}");
        let better = if a <= b { "nvme0n1" } else { "nvme1n1" };
        if text.contains(" overlap.") {
            prop_assert!(text.contains(&format!("CIs of {better} and ")), "{text}");
        } else {
            prop_assert!(text.contains(&format!("At this step, {better} responded")), "{text}");
            let quotient = number_before(&text, " times as fast").expect("a quotient");
            let truth = a.max(b) / a.min(b);
            prop_assert!((quotient / truth - 1.0).abs() < 0.0051, "{quotient} {truth} {text}");
            if let Some(least) = number_before(&text, " times, by the") {
                prop_assert!(least <= truth && least >= 0.99, "{least} {truth} {text}");
            }
        }
        let limit_ns = limit_us as f64 * 1e3;
        for (name, means) in [("nvme0n1", &first), ("nvme1n1", &second)] {
            let begin = format!("On {name}, the reader's mean");
            let sentence = text.split(". ").find(|s| s.starts_with(&begin)).expect("a limit");
            let over = means.iter().any(|ns| *ns as f64 > limit_ns * 1.001);
            let within = means.iter().all(|ns| (*ns as f64) < limit_ns * 0.999);
            prop_assert!(!over || !sentence.contains("stays within"), "{sentence}");
            prop_assert!(!within || sentence.contains("stays within"), "{sentence}");
        }
    }
}
