//! Routes of the server.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router, middleware};
use http::{HeaderMap, StatusCode, Uri};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::answer::{CSS, SCRIPT, SVG, file, plain};
use crate::connection::Streaming;
use crate::guard::{AccessPolicy, guard};
use crate::pages::{
    PageError, PageRequest, api, asked_lang, compare, error_page, live, machines, media,
    not_found_page, run, runs, trend,
};
use crate::query::Query;
use crate::source::Source;
use crate::stream;

/// Time limit for queueing and rendering a page.
const PAGE_TIME: Duration = Duration::from_secs(60);
/// Paths of pages that read many complete runs.
const LONG: [&str; 2] = ["/compare", "/trend"];
/// Maximum number of pages rendered at the same time, each on its own thread.
pub(crate) const PAGES_AT_ONCE: usize = 2;
const FAULT: &str = "internal error: see the terminal of qdepth serve";
const ICON: &str = include_str!("../templates/icon.svg");
const LIVE: &str = include_str!("../templates/live.js");
const STYLE: &str = include_str!("../templates/site.css");

/// Site: data sources, access rules, and limits of rendering.
#[derive(Debug)]
pub(crate) struct Site {
    source: Source,
    access: Arc<AccessPolicy>,
    /// Limits the pages rendered at once, and thereby their memory.
    making: Arc<Semaphore>,
    /// Held by a page that reads many complete runs, so that one thread remains for other pages.
    long: Arc<Semaphore>,
}

/// Function that renders the page of a route; an error becomes an error page.
type Page = fn(&PageRequest<'_>) -> Result<Response<Body>, PageError>;

impl Site {
    pub(crate) fn new(source: Source, access: AccessPolicy) -> Self {
        let access = Arc::new(access);
        let [making, long] =
            [PAGES_AT_ONCE, PAGES_AT_ONCE - 1].map(|n| Arc::new(Semaphore::new(n)));
        Self { source, access, making, long }
    }

    pub(crate) fn access(&self) -> &AccessPolicy {
        &self.access
    }

    /// Router with all addresses, behind the access rules.
    pub(crate) fn router(self: &Arc<Self>) -> Router {
        let page =
            |page: Page| get(move |State(site), uri| render_page(site, uri, String::new(), page));
        let named_page = |page: Page| {
            get(move |State(site), uri, Path(name): Path<String>| {
                render_page(site, uri, name, page)
            })
        };
        Router::new()
            .route("/", page(runs::page))
            .route("/runs/{id}", named_page(run::page))
            .route("/compare", page(compare::page))
            .route("/media", page(media::list))
            .route("/media/{name}", named_page(media::detail))
            .route("/machines", page(machines::page))
            .route("/trend", page(trend::page))
            .route("/api/runs", page(api::runs))
            .route("/api/runs/{id}", named_page(api::run))
            .route("/live", page(live::page))
            .route("/api/runs/{id}/events", get(events))
            .route("/metrics", page(live::metrics))
            .route("/live.js", get(|| async { file(SCRIPT, LIVE) }))
            .route("/report.js", get(|| async { file(SCRIPT, qdepth_report::reading_aids()) }))
            .route("/style.css", get(style))
            .route("/icon.svg", get(|| async { file(SVG, ICON) }))
            .fallback(|State(site): State<Arc<Self>>, request: Request| {
                render_page(site, request.uri().clone(), String::new(), not_found_page)
            })
            .layer(middleware::from_fn_with_state(self.access.clone(), guard))
            .with_state(self.clone())
    }
}

/// Event stream of a run in progress.
async fn events(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Extension(streaming): Extension<Streaming>,
    headers: HeaderMap,
    uri: Uri,
) -> Response<Body> {
    let lang = asked_lang(&Query::from_uri(&uri));
    // Reading the logbook blocks, so it runs on a blocking thread.
    let read_page = move || {
        let request = PageRequest::new(&site.source, &uri, &id);
        site.source.live_events(&id).map_err(|error| Box::new(error_page(&request, &error.into())))
    };
    let found = match tokio::task::spawn_blocking(read_page).await {
        Ok(Ok(found)) => found,
        Ok(Err(answer)) => return *answer,
        Err(_) => return plain(StatusCode::INTERNAL_SERVER_ERROR, FAULT),
    };
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    stream::events(found, &streaming, last.and_then(|text| text.parse().ok()), lang)
}

async fn style() -> Response<Body> {
    file(CSS, format!("{}{STYLE}", qdepth_report::style_sheet()))
}

/// Renders a page on a blocking thread, because it reads from disk and draws.
async fn render_page(site: Arc<Site>, uri: Uri, name: String, page: Page) -> Response<Body> {
    let work = async {
        let alone = match LONG.contains(&uri.path()) {
            true => Some(site.long.clone().acquire_owned().await.ok()?),
            false => None,
        };
        let turn = site.making.clone().acquire_owned().await.ok()?;
        let site = site.clone();
        let work = move || {
            // Held until the page is rendered, even if the client has left.
            let _turns = (turn, alone);
            let request = PageRequest::new(&site.source, &uri, &name);
            page(&request).unwrap_or_else(|error| error_page(&request, &error))
        };
        tokio::task::spawn_blocking(work).await.ok()
    };
    match timeout(PAGE_TIME, work).await {
        Ok(Some(answer)) => answer,
        Ok(None) => plain(StatusCode::INTERNAL_SERVER_ERROR, FAULT),
        Err(_) => {
            plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests at the same time: try again")
        }
    }
}
