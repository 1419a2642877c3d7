//! A run: the sections of its report.

use askama::Template;
use http::StatusCode;
use qdepth_record::RunState;
use qdepth_report::{compose, html_part};

use crate::answer::html;
use crate::pages::{Answer, Asked, Frame};

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage<'a> {
    frame: Frame<'a>,
    json: String,
    unfinished: bool,
    notes: Vec<String>,
    report: String,
}

pub(crate) fn page(asked: &Asked<'_>) -> Answer {
    let (run, points) = asked.source.run(asked.name)?;
    let document = compose(&run, &points, asked.lang);
    let mut frame = asked.frame(document.title.clone());
    frame.mark.clone_from(&document.mark);
    let page = RunPage {
        frame,
        json: format!("/api/runs/{}", run.id),
        unfinished: run.state == RunState::Running,
        notes: run.notes().map(str::to_owned).collect(),
        report: html_part(&document)?,
    };
    Ok(html(StatusCode::OK, page.render()?))
}
