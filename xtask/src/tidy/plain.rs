//! Plain English: words that pages and the English catalogue must not contain, and openings that
//! doc comments must not have.

use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// Rejected words and phrases, in lower case.
const WORDS: [&str; 21] = [
    "told",
    "tells",
    "stands",
    "anew",
    "beside",
    "whoever",
    "likewise",
    "meanwhile",
    "in turn",
    "for good",
    "held against",
    "taken back",
    "taken up again",
    "to be had",
    "so many",
    "so often",
    "are possible",
    "made again",
    "of its own accord",
    "cannot tell",
    "in place of",
];

/// The English texts of reports, findings and errors.
const CATALOGUE: &str = "crates/qdepth-words/text/en.toml";
/// Exempt pages: design notes are minutes of decisions, and the table of contents repeats their
/// titles.
const NOT_YET: [&str; 2] = ["docs/design/", "docs/SUMMARY.md"];

/// Words with which a doc comment or the name of a test must not open: it starts with a noun or a
/// verb.
pub(super) const OPENINGS: [&str; 12] = [
    "What", "Whether", "How", "Where", "When", "As", "Who", "Whoever", "Whose", "Which", "That",
    "Of",
];

/// Reports doc comments of a source file that open with a free relative.
pub(super) fn comments(name: &str, text: &str, broken: &mut Vec<String>) {
    if !name.contains("/src/") {
        return;
    }
    let mut above = "";
    for (number, line) in text.lines().map(str::trim_start).enumerate() {
        let marker = ["/// ", "//! "].into_iter().find(|marker| line.starts_with(marker));
        if let Some(marker) = marker.filter(|marker| !above.starts_with(marker.trim_end())) {
            let word = line[marker.len()..].split([' ', ',', ':']).next().unwrap_or_default();
            if OPENINGS.contains(&word) {
                let number = number + 1;
                broken.push(format!("{name}:{number}: a doc comment opens with `{word}`"));
            }
        }
        above = line;
    }
}

/// Reports the words that the English catalogue contains.
pub(super) fn catalogue(broken: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join(CATALOGUE)).context(CATALOGUE)?;
    report(CATALOGUE, text.lines().map(quoted), broken);
    Ok(())
}

/// Reports the words that a page contains outside of its code.
pub(super) fn page(name: &str, text: &str, broken: &mut Vec<String>) {
    if !NOT_YET.iter().any(|exempt| name.starts_with(exempt)) {
        report(name, prose(text).into_iter(), broken);
    }
}

/// Paths of somebody's machine, and beginnings of citations, that no reader can open.
const STRAY: [&str; 4] = ["/work/", "/root/", "(notes on ", "document 00"];

/// Reports those that a source file or page holds.
pub(super) fn stray(name: &str, text: &str, broken: &mut Vec<String>) {
    let is_here = |word: &&&str| text.contains(**word) && name != "xtask/src/tidy/plain.rs";
    for word in STRAY.iter().filter(is_here) {
        broken.push(format!("{name}: holds what no reader can open ({word}…)"));
    }
}

fn report(name: &str, lines: impl Iterator<Item = String>, broken: &mut Vec<String>) {
    for (line, word) in found(lines) {
        broken.push(format!("{name}:{line}: `{word}` is not plain English"));
    }
}

/// Lines of a page without code: in place of fences and between backticks there is nothing.
pub(super) fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let lines = text.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        let shown = if fenced || is_fence { "" } else { line };
        shown.split('`').step_by(2).collect::<Vec<_>>().join("`")
    });
    lines.collect()
}

/// Texts in a line of the catalogue, without their placeholders.
fn quoted(line: &str) -> String {
    if line.starts_with(['#', '"']) {
        return String::new();
    }
    let texts: String = line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ");
    texts.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect()
}

/// Finds the phrases in lines, also across line ends, with the numbers of their first lines.
fn found(lines: impl Iterator<Item = String>) -> Vec<(usize, &'static str)> {
    let letters = |c: char| !c.is_alphanumeric() && c != '-';
    let mut words: Vec<(usize, String)> = Vec::new();
    for (number, line) in lines.enumerate() {
        let of_line = line.split(letters).filter(|word| !word.is_empty());
        words.extend(of_line.map(|word| (number + 1, word.to_lowercase())));
    }
    let mut all = Vec::new();
    for phrase in WORDS {
        let parts: Vec<&str> = phrase.split(' ').collect();
        let same = |window: &&[(usize, String)]| window.iter().map(|(_, word)| word).eq(&parts);
        all.extend(words.windows(parts.len()).filter(same).map(|window| (window[0].0, phrase)));
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discouraged_words_are_found_in_prose_only() {
        let of_page = |text: &str| found(prose(text).into_iter());
        assert_eq!(of_page("Of each it is told `beside`"), [(1, "told")]);
        assert_eq!(of_page("one\n\nin place\nof it, in-turn"), [(3, "in place of")]);
        assert_eq!(of_page("```\ntold\n```\nstands"), [(4, "stands")]);
        let of_text = |line: &str| found([quoted(line)].into_iter());
        assert_eq!(of_text("beside = \"{told} stands\""), [(1, "stands")]);
        assert_eq!(of_text("# stands"), []);
    }

    #[test]
    fn only_first_doc_comment_word_is_checked() {
        let text = "/// A size.\n/// What follows.\nx;\n    /// Whether it is.\n// Where else\n";
        let mut broken = Vec::new();
        comments("crates/a/tests/a.rs", text, &mut broken);
        assert!(broken.is_empty());
        comments("crates/a/src/a.rs", text, &mut broken);
        assert_eq!(broken, ["crates/a/src/a.rs:4: a doc comment opens with `Whether`"]);
    }
}
