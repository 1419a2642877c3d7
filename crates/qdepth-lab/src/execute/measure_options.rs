//! Options for measuring a group.

use qdepth_linux::EngineChoice;

use crate::events::observer::Observer;
use crate::execute::cpu_placement::CpuPlacement;
use crate::execute::written::Written;
use crate::ranks::all_ranks::AllRanks;

/// Options for measuring a group.
#[derive(Clone, Copy)]
pub(crate) struct MeasureOptions<'a> {
    pub(crate) engine: EngineChoice,
    /// Stamp of writes that later reads verify.
    pub(crate) stamp: u64,
    /// Register of those writes, by position.
    pub(crate) written: &'a Written,
    /// Placement of workers.
    pub(crate) placement: CpuPlacement<'a>,
    /// The ranks that share the streams of the group; `None` without MPI.
    pub(crate) all_ranks: Option<&'a AllRanks>,
    pub(crate) observer: &'a dyn Observer,
}
