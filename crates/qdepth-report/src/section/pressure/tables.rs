//! Steps as tables.

use crate::document::{Align, Cell, Column, Row, Table, number_in, text};
use crate::number::{self, TimeUnit};
use crate::section::steps::{Step, Steps, offered};
use crate::section::table_parts::{target_cell, target_column, with_mark};
use crate::trace;
use crate::view::{Point, View, percentile_ns};
use crate::words::fill_in;
use qdepth_measure::Statistic;

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

fn centred(heading: &str) -> Column {
    Column { heading: heading.to_owned(), unit: String::new(), align: Align::Centre, rank: 0 }
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
    let mut columns = vec![text(of_steps.step)];
    columns.extend(target_column(view));
    columns.extend([
        number_in(of_steps.asked, "MiB/s"),
        number_in(of_steps.achieved, "MiB/s"),
        number_in(words.mean, unit.symbol()),
    ]);
    columns.extend(SHORT.map(|q| number_in(&Statistic::Quantile(q).to_string(), unit.symbol())));
    columns.push(number_in(of_steps.longest_gap, "ms"));
    columns.extend(of_steps.stalls.map(|heading| number_in(heading, "")));
    columns.push(centred(words.grade));
    let unfollowed = steps.all.iter().any(|step| !step.followed());
    columns.extend(unfollowed.then(|| text("")));
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for (index, _) in steps.titles.iter().enumerate() {
        for (nth, step) in steps.all.iter().filter(|step| step.step_index == index).enumerate() {
            let mut cells = step_cells(view, step, unit);
            let mark = if step.followed() { "" } else { view.words.pressure.mark };
            cells.extend(unfollowed.then(|| Cell::alarm(mark)));
            rows.push(Row { cells, opens_group: nth == 0 && view.compares() });
            points.push(step.point_indices().collect());
        }
    }
    let caption = view.words.pressure.steps_caption.to_owned();
    let note = view.words.pressure.steps_note.to_owned();
    with_mark(view, trace::traced(view, Table { caption, columns, rows, note }, points))
}

/// Largest number of steps in the small table: the first, the last and some between.
const FEW: usize = 8;

/// Table of selected steps: the reader's mean latency on each target.
pub(crate) fn means(view: &View<'_>, steps: &Steps<'_, '_>) -> Table {
    let unit = reader_unit(steps);
    let mut columns = vec![text(view.words.pressure.columns.asked)];
    let targets = steps.targets();
    columns.extend(targets.iter().map(|t| number_in(&view.target_name(*t), unit.symbol())));
    let last = steps.titles.len().saturating_sub(1);
    let stride = last.div_ceil(FEW - 1).max(1);
    let shown = (0..=last).filter(|index| index.is_multiple_of(stride) || *index == last);
    let row = |index: usize| {
        let mean = |target: &u32| {
            let step = steps.on(*target).find(|step| step.step_index == index)?;
            Some((step.reader_latency(Statistic::Mean)?, step.is_valid()))
        };
        let cell = |target: &u32| {
            let mean = mean(target);
            let text = mean.map(|(ns, _)| unit.write(ns));
            Cell::or_dash(text).struck_if(mean.is_some_and(|(_, valid)| !valid))
        };
        let mut cells = vec![Cell::head(view.step(steps.titles[index]))];
        cells.extend(targets.iter().map(cell));
        Row { cells, opens_group: false }
    };
    let rows = if steps.titles.is_empty() { Vec::new() } else { shown.map(row).collect() };
    let note = view.words.pressure.means_note.to_owned();
    with_mark(view, Table { caption: String::new(), columns, rows, note })
}

fn step_cells(view: &View<'_>, step: &Step<'_, '_>, unit: TimeUnit) -> Vec<Cell> {
    let time = |statistic| {
        let ns = step.reader_latency(statistic);
        Cell::or_dash(ns.map(|ns| unit.write(ns)))
    };
    let mut figures = vec![
        Cell::or_dash(step.asked_io_per_s().map(number::load)),
        Cell::plain(number::load(step.achieved())),
        time(Statistic::Mean),
    ];
    figures.extend(SHORT.map(|quantile| time(Statistic::Quantile(quantile))));
    let reader = step.reader().map(|reader| reader.record);
    let gap = reader.map(|record| TimeUnit::Millis.write(record.longest_gap_ns as f64));
    figures.push(Cell::or_dash(gap));
    for stalls in reader.map_or([None; 3], |record| record.gaps.map(Some)) {
        figures.push(Cell::or_dash(stalls.map(number::count)));
    }
    let mut cells = vec![Cell::head(view.step(step.title))];
    cells.extend(target_cell(view, step.target));
    cells.extend(figures.into_iter().map(|cell| cell.struck_if(!step.is_valid())));
    cells.push(Cell::plain(step.grade().to_string()));
    cells
}

/// Percentiles from 99 to 99.9999999, one table per target, each with the number of samples beyond
/// it, and only with at least ten.
pub(crate) fn percentiles(view: &View<'_>, steps: &Steps<'_, '_>) -> Vec<Table> {
    let of_target = |target: u32| {
        let words = view.words.pressure;
        let unit = reader_unit(steps);
        let mut columns = vec![text(words.columns.step), number_in(words.columns.samples, "")];
        columns.extend(NINES.map(|(_, name)| number_in(name, unit.symbol())));
        let rows = steps.on(target).flat_map(|step| percentile_rows(view, step, unit));
        let name = [("target", view.target_name(target))];
        let caption = fill_in(words.percentiles_caption, &name);
        let note = words.percentiles_note.to_owned();
        with_mark(view, Table { caption, columns, rows: rows.collect(), note })
    };
    steps.targets().into_iter().map(of_target).collect()
}

fn percentile_rows(view: &View<'_>, step: &Step<'_, '_>, unit: TimeUnit) -> [Row; 2] {
    let words = view.words.pressure;
    let value = |(quantile, _): (f64, &str)| {
        let ns = step.reader_latency(Statistic::Quantile(quantile));
        ns.map_or_else(|| Cell::unknown(words.too_few), |ns| Cell::plain(unit.write(ns)))
            .struck_if(!step.is_valid())
    };
    let beyond =
        |(quantile, _): (f64, &str)| Cell::unknown(number::count(step.samples(quantile).1));
    let all = number::count(step.samples(0.0).0);
    let values =
        [Cell::head(view.step(step.title)), Cell::plain(all)].into_iter().chain(NINES.map(value));
    let counts =
        [Cell::unknown(words.beyond), Cell::unknown("")].into_iter().chain(NINES.map(beyond));
    [
        Row { cells: values.collect(), opens_group: true },
        Row { cells: counts.collect(), opens_group: false },
    ]
}

/// Table with one row per load of a step.
pub(crate) fn loads(view: &View<'_>, steps: &Steps<'_, '_>) -> Table {
    let (words, of_steps) = (view.words.columns, view.words.pressure.columns);
    let points = || steps.all.iter().flat_map(|step| &step.loads);
    let times =
        points().filter_map(|(_, p)| percentile_ns(p.latency(), 0.99).or(p.latency().mean_ns));
    let unit = TimeUnit::suiting(times);
    let mut columns = vec![text(of_steps.step)];
    columns.extend(target_column(view));
    columns.extend([
        text(words.profile),
        number_in(words.outstanding, ""),
        number_in(of_steps.asked_of_load, "MiB/s"),
        number_in(words.throughput, "MiB/s"),
        number_in(words.rate, "IOPS"),
        number_in(words.mean, unit.symbol()),
    ]);
    columns.extend(SHORT.map(|q| number_in(&Statistic::Quantile(q).to_string(), unit.symbol())));
    columns.push(number_in(words.maximum_time, unit.symbol()));
    columns.push(centred(words.grade));
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for step in &steps.all {
        for (nth, (load, point)) in step.loads.iter().enumerate() {
            let title = if nth == 0 { Cell::head(view.step(step.title)) } else { Cell::plain("") };
            let mut cells = vec![title];
            cells.extend(target_cell(view, step.target));
            cells.push(Cell::plain(&*load.title));
            cells.extend(load_cells(point, unit));
            rows.push(Row { cells, opens_group: nth == 0 });
            points.push(vec![point.record.index]);
        }
    }
    let caption = view.words.pressure.loads_caption.to_owned();
    let table = Table { caption, columns, rows, note: String::new() };
    with_mark(view, trace::traced(view, table, points))
}

fn load_cells(point: &Point<'_>, unit: TimeUnit) -> Vec<Cell> {
    let latency = point.latency();
    let time = |ns: Option<f64>| Cell::or_dash(ns.map(|ns| unit.write(ns)));
    let mut figures = vec![
        Cell::or_dash(offered(point.record).map(number::load)),
        Cell::plain(number::rounded(&point.mib_per_s).value),
        Cell::plain(number::rounded(&point.summary.io_per_s).value),
        time(latency.mean_ns),
    ];
    figures.extend(SHORT.map(|quantile| time(percentile_ns(latency, quantile))));
    figures.push(time(latency.max_ns.map(|ns| ns as f64)));
    let mut cells = vec![Cell::plain(number::count(point.record.outstanding.into()))];
    cells.extend(figures.into_iter().map(|cell| cell.struck_if(!point.is_valid())));
    cells.push(Cell::plain(point.summary.grade.to_string()));
    cells
}
