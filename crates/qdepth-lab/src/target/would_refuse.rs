//! Refusals of a run, predicted without touching anything.

use std::path::Path;

use anyhow::Error;
use jiff::Timestamp;
use qdepth_host::guard::{Verdict, Writing, open_to_consent, review};
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, Kind};
use qdepth_workload::needs_writing;

use crate::request::provision::is_written;
use crate::request::{PlanRequest, RunRequest};
use crate::target::consent::consent_previewed;
use crate::target::prepare::find;
use crate::target::preview::preview;
use crate::target::reach::reachable;

/// Refusals of the request that are known now: missing or unsuitable targets, a plan that does not
/// fit, and guards that lack a consent. Empty if there are none. Problems that only creating a file
/// or claiming a device can show are not included.
pub fn would_refuse(system: &System, request: &RunRequest) -> Vec<Error> {
    let Some(asked) = &request.plan else { return Vec::new() };
    let mut all = Vec::new();
    match preview(system, asked) {
        Ok(seen) => all.extend(reachable(system, request.engine, &seen.found, &seen.plan).err()),
        Err(error) => all.push(error),
    }
    for (number, expression) in asked.targets.iter().enumerate() {
        // The preview has named missing targets.
        let Ok(found) = find(system, expression) else { continue };
        let Some(target) = found.real() else { continue };
        all.extend(guarded(system, asked, request, number, target).err());
    }
    all
}

/// Verdict of the guards on writing to an existing device or file.
fn guarded(
    system: &System,
    asked: &PlanRequest,
    request: &RunRequest,
    number: usize,
    target: &Inspected,
) -> Result<(), Error> {
    let writes = needs_writing(&asked.file, &asked.choices)?;
    let is_made = match target.kind {
        Kind::Directory(_) | Kind::RegularFile { size_bytes: 0, .. } => true,
        Kind::RegularFile { .. } | Kind::BlockDevice(_) => false,
    };
    if is_made || !is_written(&writes, number, target) {
        return Ok(());
    }
    let writing =
        Writing { run_id: "", now: Timestamp::now(), results_dir: Path::new("."), direct: true };
    open_to_consent(system, target, &writing)?;
    let consent = consent_previewed(system, target, &request.consent)?;
    for (_, verdict) in review(system, target, consent.as_ref(), Some(&writing)) {
        if let Verdict::Refuses(refusal) = verdict {
            return Err(refusal.into());
        }
    }
    Ok(())
}
