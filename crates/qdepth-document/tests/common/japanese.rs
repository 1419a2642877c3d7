//! Checks Japanese texts, and documents composed of them, against the list of terms in
//! crates/qdepth-words/japanese-terms.md.

use std::collections::BTreeSet;

use qdepth_document::document::Document;
use qdepth_document::markdown;
use qdepth_words::{Lang, words};

const TERMS: &str = include_str!("../../../qdepth-words/japanese-terms.md");

/// Polite endings: a sentence that ends in hiragana must have one of these; one that ends in a noun
/// has none.
const POLITE: [&str; 9] =
    ["です", "ます", "でした", "ました", "ません", "ください", "ですか", "ますか", "ましたか"];

/// Forbidden words, each with the term to use.
fn forbidden() -> Vec<(&'static str, &'static str)> {
    let rows = TERMS.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let never = |cells: Vec<&'static str>| {
        let [_, japanese, _, never] = cells[..] else { panic!("four cells: {cells:?}") };
        never.split(", ").map(|variant| (variant, japanese)).collect::<Vec<_>>()
    };
    cells.flat_map(never).collect()
}

pub(crate) fn permitted() -> BTreeSet<&'static str> {
    let (_, rest) = TERMS.split_once("```\n").unwrap();
    rest.split("```").next().unwrap().split_whitespace().collect()
}

/// Names in published documents, which stay untranslated.
const NAMES: [&str; 4] = ["Advertised Capacity", "Maximum Capacity", "write EIO", "「standard」"];

/// True if the text has a Japanese letter.
pub(crate) fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

fn is_hiragana(c: char) -> bool {
    ('\u{3041}'..='\u{309f}').contains(&c)
}

/// Text without code to type, and with each `{name}` reduced to `{}`.
pub(crate) fn bare(text: &str) -> String {
    let mut out = String::new();
    for (place, part) in text.split('`').enumerate() {
        out.push_str(if place % 2 == 0 { part } else { "{}" });
    }
    let mut parts = out.split('{');
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare.push_str("{}");
        bare.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    bare
}

/// Sentence without a final part in brackets.
fn without_brackets(sentence: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in sentence.char_indices().rev() {
        match letter {
            '）' => depth += 1,
            '（' => depth -= 1,
            _ if depth == 0 => return &sentence[..at + letter.len_utf8()],
            _ => {}
        }
    }
    sentence
}

/// Sentences whose last word is a plain form: である, した, ない.
fn plain_sentences(text: &str) -> Vec<String> {
    let whole = text.replace(['[', ']'], "");
    let ends = whole.split('。');
    let count = whole.matches('。').count();
    let sentences = ends.take(count).map(without_brackets);
    let plain = |sentence: &&str| {
        sentence.ends_with(is_hiragana) && !POLITE.iter().any(|end| sentence.ends_with(end))
    };
    sentences.filter(plain).map(|sentence| format!("{sentence}。 is a plain form")).collect()
}

/// Violations of the list in a text.
pub(crate) fn faults(text: &str) -> Vec<String> {
    let text = bare(text);
    let mut all: Vec<String> = forbidden()
        .into_iter()
        .filter(|(never, _)| text.contains(never))
        .map(|(never, term)| format!("{never} for {term}"))
        .collect();
    all.extend(plain_sentences(&text));
    let letters: Vec<char> = text.chars().collect();
    for three in letters.windows(3) {
        let [before, space, after] = three[..] else { continue };
        let particle = is_hiragana(after) && !is_japanese(&before.to_string());
        if space == ' ' && !"。、：）".contains(before) && (particle || after == '（')
            || space == ' ' && after == '(' && is_japanese(&before.to_string())
        {
            all.push(format!("a space before {after}"));
        }
        if is_japanese(&before.to_string()) && (space == ':' || space == '(' || space == '~') {
            all.push(format!("{space} of half width"));
        }
    }
    all
}

/// Words of the English texts, which must not appear in a Japanese report.
fn english() -> BTreeSet<String> {
    let texts = format!("{:#?}", words(Lang::En));
    let texts = bare(&texts.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("\n"));
    let words = texts.split(|c: char| !c.is_ascii_alphabetic());
    let words = words.filter(|word| word.len() > 1 && word.chars().any(|c| c.is_ascii_lowercase()));
    words.map(str::to_lowercase).collect()
}

/// Visible texts of a document, without pictures, code to type, and texts that are `quoted` from
/// English documents.
fn shown(document: &Document, quoted: &[&str]) -> Vec<String> {
    let mut page = markdown(document, "figures").0;
    for quoted in quoted.iter().chain(&NAMES) {
        page = page.replace(quoted, "");
    }
    let mut in_code = false;
    let lines = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        in_code ^= fence;
        !fence && !in_code && !line.starts_with("![")
    });
    let cells = lines.flat_map(|line| line.split('|'));
    let plain = |cell: &str| cell.replace("**", "").replace(['\\', '~'], "");
    cells.map(|cell| plain(cell.trim().trim_start_matches(['#', '>', '-', '*']).trim())).collect()
}

/// Violations in Japanese documents, each once.
pub(crate) fn faults_of_all(documents: &[Document], quoted: &[&str]) -> Vec<String> {
    let (english, permitted) = (english(), permitted());
    let mut wrong = Vec::new();
    for document in documents {
        for line in shown(document, quoted).iter().filter(|line| is_japanese(line)) {
            wrong.extend(faults(line).into_iter().map(|fault| format!("{fault}: {line}")));
            let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_/.:@".contains(c)));
            let left = words.filter(|w| !permitted.contains(w) && english.contains(*w));
            wrong.extend(left.map(|word| format!("{word} is English: {line}")));
        }
    }
    wrong.sort();
    wrong.dedup();
    wrong
}
