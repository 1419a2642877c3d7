//! Errors of this crate. Each names the field, its value, the valid values and the nearest name.

use qdepth_workload::meant;
use thiserror::Error;

/// Error of a device model or a target expression.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MediaError {
    /// Unknown name.
    #[error("there is no {what} `{name}`{meant}")]
    Unknown {
        /// `medium`, `format of ioDrive 320 GB`, `parameter`, …
        what: String,
        /// Name as written.
        name: String,
        /// Sentences on similar and known names.
        meant: String,
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

impl MediaError {
    pub(crate) fn unknown<'a>(
        what: impl Into<String>,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::unknown_of(what, name, known, "`qdepth media` lists them")
    }

    /// The same for names that another command lists.
    pub(crate) fn unknown_of<'a>(
        what: impl Into<String>,
        name: &str,
        known: impl Iterator<Item = &'a str>,
        listed_by: &str,
    ) -> Self {
        let meant = meant(name, &known.collect::<Vec<_>>(), listed_by);
        Self::Unknown { what: what.into(), name: name.to_owned(), meant }
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
