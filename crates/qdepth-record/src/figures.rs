//! Values of facts with several parts: a code, and texts and figures by name, for example `passes
//! load=random block_size=4KiB area_bytes=1073741824 passes=1`. The catalogues word them in every
//! language.

use std::collections::BTreeMap;

/// Passes over a target before the first point.
pub const PASSES: &str = "passes";
/// Rounds over a target before the first point, until it was steady or the maximum was reached.
pub const ROUNDS: &str = "rounds";
/// Summary of the newest certificate of the machine.
pub const PROOFS: &str = "proofs";

/// Texts of [`PASSES`] and [`ROUNDS`] that are codes: loads, and rules for steady state.
pub const CODES: [&str; 5] = ["sequential", "random", "one-pass", "own", "snia"];

/// All codes, with the names of their texts and of their figures.
pub const ALL: [(&str, &[&str], &[&str]); 3] = [
    (PASSES, &["load", "block_size"], &["passes", "area_bytes", "took_ns"]),
    (
        ROUNDS,
        &["load", "block_size", "state", "rule"],
        &[
            "rounds",
            "round_ns",
            "period_rounds",
            "io_per_s",
            "range_share",
            "slope_share",
            "written_bytes",
            "times_written",
        ],
    ),
    (PROOFS, &["at", "version", "kernel", "id"], &["passed", "failed", "proofs"]),
];

/// A value with several parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Code, one of [`ALL`].
    pub code: String,
    /// Texts by name: codes, names and identifiers.
    pub texts: BTreeMap<String, String>,
    /// Figures by name; the unit is the last part of the name.
    pub figures: BTreeMap<String, f64>,
}

impl Figures {
    /// An empty value with this code.
    pub fn new(code: &str) -> Self {
        Self { code: code.to_owned(), texts: BTreeMap::new(), figures: BTreeMap::new() }
    }

    /// Adds a text, unless it is empty. A space would end the text, so it becomes `_`.
    #[must_use]
    pub fn text(mut self, name: &str, text: &str) -> Self {
        if !text.is_empty() {
            self.texts.insert(name.to_owned(), text.replace(char::is_whitespace, "_"));
        }
        self
    }

    /// Adds a figure.
    #[must_use]
    pub fn figure(mut self, name: &str, figure: f64) -> Self {
        self.figures.insert(name.to_owned(), figure);
        self
    }

    /// The stored form, as the value of a fact.
    pub fn stored(&self) -> String {
        let texts = self.texts.iter().map(|(name, text)| format!(" {name}={text}"));
        let figures = self.figures.iter().map(|(name, figure)| format!(" {name}={figure}"));
        [self.code.clone()].into_iter().chain(texts).chain(figures).collect()
    }

    /// Reads the result of [`Self::stored`]; `None` for other values, for example sentences of
    /// earlier versions.
    pub fn read(value: &str) -> Option<Self> {
        let mut words = value.split(' ');
        let code = words.next()?;
        let (.., names) = ALL.into_iter().find(|(known, ..)| *known == code)?;
        let mut read = Self::new(code);
        for word in words {
            let (name, value) = word.split_once('=')?;
            read = if names.contains(&name) {
                let figure = value.parse().ok().filter(|figure: &f64| figure.is_finite())?;
                read.figure(name, figure)
            } else {
                read.text(name, value)
            };
        }
        (!read.figures.is_empty()).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structured_value_round_trips() {
        for (code, texts, figures) in ALL {
            let mut value = Figures::new(code);
            for name in texts {
                value = value.text(name, "6.12=a");
            }
            for (index, name) in figures.iter().enumerate() {
                value = value.figure(name, index as f64 + 0.25);
            }
            assert_eq!(Figures::read(&value.stored()), Some(value));
        }
        let passes = Figures::new(PASSES).text("load", "a b").text("block_size", "");
        let passes = passes.figure("took_ns", 9e12);
        assert_eq!(passes.stored(), "passes load=a_b took_ns=9000000000000");
    }

    #[test]
    fn other_text_is_not_a_structured_value() {
        for value in [
            "",
            "steady",
            "passes",
            "passes load=random",
            "passes passes=many",
            "passes passes=inf",
            "passes  passes=1",
            "random 4KiB, 1 pass of 64GiB in 3 min",
            "5 of 9 tests passed, 1 failed, 2026-01-01T00:00:00Z, qdepth 0.1.0, Linux 6.1, a",
        ] {
            assert_eq!(Figures::read(value), None, "{value}");
        }
    }
}
