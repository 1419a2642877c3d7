//! A machine and its storage as tables.

use std::collections::{BTreeMap, BTreeSet};

use qdepth_record::{Observation, Reason};

use crate::document::{Cell, Table, text};
use crate::grouped::grouped;
use crate::number;
use crate::rows::Rows;
use crate::section::observed::observed;
use crate::words::{
    HostWords, Lang, fact_name, fact_source, fact_subject, fact_value, fill_in, reason_text,
    with_subject, words as all_words,
};

/// Subjects of facts about the machine itself; all other subjects are devices or file systems.
const MACHINE: [&str; 5] = ["host", "kernel", "cpu", "memory", "generator"];

/// Tables of a machine: the machine, its devices, arrays and file systems, and unknown facts. `all`
/// adds a table of every fact with its source.
pub fn host_tables(facts: &[Observation], all: bool, lang: Lang) -> Vec<Table> {
    let words = all_words(lang).host;
    let mut tables = vec![machine(facts, lang)];
    let devices = subjects(facts, |facts| has(facts, "size_bytes"));
    tables.extend((!devices.is_empty()).then(|| drives(&devices, words)));
    let arrays = subjects(facts, |facts| has(facts, "built_on"));
    tables.extend((!arrays.is_empty()).then(|| built(&arrays, words)));
    let mounts = subjects(facts, |facts| has(facts, "options"));
    tables.extend((!mounts.is_empty()).then(|| mounted(&mounts, words)));
    tables.push(if all { every(facts, lang) } else { unknown(facts, lang) });
    tables
}

/// Facts grouped by subject, in the order of appearance, for selected subjects.
pub(crate) fn subjects(
    facts: &[Observation],
    fits: impl Fn(&[&Observation]) -> bool,
) -> Vec<(String, Vec<&Observation>)> {
    let mut all = grouped(facts.iter().map(|fact| (fact.subject.clone(), fact)));
    all.retain(|(_, facts)| fits(facts));
    all
}

pub(crate) fn has(facts: &[&Observation], key: &str) -> bool {
    facts.iter().any(|fact| fact.key == key)
}

pub(crate) fn value<'a>(facts: &[&'a Observation], key: &str) -> Option<&'a str> {
    let mut known = facts.iter().filter(|fact| fact.key == key);
    known.find_map(|fact| fact.value.as_deref().ok())
}

/// The first known value of these facts.
fn first<'a>(facts: &[&'a Observation], keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| value(facts, key))
}

fn machine(facts: &[Observation], lang: Lang) -> Table {
    let words = all_words(lang).host;
    let known = facts.iter().filter(|fact| MACHINE.contains(&&*fact.subject));
    let [subject, name, value] = words.machine_columns.map(text);
    Rows::from_items(
        known.filter_map(|fact| Some((fact, observed(fact, fact.value.as_deref().ok()?)))),
    )
    .column(subject, |(fact, _)| Cell::head(fact_subject(lang, &fact.subject)))
    .column(name, |(fact, _)| fact_name(lang, &fact.key))
    .column(value, |(_, value)| fact_value(lang, value))
    .table(words.machine)
}

fn drives(devices: &[(String, Vec<&Observation>)], words: &HostWords) -> Table {
    let [device, name, capacity, link, limit, queues, scheduler, cache, heat, used] =
        words.device_columns;
    let plain = |facts: &[&Observation], keys: &[&str]| {
        Cell::or_dash(first(facts, keys).map(str::to_owned))
    };
    let bytes = |facts: &[&Observation], key| value(facts, key)?.parse::<f64>().ok();
    Rows::from_items(devices)
        .text(device, |(name, _)| Cell::head(&**name))
        .text(name, |(_, facts)| product(facts))
        .number(capacity, "", |(_, facts)| bytes(facts, "size_bytes").map(number::decimal_bytes))
        .text(link, |(_, facts)| connected(facts, words))
        .number(limit, "MiB/s", |(_, facts)| {
            let limit = bytes(facts, "link_limit_bytes_per_s").map(|b| b / f64::from(1 << 20));
            Cell::or_dash(limit.map(number::three_digits))
        })
        .number(queues, "", |(_, facts)| plain(facts, &["queues"]))
        .text(scheduler, |(_, f)| value(f, "scheduler").map(chosen))
        .text(cache, |(_, facts)| plain(facts, &["write_cache"]))
        .number(heat, "°C", |(_, facts)| plain(facts, &["temperature_celsius", "sensor_celsius"]))
        .number(used, "%", |(_, facts)| plain(facts, &["percentage_used"]))
        .table(words.devices)
}

/// Vendor, model and firmware of a device, else another name.
fn product(facts: &[&Observation]) -> Option<String> {
    let named_by = ["vendor", "model", "firmware"].map(|key| value(facts, key).unwrap_or(""));
    // On some buses the vendor is a number.
    let named = |word: &&str| !word.is_empty() && !word.starts_with("0x");
    let product = named_by.into_iter().filter(named).collect::<Vec<_>>();
    if product.is_empty() {
        first(facts, &["product", "mapped_name", "backing_file"]).map(str::to_owned)
    } else {
        Some(product.join(" "))
    }
}

/// Link with its maximum, for example `PCIe 3.0 x2 (of PCIe 3.0 x4)`.
fn connected(facts: &[&Observation], words: &HostWords) -> Option<String> {
    let link = value(facts, "link")?;
    Some(match value(facts, "link_possible").filter(|possible| *possible != link) {
        Some(possible) => {
            fill_in(words.link_of, &[("link", link.to_owned()), ("possible", possible.to_owned())])
        }
        None => link.to_owned(),
    })
}

/// Returns the choice in brackets: `none` in `mq-deadline [none]`.
pub(crate) fn chosen(all: &str) -> String {
    let inner = all.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(all, |(name, _)| name).to_owned()
}

fn built(arrays: &[(String, Vec<&Observation>)], words: &HostWords) -> Table {
    let keys: [&[&str]; 4] = [
        &["level", "segment_type", "kind"],
        &["chunk_bytes", "stripe_bytes"],
        &["metadata", "volume_group", "mapped_name"],
        &["built_on"],
    ];
    rows_of(words.arrays, &words.array_columns, arrays, &keys)
}

fn mounted(mounts: &[(String, Vec<&Observation>)], words: &HostWords) -> Table {
    let keys: [&[&str]; 4] = [&["type"], &["devices", "source"], &["options"], &["striping"]];
    rows_of(words.mounts, &words.mount_columns, mounts, &keys)
}

fn rows_of(
    caption: &str,
    headings: &[&str; 5],
    subjects: &[(String, Vec<&Observation>)],
    keys: &[&[&str]; 4],
) -> Table {
    let [subject, headings @ ..] = headings;
    let value = |facts: &[&Observation], keys: &[&str]| {
        let fact = keys.iter().find_map(|key| {
            facts.iter().copied().find(|fact| fact.key == *key && fact.value.is_ok())
        })?;
        Some(observed(fact, fact.value.as_deref().ok()?))
    };
    Rows::from_items(subjects)
        .text(subject, |(subject, _)| Cell::head(subject.strip_prefix("mount ").unwrap_or(subject)))
        .each(
            headings.iter().zip(keys),
            |(heading, _)| text(heading),
            |(_, facts), (_, keys)| Cell::or_dash(value(facts, keys)),
        )
        .table(caption)
}

/// Unknown facts, by reason.
pub(crate) fn unknown<'a>(facts: impl IntoIterator<Item = &'a Observation>, lang: Lang) -> Table {
    let words = all_words(lang).host;
    let mut reasons: BTreeMap<(&str, String), (&Reason, BTreeSet<String>)> = BTreeMap::new();
    for fact in facts {
        if let Err(why) = &fact.value {
            // Sorted by the English text, so that the order is the same in all languages.
            let key = (&*fact.subject, reason_text(why, Lang::default()));
            let (_, keys) = reasons.entry(key).or_insert_with(|| (why, BTreeSet::new()));
            keys.insert(fact_name(lang, &fact.key));
        }
    }
    let between = all_words(lang).list[0];
    let [subject, names, reason] = words.unknown_columns.map(text);
    Rows::from_items(reasons)
        .column(subject, |((subject, _), _)| Cell::head(fact_subject(lang, subject)))
        .column(names, |(_, (_, keys))| {
            Cell::unknown(keys.iter().map(String::as_str).collect::<Vec<_>>().join(between))
        })
        .column(reason, |(_, (why, _))| reason_text(why, lang))
        .table(words.unknown)
}

/// Every fact with its source.
fn every(facts: &[Observation], lang: Lang) -> Table {
    let words = all_words(lang).host;
    let [subject, name, value, source] = words.all_columns.map(text);
    Rows::from_items(facts)
        .column(subject, |fact| Cell::head(fact_subject(lang, &fact.subject)))
        .column(name, |fact| fact_name(lang, &fact.key))
        .column(value, |fact| match &fact.value {
            Ok(value) => Cell::plain(fact_value(lang, &observed(fact, value))),
            Err(why) => Cell::unknown(with_subject(lang, words.unknown, &reason_text(why, lang))),
        })
        .column(source, |fact| fact_source(lang, &fact.source))
        .table(words.all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(subject: &str, key: &str, value: Result<&str, &str>) -> Observation {
        Observation {
            subject: subject.to_owned(),
            key: key.to_owned(),
            value: value.map(str::to_owned).map_err(Reason::read),
            source: "here".to_owned(),
        }
    }

    #[test]
    fn unknown_facts_have_translated_reasons() {
        let fact = Observation {
            subject: "cpu".to_owned(),
            key: "governor".to_owned(),
            value: Err(Reason::NoSuchFile { path: "/sys".to_owned() }),
            source: "/sys".to_owned(),
        };
        let reason = |lang| unknown([&fact], lang).rows[0].cells[2].text.clone();
        assert_eq!(reason(Lang::En), "No such file or directory (os error 2)");
        assert_eq!(reason(Lang::Ja), "ファイルがありません");
    }

    #[test]
    fn drive_has_one_row_and_unknowns_are_grouped() {
        let facts = [
            fact("host", "os", Ok("Debian")),
            fact("nvme0n1", "size_bytes", Ok("800166076416")),
            fact("nvme0n1", "model", Ok("P3700")),
            fact("nvme0n1", "link", Ok("PCIe 3.0 x2")),
            fact("nvme0n1", "link_possible", Ok("PCIe 3.0 x4")),
            fact("nvme0n1", "link_limit_bytes_per_s", Ok("1772307692")),
            fact("nvme0n1", "scheduler", Ok("[none] mq-deadline")),
            fact("nvme0n1", "percentage_used", Err("no privilege")),
            fact("nvme0n1", "temperature_celsius", Err("no privilege")),
        ];
        let [machine, devices, unknown] = host_tables(&facts, false, Lang::En).try_into().unwrap();
        assert_eq!(machine.rows.len(), 1);
        let cells: Vec<&str> = devices.rows[0].cells.iter().map(|cell| &*cell.text).collect();
        assert_eq!(&cells[..4], ["nvme0n1", "P3700", "800.17 GB", "PCIe 3.0 x2 (of PCIe 3.0 x4)"]);
        assert_eq!(&cells[4..], ["1,690", "–", "none", "–", "–", "–"]);
        assert_eq!(unknown.rows.len(), 1);
        assert_eq!(unknown.rows[0].cells[1].text, "percentage used, temperature celsius");
    }
}
