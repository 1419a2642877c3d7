//! Translation of the words of published figures. The data have them in English;
//! `reference/translations` has the other languages. Product names and quotations have no entry and
//! stay.

use crate::phrases_in;
use qdepth_words::{Lang, words};

/// Translates a phrase, or each known part of a list with commas. Unknown text stays.
pub(crate) fn translated(lang: Lang, text: &str) -> String {
    if lang == Lang::default() {
        return text.to_owned();
    }
    if let Some(known) = translate_phrase(lang, text) {
        return known;
    }
    let parts: Vec<(&str, Option<String>)> =
        text.split(", ").map(|part| (part, translate_phrase(lang, part))).collect();
    if parts.iter().all(|(_, known)| known.is_none()) {
        return text.to_owned();
    }
    let parts = parts.into_iter().map(|(part, known)| known.unwrap_or_else(|| part.to_owned()));
    parts.collect::<Vec<_>>().join(words(lang).load_step)
}

/// Translates a heading of a published document; its number stays.
pub(crate) fn heading(lang: Lang, text: &str) -> String {
    let whole = translated(lang, text);
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match text.split_once(' ').filter(|(number, _)| whole == *text && is_number(number)) {
        Some((number, title)) => format!("{number} {}", translated(lang, title)),
        None => whole,
    }
}

/// Translates a whole phrase, inserting its numbers. If several patterns with `@` match, the
/// longest wins.
fn translate_phrase(lang: Lang, text: &str) -> Option<String> {
    let (masked, numbers) = mask_numbers(text);
    let phrases = phrases_in(lang.tag());
    let Some(translated) = phrases.get(&masked).or_else(|| phrases.get(text)) else {
        let named = phrases.iter().filter_map(|(english, translated)| {
            Some((english.len(), translate_pattern(english, translated, text)?))
        });
        return named.max_by_key(|(length, _)| *length).map(|(_, phrase)| phrase);
    };
    let mut numbers = numbers.into_iter();
    let filled = translated.chars().map(|c| match c {
        '#' => numbers.next().unwrap_or_default().to_owned(),
        other => other.to_string(),
    });
    Some(filled.collect())
}

/// Translates a text by a pattern in which `@` stands for names of hardware; `None` if it does not
/// match.
fn translate_pattern(english: &str, translated: &str, text: &str) -> Option<String> {
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

/// Replaces each number of a text by `#`, and returns both.
fn mask_numbers(text: &str) -> (String, Vec<&str>) {
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
    fn translation_keeps_numbers_in_place() {
        let ja = |text| translated(Lang::Ja, text);
        assert_eq!(ja("4.3 % mean, 12 % worst"), "平均 4.3 %、最大 12 %");
        assert_eq!(ja("P3700 800GB, raid0x2"), "P3700 800GB, raid0x2", "names stay");
        assert_eq!(translated(Lang::En, "12 % worst"), "12 % worst");
    }

    #[test]
    fn translations_keep_every_placeholder() {
        for lang in Lang::ALL {
            for (english, other) in phrases_in(lang.tag()) {
                for mark in ['#', '@'] {
                    let count = |text: &str| text.matches(mark).count();
                    assert_eq!(count(english), count(other), "{english}: {other}");
                }
            }
        }
        assert!(phrases_in("ja").len() > 100);
    }

    #[test]
    fn every_translated_phrase_occurs_in_the_data() {
        let files = [
            include_str!("../../../reference/published.csv"),
            include_str!("../../../reference/diagrams.toml"),
            include_str!("../../../reference/goals.toml"),
            include_str!("../../../reference/loads.toml"),
            include_str!("../../../reference/plans.toml"),
            include_str!("../../../reference/relations.toml"),
            include_str!("../../../reference/targets.toml"),
        ];
        let data = files.concat().replace("\"\"", "\"").replace("\\\"", "\"");
        let (data, _) = mask_numbers(&data);
        let lacks = |english: &&String| {
            let parts = english.split('@').filter(|part| !part.is_empty());
            !parts.into_iter().all(|part| data.contains(part))
        };
        for lang in Lang::ALL {
            let dead: Vec<&String> = phrases_in(lang.tag()).keys().filter(lacks).collect();
            assert!(dead.is_empty(), "{}: {dead:?}", lang.tag());
        }
    }
}
