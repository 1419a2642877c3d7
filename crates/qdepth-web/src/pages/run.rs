//! Page of a run: the sections of its report.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use qdepth_record::{PointRecord, RunState};
use qdepth_report::{Presentation, compose, html_part, load_in_words, longest_tail};

use crate::answer::html;
use crate::pages::{Frame, LANG, PageRequest, PageResult};

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage<'a> {
    frame: Frame<'a>,
    json: String,
    /// Note on a run that has not ended.
    unfinished: &'static str,
    notes: Vec<String>,
    report: String,
    /// Points with latency samples over time.
    points: Vec<Choice>,
}

/// Selectable point: number, name, and whether its heat map is shown.
struct Choice {
    number: u32,
    text: String,
    is_shown: bool,
}

pub(crate) fn page(request: &PageRequest<'_>) -> PageResult {
    let (run, points) = request.source.run(request.name)?;
    let alive: BTreeSet<String> = request.source.alive()?.into_iter().collect();
    let unfinished = match run.state {
        RunState::Running if alive.contains(&run.id) => request.words.unfinished,
        RunState::Running => request.words.was_killed,
        _ => "",
    };
    let columns = request.source.published.clone();
    let known: Vec<&PointRecord> =
        points.iter().filter(|point| point.has_latencies_over_time()).collect();
    let asked = request.query.first("point").and_then(|text| text.parse().ok());
    let asked = asked.filter(|asked| known.iter().any(|point| point.index == *asked));
    let shown = asked.or_else(|| longest_tail(known.iter().copied()));
    let over_time = shown.into_iter().collect();
    let presentation =
        Presentation { alive: Some(alive), columns, over_time, ..Presentation::from(request.lang) };
    let document = compose(&run, &points, presentation);
    let mut frame = request.frame(document.title.clone()).with_aids();
    frame.mark.clone_from(&document.mark);
    let page = RunPage {
        frame,
        json: format!("/api/runs/{}", run.id),
        unfinished,
        notes: run.notes().map(str::to_owned).collect(),
        report: html_part(&document)?,
        points: known.into_iter().map(|point| choice(request, point, shown)).collect(),
    };
    Ok(html(StatusCode::OK, page.render()?))
}

fn choice(request: &PageRequest<'_>, point: &PointRecord, shown: Option<u32>) -> Choice {
    let load = load_in_words(request.lang, &point.profile, &point.profile_title, &point.step);
    let depth =
        if point.step.is_empty() { format!(", QD {}", point.queue_depth) } else { String::new() };
    let number = point.index;
    Choice { number, text: format!("{number}: {load}{depth}"), is_shown: shown == Some(number) }
}
