//! Translations of the documents and their relations: a file of `reference/translations`, named by
//! its BCP 47 tag.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::error::DataError;

/// The files, each with its tag.
pub(crate) const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/translations.rs"));

/// Translation of a relation; empty parts are in English.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    pub(crate) says: String,
    #[serde(rename = "where", default)]
    pub(crate) circumstances: String,
    #[serde(default)]
    pub(crate) expected: String,
    #[serde(default)]
    pub(crate) why: String,
}

/// A file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Translation {
    /// Titles by the ids of documents.
    pub(crate) documents: BTreeMap<String, String>,
    /// Statements by the ids of relations.
    pub(crate) relations: BTreeMap<String, Statement>,
    /// Words of the other files, by those words; `#` stands for a number, `@` for a word of the
    /// machine.
    pub(crate) phrases: BTreeMap<String, String>,
}

/// Words of the published figures in a language, by the words that the data have; none in English.
pub fn phrases_in(tag: &str) -> &'static BTreeMap<String, String> {
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    static ALL: LazyLock<BTreeMap<&str, BTreeMap<String, String>>> = LazyLock::new(|| {
        // A file that is not what it should be fails where the reference data are read.
        let phrases =
            |(tag, text): &(&'static str, &str)| Some((*tag, read(tag, text).ok()?.phrases));
        FILES.iter().filter_map(phrases).collect()
    });
    ALL.get(tag).unwrap_or(&NONE)
}

/// The translation in this text.
///
/// # Errors
/// If it is not of the expected form.
pub(crate) fn read(tag: &'static str, text: &str) -> Result<Translation, DataError> {
    let bad = |source: toml::de::Error| DataError::Translation { tag, what: source.to_string() };
    toml::from_str(text).map_err(bad)
}
