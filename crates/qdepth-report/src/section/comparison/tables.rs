//! The tables of a comparison.

use qdepth_measure::{Estimate, fairness, quotient, shade, skew};
use qdepth_record::{Cell as Parts, PointSummary};

use crate::compared::Compared;
use crate::document::{Cell, Mark, Table, number_in};
use crate::grouped::grouped;
use crate::number::{self, TimeUnit, rounded};
use crate::published::{PublishedDrive, PublishedQuantity};
use crate::rows::{Rows, RunColumns as _};
use crate::section::columns::divided;
use crate::section::letters::{Letters, quotient_heading};
use crate::section::published::{published_name, published_note};
use crate::trace;
use crate::view::{Load, Point, View};
use crate::words::{fill_in, with_subject};

/// Largest number of parts of a column that are shown separately.
const PARTS_SHOWN: u32 = 8;

/// Every load at every queue depth: the columns, and the ratio of each to the base.
pub(crate) fn factors(view: &View<'_>, compared: &Compared<'_>) -> Table {
    let (words, own) = (view.words.columns, view.words.comparison);
    let letters = Letters::new(view);
    let base = compared.record.base;
    let others: Vec<u32> = view.targets.iter().copied().filter(|t| *t != base).collect();
    let cells = view.swept().flat_map(|load| view.intensities.iter().map(move |at| (load, *at)));
    let both = |load: &Load<'_>, other: u32, at: u32| {
        let main = |target: u32| load.at(target, at).map(|point| *point.main());
        main(other).zip(main(base))
    };
    let mut rows = Rows::from_items(cells)
        .groups(|(_, at)| view.intensities.first() == Some(at))
        .text(words.profile, |(load, _)| Cell::head(&*load.title))
        .number(own.x[compared.kind()], "", |(_, at)| number::count((*at).into()))
        .text(words.unit, |(load, _)| load.unit())
        .each(
            &view.targets,
            |target| number_in(&letters.head(&view.target_name(**target)), ""),
            |(load, at), target| {
                let point = load.measured_at(**target, *at);
                let value = Cell::or_dash(point.map(|point| rounded(point.main()).value));
                value.struck_if(point.is_some_and(|point| !point.is_valid()))
            },
        );
    let mut sum = false;
    for other in others {
        let name = view.target_name(other);
        let heading = number_in(&quotient_heading(view, &letters, &name), "");
        rows = rows.column(heading, |(load, at)| {
            let factor =
                both(load, other, *at).and_then(|(value, base)| divided(view, &value, &base));
            Cell::or_dash(factor.map(|factor| rounded(&factor).joined()))
        });
        let Some(drives) = compared.drives(other) else { continue };
        sum = true;
        let values = [("name", name), ("n", drives.to_string())];
        rows = rows.number(&fill_in(own.of_sum, &values), "%", |(load, at)| {
            let factor = both(load, other, *at).and_then(|(value, base)| quotient(&value, &base));
            let share = factor.map(|factor| factor.value / f64::from(drives) * 100.0);
            Cell::or_dash(share.map(|share| number::thousands(share, 1)))
        });
    }
    let note = match sum {
        true => format!("{} {}", own.factors_note, own.sum_note),
        false if view.targets.len() > 1 => own.factors_note.to_owned(),
        false => String::new(),
    };
    let points = |(load, at): &(&Load<'_>, u32)| {
        trace::of_all(view, view.targets.iter().filter_map(|target| load.measured_at(*target, *at)))
    };
    rows.traced(view, points).marked(view).table(own.factors_caption).with_note(note)
}

/// Table with one row per load and the queue depths of each column side by side, shaded by the
/// increase over the base.
pub(crate) fn shades(view: &View<'_>, compared: &Compared<'_>) -> Table {
    let (words, own) = (view.words.columns, view.words.comparison);
    let base = compared.record.base;
    let name = [("base", view.target_name(base))];
    // Rows by load and target, so that the table fits a narrow screen.
    let curves = view.swept().flat_map(|load| view.targets.iter().map(move |t| (load, *t)));
    Rows::from_items(curves)
        .groups(|(_, target)| view.targets.first() == Some(target))
        .text(words.profile, |(load, _)| Cell::head(&*load.title))
        .text(own.variant, |(_, target)| view.target_name(*target))
        .text(words.unit, |(load, _)| load.unit())
        .each(
            &view.intensities,
            |at| number_in(&fill_in(own.at, &[("n", at.to_string())]), ""),
            |(load, target), at| {
                let [value, base] = [*target, base].map(|t| load.at(t, **at).map(Point::main));
                shaded(view, value, base)
            },
        )
        .noted(|cell| matches!(cell.mark, Mark::Shade(_)), &fill_in(own.shades_note, &name))
        .marked(view)
        .table(fill_in(own.shades_caption, &name))
}

/// Arrangement of a target: a level of RAID, or a single drive.
fn arrangement(view: &View<'_>, compared: &Compared<'_>, target: u32) -> String {
    let storage = compared.variant(target).and_then(|variant| view.run.target(variant.target));
    let level = storage.and_then(|storage| {
        let mut levels = storage.facts.iter().filter(|fact| fact.key == "level");
        let level = levels.find_map(|fact| fact.value.as_deref().ok());
        level.or_else(|| Some(storage.expression.split_once('(')?.0))?.strip_prefix("raid")
    });
    level.map_or_else(|| view.words.comparison.single.to_owned(), |level| format!("RAID {level}"))
}

/// The values as a shaded matrix if each of several arrangements has the same options, in the same
/// order: loads by arrangement, and each option at each queue depth. Increases are within an
/// arrangement.
pub(crate) fn matrix(view: &View<'_>, compared: &Compared<'_>) -> Option<Table> {
    let (words, own) = (view.words.columns, view.words.comparison);
    let of_target = |target: &u32| (arrangement(view, compared, *target), *target);
    let all: Vec<(String, Vec<u32>)> = grouped(view.targets.iter().map(of_target));
    let options = &all.first()?.1;
    if all.len() < 2 || options.len() < 2 || all.iter().any(|(_, t)| t.len() != options.len()) {
        return None;
    }
    let names: Vec<String> = options.iter().map(|target| view.target_name(*target)).collect();
    let letter = |option: usize| char::from(b'A' + (option % 26) as u8).to_string();
    let key = names.iter().enumerate();
    let key = key.map(|(option, name)| with_subject(view.lang, &letter(option), name));
    let values = [
        ("key", key.collect::<Vec<_>>().join(view.words.clause)),
        ("base", names.first()?.clone()),
    ];
    let places =
        (0..options.len()).flat_map(|option| view.intensities.iter().map(move |at| (option, *at)));
    let rows = all.iter().flat_map(|group| view.swept().map(move |load| (group, load)));
    let mut former = "";
    let table = Rows::from_items(rows)
        .groups(|((name, _), _)| std::mem::replace(&mut former, name) != name)
        .text(own.arrangement, |((name, _), _)| Cell::head(&**name))
        .text(words.profile, |(_, load)| Cell::plain(&*load.title))
        .text(words.unit, |(_, load)| load.unit())
        .each(
            places,
            |(option, at)| number_in(&format!("{} {at}", letter(*option)), ""),
            |((_, targets), load), (option, at)| {
                let value = |option: usize| load.at(targets[option], *at).map(Point::main);
                shaded(view, value(*option), value(0))
            },
        )
        .noted(|cell| matches!(cell.mark, Mark::Shade(_)), &fill_in(own.shades_note, &values))
        .marked(view)
        .table(fill_in(own.shades_caption, &values));
    Some(table.with_note(fill_in(own.matrix_note, &values)))
}

fn shaded(view: &View<'_>, value: Option<&Estimate>, base: Option<&Estimate>) -> Cell {
    let Some(value) = value else { return Cell::or_dash(None) };
    let text = rounded(value).value;
    let increase = base.filter(|base| base.value > 0.0).map(|base| value.value / base.value - 1.0);
    let class = increase.map_or(0, shade);
    if class == 0 {
        return Cell::plain(text);
    }
    let sign = view.words.comparison.classes[usize::from(class) - 1];
    Cell { text: format!("{text}\u{a0}{sign}"), mark: Mark::Shade(class) }
}

/// Latencies at queue depth 1, of loads that were measured only for them.
pub(crate) fn latencies(view: &View<'_>, compared: &Compared<'_>) -> Option<Table> {
    let own = view.words.comparison;
    let published = |drive: &PublishedDrive, load: &Load<'_>| {
        Some(drive.at(&load.first().profile, 1, PublishedQuantity::Latency)? * 1e6)
    };
    let measured = |target: u32, load: &Load<'_>| load.at(target, 1)?.latency().mean_ns;
    let loads = || view.loads.iter().filter(|load| load.alone);
    let times = loads().flat_map(|load| {
        let printed = compared.published.iter().map(move |drive| published(drive, load));
        view.targets.iter().map(move |target| measured(*target, load)).chain(printed)
    });
    let unit = TimeUnit::suiting(times.flatten());
    let table = Rows::from_items(loads())
        .text(view.words.columns.profile, |load| Cell::head(&*load.title))
        .each(
            &view.targets,
            |target| number_in(&view.target_name(**target), unit.symbol()),
            |load, target| Cell::time(unit, measured(**target, load)),
        )
        .each(
            &compared.published,
            |drive| number_in(&published_name(view, &drive.title), unit.symbol()),
            |load, drive| Cell::time(unit, published(drive, load)),
        );
    let note = [own.latency_note.to_owned(), published_note(view, compared)].join(view.words.gap);
    let table = table.marked(view).table(own.latency_caption).with_note(note);
    (!table.rows.is_empty()).then_some(table)
}

/// A table for each column of several points, with the shares of its parts.
pub(crate) fn parts(view: &View<'_>, compared: &Compared<'_>) -> Vec<Table> {
    let several = |target: &&u32| compared.variant(**target).is_some_and(|v| v.parts > 1);
    view.targets.iter().filter(several).map(|target| parts_of(view, compared, *target)).collect()
}

fn parts_of(view: &View<'_>, compared: &Compared<'_>, target: u32) -> Table {
    let (words, own) = (view.words.columns, view.words.comparison);
    let count = compared.variant(target).map_or(0, |variant| variant.parts);
    let shown = if count <= PARTS_SHOWN { count } else { 0 };
    let cells: Vec<Column<'_, '_>> = view
        .swept()
        .flat_map(|load| load.on(target).map(move |point| (load, point)))
        .filter_map(|(load, point)| {
            let cell = compared.cell(point.record)?;
            Some(Column { load, point, cell, values: values(point, cell) })
        })
        .collect();
    let ends = cells.iter().any(|each| each.cell.done_ns().0 < each.cell.done_ns().1);
    let ending = |heading, unit| ends.then(|| number_in(heading, unit).ranked(5));
    let of_process = usize::from(compared.record.of == "processes");
    let part = |n: &u32| number_in(&fill_in(own.part[of_process], &[("n", n.to_string())]), "");
    let written = |value: Option<f64>| Cell::or_dash(value.map(number::three_digits));
    let decimals = |value: Option<f64>, n| Cell::or_dash(value.map(|v| number::thousands(v, n)));
    let seconds = |ns: u64| decimals(Some(ns as f64 / 1e9), 2);
    let mut former = None;
    Rows::from_items(cells)
        .groups(|each| former.replace(each.load.id.clone()).as_ref() != Some(&each.load.id))
        .text(words.profile, |each| Cell::head(&*each.load.title))
        .number(own.x[compared.kind()], "", |each| {
            number::count(each.point.record.queue_depth.into())
        })
        .text(words.unit, |each| each.load.unit())
        .figures(
            |each| each.point.is_valid(),
            |rows| {
                rows.number(own.slowest, "", |each| {
                    written(Some(each.values.iter().copied().fold(f64::INFINITY, f64::min)))
                })
                .number(own.fastest, "", |each| {
                    written(Some(each.values.iter().copied().fold(0.0, f64::max)))
                })
                .number(own.skew, "%", |each| {
                    decimals(skew(&each.values).map(|skew| skew * 100.0), 1)
                })
                .number(own.fairness, "", |each| decimals(fairness(&each.values), 4))
                .column(ending(own.first_done, "s"), |each| seconds(each.cell.done_ns().0))
                .column(ending(own.last_done, "s"), |each| seconds(each.cell.done_ns().1))
                .column(ending(own.until_first_done, "IOPS"), |each| {
                    written(each.cell.io_per_s_until_first_done())
                })
                .each(
                    1..=shown,
                    |n| part(n).ranked(6),
                    |each, n| written(each.values.get(*n as usize - 1).copied()),
                )
            },
        )
        .traced(view, |each| trace::point_indices(view, each.point))
        .marked(view)
        .table(fill_in(own.parts_caption, &[("name", view.target_name(target))]))
        .with_note(own.parts_note)
}

/// Cell of a column of several points, with the main figures of its parts.
struct Column<'v, 'a> {
    load: &'v Load<'a>,
    point: &'v Point<'a>,
    cell: &'v Parts<'a>,
    values: Vec<f64>,
}

fn values(point: &Point<'_>, cell: &Parts<'_>) -> Vec<f64> {
    let summaries = cell.parts.iter().map(|part| PointSummary::from_point(part));
    let throughput = point.record.reported_as_throughput;
    summaries.map(|s| if throughput { s.mib_per_s } else { s.io_per_s.value }).collect()
}
