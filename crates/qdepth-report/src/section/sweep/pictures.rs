//! Diagrams of a report, with their text alternatives and data tables.

use std::collections::BTreeSet;

use crate::document::{Cell, Picture, Row, Table, number_in};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, PALETTE, Scale, Series, Stroke};
use crate::number::{self, TimeUnit, rounded};
use crate::section::sweep::references;
use crate::section::table_parts::data_table;
use crate::trace;
use crate::view::{Load, Point, View, percentile, percentile_ns};
use crate::words::{counted, fill_in};

/// Latency lines in addition to the mean.
const LINES: [(f64, &str, Stroke); 2] =
    [(0.99, "p99", Stroke::Dashed), (0.999, "p99.9", Stroke::Dotted)];

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
    let mut statistics = statistics(view);
    if panels(view, load).is_empty() && targets_of(view, load).len() > ALL_PERCENTILES {
        statistics.truncate(LINES.len());
    }
    drawn([rate(view, load), latency(view, load, &statistics)])
}

/// The same with one curve per target: percentiles next to the means of many targets would be too
/// many lines.
pub(crate) fn of_load_without_percentiles(view: &View<'_>, load: &Load<'_>) -> Vec<Picture> {
    let mut mean = statistics(view);
    mean.truncate(1);
    drawn([rate(view, load), latency(view, load, &mean)])
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
    let at = |outstanding: &u32| {
        let measured = || load.on(target).find(|p| p.record.outstanding == *outstanding);
        let (value, point) = match load.at(target, *outstanding) {
            Some(point) => (value(point).unwrap_or(MarkValue::Missing), Some(point)),
            None => (MarkValue::Invalid, measured()),
        };
        let value = if point.is_some() { value } else { MarkValue::Missing };
        Mark { at: f64::from(*outstanding), value, points: trace::of_all(view, point) }
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
    let series = targets_of(view, load).into_iter().map(|(colour, target)| Series {
        name: if named { view.target_name(target) } else { String::new() },
        colour,
        stroke: if panels.is_empty() { stroke_of(colour) } else { Stroke::Solid },
        markers: Markers::HollowWithoutInterval,
        marks: marks(view, load, target, |p| {
            Some(MarkValue::Known(p.main().value, p.main().interval))
        }),
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
        let known = series.marks.iter().filter_map(|mark| match mark.value {
            MarkValue::Known(value, _) => Some(value),
            MarkValue::Invalid | MarkValue::Missing => None,
        });
        known.reduce(f64::max)
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
    series: Vec<Series>,
) -> Figure {
    Figure {
        x_label: view.intensity_words().to_owned(),
        y_label,
        y_scale,
        x_axis: Horizontal::Intensities(view.intensities.iter().copied().collect()),
        series,
        right: None,
        panels: Vec::new(),
    }
}

fn rate_description(view: &View<'_>, load: &Load<'_>) -> String {
    let words = view.words.pictures;
    let lines = targets_of(view, load).into_iter().filter_map(|(_, target)| {
        let valid = || load.on(target).filter(|p| p.is_valid());
        let (first, last, largest) = (valid().next()?, valid().last()?, load.maximum(target)?);
        let value = |p: &Point<'_>| rounded(p.main()).value;
        let intensity = |p: &Point<'_>| p.record.outstanding.to_string();
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
    let mut columns = vec![number_in(view.outstanding_heading(), "")];
    let targets = targets_of(view, load);
    for (_, target) in &targets {
        columns.push(number_in(&view.target_name(*target), load.unit()));
        columns.push(number_in(view.words.columns.half_width, load.unit()));
    }
    columns.extend(references.iter().map(|series| number_in(&series.name, load.unit())));
    let rows = view.intensities.iter().map(|outstanding| {
        let mut cells = vec![Cell::head(number::count((*outstanding).into()))];
        for (_, target) in &targets {
            let value = load.at(*target, *outstanding).map(|p| rounded(p.main()));
            cells.push(Cell::or_dash(value.as_ref().map(|v| v.value.clone())));
            cells.push(Cell::or_dash(value.and_then(|v| v.half_width)));
        }
        cells.extend(references.iter().map(|series| references::cell(series, *outstanding)));
        Row { cells, opens_group: false }
    });
    let data = data_table(view, columns, rows.collect());
    trace::traced(view, data, points_by_intensity(view, load))
}

/// Points of a load at each queue depth, in the order of targets.
fn points_by_intensity(view: &View<'_>, load: &Load<'_>) -> Vec<Vec<u32>> {
    let at = |outstanding: &u32| {
        let drawn = view.targets.iter().filter_map(|target| load.at(*target, *outstanding));
        trace::of_all(view, drawn)
    };
    view.intensities.iter().map(at).collect()
}

/// A statistic of a point, with its name.
struct Statistic {
    name: &'static str,
    stroke: Stroke,
    quantile: Option<f64>,
}

impl Statistic {
    fn value(&self, point: &Point<'_>) -> Option<f64> {
        let latency = point.latency();
        match self.quantile {
            None => latency.mean_ns,
            Some(quantile) => percentile_ns(latency, quantile),
        }
    }

    fn interval(&self, point: &Point<'_>) -> Option<(f64, f64)> {
        let (low, high) = percentile(point.latency(), self.quantile?)?.interval;
        Some((low.0 as f64, high.0 as f64))
    }
}

fn statistics(view: &View<'_>) -> Vec<Statistic> {
    let mean = Statistic { name: view.words.pictures.mean, stroke: Stroke::Solid, quantile: None };
    let others =
        LINES.map(|(quantile, name, stroke)| Statistic { name, stroke, quantile: Some(quantile) });
    std::iter::once(mean).chain(others).collect()
}

fn latency(view: &View<'_>, load: &Load<'_>, statistics: &[Statistic]) -> Picture {
    let words = view.words.pictures;
    let valid = || load.points.iter().filter(|p| p.is_valid());
    let unit =
        TimeUnit::suiting(valid().flat_map(|p| statistics.iter().filter_map(|s| s.value(p))));
    let panels = panels(view, load);
    let mut series = Vec::new();
    for (colour, target) in targets_of(view, load) {
        for statistic in statistics {
            let value = |p: &Point<'_>| {
                let interval =
                    statistic.interval(p).map(|(a, b)| (unit.convert(a), unit.convert(b)));
                Some(MarkValue::Known(unit.convert(statistic.value(p)?), interval))
            };
            let marks = marks(view, load, target, value);
            let drawn = marks.iter().any(|m| matches!(m.value, MarkValue::Known(..)));
            let own = !panels.is_empty();
            let name = match own {
                true => statistic.name.to_owned(),
                false => series_name(view, target, statistic.name),
            };
            let alone = statistics.len() == 1 && !own;
            let stroke = if alone { stroke_of(colour) } else { statistic.stroke };
            let markers = Markers::Plain;
            series.extend(drawn.then_some(Series { name, colour, stroke, markers, marks }));
        }
    }
    let y_label = format!("{} [{}]", words.latency_y, unit.symbol());
    Picture {
        id: format!("{}-latency", load.id),
        title: view.marked(fill_in(words.latency_title, &[("profile", load.title.clone())])),
        description: latency_description(view, load, unit),
        data: latency_data(view, load, statistics, unit),
        origin: view.origin(),
        figure: Figure { panels, ..figure(view, y_label, Scale::Log, series) },
    }
}

fn series_name(view: &View<'_>, target: u32, statistic: &str) -> String {
    if view.compares() {
        [&*view.target_name(target), statistic].join(view.words.list[0])
    } else {
        statistic.to_owned()
    }
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
                ("first_at", first.record.outstanding.to_string()),
                ("last", mean(last)?),
                ("last_at", last.record.outstanding.to_string()),
            ],
        ))
    });
    described(view, load, words.latency_description, lines.collect())
}

fn latency_data(view: &View<'_>, load: &Load<'_>, all: &[Statistic], unit: TimeUnit) -> Table {
    let mut columns = vec![number_in(view.outstanding_heading(), "")];
    let targets = targets_of(view, load);
    for (_, target) in &targets {
        columns.extend(
            all.iter().map(|s| number_in(&series_name(view, *target, s.name), unit.symbol())),
        );
    }
    let rows = view.intensities.iter().map(|outstanding| {
        let mut cells = vec![Cell::head(number::count((*outstanding).into()))];
        for (_, target) in &targets {
            let point = load.at(*target, *outstanding);
            cells.extend(all.iter().map(|statistic| {
                let ns = point.and_then(|p| statistic.value(p));
                Cell::or_dash(ns.map(|ns| unit.write(ns)))
            }));
        }
        Row { cells, opens_group: false }
    });
    let data = data_table(view, columns, rows.collect());
    trace::traced(view, data, points_by_intensity(view, load))
}
