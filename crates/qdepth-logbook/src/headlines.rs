//! The list of runs, a line each, read out of the logbook.

use std::ops::ControlFlow;

use qdepth_record::{RunHeadline, RunRecord, RunState};
use rusqlite::Connection;

use crate::check;
use crate::digest::{Purpose, is_damage};
use crate::read;

/// Runs, the newest first, until `wanted` breaks off: each is read whole and held against its digest,
/// which takes 0.2 ms. Whether one is alive is for others to say.
pub(crate) fn headlines(
    connection: &Connection,
    purpose: Purpose,
    mut wanted: impl FnMut(RunHeadline) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    for (number, id) in read::run_numbers(connection)?.into_iter().rev() {
        let (run, damage) = match check::run(connection, number, purpose) {
            Ok((run, damage)) => (Some(run), damage.is_some()),
            Err(error) if is_damage(&error) => (None, true),
            Err(error) => return Err(error),
        };
        let points = check::counted(connection, number, purpose)?;
        if wanted(headline(id, run, points.done, damage || !points.are_listed)).is_break() {
            break;
        }
    }
    Ok(())
}

fn headline(id: String, run: Option<RunRecord>, points_done: u32, damaged: bool) -> RunHeadline {
    let host = run.as_ref().and_then(RunRecord::host).unwrap_or_default().to_owned();
    let of = |text: fn(&RunRecord) -> &str| run.as_ref().map_or("", text).to_owned();
    RunHeadline {
        id,
        started_at: of(|run| &run.started_at),
        ended_at: run.as_ref().and_then(|run| run.ended_at.clone()),
        state: run.as_ref().map_or(RunState::Failed, |run| run.state),
        alive: false,
        plan: of(|run| &run.plan_name),
        host,
        points_done,
        points_planned: run.as_ref().map_or(0, |run| run.points_planned),
        emulated: run.as_ref().is_some_and(|run| run.emulated),
        notes: run.iter().flat_map(RunRecord::notes).map(str::to_owned).collect(),
        retracted: run.as_ref().and_then(RunRecord::retracted).map(str::to_owned),
        targets: run.into_iter().flat_map(|run| run.targets).map(|target| target.name).collect(),
        damaged,
    }
}
