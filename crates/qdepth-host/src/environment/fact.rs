//! Conversion of files to facts.

use qdepth_record::{Observation, Reason};

use super::unknown::unreadable;
use crate::system::System;

/// Placeholder for an unreadable part of a value, in every language.
pub(super) const UNKNOWN: &str = "?";

pub(super) fn file_fact(system: &System, subject: &str, key: &str, path: &str) -> Observation {
    let value = read(system, path).and_then(|text| {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
        if text.is_empty() { Err(Reason::EmptyFile { path: path.to_owned() }) } else { Ok(text) }
    });
    fact(subject, key, value, path)
}

pub(super) fn read(system: &System, path: &str) -> Result<String, Reason> {
    system.read_file(path).map_err(|error| unreadable(path, &error))
}

/// The value; the reason if it is empty.
pub(super) fn unless_empty(value: String, reason: Reason) -> Result<String, Reason> {
    if value.is_empty() { Err(reason) } else { Ok(value) }
}

pub(super) fn fact(
    subject: &str,
    key: &str,
    value: Result<String, Reason>,
    source: &str,
) -> Observation {
    Observation {
        subject: subject.to_owned(),
        key: key.to_owned(),
        value,
        source: source.to_owned(),
    }
}
