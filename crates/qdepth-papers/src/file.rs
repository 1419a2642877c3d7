//! Parsers of the files of `reference/`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Error in a file of `reference/`, with its position.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DataError(pub(crate) String);

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
    toml::from_str(text).map_err(|error| DataError(format!("reference/{file}: {error}")))
}

/// Parses a CSV file.
pub(crate) fn rows<T: DeserializeOwned>(
    file: &'static str,
    text: &str,
) -> Result<Vec<T>, DataError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    let all: Result<_, csv::Error> = rows.collect();
    all.map_err(|error| DataError(format!("reference/{file}: {error}")))
}

/// Refuses repeated IDs, and entries for which the check gives an ID and a problem.
pub(crate) fn checked<T>(
    file: &'static str,
    all: Vec<T>,
    check: impl Fn(&T) -> (&str, Option<&'static str>),
) -> Result<Vec<T>, DataError> {
    let mut known = BTreeSet::new();
    for entry in &all {
        let (id, problem) = check(entry);
        let twice = (!known.insert(id)).then_some("this ID occurs twice");
        if let Some(what) = twice.or(problem) {
            return Err(DataError(format!("reference/{file}, {id}: {what}")));
        }
    }
    Ok(all)
}
