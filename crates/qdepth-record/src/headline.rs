//! List of runs with one line each, and its machine-readable form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentSchema, pretty};
use crate::record::RunState;

/// Name of the format, in `schema.name`.
const NAME: &str = "qdepth-runs";
/// Version of the format; it follows the rule of a run's document.
const VERSION: u32 = 1;

/// All states of a run, as in [`RunHeadline::state`].
pub const STATES: [&str; 5] = ["running", "complete", "interrupted", "failed", "killed"];

/// A run in the list.
// Logbooks store its serialised form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunsEntry")]
pub struct RunHeadline {
    /// UUID version 7.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// End, RFC 3339, UTC; null while running, or if the run was killed.
    pub ended_at: Option<String>,
    /// `running`, `complete`, `interrupted`, `failed`, or `killed`.
    #[schemars(with = "String")]
    pub state: RunState,
    /// True if a process is measuring the run now.
    #[serde(skip)]
    pub alive: bool,
    /// Name of the plan.
    pub plan: String,
    /// Name of the machine; empty if unknown.
    pub host: String,
    /// Names of the targets, in the order of the run.
    pub targets: Vec<String>,
    /// Number of points measured completely.
    pub points_done: u32,
    /// Points of the plan.
    pub points_planned: u32,
    /// True if time was virtual: nothing was measured on storage.
    pub emulated: bool,
    /// True if the stored run has changed. In a long list only the newest 100 are read completely;
    /// `qdepth logbook check` checks the others.
    pub damaged: bool,
    /// Notes of users (`qdepth note`), in the order of creation.
    pub notes: Vec<String>,
    /// Reason for the retraction (`qdepth retract`); null if the run is not retracted.
    pub retracted: Option<String>,
    /// Best figures of the run, once it has ended.
    pub best: Best,
}

/// The best figures of a run, for a list of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Best {
    /// Number of points of grade A, B and C.
    pub grades: [u32; 3],
    /// Highest IOPS of all points with grade A or B, or the highest rate within the latency limits
    /// if the plan searches for it; a whole number.
    pub io_per_s: Option<u64>,
    /// Highest throughput of all points with grade A or B, in whole bytes per second.
    pub bytes_per_s: Option<u64>,
}

impl RunHeadline {
    /// The headline with the process that measures the run, if there is one: a run that is still
    /// running and has none was killed.
    #[must_use]
    pub fn with_alive(mut self, alive: bool) -> Self {
        self.alive = alive;
        if self.state == RunState::Running && !alive {
            self.state = RunState::Killed;
        }
        self
    }

    /// True if the run can represent its plan in comparisons: it is complete and was not retracted.
    pub fn is_comparable(&self) -> bool {
        self.is_whole() && self.retracted.is_none()
    }

    /// True if all points of the plan exist, and no part of the record is damaged.
    pub fn is_whole(&self) -> bool {
        !self.damaged && self.points_done == self.points_planned
    }
}

/// The runs of a logbook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsDocument {
    /// Format of the document; its name is `qdepth-runs`.
    pub schema: DocumentSchema,
    /// True if the list is known to be complete: runs may be missing from a damaged logbook.
    pub whole: bool,
    /// The runs, the newest first.
    pub runs: Vec<RunHeadline>,
}

/// The list as one JSON document with a final line feed. `whole` is true if no run is missing.
pub fn export_runs_json(runs: &[RunHeadline], whole: bool) -> String {
    pretty(&RunsDocument {
        schema: DocumentSchema { name: NAME.to_owned(), version: VERSION },
        whole,
        runs: runs.iter().rev().cloned().collect(),
    })
}
