//! Why a file of `reference/` cannot be used.

use crate::expression::ParseError;

/// A fault in a file of `reference/`, with its place.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file is no table of the expected form.
    #[error("reference/{file}: {source}")]
    Csv {
        /// Which.
        file: &'static str,
        /// What is wrong, with the line.
        source: csv::Error,
    },
    /// The file is not the expected TOML.
    #[error("reference/{file}: {source}")]
    Toml {
        /// Which.
        file: &'static str,
        /// What is wrong, with the line.
        source: Box<toml::de::Error>,
    },
    /// An expression cannot be read.
    #[error("reference/{file}, {id}: `{text}`: {source}")]
    Expression {
        /// Which.
        file: &'static str,
        /// Of which figure or relation.
        id: String,
        /// As written.
        text: String,
        /// What is wrong.
        source: ParseError,
    },
    /// A value is not one that could stand there.
    #[error("reference/{file}, {id}: {what}")]
    Value {
        /// Which.
        file: &'static str,
        /// Of which figure or relation.
        id: String,
        /// What stands there and what could.
        what: String,
    },
    /// A file of `translations` is not what it should be.
    #[error("reference/translations/{tag}.toml: {what}")]
    Translation {
        /// Of which language.
        tag: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A document that is not among the published ones.
    #[error("there is no document `{name}`; there are: {known}")]
    NoSuchDocument {
        /// As asked for.
        name: String,
        /// All there are.
        known: String,
    },
}
