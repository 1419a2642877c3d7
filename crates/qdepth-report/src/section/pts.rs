//! Tables that SNIA's performance tests require, for the plans that implement these tests.

use qdepth_record::{Observation, PointRecord, RunState, TargetRecord};

use crate::document::{Block, Cell, Section, Table, number_in};
use crate::number::{self, MIB, TimeUnit};
use crate::rows::{Rows, RunColumns as _};
use crate::section::grid::{Grid, by_size};
use crate::section::machine::value as known;
use crate::section::promised;
use crate::section::sum_box::of_chapter;
use crate::section::sweep::tables::throughput;
use crate::view::{Point, View, percentile_ns};
use crate::words::{PtsWords, fact_value, fill_in};

/// Number of rows of write saturation.
const PARTS: u64 = 25;
/// Share of the earlier throughput from which a load counts as recovered, and the number of parts
/// for the time of recovery.
const BACK: f64 = 0.95;
const BACK_PARTS: u64 = 100;
/// Option without which a test of recovery may measure a drive that has nothing to recover from.
const PRECONDITION: &str = "--precondition until-steady";
/// Times that write saturation writes the capacity, and its longest duration, nanoseconds.
const FILLS: f64 = 4.0;
const DAY: u64 = 24 * 3600 * 1_000_000_000;
/// Loads before, during and after the other load.
const STIMULUS_LOADS: usize = 3;
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
        let answers = if goes_over_time(view) { sums(view) } else { Vec::new() };
        blocks.extend(of_chapter(view, "snia", answers));
    }
    (!blocks.is_empty()).then(|| Section::new("snia", view.words.pts.section, blocks))
}

/// Answer of a test over time: its first and last value.
pub(crate) fn sums(view: &View<'_>) -> Vec<String> {
    let words = view.words.pts;
    if view.run.plan_name == "pts-hir" {
        return view.targets.iter().filter_map(|target| idle_recovery(view, *target)).collect();
    }
    let of_target = |target: &u32| {
        let points: Vec<&Point<'_>> =
            in_order(view, *target).into_iter().filter(|point| point.is_valid()).collect();
        let (first, last) = (points.first()?, points.last()?);
        let printed = |point: &Point<'_>| {
            let value = number::three_digits(point.main().value);
            format!("{value} {}", if is_throughput(point) { "MiB/s" } else { "IOPS" })
        };
        let mut values = vec![("target", view.target_name(*target))];
        if view.run.plan_name == "pts-xsr" {
            return Some(recovered(words, &points, &values));
        }
        let (ends, share) = match &*points {
            // The time series is within the single point.
            [only] => within(only)?,
            _ => ([printed(first), printed(last)], last.main().value / first.main().value),
        };
        let [first, last] = ends;
        values.extend([("first", first), ("last", last), ("share", number::percent(share))]);
        values.extend(fills(view, &points).map(|fills| ("fills", fills)));
        Some(fill_in(words.course, &values))
    };
    view.targets.iter().filter_map(of_target).collect()
}

/// Times that the capacity was written in a test of saturation, if that is less than SNIA requires
/// (PTS 2.0.2, write saturation: four times the capacity, or a day).
fn fills(view: &View<'_>, points: &[&Point<'_>]) -> Option<String> {
    let record = points.first()?.record;
    let capacity = capacity(view.run.target(record.target)?);
    let written: u64 = points.iter().map(|point| point.record.writes.bytes).sum();
    let fills = written as f64 / capacity.max(1.0);
    let is_short = fills < FILLS && points.iter().map(|p| p.record.duration_ns).sum::<u64>() < DAY;
    is_short.then(|| format!("{fills:.2}"))
}

/// Capacity of a target, in bytes; its measurement area if it is unknown.
fn capacity(target: &TargetRecord) -> f64 {
    promised::capacity(target).unwrap_or(target.area_bytes as f64)
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
fn each(view: &View<'_>, caption: &str, table: impl Fn(u32) -> Option<Table>) -> Vec<Table> {
    let words = view.words.pts;
    let block = |target: &u32| {
        let table = table(*target)?;
        let named = [("caption", caption.to_owned()), ("target", view.target_name(*target))];
        let caption = if view.compares() { fill_in(words.on, &named) } else { caption.to_owned() };
        Some(Table { caption, ..table })
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
fn matrix(view: &View<'_>, words: &PtsWords, target: u32, shown: &[Shown]) -> Table {
    let mut points = in_order(view, target);
    points.sort_by(|a, b| by_size(a.record, b.record));
    let grid = Grid::new(&points, |p| (&*p.record.block_size, p.record.read_share));
    let unit = TimeUnit::suiting(points.iter().filter_map(|point| point.latency().mean_ns));
    let symbol = match shown {
        [Shown::Rate] => "IOPS",
        [Shown::Throughput] => "MiB/s",
        _ => unit.symbol(),
    };
    let rows = grid.rows().flat_map(|(size, found)| shown.iter().map(move |s| (size, *s, found)));
    Rows::from_items(rows)
        .groups(|(_, figure, _)| shown.len() > 1 && shown.first() == Some(figure))
        .text(words.size, |(size, figure, _)| {
            let size = number::spaced_sizes(size);
            Cell::head(match shown {
                [_] => size,
                _ => [&*size, name(view, *figure)].join(view.words.list[0]),
            })
        })
        .each(
            grid.shares.iter().enumerate(),
            |(_, share)| {
                number_in(&format!("{:.0}/{:.0}", *share * 100.0, 100.0 - *share * 100.0), symbol)
            },
            |(_, figure, found), (index, _)| match found[*index] {
                Some(point) => {
                    Cell::or_dash(value(*figure, point, unit)).struck_if(!point.is_valid())
                }
                None => Cell::or_dash(None),
            },
        )
        .traced(view, |(.., found)| found.iter().flatten().map(|p| p.record.index).collect())
        .explains_dashes(view)
        .marked(view)
        .table("")
        .with_note(words.matrix_note)
}

/// Mean bytes per second over all samples from this start on, or over the last one.
fn throughput_from(record: &PointRecord, from_ns: u64) -> f64 {
    let from_ns = from_ns.min(record.intervals.last().map_or(0, |interval| interval.start_ns));
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

fn saturation(view: &View<'_>, words: &PtsWords, target: u32) -> Option<Table> {
    let point = *in_order(view, target).first()?;
    let record = point.record;
    let capacity = view.run.target(target).map_or(0.0, capacity);
    let mut written = 0;
    let parts = parts(record, record.duration_ns / PARTS).into_iter();
    let parts = parts.map(|(end, ios, bytes, took)| {
        written += bytes;
        (end, written, ios as f64 / (took as f64 / 1e9))
    });
    let table = Rows::from_items(parts)
        .text(words.until, |(end, ..)| Cell::head(number::duration(*end as f64)))
        .number(words.written, "", |(_, written, _)| number::decimal_bytes(*written as f64))
        .number(words.fills, "", |(_, written, _)| {
            let times = *written as f64 / capacity.max(1.0);
            Cell::or_dash((capacity > 0.0).then(|| format!("{times:.2}")))
        })
        .number(view.words.columns.rate, "IOPS", |(.., rate)| {
            Cell::plain(number::three_digits(*rate)).struck_if(!point.is_valid())
        })
        .traced(view, |_| vec![record.index])
        .marked(view)
        .table("");
    Some(table)
}

/// Recovery while idle, from the pause that changes the rate most, or why it cannot be judged.
fn idle_recovery(view: &View<'_>, target: u32) -> Option<String> {
    let texts = view.words.pts.pauses;
    let points = in_order(view, target);
    let pauses = pauses(&points);
    let mut values = vec![("target", view.target_name(target))];
    let record = view.run.target(target)?;
    let facts: Vec<&Observation> = record.facts.iter().collect();
    if known(&facts, "preconditioned").is_none() {
        values.push(("advice", PRECONDITION.to_owned()));
    }
    let is_whole = view.run.state == RunState::Complete && points.iter().all(|p| p.is_valid());
    let growths: Option<Vec<f64>> = pauses.iter().map(Pause::growth).collect();
    let Some(growths) = growths.filter(|growths| is_whole && !growths.is_empty()) else {
        return Some(fill_in(texts[4], &values));
    };
    let spanned = |rates: &[f64]| -> Option<(String, f64)> {
        let [low, high] = [f64::min, f64::max].map(|end| rates.iter().copied().reduce(end));
        let ends = [low?, high?].map(number::three_digits);
        let text = match &ends {
            [low, high] if low == high => low.clone(),
            [low, high] => {
                let ends = [("low", low.clone()), ("high", high.clone())];
                fill_in(view.words.explain.span, &ends)
            }
        };
        Some((format!("{text} IOPS"), low? / high?))
    };
    let unpaused = points.iter().filter(|point| point.record.delay_ns.is_none());
    let without: Vec<f64> = unpaused.map(|point| point.summary.io_per_s.value).collect();
    let (before, steadiness) = spanned(&without)?;
    let with: Vec<f64> = pauses.iter().map(Pause::mean).collect();
    let (after, _) = spanned(&with)?;
    let change = 1.0 - BACK;
    let (rises, falls) =
        (growths.iter().any(|g| g - 1.0 >= change), growths.iter().any(|g| 1.0 - g >= change));
    let text = match (rises, falls) {
        _ if steadiness < BACK => texts[3],
        (false, false) => texts[1],
        (true, true) => texts[5],
        (rises, _) => {
            let far = |(growth, _): &(&f64, _)| (*growth - 1.0).abs();
            let all = growths.iter().zip(&pauses);
            let (growth, pause) = all.max_by(|a, b| far(a).total_cmp(&far(b)))?;
            let printed = |rate: f64| format!("{} IOPS", number::three_digits(rate));
            values.extend([
                ("gain", number::percent((growth - 1.0).abs())),
                ("after", printed(pause.mean())),
                ("before", printed(pause.without()?)),
                ("pause", number::duration(pause.pause_ns as f64)),
            ]);
            return Some(fill_in(texts[if rises { 0 } else { 2 }], &values));
        }
    };
    values.extend([("before", before), ("after", after)]);
    Some(fill_in(text, &values))
}

/// Points with pauses, by the length of the pause.
fn pauses<'p, 'a>(points: &'p [&'p Point<'a>]) -> Vec<Pause<'p, 'a>> {
    let mut groups: Vec<Pause<'_, '_>> = Vec::new();
    let mut before: Option<&Point<'_>> = None;
    let pause = |point: &Point<'_>| point.record.delay_ns;
    for group in points.chunk_by(|a, b| pause(a).is_some() && pause(a) == pause(b)) {
        match pause(group[0]) {
            Some(pause_ns) => groups.push(Pause { pause_ns, before, group }),
            None => before = group.last().copied(),
        }
    }
    groups
}

fn recovery(view: &View<'_>, words: &PtsWords, target: u32) -> Table {
    let points = in_order(view, target);
    let groups = pauses(&points);
    let rate = |point: &Point<'_>| point.summary.io_per_s.value;
    let shown = |rate: f64| Cell::plain(number::three_digits(rate));
    let iops = |heading| number_in(heading, "IOPS");
    Rows::from_items(groups)
        .text(words.pause, |each| Cell::head(number::duration(each.pause_ns as f64)))
        .figures(Pause::is_valid, |rows| {
            rows.column(iops(words.before), |each| {
                each.before.map_or(Cell::or_dash(None), |point| shown(rate(point)))
            })
            .column(iops(words.first), |each| shown(rate(each.group[0])))
            .column(iops(words.last), |each| shown(rate(each.group[each.group.len() - 1])))
            .column(iops(words.mean), |each| shown(each.mean()))
            .number(words.gain, "", |each| each.gain())
        })
        .traced(view, |each| each.points().map(|point| point.record.index).collect())
        .marked(view)
        .table("")
        .with_note(words.recovery_note)
}

/// Points with one pause before each, and the last point without a pause before them.
struct Pause<'p, 'a> {
    pause_ns: u64,
    before: Option<&'p Point<'a>>,
    group: &'p [&'p Point<'a>],
}

impl Pause<'_, '_> {
    fn points(&self) -> impl Iterator<Item = &Point<'_>> {
        self.before.into_iter().chain(self.group.iter().copied())
    }

    fn is_valid(&self) -> bool {
        self.points().all(Point::is_valid)
    }

    /// Mean rate.
    fn mean(&self) -> f64 {
        let rates = self.group.iter().map(|point| point.summary.io_per_s.value);
        rates.sum::<f64>() / self.group.len() as f64
    }

    /// Rate without a pause.
    fn without(&self) -> Option<f64> {
        self.before.map(|point| point.summary.io_per_s.value)
    }

    /// Ratio of the mean to the rate without a pause.
    fn growth(&self) -> Option<f64> {
        self.without().filter(|rate| *rate > 0.0).map(|rate| self.mean() / rate)
    }

    /// Gain of the mean over the rate before.
    fn gain(&self) -> Option<String> {
        // No such rate is known to a tenth of a per cent, so smaller differences count as none.
        let tenths = ((self.growth()? - 1.0) * 1000.0).round() + 0.0;
        Some(format!("{:+.1} %", tenths / 10.0).replace('-', "−"))
    }
}

/// Throughput in the last tenth of a point, bytes per second.
fn at_end(record: &PointRecord) -> f64 {
    throughput_from(record, record.duration_ns / 10 * 9)
}

/// Throughput in the first tenth of a point, bytes per second.
fn at_begin(record: &PointRecord) -> f64 {
    let begin = parts(record, record.duration_ns / 10).first().copied();
    begin.map_or(0.0, |(_, _, bytes, took)| bytes as f64 / (took as f64 / 1e9))
}

/// True unless the throughput still changes, so that it is nothing to return to.
fn is_level(record: &PointRecord) -> bool {
    (at_end(record) / at_begin(record) - 1.0).abs() <= 1.0 - BACK
}

/// Time after another load until the throughput is that before it again.
fn back(first: &PointRecord, last: &PointRecord) -> Option<String> {
    let wanted = BACK * at_end(first);
    parts(last, last.duration_ns / BACK_PARTS)
        .into_iter()
        .find(|(_, _, bytes, took)| *bytes as f64 / (*took as f64 / 1e9) >= wanted)
        .map(|(end, ..)| format!("≤ {}", number::duration(end as f64)))
}

/// States the recovery from another load, or why it cannot be judged.
fn recovered(words: &PtsWords, points: &[&Point<'_>], target: &[(&'static str, String)]) -> String {
    let ([first, .., last], true) = (points, points.len() == STIMULUS_LOADS) else {
        return fill_in(words.recoveries[2], target);
    };
    let (first, last) = (first.record, last.record);
    let printed = |rate: f64| format!("{} MiB/s", number::three_digits(rate / MIB));
    let mut values = target.to_vec();
    values.push(("last", printed(at_end(first))));
    if !is_level(first) {
        values.push(("first", printed(at_begin(first))));
        return fill_in(words.recoveries[3], &values);
    }
    let back = back(first, last);
    let text = words.recoveries[usize::from(back.is_none())];
    values.extend(back.map(|back| ("back", back)));
    fill_in(text, &values)
}

fn stimulus(view: &View<'_>, words: &PtsWords, target: u32) -> Option<Table> {
    let points = in_order(view, target);
    let (first, last) = (points.first()?.record, points.last()?.record);
    let back = is_level(first).then(|| back(first, last)).flatten();
    let unit = TimeUnit::suiting(points.iter().filter_map(|point| point.latency().mean_ns));
    let heads = view.words.columns;
    let table = Rows::from_items(points)
        .text(heads.profile, |point| {
            let record = point.record;
            let name = [view.step(&record.step), record.profile_title.clone()];
            Cell::head(name.join(view.words.list[0]))
        })
        .figures(
            |point| point.is_valid(),
            |rows| {
                rows.number(heads.throughput, "MiB/s", |point| throughput(point))
                    .number(words.at_end, "MiB/s", |point| {
                        number::three_digits(at_end(point.record) / MIB)
                    })
                    .time(heads.mean, unit, |point| point.latency().mean_ns)
                    .time(heads.maximum_time, unit, |point| {
                        point.latency().max_ns.map(|ns| ns as f64)
                    })
            },
        )
        .number(words.back, "", |point| {
            let index = point.record.index;
            Cell::or_dash(back.clone().filter(|_| index == last.index && index != first.index))
        })
        .traced(view, |point| vec![point.record.index])
        .marked(view)
        .table("")
        .with_note(words.stimulus_note);
    Some(table)
}

#[cfg(test)]
mod tests {
    use crate::tests::fixture;

    use super::*;

    /// Conclusion of a test whose writes have these queue depths, each preceded by a pause or not.
    fn concluded(state: RunState, points: &[(u32, Option<u64>)]) -> String {
        let mut run = fixture::run(1);
        run.plan_name = "pts-hir".into();
        run.state = state;
        let point = |(index, (queue_depth, delay_s)): (usize, &(u32, Option<u64>))| PointRecord {
            index: index as u32,
            step: format!("step {index}"),
            delay_ns: delay_s.map(|s| s * 1_000_000_000),
            ..fixture::one_point(*queue_depth)
        };
        let points: Vec<PointRecord> = points.iter().enumerate().map(point).collect();
        let presentation = crate::Presentation::default();
        let view = View::new(&run, &points, None, &presentation);
        sums(&view).concat()
    }

    #[test]
    fn conclusion_names_the_pause_with_most_effect() {
        let conclusion = |points: &[(u32, Option<u64>)]| concluded(RunState::Complete, points);
        let faster = conclusion(&[(1, None), (1, Some(5)), (1, None), (4, Some(10))]);
        assert!(faster.contains("raises") && faster.contains("after 10 s"), "{faster}");
        let slower = conclusion(&[(4, None), (1, Some(5)), (4, None), (4, Some(10))]);
        assert!(slower.contains("lowers") && slower.contains("after 5 s"), "{slower}");
        let mixed = conclusion(&[(4, None), (1, Some(5)), (4, None), (16, Some(10))]);
        assert!(mixed.contains("in both directions"), "{mixed}");
        let alike = conclusion(&[(4, None), (4, Some(5)), (4, None), (4, Some(10))]);
        assert!(alike.contains("no pause changes"), "{alike}");
        let unsteady = conclusion(&[(4, None), (4, Some(5)), (1, None), (4, Some(10))]);
        assert!(unsteady.contains("was not steady"), "{unsteady}");
    }

    /// SNIA's amount is a multiple of the capacity, and an area may be a small part of it.
    #[test]
    fn written_amount_is_compared_with_the_capacity() {
        let mut run = fixture::run(1);
        run.plan_name = "pts-wsat".into();
        let size = Observation::new(("drive", "capacity_gb"), Ok("800 GB".to_owned()), "test");
        (run.targets[0].area_bytes, run.targets[0].facts) = (1 << 30, vec![size]);
        let mut points = [fixture::one_point(1), fixture::one_point(4)];
        for (index, point) in points.iter_mut().enumerate() {
            (point.index, point.writes.bytes) = (index as u32, 456_000_000_000);
        }
        let presentation = crate::Presentation::default();
        let text = sums(&View::new(&run, &points, None, &presentation)).concat();
        assert!(text.contains("It wrote 1.14 times the capacity"), "{text}");
        // The first point writes some megabytes.
        let table = tables(&View::new(&run, &points[..1], None, &presentation)).remove(0);
        assert_eq!(table.columns[2].heading, "Times the capacity");
        assert!(table.rows.iter().all(|row| row.cells[2].text == "0.00"), "{table:?}");
        // The conclusion is the answer, not the largest value.
        let view = View::new(&run, &points[..1], None, &presentation);
        let conclusion = crate::section::summary::conclusion(&view);
        assert!(conclusion[0].contains("the load starts at"), "{conclusion:?}");
    }

    #[test]
    fn interrupted_test_of_recovery_has_no_conclusion() {
        let conclusion = concluded(RunState::Interrupted, &[(1, None), (4, Some(5))]);
        assert!(conclusion.contains("cannot be judged"), "{conclusion}");
    }
}
