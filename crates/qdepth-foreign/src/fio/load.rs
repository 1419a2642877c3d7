//! Loads of the plan, and the origin of points.

use qdepth_measure::Settling;
use qdepth_workload::Way;

use super::job_parts::MinimumRate;

/// Origin of a point of the plan. Points are in the order of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Index into [`JobSet::jobs`](super::JobSet::jobs).
    pub job: usize,
    /// Index of the clone, from 0.
    pub clone: u32,
    /// Number of the clone among the clones of all jobs, from 1, as in the names of logs.
    pub thread: u32,
    /// Number of the reporting group.
    pub group: u32,
}

/// File that a job lays out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Path.
    pub path: String,
    /// Length, bytes.
    pub bytes: u64,
}

/// One clone of one job on one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Load {
    pub(super) origin: Origin,
    pub(super) target: usize,
    /// File that the job names.
    pub(super) path: String,
    /// Name of its profile, unique in the plan.
    pub(super) profile: String,
    pub(super) offset: u64,
    /// The same, in the file that the job names.
    pub(super) begin: u64,
    /// Length, bytes; `None` for the whole target.
    pub(super) area: Option<u64>,
    /// End by bytes; `None` if it does not end by bytes.
    pub(super) bytes: Option<u64>,
    /// End by passes over the whole target, if its size is unknown.
    pub(super) passes: Option<u32>,
    pub(super) duration_ns: u64,
    pub(super) depth: u32,
    /// The file's share of the job's rate.
    pub(super) rate: Option<f64>,
    /// The file's share of the job's minimum rate.
    pub(super) least: Option<MinimumRate>,
    /// Direction of a mix, if the load has only this one.
    pub(super) way: Option<Way>,
    /// Steady-state rule that ends the load.
    pub(super) settling: Option<Settling>,
    /// True if it reads back the data of its job.
    pub(super) reads_back: bool,
    /// True if it verifies what another run wrote.
    pub(super) of_other_run: bool,
    /// True if its end stops all loads of its step.
    pub(super) ends_step: bool,
    /// True if the page cache is bypassed.
    pub(super) direct: bool,
    /// Index of the clone's trace file.
    pub(super) replays: Option<usize>,
    /// Index of the new area that its offset refers to.
    pub(super) area_of: Option<usize>,
}
