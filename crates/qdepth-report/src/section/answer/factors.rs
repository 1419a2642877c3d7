//! Comparison of several targets or columns with a base: the ratios of their largest values.

use qdepth_measure::Estimate;

use crate::document::{Cell, Picture, Table, number_in};
use crate::number::{self, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::bars::{Bar, Bars};
use crate::section::columns::{self, ComparedColumn};
use crate::section::grid::Grid;
use crate::section::letters::{Letters, quotient_heading};
use crate::section::naming;
use crate::section::published::published_note;
use crate::section::sweep::sentences::both_ends;
use crate::trace;
use crate::view::{Load, View};
use crate::words::fill_in;

/// Maximum number of others named in a sentence.
const NAMED: usize = 3;
/// Largest number of figures in a sentence: readers cannot remember more, and the table has all.
const FIGURES: usize = 4;
/// Share by which a ratio at one queue depth must exceed the ratios of the largest values to be
/// mentioned.
const BEYOND: f64 = 0.02;
/// Maximum number of others with bars and columns on the first page.
const SHOWN: usize = 5;
/// Maximum number of loads with a row on the first page.
const ROWS: usize = 12;
/// Number of loads above which they are grouped by block size and read share.
const GROUPS: usize = 6;

/// Ratios of the largest values of each load: other ÷ base, or base ÷ other.
pub(super) struct Factors<'v, 'a> {
    view: &'v View<'a>,
    base: u32,
    others: Vec<ComparedColumn<'v>>,
    loads: Vec<&'v Load<'a>>,
}

/// Ratios for a run with a comparison; `None` if there is nothing to divide.
pub(super) fn of_comparison<'v, 'a>(view: &'v View<'a>) -> Option<Factors<'v, 'a>> {
    view.compared?;
    collect(view)
}

/// Ratios for a run with several targets or columns.
pub(super) fn collect<'v, 'a>(view: &'v View<'a>) -> Option<Factors<'v, 'a>> {
    let (base, others) = (columns::base(view)?, columns::others(view));
    let all = Factors { view, base, others, loads: view.swept().collect() };
    let known =
        all.others.iter().any(|other| all.loads.iter().any(|l| all.at(l, *other).is_some()));
    known.then_some(all)
}

/// Part of a sentence about one column.
struct Item {
    /// Index among all other columns.
    column: usize,
    /// Distance of its farthest ratio from 1, as a logarithm.
    effect: f64,
    /// Its smallest ratio.
    low: f64,
    /// Number of figures in the text.
    figures: usize,
    text: String,
}

/// A load with its ratio.
type LoadRatio<'v, 'a> = (&'v Load<'a>, Estimate);

impl<'v, 'a> Factors<'v, 'a> {
    fn base_maximum(&self, load: &Load<'a>) -> Option<Estimate> {
        ComparedColumn::Column(self.base).maximum(load)
    }

    fn at(&self, load: &Load<'a>, other: ComparedColumn<'_>) -> Option<Estimate> {
        columns::divided(self.view, &other.maximum(load)?, &self.base_maximum(load)?)
    }

    /// The smallest and the largest ratio of a column.
    fn ends(&self, other: ComparedColumn<'_>) -> Option<(LoadRatio<'v, 'a>, LoadRatio<'v, 'a>)> {
        let all = || self.loads.iter().filter_map(|load| Some((*load, self.at(load, other)?)));
        let by_value =
            |a: &LoadRatio<'_, '_>, b: &LoadRatio<'_, '_>| a.1.value.total_cmp(&b.1.value);
        Some((all().min_by(by_value)?, all().max_by(by_value)?))
    }

    /// States the range of the ratios over all loads, and the loads without a difference.
    pub(super) fn sentence(&self) -> Option<String> {
        let view = self.view;
        let differing: Vec<ComparedColumn<'_>> =
            self.others.iter().copied().filter(|o| !self.alike(*o)).collect();
        let same = self.others.iter().filter_map(|other| self.same(*other)).take(NAMED);
        let all: Vec<String> =
            self.differing(&differing).into_iter().chain(same).chain(self.unlike()).collect();
        (!all.is_empty()).then(|| all.join(view.words.gap))
    }

    /// Names the first drive if a column holds drives of several models.
    fn unlike(&self) -> Option<String> {
        let compared = self.view.compared?;
        let drives = self.others.iter().find_map(|other| match other {
            ComparedColumn::Column(index) => compared.drives(*index),
            ComparedColumn::Published(_) => None,
        })?;
        let targets = self.view.run.targets.get(..drives as usize)?;
        let base = self.view.target_name(self.base);
        let values = [("base", base), ("name", targets.first()?.name.clone())];
        columns::are_unlike(targets).then(|| fill_in(self.view.words.answer.unlike, &values))
    }

    /// Loads for which neither side is certainly larger: the interval of the ratio contains 1.
    fn undecided(&self, other: ComparedColumn<'_>) -> impl Iterator<Item = &'v Load<'a>> {
        let holds_one = move |load: &&Load<'a>| {
            let interval = self.at(load, other).and_then(|factor| factor.interval);
            interval.is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
        };
        self.loads.iter().copied().filter(holds_one)
    }

    /// True if there are ratios with an interval, and none of them differs from 1.
    fn alike(&self, other: ComparedColumn<'_>) -> bool {
        let with_interval =
            |load: &&&Load<'a>| self.at(load, other).is_some_and(|ratio| ratio.interval.is_some());
        let undecided = self.undecided(other).count();
        undecided > 0 && undecided == self.loads.iter().filter(with_interval).count()
    }

    fn same(&self, other: ComparedColumn<'_>) -> Option<String> {
        let view = self.view;
        let loads: Vec<String> = self.undecided(other).map(|load| load.title.clone()).collect();
        let words = view.words.answer;
        let template = if self.alike(other) { words.same } else { words.same_under };
        let names = [("base", view.target_name(self.base)), ("other", other.name(view))];
        let [base, other] = names;
        let values = [base, other, ("loads", naming::list(view, loads.clone()))];
        (!loads.is_empty()).then(|| fill_in(template, &values))
    }

    /// One sentence about columns that differ from the base under at least one load.
    fn differing(&self, others: &[ComparedColumn<'_>]) -> Option<String> {
        let view = self.view;
        let words = view.words.answer;
        let item = |(column, other): (usize, &ComparedColumn<'_>)| {
            let ((_, low), (_, high)) = self.ends(*other)?;
            let effect = low.value.ln().abs().max(high.value.ln().abs());
            let lowest = low.value;
            let [low, high] = [low, high].map(|value| rounded(&value).value);
            let template = match (low == high, columns::base_is_above(view)) {
                (false, false) => words.factor,
                (true, false) => words.factor_single,
                (false, true) => words.factor_above,
                (true, true) => words.factor_above_single,
            };
            // All loads whose ratio has this printed form.
            let under = |printed: &String| {
                let is = |load: &&&Load<'a>| {
                    self.at(load, *other).is_some_and(|ratio| rounded(&ratio).value == *printed)
                };
                naming::names(view, self.loads.iter().filter(is).map(|l| l.title.clone()).collect())
            };
            let [low_load, high_load] = [&low, &high].map(under);
            let figures = if low == high { 1 } else { 2 };
            let values = [
                ("low", low),
                ("high", high),
                ("other", other.name(view)),
                ("low_load", low_load),
                ("high_load", high_load),
            ];
            Some(Item { column, effect, low: lowest, figures, text: fill_in(template, &values) })
        };
        let mut items: Vec<Item> = others.iter().enumerate().filter_map(item).collect();
        let all = items.len();
        // Keeps those that differ most, in the order of the columns.
        items.sort_by(|a, b| b.effect.total_cmp(&a.effect));
        // Large gains do not displace the only loss.
        let losses = items.iter().enumerate().filter(|(_, item)| item.low < 1.0);
        let loss = losses.min_by(|a, b| a.1.low.total_cmp(&b.1.low)).map(|(index, _)| index);
        if let Some(loss) = loss {
            items[..=loss].rotate_right(1);
        }
        let mut figures = 0;
        items.retain(|item| {
            figures += item.figures;
            figures <= FIGURES
        });
        items.truncate(NAMED);
        items.sort_by_key(|item| item.column);
        let more = all - items.len();
        let more = (more > 0).then(|| crate::words::counted(words.others, more));
        let items: Vec<String> = items.into_iter().map(|item| item.text).chain(more).collect();
        let template = if columns::base_is_above(view) { words.above } else { words.beside };
        let named = items.len();
        let items = items.join(view.words.clause);
        let values = [("base", view.target_name(self.base)), ("items", items)];
        (named > 0).then(|| fill_in(template, &values))
    }

    /// The smallest and the largest ratio at one queue depth, if they exceed the range of the
    /// ratios of the largest values; true if the smallest is a larger loss than any of these.
    pub(super) fn at_one_depth(&self) -> Option<(String, bool)> {
        let view = self.view;
        let (mut all, mut tops) = (Vec::new(), Vec::new());
        let turned = if columns::base_is_above(view) { -1 } else { 1 };
        for load in &self.loads {
            for other in &self.others {
                let ComparedColumn::Column(column) = *other else { continue };
                tops.extend(self.at(load, *other).map(|ratio| (ratio.value, ())));
                all.extend(view.intensities.iter().filter_map(|at| {
                    let [base, value] = [self.base, column].map(|target| load.at(target, *at));
                    let ratio = value?.main().value / base?.main().value;
                    // A point may have completed no I/O.
                    let ratio = Some(ratio.powi(turned)).filter(|ratio| ratio.is_normal())?;
                    Some((ratio, (*load, *other, *at)))
                }));
            }
        }
        let (all, tops) = (both_ends(all), both_ends(tops));
        let text = |(ratio, (load, other, at)): &(f64, (&Load<'_>, ComparedColumn<'_>, u32))| {
            let mut values = vec![
                view.per(),
                ("value", number::three_digits(*ratio)),
                ("load", load.title.clone()),
                ("queue_depth", at.to_string()),
            ];
            values.extend((self.others.len() > 1).then(|| ("other", other.name(view))));
            fill_in(view.words.answer.depth_value, &values)
        };
        let (low, high) = (all.last()?, all.first()?);
        let mut values = vec![("low", text(low)), ("high", text(high))];
        let name = if columns::base_is_above(view) { "above" } else { "base" };
        values.push((name, view.target_name(self.base)));
        let (least, most) = (tops.last()?.0, tops.first()?.0);
        let beyond = low.0 < least * (1.0 - BEYOND) || high.0 > most * (1.0 + BEYOND);
        let is_loss = view.compared.is_some() && low.0 < 1.0 && low.0 < least * (1.0 - BEYOND);
        beyond.then(|| (fill_in(view.words.answer.at_one_depth, &values), is_loss))
    }

    /// Table with one row per load: the base's largest value, and the ratios.
    pub(super) fn table(&self) -> Table {
        let view = self.view;
        let words = view.words;
        let letters = Letters::new(view);
        let shown = || self.others.iter().copied().take(SHOWN);
        let names: Vec<String> = shown().map(|other| other.name(view)).collect();
        let key = letters.key(&names).map(|key| fill_in(words.answer.letters, &[("key", key)]));
        let note = key.into_iter().chain([words.answer.factor_note.to_owned()]);
        let note = note.chain(super::single::left_out(view, ROWS));
        let published = view.compared.map(|compared| published_note(view, compared));
        let note = note.chain(published.filter(|note| !note.is_empty()));
        let base = letters.head(&view.target_name(self.base));
        Rows::from_items(self.loads.iter().take(ROWS))
            .text(words.columns.profile, |load| Cell::head(&*load.title))
            .number(&base, "", |load| self.base_maximum(load).map(|base| rounded(&base).value))
            .text(words.columns.unit, |load| load.unit())
            .each(
                shown(),
                |other| number_in(&quotient_heading(view, &letters, &other.name(view)), ""),
                |load, other| {
                    Cell::or_dash(self.at(load, *other).map(|factor| rounded(&factor).joined()))
                },
            )
            .marked(view)
            .table("")
            .with_note(note.collect::<Vec<_>>().join(words.gap))
    }

    /// Bar chart: one group per load, one bar per column. For many loads, one group per block size,
    /// and one bar per read share.
    pub(super) fn picture(&self) -> Picture {
        let view = self.view;
        let (groups, rows, names) = if self.loads.len() > GROUPS {
            self.by_size()
        } else {
            let titles = self.loads.iter().map(|load| load.title.clone()).collect();
            let shown: Vec<ComparedColumn<'v>> = self.others.iter().copied().take(SHOWN).collect();
            let row = |load: &&'v Load<'a>| shown.iter().map(|o| Some((*load, *o))).collect();
            let names = shown.iter().map(|other| other.name(view)).collect();
            (titles, self.loads.iter().map(row).collect(), names)
        };
        let bar = |cell: &ComparedBar<'v, 'a>| {
            let (load, other) = (*cell)?;
            let measured = match other {
                ComparedColumn::Column(column) => load.maximum(column),
                ComparedColumn::Published(_) => None,
            };
            let points = [load.maximum(self.base), measured].into_iter().flatten();
            Some(Bar { value: self.at(load, other)?, points: trace::of_all(view, points) })
        };
        let words = view.words.answer;
        let bars = Bars {
            id: "answer".to_owned(),
            title: words.factor_title.to_owned(),
            x_label: String::new(),
            y_label: words.factor_y.to_owned(),
            unit: "",
            groups,
            names,
            rows: rows.iter().map(|row| row.iter().map(bar).collect()).collect(),
            traced: false,
        };
        bars.picture(view)
    }

    /// Layout by block size and read share for the last column, which differs most from the base.
    fn by_size(&self) -> Layout<'v, 'a> {
        let view = self.view;
        let other = self.others.last().copied().unwrap_or(ComparedColumn::Column(self.base));
        let grid =
            Grid::new(&self.loads, |load| (&*load.first().block_size, load.first().read_share));
        let beside = |load: &Option<&'v Load<'a>>| load.map(|load| (load, other));
        let groups = grid.rows().map(|(_, row)| row.iter().map(beside).collect()).collect();
        (grid.size_titles(), groups, grid.share_titles(view))
    }
}

/// Titles of groups, the bars of each group, and the names of the bars.
type Layout<'v, 'a> = (Vec<String>, Vec<Vec<ComparedBar<'v, 'a>>>, Vec<String>);

/// A bar: a load, and the column that is compared with the base.
type ComparedBar<'v, 'a> = Option<(&'v Load<'a>, ComparedColumn<'v>)>;
