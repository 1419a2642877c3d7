//! Translations of documents and relations: files of `reference/translations`, named by BCP 47 tag.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::file::DataError;

/// Contents of the translation files, by tag.
pub(crate) const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/translations.rs"));

/// Translation of a relation; empty parts fall back to English.
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

/// Content of a translation file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Translation {
    /// Titles by the ids of documents.
    pub(crate) documents: BTreeMap<String, String>,
    /// Statements by the ids of relations.
    pub(crate) relations: BTreeMap<String, Statement>,
    /// Translations of phrases, by English phrase; `#` stands for a number, `@` for a name of
    /// hardware.
    pub(crate) phrases: BTreeMap<String, String>,
}

/// Translations of phrases in a language, by English phrase; empty for English.
pub fn phrases_in(tag: &str) -> &'static BTreeMap<String, String> {
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    static ALL: LazyLock<BTreeMap<&str, BTreeMap<String, String>>> = LazyLock::new(|| {
        // An invalid file is reported when the reference data are read.
        let phrases =
            |(tag, text): &(&'static str, &str)| Some((*tag, read(tag, text).ok()?.phrases));
        FILES.iter().filter_map(phrases).collect()
    });
    ALL.get(tag).unwrap_or(&NONE)
}

/// Parses a translation file.
///
/// # Errors
/// If it is not of the expected form.
pub(crate) fn read(tag: &'static str, text: &str) -> Result<Translation, DataError> {
    let bad = |error| DataError(format!("reference/translations/{tag}.toml: {error}"));
    toml::from_str(text).map_err(bad)
}

#[cfg(test)]
mod tests;
