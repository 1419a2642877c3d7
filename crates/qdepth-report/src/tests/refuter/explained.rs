//! The same for explanations, summaries and recommendations.

use super::{Curve, Values, certain, figure, near, read, time};
use crate::document::Block;
use crate::section::explain;
use crate::view::{Load, View};

/// Block size, bytes.
const REQUEST: f64 = 8192.0;

struct Results<'r> {
    curves: &'r [&'r Curve; 2],
    names: [String; 2],
    /// Limits of the connections, bytes per second.
    limits: [f64; 2],
}

impl Results<'_> {
    /// Indices of the targets whose names occur in a text.
    fn targets_in(&self, text: &str) -> Vec<usize> {
        let places: Vec<usize> = (0..2).filter(|at| text.contains(&*self.names[*at])).collect();
        assert!(!places.is_empty(), "no target in {text}");
        places
    }
    fn top(&self, target: usize) -> &(u32, super::Estimate, f64) {
        let by = |a: &&(u32, super::Estimate, f64), b: &&(u32, super::Estimate, f64)| {
            a.1.value.total_cmp(&b.1.value)
        };
        // The first of equal values, as in the text.
        self.curves[target].iter().rev().max_by(by).expect("points")
    }
    fn at(&self, target: usize, queue_depth: f64) -> &(u32, super::Estimate, f64) {
        let all = &mut self.curves[target].iter();
        all.find(|(at, ..)| *at == queue_depth as u32).expect("a point that was measured")
    }
}

pub(super) fn refute(view: &View<'_>, load: &Load<'_>, curves: &[&Curve; 2]) {
    let limit = |target: usize| {
        let facts = &view.run.targets[target].facts;
        let fact = facts.iter().find(|fact| fact.key == "link_limit_bytes_per_s");
        figure(fact.and_then(|fact| fact.value.as_deref().ok()).expect("a limit"))
    };
    let names = [view.target_name(0), view.target_name(1)];
    let results = Results { curves, names, limits: [limit(0), limit(1)] };
    let mut known = 0;
    for sentence in explain::of_load(view, load) {
        known += below_a_diagram(view, &results, &sentence);
    }
    if let Some(Block::SumUp { sentences, .. }) = explain::of_diagrams(view) {
        sentences.iter().for_each(|sentence| of_a_chapter(view, sentence, known));
    }
    for block in explain::recommendation(view) {
        match block {
            Block::Paragraph(text) => recommended(view, &results, &text),
            Block::Table(table) => {
                for row in &table.rows {
                    let cells: Vec<&str> = row.cells.iter().map(|cell| &*cell.text).collect();
                    let [_, target, queue_depth, share, value, _, latency, _] = cells[..] else {
                        panic!("{cells:?}")
                    };
                    enough(&results, target, figure(queue_depth), figure(share));
                    let point = results.at(results.targets_in(target)[0], figure(queue_depth));
                    assert!(near(figure(value), point.1.value), "{cells:?}");
                    let unit = time(&format!("1 {}", table.columns[6].unit));
                    let decimals = latency.split_once('.').map_or(0, |(_, rest)| rest.len());
                    let half = 0.51 * 0.1f64.powi(decimals as i32);
                    let (printed, mean) = (figure(latency), point.2 / unit);
                    assert!(near(printed, mean) || (printed - mean).abs() <= half, "{cells:?}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

fn enough(results: &Results<'_>, targets: &str, queue_depth: f64, share: f64) {
    for target in results.targets_in(targets) {
        let (_, there, _) = results.at(target, queue_depth);
        let (_, top, _) = results.top(target);
        assert!(there.value >= share / 100.0 * top.value, "{targets} {queue_depth} {share}");
    }
}

/// Checks a sentence, and returns the number of curves whose limit it states.
fn below_a_diagram(view: &View<'_>, results: &Results<'_>, sentence: &str) -> usize {
    let words = view.words.explain;
    let (targets, rest) = match sentence.strip_prefix("On ").and_then(|s| s.split_once(": ")) {
        Some((names, rest)) => (results.targets_in(names), rest),
        None => (vec![0, 1], sentence),
    };
    let kind = words.causes.iter().position(|words| read(words, rest).is_some());
    let kind = kind.unwrap_or_else(|| panic!("no template reads {rest}"));
    let (values, _) = read(words.causes[kind], rest).expect("it was read");
    targets.iter().for_each(|target| limited(results, *target, kind, &values, sentence));
    targets.len()
}

fn limited(results: &Results<'_>, target: usize, kind: usize, values: &Values, sentence: &str) {
    let (queue_depth, top, _) = results.top(target);
    let queue_depth = f64::from(*queue_depth);
    let served = || top.value / results.at(target, 1.0).1.value;
    match kind {
        1 => {
            let share = top.value * REQUEST / results.limits[target];
            assert!(share >= figure(&values["figure"]) / 100.0 && share > 0.9, "{sentence}");
        }
        6 => {
            let ends: Vec<f64> = values["figure"].split(" to ").map(figure).collect();
            let (low, high) = (ends[0], ends[ends.len() - 1]);
            assert!(served() >= 0.98 * low && served() <= 1.02 * high, "{sentence}: {}", served());
            assert!(served() <= queue_depth / 2.0, "{sentence}");
        }
        7 => {
            assert!(served() >= 0.9 * queue_depth, "{sentence}: {}", served());
            let last = results.curves[target].last().expect("points").0;
            assert!((f64::from(last) - queue_depth).abs() < 0.5, "{sentence}");
        }
        // These results have no findings and no device model.
        _ => panic!("{sentence}"),
    }
}

fn of_a_chapter(view: &View<'_>, sentence: &str, known: usize) {
    let words = view.words.explain;
    if sentence == words.nothing_told {
        assert_eq!(known, 0, "{sentence}");
    } else if let Some((values, "")) = read(words.not_told, sentence) {
        assert_eq!(figure(&values["n"]) as usize + known, 2, "{sentence}");
    } else if let Some((values, "")) = read(words.limited, sentence) {
        let counts = values["items"].matches("2 curve").count() * 2
            + values["items"].matches("1 curve").count();
        assert_eq!(counts, known, "{sentence}");
    } else {
        panic!("no template reads {sentence}");
    }
}

fn ahead(results: &Results<'_>, best: &str) -> f64 {
    let best = results.targets_in(best)[0];
    let [best, other] = [best, 1 - best].map(|target| &results.top(target).1);
    assert!(certain(other, best, 0.0), "{best:?} beside {other:?}");
    best.interval.expect("known").0 / other.interval.expect("known").1
}

/// Checks the sentences of a paragraph in sequence.
fn recommended(view: &View<'_>, results: &Results<'_>, text: &str) {
    let words = view.words.explain;
    let templates = [words.choose, words.open, words.beyond, words.overtaken, words.more];
    let mut rest = text;
    while !rest.is_empty() {
        let read = templates.iter().enumerate().find_map(|(kind, words)| {
            read(words, rest).map(|(values, behind)| (kind, values, behind))
        });
        let (kind, values, behind) = read.unwrap_or_else(|| panic!("no template reads {rest}"));
        let sentence = &rest[..rest.len() - behind.len()];
        match kind {
            0 => {
                let least = ahead(results, &values["best"]);
                assert!(figure(&values["least"]) <= least * (1.0 + 1e-9), "{sentence}");
            }
            1 => {
                let [a, b] = [0, 1].map(|target| &results.top(target).1);
                assert!(!certain(a, b, 0.0) && !certain(b, a, 0.0), "{sentence}");
            }
            2 => {
                let target = results.targets_in(&values["load"])[0];
                let (top_at, top, _) = results.top(target);
                let (_, last, _) = results.at(target, figure(&values["last_at"]));
                assert!(near(figure(&values["last"]), last.value), "{sentence}");
                assert!(f64::from(*top_at) <= figure(&values["largest_at"]), "{sentence}");
                assert!(last.value < 0.95 * top.value, "{sentence}");
            }
            3 => {
                let [best, worst] =
                    ["best", "worst"].map(|name| results.targets_in(&values[name])[0]);
                let at = figure(&values["at"]);
                let (best, worst) = (&results.at(best, at).1, &results.at(worst, at).1);
                assert!(near(figure(&values["times"]), worst.value / best.value), "{sentence}");
                assert!(certain(best, worst, 0.0), "{sentence}");
            }
            _ => {
                for target in results.targets_in(&values["items"]) {
                    limited(results, target, 7, &values, sentence);
                }
            }
        }
        rest = behind;
    }
}
