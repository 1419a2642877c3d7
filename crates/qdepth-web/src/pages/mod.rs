//! Pages: each builds a response from the request and the logbook.

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use http::{StatusCode, Uri};
use qdepth_logbook::LogbookError;
use qdepth_report::{Lang, ReportError, aids_words};
use qdepth_words::{WebWords, words};

use crate::answer::{html, json_error};
use crate::query::Query;
use crate::source::Source;

pub(crate) mod api;
pub(crate) mod compare;
pub(crate) mod filter;
pub(crate) mod live;
pub(crate) mod machines;
pub(crate) mod media;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod trend;

const LANG: &str = "lang";
/// Default threshold of `qdepth compare` and `qdepth trend`.
const THRESHOLD: f64 = 0.02;

/// Requested language, if any.
pub(crate) fn asked_lang(query: &Query) -> Option<Lang> {
    Lang::ALL.into_iter().find(|lang| query.first(LANG) == Some(lang.tag()))
}

/// Request of a page, and its data sources.
pub(crate) struct PageRequest<'a> {
    pub(crate) source: &'a Source,
    pub(crate) path: &'a str,
    /// Last part of the path, for pages of one object; otherwise empty.
    pub(crate) name: &'a str,
    pub(crate) query: Query,
    pub(crate) lang: Lang,
    pub(crate) words: &'static WebWords,
}

impl<'a> PageRequest<'a> {
    pub(crate) fn new(source: &'a Source, uri: &'a Uri, name: &'a str) -> Self {
        let query = Query::from_uri(uri);
        let lang = asked_lang(&query).unwrap_or_default();
        Self { source, path: uri.path(), name, query, lang, words: words(lang).web }
    }

    /// Address of another page, in the same language.
    fn link(&self, path: &str) -> String {
        let lang = Query::default();
        let lang = if self.lang == Lang::En { lang } else { lang.with(LANG, self.lang.tag()) };
        lang.address(path)
    }

    /// Address of the trend page for a plan on these targets.
    fn of_trend(&self, plan: &str, targets: &str) -> String {
        let asked = Query::default().with("plan", plan).with("target", targets);
        let asked = if self.lang == Lang::En { asked } else { asked.with(LANG, self.lang.tag()) };
        asked.address("/trend")
    }

    /// Frame of a page.
    fn frame(&self, title: impl Into<String>) -> Frame<'_> {
        let pages = [
            ("/", self.words.runs),
            ("/live", self.words.live),
            ("/media", self.words.media),
            ("/machines", self.words.machines),
            ("/trend", self.words.trend),
        ];
        let is_here = |path: &str| match path {
            "/" => self.path == path || self.path.starts_with("/runs/"),
            path => self.path.starts_with(path),
        };
        let others = Lang::ALL.into_iter().filter(|lang| *lang != self.lang);
        let address = |lang: Lang| self.query.with(LANG, lang.tag()).address(self.path);
        Frame {
            request: self,
            title: title.into(),
            mark: String::new(),
            aids: None,
            pages: pages.map(|(path, name)| (self.link(path), name, is_here(path))).to_vec(),
            others: others.map(|lang| (lang, address(lang))).collect(),
        }
    }
}

/// Frame of a page: head, navigation.
pub(crate) struct Frame<'a> {
    request: &'a PageRequest<'a>,
    title: String,
    /// Mark of emulated figures; empty for measured ones.
    mark: String,
    /// Texts of the reading aids of tables and diagrams, if the page has any.
    aids: Option<String>,
    /// Navigation: address and name of each page, and true for the current one.
    pages: Vec<(String, &'static str, bool)>,
    /// Other languages, each with this page's address in it.
    others: Vec<(Lang, String)>,
}

impl Frame<'_> {
    /// Adds the reading aids for tables and diagrams of a report.
    fn with_aids(self) -> Self {
        Self { aids: Some(aids_words(self.request.lang)), ..self }
    }
}

/// Error of a page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    #[error("{0}")]
    Logbook(#[from] LogbookError),
    #[error("{0}")]
    Report(#[from] ReportError),
    #[error("{0}")]
    Template(#[from] askama::Error),
    /// The named object does not exist.
    #[error("{0}")]
    Unknown(String),
    /// Invalid request.
    #[error("{why}")]
    Refused {
        /// Problem, as a heading.
        title: &'static str,
        why: String,
    },
}

impl PageError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unknown(_) => StatusCode::NOT_FOUND,
            Self::Refused { .. } => StatusCode::BAD_REQUEST,
            Self::Logbook(
                LogbookError::NoSuchRun { .. }
                | LogbookError::NoEarlierRun { .. }
                | LogbookError::Missing { .. },
            ) => StatusCode::NOT_FOUND,
            Self::Logbook(LogbookError::AmbiguousRun { .. }) => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Problem, as a heading.
    fn title(&self, words: &WebWords) -> &'static str {
        match self {
            Self::Unknown(_) => words.not_found,
            Self::Refused { title, .. } => title,
            Self::Logbook(LogbookError::NoSuchRun { .. } | LogbookError::NoEarlierRun { .. }) => {
                words.no_such_run
            }
            Self::Logbook(LogbookError::Missing { .. }) => words.no_logbook_yet,
            Self::Logbook(LogbookError::AmbiguousRun { .. }) => words.several_runs,
            _ => words.trouble,
        }
    }
}

type PageResult = Result<Response<Body>, PageError>;

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    frame: Frame<'a>,
    message: String,
}

fn message(
    request: &PageRequest<'_>,
    status: StatusCode,
    title: &str,
    message: String,
) -> PageResult {
    let page = MessagePage { frame: request.frame(title), message };
    Ok(html(status, page.render()?))
}

/// Page for an unknown address.
pub(crate) fn not_found_page(request: &PageRequest<'_>) -> PageResult {
    let why = request.words.not_found_why.to_owned();
    if request.path.starts_with("/api/") {
        return Ok(json_error(StatusCode::NOT_FOUND, &why));
    }
    message(request, StatusCode::NOT_FOUND, request.words.not_found, why)
}

/// Page for an error.
pub(crate) fn error_page(request: &PageRequest<'_>, error: &PageError) -> Response<Body> {
    let (status, why) = (error.status(), error.to_string());
    if request.path.starts_with("/api/") {
        return json_error(status, &why);
    }
    message(request, status, error.title(request.words), why.clone())
        .unwrap_or_else(|_| json_error(status, &why))
}

/// Replaces `{name}` in a text by a value.
fn fill(text: &str, name: &str, value: &str) -> String {
    text.replace(&format!("{{{name}}}"), value)
}
