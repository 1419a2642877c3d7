//! Errors of reading the reference data (`reference/`).

/// Error in a file of `reference/`, with its position.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file is not a CSV table with the expected columns.
    #[error("reference/{file}: {source}")]
    Csv {
        /// Which.
        file: &'static str,
        /// Error with its line.
        source: csv::Error,
    },
    /// The file is not the expected TOML.
    #[error("reference/{file}: {source}")]
    Toml {
        /// Which.
        file: &'static str,
        /// Error with its line.
        source: Box<toml::de::Error>,
    },
    /// A value is not among the permitted ones.
    #[error("reference/{file}, {id}: {what}")]
    Value {
        /// Which.
        file: &'static str,
        /// Id of the figure or relation.
        id: String,
        /// Text found and alternatives.
        what: String,
    },
    /// A translation file is malformed or refers to unknown entries.
    #[error("reference/translations/{tag}.toml: {what}")]
    Translation {
        /// Language tag.
        tag: &'static str,
        /// Problem.
        what: String,
    },
    /// A document that is not among the published ones.
    #[error("there is no document `{name}`; there are: {known}")]
    NoSuchDocument {
        /// Requested name.
        name: String,
        /// All known ids.
        known: String,
    },
}
