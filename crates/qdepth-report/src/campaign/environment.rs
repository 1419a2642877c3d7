//! The machines of several runs: facts that all runs share, once; and facts that differ, with the
//! runs of each value.

use std::collections::BTreeSet;

use qdepth_record::Observation;

use super::runs::Campaign;
use crate::compose::attached_tables;
use crate::document::{Block, Cell, Table, text};
use crate::grouped::{grouped, unique};
use crate::rows::Rows;
use crate::section::machine;
use crate::section::observed::{self, observed_cell, observed_name};
use crate::view::View;
use crate::words::fact_subject;

/// A fact, with its values and the runs that observed each.
struct Fact<'a> {
    subject: &'a str,
    seen: Vec<(&'a Observation, Vec<usize>)>,
}

pub(super) fn machines(campaign: &Campaign<'_, '_>) -> Vec<Block> {
    let Some(first) = campaign.views.first() else { return Vec::new() };
    let seen = campaign.views.iter().map(|view| view.observations().collect());
    let caption = first.words.tables.environment_caption;
    let tables = tables_of(campaign, first, caption, &seen.collect::<Vec<_>>());
    let tables = tables.into_iter().filter(|table| !table.rows.is_empty());
    tables.map(Block::Table).collect()
}

/// Parameters of the emulated devices.
pub(super) fn parameters(campaign: &Campaign<'_, '_>) -> Vec<Block> {
    let Some(first) = campaign.views.first() else { return Vec::new() };
    let seen = campaign.views.iter().map(|view| view.parameters().collect());
    let caption = first.words.tables.parameters_caption;
    let tables = tables_of(campaign, first, caption, &seen.collect::<Vec<_>>());
    attached_tables(first, tables)
}

fn tables_of(
    campaign: &Campaign<'_, '_>,
    first: &View<'_>,
    caption: &str,
    seen: &[Vec<&Observation>],
) -> Vec<Table> {
    let facts = facts(seen);
    let alike = facts.iter().filter_map(|fact| match fact.seen.as_slice() {
        [(seen, _)] => Some(*seen),
        _ => None,
    });
    let alike: Vec<&Observation> = alike.collect();
    vec![
        observed::observations(first, caption, alike.iter().copied()),
        differences(campaign, first, &facts),
        machine::unknown(alike.iter().copied(), first.lang),
    ]
}

/// All facts of all runs, in the order in which subjects and keys first appear.
fn facts<'a>(runs: &[Vec<&'a Observation>]) -> Vec<Fact<'a>> {
    let each = runs.iter().enumerate().flat_map(|(index, observations)| {
        let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
        // A device below several targets is described for each of them.
        let new = move |seen: &&&'a Observation| known.insert((&seen.subject, &seen.key));
        observations
            .iter()
            .filter(new)
            .map(move |seen| ((&*seen.subject, &*seen.key), (*seen, index)))
    });
    let all = grouped(each);
    let subjects = unique(all.iter().map(|((subject, _), _)| *subject));
    let mut all: Vec<Fact<'_>> = all
        .into_iter()
        .map(|((subject, _), seen)| {
            let values =
                grouped(seen.into_iter().map(|(seen, index)| (&seen.value, (seen, index))));
            let seen = values
                .into_iter()
                .map(|(_, seen)| (seen[0].0, seen.into_iter().map(|(_, index)| index).collect()));
            Fact { subject, seen: seen.collect() }
        })
        .collect();
    all.sort_by_key(|fact| subjects.iter().position(|subject| *subject == fact.subject));
    all
}

/// Facts that differ between the runs that observed them, one row per value.
fn differences(campaign: &Campaign<'_, '_>, view: &View<'_>, facts: &[Fact<'_>]) -> Table {
    let words = view.words.columns;
    let [subject, name, value, runs] =
        [words.subject, words.fact, words.value, campaign.words.section].map(text);
    let rows = facts.iter().filter(|fact| fact.seen.len() > 1).flat_map(|fact| {
        let values = fact.seen.iter().enumerate();
        values.map(move |(nth, (seen, indices))| (fact.subject, nth, *seen, indices))
    });
    let first = |nth: usize, name: String| if nth == 0 { name } else { String::new() };
    Rows::from_items(rows)
        .groups(|(_, nth, ..)| *nth == 0)
        .column(subject, |(subject, nth, ..)| {
            Cell::head(first(*nth, fact_subject(view.lang, subject)))
        })
        .column(name, |(_, nth, seen, _)| first(*nth, observed_name(view, seen)))
        .column(value, |(_, _, seen, _)| observed_cell(view, seen))
        .column(runs, |(.., indices)| {
            let numbers = indices.iter().map(|index| (index + 1).to_string());
            Cell::plain(numbers.collect::<Vec<_>>().join(view.words.list[0]))
        })
        .table(campaign.words.differences)
}
