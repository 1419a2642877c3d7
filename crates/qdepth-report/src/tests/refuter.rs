//! Checks the sentences next to diagrams like a hostile reader: each is parsed by its template and
//! compared with the values of the points. A sentence without a template fails, too.

mod explained;
mod judgement;
mod over_time;

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use qdepth_measure::{Estimate, LatencyHistogram, Nanos};
use qdepth_record::{DirectionRecord, IntervalRecord, Observation, PointRecord};

use crate::presentation::Presentation;
use crate::section::answer;
use crate::section::sweep::series;
use crate::tests::fixture;
use crate::view::View;
use crate::words::Lang;

/// Number of result sets.
const SETS: u32 = 1_000;
/// Tolerance for rounding to two or three digits.
const ROUNDED: f64 = 0.016;
/// Smallest fall or lead that must be mentioned.
const SMALL: f64 = 0.01;

type Values = BTreeMap<String, String>;

/// A template without its optional part, and with it.
fn variants(template: &str) -> Vec<String> {
    match template.split_once('[').and_then(|(a, rest)| Some((a, rest.split_once(']')?))) {
        Some((before, (optional, behind))) => {
            vec![format!("{before}{optional}{behind}"), format!("{before}{behind}")]
        }
        None => vec![template.to_owned()],
    }
}

/// Values of a sentence at the start of a text, and the rest of the text.
fn read<'t>(template: &str, text: &'t str) -> Option<(Values, &'t str)> {
    variants(template).iter().find_map(|template| {
        let (mut values, mut rest) = (Values::new(), text);
        let mut pieces = template.split('{');
        rest = rest.strip_prefix(pieces.next()?)?;
        let pieces: Vec<(&str, &str)> = pieces.filter_map(|piece| piece.split_once('}')).collect();
        for (index, (name, literal)) in pieces.iter().enumerate() {
            let ends_here = |at: &usize| {
                let behind = &rest[at + literal.len()..];
                index + 1 < pieces.len() || behind.is_empty() || behind.starts_with(' ')
            };
            let at = match literal.is_empty() && index + 1 < pieces.len() {
                // Two values side by side: the first is a number.
                true => rest.find(|c: char| !c.is_ascii_digit())?,
                false => rest.match_indices(literal).find(|(at, _)| ends_here(at))?.0,
            };
            values.insert((*name).to_owned(), rest[..at].to_owned());
            rest = &rest[at + literal.len()..];
        }
        // A value never contains the end of a sentence.
        let whole = values.values().all(|value| !value.contains(". "));
        whole.then_some((values, rest.trim_start()))
    })
}

fn figure(text: &str) -> f64 {
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.trim_end_matches('.').parse().unwrap_or(f64::NAN)
}

/// A duration in nanoseconds.
fn time(text: &str) -> f64 {
    let unit = text.rsplit(' ').next().unwrap_or_default();
    let scale = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let scale = scale.iter().find(|(name, _)| *name == unit).map_or(f64::NAN, |(_, scale)| *scale);
    figure(text) * scale
}

/// A curve: outstanding I/Os, rate, mean latency.
type Curve = Vec<(u32, Estimate, f64)>;

fn near(claimed: f64, value: f64) -> bool {
    (claimed / value - 1.0).abs() <= ROUNDED
}

fn certain(below: &Estimate, above: &Estimate, share: f64) -> bool {
    matches!((below.interval, above.interval),
        (Some((_, high)), Some((low, _))) if high < (1.0 - share) * low)
}

struct Reader<'c> {
    curve: &'c Curve,
    values: Values,
}

impl Reader<'_> {
    fn at(&self, name: &str) -> &(u32, Estimate, f64) {
        let queue_depth = figure(&self.values[name]) as u32;
        self.curve.iter().find(|(at, ..)| *at == queue_depth).expect("a point that was measured")
    }
    /// Checks that the stated value is that at the stated place.
    fn holds(&self, name: &str, position: &str) {
        let (text, (at, value, _)) = (&self.values[name], self.at(position));
        assert!(near(figure(text), value.value), "{text} at {at}: {value:?}");
        let (value, plain) = (value.value, figure(text));
        assert!(!text.starts_with("just under") || value < plain, "{text}: {value}");
        assert!(!text.starts_with("just over") || value > plain, "{text}: {value}");
    }
    fn largest(&self) -> f64 {
        self.curve.iter().map(|(_, value, _)| value.value).fold(0.0, f64::max)
    }
    fn share(&self) -> f64 {
        figure(&self.values["share"]) / 100.0 + 1e-9
    }
}

/// Points that are certainly below an earlier and a later one.
fn dips(curve: &Curve, from: u32) -> Vec<(u32, f64)> {
    let dip = |index: &usize| {
        let at = &curve[*index].1;
        curve[..*index].iter().any(|(_, other, _)| certain(at, other, SMALL))
            && curve[index + 1..].iter().any(|(_, other, _)| certain(at, other, SMALL))
            && curve[*index].0 < from
    };
    (0..curve.len()).filter(dip).map(|index| (curve[index].0, curve[index].1.value)).collect()
}

/// Reads the sentences on one curve, and returns the rest of the text.
fn after_series<'t>(curve: &Curve, mut rest: &'t str) -> &'t str {
    let words = &crate::words::words(Lang::En).paper.course;
    let templates = [
        words.level,
        words.rises,
        words.falls,
        words.open,
        words.single,
        words.plateau,
        words.dip,
        words.drops,
    ];
    let templates =
        templates.map(|template| template.replace("[ {evenly}]", &format!("[ {}]", words.evenly)));
    let quantity = |template: &str| template.replace("{quantity}", words.quantities[0]);
    let templates = templates.map(|template| quantity(&template));
    let (mut told_dip, mut level_from, mut first) = (false, u32::MAX, true);
    'sentences: while !rest.is_empty() {
        for (kind, template) in templates.iter().enumerate() {
            let Some((values, behind)) = read(template, rest) else { continue };
            if (kind < 5) != first {
                continue;
            }
            let sentence = &rest[..rest.len() - behind.len()];
            let reader = Reader { curve, values };
            told_dip |= kind == 6;
            match kind {
                0 => level_from = 0,
                5 => level_from = figure(&reader.values["from"]) as u32,
                _ => {}
            }
            sentence_holds(&reader, kind, sentence);
            (rest, first) = (behind, false);
            continue 'sentences;
        }
        break;
    }
    assert!(!first, "no template reads {rest}");
    assert!(told_dip || dips(curve, level_from).is_empty(), "a fall is hidden: {curve:?}");
    rest
}

fn sentence_holds(reader: &Reader<'_>, kind: usize, sentence: &str) {
    let (curve, top) = (reader.curve, reader.largest());
    let value = |index: usize| curve[index].1.value;
    let last = curve.len() - 1;
    match kind {
        0 => {
            let low = curve.iter().map(|(_, v, _)| v.value).fold(f64::INFINITY, f64::min);
            assert!(top <= low * (1.0 + reader.share()), "{sentence}");
        }
        1 => {
            reader.holds("first", "first_at");
            reader.holds("largest", "largest_at");
            assert!(reader.at("largest_at").1.value >= top && value(0) < top, "{sentence}");
            let rise = curve.iter().take_while(|(at, ..)| *at <= reader.at("largest_at").0);
            let rise: Vec<f64> = rise.map(|(_, v, _)| v.value).collect();
            let evenly = sentence.contains("with every step");
            assert!(!evenly || rise.windows(2).all(|pair| pair[0] < pair[1]), "{sentence}");
        }
        2 => {
            reader.holds("first", "first_at");
            reader.holds("last", "last_at");
            assert!(value(0) >= top && value(last) < value(0), "{sentence}");
        }
        3 => {
            for name in ["first", "last", "largest"] {
                reader.holds(name, &format!("{name}_at"));
            }
            assert!(reader.at("largest_at").1.value >= top, "{sentence}");
        }
        4 => reader.holds("first", "first_at"),
        5 => {
            let from = reader.at("from").0;
            let after = curve.iter().filter(|(at, ..)| *at >= from);
            let share = 1.0 - reader.share();
            assert!(after.clone().all(|(_, v, _)| v.value >= share * top), "{sentence}");
        }
        6 => {
            reader.holds("dip", "dip_at");
            let own = reader.at("dip_at").1.value;
            let lowest = dips(curve, u32::MAX).into_iter().map(|(_, v)| v).fold(top, f64::min);
            assert!(own <= lowest * (1.0 + 0.11), "{sentence}: {lowest} is lower");
            // By position, because another point may have the same value.
            let dip_at = reader.at("dip_at").0;
            let index = curve.iter().position(|(at, ..)| *at == dip_at).expect("the dip");
            let above =
                |points: &[(u32, Estimate, f64)]| points.iter().any(|(_, v, _)| v.value > own);
            assert!(above(&curve[..index]) && above(&curve[index + 1..]), "{sentence}");
        }
        _ => {
            reader.holds("last", "last_at");
            assert!(value(last) < 0.95 * top, "{sentence}");
        }
    }
}

/// Checks a comparison of two curves.
fn comparison(curves: [&Curve; 2], names: [&str; 2], text: &str) {
    let words = &crate::words::words(Lang::En).paper.course;
    let filled = |template: &str| template.replace("{quantity}", words.quantities[0]);
    let top = |curve: &Curve| {
        // The first of equal values, as in the sentence.
        let values = curve.iter().rev().map(|(_, v, _)| v);
        *values.max_by(|a, b| a.value.total_cmp(&b.value)).expect("points")
    };
    let both =
        || curves[0].iter().filter_map(|a| Some((a, curves[1].iter().find(|b| b.0 == a.0)?)));
    if let Some((values, rest)) = read(&filled(words.alike), text) {
        let share = 1.0 + figure(&values["share"]) / 100.0 + 1e-9;
        let (low, high) = (|a: f64, b: f64| a.min(b), |a: f64, b: f64| a.max(b));
        let close = |(a, b): (&(u32, Estimate, f64), &(u32, Estimate, f64))| {
            let (a, b) = (a.1.value, b.1.value);
            high(a, b) <= share * low(a, b)
        };
        assert!(both().all(close) && rest.is_empty(), "{text}");
    } else if let Some((values, rest)) = read(&filled(words.above), text) {
        let position =
            |name: &str| names.iter().position(|known| *known == values[name]).expect(name);
        let (best, worst) = (position("best"), position("worst"));
        let (a, b) = (top(curves[best]), top(curves[worst]));
        assert!(near(figure(&values["quotient"]), a.value / b.value), "{text}");
        let (low, high) = (a.interval.expect("known").0, b.interval.expect("known").1);
        assert!(figure(&values["least"]) <= low / high * (1.0 + 1e-9) && low > high, "{text}");
        let ahead = |at: u32| {
            let estimate =
                |index: usize| curves[index].iter().find(|(o, ..)| *o == at).map(|p| p.1);
            matches!(
                (estimate(best), estimate(worst)),
                (Some(best), Some(worst)) if certain(&best, &worst, SMALL)
            )
        };
        match read(&filled(words.crossing), rest) {
            Some((values, behind)) => {
                assert!(ahead(figure(&values["at"]) as u32) && behind.is_empty(), "{text}");
                assert_eq!(values["worst"], names[worst], "{text}");
            }
            None => assert!(rest.is_empty() && !both().any(|(a, _)| ahead(a.0)), "hidden: {text}"),
        }
    } else {
        let (_, rest) =
            read(&filled(words.within), text).unwrap_or_else(|| panic!("unread: {text}"));
        assert!(rest.is_empty(), "{text}");
        let (a, b) = (top(curves[0]).interval, top(curves[1]).interval);
        let (a, b) = (a.expect("known"), b.expect("known"));
        assert!(a.0 <= b.1 && b.0 <= a.1, "{text}");
    }
}

/// Counts of twenty samples at each of ten queue depths on two targets, typical of storage and
/// noise: saturating, level, falling, with dips; some too short for an interval.
fn results() -> impl Strategy<Value = Vec<Vec<Vec<u64>>>> {
    let shape = (20.0f64..3e5, 0u32..9, -0.6f64..0.3, 0.0f64..0.06, prop::bool::weighted(0.9));
    let dent = prop::collection::vec((0usize..10, 0.2f64..1.0), 0..3);
    let noise = prop::collection::vec(prop::collection::vec(-1.0f64..1.0, 20), 10);
    let curve = (shape, dent, noise).prop_map(|((top, knee, tail, noisy, long), dents, noise)| {
        let point_counts = |(index, noise): (usize, &Vec<f64>)| {
            let index_of = index as u32;
            let rise = f64::from(1 << index_of.min(knee)) / f64::from(1 << knee);
            let beyond = 1.0 + tail * f64::from(index_of.saturating_sub(knee)) / 9.0;
            let dents = dents.iter().filter(|(at, _)| *at == index).map(|(_, by)| by);
            let value = (top * rise * beyond * dents.product::<f64>()).max(4.0);
            let count = if long || index % 3 > 0 { 20 } else { 6 };
            let counts = noise.iter().take(count).map(|n| value * (1.0 + noisy * n));
            counts.map(|count| count.round() as u64).collect::<Vec<u64>>()
        };
        noise.iter().enumerate().map(point_counts).collect::<Vec<Vec<u64>>>()
    });
    prop::collection::vec(curve, 2)
}

pub(crate) fn record(index: u32, target: u32, queue_depth: u32, counts: &[u64]) -> PointRecord {
    const TENTH: u64 = 100_000_000;
    let completed: u64 = counts.iter().sum();
    let mean = u64::from(queue_depth) * TENTH * counts.len() as u64 / completed.max(1);
    let mut latency = LatencyHistogram::new();
    (0..50).for_each(|_| latency.record(Nanos(mean)));
    let interval = |(n, count): (usize, &u64)| IntervalRecord {
        start_ns: n as u64 * TENTH,
        length_ns: TENTH,
        reads: *count,
        read_bytes: count * 8192,
        ..IntervalRecord::default()
    };
    PointRecord {
        index,
        target,
        profile: "database".into(),
        profile_title: "Database".into(),
        random_share: 1.0,
        read_share: 1.0,
        block_size: "8KiB".into(),
        block_size_mean_bytes: 8192.0,
        arrivals: "closed".into(),
        queue_depth,
        streams: 1,
        direct: true,
        duration_ns: TENTH * counts.len() as u64,
        reads: DirectionRecord {
            completed,
            bytes: completed * 8192,
            latency,
            ..DirectionRecord::default()
        },
        intervals: counts.iter().enumerate().map(interval).collect(),
        ..PointRecord::default()
    }
}

fn refute(results: &[Vec<Vec<u64>>]) {
    let mut run = fixture::run(2);
    // A connection that a quarter of all curves come close to.
    for (target, limit) in run.targets.iter_mut().zip(["800000000", "30000000"]) {
        let fact = Observation {
            subject: target.name.clone(),
            key: "link_limit_bytes_per_s".into(),
            value: Ok(limit.into()),
            source: "/sys".into(),
        };
        target.facts.push(fact);
    }
    let mut points: Vec<PointRecord> = Vec::new();
    for (target, curve) in results.iter().enumerate() {
        for (exponent, counts) in curve.iter().enumerate() {
            let index = points.len() as u32;
            points.push(record(index, target as u32, 1 << exponent, counts));
        }
    }
    let presentation = Presentation::from(Lang::En);
    let view = View::new(&run, &points, None, &presentation);
    let load = view.swept().next().expect("a load");
    let curve = |target: u32| -> Curve {
        let at = |p: &crate::view::Point<'_>| {
            (p.record.queue_depth, *p.main(), p.latency().mean_ns.unwrap_or(f64::NAN))
        };
        load.on(target).filter(|p| p.is_valid()).map(at).collect()
    };
    let curves = [curve(0), curve(1)];
    let names = [view.target_name(0), view.target_name(1)];
    let words = &crate::words::words(Lang::En).paper.course;
    let paragraphs = series::of_load(&view, load);
    // Of curves that are alike, one is described.
    let alike = paragraphs.get(1).is_some_and(|text| read(words.alike, text).is_some());
    let described = if alike { 1 } else { 2 };
    let mut rest = paragraphs[0].as_str();
    for (curve, name) in curves.iter().zip(&names).take(described) {
        rest = rest.strip_prefix(&format!("{name}: ")).expect("whose course it is");
        rest = after_series(curve, rest);
    }
    assert_eq!(rest, "");
    let mut others = paragraphs[1..].to_vec();
    let latencies = others.pop().expect("latencies");
    if let [text] = &*others {
        comparison([&curves[0], &curves[1]], [&names[0], &names[1]], text);
    }
    let mut rest = latencies.as_str();
    for (curve, name) in curves.iter().zip(&names).take(described) {
        rest = rest.strip_prefix(&format!("{name}: ")).expect("whose latency it is");
        let (values, behind) = read(words.latency, rest).expect("a sentence on latency");
        for name in ["first", "last"] {
            let at = figure(&values[&format!("{name}_at")]) as u32;
            let mean = curve.iter().find(|(o, ..)| *o == at).expect("measured").2;
            assert!(near(time(&values[name]), mean), "{rest}: {mean}");
        }
        rest = behind;
    }
    explained::refute(&view, load, &[&curves[0], &curves[1]]);
    // The answer on the first page states the largest value, and claims no lead that does not
    // exist.
    let answer = answer::sentence(&view);
    let tops = curves.each_ref().map(|curve| {
        let of_value = |a: &&Estimate, b: &&Estimate| a.value.total_cmp(&b.value);
        // The first of equal values counts, as in the report; another may have no interval.
        *curve.iter().rev().map(|(_, value, _)| value).max_by(of_value).expect("points")
    });
    let top = tops[0].value.max(tops[1].value);
    let is_stated = answer.split([' ', '\u{a0}']).map(figure).any(|claimed| near(claimed, top));
    assert!(is_stated, "{top} is not in {answer}");
    for (best, other) in [(0, 1), (1, 0)] {
        let is_ahead = answer.starts_with(&format!("{} has the largest", names[best]));
        assert!(!is_ahead || certain(&tops[other], &tops[best], 0.0), "{answer}");
    }
}

#[test]
fn no_sentence_of_random_results_is_refuted() {
    let mut runner =
        TestRunner::new(Config { cases: SETS, failure_persistence: None, ..Config::default() });
    let tried = std::cell::Cell::new(0);
    runner
        .run(&results(), |set| {
            tried.set(tried.get() + 1);
            refute(&set);
            Ok(())
        })
        .unwrap_or_else(|refuted| panic!("{refuted}"));
    println!("{} sets of results, 0 refuted", tried.get());
}

#[test]
fn drop_to_the_first_value_is_not_refuted() {
    let at = |queue_depth, value: f64| {
        let interval = Some((value * 0.999, value * 1.001));
        let rate = Estimate { value, interval, degrees: 9, autocorrelation: 0.0 };
        (queue_depth, rate, 1e5)
    };
    let curve = vec![at(1, 472.0), at(2, 1_030.0), at(4, 472.0), at(16, 2_400.0)];
    let rest = after_series(
        &curve,
        "At queue depth 1, the rate is 472 IOPS; it rises to 2,400 IOPS at 16. In between it \
         falls to 472 IOPS at 4.",
    );
    assert_eq!(rest, "");
}

/// The checker does not accept everything: it rejects what an earlier version said about a curve
/// with a dip.
#[test]
#[should_panic(expected = "a fall is hidden")]
fn refuter_detects_a_hidden_drop() {
    let at = |queue_depth, value: f64| {
        let interval = Some((value * 0.999, value * 1.001));
        let rate = Estimate { value, interval, degrees: 9, autocorrelation: 0.0 };
        (queue_depth, rate, 1e5)
    };
    let curve = vec![at(1, 1_030.0), at(2, 472.0), at(16, 2_400.0)];
    after_series(&curve, "At queue depth 1, the rate is 1,030 IOPS; it rises to 2,400 IOPS at 16.");
}
