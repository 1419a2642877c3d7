//! Consistency of the languages: equal keys and equal placeholders.

use std::collections::BTreeSet;

use crate::{Lang, MISSING, words};

/// Placeholders of a text.
fn placeholders(text: &str) -> BTreeSet<String> {
    let names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    names.map(|(name, _)| name.to_owned()).filter(|name| is_name(name)).collect()
}

/// True if the text has a Japanese letter.
fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

/// True for text that is the same in every language: names, units, marks.
fn is_neutral(text: &str) -> bool {
    let neutral = [
        "EMULATED", "IOPS", "MiB/s", "CPU", "ID", "OS", "qdepth", "± 95 %", "A", "B", "C", "L",
        "M", "D", "", " ", "; ", ", ",
    ];
    neutral.contains(&text)
        || text.ends_with("{unit}")
        || text.starts_with("> ")
        || text.chars().all(|c| !c.is_alphabetic())
}

/// All texts of a language with their keys, from the debug format.
fn lines(lang: Lang) -> Vec<String> {
    format!("{:#?}", words(lang)).lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_language_has_every_text() {
    let list: Vec<String> = MISSING.iter().map(|[tag, key]| format!("{tag}: {key}")).collect();
    let hint = "lacks these keys, has another form of them, or has them where English does not";
    assert!(list.is_empty(), "text/*.toml {hint}:\n{}", list.join("\n"));
}

#[test]
fn every_text_has_equal_placeholders_in_every_language() {
    let english = lines(Lang::default());
    for lang in Lang::ALL {
        let other = lines(lang);
        assert_eq!(english.len(), other.len(), "the same lists have the same lengths");
        let mut texts = 0;
        for (en, own) in english.iter().zip(&other) {
            assert_eq!(placeholders(en), placeholders(own), "{en} / {own}");
            assert_eq!(en.split('"').next(), own.split('"').next(), "the same key");
            texts += usize::from(en.contains('"'));
        }
        assert!(texts > 1_000, "{texts} texts were compared");
    }
}

/// Noto Sans CJK, the font of printed reports, has U+00B2 and U+00B3 but no other superscript
/// digits: these were printed as an empty box.
#[test]
fn texts_use_only_letters_of_the_font() {
    let is_raised = |c: char| c == '\u{b9}' || ('\u{2070}'..='\u{209f}').contains(&c);
    for text in Lang::ALL.into_iter().flat_map(lines) {
        assert!(!text.contains(is_raised), "{text}");
    }
    assert!("2\u{00b2}\u{2070}".contains(is_raised));
}

#[test]
fn every_text_is_translated() {
    let (english, japanese) = (lines(Lang::En), lines(Lang::Ja));
    // The first text of a pair is the key of a map.
    let opens = std::iter::once(false).chain(english.iter().map(|line| line == "("));
    for ((en, ja), is_key) in english.iter().zip(&japanese).zip(opens) {
        let Some((_, text)) = ja.split_once('"').filter(|_| !is_key) else { continue };
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
                || matches!(
                    &*filled,
                    "" | "Japanese"
                        | "qdepth"
                        | "EMULATED"
                        | "Linux"
                        | "SNIAPTS"
                        | "BA"
                        | "TestGPFSM"
                ),
            "{ja} is {en}"
        );
    }
}

#[test]
fn finding_texts_have_equal_form_in_every_language() {
    let pairs = words(Lang::En).finding.iter().zip(words(Lang::Ja).finding);
    for ((code, english), (_, japanese)) in pairs {
        for (en, ja) in english.iter().zip(japanese) {
            assert!(is_japanese(ja), "{code}: {ja}");
            assert_eq!(en.ends_with('.'), ja.ends_with('。'), "{code}: {ja}");
        }
    }
}
