//! Several loads on one target, each at one or two queue depths of its own: the results side by
//! side.

use qdepth_measure::Estimate;

use crate::document::{Cell, Picture, Row, Table, number_in, text};
use crate::number::{TimeUnit, rounded};
use crate::section::bars::{Bar, Bars};
use crate::section::grid::{Grid, by_size};
use crate::section::table_parts::with_mark;
use crate::trace::point_indices;
use crate::view::{Load, Point, View};
use crate::words::fill_in;

/// Largest number of loads with a row and a bar of their own on the first page.
const SHOWN: usize = 12;
/// Number of loads above which they are grouped by block size and read share, if these differ.
const NAMED: usize = 6;

/// Largest number of points of a load that do not make a curve.
const OF_ONE: usize = 2;

/// A load and a valid point of it.
type LoadPoint<'v, 'a> = (&'v Load<'a>, &'v Point<'a>);

/// Loads without curves, with their valid points.
pub(super) struct Loads<'v, 'a> {
    /// The common queue depth, if there is one.
    outstanding: Option<u32>,
    /// Unit of the axis: IOPS if all loads are judged by it, else MiB/s.
    unit: &'static str,
    all: Vec<LoadPoint<'v, 'a>>,
}

/// Collects the loads. `None` for several targets, for a single load, and for loads with a curve
/// each.
pub(super) fn collect<'v, 'a>(view: &'v View<'a>) -> Option<Loads<'v, 'a>> {
    let [target] = *view.targets else { return None };
    let asked = |load: &Load<'a>| load.on(target).map(|p| p.record.outstanding).collect();
    let each: Vec<Vec<u32>> = view.swept().map(asked).collect();
    let alike = each.windows(2).all(|pair| pair[0] == pair[1]);
    let outstanding = (view.intensities.len() == 1).then(|| view.lowest());
    let no_curves = !alike && each.iter().all(|own| own.len() <= OF_ONE);
    if outstanding.is_none() && !no_curves {
        return None;
    }
    let valid = |load: &'v Load<'a>| {
        load.on(target).filter(|point| point.is_valid()).map(move |point| (load, point))
    };
    let all: Vec<LoadPoint<'v, 'a>> = view.swept().flat_map(valid).collect();
    let in_rates = all.iter().all(|(load, _)| load.unit() == UNITS[0]);
    let unit = UNITS[usize::from(!in_rates)];
    (all.len() > 1).then_some(Loads { outstanding, unit, all })
}

impl<'v, 'a> Loads<'v, 'a> {
    fn value<'p>(&self, point: &'p Point<'_>) -> &'p Estimate {
        if self.unit == UNITS[0] { &point.summary.io_per_s } else { &point.mib_per_s }
    }

    /// Title of the load, with its queue depth if there are several.
    fn title(&self, view: &View<'_>, pair: &LoadPoint<'_, '_>) -> String {
        let (load, point) = pair;
        if self.outstanding.is_some() {
            return load.title.clone();
        }
        let at = point.record.outstanding.to_string();
        let values = [("load", load.title.clone()), ("outstanding", at)];
        fill_in(view.words.answer.load_at, &values)
    }

    /// Layout by block size and read share, for many loads that differ in nothing else.
    fn grid(&self) -> Option<Grid<LoadPoint<'v, 'a>>> {
        let mut all = self.all.clone();
        all.sort_by(|(a, _), (b, _)| by_size(a.first(), b.first()));
        let grid =
            Grid::new(&all, |(load, _)| (&*load.first().request_size, load.first().read_share));
        let is_needed = self.all.len() > NAMED && grid.shares.len() > 1;
        (is_needed && grid.holds_all(&self.all)).then(|| grid.thinned())
    }

    /// The wording for one queue depth, with it, or the wording for several.
    fn at(&self, single: &str, several: &str) -> String {
        let template = if self.outstanding.is_some() { single } else { several };
        let at = self.outstanding.unwrap_or_default().to_string();
        fill_in(template, &[("outstanding", at)])
    }

    /// Bar chart: one bar per load, or one group per block size with one bar per read share.
    pub(super) fn picture(&self, view: &View<'_>) -> Picture {
        let (groups, names, rows) = self.layout(view);
        let bar = |pair: Option<LoadPoint<'v, 'a>>| {
            let (_, point) = pair?;
            Some(Bar { value: *self.value(point), points: point_indices(view, point) })
        };
        let words = view.words.answer;
        let bars = Bars {
            id: "answer".to_owned(),
            title: self.at(words.loads_title, words.loads_title_several),
            x_label: String::new(),
            y_label: format!("{} [{}]", self.axis(view), self.unit),
            unit: self.unit,
            groups,
            names,
            rows: rows.into_iter().map(|row| row.into_iter().map(bar).collect()).collect(),
        };
        bars.picture(view)
    }

    fn axis(&self, view: &View<'_>) -> &'static str {
        let columns = view.words.columns;
        if self.unit == UNITS[0] { columns.rate } else { columns.throughput }
    }

    fn layout(&self, view: &View<'_>) -> Layout<'v, 'a> {
        if let Some(grid) = self.grid() {
            let rows = grid.rows().map(|(_, row)| row.to_vec()).collect();
            return (grid.size_titles(), grid.share_titles(view), rows);
        }
        if self.outstanding.is_none() {
            return self.by_intensity(view);
        }
        let shown: Vec<LoadPoint<'v, 'a>> = self.all.iter().copied().take(SHOWN).collect();
        let titles = shown.iter().map(|pair| self.title(view, pair)).collect();
        let rows = shown.into_iter().map(|pair| vec![Some(pair)]).collect();
        (titles, vec![self.axis(view).to_owned()], rows)
    }

    /// One group per load, one bar per queue depth.
    fn by_intensity(&self, view: &View<'_>) -> Layout<'v, 'a> {
        let mut loads: Vec<&'v Load<'a>> = self.all.iter().map(|(load, _)| *load).collect();
        loads.dedup_by_key(|load| &*load.id);
        loads.truncate(SHOWN);
        let at = |outstanding: u32| {
            let values = [("outstanding", outstanding.to_string())];
            fill_in(view.words.answer.at_outstanding, &values)
        };
        let row = |load: &&'v Load<'a>| {
            let point = |outstanding: &u32| {
                let is_it = |pair: &&LoadPoint<'v, 'a>| {
                    pair.0.id == load.id && pair.1.record.outstanding == *outstanding
                };
                self.all.iter().find(is_it).copied()
            };
            view.intensities.iter().map(point).collect()
        };
        let titles = loads.iter().map(|load| load.title.clone()).collect();
        let names = view.intensities.iter().map(|outstanding| at(*outstanding)).collect();
        (titles, names, loads.iter().map(row).collect())
    }

    /// Table with one row per load, or per block size.
    pub(super) fn table(&self, view: &View<'_>) -> Table {
        let columns = view.words.columns;
        if let Some(grid) = self.grid() {
            let mut heads = vec![text(view.words.pts.size)];
            let titles = grid.share_titles(view);
            heads.extend(titles.iter().map(|title| number_in(title, self.unit)));
            let row = |(title, (_, row)): (String, (&str, &[Option<LoadPoint<'_, '_>>]))| {
                let cell = |pair: &Option<LoadPoint<'_, '_>>| {
                    Cell::or_dash(pair.map(|(_, point)| rounded(self.value(point)).value))
                };
                let cells = std::iter::once(Cell::head(title)).chain(row.iter().map(cell));
                Row { cells: cells.collect(), opens_group: false }
            };
            let rows = grid.size_titles().into_iter().zip(grid.rows()).map(row).collect();
            let shown = grid.rows().flat_map(|(_, row)| row).flatten().count();
            return finished(view, Table { columns: heads, rows, ..Table::default() }, shown);
        }
        let shown = || self.all.iter().take(SHOWN);
        let unit = TimeUnit::suiting(shown().filter_map(|(_, point)| point.latency().mean_ns));
        let latency = match self.outstanding {
            Some(at) => fill_in(columns.mean_at_lowest, &[("outstanding", at.to_string())]),
            None => view.words.explain.latency.to_owned(),
        };
        let heads = vec![
            text(columns.profile),
            number_in(columns.rate, UNITS[0]),
            number_in(columns.throughput, UNITS[1]),
            number_in(&latency, unit.symbol()),
        ];
        let row = |pair: &LoadPoint<'_, '_>| {
            let point = pair.1;
            let mean = point.latency().mean_ns.map(|ns| unit.write(ns));
            let cells = vec![
                Cell::head(self.title(view, pair)),
                Cell::plain(rounded(&point.summary.io_per_s).value),
                Cell::plain(rounded(&point.mib_per_s).value),
                Cell::or_dash(mean),
            ];
            Row { cells, opens_group: false }
        };
        let rows = shown().map(row).collect();
        let table = Table { columns: heads, rows, ..Table::default() };
        finished(view, table, shown().count())
    }
}

fn finished(view: &View<'_>, table: Table, shown: usize) -> Table {
    let note = super::single::left_out(view, shown).unwrap_or_default();
    with_mark(view, Table { note, ..table })
}

/// Titles of groups, names of bars, and the bars of each group.
type Layout<'v, 'a> = (Vec<String>, Vec<String>, Vec<Vec<Option<LoadPoint<'v, 'a>>>>);

/// Main figures of loads.
const UNITS: [&str; 2] = ["IOPS", "MiB/s"];
