//! A run: the sections of its report.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use qdepth_record::RunState;
use qdepth_report::{Presentation, compose, html_part};

use crate::answer::html;
use crate::pages::{Answer, Frame, PageRequest};

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage<'a> {
    frame: Frame<'a>,
    json: String,
    /// Note on a run that has not ended.
    unfinished: &'static str,
    notes: Vec<String>,
    report: String,
}

pub(crate) fn page(request: &PageRequest<'_>) -> Answer {
    let (run, points) = request.source.run(request.name)?;
    let alive: BTreeSet<String> = request.source.alive()?.into_iter().collect();
    let unfinished = match run.state {
        RunState::Running if alive.contains(&run.id) => request.words.unfinished,
        RunState::Running => request.words.was_killed,
        _ => "",
    };
    let columns = request.source.published.clone();
    let presentation =
        Presentation { alive: Some(alive), columns, ..Presentation::from(request.lang) };
    let document = compose(&run, &points, presentation);
    let mut frame = request.frame(document.title.clone()).with_aids();
    frame.mark.clone_from(&document.mark);
    let page = RunPage {
        frame,
        json: format!("/api/runs/{}", run.id),
        unfinished,
        notes: run.notes().map(str::to_owned).collect(),
        report: html_part(&document)?,
    };
    Ok(html(StatusCode::OK, page.render()?))
}
