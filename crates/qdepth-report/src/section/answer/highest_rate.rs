//! The highest rate at latency limits, and the curve of latency over offered load behind it.

use qdepth_measure::{Code, Limit, Statistic};
use qdepth_record::{AnswerEntry, LatencySummary};

use crate::document::{Cell, Picture, Table, number_in};
use crate::figure::{Figure, Horizontal, Mark, Scale, Series};
use crate::number::{self, TimeUnit};
use crate::rows::{Rows, RunColumns as _};
use crate::trace;
use crate::view::{Point, View, percentile_ns, profile_title};
use crate::words::fill_in;

/// Percentiles of the curve.
const CURVE: [(f64, &str); 3] = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9")];
/// Largest number of rates of a target on the first page.
const SHOWN: usize = 10;
/// Highest rate on the first page, relative to the answer.
const BEYOND: f64 = 1.3;

/// The answer for each target; `None` if the plan asks for none.
pub(super) fn sentence(view: &View<'_>) -> Option<String> {
    let sentences: Vec<String> =
        view.answers.iter().map(|answer| of_target(view, answer)).collect();
    (!sentences.is_empty()).then(|| sentences.join(view.words.gap))
}

fn of_target(view: &View<'_>, answer: &AnswerEntry) -> String {
    let words = view.words.highest_rate;
    let all = answer.limits.iter().map(limit).collect::<Vec<_>>().join(view.words.list[0]);
    let mut values = vec![("limits", all)];
    let template = match answer.answer.as_str() {
        "rate" => words.rate,
        "never" => words.never,
        "always" => words.always,
        _ => {
            let (template, ends) = without_answer(view, answer);
            values.extend(ends);
            template
        }
    };
    values.extend((view.targets.len() > 1).then(|| ("target", view.target_name(answer.target))));
    let title = view.records.first().map(|record| profile_title(record, view.words));
    values.extend(title.map(|title| ("profile", title)));
    values.extend(answer.io_per_s.map(|rate| ("value", number::three_digits(rate))));
    if let Some([low, high]) = answer.confidence_interval {
        values.extend(
            [("low", low), ("high", high)].map(|(name, rate)| (name, number::three_digits(rate))),
        );
    }
    let first =
        answer.limit.as_ref().filter(|_| answer.limits.len() > 1 || answer.answer == "never");
    values.extend(first.map(|first| ("limit", limit(first))));
    values.extend(answer.mean_in_flight.map(|mean| ("in_flight", number::three_digits(mean))));
    let text = fill_in(template, &values);
    if !answer.generator_limits {
        return text;
    }
    [text.as_str(), words.generator].join(view.words.gap)
}

/// Wording and values of what is known without an answer.
fn without_answer(
    view: &View<'_>,
    answer: &AnswerEntry,
) -> (&'static str, Vec<(&'static str, String)>) {
    let words = view.words.highest_rate;
    let mut own = offers(view).unwrap_or_default();
    own.retain(|point| point.record.target == answer.target);
    let (met, exceeded) = bracket(&own, answer);
    let printed = |rate: Option<f64>| rate.map(number::three_digits);
    match (printed(met), printed(exceeded)) {
        (Some(least), Some(most)) if met < exceeded && least != most => {
            (words.unknown[0], vec![("met", least), ("exceeded", most)])
        }
        // Above, only rates that the target did not reach.
        (Some(least), None) if own.iter().any(|point| is_saturated(point)) => {
            (words.always, vec![("value", least)])
        }
        _ if !own.iter().any(|point| point.is_valid()) => (words.unknown[1], Vec::new()),
        _ => (words.unknown[2], Vec::new()),
    }
}

/// Highest rate at which valid points meet all limits, and the lowest at which one exceeds a limit.
/// A rate that the target did not reach counts for neither, because its response times depend on
/// the length of the window, unless it exceeds a limit.
fn bracket(offers: &[&Point<'_>], answer: &AnswerEntry) -> (Option<f64>, Option<f64>) {
    let meets = |point: &Point<'_>| {
        let within = |limit: &Limit| {
            Some(statistic_ns(point.latency(), limit.statistic)? <= limit.at_most.0 as f64)
        };
        answer.limits.iter().map(within).collect::<Option<Vec<bool>>>()
    };
    let (mut met, mut exceeded): (Option<f64>, Option<f64>) = (None, None);
    for point in offers.iter().filter(|point| point.is_valid()) {
        let rate = offered(point);
        match meets(point) {
            Some(limits) if limits.iter().all(|is_within| *is_within) => {
                let reached = (!is_saturated(point)).then_some(rate);
                met = reached.map(|rate| met.map_or(rate, |met| met.max(rate))).or(met);
            }
            Some(_) => exceeded = Some(exceeded.map_or(rate, |least| least.min(rate))),
            None => {}
        }
    }
    (met, exceeded)
}

/// True if the target did not reach the offered rate.
fn is_saturated(point: &Point<'_>) -> bool {
    point.record.findings.iter().any(|finding| finding.code == Code::Saturated)
}

fn statistic_ns(latency: &LatencySummary, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Mean => latency.mean_ns,
        Statistic::Quantile(quantile) => percentile_ns(latency, quantile),
    }
}

fn limit(limit: &Limit) -> String {
    format!("{} ≤ {}", limit.statistic, number::duration(limit.at_most.0 as f64))
}

fn offered(point: &Point<'_>) -> f64 {
    point.record.offered_io_per_s.unwrap_or_default()
}

/// The offered rates of each target, ascending; `None` if the plan asks for no answer.
fn offers<'v, 'a>(view: &'v View<'a>) -> Option<Vec<&'v Point<'a>>> {
    if view.answers.is_empty() {
        return None;
    }
    let points = view.loads.iter().flat_map(|load| &load.points);
    let mut points: Vec<_> = points.filter(|p| p.record.offered_io_per_s.is_some()).collect();
    points.sort_by(|a, b| {
        a.record.target.cmp(&b.record.target).then(offered(a).total_cmp(&offered(b)))
    });
    Some(points)
}

/// Selects rates at about equal distances, up to a little above the answer.
fn thinned<'v, 'a>(view: &View<'_>, points: &[&'v Point<'a>]) -> Vec<&'v Point<'a>> {
    let mut kept: Vec<&Point<'_>> = Vec::new();
    for answer in &view.answers {
        let own = points.iter().copied().filter(|point| point.record.target == answer.target);
        let all: Vec<&Point<'_>> = own.collect();
        let highest = all.last().map_or(0.0, |point| offered(point));
        let end = answer.io_per_s.map_or(highest, |rate| highest.min(BEYOND * rate));
        for step in 1..=SHOWN {
            let wanted = end * step as f64 / SHOWN as f64;
            let far = |point: &&Point<'_>| (offered(point) - wanted).abs();
            let nearest = all.iter().copied().min_by(|a, b| far(a).total_cmp(&far(b)));
            let is_new =
                |point: &&Point<'_>| kept.iter().all(|other| !std::ptr::eq(*other, *point));
            kept.extend(nearest.filter(is_new));
        }
    }
    kept
}

/// Latency over offered load, for selected rates.
pub(super) fn table(view: &View<'_>) -> Option<Table> {
    let points = offers(view)?;
    Some(table_of(view, &thinned(view, &points)))
}

/// Latency over offered load, for all rates.
pub(crate) fn whole_table(view: &View<'_>) -> Option<Table> {
    Some(table_of(view, &offers(view)?))
}

fn unit(points: &[&Point<'_>]) -> TimeUnit {
    TimeUnit::suiting(points.iter().filter_map(|p| percentile_ns(p.latency(), CURVE[1].0)))
}

fn table_of(view: &View<'_>, points: &[&Point<'_>]) -> Table {
    rows(view, points).marked(view).table("").with_note(view.words.highest_rate.note)
}

fn rows<'v, 'a>(view: &View<'_>, points: &[&'v Point<'a>]) -> Rows<&'v Point<'a>> {
    let words = view.words.highest_rate;
    let unit = unit(points);
    Rows::from_items(points.iter().copied())
        .number(words.offered, "IOPS", |point| {
            Cell::head(number::distinct(offered(point), points.iter().map(|other| offered(other))))
        })
        .targets(view, |point| point.record.target)
        .number(words.reached, "IOPS", |point| number::three_digits(point.summary.io_per_s.value))
        .each(
            CURVE,
            |(_, name)| number_in(name, unit.symbol()),
            |point, (quantile, _)| Cell::time(unit, percentile_ns(point.latency(), *quantile)),
        )
        .number(words.in_flight, "", |point| point.summary.mean_in_flight.map(number::three_digits))
        .text(view.words.columns.grade, |p| p.summary.grade.to_string())
}

/// Diagram of latency over offered load, for the first target.
pub(super) fn picture(view: &View<'_>) -> Option<Picture> {
    let words = view.words.highest_rate;
    let mut points = thinned(view, &offers(view)?);
    points.retain(|point| Some(&point.record.target) == view.targets.first());
    let unit = unit(&points);
    let mark = |point: &&Point<'_>, quantile| Mark {
        at: offered(point),
        value: percentile_ns(point.latency(), quantile).map(|ns| unit.convert(ns)).into(),
        points: trace::point_indices(view, point),
    };
    let series = CURVE.iter().enumerate().map(|(colour, (quantile, name))| {
        Series::new(*name, colour, points.iter().map(|point| mark(point, *quantile)))
    });
    let end = points.last().map_or(1.0, |point| offered(point));
    Some(Picture {
        id: "answer".to_owned(),
        title: view.marked(words.title.to_owned()),
        description: words.description.to_owned(),
        data: rows(view, &points).marked(view).data(view),
        origin: view.origin(),
        figure: Figure::new(
            (&format!("{} [IOPS]", words.offered), Horizontal::UpTo(end)),
            (format!("{} [{}]", words.response, unit.symbol()), Scale::Log),
            series,
        ),
    })
}
