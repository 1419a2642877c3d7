//! Steps as tables.

use crate::document::{Cell, Table, centred, number_in, text};
use crate::number::{self, TimeUnit};
use crate::rows::{Rows, RunColumns as _};
use crate::section::naming::names;
use crate::section::steps::{Step, Steps, offered};
use crate::section::sweep::tables::{load_unit, rate, throughput};
use crate::view::{View, percentile_ns};
use crate::words::{fill_in, in_brackets, with_subject};
use qdepth_measure::Statistic;
use qdepth_record::PointRecord;

/// Percentiles in the one-line form of a step.
const SHORT: [f64; 3] = [0.99, 0.999, 0.9999];
/// All percentiles with their names: 99 to 99.9999999.
const NINES: [(f64, &str); 8] = [
    (0.99, "p99"),
    (0.999, "p99.9"),
    (0.9999, "p99.99"),
    (0.99999, "p99.999"),
    (0.999_999, "p99.9999"),
    (0.999_999_9, "p99.99999"),
    (0.999_999_99, "p99.999999"),
    (0.999_999_999, "p99.9999999"),
];

fn reader_record<'a>(step: &Step<'_, 'a>) -> Option<&'a PointRecord> {
    step.reader().map(|reader| reader.record)
}

/// Common unit of the reader's latencies. Rare percentiles do not count: a single pause would make
/// all other figures very small.
pub(super) fn reader_unit(steps: &Steps<'_, '_>) -> TimeUnit {
    let mean = |step: &Step<'_, '_>| step.reader_latency(Statistic::Mean);
    TimeUnit::suiting(steps.all.iter().filter_map(mean))
}

/// Table with one row per step and target: the writers' load and the reader's latency.
pub(crate) fn steps(view: &View<'_>, steps: &Steps<'_, '_>) -> Table {
    let (words, of_steps) = (view.words.columns, view.words.pressure.columns);
    let unit = reader_unit(steps);
    let mut in_order: Vec<&Step<'_, '_>> = steps.all.iter().collect();
    in_order.sort_by_key(|step| step.step_index);
    let unfollowed = steps.all.iter().any(|step| !step.followed());
    let mut former = None;
    Rows::from_items(in_order)
        .groups(|s| former.replace(s.step_index) != Some(s.step_index) && view.compares())
        .text(of_steps.step, |step| Cell::head(view.step(step.title)))
        .targets(view, |step| step.target)
        .figures(
            |step| step.is_valid(),
            |rows| {
                rows.column(number_in(of_steps.asked, "MiB/s").ranked(3), |step| {
                    step.asked_io_per_s().map(number::load)
                })
                .number(of_steps.achieved, "MiB/s", |step| number::load(step.achieved()))
                .time(words.mean, unit, |step| step.reader_latency(Statistic::Mean))
                .each(
                    SHORT.map(Statistic::Quantile),
                    |statistic| {
                        let is_rare = *statistic == Statistic::Quantile(SHORT[SHORT.len() - 1]);
                        let column = number_in(&statistic.to_string(), unit.symbol());
                        column.ranked(if is_rare { 4 } else { 0 })
                    },
                    |step, statistic| Cell::time(unit, step.reader_latency(*statistic)),
                )
                .column(number_in(of_steps.longest_gap, "ms").ranked(2), |step| {
                    let gap = reader_record(step).map(|record| record.longest_gap_ns as f64);
                    Cell::time(TimeUnit::Millis, gap)
                })
                .each(
                    of_steps.stalls.into_iter().enumerate(),
                    |(_, heading)| number_in(heading, "").ranked(5),
                    |step, (index, _)| {
                        Cell::or_dash(reader_record(step).map(|r| number::count(r.gaps[*index])))
                    },
                )
            },
        )
        .column(centred(words.grade), |step| step.grade().to_string())
        .column(unfollowed.then(|| text("")), |step| {
            Cell::alarm(if step.followed() { "" } else { view.words.pressure.mark })
        })
        .traced(view, |step| step.point_indices().collect())
        .marked(view)
        .table(view.words.pressure.steps_caption)
        .with_note(view.words.pressure.steps_note)
}

/// Largest number of steps in the small table: the first, the last and some between.
const FEW: usize = 8;

/// Mark of a step that a target did not sustain, in brackets, with its targets if others did.
fn unsustained(view: &View<'_>, steps: &Steps<'_, '_>, index: usize) -> String {
    let mark = view.words.pressure.mark;
    let at_index = || steps.all.iter().filter(|step| step.step_index == index);
    let short: Vec<String> = at_index()
        .filter(|step| !step.followed())
        .map(|step| view.target_name(step.target))
        .collect();
    match short.len() {
        0 => String::new(),
        n if n == at_index().count() => in_brackets(view.lang, mark),
        _ => in_brackets(view.lang, &with_subject(view.lang, mark, &names(view, short))),
    }
}

/// Table of selected steps: the reader's mean latency on each target.
pub(crate) fn means(view: &View<'_>, steps: &Steps<'_, '_>) -> Table {
    let unit = reader_unit(steps);
    let last = steps.titles.len().saturating_sub(1);
    let stride = last.div_ceil(FEW - 1).max(1);
    let titles = steps.titles.iter().enumerate();
    let shown = titles.filter(|(index, _)| index.is_multiple_of(stride) || *index == last);
    Rows::from_items(shown)
        .text(view.words.pressure.columns.asked, |(index, title)| {
            Cell::head(view.step(title) + &unsustained(view, steps, *index))
        })
        .each(
            steps.targets(),
            |target| number_in(&view.target_name(*target), unit.symbol()),
            |(index, _), target| {
                let step = steps.on(*target).find(|step| step.step_index == *index);
                let mean = step.and_then(|step| step.reader_latency(Statistic::Mean));
                Cell::time(unit, mean).struck_if(step.is_some_and(|step| !step.is_valid()))
            },
        )
        .marked(view)
        .table("")
        .with_note(view.words.pressure.means_note)
}

/// Percentiles from 99 to 99.9999999, one table per target, each with the number of samples beyond
/// it, and only with at least ten.
pub(crate) fn percentiles(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<Table> {
    let words = view.words.pressure;
    let unit = reader_unit(steps);
    let of_target = |target: u32| {
        // Each step has a row of values, and one of the numbers beyond them.
        let rows = steps.on(target).flat_map(|step| [(step, true), (step, false)]);
        Rows::from_items(rows)
            .groups(|(_, is_value)| *is_value)
            .text(words.columns.step, |(step, is_value)| match is_value {
                true => Cell::head(view.step(step.title)),
                false => Cell::unknown(words.beyond),
            })
            .number(words.columns.samples, "", |(step, is_value)| match is_value {
                true => Cell::plain(number::count(step.samples(0.0).0)),
                false => Cell::unknown(""),
            })
            .each(
                NINES,
                |(_, name)| number_in(name, unit.symbol()),
                |(step, is_value), (quantile, _)| match is_value {
                    true => percentile(view, step, *quantile, unit),
                    false => Cell::unknown(number::count(step.samples(*quantile).1)),
                },
            )
            .marked(view)
            .table(fill_in(words.percentiles_caption, &[("target", view.target_name(target))]))
            .with_note(words.percentiles_note)
    };
    steps.targets().into_iter().map(of_target).collect()
}

/// Table with one row per load of a step.
pub(crate) fn loads(view: &View<'_>, steps: &Steps<'_, '_>) -> Table {
    let (words, of_steps) = (view.words.columns, view.words.pressure.columns);
    let rows = steps.all.iter().flat_map(|step| {
        step.loads.iter().enumerate().map(move |(nth, (load, point))| (step, nth, *load, *point))
    });
    let rows: Vec<_> = rows.collect();
    let unit = load_unit(rows.iter().map(|(.., point)| *point));
    let symbol = unit.symbol();
    Rows::from_items(rows)
        .groups(|(_, nth, ..)| *nth == 0)
        .text(of_steps.step, |(step, nth, ..)| match nth {
            0 => Cell::head(view.step(step.title)),
            _ => Cell::plain(""),
        })
        .targets(view, |(step, ..)| step.target)
        .text(words.profile, |(.., load, _)| Cell::plain(&*load.title))
        .number(words.queue_depth, "", |(.., point)| number::count(point.record.queue_depth.into()))
        .figures(
            |(.., point)| point.is_valid(),
            |rows| {
                rows.number(of_steps.asked_of_load, "MiB/s", |(.., point)| {
                    offered(point.record).map(number::load)
                })
                .number(words.throughput, "MiB/s", |(.., point)| throughput(point))
                .number(words.rate, "IOPS", |(.., point)| rate(point))
                .time(words.mean, unit, |(.., point)| point.latency().mean_ns)
                .each(
                    SHORT,
                    |quantile| number_in(&Statistic::Quantile(*quantile).to_string(), symbol),
                    |(.., point), quantile| {
                        Cell::time(unit, percentile_ns(point.latency(), *quantile))
                    },
                )
                .time(words.maximum_time, unit, |(.., point)| {
                    point.latency().max_ns.map(|ns| ns as f64)
                })
            },
        )
        .column(centred(words.grade), |(.., point)| point.summary.grade.to_string())
        .traced(view, |(.., point)| vec![point.record.index])
        .marked(view)
        .table(view.words.pressure.loads_caption)
}

/// A percentile of the reader, or a note that the samples are too few.
fn percentile(view: &View<'_>, step: &Step<'_, '_>, quantile: f64, unit: TimeUnit) -> Cell {
    let ns = step.reader_latency(Statistic::Quantile(quantile));
    ns.map_or_else(|| Cell::unknown(view.words.pressure.too_few), |ns| Cell::plain(unit.write(ns)))
        .struck_if(!step.is_valid())
}
