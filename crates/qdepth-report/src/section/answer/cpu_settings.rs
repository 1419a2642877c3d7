//! Effect of CPU settings at the lowest and the highest queue depth, each under the load on which
//! it is largest.

use std::collections::BTreeSet;

use qdepth_measure::{Estimate, quotient};

use crate::document::{Cell, Table, number_in};
use crate::number::{self, TimeUnit, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::columns;
use crate::trace;
use crate::view::{Load, Point, View};
use crate::words::fill_in;

/// Largest effect at a queue depth.
struct Effect<'v, 'a> {
    depth: u32,
    load: &'v Load<'a>,
    /// Setting with the largest effect.
    setting: u32,
    ratio: Estimate,
}

impl<'v, 'a> Effect<'v, 'a> {
    fn at(&self, setting: u32) -> Option<&'v Point<'a>> {
        self.load.at(setting, self.depth)
    }

    fn mean(&self, setting: u32) -> Option<f64> {
        self.at(setting)?.latency().mean_ns
    }
}

fn ratio(load: &Load<'_>, base: u32, setting: u32, depth: u32) -> Option<Estimate> {
    quotient(load.at(setting, depth)?.main(), load.at(base, depth)?.main())
}

fn contains_one(ratio: &Estimate) -> bool {
    ratio.interval.is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
}

/// Effects at the lowest and the highest queue depth; empty for other comparisons. A ratio whose
/// interval contains 1 is the largest only if all others are alike.
fn effects<'v, 'a>(view: &'v View<'a>) -> Vec<Effect<'v, 'a>> {
    let base = columns::base(view).unwrap_or_default();
    let is_asked = view.compared.is_some_and(|compared| compared.record.of == "cpu-settings");
    let depths = || view.intensities.iter().copied().filter(|_| is_asked);
    let depths: BTreeSet<u32> = depths().min().into_iter().chain(depths().max()).collect();
    let largest = |depth: u32| {
        let all = view.swept().flat_map(|load| view.targets.iter().map(move |s| (load, *s)));
        let all = all.filter(|(_, setting)| *setting != base).filter_map(|(load, setting)| {
            let ratio = ratio(load, base, setting, depth).filter(|ratio| ratio.value > 0.0)?;
            Some(Effect { depth, load, setting, ratio })
        });
        let size = |ratio: &Estimate| match contains_one(ratio) {
            true => 0.0,
            false => ratio.value.ln().abs(),
        };
        all.max_by(|a, b| size(&a.ratio).total_cmp(&size(&b.ratio)))
    };
    depths.into_iter().filter_map(largest).collect()
}

/// The setting with the largest effect at each of these queue depths; `None` for other comparisons.
pub(super) fn sentence(view: &View<'_>) -> Option<String> {
    let words = view.words.answer;
    let base = columns::base(view)?;
    let of_depth = |effect: &Effect<'_, '_>| {
        let mut values = vec![
            ("queue_depth", effect.depth.to_string()),
            ("setting", view.target_name(effect.setting)),
            ("ratio", number::in_prose(&effect.ratio)),
            ("base", view.target_name(base)),
            ("load", effect.load.title.clone()),
        ];
        if contains_one(&effect.ratio) {
            return fill_in(words.cpu_same, &values);
        }
        let means = [("mean", effect.mean(effect.setting)), ("former", effect.mean(base))];
        values
            .extend(means.into_iter().filter_map(|(name, ns)| Some((name, number::duration(ns?)))));
        fill_in(words.cpu_effect, &values)
    };
    let all: Vec<String> = effects(view).iter().map(of_depth).collect();
    (!all.is_empty()).then(|| all.join(view.words.gap))
}

/// Table with one row per setting: mean latency, rate and ratio at these queue depths.
pub(super) fn table(view: &View<'_>) -> Option<Table> {
    let (words, base, effects) = (view.words.answer, columns::base(view)?, effects(view));
    let all = effects.iter().flat_map(|e| view.targets.iter().map(move |t| e.mean(*t)));
    let unit = TimeUnit::suiting(all.flatten());
    let heading = |template: &str, effect: &Effect<'_, '_>| {
        fill_in(template, &[("queue_depth", effect.depth.to_string())])
    };
    let mut rows = Rows::from_items(view.targets.iter().copied())
        .text(view.words.comparison.variant, |target| Cell::head(view.target_name(*target)));
    for effect in &effects {
        rows = rows
            .number(&heading(words.cpu_rate, effect), effect.load.unit(), |target| {
                Cell::or_dash(effect.at(*target).map(|point| rounded(point.main()).value))
            })
            .number(&heading(words.cpu_ratio, effect), "", |target| {
                let ratio = ratio(effect.load, base, *target, effect.depth);
                let ratio = ratio.filter(|_| *target != base);
                Cell::or_dash(ratio.map(|ratio| rounded(&ratio).joined()))
            })
            .column(number_in(&heading(words.latency_title, effect), unit.symbol()), |target| {
                Cell::time(unit, effect.mean(*target))
            });
    }
    let load = |effect: &Effect<'_, '_>| {
        let load = effect.load.title.clone();
        fill_in(words.cpu_load, &[("queue_depth", effect.depth.to_string()), ("load", load)])
    };
    let note: Vec<String> = effects.iter().map(load).collect();
    let points = |target: &u32| trace::of_all(view, effects.iter().filter_map(|e| e.at(*target)));
    let table = rows.traced(view, points).marked(view).table("");
    (!effects.is_empty()).then(|| table.with_note(note.join(view.words.gap)))
}
