//! The measuring loop. One loop, [`measure`], drives every target, real or emulated. The clock
//! belongs to the target, because in virtual time waiting is what advances it.
//!
//! This crate opens no files, reads no clock and has no `unsafe` code. Start with [`Target`],
//! [`measure`] and [`Outcome`]; [`scripted::ScriptedTarget`] is the smallest target.

mod coupled;
mod drive;
mod driver;
mod durable;
mod flow;
mod in_flight;
mod join;
mod ledger;
mod minimum_rate;
mod outcome;
mod pacing;
mod recorder;
mod series;
mod shard;
mod target;

pub mod conformance;
pub mod scripted;

pub use drive::{measure, measure_any, measure_shard, measure_together};
pub use driver::FINAL_SYNC;
pub use durable::DurableParts;
pub use join::{append_segment, into_warm_up, join};
pub use minimum_rate::Shortfall;
pub use outcome::{DirectionOutcome, Ended, Errors, Outcome};
pub use recorder::{RECORDED_MAX, RecordedIo, measure_recorded};
pub use series::{Interval, Series};
pub use shard::{Shard, StopGroup};
pub use target::{
    Absence, CALL_MAX, Cause, Completion, Completions, CpuTime, Fault, Slot, Target, TargetFailure,
    moved,
};
