//! The machines of several runs: facts that all runs share, once; and facts that differ, with the
//! runs of each value.

use std::collections::BTreeSet;

use qdepth_record::Observation;

use super::runs::Campaign;
use crate::compose::attached_tables;
use crate::document::{Block, Cell, Row, Table, text};
use crate::section::machine;
use crate::section::observed::{self, observed_cell, observed_name};
use crate::view::View;
use crate::words::fact_subject;

/// A fact, with its values and the runs that observed each.
struct Fact<'a> {
    subject: &'a str,
    key: &'a str,
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
    let mut all: Vec<Fact<'a>> = Vec::new();
    let mut subjects: Vec<&str> = Vec::new();
    for (index, observations) in runs.iter().enumerate() {
        let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
        for seen in observations {
            // A device below several targets is described for each of them.
            if !known.insert((&seen.subject, &seen.key)) {
                continue;
            }
            if !subjects.contains(&&*seen.subject) {
                subjects.push(&seen.subject);
            }
            let of_key =
                |fact: &&mut Fact<'_>| fact.subject == seen.subject && fact.key == seen.key;
            match all.iter_mut().find(of_key) {
                Some(fact) => fact.add(seen, index),
                None => all.push(Fact {
                    subject: &seen.subject,
                    key: &seen.key,
                    seen: vec![(seen, vec![index])],
                }),
            }
        }
    }
    all.sort_by_key(|fact| subjects.iter().position(|subject| *subject == fact.subject));
    all
}

impl<'a> Fact<'a> {
    fn add(&mut self, seen: &'a Observation, index: usize) {
        match self.seen.iter_mut().find(|(other, _)| other.value == seen.value) {
            Some((_, indices)) => indices.push(index),
            None => self.seen.push((seen, vec![index])),
        }
    }
}

/// Facts that differ between the runs that observed them, one row per value.
fn differences(campaign: &Campaign<'_, '_>, view: &View<'_>, facts: &[Fact<'_>]) -> Table {
    let words = view.words.columns;
    let columns = [words.subject, words.fact, words.value, campaign.words.section].map(text);
    let mut rows = Vec::new();
    for fact in facts.iter().filter(|fact| fact.seen.len() > 1) {
        for (nth, (seen, indices)) in fact.seen.iter().enumerate() {
            let first = |name: String| if nth == 0 { name } else { String::new() };
            let numbers: Vec<String> =
                indices.iter().map(|index| (index + 1).to_string()).collect();
            let cells = vec![
                Cell::head(first(fact_subject(view.lang, fact.subject))),
                Cell::plain(first(observed_name(view, seen))),
                observed_cell(view, seen),
                Cell::plain(numbers.join(view.words.list[0])),
            ];
            rows.push(Row { cells, opens_group: nth == 0 });
        }
    }
    let caption = campaign.words.differences.to_owned();
    Table { caption, columns: columns.to_vec(), rows, note: String::new() }
}
