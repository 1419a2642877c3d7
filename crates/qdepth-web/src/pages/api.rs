//! Routes for programs: the same JSON documents as on the command line.

use http::StatusCode;
use qdepth_record::{export_json, export_runs_json};

use crate::answer::json;
use crate::pages::{PageError, PageRequest, PageResult, filter};
use crate::source::RUNS_LISTED_MAX;

/// Document of `qdepth list --json`, with the same filters as the list of runs.
pub(crate) fn runs(request: &PageRequest<'_>) -> PageResult {
    let filter = filter::strict(request)
        .map_err(|why| PageError::Refused { title: request.words.nothing_found, why })?;
    let mut listing = request.source.runs(RUNS_LISTED_MAX, |run| filter.fits(run))?;
    listing.runs.reverse();
    Ok(json(StatusCode::OK, export_runs_json(&listing.runs, listing.whole)))
}

/// Document of `qdepth export --json`.
pub(crate) fn run(request: &PageRequest<'_>) -> PageResult {
    let (run, points) = request.source.run(request.name)?;
    Ok(json(StatusCode::OK, export_json(&run, &points)))
}
