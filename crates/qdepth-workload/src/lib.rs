//! Loads: profiles as written, the resolved plan without defaults, and the streams of requests of a
//! plan's points.
//!
//! This crate never does I/O and reads no clock. Start with [`Profile`], [`Plan`] and
//! [`RequestStream`].

mod address;
mod alike;
mod arrival;
mod bandwidth;
mod comparison;
mod cover;
mod distribution;
mod durability;
mod generation;
mod io_flag;
mod layout;
mod least_rate;
mod operation;
mod payload;
mod plan;
mod plan_check;
mod priority;
mod probe;
mod profile;
mod read;
mod request;
mod resolve;
mod shipped;
mod size;
mod steps;
mod stream;
mod target_spec;
mod toml_error;
mod trace;
mod write;
mod written_targets;

pub use alike::{alike, meant};
pub use arrival::{Arrivals, Schedule};
pub use bandwidth::{BANDWIDTH, BASELINE, BandwidthSpec};
pub use comparison::{
    Compared, Comparison, ComparisonSpec, Role, Variant, VariantSpec, published_name,
};
pub use distribution::{Distribution, Zone};
pub use durability::Durability;
pub use generation::{BLOCKS_MAX, Generations, KNOWN_BLOCKS_MAX};
pub use io_flag::{CacheAdvice, IoFlag};
pub use layout::{Extent, Layout, OwnWrites, Strides};
pub use least_rate::{LeastRate, LeastRateSpec};
pub use operation::Operation;
pub use payload::{Contents, Duplicates, Payload, fill, stamp_content};
pub use plan::{Flow, Fsync, Plan, Point, STEADY_ROUNDS, Samples, Stop, Until, UntilSteady};
pub use priority::{OtherPriority, Priorities, Priority, PriorityClass, PriorityDraw, Way};
pub use profile::{
    AreaSpec, DuplicatesSpec, FilesSpec, FsyncSpec, PlanFile, PlanTranslation, Profile,
    ProfileTranslation, ReportedAs, SizeSpec, StridesSpec, TargetsSpec, WeightedSize,
};
pub use read::profiles;
pub use request::{Direction, Request};
pub use resolve::{
    Choices, Method, Preconditioning, ResolveError, STANDARD_AREA, Stairs, TargetShape, Wear,
    alike_profile, needs_writing, resolve, side_by_side,
};
pub use shipped::{
    shipped_plan_names, shipped_plan_text, shipped_profile_names, shipped_profile_text,
    shipped_title,
};
pub use size::SizeMix;
pub use steps::{FlowSpec, LoadSpec, StaircaseSpec, StepSpec, SweepSpec};
pub use stream::{RequestStream, map_bytes};
pub use target_spec::TargetSpec;
pub use toml_error::{TomlError, problem as problem_in_plain_words};
pub use trace::{Recorded, Trace};
pub use write::WriteTomlError;
pub use written_targets::WrittenTargets;
