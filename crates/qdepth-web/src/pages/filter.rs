//! Filters of the list of runs, for its page and for programs.

use jiff::civil::Date;
use qdepth_record::{RunFilter, STATES};

use crate::pages::{LANG, PageRequest, fill};

/// Names of the filters.
const WORDS: [&str; 7] = ["q", "target", "plan", "host", "state", "since", "until"];

/// Filter of a request, or the error in it.
pub(crate) fn filter(request: &PageRequest<'_>) -> Result<RunFilter, String> {
    let (query, words) = (&request.query, request.words);
    let given = |name: &str| query.first(name).map(|text| text.trim().to_owned());
    let day = |name: &str| {
        let read = |text: String| match text.parse::<Date>() {
            Ok(day) => Ok(day.to_string()),
            Err(_) => Err(fill(words.no_day, "value", &text)),
        };
        given(name).map(read).transpose()
    };
    let state = given("state");
    if let Some(other) = state.as_deref().filter(|name| !STATES.contains(name)) {
        let why = fill(words.no_state, "value", other);
        return Err(fill(&why, "states", &STATES.join(", ")));
    }
    let parts = query.first("q").unwrap_or_default().split_whitespace();
    Ok(RunFilter {
        words: parts.map(str::to_owned).collect(),
        notes: Vec::new(),
        target: given("target"),
        plan: given("plan"),
        host: given("host"),
        state,
        since: day("since")?,
        until: day("until")?,
    })
}

/// Like [`filter`], but also refuses unknown names: a program would otherwise believe that they
/// filter.
pub(crate) fn strict(request: &PageRequest<'_>) -> Result<RunFilter, String> {
    let unknown = request.query.names().find(|name| !WORDS.contains(name) && *name != LANG);
    if let Some(name) = unknown {
        let why = fill(request.words.no_filter, "value", name);
        return Err(fill(&why, "words", &WORDS.join(", ")));
    }
    filter(request)
}
