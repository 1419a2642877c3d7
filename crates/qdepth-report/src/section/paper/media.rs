//! Technical data of the drives, from their facts or from the device model of an emulated one.

use std::collections::BTreeMap;

use qdepth_record::Observation;

use crate::document::{Block, Cell, Section, Table, text};
use crate::grouped::{entry_or, grouped};
use crate::names;
use crate::number::{self, MIB};
use crate::rows::Rows;
use crate::section::observed;
use crate::view::View;
use crate::words::{entry, fact_value, fill_in};

/// Largest number of drives side by side in a table.
const ABREAST: usize = 4;
/// Parameters of device models for which 0 means that the drive has no such limit, or that it is
/// not modelled.
const NOT_MODELLED: [&str; 6] =
    ["watts_idle", "watts_write", "spare_gb", "link_mb_s", "limit_c", "dies"];

/// Facts in the table of drives, in order.
const FACTS: [&str; 38] = [
    "model",
    "vendor",
    "serial",
    "firmware",
    "size_bytes",
    "capacity_bytes",
    "capacity_gb",
    "spare_gb",
    "dies",
    "block_bytes",
    "link_mb_s",
    "ambient_c",
    "limit_c",
    "watts_idle",
    "watts_write",
    "formatted_bytes",
    "interface",
    "link",
    "link_limit_bytes_per_s",
    "rotational",
    "logical_block_bytes",
    "physical_block_bytes",
    "write_cache",
    "scheduler",
    "queue_requests",
    "data_sheet_sequential_read_mb_s",
    "data_sheet_sequential_write_mb_s",
    "data_sheet_random_read_4k_io_s",
    "data_sheet_random_write_4k_io_s",
    "endurance",
    "endurance_bytes",
    "written_bytes",
    "percentage_used",
    "temperature_celsius",
    "temperature_warning_celsius",
    "temperature_critical_celsius",
    "wear",
    "format",
];

/// The section: each drive of all runs once, and again if its data had changed; `None` if nothing
/// is known.
pub(crate) fn section(views: &[&View<'_>]) -> Option<Section> {
    let first = views.first()?;
    let mut media: Vec<Medium<'_>> = Vec::new();
    for (number, view) in views.iter().enumerate() {
        for mut medium in self::media(view) {
            let of_name = |other: &&Medium<'_>| other.subject == medium.subject;
            if media.iter().filter(of_name).any(|other| other.has_same_facts(&medium)) {
                continue;
            }
            if media.iter().any(|other| of_name(&other)) {
                let run = [("n", (number + 1).to_string())];
                let run = fill_in(first.words.campaign.run, &run);
                medium.name =
                    fill_in(first.words.campaign.of_run, &[("name", medium.name), ("run", run)]);
            }
            media.push(medium);
        }
    }
    let emulated = views.iter().all(|view| view.run.emulated);
    let caption = first.words.paper.media.caption[usize::from(emulated)];
    let tables = media.chunks(ABREAST).filter_map(|some| table(first, some, caption));
    let blocks: Vec<Block> = tables.map(Block::Table).collect();
    let [title, ..] = first.words.paper.sections;
    Section::unless_empty(blocks, "media", title)
}

/// A drive: its name, and its known facts by key.
struct Medium<'a> {
    subject: &'a str,
    name: String,
    facts: BTreeMap<&'a str, &'a Observation>,
}

impl Medium<'_> {
    /// True if every row of the table would be the same.
    fn has_same_facts(&self, other: &Self) -> bool {
        let value = |medium: &Self, key: &str| Some(medium.facts.get(key)?.value.clone());
        FACTS.iter().all(|key| value(self, key) == value(other, key))
    }
}

/// Each drive of a run once, in the order of targets.
fn media<'a>(view: &View<'a>) -> Vec<Medium<'a>> {
    let mut all: Vec<(&str, Medium<'a>)> = Vec::new();
    for seen in view.run.targets.iter().flat_map(|target| &target.facts) {
        let Ok(value) = &seen.value else { continue };
        let number = value.split(' ').next().and_then(|number| number.parse::<f64>().ok());
        let modelled = number.is_none_or(|number| number.abs() > 0.0);
        if seen.subject == "file_system" || (!modelled && NOT_MODELLED.contains(&&*seen.key)) {
            continue;
        }
        let subject = &*seen.subject;
        let medium = entry_or(&mut all, subject, || {
            let name = names::product(view.run, subject).unwrap_or(subject).to_owned();
            Medium { subject, name, facts: BTreeMap::new() }
        });
        medium.facts.entry(&seen.key).or_insert(seen);
    }
    let keys = ["size_bytes", "capacity_bytes", "capacity_gb", "model"];
    let is_storage = |medium: &Medium<'_>| keys.iter().any(|key| medium.facts.contains_key(key));
    all.into_iter().map(|(_, medium)| medium).filter(is_storage).collect()
}

fn table(view: &View<'_>, media: &[Medium<'_>], caption: &str) -> Option<Table> {
    let words = view.words.paper.media;
    let value = |medium: &Medium<'_>, key: &str| {
        let seen = medium.facts.get(key)?;
        Some(value_text(view, seen, seen.value.as_ref().ok()?))
    };
    // Systems and device models have different keys for the same property.
    let known = |key: &&str| media.iter().any(|medium| value(medium, key).is_some());
    let keys = FACTS.into_iter().filter(known);
    let table =
        Rows::from_items(grouped(keys.filter_map(|key| Some((entry(words.facts, key)?, key)))))
            .text("", |(name, _)| Cell::head(*name))
            .each(
                media,
                |medium| text(&medium.name),
                |(_, keys), medium| Cell::or_dash(keys.iter().find_map(|key| value(medium, key))),
            )
            .table(caption)
            .with_note(words.note);
    (!table.rows.is_empty()).then_some(table)
}

/// Suffix of data-sheet rates.
const DECIMAL: &str = " (10^6 bytes)";

fn value_text(view: &View<'_>, seen: &Observation, value: &str) -> String {
    let [yes, no] = view.words.paper.media.yes_no;
    match (seen.key.as_str(), value) {
        ("rotational" | "removable", "0") => no.to_owned(),
        ("rotational" | "removable", "1") => yes.to_owned(),
        ("scheduler", value) if value.contains('[') => crate::section::machine::chosen(value),
        (key, value) if key.ends_with("_bytes_per_s") => {
            let rate = value.parse::<f64>().ok();
            let mib = rate.map(|rate| format!("{} MiB/s", number::thousands(rate / MIB, 0)));
            mib.unwrap_or_else(|| value.to_owned())
        }
        (_, value) if value.ends_with(DECIMAL) => {
            let rate = value.strip_suffix(DECIMAL).unwrap_or(value);
            let rate = with_commas(rate).unwrap_or_else(|| rate.to_owned());
            fill_in(view.words.paper.media.decimal, &[("rate", rate)])
        }
        (_, value) => {
            let value = with_commas(value).unwrap_or_else(|| observed::observed(seen, value));
            fact_value(view.lang, &value)
        }
    }
}

/// Adds thousands separators, for example to `3380 MiB/s` of a device model.
fn with_commas(value: &str) -> Option<String> {
    let (digits, unit) = value.split_once(' ')?;
    Some(format!("{} {unit}", number::count(digits.parse().ok()?)))
}
