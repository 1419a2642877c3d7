//! Several loads on one target, each at one or two queue depths of its own: the results side by
//! side.

use qdepth_measure::Estimate;

use crate::document::{Cell, Picture, Table, number_in};
use crate::number::{TimeUnit, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::bars::{Bar, Bars};
use crate::section::grid::{Grid, by_size};
use crate::section::sweep::tables::{rate, throughput};
use crate::trace::point_indices;
use crate::view::{Load, LoadPoint, Point, View};
use crate::words::fill_in;

/// Largest number of loads with a row and a bar of their own on the first page.
const SHOWN: usize = 12;
/// Number of loads above which they are grouped by block size and read share, if these differ.
const NAMED: usize = 6;

/// Largest number of points of a load that do not make a curve.
const OF_ONE: usize = 2;

/// Loads without curves, with their valid points.
pub(super) struct Loads<'v, 'a> {
    /// The common queue depth, if there is one.
    queue_depth: Option<u32>,
    /// Unit of the axis: IOPS if all loads are judged by it, else MiB/s.
    unit: &'static str,
    all: Vec<LoadPoint<'v, 'a>>,
}

/// Collects the loads. `None` for several targets, for a single load, and for loads with a curve
/// each.
pub(super) fn collect<'v, 'a>(view: &'v View<'a>) -> Option<Loads<'v, 'a>> {
    let [target] = *view.targets else { return None };
    let asked = |load: &Load<'a>| load.on(target).map(|p| p.record.queue_depth).collect();
    let each: Vec<Vec<u32>> = view.swept().map(asked).collect();
    let alike = each.windows(2).all(|pair| pair[0] == pair[1]);
    let queue_depth = (view.intensities.len() == 1).then(|| view.lowest());
    let no_curves = !alike && each.iter().all(|own| own.len() <= OF_ONE);
    if queue_depth.is_none() && !no_curves {
        return None;
    }
    let valid = |load: &'v Load<'a>| {
        load.on(target).filter(|point| point.is_valid()).map(move |point| (load, point))
    };
    let all: Vec<LoadPoint<'v, 'a>> = view.swept().flat_map(valid).collect();
    let in_rates = all.iter().all(|(load, _)| load.unit() == UNITS[0]);
    let unit = UNITS[usize::from(!in_rates)];
    (all.len() > 1).then_some(Loads { queue_depth, unit, all })
}

impl<'v, 'a> Loads<'v, 'a> {
    fn value<'p>(&self, point: &'p Point<'_>) -> &'p Estimate {
        if self.unit == UNITS[0] { &point.summary.io_per_s } else { &point.mib_per_s }
    }

    /// Title of the load, with its queue depth if there are several.
    fn title(&self, view: &View<'_>, pair: &LoadPoint<'_, '_>) -> String {
        let (load, point) = pair;
        if self.queue_depth.is_some() {
            return load.title.clone();
        }
        let at = point.record.queue_depth.to_string();
        let values = [("load", load.title.clone()), ("queue_depth", at)];
        fill_in(view.words.answer.load_at, &values)
    }

    /// Layout by block size and read share, for many loads that differ in nothing else.
    fn grid(&self) -> Option<Grid<LoadPoint<'v, 'a>>> {
        let mut all = self.all.clone();
        all.sort_by(|(a, _), (b, _)| by_size(a.first(), b.first()));
        let grid =
            Grid::new(&all, |(load, _)| (&*load.first().block_size, load.first().read_share));
        let is_needed = self.all.len() > NAMED && grid.shares.len() > 1;
        (is_needed && grid.holds_all(&self.all)).then(|| grid.thinned())
    }

    /// The wording for one queue depth, with it, or the wording for several.
    fn at(&self, single: &str, several: &str) -> String {
        let template = if self.queue_depth.is_some() { single } else { several };
        let at = self.queue_depth.unwrap_or_default().to_string();
        fill_in(template, &[("queue_depth", at)])
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
            traced: false,
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
        if self.queue_depth.is_none() {
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
        let at = |queue_depth: u32| {
            let values = [("queue_depth", queue_depth.to_string())];
            fill_in(view.words.answer.at_queue_depth, &values)
        };
        let row = |load: &&'v Load<'a>| {
            let point = |queue_depth: &u32| {
                let is_it = |pair: &&LoadPoint<'v, 'a>| {
                    pair.0.id == load.id && pair.1.record.queue_depth == *queue_depth
                };
                self.all.iter().find(is_it).copied()
            };
            view.intensities.iter().map(point).collect()
        };
        let titles = loads.iter().map(|load| load.title.clone()).collect();
        let names = view.intensities.iter().map(|queue_depth| at(*queue_depth)).collect();
        (titles, names, loads.iter().map(row).collect())
    }

    /// Table with one row per load, or per block size.
    pub(super) fn table(&self, view: &View<'_>) -> Table {
        let columns = view.words.columns;
        if let Some(grid) = self.grid() {
            let shown = grid.rows().flat_map(|(_, row)| row).flatten().count();
            let table = Rows::from_items(grid.size_titles().into_iter().zip(grid.rows()))
                .text(view.words.pts.size, |(title, _)| Cell::head(&**title))
                .each(
                    grid.share_titles(view).into_iter().enumerate(),
                    |(_, title)| number_in(title, self.unit),
                    |(_, (_, row)), (index, _)| {
                        Cell::or_dash(row[*index].map(|(_, p)| rounded(self.value(p)).value))
                    },
                );
            return finished(view, table, shown);
        }
        let shown: Vec<&LoadPoint<'_, '_>> = self.all.iter().take(SHOWN).collect();
        let unit = TimeUnit::suiting(shown.iter().filter_map(|(_, p)| p.latency().mean_ns));
        let latency = match self.queue_depth {
            Some(at) => fill_in(columns.mean_at_lowest, &[("queue_depth", at.to_string())]),
            None => view.words.explain.latency.to_owned(),
        };
        let count = shown.len();
        let table = Rows::from_items(shown)
            .text(columns.profile, |pair| Cell::head(self.title(view, pair)))
            .number(columns.rate, UNITS[0], |(_, point)| rate(point))
            .number(columns.throughput, UNITS[1], |(_, point)| throughput(point))
            .time(&latency, unit, |(_, point)| point.latency().mean_ns);
        finished(view, table, count)
    }
}

fn finished<T>(view: &View<'_>, table: Rows<T>, shown: usize) -> Table {
    let note = super::single::left_out(view, shown).unwrap_or_default();
    table.marked(view).table("").with_note(note)
}

/// Titles of groups, names of bars, and the bars of each group.
type Layout<'v, 'a> = (Vec<String>, Vec<String>, Vec<Vec<Option<LoadPoint<'v, 'a>>>>);

/// Main figures of loads.
const UNITS: [&str; 2] = ["IOPS", "MiB/s"];
