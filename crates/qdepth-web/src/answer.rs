//! Constructors of responses.

use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use qdepth_report::without_hidden;

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";
pub(crate) const CSS: &str = "text/css; charset=utf-8";
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";
pub(crate) const EVENTS: &str = "text/event-stream";
pub(crate) const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
pub(crate) const SVG: &str = "image/svg+xml";

fn build_response(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Response with a file that pages load (style, script, icon).
pub(crate) fn file(kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    build_response(StatusCode::OK, kind, body)
}

/// HTML response.
pub(crate) fn html(status: StatusCode, page: String) -> Response<Body> {
    build_response(status, HTML, without_hidden(page))
}

/// JSON response.
pub(crate) fn json(status: StatusCode, document: String) -> Response<Body> {
    build_response(status, JSON, document)
}

/// Plain-text response of one line.
pub(crate) fn plain(status: StatusCode, line: &str) -> Response<Body> {
    build_response(status, TEXT, format!("{line}\n"))
}

/// JSON response with an error message.
pub(crate) fn json_error(status: StatusCode, why: &str) -> Response<Body> {
    json(status, format!("{}\n", serde_json::json!({ "error": why })))
}
