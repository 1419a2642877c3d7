//! The same for statements about counts over time: no value outside the observed range, and none
//! beyond the means that must lie in it.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use qdepth_record::PointRecord;

use super::{SETS, Values, figure, near, read, record};
use crate::document::Block;
use crate::presentation::Presentation;
use crate::section::{pts, timeline};
use crate::tests::fixture;
use crate::view::View;
use crate::words::Lang;

const MIB: f64 = 1_048_576.0;

/// Counts of I/Os in each tenth of a second of each point.
fn count_series() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop::collection::vec(prop::collection::vec(1u64..40_000, 20..60), 1..12)
}

fn in_a_row(counts: &[Vec<u64>]) -> Vec<PointRecord> {
    let point = |(index, counts): (usize, &Vec<u64>)| PointRecord {
        group: index as u32,
        ..record(index as u32, 0, 1, counts)
    };
    counts.iter().enumerate().map(point).collect()
}

/// Sentences of the only summary box of a section.
fn text_of(blocks: Vec<Block>) -> String {
    let boxes = blocks.into_iter().filter_map(|block| match block {
        Block::SumUp { sentences, .. } => Some(sentences.join(" ")),
        _ => None,
    });
    boxes.collect::<Vec<_>>().join(" ")
}

/// Refutes a sentence about the throughput over time, if it is wrong.
fn refuted(values: &Values, counts: &[Vec<u64>]) -> Option<String> {
    let rate = |count: f64| count * 8192.0 / MIB * 10.0;
    let tenths = || counts.iter().flatten().map(|count| rate(*count as f64));
    let (least, most) = (tenths().fold(f64::MAX, f64::min), tenths().fold(0.0, f64::max));
    let mean = tenths().sum::<f64>() / tenths().count() as f64;
    let [low, high, last] = ["low", "high", "last"].map(|name| figure(&values[name]));
    let not_above = |a: f64, b: f64| a <= b || near(a, b);
    let ordered =
        [(least, low), (low, mean), (mean, high), (high, most), (low, last), (last, high)];
    let wrong = ordered.iter().find(|(a, b)| !not_above(*a, *b));
    wrong.map(|(a, b)| format!("{a} is above {b}: {values:?}, mean {mean}"))
}

fn check_each(plan: &str, counts: &[Vec<u64>], check: impl Fn(&View<'_>, &str)) {
    let (mut run, points) = (fixture::run(1), in_a_row(counts));
    run.plan_name = plan.to_owned();
    let presentation = Presentation::from(Lang::En);
    let view = View::new(&run, &points, None, &presentation);
    for section in [timeline::section(&view), pts::section(&view)].into_iter().flatten() {
        check(&view, &text_of(section.blocks));
    }
}

#[test]
fn no_sentence_of_random_series_is_refuted() {
    let config = Config { cases: SETS, failure_persistence: None, ..Config::default() };
    let held = std::cell::Cell::new(0);
    let ran = TestRunner::new(config).run(&count_series(), |counts| {
        check_each("pts-wsat", &counts, |view, text| {
            let words = view.words;
            let (own, ends) = (words.timeline.course, words.pts.course);
            if let Some((values, rest)) = read(own, text) {
                assert_eq!((refuted(&values, &counts), rest), (None, ""), "{text}");
            } else {
                let (values, rest) =
                    read(ends, text).unwrap_or_else(|| panic!("{text} is not read"));
                assert_eq!(rest, "", "{text}");
                let mean =
                    |counts: &[u64]| counts.iter().sum::<u64>() as f64 * 10.0 / counts.len() as f64;
                // A single point goes from its first to its last 25th, in whole tenths of a second.
                let ends: [&[u64]; 2] = match &*counts {
                    [only] => {
                        let mut parts = only.chunks_exact(only.len().div_ceil(25));
                        [parts.next().unwrap(), parts.next_back().unwrap()]
                    }
                    several => [&several[0], &several[several.len() - 1]],
                };
                let [first, last] = ends.map(mean);
                assert!(near(figure(&values["first"]), first), "{first}: {text}");
                assert!(near(figure(&values["last"]), last), "{last}: {text}");
                let share = figure(&values["share"]) / 100.0;
                let of_first = last / first;
                let same = (share - of_first).abs() < 0.006 || near(share, of_first);
                assert!(same, "{of_first} of the first: {text}");
            }
            held.set(held.get() + 1);
        });
        Ok(())
    });
    ran.unwrap_or_else(|refuted| panic!("{refuted}"));
    assert!(held.get() >= 2 * SETS, "{} boxes were read", held.get());
}

/// The checker does not accept everything.
#[test]
fn refuter_detects_wrong_series_values() {
    let counts = vec![vec![1_000, 1_100, 900], vec![500, 400, 450]];
    let words = crate::words::words(Lang::En).timeline.course;
    let rate = |count: f64| format!("{:.2}", count * 8192.0 / MIB * 10.0);
    let refutation = |low: f64, high: f64, last: f64| {
        let values = [("target", "a".to_owned()), ("low", rate(low)), ("high", rate(high))];
        let values: Vec<_> = values.into_iter().chain([("last", rate(last))]).collect();
        let text = crate::words::fill_in(words, &values);
        refuted(&read(words, &text).expect("a sentence").0, &counts)
    };
    assert_eq!(refutation(400.0, 1_100.0, 450.0), None);
    assert!(refutation(400.0, 1_100.0, 300.0).is_some(), "below the lowest");
    assert!(refutation(800.0, 1_100.0, 900.0).is_some(), "the mean lies lower");
    assert!(refutation(400.0, 1_500.0, 450.0).is_some(), "never so high");
}
