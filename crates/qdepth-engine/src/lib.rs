//! The measuring loop. One loop, [`measure`], drives every target, real or emulated; the clock
//! belongs to the target, since in virtual time waiting is what moves it.
//!
//! This crate never opens anything, never reads a clock and holds no `unsafe`. Start with
//! [`Target`], [`measure`] and [`Outcome`]; [`scripted::ScriptedTarget`] is the smallest target.

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
