//! The answer to the question of a plan: one sentence, one diagram, one small table. The kind of
//! answer depends on what was measured, not on the name of the plan.

mod cpu_settings;
pub(crate) mod disk_mark;
mod factors;
pub(crate) mod highest_rate;
mod isolation;
mod loads;
mod over_time;
mod requirements;
mod single;

use crate::document::{Block, Picture, Table};
use crate::section::added_drives;
use crate::section::bandwidth::{self, Bandwidth};
use crate::section::pressure;
use crate::section::steps::Steps;
use crate::section::sweep::sentences;
use crate::view::View;
use crate::words::entry;

/// The question of the run's plan; empty for plans that qdepth does not ship.
pub(crate) fn question(view: &View<'_>) -> &'static str {
    entry(view.words.answer.questions, &view.run.plan_name).unwrap_or_default()
}

/// True if a run has several loads on one target, each at one or two queue depths.
pub(crate) fn has_no_curves(view: &View<'_>) -> bool {
    loads::collect(view).is_some()
}

/// The answer as a sentence, or as several if the plan asks for several, with the loads that have
/// none.
pub(crate) fn sentence(view: &View<'_>) -> String {
    if let Some(text) = searched(view) {
        return text;
    }
    let unanswered = sentences::unanswered(view);
    [answered(view)].into_iter().chain(unanswered).collect::<Vec<_>>().join(view.words.gap)
}

/// The answer of a plan that does not ask for the largest values or their ratios.
pub(crate) fn specific(view: &View<'_>) -> Option<String> {
    let latencies = || view.compared.is_none().then(|| single::latencies(view))?;
    searched(view).or_else(|| own_figures(view)).or_else(latencies)
}

/// The answer of a plan that searches for a limit or judges against one.
fn searched(view: &View<'_>) -> Option<String> {
    highest_rate::sentence(view)
        .or_else(|| requirements::sentence(view))
        .or_else(|| added_drives::sentence(view))
}

/// The answer of a plan whose figures have a form of their own.
fn own_figures(view: &View<'_>) -> Option<String> {
    disk_mark::sentence(view)
        .or_else(|| over_time::sentence(view))
        .or_else(|| isolation::sentence(view))
        .or_else(|| cpu_settings::sentence(view))
}

fn answered(view: &View<'_>) -> String {
    let steps = Steps::new(view);
    if view.swept().next().is_none() && steps.are_write_pressure() {
        let responsiveness = pressure::sentences::responsiveness(view, &steps);
        // The figures omit a load that the only target did not sustain, so it is named.
        let beyond = pressure::sentences::not_followed(view, &steps);
        let beyond = Some(beyond).filter(|text| !view.compares() && !text.is_empty());
        let limits = pressure::sentences::limits(view, &steps);
        let all = std::iter::once(responsiveness).chain(beyond).chain(limits);
        return all.collect::<Vec<_>>().join(view.words.gap);
    }
    if let Some(text) = own_figures(view) {
        return text;
    }
    if let Some(bandwidth) = Bandwidth::new(view) {
        let results = bandwidth::sentences::results(view, &bandwidth);
        let none = || view.words.summary.no_result.to_owned();
        return if results.is_empty() { none() } else { results.join(view.words.gap) };
    }
    let of_maxima = match factors::of_comparison(view) {
        Some(factors) => factors.sentence(),
        None => single::latencies(view),
    };
    let of_maxima = of_maxima.unwrap_or_else(|| sentences::maxima(view, has_no_curves(view)));
    let mut all = vec![of_maxima];
    if let Some((text, is_larger_loss)) = factors::collect(view).and_then(|f| f.at_one_depth()) {
        // The largest loss comes first.
        all.insert(usize::from(!is_larger_loss), text);
    }
    all.join(view.words.gap)
}

/// The diagram and the small table of the answer.
pub(crate) fn blocks(view: &View<'_>) -> Vec<Block> {
    if view.loads.is_empty() {
        return Vec::new();
    }
    let (picture, table) = figures(view);
    let picture = picture.filter(|picture| !picture.figure.is_empty());
    let picture = picture.map(|picture| Block::Pictures(vec![picture]));
    let table = table.filter(|table| !table.rows.is_empty()).map(|table| {
        let caption = view.marked(view.words.answer.caption.to_owned());
        Block::Table(Table { caption, ..table })
    });
    picture.into_iter().chain(table).collect()
}

fn figures(view: &View<'_>) -> (Option<Picture>, Option<Table>) {
    if let Some(table) = highest_rate::table(view) {
        return (highest_rate::picture(view), Some(table));
    }
    if let Some(table) = requirements::table(view)
        .or_else(|| added_drives::table(view))
        .or_else(|| isolation::table(view))
    {
        return (None, Some(table));
    }
    let steps = Steps::new(view);
    if view.swept().next().is_none() && steps.are_write_pressure() {
        let mut picture = pressure::means_over_load(view, &steps);
        picture.iter_mut().for_each(|picture| picture.id = "answer".to_owned());
        return (picture, Some(pressure::tables::means(view, &steps)));
    }
    if over_time::sentence(view).is_some() {
        return (Some(over_time::picture(view)), over_time::table(view));
    }
    if let Some(bandwidth) = Bandwidth::new(view) {
        let picture = bandwidth::best_over_threads(view, &bandwidth);
        return (picture, Some(bandwidth::tables::best(view, &bandwidth)));
    }
    // An answer in latencies is also shown in latencies for several targets.
    if factors::of_comparison(view).is_none() && single::is_latency(view) {
        return (Some(single::latency_picture(view)), Some(single::latency_table(view)));
    }
    if let Some(factors) = factors::collect(view) {
        let table = cpu_settings::table(view).unwrap_or_else(|| factors.table());
        return (Some(factors.picture()), Some(table));
    }
    if let Some(loads) = loads::collect(view) {
        let table = disk_mark::table(view).unwrap_or_else(|| loads.table(view));
        return (Some(loads.picture(view)), Some(table));
    }
    if view.swept().next().is_some() {
        return (Some(single::rates_picture(view)), Some(single::table(view)));
    }
    (None, None)
}

#[cfg(test)]
mod tests;
