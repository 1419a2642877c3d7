//! Recommendation: target, queue depth, and exceptions.

use std::collections::BTreeSet;

use qdepth_measure::saturation;

use super::why::{Cause, cause};
use super::{Curve, Lead, by_lead, curves, knee, name, target_names};
use crate::document::{Block, Cell, Table};
use crate::number::{self, TimeUnit, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::bandwidth::Bandwidth;
use crate::section::naming::list;
use crate::section::pressure::sentences::reached;
use crate::section::promised;
use crate::section::steps::Steps;
use crate::section::sum_box::paragraphs;
use crate::section::sweep::statements::{self, NOTEWORTHY, Tail, crossing, line_statements};
use crate::view::{Load, View};
use crate::words::{counted, fill_in};

/// Largest number of rows in the table of queue depths.
const ROWS: usize = 20;
/// Largest number of warnings of one kind.
const WARNINGS: usize = 3;

/// Blocks of the section: the text of the publisher file, else the recommendation that the figures
/// support.
pub(crate) fn recommendation(view: &View<'_>) -> Vec<Block> {
    let own = paragraphs(view.paper.recommendation.in_lang(view.lang));
    if !own.is_empty() {
        return own.into_iter().map(Block::Paragraph).collect();
    }
    let first = choices(view).into_iter().chain(of_steps(view)).chain(threads(view));
    let mut blocks: Vec<Block> = first.map(Block::Paragraph).collect();
    blocks.extend(depths(view).map(Block::Table));
    if !blocks.is_empty() {
        blocks.extend(super::paragraph(view, &when_not(view)));
    }
    blocks
}

fn titles(view: &View<'_>, loads: &[&Load<'_>]) -> (&'static str, String) {
    ("items", list(view, loads.iter().map(|load| load.title.clone()).collect()))
}

/// States which target suits which loads.
fn choices(view: &View<'_>) -> Vec<String> {
    let words = view.words.explain;
    let mut said = BTreeSet::new();
    let choice = |(best, least, loads): Lead<'_, '_>| {
        let values = [
            ("best", target_names(view, &best)),
            ("least", number::at_least(least)),
            titles(view, &loads),
        ];
        let text = fill_in(if best.is_empty() { words.open } else { words.choose }, &values);
        // Each caveat once: a target may lead in several ways.
        let mut all = caveats(view, &best);
        all.retain(|caveat| said.insert(caveat.clone()));
        all.insert(0, text);
        all.join(view.words.gap)
    };
    by_lead(view).into_iter().map(choice).collect()
}

/// Reasons against a choice that its rate does not show: less capacity than another target, and no
/// redundancy.
fn caveats(view: &View<'_>, best: &[u32]) -> Vec<String> {
    let words = view.words.explain;
    let storage = |target: &u32| match view.compared {
        Some(compared) => view.run.target(compared.variant(*target)?.target),
        None => view.run.target(*target),
    };
    let is_striped = |target: &u32| storage(target).is_some_and(promised::is_striped);
    let sized = |target: &u32| Some((promised::capacity(storage(target)?)?, *target));
    let others = || view.targets.iter().filter(|target| !best.contains(target));
    let smallest = best.iter().filter_map(sized).min_by(|a, b| a.0.total_cmp(&b.0));
    let largest = others().filter_map(sized).max_by(|a, b| a.0.total_cmp(&b.0));
    let smaller = smallest.zip(largest).filter(|(own, other)| own.0 < (1.0 - NOTEWORTHY) * other.0);
    let smaller = smaller.map(|((own, best), (most, other))| {
        let values = [
            ("best", view.target_name(best)),
            ("own", number::decimal_bytes(own)),
            ("other", view.target_name(other)),
            ("most", number::decimal_bytes(most)),
        ];
        fill_in(words.smaller, &values)
    });
    let striped =
        best.iter().find(|target| is_striped(target)).filter(|_| !others().all(is_striped));
    let striped = striped.map(|t| fill_in(words.striped, &[("best", view.target_name(*t))]));
    smaller.into_iter().chain(striped).collect()
}

/// Table of the knee of each curve that has one.
fn depths(view: &View<'_>) -> Option<Table> {
    let words = view.words.explain;
    let known = curves(view).into_iter().filter_map(|Curve { load, target }| {
        let line = statements::line(load, target);
        let enough = knee(&line)?;
        let top = line_statements(&line)?.reached.queue_depth.max(enough.queue_depth);
        let (point, top) = load.at(target, enough.queue_depth).zip(load.at(target, top))?;
        let means = [point.latency().mean_ns?, top.latency().mean_ns?];
        Some((load, point, enough, means))
    });
    let mut known: Vec<_> = known.collect();
    let unit = TimeUnit::suiting(known.iter().flat_map(|(.., means)| *means));
    let more = known.len().saturating_sub(ROWS);
    known.truncate(ROWS);
    let more = (more > 0).then(|| counted(words.more_rows, more));
    let note = std::iter::once(words.depth_note.to_owned()).chain(more).collect::<Vec<_>>();
    let table = Rows::from_items(known)
        .text(view.words.columns.profile, |(load, ..)| Cell::head(&*load.title))
        .targets(view, |(_, point, ..)| point.record.target)
        .number(words.depth, "", |(_, _, enough, _)| number::count(enough.queue_depth.into()))
        .number(words.share, "", |(_, _, enough, _)| number::percent(enough.share))
        .number(view.words.columns.value, "", |(_, point, ..)| rounded(point.main()).value)
        .text(view.words.columns.unit, |(load, ..)| load.unit())
        .time(words.latency, unit, |(.., [mean, _])| Some(*mean))
        .time(words.top_latency, unit, |(.., [_, mean])| Some(*mean))
        .table(view.marked(words.depth_caption.to_owned()))
        .with_note(note.join(view.words.gap));
    (!table.rows.is_empty()).then_some(table)
}

/// Recommended write load next to a reader.
pub(crate) fn of_steps(view: &View<'_>) -> Vec<String> {
    let (words, steps) = (view.words.explain, Steps::new(view));
    if !steps.are_write_pressure() {
        return Vec::new();
    }
    let sentence = |target: u32| {
        let mut values = vec![("target", view.target_name(target))];
        let Some([below, above]) = steps.knee(target) else {
            return fill_in(words.no_knee, &values);
        };
        values.extend([("below", reached(view, below)), ("above", reached(view, above))]);
        let at_once =
            steps.on(target).next().is_some_and(|first| first.step_index == below.step_index);
        fill_in(if at_once { words.knee_at_once } else { words.beside_reader }, &values)
    };
    steps.targets().into_iter().map(sentence).collect()
}

/// States the number of threads that is certainly sufficient.
pub(crate) fn threads(view: &View<'_>) -> Vec<String> {
    let Some(bandwidth) = Bandwidth::new(view) else { return Vec::new() };
    let words = view.words.bandwidth;
    let sentence = |direction: usize| {
        let (transfer, ..) = bandwidth.best(direction)?;
        let (_, high) = saturation(&bandwidth.rates(direction, transfer))?.interval?;
        let values = [
            ("direction", words.directions[direction].to_owned()),
            ("threads", counted(words.counted, high? as usize)),
            ("transfer", bandwidth.transfers[transfer].clone()),
        ];
        Some(fill_in(view.words.explain.threads, &values))
    };
    (0..2).filter_map(sentence).collect()
}

/// States when the recommendation does not hold.
fn when_not(view: &View<'_>) -> Vec<String> {
    let words = view.words.explain;
    let mut sentences: Vec<String> = falling(view).into_iter().take(WARNINGS).collect();
    sentences.extend(overtaken(view));
    let ends: Vec<String> = curves(view)
        .into_iter()
        .filter(|curve| cause(view, curve.load, curve.target) == Some(Cause::Latency))
        .map(|curve| name(view, curve))
        .collect();
    if !ends.is_empty() {
        sentences
            .push(fill_in(words.more, &[("items", crate::section::naming::names(view, ends))]));
    }
    let invalid = view.points().filter(|(_, point)| !point.is_valid()).count();
    sentences.extend((invalid > 0).then(|| counted(words.invalid, invalid)));
    sentences.extend(view.run.emulated.then(|| words.of_a_model.to_owned()));
    sentences
}

/// Curves that certainly drop below their largest value.
fn falling(view: &View<'_>) -> Vec<String> {
    let sentence = |curve: Curve<'_, '_>| {
        let line = line_statements(&statements::line(curve.load, curve.target))?;
        let values = [
            view.per(),
            ("largest_at", line.largest.queue_depth.to_string()),
            ("load", name(view, curve)),
            ("last_at", line.last.queue_depth.to_string()),
            ("last", format!("{} {}", number::three_digits(line.last.value), curve.load.unit())),
        ];
        (line.tail == Tail::Drops).then(|| fill_in(view.words.explain.beyond, &values))
    };
    curves(view).into_iter().filter_map(sentence).collect()
}

/// States the largest lead of another target over a recommended one under each load.
fn overtaken(view: &View<'_>) -> Vec<String> {
    let mut all: Vec<(f64, String)> = Vec::new();
    // Without a recommended target there is nothing to except.
    for (ahead, _, loads) in by_lead(view).into_iter().filter(|(ahead, ..)| !ahead.is_empty()) {
        for load in loads {
            let lines: Vec<_> = view.targets.iter().map(|t| statements::line(load, *t)).collect();
            let pairs = (0..lines.len()).flat_map(|a| (0..lines.len()).map(move |b| (a, b)));
            let crossings = pairs.filter(|(best, _)| ahead.contains(&view.targets[*best]));
            let crossings = crossings.filter_map(|(best, other)| {
                let (below, above) = crossing(&lines, best, other)?;
                Some((above.value / below.value, best, other, above.queue_depth))
            });
            let Some((times, best, other, at)) = crossings.max_by(|a, b| a.0.total_cmp(&b.0))
            else {
                continue;
            };
            let values = [
                view.per(),
                ("best", view.target_name(view.targets[best])),
                ("load", load.title.clone()),
                ("at", at.to_string()),
                ("worst", view.target_name(view.targets[other])),
                ("times", number::three_digits(times)),
            ];
            all.push((times, fill_in(view.words.explain.overtaken, &values)));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = all.len().saturating_sub(WARNINGS);
    let named = all.into_iter().take(WARNINGS).map(|(_, sentence)| sentence);
    named.chain((more > 0).then(|| counted(view.words.explain.more_overtaken, more))).collect()
}
