//! Trend of a plan on its targets over the runs, like `qdepth trend`.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;
use qdepth_record::RunHeadline;
use qdepth_report::{TrendRequest, compose_trend, html_part};

use crate::answer::html;
use crate::pages::{Frame, PageRequest, PageResult, THRESHOLD, fill};

/// Largest number of runs shown: reading more takes too long.
const RUNS_MAX: usize = 60;
/// Maximum number of combinations of plan and targets in the selection list.
const OFFERED: usize = 100;

#[derive(Template)]
#[template(path = "trend.html")]
struct TrendPage<'a> {
    frame: Frame<'a>,
    choices: Vec<Choice>,
    report: String,
    /// Reason for its absence.
    why: String,
}

/// Selectable group of comparable runs: a plan on the same targets.
struct Choice {
    /// Plan of the address.
    plan: String,
    targets: String,
    text: String,
    chosen: bool,
}

/// Key of such a group: plan and targets.
type Kind = (String, String);

fn kind(run: &RunHeadline) -> Kind {
    (run.plan.clone(), run.targets.join(", "))
}

pub(crate) fn page(request: &PageRequest<'_>) -> PageResult {
    let listing = request.source.runs(0, |_| true)?;
    // Groups in order of their newest runs, with the number of runs of each.
    let alike: Vec<&RunHeadline> = listing.runs.iter().filter(|run| run.is_comparable()).collect();
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut kinds: Vec<Kind> = Vec::new();
    for run in &alike {
        let count = counts.entry(kind(run)).or_default();
        *count += 1;
        if *count == 1 {
            kinds.push(kind(run));
        }
    }
    // A single run has no trend.
    kinds.retain(|kind| counts[kind] > 1);
    let (plan, target) = (request.query.first("plan"), request.query.first("target"));
    let wanted = TrendRequest { plan, target, most: RUNS_MAX, threshold: THRESHOLD };
    let trend = request.source.trend(&listing.runs, &wanted)?;
    let newest = trend.runs.last().and_then(|last| alike.iter().find(|run| run.id == last.id));
    let chosen = newest.map(|run| kind(run));
    let mut frame = request.frame(request.words.trend).with_aids();
    let (mut report, mut why) = (String::new(), request.words.no_trend.to_owned());
    if trend.runs.len() > 1 {
        let document = compose_trend(&trend, request.lang);
        frame.mark.clone_from(&document.mark);
        report = html_part(&document)?;
    } else if let Some((plan, targets)) = chosen.as_ref().filter(|_| !kinds.is_empty()) {
        why = fill(&fill(request.words.measured_once, "plan", plan), "target", targets);
    }
    let choice = |kind: &Kind| Choice {
        plan: kind.0.clone(),
        targets: kind.1.clone(),
        text: format!(
            "{} · {} · {}",
            kind.0,
            kind.1,
            fill(request.words.runs_here, "n", &counts[kind].to_string())
        ),
        chosen: chosen.as_ref() == Some(kind),
    };
    let choices = kinds.iter().take(OFFERED).map(choice).collect();
    Ok(html(StatusCode::OK, TrendPage { frame, choices, report, why }.render()?))
}
