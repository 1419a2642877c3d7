//! The tables of a report.

use qdepth_measure::{Estimate, Grade, quotient};
use qdepth_record::{DirectionRecord, EndedBy, LatencySummary, TargetKind};

use crate::document::{Align, Cell, Column, Row, Table, number_in, text};
use crate::number::{self, TimeUnit, rounded};
use crate::section::letters::{Letters, quotient_heading};
use crate::section::published::{published_maximum, published_name, published_note};
use crate::section::table_parts::{target_cell, target_column, with_mark};
use crate::trace;
use crate::view::{Load, Point, QUANTILES, View, arrivals, percentile_ns, profile_title};
use crate::words::{entry, fill_in};

/// The maximum of every load on every target, with the latency there and at the lowest queue depth.
pub(crate) fn key_figures(view: &View<'_>) -> Table {
    let words = view.words.columns;
    let lowest = [("outstanding", view.lowest().to_string())];
    let unit = TimeUnit::suiting(key_points(view).flatten().filter_map(|p| p.latency().mean_ns));
    let columns = [
        Some(text(words.profile)),
        target_column(view),
        Some(number_in(words.maximum, "")),
        Some(number_in(words.half_width, "")),
        Some(text(words.unit)),
        Some(number_in(view.outstanding_heading(), "")),
        Some(number_in(words.mean_at_maximum, unit.symbol())),
        Some(number_in(&fill_in(words.rate_at_lowest, &lowest), "")),
        Some(number_in(&fill_in(words.mean_at_lowest, &lowest), unit.symbol())),
    ];
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for load in view.swept() {
        for (index, target) in view.targets.iter().enumerate() {
            let both = [load.maximum(*target), load.at(*target, view.lowest())];
            points.push(trace::of_all(view, both.into_iter().flatten()));
            let row = key_row(view, load, *target, unit);
            rows.push(Row { opens_group: index == 0 && view.compares(), ..row });
        }
    }
    let table = Table {
        caption: view.words.tables.key_caption.to_owned(),
        columns: columns.into_iter().flatten().collect(),
        rows,
        note: view.words.tables.key_note.to_owned(),
    };
    with_mark(view, trace::traced(view, table, points))
}

fn key_points<'v, 'a>(view: &'v View<'a>) -> impl Iterator<Item = [&'v Point<'a>; 2]> {
    view.swept().flat_map(move |load| {
        view.targets.iter().filter_map(move |target| {
            let maximum = load.maximum(*target)?;
            Some([maximum, load.at(*target, view.lowest()).unwrap_or(maximum)])
        })
    })
}

fn key_row(view: &View<'_>, load: &Load<'_>, target: u32, unit: TimeUnit) -> Row {
    let maximum = load.maximum(target);
    let value = maximum.map(|p| rounded(p.main()));
    let lowest = load.at(target, view.lowest());
    let mean = |point: Option<&Point<'_>>| {
        Cell::or_dash(point.and_then(|p| p.latency().mean_ns).map(|ns| unit.write(ns)))
    };
    let cells = [
        Some(Cell::head(&*load.title)),
        target_cell(view, target),
        Some(Cell::or_dash(value.as_ref().map(|v| v.value.clone()))),
        Some(Cell::or_dash(value.and_then(|v| v.half_width))),
        Some(Cell::plain(load.unit())),
        Some(Cell::or_dash(maximum.map(|p| number::count(p.record.outstanding.into())))),
        Some(mean(maximum)),
        Some(Cell::or_dash(lowest.map(|p| rounded(p.main()).value))),
        Some(mean(lowest)),
    ];
    Row { cells: cells.into_iter().flatten().collect(), opens_group: false }
}

/// Largest number of targets whose ratios appear side by side; more would not be readable.
const QUOTIENTS: usize = 11;

/// Maxima side by side, and the ratio of each to the base: the first target, or that of a
/// comparison. `None` for a single target without published figures.
pub(crate) fn quotients(view: &View<'_>) -> Option<Table> {
    let base = view.compared.map_or(*view.targets.first()?, |compared| compared.record.base);
    let others: Vec<u32> = view.targets.iter().copied().filter(|target| *target != base).collect();
    let published = view.compared.map_or(&[][..], |compared| &compared.published);
    let nothing = others.is_empty() && published.is_empty();
    if nothing || others.len() > QUOTIENTS {
        return None;
    }
    let names = |targets: &[u32]| -> Vec<String> {
        let printed = published.iter().map(|drive| published_name(view, &drive.title));
        targets.iter().map(|t| view.target_name(*t)).chain(printed).collect()
    };
    let letters = Letters::new(view);
    let heading = |name: String| quotient_heading(view, &letters, &name);
    let mut columns = vec![text(view.words.columns.profile), text(view.words.columns.unit)];
    columns.extend(names(&view.targets).iter().map(|name| number_in(&letters.head(name), "")));
    columns.extend(names(&others).into_iter().map(|name| number_in(&heading(name), "")));
    let rows =
        view.swept().map(|load| {
            let maximum = |target: &u32| load.maximum(*target).map(|point| *point.main());
            let printed =
                || published.iter().map(|drive| published_maximum(drive, load).map(exact));
            let quotient = |value: Option<Estimate>| {
                let (value, base) = (value?, maximum(&base)?);
                let above = view.compared.is_some_and(|compared| compared.record.base_above);
                if above { quotient(&base, &value) } else { quotient(&value, &base) }
            };
            let value = |value: Option<Estimate>| Cell::or_dash(value.map(|e| rounded(&e).value));
            let mut cells = vec![Cell::head(&*load.title), Cell::plain(load.unit())];
            cells.extend(view.targets.iter().map(maximum).map(value));
            let as_printed = |value: Option<Estimate>| Some(number::thousands(value?.value, 0));
            cells.extend(printed().map(|value| Cell::or_dash(as_printed(value))));
            cells.extend(others.iter().map(maximum).chain(printed()).map(|other| {
                Cell::or_dash(quotient(other).map(|q| number::thousands(q.value, 2)))
            }));
            Row { cells, opens_group: false }
        });
    let (words, own) = (view.words.tables, view.words.comparison);
    let note = match view.compared {
        Some(compared) => {
            format!("{} {}", own.maxima_note, published_note(view, compared))
        }
        None => words.quotient_note.to_owned(),
    };
    let table = Table {
        caption: view.compared.map_or(words.quotient_caption, |_| own.maxima_caption).to_owned(),
        columns,
        rows: rows.collect(),
        note: note.trim_end().to_owned(),
    };
    Some(with_mark(view, table))
}

/// A published figure as an estimate without an interval.
fn exact(value: f64) -> Estimate {
    Estimate { value, interval: None, degrees: 0, autocorrelation: 0.0 }
}

/// Load profiles as measured.
pub(crate) fn profiles(view: &View<'_>) -> Table {
    let words = view.words.columns;
    let trims = view.loads.iter().any(|load| load.first().trim_share > 0.0);
    let mut columns = vec![
        text(words.profile),
        text(words.access),
        number_in(words.read_share, "%"),
        number_in(words.write_share, "%"),
    ];
    columns.extend(trims.then(|| number_in(words.trim_share, "%")));
    columns.extend([text(words.request_size), text(words.arrivals), text(words.application)]);
    let row = |load: &Load<'_>| {
        let first = load.first();
        let random = number::percent(first.random_share);
        let access = match first.random_share {
            share if share >= 1.0 => words.random.to_owned(),
            share if share <= 0.0 => words.sequential.to_owned(),
            _ => fill_in(words.share_random, &[("share", random)]),
        };
        let known = entry(view.words.applications, &first.profile);
        let percent = |share: f64| Cell::plain(number::thousands(share * 100.0, 0));
        let mut cells = vec![
            // Without the distinguishing addition, because the columns show those properties.
            Cell::head(profile_title(first, view.words)),
            Cell::plain(access),
            percent(first.read_share),
            percent(first.write_share()),
        ];
        cells.extend(trims.then(|| percent(first.trim_share)));
        cells.extend([
            Cell::plain(number::spaced_sizes(&first.request_size)),
            Cell::plain(if load.stepped && load.is_open_loop() {
                words.by_step.to_owned()
            } else {
                arrivals(first, view.words)
            }),
            Cell::or_dash(known.map(str::to_owned)),
        ]);
        Row { cells, opens_group: false }
    };
    // A profile with more streams is the same profile.
    let mut rows: Vec<Row> = Vec::new();
    for row in view.loads.iter().map(row) {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    Table {
        caption: view.words.tables.profile_caption.to_owned(),
        columns,
        rows,
        note: String::new(),
    }
}

/// Latency columns: mean, minimum, percentiles, maximum.
fn latency_columns(view: &View<'_>, unit: TimeUnit) -> Vec<Column> {
    let words = view.words.columns;
    let names = QUANTILES.iter().map(|(_, name)| *name);
    [words.mean, words.minimum]
        .into_iter()
        .chain(names)
        .chain([words.maximum_time])
        .map(|heading| number_in(heading, unit.symbol()))
        .collect()
}

fn latency_cells(latency: &LatencySummary, unit: TimeUnit) -> impl Iterator<Item = Cell> {
    let cell = move |ns: Option<f64>| Cell::or_dash(ns.map(|ns| unit.write(ns)));
    let percentiles = QUANTILES.map(|(quantile, _)| percentile_ns(latency, quantile));
    [latency.mean_ns, latency.min_ns.map(|ns| ns as f64)]
        .into_iter()
        .chain(percentiles)
        .chain([latency.max_ns.map(|ns| ns as f64)])
        .map(cell)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Common unit of all latencies of a load. Maxima do not count: a single pause would make all other
/// figures very small.
fn load_unit(load: &Load<'_>) -> TimeUnit {
    TimeUnit::suiting(
        load.points.iter().filter_map(|p| percentile_ns(p.latency(), 0.99).or(p.latency().mean_ns)),
    )
}

/// Table of all points of a load.
pub(crate) fn points(view: &View<'_>, load: &Load<'_>) -> Table {
    let words = view.words.columns;
    let unit = load_unit(load);
    let mut columns: Vec<Column> = target_column(view).into_iter().collect();
    columns.extend([
        number_in(view.outstanding_heading(), ""),
        number_in(words.rate, "IOPS"),
        number_in(words.half_width, "IOPS"),
        number_in(words.throughput, "MiB/s"),
    ]);
    columns.extend(latency_columns(view, unit));
    // The CPU time of an emulation says nothing about the load.
    columns.extend((!view.run.emulated).then(|| number_in(words.cpu, "µs")));
    let ends = load.points.iter().any(asks_precision);
    columns.extend(ends.then(|| ending_columns(view)).into_iter().flatten());
    columns.extend(view.expects().then(|| expected_columns(view)).into_iter().flatten());
    let align = Align::Centre;
    columns.push(Column { heading: words.grade.to_owned(), unit: String::new(), align, rank: 0 });
    let mut former = None;
    let rows = load.points.iter().map(|point| {
        let opens_group = view.compares() && former != Some(point.record.target);
        former = Some(point.record.target);
        Row { cells: point_cells(view, point, unit, ends), opens_group }
    });
    let table = Table {
        caption: fill_in(view.words.tables.points_caption, &[("profile", load.title.clone())]),
        rows: rows.collect(),
        columns,
        note: view.words.tables.points_note.to_owned(),
    };
    let points = load.points.iter().map(|point| trace::point_indices(view, point)).collect();
    with_mark(view, trace::traced(view, table, points))
}

fn asks_precision(point: &Point<'_>) -> bool {
    point.record.tolerance.is_some()
}

/// Columns for expected results, if there are any: the device's rate, and the share of it that was
/// reached. Always marked EMULATED.
fn expected_columns(view: &View<'_>) -> [Column; 2] {
    let words = view.words.columns;
    let expected = format!("{} {}", words.expected, view.words.emulated[0]);
    [number_in(&expected, "IOPS"), number_in(words.of_expected, "%")]
}

fn expected_cells(view: &View<'_>, point: &Point<'_>) -> [Cell; 2] {
    let expected = view.run.expected_at(point.record.index);
    let share = expected.and_then(|e| e.share_reached(point.summary.io_per_s.value));
    [
        Cell::or_dash(expected.map(|e| number::three_digits(e.io_per_s))),
        Cell::or_dash(share.map(|share| number::thousands(share * 100.0, 0))),
    ]
}

/// Columns for the measured time of a point, and the reason of its end.
fn ending_columns(view: &View<'_>) -> [Column; 2] {
    let words = view.words.columns;
    [number_in(words.time, "s"), text(words.ended_by)]
}

fn ending_cells(view: &View<'_>, point: &Point<'_>) -> [Cell; 2] {
    let ended = view.words.columns.ended;
    let index = EndedBy::ALL.iter().position(|by| *by == point.record.ended_by);
    let seconds = point.record.duration_ns as f64 / 1e9;
    [Cell::plain(number::thousands(seconds, 1)), Cell::plain(ended[index.unwrap_or(0)])]
}

fn point_cells(view: &View<'_>, point: &Point<'_>, unit: TimeUnit, ends: bool) -> Vec<Cell> {
    let rate = rounded(&point.summary.io_per_s);
    let cpu = point.cpu_ns_per_io().map(|ns| TimeUnit::Micros.write(ns));
    let measured = [
        Cell::plain(rate.value),
        Cell::or_dash(rate.half_width),
        Cell::plain(rounded(&point.mib_per_s).value),
    ];
    let invalid = !point.is_valid();
    let mut cells: Vec<Cell> = target_cell(view, point.record.target).into_iter().collect();
    cells.push(Cell::head(number::count(point.record.outstanding.into())));
    let figures = measured
        .into_iter()
        .chain(latency_cells(point.latency(), unit))
        .chain((!view.run.emulated).then(|| Cell::or_dash(cpu)));
    cells.extend(figures.map(|cell| cell.struck_if(invalid)));
    cells.extend(ends.then(|| ending_cells(view, point)).into_iter().flatten());
    cells.extend(view.expects().then(|| expected_cells(view, point)).into_iter().flatten());
    cells.push(Cell::plain(point.summary.grade.to_string()));
    cells
}

/// Reads, writes and trims of a mixed load separately, and the parts of durable writes; `None` for
/// a load of one direction without parts.
pub(crate) fn directions(view: &View<'_>, load: &Load<'_>) -> Option<Table> {
    let is_durable = load.points.iter().any(|point| point.summary.write_part.is_some());
    if !is_durable && !load.points.iter().any(Point::is_mixed) {
        return None;
    }
    let words = view.words.columns;
    let unit = load_unit(load);
    let mut columns: Vec<Column> = target_column(view).into_iter().collect();
    columns.push(number_in(view.outstanding_heading(), ""));
    columns.push(text(words.direction));
    columns.push(number_in(words.rate, "IOPS"));
    columns.extend(latency_columns(view, unit));
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for point in &load.points {
        let (record, times) = (point.record, &point.summary.response_time);
        let row = |share: f64, name, each: &DirectionRecord, latency| {
            (share > 1e-9).then_some((name, each.completed, latency))
        };
        let all = [
            row(record.read_share, words.reads, &record.reads, &times.reads),
            row(record.write_share(), words.writes, &record.writes, &times.writes),
            row(record.trim_share, words.trims, &record.trims, &times.trims),
            of_part(words.write_part, point.summary.write_part.as_ref()),
            of_part(words.sync_part, point.summary.sync_part.as_ref()),
        ];
        for (index, (name, completed, latency)) in all.into_iter().flatten().enumerate() {
            let rate = completed as f64 / (point.record.duration_ns.max(1) as f64 / 1e9);
            let invalid = !point.is_valid();
            let mut cells: Vec<Cell> = target_cell(view, point.record.target).into_iter().collect();
            cells.push(Cell::head(number::count(point.record.outstanding.into())));
            cells.push(Cell::plain(name));
            cells.push(Cell::plain(number::three_digits(rate)).struck_if(invalid));
            cells.extend(latency_cells(latency, unit).map(|cell| cell.struck_if(invalid)));
            rows.push(Row { cells, opens_group: index == 0 });
            points.push(trace::point_indices(view, point));
        }
    }
    let captions = view.words.tables;
    let caption = if is_durable { captions.parts_caption } else { captions.directions_caption };
    let caption = fill_in(caption, &[("profile", load.title.clone())]);
    let table = Table { caption, columns, rows, note: String::new() };
    Some(with_mark(view, trace::traced(view, table, points)))
}

/// A part of durable writes: its name, its number of I/Os, and its latency.
fn of_part<'a>(
    name: &'static str,
    part: Option<&'a LatencySummary>,
) -> Option<(&'static str, u64, &'a LatencySummary)> {
    part.map(|latency| (name, latency.count, latency))
}

/// All points as one plain table for a terminal, one row per point.
pub(crate) fn terminal(view: &View<'_>) -> Table {
    let words = view.words.columns;
    let unit = TimeUnit::suiting(
        view.points().filter_map(|(_, p)| percentile_ns(p.latency(), 0.99).or(p.latency().mean_ns)),
    );
    let mut columns = vec![text(words.profile)];
    columns.extend(target_column(view));
    columns.extend([
        number_in(&view.outstanding_heading().replacen(' ', "\n", 1), ""),
        number_in("", "IOPS"),
        number_in(words.half_width, "").ranked(3),
        number_in("", "MiB/s").ranked(2),
        number_in(words.mean, unit.symbol()),
        number_in("p99", unit.symbol()).ranked(4),
        number_in(words.maximum_time, unit.symbol()).ranked(8),
    ]);
    let ends = view.points().any(|(_, point)| asks_precision(point));
    let ending = ends.then(|| {
        let [measured, ended_by] = ending_columns(view);
        [measured.ranked(7), ended_by.ranked(6)]
    });
    columns.extend(ending.into_iter().flatten());
    columns.extend(view.expects().then(|| expected_columns(view)).into_iter().flatten());
    let align = Align::Centre;
    columns.push(Column { heading: words.grade.to_owned(), unit: String::new(), align, rank: 0 });
    columns.push(text("").ranked(9));
    let mut former = None;
    let swept = view.points().filter(|(load, _)| !load.stepped);
    let rows = swept.map(|(load, point)| {
        let opens_group = former.replace(&load.id) != Some(&load.id);
        let invalid = !point.is_valid();
        let rate = rounded(&point.summary.io_per_s);
        let latency = point.latency();
        let time = |ns: Option<f64>| Cell::or_dash(ns.map(|ns| unit.write(ns)));
        let figures = [
            Cell::plain(rate.value),
            Cell::or_dash(rate.half_width),
            Cell::plain(rounded(&point.mib_per_s).value),
            time(latency.mean_ns),
            time(percentile_ns(latency, 0.99)),
            time(latency.max_ns.map(|ns| ns as f64)),
        ];
        let mut cells = vec![Cell::head(&*load.title)];
        cells.extend(target_cell(view, point.record.target));
        cells.push(Cell::plain(number::count(point.record.outstanding.into())));
        cells.extend(figures.map(|cell| cell.struck_if(invalid)));
        cells.extend(ends.then(|| ending_cells(view, point)).into_iter().flatten());
        cells.extend(view.expects().then(|| expected_cells(view, point)).into_iter().flatten());
        cells.push(Cell::plain(point.summary.grade.to_string()));
        cells.push(Cell::plain(bar(load, point)));
        Row { cells, opens_group }
    });
    with_mark(
        view,
        Table { caption: String::new(), rows: rows.collect(), columns, note: String::new() },
    )
}

/// Main figure as a bar: its share of the load's maximum.
fn bar(load: &Load<'_>, point: &Point<'_>) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    const CELLS: f64 = 8.0;
    let largest = load.points.iter().map(|other| other.main().value).fold(0.0, f64::max);
    let share = if largest > 0.0 { point.main().value / largest } else { 0.0 };
    let eighths = (share.clamp(0.0, 1.0) * CELLS * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Word for a kind of target.
pub(crate) fn kind_word(view: &View<'_>, kind: TargetKind) -> &'static str {
    let [directory, file, device, emulated] = view.words.kinds;
    match kind {
        TargetKind::Directory => directory,
        TargetKind::File => file,
        TargetKind::BlockDevice => device,
        TargetKind::Emulated => emulated,
    }
}

/// Number of points with each grade: A, B, C.
pub(crate) fn grades(view: &View<'_>) -> [usize; 3] {
    let with = |grade| view.points().filter(|(_, p)| p.summary.grade == grade).count();
    [with(Grade::A), with(Grade::B), with(Grade::C)]
}
