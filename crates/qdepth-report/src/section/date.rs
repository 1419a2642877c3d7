//! Dates and times for people.

use crate::words::{Words, fill_in};

/// The day of an RFC 3339 time.
pub(crate) fn date(at: &str, words: &Words) -> String {
    let day = at.split('T').next().unwrap_or(at);
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return day.to_owned() };
    let values = [("year", *year), ("month", *month), ("day", *day)];
    fill_in(words.date, &values.map(|(name, value)| (name, value.to_owned())))
}

/// An RFC 3339 time in UTC, to the minute.
pub(crate) fn moment(at: &str, words: &Words) -> String {
    match at.split_once('T') {
        Some((_, time)) if at.ends_with('Z') && time.is_ascii() && time.len() > 5 => {
            format!("{} {} UTC", date(at, words), &time[..5])
        }
        _ => at.to_owned(),
    }
}
