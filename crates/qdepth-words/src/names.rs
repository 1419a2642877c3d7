//! Texts for codes of records: subjects, keys, values and sources of facts, and titles of steps.
//! Names that the catalogue lacks come from the user or the machine, and stay unchanged.

use crate::{Lang, Map, entry, words};

/// Name of a fact, by its key. Units belong to the value.
pub fn fact_name(lang: Lang, key: &str) -> String {
    let words = words(lang);
    if lang == Lang::default() {
        let plain = || key.strip_suffix("_bytes").unwrap_or(key).replace('_', " ");
        return entry(words.fact_names, key).map_or_else(plain, str::to_owned);
    }
    let name = entry(words.paper.media.facts, key).or_else(|| entry(words.fact_names, key));
    name.unwrap_or(key).to_owned()
}

/// Subject of a fact: text for a part of the machine, or the name of a device.
pub fn fact_subject(lang: Lang, subject: &str) -> String {
    named(words(lang).fact_subjects, subject)
}

/// Value of a fact: text for a state, or the value as read.
pub fn fact_value(lang: Lang, value: &str) -> String {
    named(words(lang).fact_values, value)
}

/// Source of a fact: text for a code, or the file or command from which it was read.
pub fn fact_source(lang: Lang, source: &str) -> String {
    named(words(lang).fact_sources, source)
}

/// Title of a step. Titles of shipped plans are translated, keeping the number of the pass.
pub fn step_title(lang: Lang, title: &str) -> String {
    let is_pass = |pass: &str| pass.split('/').all(|n| n.parse::<u32>().is_ok());
    match title.rsplit_once(' ').filter(|(_, pass)| pass.contains('/') && is_pass(pass)) {
        Some((title, pass)) => format!("{} {pass}", named(words(lang).steps, title)),
        None => named(words(lang).steps, title),
    }
}

fn named(map: Map<&'static str>, code: &str) -> String {
    entry(map, code).unwrap_or(code).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unnamed_fact_keeps_its_key() {
        assert_eq!(fact_name(Lang::Ja, "clock_source"), "クロックソース");
        assert_eq!(fact_name(Lang::Ja, "size_bytes"), "容量");
        assert_eq!(fact_name(Lang::Ja, "die_read_us"), "die_read_us");
        assert_eq!(fact_name(Lang::En, "die_read_us"), "die read us");
    }

    #[test]
    fn only_shipped_step_titles_are_translated() {
        let ja = |title| step_title(Lang::Ja, title);
        assert_eq!(ja("no pause, after 25 s 3/6"), "休止なし、25 sの休止後 3/6");
        assert_eq!(ja("before"), "前");
        for own in ["before lunch", "2 × 1MiB 1/2", "100 MB/s", "a/b", "read 1/", ""] {
            assert_eq!(ja(own), own);
        }
        assert_eq!(step_title(Lang::En, "before 1/2"), "before 1/2");
    }
}
