//! Rejects words that the glossary deprecates: those between backticks in its last column.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// Deprecated words, each with its replacement.
pub(super) struct Words(BTreeMap<String, String>);

impl Words {
    /// Reads the deprecated words from GLOSSARY.md.
    pub(super) fn read(broken: &mut Vec<String>) -> Result<Self> {
        let text = fs::read_to_string(root().join("GLOSSARY.md")).context("GLOSSARY.md")?;
        let words = Self::from_glossary(&text);
        if words.0.is_empty() {
            broken.push("GLOSSARY.md: no word is given up between back ticks".to_owned());
        }
        Ok(words)
    }

    fn from_glossary(glossary: &str) -> Self {
        let rows = glossary.lines().filter(|line| line.starts_with("| "));
        let cells = rows.filter_map(|row| {
            let mut cells = row.trim_matches(['|', ' ']).split('|').map(str::trim);
            Some((cells.next()?, cells.next_back()?))
        });
        let words = cells.flat_map(|(use_it, avoid)| {
            let quoted = avoid.split('`').skip(1).step_by(2);
            quoted.map(move |word| (word.to_owned(), use_it.to_owned()))
        });
        Self(words.collect())
    }

    /// Reports deprecated words of a source file, each once.
    pub(super) fn check(&self, name: &str, text: &str, broken: &mut Vec<String>) {
        let mut found = BTreeMap::new();
        for word in parts(text) {
            let singular = ["es", "s"]
                .into_iter()
                .find_map(|end| word.strip_suffix(end).and_then(|stem| self.0.get_key_value(stem)));
            if let Some((word, instead)) = self.0.get_key_value(&word).or(singular) {
                found.insert(word, instead);
            }
        }
        for (word, instead) in found {
            broken.push(format!("{name}: `{word}` is called {instead} (GLOSSARY.md)"));
        }
    }
}

/// Words of a text in lower case; names are split into their words.
fn parts(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(|name| {
        let mut words = vec![String::new()];
        let mut was_small = false;
        for letter in name.chars() {
            if letter.is_ascii_uppercase() && was_small {
                words.push(String::new());
            }
            was_small = letter.is_ascii_lowercase();
            words.last_mut().expect("one word at least").push(letter.to_ascii_lowercase());
        }
        words
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let row = "| monitor | – | `peeper`, noise |";
        let words = Words::from_glossary(&format!("| a | b | avoid |\n|---|---|---|\n{row}"));
        let mut broken = Vec::new();
        words.check("a.rs", text, &mut broken);
        broken
    }

    #[test]
    fn deprecated_words_are_found_within_names() {
        for text in ["fn of_peepers()", "struct PeeperRecord;", "// A peeper.", "PEEPER_MAX"] {
            assert_eq!(found(text), ["a.rs: `peeper` is called monitor (GLOSSARY.md)"], "{text}");
        }
        assert!(found("fn noise() { monitor(); outpeeper() }").is_empty());
    }
}
