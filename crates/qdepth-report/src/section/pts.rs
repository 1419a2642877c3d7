//! Tables that SNIA's performance tests require, for the plans that implement these tests.

use qdepth_record::{Observation, PointRecord, TargetRecord};

use crate::document::{Block, Cell, Row, Section, Table, number_in, text};
use crate::number::{self, MIB, TimeUnit};
use crate::section::grid::{Grid, by_size, reads};
use crate::section::machine::value as known;
use crate::section::sum_box::of_chapter;
use crate::section::table_parts::with_mark;
use crate::trace::traced;
use crate::view::{Point, View, percentile_ns};
use crate::words::{PtsWords, fact_value, fill_in};

/// Number of rows of write saturation.
const PARTS: u64 = 25;
/// Share of the earlier throughput from which a load counts as recovered, and the number of parts
/// for the time of recovery.
const BACK: f64 = 0.95;
const BACK_PARTS: u64 = 100;
/// Largest number of targets in the header of a sheet.
const SHEET_TARGETS: usize = 2;

/// Figures in a table by block size and read share.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Rate,
    Throughput,
    Mean,
    FiveNines,
    Longest,
}

/// The tables of the plan; empty for other plans.
pub(crate) fn tables(view: &View<'_>) -> Vec<Table> {
    if view.compared.is_some() || view.loads.is_empty() {
        return Vec::new();
    }
    let words = view.words.pts;
    let (caption, shown): (&str, &[Shown]) = match view.run.plan_name.as_str() {
        "pts-iops" => (words.matrices[0], &[Shown::Rate]),
        "pts-throughput" => (words.matrices[1], &[Shown::Throughput]),
        "pts-latency" => (words.matrices[2], &[Shown::Mean, Shown::FiveNines, Shown::Longest]),
        "pts-wsat" => return each(view, words.saturation, |t| saturation(view, words, t)),
        "pts-hir" => return each(view, words.recovery, |t| Some(recovery(view, words, t))),
        "pts-xsr" => return each(view, words.stimulus, |t| stimulus(view, words, t)),
        _ => return Vec::new(),
    };
    each(view, caption, |target| Some(matrix(view, words, target, shown)))
}

/// True if the plan implements a test over time.
pub(crate) fn goes_over_time(view: &View<'_>) -> bool {
    ["pts-wsat", "pts-hir", "pts-xsr"].contains(&view.run.plan_name.as_str())
}

/// Header that SNIA requires on every sheet of a test report: drive, firmware, test, platform, and
/// state of the drive (PTS 2.0.2, report headers).
pub(crate) fn tested(view: &View<'_>) -> Option<String> {
    let run = view.run;
    if !run.plan_name.starts_with("pts-") {
        return None;
    }
    let [as_it_was, brought_to] = view.words.pts.states;
    let drive = |target: &TargetRecord| {
        let facts: Vec<&Observation> = target.facts.iter().collect();
        let state = match known(&facts, "preconditioned") {
            Some(state) => fill_in(brought_to, &[("state", fact_value(view.lang, state))]),
            None => as_it_was.to_owned(),
        };
        let mut values = vec![("target", view.target_name(target.index)), ("state", state)];
        values.extend(known(&facts, "firmware").map(|value| ("firmware", value.to_owned())));
        fill_in(view.words.pts.tested, &values)
    };
    let mut parts = vec![run.plan_name.clone()];
    parts.extend(run.targets.iter().take(SHEET_TARGETS).map(drive));
    let cpu: Vec<_> = run.environment.iter().filter(|fact| fact.subject == "cpu").collect();
    parts.extend(known(&cpu, "model").map(str::to_owned));
    Some(parts.join("  |  "))
}

/// The section with these tables.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let mut blocks: Vec<Block> = tables(view).into_iter().map(Block::Table).collect();
    if !blocks.is_empty() {
        blocks.extend(of_chapter(view, "snia", sums(view)));
    }
    let title = view.words.pts.section.to_owned();
    (!blocks.is_empty()).then(|| Section { id: "snia".to_owned(), title, blocks })
}

/// Summary of the tables: first and last value of a test over time, else the extremes of all.
pub(crate) fn sums(view: &View<'_>) -> Vec<String> {
    let words = view.words.pts;
    let of_target = |target: &u32| {
        let points: Vec<&Point<'_>> =
            in_order(view, *target).into_iter().filter(|point| point.is_valid()).collect();
        let (first, last) = (points.first()?, points.last()?);
        let printed = |point: &Point<'_>| {
            let value = number::three_digits(point.main().value);
            format!("{value} {}", if is_throughput(point) { "MiB/s" } else { "IOPS" })
        };
        let mut values = vec![("target", view.target_name(*target))];
        if goes_over_time(view) {
            let (ends, share) = match &*points {
                // The time series is within the single point.
                [only] => within(only)?,
                _ => ([printed(first), printed(last)], last.main().value / first.main().value),
            };
            let [first, last] = ends;
            values.extend([("first", first), ("last", last), ("share", number::percent(share))]);
            return Some(fill_in(words.course, &values));
        }
        let rate = |point: &&&Point<'_>| point.main().value;
        let most = points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let least = points.iter().min_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let at = |point: &Point<'_>| {
            let size = number::spaced_sizes(&point.record.request_size);
            [size, reads(view, point.record.read_share)].join(view.words.list[0])
        };
        values.extend([("most", printed(most)), ("most_at", at(most))]);
        values.extend([("least", printed(least)), ("least_at", at(least))]);
        Some(fill_in(words.ends, &values))
    };
    view.targets.iter().filter_map(of_target).collect()
}

/// Rates in the first and the last part of a point, and their ratio.
fn within(point: &Point<'_>) -> Option<([String; 2], f64)> {
    let record = point.record;
    let parts = parts(record, record.duration_ns / PARTS);
    let rate = |part: &(u64, u64, u64, u64)| part.1 as f64 / (part.3 as f64 / 1e9);
    let (first, last) = (rate(parts.first()?), rate(parts.last()?));
    let printed = |rate: f64| format!("{} IOPS", number::three_digits(rate));
    (first > 0.0).then(|| ([printed(first), printed(last)], last / first))
}

fn is_throughput(point: &Point<'_>) -> bool {
    point.record.reported_as_throughput
}

/// A table for each target, with its name if there are several.
fn each(
    view: &View<'_>,
    caption: &str,
    table: impl Fn(u32) -> Option<(Table, Vec<Vec<u32>>)>,
) -> Vec<Table> {
    let words = view.words.pts;
    let block = |target: &u32| {
        let (table, points) = table(*target)?;
        let named = [("caption", caption.to_owned()), ("target", view.target_name(*target))];
        let caption = if view.compares() { fill_in(words.on, &named) } else { caption.to_owned() };
        Some(with_mark(view, traced(view, Table { caption, ..table }, points)))
    };
    view.targets.iter().filter_map(block).collect()
}

/// Points of a target in the order of the plan.
fn in_order<'v, 'a>(view: &'v View<'a>, target: u32) -> Vec<&'v Point<'a>> {
    let all = view.points().map(|(_, point)| point);
    let mut all: Vec<&Point<'a>> = all.filter(|p| p.record.target == target).collect();
    all.sort_by_key(|point| point.record.index);
    all
}

/// Value of a point, in the given unit if it is a time.
fn value(shown: Shown, point: &Point<'_>, unit: TimeUnit) -> Option<String> {
    let time = |ns: Option<f64>| ns.map(|ns| unit.write(ns));
    match shown {
        Shown::Rate => Some(number::rounded(&point.summary.io_per_s).value),
        Shown::Throughput => Some(number::rounded(&point.mib_per_s).value),
        Shown::Mean => time(point.latency().mean_ns),
        Shown::FiveNines => time(percentile_ns(point.latency(), 0.99999)),
        Shown::Longest => time(point.latency().max_ns.map(|ns| ns as f64)),
    }
}

/// Name of a row's figure, if a block size has several.
fn name(view: &View<'_>, shown: Shown) -> &'static str {
    match shown {
        Shown::Rate => view.words.columns.rate,
        Shown::Throughput => view.words.columns.throughput,
        Shown::Mean => view.words.columns.mean,
        Shown::FiveNines => "p99.999",
        Shown::Longest => view.words.columns.maximum_time,
    }
}

/// Table with one row per block size, or per figure of it, and one column per read share.
fn matrix(
    view: &View<'_>,
    words: &PtsWords,
    target: u32,
    shown: &[Shown],
) -> (Table, Vec<Vec<u32>>) {
    let mut points = in_order(view, target);
    points.sort_by(|a, b| by_size(a.record, b.record));
    let grid = Grid::new(&points, |p| (&*p.record.request_size, p.record.read_share));
    let unit = TimeUnit::suiting(points.iter().filter_map(|point| point.latency().mean_ns));
    let symbol = match shown {
        [Shown::Rate] => "IOPS",
        [Shown::Throughput] => "MiB/s",
        _ => unit.symbol(),
    };
    let mut columns = vec![text(words.size)];
    columns.extend(grid.shares.iter().map(|share| {
        number_in(&format!("{:.0}/{:.0}", share * 100.0, 100.0 - share * 100.0), symbol)
    }));
    let (mut rows, mut of_rows) = (Vec::new(), Vec::new());
    for (size, found) in grid.rows() {
        let size = number::spaced_sizes(size);
        for (nth, figure) in shown.iter().enumerate() {
            let cell = |point: &Option<&Point<'_>>| match point {
                Some(point) => {
                    Cell::or_dash(value(*figure, point, unit)).struck_if(!point.is_valid())
                }
                None => Cell::or_dash(None),
            };
            let head = match shown {
                [_] => size.clone(),
                _ => [&*size, name(view, *figure)].join(view.words.list[0]),
            };
            let mut cells = vec![Cell::head(head)];
            cells.extend(found.iter().map(cell));
            rows.push(Row { cells, opens_group: shown.len() > 1 && nth == 0 });
            of_rows.push(found.iter().flatten().map(|point| point.record.index).collect());
        }
    }
    let note = words.matrix_note.to_owned();
    (Table { columns, rows, note, ..Table::default() }, of_rows)
}

/// Mean bytes per second over all samples from this start on.
fn throughput_from(record: &PointRecord, from_ns: u64) -> f64 {
    let all = record.intervals.iter().filter(|interval| interval.start_ns >= from_ns);
    let (bytes, ns) = all
        .fold((0, 0), |(bytes, ns), i| (bytes + i.read_bytes + i.written_bytes, ns + i.length_ns));
    bytes as f64 / (ns.max(1) as f64 / 1e9)
}

/// Samples merged into parts of at least this length: end, I/Os, bytes, length.
fn parts(record: &PointRecord, length_ns: u64) -> Vec<(u64, u64, u64, u64)> {
    let (mut all, mut ios, mut bytes, mut took) = (Vec::new(), 0, 0, 0);
    for interval in &record.intervals {
        ios += interval.completed();
        bytes += interval.read_bytes + interval.written_bytes;
        took += interval.length_ns;
        if took >= length_ns {
            all.push((interval.start_ns + interval.length_ns, ios, bytes, took));
            (ios, bytes, took) = (0, 0, 0);
        }
    }
    all
}

fn saturation(view: &View<'_>, words: &PtsWords, target: u32) -> Option<(Table, Vec<Vec<u32>>)> {
    let point = *in_order(view, target).first()?;
    let record = point.record;
    let area = view.run.targets.iter().find(|t| t.index == target).map_or(0, |t| t.area_bytes);
    let mut written = 0;
    let row = |(end, ios, bytes, took): (u64, u64, u64, u64)| {
        written += bytes;
        let rate = ios as f64 / (took as f64 / 1e9);
        let times = written as f64 / area.max(1) as f64;
        let cells = vec![
            Cell::head(number::duration(end as f64)),
            Cell::plain(number::decimal_bytes(written as f64)),
            Cell::or_dash((area > 0).then(|| format!("{times:.2}"))),
            Cell::plain(number::three_digits(rate)).struck_if(!point.is_valid()),
        ];
        Row { cells, ..Row::default() }
    };
    let rows: Vec<Row> = parts(record, record.duration_ns / PARTS).into_iter().map(row).collect();
    let columns = vec![
        text(words.until),
        number_in(words.written, ""),
        number_in(words.fills, ""),
        number_in(view.words.columns.rate, "IOPS"),
    ];
    let points = vec![vec![record.index]; rows.len()];
    Some((Table { columns, rows, ..Table::default() }, points))
}

fn recovery(view: &View<'_>, words: &PtsWords, target: u32) -> (Table, Vec<Vec<u32>>) {
    let points = in_order(view, target);
    let (mut rows, mut of_rows) = (Vec::new(), Vec::new());
    let mut before: Option<&Point<'_>> = None;
    let pause = |point: &Point<'_>| point.record.delay_ns;
    for group in points.chunk_by(|a, b| pause(a).is_some() && pause(a) == pause(b)) {
        let Some(pause) = pause(group[0]) else {
            before = group.last().copied();
            continue;
        };
        let valid = group.iter().chain(&before).all(|point| point.is_valid());
        let rates: Vec<f64> = group.iter().map(|point| point.summary.io_per_s.value).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let without = before.map(|point| point.summary.io_per_s.value);
        let gain = without.filter(|rate| *rate > 0.0).map(|rate| {
            // No such rate is known to a tenth of a per cent, so smaller differences count as none.
            let tenths = ((mean / rate - 1.0) * 1000.0).round() + 0.0;
            format!("{:+.1} %", tenths / 10.0).replace('-', "−")
        });
        let shown = |rate: f64| Cell::plain(number::three_digits(rate)).struck_if(!valid);
        let cells = vec![
            Cell::head(number::duration(pause as f64)),
            without.map_or(Cell::or_dash(None), shown),
            shown(rates[0]),
            shown(rates[rates.len() - 1]),
            shown(mean),
            Cell::or_dash(gain).struck_if(!valid),
        ];
        rows.push(Row { cells, ..Row::default() });
        of_rows.push(before.iter().chain(group).map(|point| point.record.index).collect());
    }
    let mut columns = vec![text(words.pause)];
    columns.extend(
        [words.before, words.first, words.last, words.mean].map(|name| number_in(name, "IOPS")),
    );
    columns.push(number_in(words.gain, ""));
    (Table { columns, rows, note: words.recovery_note.to_owned(), ..Table::default() }, of_rows)
}

fn stimulus(view: &View<'_>, words: &PtsWords, target: u32) -> Option<(Table, Vec<Vec<u32>>)> {
    let points = in_order(view, target);
    let (first, last) = (points.first()?.record, points.last()?.record);
    let at_end = |record: &PointRecord| throughput_from(record, record.duration_ns / 10 * 9);
    let wanted = BACK * at_end(first);
    let back = parts(last, last.duration_ns / BACK_PARTS)
        .into_iter()
        .find(|(_, _, bytes, took)| *bytes as f64 / (*took as f64 / 1e9) >= wanted)
        .map(|(end, ..)| number::duration(end as f64));
    let times = points.iter().filter_map(|point| point.latency().mean_ns);
    let unit = TimeUnit::suiting(times);
    let row = |point: &&Point<'_>| {
        let record = point.record;
        let is_last = record.index == last.index && record.index != first.index;
        let valid = point.is_valid();
        let cells = vec![
            Cell::head(
                [view.step(&record.step), record.profile_title.clone()].join(view.words.list[0]),
            ),
            Cell::plain(number::rounded(&point.mib_per_s).value).struck_if(!valid),
            Cell::plain(number::three_digits(at_end(record) / MIB)).struck_if(!valid),
            Cell::or_dash(point.latency().mean_ns.map(|ns| unit.write(ns))).struck_if(!valid),
            Cell::or_dash(point.latency().max_ns.map(|ns| unit.write(ns as f64))).struck_if(!valid),
            Cell::or_dash(back.clone().filter(|_| is_last)),
        ];
        Row { cells, ..Row::default() }
    };
    let columns = vec![
        text(view.words.columns.profile),
        number_in(view.words.columns.throughput, "MiB/s"),
        number_in(words.at_end, "MiB/s"),
        number_in(view.words.columns.mean, unit.symbol()),
        number_in(view.words.columns.maximum_time, unit.symbol()),
        number_in(words.back, ""),
    ];
    let rows = points.iter().map(row).collect();
    let of_rows = points.iter().map(|point| vec![point.record.index]).collect();
    Some((
        Table { columns, rows, note: words.stimulus_note.to_owned(), ..Table::default() },
        of_rows,
    ))
}
