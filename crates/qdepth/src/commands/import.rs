//! `qdepth import`: stores results of other programs in the logbook.

use anyhow::{Context, Result};
use jiff::Timestamp;
use qdepth_files::{Input, limit};
use qdepth_foreign::{ImportError, import as read};
use qdepth_logbook::Logbook;
use qdepth_record::RunState;

use crate::exit_status::Status;
use crate::flags::ImportOptions;
use crate::terminal::print;
use qdepth_lab::failure::Usage;

pub(crate) fn import(options: &ImportOptions) -> Result<Status> {
    let mut files = Vec::new();
    for path in &options.files {
        let bytes = Input::at(path, limit::RESULT).bytes()?;
        files.push((path.display().to_string(), bytes));
    }
    // Reads all files before storing anything, so that an error leaves the logbook unchanged.
    let runs = read(&files).map_err(|error: ImportError| Usage(error.to_string()))?;
    let mut logbook = Logbook::open(&options.logbook.logbook)?;
    for imported in &runs {
        let id = uuid::Uuid::now_v7().to_string();
        let now = Timestamp::now().to_string();
        let run = imported.record(&id, &now, env!("CARGO_PKG_VERSION"));
        logbook.hold(&id)?;
        logbook.begin_run(&run)?;
        for point in &imported.points {
            logbook.add_point(&id, point)?;
        }
        let ended = run.ended_at.clone().unwrap_or(now);
        logbook
            .end_run(&id, RunState::Complete, &ended, &[])
            .with_context(|| format!("cannot store what was read from {}", imported.file))?;
        print(&format!("{}  {}  {} points", &id[..13], run.plan_name, imported.points.len()))?;
    }
    Ok(Status::Valid)
}
