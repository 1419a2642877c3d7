//! Runs in progress: a live page, and metrics for Prometheus.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;

use crate::answer::{METRICS, file, html};
use crate::metrics::{Known, exposition};
use crate::pages::{Frame, PageRequest, PageResult};

#[derive(Template)]
#[template(path = "live.html")]
struct LivePage<'a> {
    frame: Frame<'a>,
    /// Id of the shown run; empty if no run is in progress.
    run: String,
    address: String,
    /// All runs in progress, by address.
    others: Vec<(String, String)>,
}

/// Page of the run in progress that began last, or of the named run.
pub(crate) fn page(request: &PageRequest<'_>) -> PageResult {
    let alive = request.source.alive()?;
    let shown = match request.query.first("run") {
        Some(named) => {
            let id = request.source.id(named)?;
            alive.iter().find(|known| **known == id)
        }
        None => alive.last(),
    };
    let run = shown.cloned().unwrap_or_default();
    let other = |id: &String| {
        let lang =
            request.query.first("lang").map_or_else(String::new, |lang| format!("&lang={lang}"));
        (format!("/live?run={id}{lang}"), id.clone())
    };
    let page = LivePage {
        frame: request.frame(request.words.live),
        address: request.link(&format!("/runs/{run}")),
        others: alive.iter().map(other).collect(),
        run,
    };
    Ok(html(StatusCode::OK, page.render()?))
}

/// Metrics of all runs in progress, in Prometheus' text format.
pub(crate) fn metrics(request: &PageRequest<'_>) -> PageResult {
    let mut runs: BTreeMap<String, Known> = BTreeMap::new();
    for id in request.source.alive()? {
        let Ok(Some(mut events)) = request.source.live_events(&id) else { continue };
        let mut known = Known::default();
        for line in events.more().unwrap_or_default() {
            if let Ok(event) = serde_json::from_str(&line) {
                known.learn(&event);
            }
        }
        runs.insert(id, known);
    }
    Ok(file(METRICS, exposition(&runs)))
}
