//! Pages and catalogues in plain English hold none of the words that the style guide gave up.

use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// Words and phrases that translate another grammar, in small letters.
const WORDS: [&str; 22] = [
    "told",
    "tells",
    "stands",
    "stand beside",
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
/// Pages that are in plain English; the list grows until it holds all of docs.
const PAGES: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "README.md",
    "SECURITY.md",
    "crates/qdepth-words/text/en.toml",
    "docs/README.md",
    "docs/cookbook.md",
    "docs/emulated-media.md",
    "docs/engines.md",
    "docs/events.md",
    "docs/file-systems.md",
    "docs/fio.md",
    "docs/installation.md",
    "docs/json.md",
    "docs/method/checklist.md",
    "docs/method/comparing.md",
    "docs/method/measuring.md",
    "docs/method/papers-of-others.md",
    "docs/method/sins.md",
    "docs/method/steady.md",
    "docs/method/thresholds.md",
    "docs/migration/iometer.md",
    "docs/migration/ior.md",
    "docs/own-medium.md",
    "docs/preparation.md",
    "docs/quick-start.md",
    "docs/reading-the-output.md",
    "docs/recipes/burn-in.md",
    "docs/recipes/ci-gate.md",
    "docs/recipes/cloud-volumes.md",
    "docs/recipes/cluster.md",
    "docs/recipes/kubernetes.md",
    "docs/recipes/sql.md",
    "docs/reference/csv.md",
    "docs/reference/findings.md",
    "docs/reference/guards.md",
    "docs/reference/options.md",
    "docs/reference/plan-files.md",
    "docs/reference/reasons.md",
    "docs/reference/remarks.md",
    "docs/report.md",
    "docs/reproduce.md",
    "docs/schema.md",
    "docs/troubleshooting.md",
    "docs/web.md",
];

/// Words with which a doc comment must not open: it defines a thing by a noun or a verb.
const OPENINGS: [&str; 12] = [
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

/// Says which page holds which of the words.
pub(super) fn check(broken: &mut Vec<String>) -> Result<()> {
    for page in PAGES {
        let text = fs::read_to_string(root().join(page)).with_context(|| (*page).to_owned())?;
        for (number, line) in text.lines().enumerate() {
            let line = if page.ends_with(".toml") { quoted(line) } else { prose(line) };
            for word in found(&line) {
                let number = number + 1;
                broken.push(format!("{page}:{number}: `{word}` is not plain English"));
            }
        }
    }
    Ok(())
}

/// The texts of a line of a catalogue, without its placeholders.
fn quoted(line: &str) -> String {
    if line.starts_with(['#', '"']) {
        return String::new();
    }
    let texts: String = line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ");
    texts.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect()
}

/// A line of a page without its code.
fn prose(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn found(text: &str) -> impl Iterator<Item = &'static str> {
    let letters = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let text: String = text.to_lowercase().chars().map(letters).collect();
    let text = format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "));
    WORDS.into_iter().filter(move |word| text.contains(&format!(" {word} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_prose_and_in_texts_and_not_in_code() {
        assert_eq!(found(&prose("Of each it is told `beside`")).collect::<Vec<_>>(), ["told"]);
        assert_eq!(found(&quoted("beside = \"{told} stands\"")).collect::<Vec<_>>(), ["stands"]);
        assert_eq!(found(&quoted("# stands")).count(), 0);
    }

    #[test]
    fn only_the_first_word_of_a_doc_comment_in_src_is_checked() {
        let text = "/// A size.\n/// What follows.\nx;\n    /// Whether it is.\n// Where else\n";
        let mut broken = Vec::new();
        comments("crates/a/tests/a.rs", text, &mut broken);
        assert!(broken.is_empty());
        comments("crates/a/src/a.rs", text, &mut broken);
        assert_eq!(broken, ["crates/a/src/a.rs:4: a doc comment opens with `Whether`"]);
    }
}
