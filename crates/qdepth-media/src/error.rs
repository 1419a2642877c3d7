//! Errors of this crate. Each names the field, its value, the valid values and the nearest name.

use thiserror::Error;

/// Error of a device model or a target expression.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MediaError {
    /// Unknown name.
    #[error(
        "there is no {what} `{name}`{}; there are: {known}",
        nearest_words(.nearest.as_deref())
    )]
    Unknown {
        /// `medium`, `format of ioDrive 320 GB`, `parameter`, …
        what: String,
        /// Name as written.
        name: String,
        /// Nearest known name, if any.
        nearest: Option<String>,
        /// All known names.
        known: String,
    },
    /// Value outside its range.
    #[error("{field} = {value}: must be {low} to {high} {unit}")]
    Range {
        /// The parameter.
        field: String,
        /// Value as written.
        value: String,
        /// Smallest valid value.
        low: f64,
        /// Largest valid value.
        high: f64,
        /// Unit of value and limits; may be empty.
        unit: String,
    },
    /// Invalid expression or array.
    #[error("`{text}`: {why}")]
    Expression {
        /// The part in error.
        text: String,
        /// Problem and remedy.
        why: String,
    },
    /// Invalid description file.
    #[error("device model `{name}`: {why}")]
    Description {
        /// Name of the device model or host.
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

    pub(crate) fn range(
        field: impl Into<String>,
        value: String,
        range: [f64; 2],
        unit: &str,
    ) -> Self {
        let [low, high] = range;
        Self::Range { field: field.into(), value, low, high, unit: unit.to_owned() }
    }

    pub(crate) fn expression(text: &str, why: impl Into<String>) -> Self {
        Self::Expression { text: text.to_owned(), why: why.into() }
    }
}
