//! Letters that replace names in headings of ratios: the names of two products would make a column
//! wider than its figures, or wrap its heading to four lines.

use crate::section::columns::{base, base_is_above, published};
use crate::view::View;
use crate::words::with_subject;

/// Largest total length of two names that need no letters.
const SHORT: usize = 24;
/// Number of available letters.
const LETTERS: usize = 26;

/// Divided columns, with letters instead of long names.
pub(crate) struct Letters<'v, 'a> {
    view: &'v View<'a>,
    /// Names in the order of their letters; empty if names are used as they are.
    names: Vec<String>,
}

impl<'v, 'a> Letters<'v, 'a> {
    pub(crate) fn new(view: &'v View<'a>) -> Self {
        let published = published(view).map(|drive| drive.name(view));
        let targets = view.targets.iter().map(|target| view.target_name(*target));
        let names: Vec<String> = targets.chain(published).collect();
        let mut letters: Vec<usize> = names.iter().map(|name| name.chars().count()).collect();
        letters.sort_unstable();
        let longest: usize = letters.iter().rev().take(2).sum();
        let needed = longest > SHORT && names.len() <= LETTERS;
        Self { view, names: if needed { names } else { Vec::new() } }
    }

    fn letter(&self, name: &str) -> Option<String> {
        let index = self.names.iter().position(|known| known == name)?;
        Some(char::from(b'A' + index as u8).to_string())
    }

    /// Heading of a column of values, which introduces the letter.
    pub(crate) fn head(&self, name: &str) -> String {
        match self.letter(name) {
            Some(letter) => with_subject(self.view.lang, &letter, name),
            None => name.to_owned(),
        }
    }

    /// Heading of a column of ratios.
    pub(crate) fn quotient(&self, above: &str, below: &str) -> String {
        let [above, below] = [above, below].map(|n| self.letter(n).unwrap_or_else(|| n.to_owned()));
        format!("{above} ÷ {below}")
    }

    /// Meaning of the letters without a column of their own.
    pub(crate) fn key(&self, names: &[String]) -> Option<String> {
        let known: Vec<String> = names.iter().map(|name| self.head(name)).collect();
        (!self.names.is_empty()).then(|| known.join(self.view.words.clause))
    }
}

/// Heading of a ratio to the base, which is that of a comparison, or else the first target.
pub(crate) fn quotient_heading(view: &View<'_>, letters: &Letters<'_, '_>, other: &str) -> String {
    let base = view.target_name(base(view).unwrap_or_default());
    if base_is_above(view) {
        letters.quotient(&base, other)
    } else {
        letters.quotient(other, &base)
    }
}
