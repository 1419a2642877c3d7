//! Answer for a reader that ran alone and next to other loads: the rise of its latency.

use qdepth_measure::Statistic;

use crate::document::{Cell, Table};
use crate::number::{duration, percent, thousands};
use crate::rows::{Rows, RunColumns as _};
use crate::section::steps::{Step, Steps, latency_of, mean_interval};
use crate::section::sweep::tables::{load_unit, rate};
use crate::view::{Load, Point, View, percentile_ns};
use crate::words::fill_in;

const TAIL: f64 = 0.99;

/// The reader in one step, and alone.
struct Case<'s, 'v, 'a> {
    step: &'s Step<'v, 'a>,
    load: &'v Load<'a>,
    victim: &'v Point<'a>,
    alone: &'v Point<'a>,
}

/// All steps of a run whose first step is a reader alone, and whose others add loads to it.
fn cases<'s, 'v, 'a>(view: &View<'_>, steps: &'s Steps<'v, 'a>) -> Option<Vec<Case<'s, 'v, 'a>>> {
    if view.swept().next().is_some() || steps.are_write_pressure() {
        return None;
    }
    let mut all = Vec::new();
    for target in steps.targets() {
        let first = steps.on(target).next()?;
        let [(load, alone)] = first.loads[..] else { return None };
        let reads = alone.record.read_share >= 1.0;
        let key = |point: &Point<'_>| (point.record.profile.clone(), point.record.queue_depth);
        for step in steps.on(target) {
            let (_, victim) = *step.loads.iter().find(|(_, point)| key(point) == key(alone))?;
            let is_first = std::ptr::eq(step, first);
            if !reads || is_first != (step.loads.len() == 1) {
                return None;
            }
            all.push(Case { step, load, victim, alone });
        }
    }
    all.iter().any(|case| !case.is_alone()).then_some(all)
}

impl Case<'_, '_, '_> {
    fn is_alone(&self) -> bool {
        std::ptr::eq(self.victim, self.alone)
    }

    /// Rise of the mean latency as a share of that alone; `None` for invalid points.
    fn rise(&self) -> Option<f64> {
        let valid = !self.is_alone() && self.victim.is_valid() && self.alone.is_valid();
        let mean = |point: &Point<'_>| latency_of(point.record).mean();
        valid.then(|| Some(mean(self.victim)? / mean(self.alone)? - 1.0))?
    }

    /// 95 % interval of the rise.
    fn interval(&self) -> Option<(f64, f64)> {
        self.rise()?;
        let (own, alone) = (mean_interval(self.victim)?, mean_interval(self.alone)?);
        Some((own.0 / alone.1 - 1.0, own.1 / alone.0 - 1.0))
    }

    fn sentence(&self, view: &View<'_>) -> Option<String> {
        let rise = self.rise()?;
        let means = [self.victim, self.alone].map(|point| latency_of(point.record).mean());
        let tails = [self.victim, self.alone].map(|point| percentile_ns(point.latency(), TAIL));
        let mut values = vec![
            ("step", view.step(self.step.title)),
            ("target", view.target_name(self.step.target)),
            ("victim", self.load.title.clone()),
            ("within", rounded_up(self.interval().map_or(rise, |(_, high)| high))),
            ("mean", duration(means[0]?)),
            ("alone", duration(means[1]?)),
        ];
        match self.interval() {
            Some((low, high)) => values.extend([("low", signed(low)), ("high", signed(high))]),
            None => values.push(("reason", view.words.pressure.no_interval.to_owned())),
        }
        if let [Some(own), Some(alone)] = tails {
            values.extend([("p99", duration(own)), ("p99_alone", duration(alone))]);
        }
        Some(fill_in(view.words.isolation.sentence, &values))
    }
}

/// Percentage of an upper limit; 0 % if nothing rose.
fn rounded_up(share: f64) -> String {
    let steps = if share < 0.1 { 1000.0 } else { 100.0 };
    percent((share.max(0.0) * steps - 1e-6).ceil() / steps)
}

fn signed(share: f64) -> String {
    format!("{} %", thousands(share * 100.0, if share.abs() < 0.1 { 1 } else { 0 }))
}

/// One sentence per step and target; `None` for other runs.
pub(super) fn sentence(view: &View<'_>) -> Option<String> {
    let steps = Steps::new(view);
    let all = cases(view, &steps)?;
    let texts: Vec<String> = all.iter().filter_map(|case| case.sentence(view)).collect();
    let none = || view.words.summary.no_result.to_owned();
    Some(if texts.is_empty() { none() } else { texts.join(view.words.gap) })
}

/// Rate and latency of the reader in each step.
pub(super) fn table(view: &View<'_>) -> Option<Table> {
    let (words, own) = (view.words.columns, view.words.isolation);
    let steps = Steps::new(view);
    let all = cases(view, &steps)?;
    let unit = load_unit(all.iter().map(|case| case.victim));
    let tail = Statistic::Quantile(TAIL).to_string();
    let table = Rows::from_items(all)
        .text(view.words.pressure.columns.step, |case| Cell::head(view.step(case.step.title)))
        .targets(view, |case| case.step.target)
        .figures(
            |case| case.victim.is_valid(),
            |rows| {
                rows.number(words.rate, "IOPS", |case| rate(case.victim))
                    .time(words.mean, unit, |case| latency_of(case.victim.record).mean())
                    .time(&tail, unit, |case| percentile_ns(case.victim.latency(), TAIL))
            },
        )
        .number(own.rise, "", |case| case.rise().map(signed))
        .number(own.interval, "", |case| {
            case.interval().map(|(low, high)| format!("{}–{}", signed(low), signed(high)))
        })
        .marked(view)
        .table("")
        .with_note(own.note);
    Some(table)
}
