//! Section of a comparison.

pub(crate) mod tables;

use crate::compared::Compared;
use crate::document::{Block, Picture, Section, Table};
use crate::grouped::grouped;
use crate::section::bars::{Bar, Bars};
use crate::view::{Load, Point, View};
use crate::words::fill_in;
use crate::{number, trace};

/// The tables of a comparison, also for the terminal.
pub(crate) fn all_tables(view: &View<'_>) -> Vec<Table> {
    let Some(compared) = view.compared else { return Vec::new() };
    let shaded = |table: fn(&View<'_>, &Compared<'_>) -> Option<Table>| {
        compared.record.shaded.then(|| table(view, compared)).flatten()
    };
    // A matrix has all values of the table of factors, which would have too many columns.
    let mut all = match shaded(tables::matrix) {
        Some(matrix) => vec![matrix],
        None => std::iter::once(tables::factors(view, compared))
            .chain(shaded(|view, compared| Some(tables::shades(view, compared))))
            .collect(),
    };
    all.extend(crate::section::sweep::tables::quotients(view));
    all.extend(tables::latencies(view, compared));
    all.extend(tables::parts(view, compared));
    all.retain(|table| !table.rows.is_empty());
    all
}

/// The section of a comparison; `None` for other runs.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let (words, compared) = (view.words.comparison, view.compared?);
    let mut blocks = vec![Block::Paragraph(words.intro[compared.kind()].to_owned())];
    blocks.extend(all_tables(view).into_iter().map(Block::Table));
    let bars = bars(view, compared);
    blocks.extend((!bars.is_empty()).then_some(Block::Pictures(bars)));
    Some(Section::new("comparison", words.section, blocks))
}

/// Largest number of queue depths shown as groups of bars; more make a line chart.
const GROUPS_MAX: usize = 4;

/// Bar charts: the largest values if loads are many and alike, and each load at its few queue
/// depths.
fn bars(view: &View<'_>, compared: &Compared<'_>) -> Vec<Picture> {
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

/// Largest values of loads that differ only in block size: one group per size.
fn maxima(view: &View<'_>) -> Vec<Picture> {
    let kind = |load: &Load<'_>| {
        let first = load.first();
        (first.random_share, first.read_share, first.reported_as_throughput)
    };
    let alike = grouped(view.swept().map(|load| (kind(load), load))).into_iter();
    let picture = |(number, (_, loads)): (usize, (_, Vec<&Load<'_>>))| {
        let first = loads[0].first();
        let titles =
            loads.iter().map(|load| number::spaced_sizes(&load.first().block_size)).collect();
        let groups: Vec<Vec<Option<&Point<'_>>>> = loads
            .iter()
            .map(|load| view.targets.iter().map(|t| load.maximum(*t)).collect())
            .collect();
        let shares = [
            ("random", number::percent(first.random_share)),
            ("read", number::percent(first.read_share)),
        ];
        let title = fill_in(view.words.comparison.maxima_title, &shares);
        let (id, x) = (format!("maxima-{}", number + 1), view.words.columns.block_size);
        picture(view, id, title, x, titles, &groups, loads[0])
    };
    alike.enumerate().map(picture).collect()
}

fn at_intensities(view: &View<'_>, load: &Load<'_>) -> Picture {
    let titles = view.intensities.iter().map(|at| number::count((*at).into())).collect();
    let at = |queue_depth: &u32| view.targets.iter().map(|t| load.at(*t, *queue_depth)).collect();
    let groups: Vec<Vec<Option<&Point<'_>>>> = view.intensities.iter().map(at).collect();
    let id = format!("{}-bars", load.id);
    picture(view, id, load.title.clone(), view.intensity_words(), titles, &groups, load)
}

/// Bar chart with one bar per column; `load` describes its content.
fn picture(
    view: &View<'_>,
    id: String,
    title: String,
    x: &str,
    titles: Vec<String>,
    groups: &[Vec<Option<&Point<'_>>>],
    load: &Load<'_>,
) -> Picture {
    let bar = |point: &Option<&Point<'_>>| {
        let point = (*point)?;
        Some(Bar { value: *point.main(), points: trace::point_indices(view, point) })
    };
    let words = view.words.pictures;
    let throughput = load.first().reported_as_throughput;
    let bars = Bars {
        id,
        title,
        x_label: x.to_owned(),
        y_label: if throughput { words.throughput_y } else { words.rate_y }.to_owned(),
        unit: load.unit(),
        groups: titles,
        names: view.targets.iter().map(|target| view.target_name(*target)).collect(),
        rows: groups.iter().map(|group| group.iter().map(bar).collect()).collect(),
        traced: true,
    };
    bars.picture(view)
}
