//! Routes for programs: the documents of the command line.

use http::StatusCode;
use qdepth_record::{export_json, export_runs_json};

use crate::answer::json;
use crate::pages::{Answer, PageRequest, Trouble, filter};
use crate::source::RUNS_LISTED_MAX;

/// The document of `qdepth list --json`, with what chooses runs as the list of runs has it.
pub(crate) fn runs(request: &PageRequest<'_>) -> Answer {
    let filter = filter::strict(request)
        .map_err(|why| Trouble::Refused { title: request.words.nothing_found, why })?;
    let mut listing = request.source.runs(RUNS_LISTED_MAX, |run| filter.fits(run))?;
    listing.runs.reverse();
    Ok(json(StatusCode::OK, export_runs_json(&listing.runs, listing.whole)))
}

/// The document of `qdepth export --json`.
pub(crate) fn run(request: &PageRequest<'_>) -> Answer {
    let (run, points) = request.source.run(request.name)?;
    Ok(json(StatusCode::OK, export_json(&run, &points)))
}
