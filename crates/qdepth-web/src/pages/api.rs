//! What programs read: the documents of the command line.

use http::StatusCode;
use qdepth_record::{export_json, export_runs_json};

use crate::answer::json;
use crate::pages::{Answer, Asked, Trouble, filter};
use crate::source::LOOKED_AT;

/// The document of `qdepth list --json`, with what chooses runs as the list of runs has it.
pub(crate) fn runs(asked: &Asked<'_>) -> Answer {
    let filter = filter::strict(asked)
        .map_err(|why| Trouble::Refused { title: asked.words.nothing_found, why })?;
    let mut listing = asked.source.runs(LOOKED_AT, |run| filter.fits(run))?;
    listing.runs.reverse();
    Ok(json(StatusCode::OK, export_runs_json(&listing.runs, listing.whole)))
}

/// The document of `qdepth export --json`.
pub(crate) fn run(asked: &Asked<'_>) -> Answer {
    let (run, points) = asked.source.run(asked.name)?;
    Ok(json(StatusCode::OK, export_json(&run, &points)))
}
