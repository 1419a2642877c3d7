//! Diagrams of a report, with their text alternatives and data tables.

use std::collections::BTreeSet;

use qdepth_measure::Statistic;

use crate::document::{Cell, Picture, Table, number_in};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, PALETTE, Scale, Series, Stroke};
use crate::number::{self, TimeUnit, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::sweep::references;
use crate::trace;
use crate::view::{Load, Point, View, percentile, percentile_ns};
use crate::words::{counted, fill_in};

/// Latency lines.
const LINES: [(Statistic, Stroke); 3] = [
    (Statistic::Mean, Stroke::Solid),
    (Statistic::Quantile(0.99), Stroke::Dashed),
    (Statistic::Quantile(0.999), Stroke::Dotted),
];

/// Largest number of targets whose lines can be distinguished in one diagram.
const TOGETHER: usize = 4;
/// Ratio of the largest values of two targets above which a common axis from zero would flatten the
/// smaller.
const FAR_APART: f64 = 30.0;

/// Largest number of targets in a diagram with the highest percentile: nine lines cannot be
/// distinguished, and their legend would be as tall as the diagram.
const ALL_PERCENTILES: usize = 2;

/// The pictures of a load: its rate, and its latency.
pub(crate) fn of_load(view: &View<'_>, load: &Load<'_>) -> Vec<Picture> {
    let crowded = panels(view, load).is_empty() && targets_of(view, load).len() > ALL_PERCENTILES;
    let lines = if crowded { &LINES[..2] } else { &LINES };
    drawn([rate(view, load), latency(view, load, lines)])
}

/// The same with one curve per target: percentiles next to the means of many targets would be too
/// many lines.
pub(crate) fn of_load_without_percentiles(view: &View<'_>, load: &Load<'_>) -> Vec<Picture> {
    drawn([rate(view, load), latency(view, load, &LINES[..1])])
}

fn drawn(pictures: [Picture; 2]) -> Vec<Picture> {
    pictures.into_iter().filter(|picture| !picture.figure.is_empty()).collect()
}

/// Solid while colours and markers are distinct, then dashed.
fn stroke_of(curve: usize) -> Stroke {
    if curve < PALETTE.len() { Stroke::Solid } else { Stroke::Dashed }
}

/// One mark for every queue depth at which the target was measured, so that a missing value leaves
/// a gap.
fn marks(
    view: &View<'_>,
    load: &Load<'_>,
    target: u32,
    value: impl Fn(&Point<'_>) -> Option<MarkValue>,
) -> Vec<Mark> {
    let at = |queue_depth: &u32| {
        let measured = || load.on(target).find(|p| p.record.queue_depth == *queue_depth);
        let (value, point) = match load.at(target, *queue_depth) {
            Some(point) => (value(point).unwrap_or(MarkValue::Missing), Some(point)),
            None => (MarkValue::Invalid, measured()),
        };
        let value = if point.is_some() { value } else { MarkValue::Missing };
        Mark { at: f64::from(*queue_depth), value, points: trace::of_all(view, point) }
    };
    let asked = view.intensities.iter().filter(|at| view.asked.contains(&(target, **at)));
    asked.map(at).collect()
}

fn targets_of(view: &View<'_>, load: &Load<'_>) -> Vec<(usize, u32)> {
    let on_load = view.targets.iter().copied().enumerate();
    on_load.filter(|(_, target)| load.on(*target).next().is_some()).collect()
}

pub(crate) fn rate(view: &View<'_>, load: &Load<'_>) -> Picture {
    let words = view.words.pictures;
    let throughput = load.first().reported_as_throughput;
    let (title, y_label) = if throughput {
        (words.throughput_title, words.throughput_y)
    } else {
        (words.rate_title, words.rate_y)
    };
    let references = references::of_rate(view, load);
    let panels = if references.is_empty() { panels(view, load) } else { Vec::new() };
    // A single line needs no name, and a line in a panel has the panel's name.
    let named = panels.is_empty() && (view.compares() || !references.is_empty());
    let value = |p: &Point<'_>| Some(MarkValue::Known(p.main().value, p.main().interval));
    let series = targets_of(view, load).into_iter().map(|(colour, target)| {
        let name = if named { view.target_name(target) } else { String::new() };
        let stroke = if panels.is_empty() { stroke_of(colour) } else { Stroke::Solid };
        Series::new(name, colour, marks(view, load, target, value))
            .drawn(stroke, Markers::HollowWithoutInterval)
    });
    let mut series: Vec<Series> = series.collect();
    series.extend(references.clone());
    let scale = if panels.is_empty() { Scale::FromZero } else { scale(&series) };
    let figure = Figure { panels, ..figure(view, y_label.to_owned(), scale, series) };
    Picture {
        id: format!("{}-rate", load.id),
        title: view.marked(fill_in(title, &[("profile", load.title.clone())])),
        description: rate_description(view, load),
        data: rate_data(view, load, &references),
        origin: view.origin(),
        figure,
    }
}

/// Names of the panels, one per target, if there are more targets than one diagram can hold.
fn panels(view: &View<'_>, load: &Load<'_>) -> Vec<String> {
    let targets = targets_of(view, load);
    if targets.len() <= TOGETHER {
        return Vec::new();
    }
    targets.into_iter().map(|(_, target)| view.target_name(target)).collect()
}

fn scale(series: &[Series]) -> Scale {
    let largest = |series: &Series| {
        series.marks.iter().filter_map(|mark| mark.value.known()).reduce(f64::max)
    };
    let all = || series.iter().filter_map(largest);
    let (least, most) = (all().reduce(f64::min), all().reduce(f64::max));
    match least.zip(most) {
        Some((least, most)) if least > 0.0 && most > FAR_APART * least => Scale::Log,
        _ => Scale::FromZero,
    }
}

pub(crate) fn figure(
    view: &View<'_>,
    y_label: String,
    y_scale: Scale,
    series: impl IntoIterator<Item = Series>,
) -> Figure {
    let x = Horizontal::Intensities(view.intensities.iter().copied().collect());
    Figure::new((view.intensity_words(), x), (y_label, y_scale), series)
}

fn rate_description(view: &View<'_>, load: &Load<'_>) -> String {
    let words = view.words.pictures;
    let lines = targets_of(view, load).into_iter().filter_map(|(_, target)| {
        let valid = || load.on(target).filter(|p| p.is_valid());
        let (first, last, largest) = (valid().next()?, valid().last()?, load.maximum(target)?);
        let value = |p: &Point<'_>| rounded(p.main()).value;
        let intensity = |p: &Point<'_>| p.record.queue_depth.to_string();
        Some(fill_in(
            words.rate_line,
            &[
                ("target", view.target_name(target)),
                ("unit", load.unit().to_owned()),
                ("first", value(first)),
                ("first_at", intensity(first)),
                ("last", value(last)),
                ("last_at", intensity(last)),
                ("largest", value(largest)),
                ("largest_at", intensity(largest)),
            ],
        ))
    });
    described(view, load, words.rate_description, lines.collect())
}

fn described(view: &View<'_>, load: &Load<'_>, template: &str, mut lines: Vec<String>) -> String {
    let targets: BTreeSet<u32> = targets_of(view, load).iter().map(|(_, t)| *t).collect();
    let planned = view.asked.iter().filter(|(target, _)| targets.contains(target)).count();
    let drawn = load.points.iter().filter(|p| p.is_valid()).count();
    if drawn < planned {
        lines.push(counted(view.words.pictures.gaps, planned - drawn));
    }
    let end = |intensity: Option<&u32>| intensity.map_or_else(String::new, ToString::to_string);
    fill_in(
        template,
        &[
            ("low", end(view.intensities.first())),
            ("high", end(view.intensities.last())),
            ("lines", lines.join(view.words.gap)),
        ],
    )
}

fn rate_data(view: &View<'_>, load: &Load<'_>, references: &[Series]) -> Table {
    let mut rows = rows(view);
    for (_, target) in targets_of(view, load) {
        let value = |at: u32| load.at(target, at).map(|point| rounded(point.main()));
        rows = rows
            .number(&view.target_name(target), load.unit(), |at| value(**at).map(|v| v.value))
            .number(view.words.columns.half_width, load.unit(), |at| {
                value(**at).and_then(|v| v.half_width)
            });
    }
    let heading = |series: &&Series| number_in(&series.name, load.unit());
    rows.each(references, heading, |at, series| references::cell(series, **at))
        .traced(view, |at| points_at(view, load, **at))
        .data(view)
}

/// Points of a load at a queue depth, in the order of targets.
fn points_at(view: &View<'_>, load: &Load<'_>, queue_depth: u32) -> Vec<u32> {
    trace::of_all(view, view.targets.iter().filter_map(|t| load.at(*t, queue_depth)))
}

/// A latency statistic of a point, ns.
fn latency_ns(point: &Point<'_>, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Mean => point.latency().mean_ns,
        Statistic::Quantile(quantile) => percentile_ns(point.latency(), quantile),
    }
}

fn interval(point: &Point<'_>, statistic: Statistic) -> Option<(f64, f64)> {
    let Statistic::Quantile(quantile) = statistic else { return None };
    let (low, high) = percentile(point.latency(), quantile)?.interval;
    Some((low.0 as f64, high.0 as f64))
}

fn latency(view: &View<'_>, load: &Load<'_>, lines: &[(Statistic, Stroke)]) -> Picture {
    let words = view.words.pictures;
    let valid = load.points.iter().filter(|p| p.is_valid());
    let unit = TimeUnit::suiting(
        valid.flat_map(|p| lines.iter().filter_map(|(statistic, _)| latency_ns(p, *statistic))),
    );
    let panels = panels(view, load);
    let own = !panels.is_empty();
    let mut series = Vec::new();
    for (colour, target) in targets_of(view, load) {
        for (statistic, stroke) in lines.iter().copied() {
            let value = |p: &Point<'_>| {
                let interval = interval(p, statistic);
                let interval = interval.map(|(a, b)| (unit.convert(a), unit.convert(b)));
                Some(MarkValue::Known(unit.convert(latency_ns(p, statistic)?), interval))
            };
            let name = match own {
                true => view.statistic(statistic),
                false => series_name(view, target, statistic),
            };
            let stroke = if lines.len() == 1 && !own { stroke_of(colour) } else { stroke };
            let line = Series::new(name, colour, marks(view, load, target, value));
            series.push(line.drawn(stroke, Markers::Plain));
        }
    }
    series.retain(Series::is_known);
    let y_label = format!("{} [{}]", words.latency_y, unit.symbol());
    Picture {
        id: format!("{}-latency", load.id),
        title: view.marked(fill_in(words.latency_title, &[("profile", load.title.clone())])),
        description: latency_description(view, load, unit),
        data: latency_data(view, load, lines, unit),
        origin: view.origin(),
        figure: Figure { panels, ..figure(view, y_label, Scale::Log, series) },
    }
}

fn series_name(view: &View<'_>, target: u32, statistic: Statistic) -> String {
    let name = view.statistic(statistic);
    if view.compares() { [view.target_name(target), name].join(view.words.list[0]) } else { name }
}

fn latency_description(view: &View<'_>, load: &Load<'_>, unit: TimeUnit) -> String {
    let words = view.words.pictures;
    let lines = targets_of(view, load).into_iter().filter_map(|(_, target)| {
        let valid = || load.on(target).filter(|p| p.is_valid());
        let mean =
            |p: &Point<'_>| Some(format!("{} {}", unit.write(p.latency().mean_ns?), unit.symbol()));
        let (first, last) = (valid().next()?, valid().last()?);
        Some(fill_in(
            words.latency_line,
            &[
                ("target", view.target_name(target)),
                ("first", mean(first)?),
                ("first_at", first.record.queue_depth.to_string()),
                ("last", mean(last)?),
                ("last_at", last.record.queue_depth.to_string()),
            ],
        ))
    });
    described(view, load, words.latency_description, lines.collect())
}

fn latency_data(
    view: &View<'_>,
    load: &Load<'_>,
    lines: &[(Statistic, Stroke)],
    unit: TimeUnit,
) -> Table {
    let targets = targets_of(view, load);
    let columns = targets.iter().flat_map(|(_, target)| lines.iter().map(|(s, _)| (*target, *s)));
    rows(view)
        .each(
            columns,
            |(target, statistic)| number_in(&series_name(view, *target, *statistic), unit.symbol()),
            |at, (target, statistic)| {
                let point = load.at(*target, **at);
                Cell::time(unit, point.and_then(|p| latency_ns(p, *statistic)))
            },
        )
        .traced(view, |at| points_at(view, load, **at))
        .data(view)
}

/// Data table with one row per queue depth.
fn rows<'v>(view: &'v View<'_>) -> Rows<&'v u32> {
    Rows::from_items(&view.intensities)
        .number(view.queue_depth_heading(), "", |at| Cell::head(number::count((**at).into())))
}
