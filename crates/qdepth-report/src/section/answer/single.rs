//! Answer for a single target: latencies, or the maximum of each load and its queue depth.

use crate::document::{Cell, Picture, Table, number_in};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::number::{self, TimeUnit, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::naming::list;
use crate::section::sweep::pictures;
use crate::section::sweep::statements::{enough, line};
use crate::trace;
use crate::view::{Load, LoadPoint, Point, View, percentile_ns};
use crate::words::{counted, fill_in, with_subject};

/// Percentiles shown next to the mean.
const QUANTILES: [(f64, &str); 2] = [(0.99, "p99"), (0.999, "p99.9")];

/// Maximum number of latencies named in a sentence.
const NAMED: usize = 3;

/// Maximum number of loads with a row and a line on the first page.
const SHOWN: usize = 6;

/// Loads that are shown.
fn shown<'v, 'a>(view: &'v View<'a>) -> impl Iterator<Item = &'v Load<'a>> {
    view.swept().take(SHOWN)
}

/// States how many loads are left out; `None` if all are shown.
pub(super) fn left_out(view: &View<'_>, shown: usize) -> Option<String> {
    let more = view.swept().count().saturating_sub(shown);
    (more > 0).then(|| counted(view.words.answer.left_out, more))
}

/// True if every load ran only at queue depth 1: the question is the latency.
pub(super) fn is_latency(view: &View<'_>) -> bool {
    view.intensities.len() == 1 && view.lowest() == 1
}

/// Loads and targets with their valid point at the lowest queue depth.
fn alone<'v, 'a>(view: &'v View<'a>) -> Vec<LoadPoint<'v, 'a>> {
    let of_load = |load: &'v Load<'a>| {
        view.targets.iter().filter_map(move |t| Some((load, load.at(*t, view.lowest())?)))
    };
    view.swept().flat_map(of_load).collect()
}

fn queue_depth(view: &View<'_>) -> [(&'static str, String); 1] {
    [("queue_depth", view.lowest().to_string())]
}

/// The mean latencies, if the question is the latency.
pub(super) fn latencies(view: &View<'_>) -> Option<String> {
    if !is_latency(view) {
        return None;
    }
    let words = view.words.answer;
    let item = |(load, point): (&Load<'_>, &Point<'_>)| {
        let mean = point.latency().mean_ns?;
        let template = if view.compares() { words.latency_on } else { words.latency };
        let values = [
            ("value", number::duration(mean)),
            ("load", load.title.clone()),
            ("target", view.target_name(point.record.target)),
        ];
        Some(fill_in(template, &values))
    };
    let [queue_depth] = queue_depth(view);
    let mut all = alone(view);
    all.retain(|(_, point)| point.latency().mean_ns.is_some());
    if all.len() > NAMED {
        let mean = |pair: &(&Load<'_>, &Point<'_>)| pair.1.latency().mean_ns.unwrap_or_default();
        all.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        let [shortest, longest] = [all.first()?, all.last()?].map(|pair| item(*pair));
        let values = [queue_depth, ("shortest", shortest?), ("longest", longest?)];
        return Some(fill_in(words.latencies_between, &values));
    }
    let items: Vec<String> = all.into_iter().filter_map(item).collect();
    let none = items.is_empty();
    let values = [queue_depth, ("items", list(view, items))];
    (!none).then(|| fill_in(words.latencies, &values))
}

fn unit(view: &View<'_>) -> TimeUnit {
    TimeUnit::suiting(alone(view).into_iter().filter_map(|(_, point)| point.latency().mean_ns))
}

/// Statistics of a point's latency: mean, percentiles.
fn statistics(point: &Point<'_>) -> [Option<f64>; 3] {
    let latency = point.latency();
    let [first, second] = QUANTILES.map(|(quantile, _)| percentile_ns(latency, quantile));
    [latency.mean_ns, first, second]
}

fn names(view: &View<'_>) -> [&'static str; 3] {
    let [(_, first), (_, second)] = QUANTILES;
    [view.words.pictures.mean, first, second]
}

pub(super) fn latency_table(view: &View<'_>) -> Table {
    latency_rows(view).marked(view).table("")
}

fn latency_rows<'v, 'a>(view: &'v View<'a>) -> Rows<LoadPoint<'v, 'a>> {
    let unit = unit(view);
    Rows::from_items(alone(view))
        .text(view.words.columns.profile, |(load, _)| Cell::head(&*load.title))
        .targets(view, |(_, point)| point.record.target)
        .each(
            names(view).into_iter().enumerate(),
            |(_, name)| number_in(name, unit.symbol()),
            |(_, point), (index, _)| Cell::time(unit, statistics(point)[*index]),
        )
}

/// Bars of the mean and percentiles, a group for each load and target.
pub(super) fn latency_picture(view: &View<'_>) -> Picture {
    let unit = unit(view);
    let all = alone(view);
    let title = |(load, point): &LoadPoint<'_, '_>| {
        let target = view.target_name(point.record.target);
        if view.compares() {
            with_subject(view.lang, &load.title, &target)
        } else {
            load.title.clone()
        }
    };
    let titles: Vec<String> = all.iter().map(title).collect();
    let mark = |at: usize, point: &Point<'_>, index: usize| Mark {
        at: at as f64,
        value: statistics(point)[index].map(|ns| unit.convert(ns)).into(),
        points: trace::point_indices(view, point),
    };
    let series = names(view).into_iter().enumerate().map(|(index, name)| {
        let marks = all.iter().enumerate().map(|(at, (_, point))| mark(at, point, index));
        Series::new(name, index, marks).drawn(Stroke::None, Markers::Plain)
    });
    let between = view.words.list[0];
    let values = [("groups", titles.join(between)), ("columns", names(view).join(between))];
    let y_label = format!("{} [{}]", view.words.pictures.latency_y, unit.symbol());
    Picture {
        id: "answer".to_owned(),
        title: view.marked(fill_in(view.words.answer.latency_title, &queue_depth(view))),
        description: fill_in(view.words.comparison.bars_description, &values),
        data: latency_rows(view).marked(view).data(view),
        origin: view.origin(),
        figure: Figure::new(("", Horizontal::Groups(titles)), (y_label, Scale::FromZero), series),
    }
}

/// Table with one row per load: its maximum, the sufficient queue depth, and the latency at the
/// maximum and at the lowest queue depth.
pub(super) fn table(view: &View<'_>) -> Table {
    let (columns, words) = (view.words.columns, view.words.answer);
    let tops = || shown(view).flat_map(|load| view.targets.iter().map(move |t| (load, *t)));
    let mean = |point: Option<&Point<'_>>| point.and_then(|point| point.latency().mean_ns);
    let at_top = |load: &Load<'_>, target: u32| mean(load.maximum(target));
    let at_lowest = |load: &Load<'_>, target: u32| mean(load.at(target, view.lowest()));
    let ends = tops().flat_map(|(load, t)| [at_top(load, t), at_lowest(load, t)]);
    let unit = TimeUnit::suiting(ends.flatten());
    let enough = |load: &Load<'_>, target: u32| {
        let enough = enough(&line(load, target))?;
        let values = [
            ("queue_depth", number::count(enough.queue_depth.into())),
            ("share", number::percent(enough.share)),
        ];
        Some(fill_in(words.enough_cell, &values))
    };
    // A column without any value is left out.
    let says_enough = tops().any(|(load, target)| enough(load, target).is_some());
    let note = says_enough.then(|| words.enough_note.to_owned());
    let note = note.into_iter().chain(left_out(view, SHOWN));
    let lowest = fill_in(columns.mean_at_lowest, &queue_depth(view));
    Rows::from_items(tops())
        .text(columns.profile, |(load, _)| Cell::head(&*load.title))
        .targets(view, |(_, target)| *target)
        .number(columns.maximum, "", |(load, target)| {
            load.maximum(*target).map(|point| rounded(point.main()).value)
        })
        .text(columns.unit, |(load, _)| load.unit())
        .column(says_enough.then(|| number_in(words.enough, "")), |(load, target)| {
            enough(load, *target)
        })
        .time(words.latency_there, unit, |(load, target)| at_top(load, *target))
        .time(&lowest, unit, |(load, target)| at_lowest(load, *target))
        .marked(view)
        .table("")
        .with_note(note.collect::<Vec<_>>().join(view.words.gap))
}

/// A point with its share of the maximum in per cent, and the interval of the share.
type Share<'v, 'a> = (&'v Point<'a>, f64, Option<(f64, f64)>);

fn share<'v, 'a>(load: &'v Load<'a>, target: u32, queue_depth: u32) -> Option<Share<'v, 'a>> {
    let (top, point) = (load.maximum(target)?.main().value, load.at(target, queue_depth)?);
    let scale = |value: f64| value / top * 100.0;
    let interval = point.main().interval.map(|(low, high)| (scale(low), scale(high)));
    Some((point, scale(point.main().value), interval))
}

/// Diagram of the rates: a single load in its own unit, several as shares of their maxima.
pub(super) fn rates_picture(view: &View<'_>) -> Picture {
    let mut loads = shown(view);
    match (loads.next(), loads.next()) {
        (Some(load), None) => Picture { id: "answer".to_owned(), ..pictures::rate(view, load) },
        _ => share_picture(view),
    }
}

/// All loads in one diagram, each as a share of its own maximum. Only the first target: several
/// have ratios.
fn share_picture(view: &View<'_>) -> Picture {
    let words = view.words.answer;
    let target = view.targets.first().copied().unwrap_or(0);
    let mark = |load: &Load<'_>, queue_depth: u32| match share(load, target, queue_depth) {
        Some((point, value, interval)) => Mark {
            at: f64::from(queue_depth),
            value: MarkValue::Known(value, interval),
            points: trace::point_indices(view, point),
        },
        None => Mark::at(f64::from(queue_depth), MarkValue::Missing),
    };
    let series = shown(view).enumerate().map(|(colour, load)| {
        Series::new(&*load.title, colour, view.intensities.iter().map(|at| mark(load, *at)))
            .drawn(Stroke::Solid, Markers::HollowWithoutInterval)
    });
    let percent = |value: f64| number::thousands(value, 0);
    let data = Rows::from_items(&view.intensities)
        .number(view.queue_depth_heading(), "", |at| Cell::head(number::count((**at).into())))
        .each(
            shown(view),
            |load| number_in(&load.title, "%"),
            |at, load| Cell::or_dash(share(load, target, **at).map(|(_, value, _)| percent(value))),
        );
    let line = |load: &Load<'_>| {
        let known =
            || view.intensities.iter().filter_map(|at| Some((*at, share(load, target, *at)?.1)));
        let ((first_at, first), (last_at, last)) = (known().next()?, known().next_back()?);
        let values = [
            ("load", load.title.clone()),
            ("first", format!("{} %", percent(first))),
            ("first_at", first_at.to_string()),
            ("last", format!("{} %", percent(last))),
            ("last_at", last_at.to_string()),
        ];
        Some(fill_in(words.share_line, &values))
    };
    let end = |at: Option<&u32>| at.map_or_else(String::new, ToString::to_string);
    let lines: Vec<String> = shown(view).filter_map(line).collect();
    let values = [
        ("low", end(view.intensities.first())),
        ("high", end(view.intensities.last())),
        ("lines", lines.join(view.words.gap)),
    ];
    Picture {
        id: "answer".to_owned(),
        title: view.marked(words.share_title.to_owned()),
        description: fill_in(view.words.pictures.rate_description, &values),
        data: data.data(view),
        origin: view.origin(),
        figure: pictures::figure(view, words.share_y.to_owned(), Scale::FromZero, series),
    }
}
