//! Sentences over all loads, queue depths and targets: the best and the worst of each kind, and the
//! targets that reach the best.

use crate::number;
use crate::section::naming;
use crate::section::sweep::statements::{CurvePoint, lead, line};
use crate::view::{Load, LoadPoint, Point, View};
use crate::words::{fill_in, in_brackets, span};

/// The best and the worst of all loads: the highest and the lowest maximum in each unit (with
/// `every`, the highest and the lowest of all points), and the range of mean latencies.
pub(crate) fn maxima(view: &View<'_>, every: bool) -> String {
    let words = view.words.summary;
    let first = first_of_all(view);
    let ends = ["IOPS", "MiB/s"].map(|unit| ends(view, unit, every));
    let best = ends.iter().filter_map(|ends| maximum(view, ends.first()?.1.0, first)).collect();
    let worst = ends.iter().filter_map(|ends| ends.get(1));
    let worst = worst.map(|(_, (load, point))| {
        fill_in(
            words.maximum,
            &[figures(view, load, point), vec![depth(view, load, point)]].concat(),
        )
    });
    if ends.iter().all(Vec::is_empty) {
        return words.no_result.to_owned();
    }
    let target = first.map_or_else(String::new, |target| view.target_name(target));
    let whole = if first.is_some() { words.first_of_all } else { words.maxima };
    let sentence = |(template, parts): (&str, Vec<String>)| {
        let values = [("maxima", parts.join(view.words.clause)), ("target", target.clone())];
        (!parts.is_empty()).then(|| fill_in(template, &values))
    };
    // Of all points, the lowest need not be the maximum of its load.
    let lowest = if every { words.lowest } else { words.worst };
    let both = [(whole, best), (lowest, worst.collect())].into_iter().filter_map(sentence);
    let tied = ends.iter().flat_map(|ends| ties(view, ends, every));
    both.chain(tied).chain(latencies(view)).collect::<Vec<_>>().join(view.words.gap)
}

/// Names the loads without a valid point, with the targets if only some lack one, and those without
/// any record. `None` if every load has a valid point, or no load.
pub(crate) fn unanswered(view: &View<'_>) -> Option<String> {
    let mut loads = Vec::new();
    for load in &view.loads {
        let has_points = |target: &u32| load.on(*target).next().is_some();
        let lacks = |target: &u32| !load.on(*target).any(Point::is_valid);
        let measured: Vec<u32> = view.targets.iter().copied().filter(has_points).collect();
        let lacking: Vec<u32> = measured.iter().copied().filter(lacks).collect();
        if lacking.len() == measured.len() {
            loads.push(load.title.clone());
            continue;
        }
        let name = |target: u32| in_brackets(view.lang, &view.target_name(target));
        loads.extend(lacking.into_iter().map(|target| format!("{}{}", load.title, name(target))));
    }
    if !view.points().any(|(_, point)| point.is_valid()) {
        return None;
    }
    let words = view.words.summary;
    let all = [(words.unanswered, loads), (words.unmeasured, view.unmeasured())].into_iter();
    let all = all
        .filter(|(_, loads)| !loads.is_empty())
        .map(|(template, loads)| fill_in(template, &[("loads", naming::names(view, loads))]));
    Some(all.collect::<Vec<_>>().join(view.words.gap)).filter(|text| !text.is_empty())
}

/// Sentences on loads that the figures do not distinguish from those at the ends.
fn ties(view: &View<'_>, ends: &[(f64, LoadPoint<'_, '_>)], every: bool) -> Vec<String> {
    let tied = |index: usize| {
        let (_, (load, point)) = ends.get(index)?;
        let others = tied(view, (load, point), every);
        (!others.is_empty()).then_some((load, others, point.main().interval.is_some()))
    };
    let (best, mut worst) = (tied(0), tied(1));
    // The same pair is stated once.
    if let (Some((best, others, _)), Some((load, mirrored, _))) = (&best, &mut worst) {
        mirrored.retain(|title| *title != best.title || !others.contains(&load.title));
    }
    let words = view.words.summary;
    let sentence = |(load, others, has_interval): (&&Load<'_>, Vec<String>, bool)| {
        let values = [("profile", load.title.clone()), ("others", naming::names(view, others))];
        fill_in(if has_interval { words.tied } else { words.equal }, &values)
    };
    best.into_iter()
        .chain(worst.filter(|(_, others, _)| !others.is_empty()))
        .map(sentence)
        .collect()
}

/// The loads that the figures on the same target do not distinguish from the one at an end: by
/// their intervals or, without one, as they are printed.
fn tied(view: &View<'_>, end: LoadPoint<'_, '_>, every: bool) -> Vec<String> {
    let (load, point) = end;
    let printed = |point: &Point<'_>| number::in_prose(point.main());
    let overlaps = |other: &Point<'_>| {
        let is_alike = other.record.target == point.record.target
            && (!every || other.record.queue_depth == point.record.queue_depth);
        let Some((low, high)) = point.main().interval else {
            return is_alike && printed(other) == printed(point);
        };
        let interval = other.main().interval.filter(|_| is_alike);
        interval.is_some_and(|(own_low, own_high)| own_low <= high && own_high >= low)
    };
    let others = candidates(view, load.unit(), every);
    let mut others: Vec<String> = others
        .filter(|(other, point)| other.id != load.id && overlaps(point))
        .map(|(other, _)| other.title.clone())
        .collect();
    others.dedup();
    others
}

/// Mean latency at the lowest queue depth: the shortest and, if another is longer, the longest.
fn latencies(view: &View<'_>) -> Option<String> {
    let words = view.words.summary;
    let ends = latency_ends(view);
    let ((shortest, load), (longest, slowest)) = (ends.first()?, ends.last()?);
    let is_response = [load, slowest].iter().all(|load| load.is_open_loop());
    let kind = if is_response { words.response_time } else { words.completion_latency };
    let [shortest, longest] = [shortest, longest].map(|mean| number::duration(-mean));
    let template = if shortest == longest { words.latency } else { words.latencies };
    let values = [
        view.per(),
        ("kind", kind.to_owned()),
        ("queue_depth", view.lowest().to_string()),
        ("latency", shortest),
        ("profile", load.title.clone()),
        ("longest", longest),
        ("slowest", slowest.title.clone()),
    ];
    Some(fill_in(template, &values))
}

/// The target that is certainly ahead of all others under every load.
pub(crate) fn first_of_all(view: &View<'_>) -> Option<u32> {
    let mut ahead = view.swept().map(|load| match &*lead(view, load)?.0 {
        [first] => Some(*first),
        _ => None,
    });
    let first = ahead.next()??;
    ahead.all(|target| target == Some(first)).then_some(first)
}

/// The largest and the smallest; a single one if all are equal.
pub(crate) fn both_ends<T>(mut all: Vec<(f64, T)>) -> Vec<(f64, T)> {
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let last = all.split_off(all.len().saturating_sub(1));
    all.truncate(1);
    all.retain(|(largest, _)| last.iter().any(|(smallest, _)| largest > smallest));
    all.extend(last);
    all
}

/// Loads with the highest and the lowest maximum in a unit, and their points.
fn ends<'v, 'a>(view: &'v View<'a>, unit: &str, every: bool) -> Vec<(f64, LoadPoint<'v, 'a>)> {
    both_ends(candidates(view, unit, every).map(|pair| (pair.1.main().value, pair)).collect())
}

/// The maxima of all loads in a unit; with `every`, all their valid points.
fn candidates<'v, 'a>(
    view: &'v View<'a>,
    unit: &str,
    every: bool,
) -> impl Iterator<Item = LoadPoint<'v, 'a>> {
    // A load at one queue depth of its own has no maximum.
    let has_curves = view.swept().next().is_some();
    let loads = view.loads.iter().filter(move |load| !has_curves || !load.alone);
    loads.filter(move |load| load.unit() == unit).flat_map(move |load| {
        let is_maximum = move |point: &Point<'_>| {
            let top = load.maximum(point.record.target);
            top.is_some_and(|top| top.record.index == point.record.index)
        };
        let points = load.points.iter().filter(move |point| point.is_valid());
        points.filter(move |point| every || is_maximum(point)).map(move |point| (load, point))
    })
}

/// Loads with the shortest and the longest mean latency at the lowest queue depth, with the
/// latencies as negative numbers, nanoseconds.
fn latency_ends<'v, 'a>(view: &'v View<'a>) -> Vec<(f64, &'v Load<'a>)> {
    let of_load = |load: &'v Load<'a>| {
        let known = view.targets.iter().filter_map(|target| load.at(*target, view.lowest()));
        known.filter_map(|point| point.latency().mean_ns).map(move |mean| (-mean, load))
    };
    both_ends(view.loads.iter().filter(|load| !load.stepped).flat_map(of_load).collect())
}

/// Queue depth of a maximum; the range of those at and below it that reach its interval.
fn depth(view: &View<'_>, load: &Load<'_>, best: &Point<'_>) -> (&'static str, String) {
    let own = best.record.queue_depth;
    let reaches = |at: &&CurvePoint| {
        at.queue_depth == own || best.main().interval.is_some_and(|(low, _)| at.value >= low)
    };
    let line = line(load, best.record.target);
    let up_to = line.iter().rev().skip_while(|at| at.queue_depth > own);
    let lowest = up_to.take_while(reaches).last().map_or(own, |at| at.queue_depth);
    let ends = [lowest, own].map(|at| at.to_string());
    ("queue_depth", if lowest < own { span(view.lang, ends) } else { own.to_string() })
}

fn figures(view: &View<'_>, load: &Load<'_>, point: &Point<'_>) -> Vec<(&'static str, String)> {
    let value = ("value", number::in_prose(point.main()));
    vec![view.per(), ("profile", load.title.clone()), value, ("unit", load.unit().to_owned())]
}

/// The largest value of a load on a target; without a target the largest of all, with the targets
/// that reach it.
pub(crate) fn maximum(view: &View<'_>, load: &Load<'_>, on: Option<u32>) -> Option<String> {
    let words = view.words.summary;
    let tops = || view.targets.iter().filter_map(|target| load.maximum(*target));
    let best = match on {
        Some(target) => load.maximum(target)?,
        None => tops().rev().max_by(|a, b| a.main().value.total_cmp(&b.main().value))?,
    };
    let reaches = |top: &&Point<'_>| match (best.main().interval, top.main().interval) {
        (Some((low, _)), Some((_, high))) => high >= low,
        _ => top.main().value >= best.main().value,
    };
    let holders: Vec<String> =
        tops().filter(reaches).map(|top| view.target_name(top.record.target)).collect();
    let mut values = figures(view, load, best);
    // Targets with the same value need not reach it at the same queue depth.
    values.extend((on.is_some() || holders.len() == 1).then(|| depth(view, load, best)));
    values.push(("target", naming::names(view, holders)));
    let all = view.compares() && on.is_none();
    Some(fill_in(if all { words.maximum_on } else { words.maximum }, &values))
}
