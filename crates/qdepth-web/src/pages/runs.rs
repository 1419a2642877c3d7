//! List of runs, with its filters.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use qdepth_record::{RunHeadline, STATES};

use crate::answer::html;
use crate::pages::filter::filter;
use crate::pages::{Frame, LANG, PageRequest, PageResult, fill};
use crate::source::RUNS_LISTED_MAX;

/// Maximum number of runs on one page.
const SHOWN: usize = RUNS_LISTED_MAX;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage<'a> {
    frame: Frame<'a>,
    /// Notice instead of a list, or above it.
    notice: String,
    /// Path of the logbook, if it does not exist yet.
    path: String,
    count: String,
    search: String,
    target: String,
    since: String,
    until: String,
    choices: Vec<Choice>,
    rows: Vec<Line<'a>>,
    newer: Option<String>,
    older: Option<String>,
}

/// Selection list of a filter, with the current choice.
struct Choice {
    name: &'static str,
    title: &'static str,
    values: Vec<(String, String)>,
    chosen: String,
}

struct Line<'a> {
    run: &'a RunHeadline,
    short: String,
    address: String,
    started: String,
    state: &'static str,
    emulated: bool,
}

pub(crate) fn page(request: &PageRequest<'_>) -> PageResult {
    let listing = request.source.runs(0, |_| true)?;
    let (query, words) = (&request.query, request.words);
    let (filter, refused) = match filter(request) {
        Ok(filter) => (Some(filter), None),
        Err(why) => (None, Some(why)),
    };
    let fits = |run: &&RunHeadline| filter.as_ref().is_some_and(|filter| filter.fits(run));
    let found: Vec<&RunHeadline> = listing.runs.iter().filter(fits).collect();
    let pages = found.len().div_ceil(SHOWN).max(1);
    let number =
        query.first("page").and_then(|text| text.parse().ok()).unwrap_or(1).clamp(1, pages);
    let shown: Vec<&RunHeadline> =
        found.iter().copied().skip((number - 1) * SHOWN).take(SHOWN).collect();
    let shown = request.source.read_each(&shown)?;
    let rows: Vec<Line<'_>> = shown.iter().map(|run| line(request, run)).collect();
    let to = |number: usize| query.with("page", number.to_string()).address("/");
    let notice = match (listing.exists, listing.runs.is_empty(), rows.is_empty()) {
        (false, ..) => words.no_logbook,
        _ if !listing.whole => words.may_be_missing,
        (_, true, _) => words.no_runs,
        (.., true) => words.nothing_found,
        _ => "",
    };
    let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let count = fill(words.count, "shown", &found.len().to_string());
    let text = |name| query.first(name).unwrap_or_default().to_owned();
    let page = RunsPage {
        frame: request.frame(words.runs),
        notice: refused.unwrap_or_else(|| notice.to_owned()),
        path: request.source.path().display().to_string(),
        count: fill(&count, "all", &listing.runs.len().to_string()),
        search: text("q"),
        target: text("target"),
        since: text("since"),
        until: text("until"),
        choices: choices(request, &listing.runs),
        rows,
        newer: (number > 1).then(|| to(number - 1)),
        older: (number < pages).then(|| to(number + 1)),
    };
    Ok(html(status, page.render()?))
}

fn choices(request: &PageRequest<'_>, runs: &[RunHeadline]) -> Vec<Choice> {
    let words = request.words;
    let options = |text: fn(&RunHeadline) -> &String| {
        let all: BTreeSet<&String> =
            runs.iter().map(text).filter(|text| !text.is_empty()).collect();
        all.into_iter().map(|text| (text.clone(), text.clone())).collect()
    };
    let states = STATES.iter().zip(words.states);
    let states = states.map(|(name, text)| ((*name).to_owned(), text.to_owned())).collect();
    let all = [
        ("plan", words.plan, options(|run| &run.plan)),
        ("host", words.host, options(|run| &run.host)),
        ("state", words.state, states),
    ];
    let choice = |(name, title, values)| {
        let chosen = request.query.first(name).unwrap_or_default().to_owned();
        Choice { name, title, values, chosen }
    };
    all.map(choice).into_iter().collect()
}

fn line<'a>(request: &PageRequest<'_>, run: &'a RunHeadline) -> Line<'a> {
    Line {
        run,
        short: run.id.chars().take(13).collect(),
        address: request.link(&format!("/runs/{}", run.id)),
        started: run.started_at.chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect(),
        state: request.words.states[run.state as usize],
        // Most emulated targets already show the mark in their names.
        emulated: run.emulated && !run.targets.iter().all(|target| target.contains("EMULATED")),
    }
}
