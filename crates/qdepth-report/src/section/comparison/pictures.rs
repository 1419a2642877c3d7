//! Bars side by side: largest values, and a load at a few intensities.

use crate::compared::Compared;
use crate::document::{Cell, Picture, Row, Table, number_in, text};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::number::{self, rounded};
use crate::section::sweep::pictures::data_table;
use crate::trace;
use crate::view::{Load, Point, View};
use crate::words::fill_in;

/// Up to so many intensities are groups of bars; more make a line.
const GROUPS_MAX: usize = 4;

/// The diagrams of bars: the largest values where loads are many and alike, each load at its few
/// intensities.
pub(super) fn bars(view: &View<'_>, compared: &Compared<'_>) -> Vec<Picture> {
    let mut all = Vec::new();
    if matches!(&*compared.record.of, "processes" | "areas") {
        all.extend(maxima(view));
    }
    if (2..=GROUPS_MAX).contains(&view.intensities.len()) {
        all.extend(view.swept().map(|load| at_intensities(view, load)));
    }
    all.retain(|picture| !picture.figure.is_empty());
    all
}

/// The largest values of all loads that differ in their request size alone: a group for each size.
fn maxima(view: &View<'_>) -> Vec<Picture> {
    let mut alike: Vec<Vec<&Load<'_>>> = Vec::new();
    let kind = |load: &Load<'_>| {
        let first = load.first();
        (first.random_share, first.read_share, first.reported_as_throughput)
    };
    for load in view.swept() {
        match alike.iter_mut().find(|loads| kind(loads[0]) == kind(load)) {
            Some(loads) => loads.push(load),
            None => alike.push(vec![load]),
        }
    }
    let picture = |(number, loads): (usize, Vec<&Load<'_>>)| {
        let first = loads[0].first();
        let titles =
            loads.iter().map(|load| number::spaced_sizes(&load.first().request_size)).collect();
        let groups: Vec<Vec<Option<&Point<'_>>>> = loads
            .iter()
            .map(|load| view.targets.iter().map(|t| load.maximum(*t)).collect())
            .collect();
        let shares = [
            ("random", number::percent(first.random_share)),
            ("read", number::percent(first.read_share)),
        ];
        let title = fill_in(view.words.comparison.maxima_title, &shares);
        let (id, x) = (format!("maxima-{}", number + 1), view.words.columns.request_size);
        picture(view, id, title, x, titles, &groups, loads[0])
    };
    alike.into_iter().enumerate().map(picture).collect()
}

fn at_intensities(view: &View<'_>, load: &Load<'_>) -> Picture {
    let titles = view.intensities.iter().map(|at| number::count((*at).into())).collect();
    let at = |outstanding: &u32| view.targets.iter().map(|t| load.at(*t, *outstanding)).collect();
    let groups: Vec<Vec<Option<&Point<'_>>>> = view.intensities.iter().map(at).collect();
    let id = format!("{}-bars", load.id);
    picture(view, id, load.title.clone(), view.intensity_words(), titles, &groups, load)
}

/// Groups of bars, a bar for each column; `load` says what they show.
fn picture(
    view: &View<'_>,
    id: String,
    title: String,
    x: &str,
    titles: Vec<String>,
    groups: &[Vec<Option<&Point<'_>>>],
    load: &Load<'_>,
) -> Picture {
    let words = view.words.pictures;
    let throughput = load.first().reported_as_throughput;
    let series = view.targets.iter().enumerate().map(|(colour, target)| Series {
        name: view.target_name(*target),
        colour,
        stroke: Stroke::None,
        markers: Markers::Plain,
        marks: groups.iter().enumerate().map(|(at, group)| mark(view, at, group[colour])).collect(),
    });
    let figure = Figure {
        x_label: x.to_owned(),
        x_axis: Horizontal::Groups(titles.clone()),
        y_label: if throughput { words.throughput_y } else { words.rate_y }.to_owned(),
        y_scale: Scale::FromZero,
        series: series.collect(),
        right: None,
        panels: Vec::new(),
    };
    let between = view.words.list[0];
    let values = [("groups", titles.join(between)), ("columns", columns(view).join(between))];
    Picture {
        id,
        title: view.marked(title),
        description: fill_in(view.words.comparison.bars_description, &values),
        data: data(view, titles, groups, load.unit()),
        origin: view.origin(),
        figure,
    }
}

fn columns(view: &View<'_>) -> Vec<String> {
    view.targets.iter().map(|target| view.target_name(*target)).collect()
}

fn mark(view: &View<'_>, at: usize, point: Option<&Point<'_>>) -> Mark {
    let value = point.map_or(MarkValue::Missing, |point| {
        MarkValue::Known(point.main().value, point.main().interval)
    });
    Mark { at: at as f64, value, points: trace::of_all(view, point) }
}

fn data(
    view: &View<'_>,
    titles: Vec<String>,
    groups: &[Vec<Option<&Point<'_>>>],
    unit: &str,
) -> Table {
    let mut headings = vec![text("")];
    headings.extend(columns(view).iter().map(|name| number_in(name, unit)));
    let rows = titles.into_iter().zip(groups).map(|(title, group)| {
        let value = |point: &Option<&Point<'_>>| {
            Cell::or_dash(point.map(|point| rounded(point.main()).joined()))
        };
        let cells = std::iter::once(Cell::head(title)).chain(group.iter().map(value)).collect();
        Row { cells, opens_group: false }
    });
    let points = groups.iter().map(|group| trace::of_all(view, group.iter().copied().flatten()));
    trace::traced(view, data_table(view, headings, rows.collect()), points.collect())
}
