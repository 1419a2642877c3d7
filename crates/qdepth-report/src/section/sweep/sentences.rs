//! The maxima in sentences, and the shortest latency.

use crate::number;
use crate::section::sweep::statements::winner;
use crate::view::{Load, Point, View};
use crate::words::fill_in;

/// The maximum of the leading load of each kind, and the latency of the first of them at the lowest
/// intensity. Of several targets the best: the others are in the table below the summary.
pub(crate) fn maxima(view: &View<'_>) -> String {
    let words = view.words.summary;
    let leading: Vec<&Load<'_>> =
        [false, true].into_iter().filter_map(|throughput| leader(view, throughput)).collect();
    let first = first_of_all(view, &leading);
    let largest = |load: &&Load<'_>| match first {
        Some(target) => maximum_on(view, load, target),
        None => maximum(view, load),
    };
    let maxima: Vec<String> = leading.iter().filter_map(largest).collect();
    if maxima.is_empty() {
        return words.no_result.to_owned();
    }
    let mut values = vec![("maxima", maxima.join(view.words.clause))];
    let latency = leading.first().and_then(|load| lowest_latency(view, load, first));
    values.extend(latency.map(|text| ("latency", text)));
    values.extend(first.map(|target| ("target", view.target_name(target))));
    fill_in(if first.is_some() { words.first_of_all } else { words.maxima }, &values)
}

/// The target that is ahead of all others for certain under each of these loads.
fn first_of_all(view: &View<'_>, loads: &[&Load<'_>]) -> Option<u32> {
    let mut ahead = loads.iter().map(|load| winner(view, load).map(|(target, _)| target));
    let first = ahead.next()??;
    (view.compares() && ahead.all(|target| target == Some(first))).then_some(first)
}

/// The first load of its kind that has a valid point.
fn leader<'v, 'a>(view: &'v View<'a>, throughput: bool) -> Option<&'v Load<'a>> {
    view.loads.iter().find(|load| {
        load.first().reported_as_throughput == throughput && load.points.iter().any(Point::is_valid)
    })
}

/// The target with the largest value of a load, of equals the first.
pub(crate) fn best(view: &View<'_>, load: &Load<'_>) -> Option<(u32, f64)> {
    let value = |target: &u32| Some((*target, load.maximum(*target)?.main().value));
    let known = view.targets.iter().rev().filter_map(value);
    known.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The largest value of a load, and on which of several targets it is.
pub(crate) fn maximum(view: &View<'_>, load: &Load<'_>) -> Option<String> {
    let words = view.words.summary;
    let (target, _) = best(view, load)?;
    if !view.compares() {
        return maximum_on(view, load, target);
    }
    let value = largest(view, load, target, words.maximum_on)?;
    Some(fill_in(words.maximum_of_all, &[("profile", load.title.clone()), ("value", value)]))
}

pub(crate) fn maximum_on(view: &View<'_>, load: &Load<'_>, target: u32) -> Option<String> {
    let words = view.words.summary;
    let value = largest(view, load, target, words.maximum)?;
    Some(fill_in(words.maximum_is, &[("profile", load.title.clone()), ("value", value)]))
}

fn largest(view: &View<'_>, load: &Load<'_>, target: u32, template: &str) -> Option<String> {
    let best = load.maximum(target)?;
    let values = [
        view.per(),
        ("value", number::in_prose(best.main())),
        ("unit", load.unit().to_owned()),
        ("target", view.target_name(target)),
        ("outstanding", best.record.outstanding.to_string()),
    ];
    Some(fill_in(template, &values))
}

/// The mean latency at the lowest intensity on a target, else on that of several where it is
/// shortest.
fn lowest_latency(view: &View<'_>, load: &Load<'_>, target: Option<u32>) -> Option<String> {
    let words = view.words.summary;
    let mean = |target: u32| Some((target, load.at(target, view.lowest())?.latency().mean_ns?));
    let known = || view.targets.iter().filter_map(|target| mean(*target));
    let shortest = || known().min_by(|a, b| a.1.total_cmp(&b.1));
    let (on, mean) = target.map_or_else(shortest, mean)?;
    let among = target.is_none() && known().nth(1).is_some();
    let kind = if load.is_open_loop() { words.response_time } else { words.service_time };
    let kind = [("kind", kind.to_owned()), ("profile", load.title.clone())];
    let values = [
        view.per(),
        ("kind", fill_in(words.latency_of, &kind)),
        ("outstanding", view.lowest().to_string()),
        ("latency", number::duration(mean)),
        ("target", view.target_name(on)),
    ];
    Some(fill_in(if among { words.shortest } else { words.latency }, &values))
}
