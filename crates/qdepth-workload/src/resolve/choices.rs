//! Choices of the command line for a plan, and the properties of targets that a plan needs.

use qdepth_measure::{Bytes, EarlyEnd, Nanos, RequiredPercentile, SteadyRule};
use serde::{Deserialize, Serialize};

use crate::layout::Extent;

/// The standard measurement area (docs/method/checklist.md, item 10).
pub const STANDARD_AREA: Bytes = Bytes::gib(32);

/// Properties of a target that a plan needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetShape {
    /// Part of the target that plans may access.
    pub usable: Extent,
    /// Smallest size and alignment of direct I/O.
    pub block_bytes: u32,
    /// Number of equal parts, each with its own streams, queue depth and area: independent drives,
    /// or partitions with a process each. 1 for everything else.
    pub parts: u32,
    /// Area of each part if neither the plan nor the command line sets one.
    pub area_bytes: u64,
    /// True if files can be created in it: a directory.
    pub holds_files: bool,
}

impl TargetShape {
    /// A target of one part, whose usual area is the standard one.
    pub const fn whole(usable: Extent, block_bytes: u32) -> Self {
        Self { usable, block_bytes, parts: 1, area_bytes: STANDARD_AREA.0, holds_files: false }
    }
}

/// Choices of the command line for the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// Only these profiles, by short name.
    pub profiles: Option<Vec<String>>,
    /// Queue depths instead of the plan's.
    pub queue_depth: Option<Vec<u32>>,
    /// Maximum measured time of a search, instead of the plan's.
    pub within: Option<Nanos>,
    /// Length of the measured window, instead of the plan's.
    pub duration: Option<Nanos>,
    /// Length of the unrecorded warm-up, instead of the plan's.
    pub warm_up: Option<Nanos>,
    /// Size of a new measurement file, bytes, instead of the default.
    pub file_size: Option<Bytes>,
    /// End of each point before its time: with this precision of its rate, or once it is steady.
    pub until: Option<EarlyEnd>,
    /// Area instead of the plan's, as `32GiB`, `50%` or `full`.
    pub area: Option<String>,
    /// One block size for every profile.
    pub block_size: Option<Bytes>,
    /// Values of the staircase instead of the plan's.
    pub stairs: Stairs,
    /// Lengthen points, and the steps of a staircase, until this percentile is known: of each point
    /// of a sweep, and of the loads that run next to the rising one.
    pub until_credible: Option<RequiredPercentile>,
    /// Seed instead of the plan's.
    pub seed: Option<u64>,
    /// Preconditioning of the targets, instead of the plan's.
    pub precondition: Option<Preconditioning>,
    /// Leave out every point that writes.
    pub read_only: bool,
    /// In a comparison: names of its variants.
    pub variants: Option<Vec<String>>,
    /// In a comparison: the baseline variant, by its name or its number from 1.
    pub base: Option<String>,
    /// In a comparison of processes: the numbers of processes, one variant each.
    pub processes: Option<Vec<u32>>,
    /// In a comparison of drives: number of arrays; they are the last targets and consist of the
    /// other ones.
    pub arrays: usize,
    /// In a comparison: published drives shown with the variants, by the names of their models.
    pub published: Vec<String>,
}

/// Choices of the command line for a staircase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stairs {
    /// Bytes per second of the first step.
    pub from: Option<Bytes>,
    /// Bytes per second of the last step.
    pub to: Option<Bytes>,
    /// Bytes per second from step to step.
    pub by: Option<Bytes>,
    /// Requests per second of the loads next to the rising one, in an open loop.
    pub reader_rate: Option<f64>,
}

/// Wear of a target, in the words of emulated devices (`@state=`). `fresh` is not among them: it
/// needs a purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wear {
    /// Written sequentially twice.
    Preconditioned,
    /// Written sequentially twice, then randomly with the bytes of one pass.
    Steady,
}

/// Preconditioning of the command line, which overrides that of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preconditioning {
    /// A state by its name.
    State(Wear),
    /// Written sequentially twice, then randomly in rounds until the rule finds the rate steady.
    UntilSteady {
        /// Rule.
        rule: SteadyRule,
        /// Length of a round; `None` for one minute.
        round: Option<Nanos>,
    },
}
