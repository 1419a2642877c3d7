//! How the workers of a group measure.

use qdepth_linux::EngineChoice;

use crate::events::observer::Observer;
use crate::execute::cpu_placement::CpuPlacement;
use crate::execute::written::Written;
use crate::ranks::all_ranks::AllRanks;

/// How the workers of a group measure.
#[derive(Clone, Copy)]
pub(crate) struct MeasureOptions<'a> {
    pub(crate) engine: EngineChoice,
    /// What writes are stamped with that are verified.
    pub(crate) stamp: u64,
    /// Those writes, place by place.
    pub(crate) written: &'a Written,
    /// Where workers are kept.
    pub(crate) placement: CpuPlacement<'a>,
    /// The ranks that share its streams, where there are several.
    pub(crate) all_ranks: Option<&'a AllRanks>,
    pub(crate) observer: &'a dyn Observer,
}
