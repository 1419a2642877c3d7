//! Texts of the published data in each language.

use std::collections::BTreeSet;

use crate::data::{Reference, translate};
use crate::relation::{Relation, RelationText};
use crate::translation::FILES;

/// Numbers in a text, including English number words.
fn numbers(text: &str) -> Vec<String> {
    let spelt = |word: &str| {
        let known = ["one", "two", "three", "four", "five", "eight", "twelve"];
        let values = ["1", "2", "3", "4", "5", "8", "12"];
        let index = known.iter().position(|known| word.eq_ignore_ascii_case(known))?;
        Some(values[index].to_owned())
    };
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    let mut all: Vec<String> = words.filter_map(spelt).collect();
    let digits = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let digits = digits.flat_map(|run| run.split("..")).map(|run| run.trim_matches('.'));
    all.extend(digits.filter(|run| !run.is_empty()).map(str::to_owned));
    all.sort();
    all
}

/// True if the text has English words: names begin with a capital, and units follow numbers.
fn has_words(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_word =
        |word: &str| word.len() > 2 && word.bytes().all(|letter| letter.is_ascii_lowercase());
    words.filter(|word| *word != "kHz").any(is_word)
}

#[test]
fn every_translation_keeps_the_numbers() {
    let reference = Reference::shipped().unwrap();
    assert!(!FILES.is_empty());
    for (tag, _) in FILES {
        for document in &reference.documents {
            let title = document.title_in(tag);
            assert!(document.titles.contains_key(tag), "{tag}: {}", document.id);
            assert_eq!(numbers(&document.title), numbers(title), "{tag}: {title}");
        }
        for relation in &reference.relations {
            let Relation { id, says, circumstances, expected, why, .. } = relation;
            let statement = relation.statements.get(tag);
            let statement = statement.unwrap_or_else(|| panic!("{tag}: {id} is missing"));
            assert!(!statement.says.is_empty(), "{tag}: {id}");
            let pairs = [
                (says, &statement.says),
                (circumstances, &statement.circumstances),
                (expected, &statement.expected),
                (why, &statement.why),
            ];
            for (english, translated) in pairs {
                let lacks = translated.is_empty() && has_words(english);
                let same = translated.is_empty() || numbers(english) == numbers(translated);
                assert!(same && !lacks, "{tag}: {id}: {english}: {translated}");
            }
        }
    }
}

#[test]
fn untranslated_text_falls_back_to_english() {
    let reference = Reference::shipped().unwrap();
    let relation = reference.relations.iter().find(|r| r.id == "p3700-r01").unwrap();
    let text = relation.text_in("ja");
    assert_eq!((text.circumstances, text.expected), ("すべての負荷", "AIC = SFF"));
    assert!(text.says.ends_with('。') && text.why.contains('1'), "{text:?}");
    let Relation { says, circumstances, expected, why, .. } = relation;
    assert_eq!(relation.text_in("en"), RelationText { says, circumstances, expected, why });
}

#[test]
fn translation_of_unknown_id_is_refused() {
    let mut reference = Reference::shipped().unwrap();
    let Reference { documents, relations, .. } = &mut reference;
    let mut error = |text: &str| {
        let outcome = translate("xx", text, documents, relations);
        outcome.expect_err("there is no such thing").to_string()
    };
    let whole = "reference/translations/xx.toml: there is no ";
    let document = error("phrases = {}\nrelations = {}\ndocuments = { p3701 = \"x\" }");
    assert_eq!(document, format!("{whole}document `p3701`"));
    let relation =
        error("phrases = {}\ndocuments = {}\nrelations = { p3700-r99 = { says = \"x\" } }");
    assert_eq!(relation, format!("{whole}relation `p3700-r99`"));
    assert!(error("documents = 1").contains("xx.toml: TOML parse error"));
}

#[test]
fn numbers_are_found_as_words_and_ranges() {
    let found: BTreeSet<String> = numbers("Four of 190000..200000, x3.99.").into_iter().collect();
    assert_eq!(found, ["190000", "200000", "3.99", "4"].map(str::to_owned).into());
    assert!(has_words("512 = low") && !has_words("f(2) < 3 MB/s, ioDrive2, raid0x2"));
}
