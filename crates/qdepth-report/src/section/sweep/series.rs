//! Sentences next to a diagram, which word its claims.

use crate::number;
use crate::section::sweep::statements::{
    CurvePoint, CurveShape, Line, RoundedValue, Tail, TargetRelation, between, crossing, line,
    line_statements, statement,
};
use crate::view::{Load, Point, View, percentile_ns};
use crate::words::{counted, fill_in};

/// Largest number of targets in a common paragraph; more have one each.
const ONE_PARAGRAPH: usize = 4;
/// Largest number of targets with a paragraph each; of more, only those with the highest and the
/// lowest values have one.
const PARAGRAPHS: usize = 12;

/// Sentences on a load: the course of its main value on each target, the comparison of the targets,
/// and its latency.
pub(crate) fn of_load(view: &View<'_>, load: &Load<'_>) -> Vec<String> {
    let lines: Vec<(u32, Vec<CurvePoint>)> =
        view.targets.iter().map(|t| (*t, line(load, *t))).collect();
    let goes = |(target, points): &(u32, Vec<CurvePoint>)| {
        Some(who(view, *target) + &sentence(view, load, &line_statements(points)?))
    };
    let waits = |(target, _): &(u32, Vec<CurvePoint>)| {
        Some(who(view, *target) + &latency(view, load, *target)?)
    };
    let mut paragraphs = Vec::new();
    if lines.len() > ONE_PARAGRAPH {
        paragraphs.extend(compared(view, load, &lines));
        let of_target = |line: &(u32, Vec<CurvePoint>)| {
            let parts = [goes(line), latency(view, load, line.0)];
            parts.into_iter().flatten().collect::<Vec<_>>().join(view.words.gap)
        };
        let told_of = outermost(load, &lines);
        paragraphs.extend(told_of.iter().map(|line| of_target(line)));
        let left = lines.len() - told_of.len();
        paragraphs.extend((left > 0).then(|| counted(view.words.paper.course.others, left)));
    } else {
        // Of curves that are alike, one is described.
        let points: Vec<Vec<CurvePoint>> = lines.iter().map(|(_, points)| points.clone()).collect();
        let alike = matches!(between(&points), TargetRelation::Alike(_));
        let described = if alike { &lines[..1] } else { &lines[..] };
        let sentences: Vec<String> = described.iter().filter_map(goes).collect();
        paragraphs.push(sentences.join(view.words.gap));
        paragraphs.extend(compared(view, load, &lines));
        let latencies: Vec<String> = described.iter().filter_map(waits).collect();
        paragraphs.push(latencies.join(view.words.gap));
    }
    paragraphs.retain(|text| !text.is_empty());
    paragraphs
}

/// Lines with the two highest and the two lowest maxima, if there are very many.
fn outermost<'l>(
    load: &Load<'_>,
    lines: &'l [(u32, Vec<CurvePoint>)],
) -> Vec<&'l (u32, Vec<CurvePoint>)> {
    if lines.len() <= PARAGRAPHS {
        return lines.iter().collect();
    }
    let maximum = |line: &&(u32, Vec<CurvePoint>)| {
        load.maximum(line.0).map_or(f64::NEG_INFINITY, |point| point.main().value)
    };
    let mut ranked: Vec<&(u32, Vec<CurvePoint>)> = lines.iter().collect();
    ranked.sort_by(|a, b| maximum(b).total_cmp(&maximum(a)));
    ranked.drain(2..ranked.len() - 2);
    ranked
}

fn who(view: &View<'_>, target: u32) -> String {
    let name = [("target", view.target_name(target))];
    if view.compares() { fill_in(view.words.paper.course.who, &name) } else { String::new() }
}

/// A value with its unit, worded according to its interval.
fn value(view: &View<'_>, load: &Load<'_>, at: &CurvePoint) -> String {
    let [plain, about, under, over] = view.words.paper.course.said;
    let (template, round) = match statement(at) {
        RoundedValue::Plain(round) => (plain, round),
        RoundedValue::About(round) => (about, round),
        RoundedValue::Under(round) => (under, round),
        RoundedValue::Over(round) => (over, round),
    };
    let value = number::three_digits(round);
    fill_in(template, &[("value", value), ("unit", load.unit().to_owned())])
}

fn sentence(view: &View<'_>, load: &Load<'_>, line: &Line) -> String {
    let words = view.words.paper.course;
    let intensity = |at: &CurvePoint| number::count(at.queue_depth.into());
    let figure = |at: &CurvePoint| value(view, load, at);
    let quantity = words.quantities[usize::from(load.first().reported_as_throughput)];
    let mut values = vec![
        view.per(),
        ("quantity", quantity.to_owned()),
        ("first", figure(&line.first)),
        ("first_at", intensity(&line.first)),
        ("last", figure(&line.last)),
        ("last_at", intensity(&line.last)),
        ("largest", figure(&line.largest)),
        ("largest_at", intensity(&line.largest)),
    ];
    let template = match line.shape {
        CurveShape::Single => words.single,
        CurveShape::Level(share) => {
            values.push(("share", number::percent(share)));
            words.level
        }
        CurveShape::Rises { evenly } => {
            values.extend(evenly.then(|| ("evenly", words.evenly.to_owned())));
            words.rises
        }
        CurveShape::Falls => words.falls,
        CurveShape::Open => words.open,
    };
    let is_tied = line.reached.queue_depth < line.largest.queue_depth;
    let tied = [("reached_at", intensity(&line.reached))];
    let ties = if is_tied { fill_in(words.ties, &tied) } else { String::new() };
    values.push(("ties", ties));
    let tail = match line.tail {
        Tail::Plateau(from, share) => {
            values.push(("from", number::count(from.into())));
            values.push(("share", number::percent(share)));
            words.plateau
        }
        Tail::Drops => words.drops,
        Tail::Nothing => "",
    };
    let dip = line.dip.map_or("", |dip| {
        values.extend([("dip", figure(&dip)), ("dip_at", intensity(&dip))]);
        words.dip
    });
    let texts = [template, dip, tail].map(|template| fill_in(template, &values));
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(view.words.gap)
}

fn compared(view: &View<'_>, load: &Load<'_>, lines: &[(u32, Vec<CurvePoint>)]) -> Option<String> {
    let words = view.words.paper.course;
    let measured: Vec<&(u32, Vec<CurvePoint>)> =
        lines.iter().filter(|(_, points)| !points.is_empty()).collect();
    let points: Vec<Vec<CurvePoint>> = measured.iter().map(|(_, points)| points.clone()).collect();
    let name = |index: usize| view.target_name(measured[index].0);
    let quantity = words.quantities[usize::from(load.first().reported_as_throughput)];
    let mut values =
        vec![view.per(), ("n", measured.len().to_string()), ("quantity", quantity.to_owned())];
    let template = match between(&points) {
        TargetRelation::Alike(share) => {
            values.push(("share", number::percent(share)));
            words.alike
        }
        TargetRelation::Above(best, worst, quotient, least) => {
            values.extend([
                ("best", name(best)),
                ("worst", name(worst)),
                ("quotient", number::three_digits(quotient)),
                ("least", number::at_least(least)),
            ]);
            words.above
        }
        TargetRelation::WithinIntervals => words.within,
        TargetRelation::Unknown => return None,
    };
    let ahead = match between(&points) {
        TargetRelation::Above(best, worst, ..) => crossing(&points, best, worst),
        _ => None,
    };
    let ahead = ahead.map(|(best, worst)| {
        values.extend([
            ("at", number::count(best.queue_depth.into())),
            ("least_value", value(view, load, &best)),
            ("most_value", value(view, load, &worst)),
        ]);
        fill_in(words.crossing, &values)
    });
    let sentences = std::iter::once(fill_in(template, &values)).chain(ahead);
    Some(sentences.collect::<Vec<_>>().join(view.words.gap))
}

/// Mean latency at the lowest and the highest queue depth, and what one I/O in a thousand exceeds
/// at the highest.
fn latency(view: &View<'_>, load: &Load<'_>, target: u32) -> Option<String> {
    let words = view.words.paper.course;
    let valid: Vec<&Point<'_>> = load.on(target).filter(|point| point.is_valid()).collect();
    let (first, last) = (valid.first()?, valid.last()?);
    let mean = |point: &Point<'_>| point.latency().mean_ns.map(number::duration);
    let intensity = |point: &Point<'_>| number::count(point.record.queue_depth.into());
    let mut values = vec![view.per(), ("first", mean(first)?), ("first_at", intensity(first))];
    values.extend([("last", mean(last)?), ("last_at", intensity(last))]);
    let longest = last.latency().max_ns.map_or(0.0, |ns| ns as f64);
    let tail = percentile_ns(last.latency(), 0.999).filter(|tail| *tail < longest);
    // A tail that is printed like the mean contradicts "longer".
    let tail = tail.map(number::duration).filter(|tail| Some(tail) != mean(last).as_ref());
    values.extend(tail.map(|tail| ("tail", tail)));
    let template = if valid.len() > 1 { words.latency } else { words.latency_single };
    Some(fill_in(template, &values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presentation::Presentation;
    use crate::tests::fixture;
    use crate::words::Lang;

    #[test]
    fn every_load_has_sentences_in_both_languages() {
        for lang in Lang::ALL {
            for targets in [1, 2] {
                let (run, points) =
                    (fixture::run(targets), fixture::troubled(fixture::points(targets)));
                let presentation = Presentation::from(lang);
                let view = View::new(&run, &points, None, &presentation);
                let paragraphs: Vec<Vec<String>> =
                    view.swept().map(|load| of_load(&view, load)).collect();
                assert!(paragraphs.iter().all(|of_load| of_load.len() >= 2), "{paragraphs:?}");
                for text in paragraphs.iter().flatten() {
                    assert!(!text.contains(['{', '}', '[', ']']), "{text}");
                    assert!(text.ends_with(['.', '。']), "{text}");
                }
            }
        }
    }
}
