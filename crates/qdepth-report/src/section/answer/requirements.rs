//! Answer for an application's requirements: if the storage meets them.

use qdepth_measure::{Limit, Met, Requirement, Statistic};
use qdepth_record::{RequiredEntry, all_met, required};

use crate::document::{Cell, Table};
use crate::number;
use crate::rows::Rows;
use crate::section::naming;
use crate::view::{Point, View};
use crate::words::fill_in;

/// An entry with its point, if one was measured.
type Answered<'v, 'a> = (RequiredEntry, Option<&'v Point<'a>>);

fn answered<'v, 'a>(view: &'v View<'a>) -> Vec<Answered<'v, 'a>> {
    let with_point = |entry: RequiredEntry| {
        let mut points = view.points().map(|(_, point)| point);
        let point = points.find(|each| Some(each.record.index) == entry.point);
        (entry, point)
    };
    required(view.run, view.records).into_iter().map(with_point).collect()
}

/// The combined answer, and a clause for each requirement; `None` for a plan without requirements.
pub(super) fn sentence(view: &View<'_>) -> Option<String> {
    let words = view.words.required;
    let all = answered(view);
    let met = all_met(all.iter().map(|(entry, _)| entry))?;
    let is_open = all.iter().any(|(entry, _)| entry.met == Met::Inconclusive);
    let clauses = all.into_iter().map(|(entry, point)| {
        let values = [
            ("load", load(view, &entry, point)),
            ("figure", figure(view, &entry.requirement)),
            ("value", value(&entry).unwrap_or_else(|| words.no_value.to_owned())),
            ("interval", interval(&entry).unwrap_or_default()),
            ("limit", limit(view, &entry.requirement)),
            ("verdict", verdict(view, entry.met).to_owned()),
        ];
        let values = values.into_iter().filter(|(_, text)| !text.is_empty());
        fill_in(words.clause, &values.collect::<Vec<_>>())
    });
    let clauses = clauses.collect::<Vec<_>>().join(view.words.clause);
    let text = fill_in(
        words.sentence,
        &[("verdict", verdict(view, met).to_owned()), ("clauses", clauses)],
    );
    Some(if view.run.emulated && is_open {
        [text.as_str(), words.emulated].join(view.words.gap)
    } else {
        text
    })
}

/// Table with one row per requirement: limit, value, answer and source.
pub(super) fn table(view: &View<'_>) -> Option<Table> {
    let words = view.words.required;
    let table = Rows::from_items(answered(view))
        .text(words.load, |(entry, point)| Cell::head(load(view, entry, *point)))
        .text(words.figure, |(entry, _)| figure(view, &entry.requirement))
        .text(words.limit, |(entry, _)| limit(view, &entry.requirement))
        .number(words.value, "", |(entry, _)| value(entry))
        .number(words.interval, "", |(entry, _)| interval(entry))
        .text(words.verdict, |(entry, _)| verdict(view, entry.met))
        .text(words.source, |(entry, _)| {
            entry.requirement.source.clone().unwrap_or_else(|| words.ours.to_owned())
        })
        .table("")
        .with_note(words.note);
    (!table.rows.is_empty()).then_some(table)
}

fn verdict(view: &View<'_>, met: Met) -> &'static str {
    view.words.required.verdicts[met as usize]
}

/// Title of the load, with its target if there are several.
fn load(view: &View<'_>, entry: &RequiredEntry, point: Option<&Point<'_>>) -> String {
    let profile = &entry.requirement.profile;
    let own = view.loads.iter().find(|load| load.first().profile == *profile);
    let title = own.map_or_else(|| profile.clone(), |load| load.title.clone());
    match point.filter(|_| view.targets.len() > 1) {
        Some(point) => naming::names(view, vec![title, view.target_name(point.record.target)]),
        None => title,
    }
}

/// The limited figure, for example `p99 of the sync`.
fn figure(view: &View<'_>, requirement: &Requirement) -> String {
    let words = view.words.required;
    let Some(Limit { statistic, .. }) = requirement.at_most else { return words.rate.to_owned() };
    let statistic = match statistic {
        Statistic::Mean => words.mean.to_owned(),
        Statistic::Quantile(_) => statistic.to_string(),
    };
    fill_in(words.parts[requirement.part as usize], &[("statistic", statistic)])
}

fn limit(view: &View<'_>, requirement: &Requirement) -> String {
    let words = view.words.required;
    match (requirement.at_most, requirement.at_least) {
        (Some(limit), _) => {
            fill_in(words.at_most, &[("limit", shown(requirement, limit.at_most.0 as f64))])
        }
        (None, least) => {
            fill_in(words.at_least, &[("limit", shown(requirement, least.unwrap_or_default()))])
        }
    }
}

fn shown(requirement: &Requirement, value: f64) -> String {
    match requirement.at_most {
        Some(_) => number::duration(value),
        None => format!("{} IOPS", number::three_digits(value)),
    }
}

fn value(entry: &RequiredEntry) -> Option<String> {
    entry.value.map(|value| shown(&entry.requirement, value))
}

fn interval(entry: &RequiredEntry) -> Option<String> {
    let [low, high] = entry.confidence_interval?.map(|end| shown(&entry.requirement, end));
    (low != high).then(|| format!("{low}–{high}"))
}
