//! The measuring loop. One loop, [`measure`], drives every target, real or emulated. The clock
//! belongs to the target, because in virtual time waiting is what advances it.
//!
//! This crate opens no files, reads no clock and has no `unsafe` code. Start with [`Target`],
//! [`measure`] and [`Outcome`]; [`scripted::ScriptedTarget`] is the smallest target.

mod drive;
mod driver;
mod durable;
mod flow;
mod join;
mod least;
mod ledger;
mod outcome;
mod pacing;
mod series;
mod shard;
mod target;
mod tied;

pub mod conformance;
pub mod scripted;

pub use drive::{measure, measure_any, measure_shard, measure_together};
pub use durable::DurableParts;
pub use join::{in_turn, join, unrecorded};
pub use least::Shortfall;
pub use outcome::{DirectionOutcome, Ended, Errors, Outcome};
pub use series::{Interval, Series};
pub use shard::{Shard, StopGroup};
pub use target::{
    Absence, Cause, Completion, Completions, CpuTime, Fault, Slot, Target, TargetFailure,
};
