//! Fixed words that stand in records, plans and the reference data, in the language of a report.
//! They are stored in English, whatever the language of a report: what is stored is compared by
//! programs. Names of products, messages of the system and quotations have no entry and stay.

use crate::{Lang, entry, words};

/// A fixed phrase of a record or of the reference data; of phrases parted by commas each that is
/// known. What is not known stays as it is.
pub fn translated(lang: Lang, text: &str) -> String {
    if lang == Lang::default() {
        return text.to_owned();
    }
    if let Some(known) = known(lang, text) {
        return known;
    }
    let parts: Vec<(&str, Option<String>)> =
        text.split(", ").map(|part| (part, known(lang, part))).collect();
    if parts.iter().all(|(_, known)| known.is_none()) {
        return text.to_owned();
    }
    let parts = parts.into_iter().map(|(part, known)| known.unwrap_or_else(|| part.to_owned()));
    parts.collect::<Vec<_>>().join(words(lang).phrase)
}

/// A heading of a published document; its number stays.
pub fn heading(lang: Lang, text: &str) -> String {
    let whole = translated(lang, text);
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match text.split_once(' ').filter(|(number, _)| whole == *text && is_number(number)) {
        Some((number, title)) => format!("{number} {}", translated(lang, title)),
        None => whole,
    }
}

/// The name of a fact by its key; the unit goes with the value.
pub fn fact_name(lang: Lang, key: &str) -> String {
    let words = words(lang);
    if lang == Lang::default() {
        let plain = || key.strip_suffix("_bytes").unwrap_or(key).replace('_', " ");
        return entry(words.fact_names, key).map_or_else(plain, str::to_owned);
    }
    let name = entry(words.paper.media.facts, key).or_else(|| entry(words.fact_names, key));
    name.unwrap_or(key).to_owned()
}

/// A whole phrase in another language, with its numbers. English and its translation have the same
/// key; of phrases that fit, the one that says most itself.
fn known(lang: Lang, text: &str) -> Option<String> {
    let (masked, numbers) = masked(text);
    let pairs = || words(Lang::default()).phrases.iter().zip(words(lang).phrases);
    let found = pairs().find(|((_, english), _)| *english == masked || *english == text);
    let Some((_, (_, translated))) = found else {
        let named = pairs().filter_map(|((_, english), (_, translated))| {
            Some((english.len(), named(english, translated, text)?))
        });
        return named.max_by_key(|(length, _)| *length).map(|(_, said)| said);
    };
    let mut numbers = numbers.into_iter();
    let filled = translated.chars().map(|c| match c {
        '#' => numbers.next().unwrap_or_default().to_owned(),
        other => other.to_string(),
    });
    Some(filled.collect())
}

/// A phrase in which `@` stands for words of the machine.
fn named(english: &str, translated: &str, text: &str) -> Option<String> {
    let mut parts = english.split('@');
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut names = Vec::new();
    for part in parts {
        let end = if part.is_empty() { rest.len() } else { rest.find(part)? };
        let name = &rest[..end];
        if name.is_empty() || (!part.is_empty() && name.contains(' ')) {
            return None;
        }
        names.push(name);
        rest = &rest[end + part.len()..];
    }
    let mut names = names.into_iter();
    let filled = translated.split_inclusive('@').map(|part| match part.strip_suffix('@') {
        Some(before) => format!("{before}{}", names.next().unwrap_or_default()),
        None => part.to_owned(),
    });
    rest.is_empty().then(|| filled.collect())
}

/// A text with `#` for each number, and the numbers.
fn masked(text: &str) -> (String, Vec<&str>) {
    let (mut out, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = &rest[at..];
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
        let number = from[..end.unwrap_or(from.len())].trim_end_matches(['.', ',']);
        out.push_str(&rest[..at]);
        out.push('#');
        numbers.push(number);
        rest = &from[number.len()..];
    }
    out.push_str(rest);
    (out, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_where_the_sentence_has_them() {
        let ja = |text| translated(Lang::Ja, text);
        assert_eq!(ja("2 × 1MiB, pass 1 of 2, one target"), "2 × 1MiB、パス 1 / 2、測定対象 1 個");
        assert_eq!(ja("4.3 % mean, 12 % worst"), "平均 4.3 %、最大 12 %");
        assert_eq!(ja("2,800 MB/s (10^6 bytes)"), "2,800 MB/s（1 MB = 10^6 バイト）");
        assert_eq!(ja("P3700 800GB, raid0x2"), "P3700 800GB, raid0x2", "names stay");
        assert_eq!(super::translated(Lang::En, "pass 1 of 2"), "pass 1 of 2");
    }

    #[test]
    fn every_number_and_name_of_a_phrase_is_told() {
        for lang in Lang::ALL {
            for ((key, english), (_, other)) in
                words(Lang::default()).phrases.iter().zip(words(lang).phrases)
            {
                for mark in ['#', '@'] {
                    let count = |text: &str| text.matches(mark).count();
                    assert_eq!(count(english), count(other), "{key}: {english}: {other}");
                }
            }
        }
    }

    #[test]
    fn a_fact_without_a_name_keeps_its_key() {
        assert_eq!(fact_name(Lang::Ja, "clock_source"), "クロックソース");
        assert_eq!(fact_name(Lang::Ja, "size_bytes"), "容量");
        assert_eq!(fact_name(Lang::Ja, "die_read_us"), "die_read_us");
        assert_eq!(fact_name(Lang::En, "die_read_us"), "die read us");
    }
}
