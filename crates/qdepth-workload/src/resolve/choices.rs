//! Choices of the command line for a plan, and the properties of targets that a plan needs.

use qdepth_measure::{Bytes, EarlyEnd, Nanos, RequiredPercentile, SteadyRule};
use serde::{Deserialize, Serialize};

use crate::plan::Extent;

/// The standard measurement area (docs/method/checklist.md, item 10).
pub const STANDARD_AREA: Bytes = Bytes::gib(32);

/// Properties of a target that a plan needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetShape {
    /// Bytes that may be touched, counted from the start of the area that is ours.
    pub usable: Extent,
    /// Smallest size and alignment of direct I/O.
    pub block_bytes: u32,
    /// Equal parts that each have streams, outstanding I/Os and an area of their own: independent
    /// drives, or partitions with a process each. 1 for everything else.
    pub parts: u32,
    /// The area of each part where nobody names one.
    pub area_bytes: u64,
    /// True if files can be made in it: a directory.
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
    /// Other intensities.
    pub outstanding: Option<Vec<u32>>,
    /// Another longest time of a search.
    pub within: Option<Nanos>,
    /// Another length of the measured window.
    pub duration: Option<Nanos>,
    /// Another length of the unrecorded lead-in.
    pub warm_up: Option<Nanos>,
    /// Another size of a measurement file that is made, in bytes.
    pub file_size: Option<Bytes>,
    /// End each point once its rate is known this well, or steady.
    pub until: Option<EarlyEnd>,
    /// Another area, as `32GiB`, `50%`, `full`.
    pub area: Option<String>,
    /// One request size for every profile.
    pub request_size: Option<Bytes>,
    /// Another staircase.
    pub stairs: Stairs,
    /// Lengthen points, and the steps of a staircase, until this percentile is known: of each
    /// point of a sweep, and of the loads that stay beside the rising one.
    pub until_credible: Option<RequiredPercentile>,
    /// Another seed.
    pub seed: Option<u64>,
    /// Bring the targets into this state of wear first, in place of what the plan says of it.
    pub precondition: Option<Preconditioning>,
    /// Leave out every point that writes.
    pub read_only: bool,
    /// In a comparison: names of its columns.
    pub variants: Option<Vec<String>>,
    /// In a comparison: the column that the others are divided by, by its name or place from 1.
    pub base: Option<String>,
    /// In a comparison of processes: how many, a column each.
    pub processes: Option<Vec<u32>>,
    /// In a comparison of drives: so many of the last targets are arrays of the others.
    pub arrays: usize,
    /// In a comparison: published drives beside what is measured, by the names of their media.
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
    /// Requests per second of the loads beside, in an open loop.
    pub reader_rate: Option<f64>,
}

/// Wear of a target, in the words of emulated devices (`@state=`). `fresh` is not among them: it
/// needs a purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wear {
    /// Written through twice in sequence.
    Preconditioned,
    /// Sequential writes, then the same number of bytes at random.
    Steady,
}

/// Preconditioning of the command line, which overrides that of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preconditioning {
    /// A state by its name.
    State(Wear),
    /// Written through twice in sequence, and then at random in rounds until the rule says steady.
    UntilSteady {
        /// Rule.
        rule: SteadyRule,
        /// Length of a round; none: a minute.
        round: Option<Nanos>,
    },
}
