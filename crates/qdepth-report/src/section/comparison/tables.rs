//! The tables of a comparison.

use qdepth_measure::{Estimate, fairness, quotient, shade, skew};
use qdepth_record::{Cell as Parts, PointSummary};

use crate::compared::Compared;
use crate::document::{Cell, Column, Mark, Row, Table, number_in, text};
use crate::number::{self, TimeUnit, rounded};
use crate::published::{PublishedDrive, PublishedQuantity};
use crate::section::letters::{Letters, quotient_heading};
use crate::section::published::{published_name, published_note};
use crate::section::table_parts::with_mark;
use crate::trace;
use crate::view::{Load, Point, View};
use crate::words::fill_in;

/// Largest number of parts of a column that are shown separately.
const PARTS_SHOWN: u32 = 8;

/// Columns other than the base.
fn others<'v>(view: &'v View<'_>, compared: &Compared<'_>) -> impl Iterator<Item = u32> + 'v {
    let base = compared.record.base;
    view.targets.iter().copied().filter(move |target| *target != base)
}

/// Ratio of a value and the base's: value ÷ base, or base ÷ value.
pub(crate) fn divided(
    compared: &Compared<'_>,
    value: &Estimate,
    base: &Estimate,
) -> Option<Estimate> {
    if compared.record.base_above { quotient(base, value) } else { quotient(value, base) }
}

/// Every load at every queue depth: the columns, and the ratio of each to the base.
pub(crate) fn factors(view: &View<'_>, compared: &Compared<'_>) -> Table {
    let (words, own) = (view.words.columns, view.words.comparison);
    let mut columns = vec![text(words.profile), number_in(own.x[compared.kind()], "")];
    columns.push(text(words.unit));
    let letters = Letters::new(view);
    let head = |target: &u32| number_in(&letters.head(&view.target_name(*target)), "");
    columns.extend(view.targets.iter().map(head));
    for other in others(view, compared) {
        let name = view.target_name(other);
        columns.push(number_in(&quotient_heading(view, &letters, &name), ""));
        if let Some(drives) = compared.drives(other) {
            let values = [("name", name), ("n", drives.to_string())];
            columns.push(number_in(&fill_in(own.of_sum, &values), "%"));
        }
    }
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for load in view.swept() {
        for (index, outstanding) in view.intensities.iter().enumerate() {
            let at = |target: &u32| load.on(*target).find(|p| p.record.outstanding == *outstanding);
            points.push(trace::of_all(view, view.targets.iter().filter_map(at)));
            let cells = factor_cells(view, compared, load, *outstanding);
            rows.push(Row { cells, opens_group: index == 0 });
        }
    }
    let sum = others(view, compared).any(|other| compared.drives(other).is_some());
    let note = if sum {
        format!("{} {}", own.factors_note, own.sum_note)
    } else {
        own.factors_note.to_owned()
    };
    let table = Table { caption: own.factors_caption.to_owned(), columns, rows, note };
    with_mark(view, trace::traced(view, table, points))
}

fn factor_cells(
    view: &View<'_>,
    compared: &Compared<'_>,
    load: &Load<'_>,
    outstanding: u32,
) -> Vec<Cell> {
    let mut cells = vec![
        Cell::head(&*load.title),
        Cell::plain(number::count(outstanding.into())),
        Cell::plain(load.unit()),
    ];
    let any = |target: u32| load.on(target).find(|p| p.record.outstanding == outstanding);
    cells.extend(view.targets.iter().map(|target| {
        let point = any(*target);
        let value = Cell::or_dash(point.map(|point| rounded(point.main()).value));
        value.struck_if(point.is_some_and(|point| !point.is_valid()))
    }));
    let base = load.at(compared.record.base, outstanding).map(Point::main);
    for other in others(view, compared) {
        let value = load.at(other, outstanding).map(Point::main);
        let both = value.zip(base);
        let factor = both.and_then(|(value, base)| divided(compared, value, base));
        cells.push(Cell::or_dash(factor.map(|factor| rounded(&factor).joined())));
        if let Some(drives) = compared.drives(other) {
            let factor = both.and_then(|(value, base)| quotient(value, base));
            let share = factor.map(|factor| factor.value / f64::from(drives) * 100.0);
            cells.push(Cell::or_dash(share.map(|share| number::thousands(share, 1))));
        }
    }
    cells
}

/// Table with one row per load and the queue depths of each column side by side, shaded by the
/// increase over the base.
pub(crate) fn shades(view: &View<'_>, compared: &Compared<'_>) -> Table {
    let own = view.words.comparison;
    let base = compared.record.base;
    let mut columns = vec![text(view.words.columns.profile), text(own.variant)];
    columns.push(text(view.words.columns.unit));
    columns.extend(
        view.intensities
            .iter()
            .map(|outstanding| number_in(&fill_in(own.at, &[("n", outstanding.to_string())]), "")),
    );
    let row = |load: &Load<'_>, (index, target): (usize, &u32)| {
        let mut cells = vec![Cell::head(&*load.title), Cell::plain(view.target_name(*target))];
        cells.push(Cell::plain(load.unit()));
        cells.extend(view.intensities.iter().map(|outstanding| {
            let value = load.at(*target, *outstanding).map(Point::main);
            let base = load.at(base, *outstanding).map(Point::main);
            shaded(view, value, base)
        }));
        Row { cells, opens_group: index == 0 }
    };
    // Rows by load and target, so that the table fits a narrow screen.
    let of_load = |load| view.targets.iter().enumerate().map(move |target| row(load, target));
    let rows = view.swept().flat_map(of_load);
    let name = [("base", view.target_name(base))];
    let (caption, note) = (fill_in(own.shades_caption, &name), fill_in(own.shades_note, &name));
    with_mark(view, Table { caption, columns, rows: rows.collect(), note })
}

fn shaded(view: &View<'_>, value: Option<&Estimate>, base: Option<&Estimate>) -> Cell {
    let Some(value) = value else { return Cell::or_dash(None) };
    let text = rounded(value).value;
    let increase = base.filter(|base| base.value > 0.0).map(|base| value.value / base.value - 1.0);
    let class = increase.map_or(0, shade);
    if class == 0 {
        return Cell::plain(text);
    }
    let sign = view.words.comparison.classes[usize::from(class) - 1];
    Cell { text: format!("{text}\u{a0}{sign}"), mark: Mark::Shade(class) }
}

/// Latencies at queue depth 1, of loads that were measured only for them.
pub(crate) fn latencies(view: &View<'_>, compared: &Compared<'_>) -> Option<Table> {
    let own = view.words.comparison;
    let loads: Vec<&Load<'_>> = view.loads.iter().filter(|load| load.alone).collect();
    let published = |load: &Load<'_>| {
        let profile = load.first().profile.clone();
        let latency = move |drive: &&PublishedDrive| {
            Some(drive.at(&profile, 1, PublishedQuantity::Latency)? * 1e6)
        };
        compared.published.iter().map(latency).collect::<Vec<Option<f64>>>()
    };
    let measured = |load: &Load<'_>| {
        let mean = |target: &u32| load.at(*target, 1).and_then(|p| p.latency().mean_ns);
        view.targets.iter().map(mean).collect::<Vec<Option<f64>>>()
    };
    let values: Vec<Vec<Option<f64>>> =
        loads.iter().map(|load| [measured(load), published(load)].concat()).collect();
    let unit = TimeUnit::suiting(values.iter().flatten().filter_map(|ns| *ns));
    let mut columns = vec![text(view.words.columns.profile)];
    columns.extend(column_names(view, compared).map(|name| number_in(&name, unit.symbol())));
    let rows = loads.iter().zip(values).map(|(load, values)| {
        let mut cells = vec![Cell::head(&*load.title)];
        cells.extend(values.into_iter().map(|ns| Cell::or_dash(ns.map(|ns| unit.write(ns)))));
        Row { cells, opens_group: false }
    });
    let rows: Vec<Row> = rows.collect();
    let note = [own.latency_note.to_owned(), published_note(view, compared)].join(view.words.gap);
    let table = Table { caption: own.latency_caption.to_owned(), columns, rows, note };
    (!table.rows.is_empty()).then(|| with_mark(view, table))
}

/// Names of the measured columns, followed by the published ones.
pub(crate) fn column_names(
    view: &View<'_>,
    compared: &Compared<'_>,
) -> impl Iterator<Item = String> {
    let measured = view.targets.iter().map(|target| view.target_name(*target));
    let names = compared.published.iter().map(|drive| published_name(view, &drive.title));
    measured.chain(names).collect::<Vec<_>>().into_iter()
}

/// A table for each column of several points, with the shares of its parts.
pub(crate) fn parts(view: &View<'_>, compared: &Compared<'_>) -> Vec<Table> {
    let several = |target: &&u32| compared.variant(**target).is_some_and(|v| v.parts > 1);
    view.targets.iter().filter(several).map(|target| parts_of(view, compared, *target)).collect()
}

fn parts_of(view: &View<'_>, compared: &Compared<'_>, target: u32) -> Table {
    let (words, own) = (view.words.columns, view.words.comparison);
    let count = compared.variant(target).map_or(0, |variant| variant.parts);
    let shown = if count <= PARTS_SHOWN { count } else { 0 };
    let cells = || {
        view.swept().flat_map(|load| {
            load.on(target)
                .filter_map(move |point| Some((load, point, compared.cell(point.record)?)))
        })
    };
    let ends = cells().any(|(_, _, cell)| cell.done_ns().0 < cell.done_ns().1);
    let mut columns = vec![
        text(words.profile),
        number_in(own.x[compared.kind()], ""),
        text(words.unit),
        number_in(own.slowest, ""),
        number_in(own.fastest, ""),
        number_in(own.skew, "%"),
        number_in(own.fairness, ""),
    ];
    if ends {
        columns.extend([
            number_in(own.first_done, "s").ranked(5),
            number_in(own.last_done, "s").ranked(5),
            number_in(own.until_first_done, "IOPS").ranked(5),
        ]);
    }
    let of_process = usize::from(compared.record.of == "processes");
    columns.extend((1..=shown).map(|n| part_column(own.part[of_process], n).ranked(6)));
    let mut former = None;
    let rows = cells().map(|(load, point, cell)| Row {
        opens_group: former.replace(&load.id) != Some(&load.id),
        cells: part_cells(load, point, cell, ends, shown > 0),
    });
    let rows = rows.collect();
    let caption = fill_in(own.parts_caption, &[("name", view.target_name(target))]);
    let points = cells().map(|(_, point, _)| trace::point_indices(view, point)).collect();
    let table = Table { caption, columns, rows, note: own.parts_note.to_owned() };
    with_mark(view, trace::traced(view, table, points))
}

fn part_column(words: &str, n: u32) -> Column {
    number_in(&fill_in(words, &[("n", n.to_string())]), "")
}

fn part_cells(
    load: &Load<'_>,
    point: &Point<'_>,
    cell: &Parts<'_>,
    ends: bool,
    each: bool,
) -> Vec<Cell> {
    let values: Vec<f64> = cell
        .parts
        .iter()
        .map(|part| PointSummary::from_point(part))
        .map(|s| if point.record.reported_as_throughput { s.mib_per_s } else { s.io_per_s.value })
        .collect();
    let slowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = values.iter().copied().fold(0.0, f64::max);
    let written = |value: f64| Cell::plain(number::three_digits(value));
    let mut figures = vec![
        written(slowest),
        written(fastest),
        Cell::or_dash(skew(&values).map(|skew| number::thousands(skew * 100.0, 1))),
        Cell::or_dash(fairness(&values).map(|fairness| number::thousands(fairness, 4))),
    ];
    if ends {
        let (first, last) = cell.done_ns();
        let seconds = |ns: u64| Cell::plain(number::thousands(ns as f64 / 1e9, 2));
        let until = cell.io_per_s_until_first_done().map(number::three_digits);
        figures.extend([seconds(first), seconds(last), Cell::or_dash(until)]);
    }
    if each {
        figures.extend(values.into_iter().map(written));
    }
    let mut cells = vec![
        Cell::head(&*load.title),
        Cell::plain(number::count(point.record.outstanding.into())),
        Cell::plain(load.unit()),
    ];
    cells.extend(figures.into_iter().map(|cell| cell.struck_if(!point.is_valid())));
    cells
}
