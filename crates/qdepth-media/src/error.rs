//! Refusals of this crate: each names the field, the value, what is possible, and the nearest name.

use thiserror::Error;

/// Why a medium cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MediaError {
    /// A name that nothing has.
    #[error(
        "there is no {what} `{name}`{}; there are: {known}",
        nearest_words(.nearest.as_deref())
    )]
    Unknown {
        /// `medium`, `format of ioDrive 320 GB`, `parameter`, …
        what: String,
        /// Name as written.
        name: String,
        /// The nearest name that there is.
        nearest: Option<String>,
        /// All of them.
        known: String,
    },
    /// A value outside its range.
    #[error("{field} = {value}: must be {low} to {high} {unit}")]
    Range {
        /// The parameter.
        field: String,
        /// Value as written.
        value: String,
        /// Smallest possible.
        low: f64,
        /// Largest possible.
        high: f64,
        /// Unit of value and limits; may be empty.
        unit: String,
    },
    /// An expression that cannot be read, or an array that cannot be.
    #[error("`{text}`: {why}")]
    Expression {
        /// The part that is wrong.
        text: String,
        /// Problem and remedy.
        why: String,
    },
    /// A description file that cannot be read.
    #[error("the description `{name}`: {why}")]
    Description {
        /// The medium or host.
        name: String,
        /// Problem.
        why: String,
    },
}

fn nearest_words(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

impl MediaError {
    pub(crate) fn unknown<'a>(
        what: impl Into<String>,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.collect();
        let near = |candidate: &&&str| strsim::jaro_winkler(name, candidate);
        let nearest = known
            .iter()
            .max_by(|a, b| near(a).total_cmp(&near(b)))
            .filter(|candidate| near(candidate) > 0.7)
            .map(|candidate| (*candidate).to_owned());
        Self::Unknown { what: what.into(), name: name.to_owned(), nearest, known: known.join(", ") }
    }

    pub(crate) fn expression(text: &str, why: impl Into<String>) -> Self {
        Self::Expression { text: text.to_owned(), why: why.into() }
    }
}
