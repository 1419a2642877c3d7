//! The tables of a report.

use qdepth_measure::Grade;
use qdepth_record::{DirectionRecord, LatencySummary, PointRecord, TargetKind};

use crate::document::{Cell, Column, Table, centred, number_in, text};
use crate::grouped::unique;
use crate::number::{self, TimeUnit, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::columns::{ComparedColumn, base, base_is_above, divided, others, published};
use crate::section::letters::{Letters, quotient_heading};
use crate::section::published::published_note;
use crate::trace;
use crate::view::{
    Load, LoadPoint, Point, QUANTILES, View, arrivals, percentile_ns, profile_title,
};
use crate::words::{entry, fill_in, in_brackets};

/// The maximum of every load on every target, with the latency there and at the lowest queue depth.
pub(crate) fn key_figures(view: &View<'_>) -> Table {
    let words = view.words.columns;
    let lowest = [("queue_depth", view.lowest().to_string())];
    let [lowest_rate, lowest_mean] =
        [words.rate_at_lowest, words.mean_at_lowest].map(|heading| fill_in(heading, &lowest));
    let curves = view.swept().flat_map(|load| view.targets.iter().map(move |t| (load, *t)));
    let curves: Vec<_> = curves
        .map(|(load, target)| (load, target, load.maximum(target), load.at(target, view.lowest())))
        .collect();
    let mean = |point: &Option<&Point<'_>>| point.and_then(|point| point.latency().mean_ns);
    let value = |point: &Option<&Point<'_>>| Cell::or_dash(point.map(|p| rounded(p.main()).value));
    let ends = curves.iter().flat_map(|(.., top, low)| [mean(top), mean(low)]);
    let unit = TimeUnit::suiting(ends.flatten());
    Rows::from_items(curves)
        .groups(|(_, target, ..)| view.compares() && view.targets.first() == Some(target))
        .text(words.profile, |(load, ..)| Cell::head(&*load.title))
        .targets(view, |(_, target, ..)| *target)
        .number(words.maximum, "", |(.., top, _)| value(top))
        .number(words.half_width, "", |(.., top, _)| {
            top.and_then(|top| rounded(top.main()).half_width)
        })
        .text(words.unit, |(load, ..)| load.unit())
        .number(view.queue_depth_heading(), "", |(.., top, _)| {
            top.map(|top| number::count(top.record.queue_depth.into()))
        })
        .time(words.mean_at_maximum, unit, |(.., top, _)| mean(top))
        .number(&lowest_rate, "", |(.., low)| value(low))
        .time(&lowest_mean, unit, |(.., low)| mean(low))
        .traced(view, |(.., top, low)| trace::of_all(view, [*top, *low].into_iter().flatten()))
        .marked(view)
        .table(view.words.tables.key_caption)
        .with_note(view.words.tables.key_note)
}

/// Largest number of targets whose ratios appear side by side; more would not be readable.
const QUOTIENTS: usize = 11;
/// Largest number of ratios that fit next to each other; more have a row each.
const SIDE_BY_SIDE: usize = 5;

/// Maxima side by side, and the ratio of each to the base: the first target, or that of a
/// comparison. `None` for a single target without published figures.
pub(crate) fn quotients(view: &View<'_>) -> Option<Table> {
    let base = ComparedColumn::Column(base(view)?);
    let others = others(view);
    if others.is_empty() || others.len() - published(view).count() > QUOTIENTS {
        return None;
    }
    let (words, own) = (view.words.tables, view.words.comparison);
    let (caption, note) = match view.compared {
        Some(compared) => {
            let note = format!("{} {}", own.maxima_note, published_note(view, compared));
            (own.maxima_caption, note.trim_end().to_owned())
        }
        None => (words.quotient_caption, words.quotient_note.trim_end().to_owned()),
    };
    if others.len() > SIDE_BY_SIDE && view.compared.is_some() {
        return Some(named_quotients(view, base, others).table(caption).with_note(note));
    }
    let letters = Letters::new(view);
    let head = |column: ComparedColumn<'_>| number_in(&letters.head(&column.name(view)), "");
    let table = Rows::from_items(view.swept())
        .text(view.words.columns.profile, |load| Cell::head(&*load.title))
        .text(view.words.columns.unit, |load| load.unit())
        .each(
            view.targets.iter().copied().map(ComparedColumn::Column),
            |column| head(*column),
            |load, column| Cell::or_dash(column.maximum(load).map(|e| rounded(&e).value)),
        )
        .each(
            published(view),
            |column| head(*column),
            |load, column| {
                Cell::or_dash(column.maximum(load).map(|e| number::thousands(e.value, 0)))
            },
        )
        .each(
            others,
            |column| number_in(&quotient_heading(view, &letters, &column.name(view)), ""),
            |load, column| {
                let both = column.maximum(load).zip(base.maximum(load));
                let ratio = both.and_then(|(value, base)| divided(view, &value, &base));
                Cell::or_dash(ratio.map(|ratio| number::thousands(ratio.value, 2)))
            },
        );
    Some(table.marked(view).table(caption).with_note(note))
}

/// The same with a row for each column under its full name, and the ratios in brackets.
fn named_quotients<'v>(
    view: &'v View<'_>,
    base: ComparedColumn<'v>,
    others: Vec<ComparedColumn<'v>>,
) -> Rows<ComparedColumn<'v>> {
    let own = view.words.comparison;
    let names = [("base", base.name(view))];
    let is_above = base_is_above(view);
    let note = if is_above { own.named_note_above } else { own.named_note };
    Rows::from_items(std::iter::once(base).chain(others))
        .text(own.variant, |column| Cell::head(column.name(view)))
        .each(
            view.swept(),
            |load| number_in(&load.title, load.unit()),
            |column, load| {
                let maximum = column.maximum(load);
                let both = maximum.as_ref().zip(base.maximum(load));
                let ratio = both.and_then(|(value, base)| divided(view, value, &base));
                let value = maximum.map(|value| rounded(&value).value);
                Cell::or_dash(value.zip(ratio).map(|(value, ratio)| {
                    format!("{value}{}", in_brackets(view.lang, &number::thousands(ratio.value, 2)))
                }))
            },
        )
        .noted(|_| true, &fill_in(note, &names))
        .marked(view)
}

/// Load profiles as measured.
pub(crate) fn profiles(view: &View<'_>) -> Table {
    let words = view.words.columns;
    let trims = view.loads.iter().any(|load| load.first().trim_share > 0.0);
    let access = |first: &PointRecord| match first.random_share {
        share if share >= 1.0 => words.random.to_owned(),
        share if share <= 0.0 => words.sequential.to_owned(),
        share => fill_in(words.share_random, &[("share", number::percent(share))]),
    };
    let percent = |share: f64| Cell::plain(number::thousands(share * 100.0, 0));
    let table = Rows::from_items(view.loads.iter().map(|load| (load, load.first())))
        // Without the distinguishing addition, because the columns show those properties.
        .text(words.profile, |(_, first)| Cell::head(profile_title(first, view.words)))
        .text(words.access, |(_, first)| access(first))
        .number(words.read_share, "%", |(_, first)| percent(first.read_share))
        .number(words.write_share, "%", |(_, first)| percent(first.write_share()))
        .column(trims.then(|| number_in(words.trim_share, "%")), |(_, first)| {
            percent(first.trim_share)
        })
        .text(words.block_size, |(_, first)| number::spaced_sizes(&first.block_size))
        .text(words.arrivals, |(load, first)| {
            Cell::plain(if load.stepped && load.is_open_loop() {
                words.by_step.to_owned()
            } else {
                arrivals(first, view.words)
            })
        })
        .text(words.application, |(_, first)| {
            entry(view.words.applications, &first.profile).map(str::to_owned)
        })
        .table(view.words.tables.profile_caption);
    // A profile with more streams is the same profile.
    Table { rows: unique(table.rows), ..table }
}

/// Adds columns of latencies: mean, minimum, percentiles, maximum.
fn with_latencies<T>(
    rows: Rows<T>,
    view: &View<'_>,
    unit: TimeUnit,
    latency: impl Fn(&T) -> &LatencySummary,
) -> Rows<T> {
    let (words, symbol) = (view.words.columns, unit.symbol());
    let time = |ns: Option<u64>| Cell::time(unit, ns.map(|ns| ns as f64));
    rows.time(words.mean, unit, |item| latency(item).mean_ns)
        .number(words.minimum, symbol, |item| time(latency(item).min_ns))
        .each(
            QUANTILES,
            |(_, name)| number_in(name, symbol),
            |item, (quantile, _)| Cell::time(unit, percentile_ns(latency(item), *quantile)),
        )
        .number(words.maximum_time, symbol, |item| time(latency(item).max_ns))
}

/// Common unit of all latencies of these points. Maxima do not count: a single pause would make all
/// other figures very small.
pub(crate) fn load_unit<'p>(points: impl Iterator<Item = &'p Point<'p>>) -> TimeUnit {
    TimeUnit::suiting(
        points.filter_map(|p| percentile_ns(p.latency(), 0.99).or(p.latency().mean_ns)),
    )
}

/// Largest mean number of points of the loads that share a table, and least number of such loads.
const SHORT: usize = 2;
const MANY: usize = 9;

/// Swept loads by table: all in one if many have few points, else each in a table of its own.
pub(crate) fn by_table<'v, 'a>(view: &'v View<'a>) -> Vec<Vec<&'v Load<'a>>> {
    let swept: Vec<&Load<'_>> = view.loads.iter().filter(|load| !load.stepped).collect();
    let points: usize = swept.iter().map(|load| load.points.len()).sum();
    if swept.len() >= MANY && points <= SHORT * swept.len() {
        return vec![swept];
    }
    swept.into_iter().map(|load| vec![load]).collect()
}

/// Caption of a table of these loads.
fn caption(view: &View<'_>, pattern: &str, loads: &[&Load<'_>]) -> String {
    let profile = match loads {
        [only] => only.title.clone(),
        _ => view.words.tables.all_loads.to_owned(),
    };
    fill_in(pattern, &[("profile", profile)])
}

/// Column of the load, if the table has several.
fn load_column(view: &View<'_>, loads: &[&Load<'_>]) -> Option<Column> {
    (loads.len() > 1).then(|| text(view.words.columns.profile))
}

/// Table of all points of these loads.
pub(crate) fn points(view: &View<'_>, loads: &[&Load<'_>]) -> Table {
    let words = view.words.columns;
    let all = || loads.iter().flat_map(|load| load.points.iter());
    let unit = load_unit(all());
    let mut former = None;
    let items = loads.iter().flat_map(|load| load.points.iter().map(move |point| (*load, point)));
    let rows = Rows::from_items(items)
        .groups(|(_, point)| {
            former.replace(point.record.target) != Some(point.record.target) && view.compares()
        })
        .column(load_column(view, loads), |(load, _)| Cell::head(&*load.title))
        .targets(view, |(_, point)| point.record.target)
        .number(view.queue_depth_heading(), "", |(_, point)| {
            Cell::head(number::count(point.record.queue_depth.into()))
        })
        .figures(
            |(_, point)| point.is_valid(),
            |rows| {
                let rows = rows
                    .number(words.rate, "IOPS", |(_, point)| rate(point))
                    .number(words.half_width, "IOPS", |(_, point)| half_width(point))
                    .number(words.throughput, "MiB/s", |(_, point)| throughput(point));
                // The CPU time of an emulation says nothing about the load.
                let cpu = (!view.run.emulated).then(|| number_in(words.cpu, "µs"));
                with_latencies(rows, view, unit, |(_, point)| point.latency())
                    .column(cpu, |(_, point)| Cell::time(TimeUnit::Micros, point.cpu_ns_per_io()))
            },
        );
    with_end(rows, view, all().any(asks_precision))
        .traced(view, |(_, point)| trace::point_indices(view, point))
        .explains_dashes(view)
        .marked(view)
        .table(caption(view, view.words.tables.points_caption, loads))
}

fn asks_precision(point: &Point<'_>) -> bool {
    point.record.tolerance.is_some()
}

pub(crate) fn rate(point: &Point<'_>) -> Cell {
    Cell::plain(rounded(&point.summary.io_per_s).value)
}

fn half_width(point: &Point<'_>) -> Cell {
    Cell::or_dash(rounded(&point.summary.io_per_s).half_width)
}

pub(crate) fn throughput(point: &Point<'_>) -> Cell {
    Cell::plain(rounded(&point.mib_per_s).value)
}

/// Adds the last columns of points: measured time and reason of the end, if a precision was asked
/// for; the expected rate and the share that was reached, if there are expected results (always
/// marked EMULATED); the grade.
fn with_end<'v, 'a>(
    rows: Rows<LoadPoint<'v, 'a>>,
    view: &View<'_>,
    asks_precision: bool,
) -> Rows<LoadPoint<'v, 'a>> {
    let words = view.words.columns;
    let ended = |point: &Point<'_>| Cell::plain(words.ended[point.record.ended_by as usize]);
    let expected = |point: &Point<'_>| view.run.expected_at(point.record.index);
    let of_device = format!("{} {}", words.expected, view.words.emulated[0]);
    rows.column(asks_precision.then(|| number_in(words.time, "s").ranked(7)), |(_, point)| {
        number::thousands(point.record.duration_ns as f64 / 1e9, 1)
    })
    .column(asks_precision.then(|| text(words.ended_by).ranked(6)), |(_, point)| ended(point))
    .column(view.expects().then(|| number_in(&of_device, "IOPS")), |(_, point)| {
        expected(point).map(|e| number::three_digits(e.io_per_s))
    })
    .column(view.expects().then(|| number_in(words.of_expected, "%")), |(_, point)| {
        let share = expected(point).and_then(|e| e.share_reached(point.summary.io_per_s.value));
        Cell::or_dash(share.map(|share| number::thousands(share * 100.0, 0)))
    })
    .column(centred(words.grade), |(_, point)| point.summary.grade.to_string())
}

/// Reads, writes and trims of a mixed load separately, and the parts of durable writes; `None` for
/// loads of one direction without parts.
pub(crate) fn directions(view: &View<'_>, loads: &[&Load<'_>]) -> Option<Table> {
    let points = || loads.iter().flat_map(|load| load.points.iter().map(move |p| (*load, p)));
    let has_parts = |point: &Point<'_>| point.summary.write_part.is_some();
    let is_durable = points().any(|(_, point)| has_parts(point));
    let parted = || points().filter(|(_, point)| point.is_mixed() || has_parts(point));
    parted().next()?;
    let (words, captions) = (view.words.columns, view.words.tables);
    let unit = load_unit(points().map(|(_, point)| point));
    let parts = parted().flat_map(|(load, point)| {
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
        all.into_iter().flatten().enumerate().map(move |(index, part)| (point, index, part, load))
    });
    let pattern = if is_durable { captions.parts_caption } else { captions.directions_caption };
    let table = Rows::from_items(parts)
        .groups(|(_, index, ..)| *index == 0)
        .column(load_column(view, loads), |(.., load)| Cell::head(&*load.title))
        .targets(view, |(point, ..)| point.record.target)
        .number(view.queue_depth_heading(), "", |(point, ..)| {
            Cell::head(number::count(point.record.queue_depth.into()))
        })
        .text(words.direction, |(.., (name, ..), _)| *name)
        .figures(
            |(point, ..)| point.is_valid(),
            |rows| {
                let rate = number_in(words.rate, "IOPS");
                let rows = rows.column(rate, |(point, _, (_, completed, _), _)| {
                    let seconds = point.record.duration_ns.max(1) as f64 / 1e9;
                    Cell::plain(number::three_digits(*completed as f64 / seconds))
                });
                with_latencies(rows, view, unit, |(.., (_, _, latency), _)| latency)
            },
        );
    let table = table.traced(view, |(point, ..)| trace::point_indices(view, point));
    Some(table.marked(view).table(caption(view, pattern, loads)))
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
    let unit = load_unit(view.points().map(|(_, point)| point));
    let symbol = unit.symbol();
    let mut former = None;
    let queue_depth = view.queue_depth_heading().replacen(' ', "\n", 1);
    let rows = Rows::from_items(view.points().filter(|(load, _)| !load.stepped))
        .groups(|(load, _)| former.replace(&*load.id) != Some(&load.id))
        .text(words.profile, |(load, _)| Cell::head(&*load.title))
        .targets(view, |(_, point)| point.record.target)
        .number(&queue_depth, "", |(_, point)| number::count(point.record.queue_depth.into()))
        .figures(
            |(_, point)| point.is_valid(),
            |rows| {
                rows.number("", "IOPS", |(_, point)| rate(point))
                    .column(number_in(words.half_width, "").ranked(3), |(_, p)| half_width(p))
                    .column(number_in("", "MiB/s").ranked(2), |(_, point)| throughput(point))
                    .time(words.mean, unit, |(_, point)| point.latency().mean_ns)
                    .column(number_in("p99", symbol).ranked(4), |(_, point)| {
                        Cell::time(unit, percentile_ns(point.latency(), 0.99))
                    })
                    .column(number_in(words.maximum_time, symbol).ranked(8), |(_, point)| {
                        Cell::time(unit, point.latency().max_ns.map(|ns| ns as f64))
                    })
            },
        );
    let rows = with_end(rows, view, view.points().any(|(_, point)| asks_precision(point)))
        .column(text("").ranked(9), |(load, point)| bar(load, point))
        .marked(view);
    // The screen has 24 lines, and names the invalid points below the table.
    Table { note: String::new(), ..rows.table("") }
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
    view.words.kinds[kind as usize]
}

/// Number of points with each grade: A, B, C.
pub(crate) fn grades(view: &View<'_>) -> [usize; 3] {
    let with = |grade| view.points().filter(|(_, p)| p.summary.grade == grade).count();
    [with(Grade::A), with(Grade::B), with(Grade::C)]
}
