//! The languages say the same: the same keys by type, the same placeholders by these tests.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::collections::BTreeSet;

use qdepth_measure::Code;

use super::{HostWords, Lang, finding, finding_ja, words};

/// The `{names}` of a text.
fn placeholders(text: &str) -> BTreeSet<String> {
    let names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    names.map(|(name, _)| name.to_owned()).filter(|name| is_name(name)).collect()
}

/// Whether the text has a Japanese letter.
pub(super) fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

/// Words that are the same in every language: names, units, marks.
fn is_neutral(text: &str) -> bool {
    let neutral = ["EMULATED", "± 95 %", "A", "B", "C", "L", "M", "D", "", " ", "; ", ", "];
    neutral.contains(&text)
        || text.ends_with("{unit}")
        || text.starts_with("> ")
        || text.chars().all(|c| !c.is_alphabetic())
}

/// Every text with the line of its key, as the debug form writes it.
pub(super) fn lines(lang: Lang) -> Vec<String> {
    let all = format!("{:#?}\n{:#?}", words(lang), HostWords::of(lang));
    all.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_key_has_the_same_placeholders_in_every_language() {
    let (english, japanese) = (lines(Lang::En), lines(Lang::Ja));
    assert_eq!(english.len(), japanese.len(), "the same lists have the same lengths");
    let mut texts = 0;
    for (en, ja) in english.iter().zip(&japanese) {
        assert_eq!(placeholders(en), placeholders(ja), "{en} / {ja}");
        assert_eq!(en.split('"').next(), ja.split('"').next(), "the same key");
        texts += usize::from(en.contains('"'));
    }
    assert!(texts > 300, "{texts} texts were compared");
}

/// Noto Sans CJK, in which reports are printed, has U+00B2 and U+00B3 and none of the other raised
/// digits: those came out as an empty box.
#[test]
fn no_letter_is_missing_from_the_font_of_the_print() {
    let is_raised = |c: char| c == '\u{b9}' || ('\u{2070}'..='\u{209f}').contains(&c);
    for text in [Lang::En, Lang::Ja].into_iter().flat_map(lines) {
        assert!(!text.contains(is_raised), "{text}");
    }
    assert!("2\u{00b2}\u{2070}".contains(is_raised));
}

#[test]
fn no_text_was_left_in_english() {
    for (en, ja) in lines(Lang::En).iter().zip(&lines(Lang::Ja)) {
        let Some((_, text)) = ja.split_once('"') else { continue };
        let text = text.trim_end_matches(',').trim_end_matches('"');
        let is_id =
            text.chars().all(|c| c.is_ascii_lowercase() || "-_0123456789".contains(c)) && en == ja;
        let symbols = text.replace(|c: char| !c.is_alphabetic(), "");
        let filled = placeholders(text)
            .into_iter()
            .fold(symbols, |text, name| text.replace(&name.replace('_', ""), ""));
        assert!(
            is_japanese(text)
                || is_neutral(text)
                || is_id
                || matches!(&*filled, "" | "qdepth" | "EMULATED"),
            "{ja} is {en}"
        );
    }
}

/// The value of a key at the start of a line.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(key)?.trim().strip_prefix('='));
    lines.map(|value| value.trim().trim_matches('"')).next()
}

#[test]
fn every_load_profile_that_is_shipped_has_its_title_in_every_language() {
    let shipped = [include_str!("../../../../plans/write-pressure.toml")];
    let shipped = shipped.iter().flat_map(|plan| plan.split("[[profile]]").skip(1));
    let profiles = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let files = std::fs::read_dir(profiles).unwrap().map(|file| file.unwrap().path());
    let mut texts: Vec<String> = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    texts.extend(shipped.map(str::to_owned));
    assert!(texts.len() > 15, "{} profiles were found", texts.len());
    for text in &texts {
        let (name, title) = (value(text, "name").unwrap(), value(text, "title").unwrap());
        // A name, and not words.
        if title == "JESD219" {
            continue;
        }
        let of = |lang| words(lang).titles.iter().find(|[known, _]| *known == name).unwrap()[1];
        assert_eq!(of(Lang::En), title, "{name}");
        assert!(is_japanese(of(Lang::Ja)), "{name}");
    }
}

#[test]
fn findings_say_the_same_in_every_language_and_no_figure_that_they_do_not_have() {
    for code in Code::ALL {
        let row = code.meaning();
        let named: BTreeSet<String> =
            finding::english(*code).into_iter().flat_map(placeholders).collect();
        let has = |name: &String| [row.values, row.labels].concat().contains(&name.as_str());
        let missing: Vec<&String> = named.iter().filter(|name| !has(name)).collect();
        assert!(missing.is_empty(), "`{code}` has no {missing:?} in the table of codes");
        let both = finding::english(*code).into_iter().zip(finding_ja::japanese(*code));
        for (en, ja) in both {
            assert_eq!(placeholders(en), placeholders(ja), "{code}: {en} / {ja}");
            assert!(is_japanese(ja), "{code}: {ja}");
            assert_eq!(en.ends_with('.'), ja.ends_with('。'), "{code}: {ja}");
        }
    }
}
