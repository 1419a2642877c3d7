//! A plan on its targets from run to run, as `qdepth trend` tells it.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;
use qdepth_record::RunHeadline;
use qdepth_report::{compose_trend, html_part, trend};

use crate::answer::html;
use crate::pages::{Answer, Asked, Frame, THRESHOLD, fill};

/// More runs than these, the newest, are no page.
const RUNS_MAX: usize = 400;
/// Plans and targets that are offered.
const OFFERED: usize = 100;

#[derive(Template)]
#[template(path = "trend.html")]
struct TrendPage<'a> {
    frame: Frame<'a>,
    choices: Vec<Choice>,
    report: String,
}

/// Runs that are alike: a plan on the same targets.
struct Choice {
    /// As it stands in the address.
    plan: String,
    targets: String,
    text: String,
    chosen: bool,
}

/// What tells one such set of runs from another.
type Kind = (String, String);

fn kind(run: &RunHeadline) -> Kind {
    (run.plan.clone(), run.targets.join(", "))
}

pub(crate) fn page(asked: &Asked<'_>) -> Answer {
    let listing = asked.source.runs(0)?;
    // The newest first; each kind with how many there are.
    let alike: Vec<&RunHeadline> = listing.runs.iter().filter(|run| run.is_comparable()).collect();
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut kinds: Vec<Kind> = Vec::new();
    for run in &alike {
        let count = counts.entry(kind(run)).or_default();
        *count += 1;
        // One run has no course.
        if *count == 2 {
            kinds.push(kind(run));
        }
    }
    let named = |name| asked.query.one(name).filter(|text| !text.is_empty());
    let fits = |(plan, targets): &&Kind| {
        named("plan").is_none_or(|asked| asked == plan)
            && named("target").is_none_or(|asked| asked == targets)
    };
    let chosen = kinds.iter().find(fits).cloned();
    let mut frame = asked.frame(asked.words.trend);
    let mut report = String::new();
    if let Some(chosen) = &chosen {
        let of_it = alike.iter().filter(|run| kind(run) == *chosen).take(RUNS_MAX);
        let ids: Vec<&str> = of_it.map(|run| run.id.as_str()).collect();
        let mut runs = asked.source.whole_runs(&ids)?;
        runs.reverse();
        let document = compose_trend(&trend(&runs, THRESHOLD), asked.lang);
        frame.mark.clone_from(&document.mark);
        report = html_part(&document)?;
    }
    let choice = |kind: &Kind| Choice {
        plan: kind.0.clone(),
        targets: kind.1.clone(),
        text: format!(
            "{} · {} · {}",
            kind.0,
            kind.1,
            fill(asked.words.runs_here, "n", &counts[kind].to_string())
        ),
        chosen: chosen.as_ref() == Some(kind),
    };
    let choices = kinds.iter().take(OFFERED).map(choice).collect();
    Ok(html(StatusCode::OK, TrendPage { frame, choices, report }.render()?))
}
