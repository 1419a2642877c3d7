//! Several loads on one target at one intensity: what each does, side by side.

use crate::document::{Cell, Picture, Row, Table, number_in, text};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::number::{TimeUnit, rounded};
use crate::section::grid::{Grid, by_size};
use crate::section::sweep::pictures::data_table;
use crate::section::sweep::tables::with_mark;
use crate::trace::point_indices;
use crate::view::{Load, Point, View};
use crate::words::fill_in;

/// How many loads have a row and a bar of their own on the first page.
const SHOWN: usize = 12;
/// More loads than this are told apart by request size and share of reads, where those do.
const NAMED: usize = 6;

/// A load and its valid point.
type One<'v, 'a> = (&'v Load<'a>, &'v Point<'a>);

/// The loads of a run at one intensity.
pub(super) struct Loads<'v, 'a> {
    outstanding: u32,
    all: Vec<One<'v, 'a>>,
}

/// Them; none of a run of several targets or intensities, or of a single load.
pub(super) fn collect<'v, 'a>(view: &'v View<'a>) -> Option<Loads<'v, 'a>> {
    let ([target], 1) = (&*view.targets, view.intensities.len()) else { return None };
    let outstanding = view.lowest();
    let point = |load: &'v Load<'a>| Some((load, load.at(*target, outstanding)?));
    let all: Vec<One<'v, 'a>> = view.swept().filter_map(point).collect();
    (all.len() > 1).then_some(Loads { outstanding, all })
}

impl<'v, 'a> Loads<'v, 'a> {
    /// Those that are judged alike.
    fn of_unit(&self, unit: &str) -> Vec<One<'v, 'a>> {
        self.all.iter().copied().filter(|(load, _)| load.unit() == unit).collect()
    }

    /// What most of them are judged by, which one axis can have.
    fn unit(&self) -> &'static str {
        let [rates, throughputs] = UNITS.map(|unit| self.of_unit(unit).len());
        UNITS[usize::from(throughputs > rates)]
    }

    /// Laid out by size and share of reads, where there are many that differ in nothing else.
    fn grid(&self) -> Option<Grid<One<'v, 'a>>> {
        let mut all = self.all.clone();
        all.sort_by(|(a, _), (b, _)| by_size(a.first(), b.first()));
        let grid =
            Grid::new(&all, |(load, _)| (&*load.first().request_size, load.first().read_share));
        let is_one = self.all.iter().all(|(load, _)| load.unit() == self.unit());
        let is_needed = self.all.len() > NAMED && grid.shares.len() > 1;
        (is_one && is_needed && grid.holds_all(&self.all)).then(|| grid.thinned())
    }

    fn outstanding(&self) -> (&'static str, String) {
        ("outstanding", self.outstanding.to_string())
    }

    /// The highest and the lowest, of rates and of throughputs.
    pub(super) fn sentence(&self, view: &View<'_>) -> Option<String> {
        let words = view.words.answer;
        let told = |(load, point): &One<'_, '_>| {
            let value = format!("{} {}", rounded(point.main()).value, load.unit());
            fill_in(words.load_value, &[("value", value), ("load", load.title.clone())])
        };
        let ends = |unit: &str| {
            let of_unit = self.of_unit(unit);
            let value = |one: &&One<'_, '_>| one.1.main().value;
            let most = of_unit.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
            let least = of_unit.iter().min_by(|a, b| value(a).total_cmp(&value(b)))?;
            if of_unit.len() == 1 {
                return Some(told(most));
            }
            let values = [("most", told(most)), ("least", told(least))];
            Some(fill_in(words.load_ends, &values))
        };
        let ends: Vec<String> = UNITS.into_iter().filter_map(ends).collect();
        let values = [self.outstanding(), ("items", ends.join(view.words.clause))];
        (!ends.is_empty()).then(|| fill_in(words.loads, &values))
    }

    /// Bars: of each load, or for each size a bar for each share of reads.
    pub(super) fn picture(&self, view: &View<'_>) -> Picture {
        let words = view.words.answer;
        let (groups, names, rows) = self.bars(view);
        let mark = |at: usize, one: &Option<One<'_, '_>>| match one {
            Some((_, point)) => {
                let estimate = point.main();
                let value = MarkValue::Known(estimate.value, estimate.interval);
                Mark { at: at as f64, value, points: point_indices(view, point) }
            }
            None => Mark::at(at as f64, MarkValue::Missing),
        };
        let series = names.iter().enumerate().map(|(colour, name)| Series {
            name: name.clone(),
            colour,
            stroke: Stroke::None,
            markers: Markers::Plain,
            marks: rows.iter().enumerate().map(|(at, row)| mark(at, &row[colour])).collect(),
        });
        let (between, unit) = (view.words.list[0], self.unit());
        let values = [("groups", groups.join(between)), ("columns", names.join(between))];
        let mut heads = vec![text("")];
        heads.extend(names.iter().map(|name| number_in(name, unit)));
        let of_row = |(title, row): (&String, &Vec<Option<One<'_, '_>>>)| {
            let values = row
                .iter()
                .map(|one| Cell::or_dash(one.map(|(_, point)| rounded(point.main()).joined())));
            let cells = std::iter::once(Cell::head(&**title)).chain(values).collect();
            Row { cells, opens_group: false }
        };
        Picture {
            id: "answer".to_owned(),
            title: view.marked(fill_in(words.loads_title, &[self.outstanding()])),
            description: fill_in(view.words.comparison.bars_description, &values),
            data: data_table(view, heads, groups.iter().zip(&rows).map(of_row).collect()),
            origin: view.origin(),
            figure: Figure {
                x_label: String::new(),
                y_label: format!("{} [{unit}]", self.axis(view)),
                y_scale: Scale::FromZero,
                series: series.collect(),
                x_axis: Horizontal::Groups(groups),
                right: None,
                panels: Vec::new(),
            },
        }
    }

    fn axis(&self, view: &View<'_>) -> &'static str {
        let columns = view.words.columns;
        if self.unit() == UNITS[0] { columns.rate } else { columns.throughput }
    }

    fn bars(&self, view: &View<'_>) -> Bars<'v, 'a> {
        if let Some(grid) = self.grid() {
            let rows = grid.rows().map(|(_, row)| row.to_vec()).collect();
            return (grid.size_titles(), grid.share_titles(view), rows);
        }
        let shown: Vec<One<'v, 'a>> = self.of_unit(self.unit()).into_iter().take(SHOWN).collect();
        let titles = shown.iter().map(|(load, _)| load.title.clone()).collect();
        let rows = shown.into_iter().map(|one| vec![Some(one)]).collect();
        (titles, vec![self.axis(view).to_owned()], rows)
    }

    /// A row for each load, or for each size.
    pub(super) fn table(&self, view: &View<'_>) -> Table {
        let columns = view.words.columns;
        if let Some(grid) = self.grid() {
            let mut heads = vec![text(view.words.pts.size)];
            let titles = grid.share_titles(view);
            heads.extend(titles.iter().map(|title| number_in(title, self.unit())));
            let row = |(title, (_, row)): (String, (&str, &[Option<One<'_, '_>>]))| {
                let cell = |one: &Option<One<'_, '_>>| {
                    Cell::or_dash(one.map(|(_, point)| rounded(point.main()).value))
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
        let heads = vec![
            text(columns.profile),
            number_in(view.words.answer.value, ""),
            text(columns.unit),
            number_in(&fill_in(columns.mean_at_lowest, &[self.outstanding()]), unit.symbol()),
        ];
        let row = |(load, point): &One<'_, '_>| {
            let mean = point.latency().mean_ns.map(|ns| unit.write(ns));
            let cells = vec![
                Cell::head(&*load.title),
                Cell::plain(rounded(point.main()).value),
                Cell::plain(load.unit()),
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

/// Titles of groups, names of bars, and what stands in each group.
type Bars<'v, 'a> = (Vec<String>, Vec<String>, Vec<Vec<Option<One<'v, 'a>>>>);

/// What loads are judged by.
const UNITS: [&str; 2] = ["IO/s", "MiB/s"];
