//! Parsers of the files of `reference/`.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::DataError;

/// TOML file that consists of a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List<T> {
    #[serde(alias = "document", alias = "plan", alias = "relation", alias = "target")]
    entries: Vec<T>,
}

/// Parses a TOML file that consists of a list.
pub(crate) fn list<T: DeserializeOwned>(
    file: &'static str,
    text: &str,
) -> Result<Vec<T>, DataError> {
    whole(file, text).map(|list: List<T>| list.entries)
}

/// Parses a TOML file.
pub(crate) fn whole<T: DeserializeOwned>(file: &'static str, text: &str) -> Result<T, DataError> {
    toml::from_str(text).map_err(|source| DataError::Toml { file, source: Box::new(source) })
}

/// Parses a CSV file.
pub(crate) fn rows<T: DeserializeOwned>(
    file: &'static str,
    text: &str,
) -> Result<Vec<T>, DataError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>().map_err(|source| DataError::Csv { file, source })
}
