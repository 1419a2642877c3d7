//! The list of runs, a line each, and its form for machines.

use std::ops::ControlFlow;

use rusqlite::Connection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::digest::{Purpose, is_damage};
use crate::document::{DocumentSchema, pretty};
use crate::read;
use crate::record::{RunRecord, RunState};
use crate::write::state_text;

/// Name of the form, in `schema.name`.
const NAME: &str = "qdepth-runs";
/// Version of the form; the rule is that of a run's document.
const VERSION: u32 = 1;

/// Every state of a run, as [`RunHeadline::state_text`] says it.
pub const STATES: [&str; 5] = ["running", "sealed", "interrupted", "failed", "killed"];

/// One line of a list of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHeadline {
    /// UUID in its usual text form.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; none while running.
    pub ended_at: Option<String>,
    /// How far it came.
    pub state: RunState,
    /// Whether a process is measuring it right now.
    pub alive: bool,
    /// Name of the plan.
    pub plan: String,
    /// Name of the machine; empty where it is not known.
    pub host: String,
    /// Names of the targets, in the order of the run.
    pub targets: Vec<String>,
    /// Points measured in full (an interrupted point is not).
    pub points_done: u32,
    /// Points of the plan.
    pub points_planned: u32,
    /// Whether time was invented.
    pub emulated: bool,
    /// Whether what is stored of the run, or which points it has, is not what was written.
    pub damaged: bool,
    /// What persons noted of it.
    pub notes: Vec<String>,
    /// Why it is not to be relied on; none where nobody retracted it.
    pub retracted: Option<String>,
}

impl RunHeadline {
    /// `running`, `sealed`, `interrupted`, `failed`, or `killed` where a run never ended and no
    /// process is measuring it.
    pub fn state_text(&self) -> &'static str {
        match self.state {
            RunState::Running if !self.alive => "killed",
            state => state_text(state),
        }
    }

    /// Whether it stands for its plan beside others: it is whole, and nobody retracted it.
    pub fn is_comparable(&self) -> bool {
        self.is_whole() && self.retracted.is_none()
    }

    /// Whether all points of the plan are there, and none of the record is damaged.
    pub fn is_whole(&self) -> bool {
        !self.damaged && self.points_done == self.points_planned
    }
}

/// The runs of a logbook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsDocument {
    /// Which form of document this is; its name is `qdepth-runs`.
    pub schema: DocumentSchema,
    /// Whether the list is known to be whole: runs may be missing from a damaged logbook.
    pub whole: bool,
    /// The runs, the newest first.
    pub runs: Vec<RunsEntry>,
}

/// A run of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsEntry {
    /// UUID version 7.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; null while running, or where it was killed.
    pub ended_at: Option<String>,
    /// `running`, `sealed`, `interrupted`, `failed`, or `killed`.
    pub state: String,
    /// Name of the plan.
    pub plan: String,
    /// Name of the machine; empty where it is not known.
    pub host: String,
    /// Names of the targets, in the order of the run.
    pub targets: Vec<String>,
    /// Points measured in full.
    pub points_done: u32,
    /// Points of the plan.
    pub points_planned: u32,
    /// Whether time was invented: then nothing of the run was measured on storage.
    pub emulated: bool,
    /// Whether what is stored of the run is not what was written.
    pub damaged: bool,
    /// What persons noted of it (`qdepth note`), in the order of noting.
    pub notes: Vec<String>,
    /// Why it is not to be relied on (`qdepth retract`); null where nobody retracted it.
    pub retracted: Option<String>,
}

/// The list as one JSON document, ended by a line feed. `whole` as
/// [`Logbook::lists_all_runs`](crate::Logbook::lists_all_runs) says.
pub fn export_runs_json(runs: &[RunHeadline], whole: bool) -> String {
    let entry = |run: &RunHeadline| RunsEntry {
        id: run.id.clone(),
        started_at: run.started_at.clone(),
        ended_at: run.ended_at.clone(),
        state: run.state_text().to_owned(),
        plan: run.plan.clone(),
        host: run.host.clone(),
        targets: run.targets.clone(),
        points_done: run.points_done,
        points_planned: run.points_planned,
        emulated: run.emulated,
        damaged: run.damaged,
        notes: run.notes.clone(),
        retracted: run.retracted.clone(),
    };
    pretty(&RunsDocument {
        schema: DocumentSchema { name: NAME.to_owned(), version: VERSION },
        whole,
        runs: runs.iter().rev().map(entry).collect(),
    })
}

/// The JSON Schema of [`export_runs_json`]'s document.
pub fn runs_json_schema() -> String {
    pretty(&schemars::schema_for!(RunsDocument))
}

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
