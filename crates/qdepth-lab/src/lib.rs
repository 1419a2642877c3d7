//! The lab: a request becomes a plan, prepared targets, outcomes, and a run in the logbook.
//!
//! A front end makes a [`RunRequest`], hands in an [`Observer`](observer::Observer) that is told
//! what happens, and gets the run's record back from [`run::run`]. What goes wrong is of a kind
//! that [`failure`] knows the exit status of. The lab knows no flag, no command and no terminal.
//!
//! Read [`run`], then `one_run`, then `points`.

use qdepth_host::system::System;

use crate::observer::Observer;
use crate::request::RunRequest;
use crate::signals::Signals;

pub mod all_ranks;
mod begin;
mod beside_fio;
pub mod calibrate;
pub mod campaign;
pub mod certify;
pub mod check;
pub mod consent;
mod cpu_placement;
pub mod emulated;
mod events;
pub mod execute;
mod expect;
pub mod failure;
pub mod findings;
pub mod first;
mod follower;
mod identity;
mod left_behind;
mod measure_options;
mod measured;
mod memory;
mod monitors;
pub mod observer;
mod one_run;
mod other_ranks;
pub mod own_medium;
mod points;
pub mod precondition;
mod preconditioned;
pub mod preparation;
pub mod prepare;
pub mod preview;
mod proof;
pub mod provision;
pub mod ranks;
mod rate_so_far;
mod reach;
pub mod record;
pub mod repeat;
pub mod request;
pub mod run;
mod seal;
mod shard_results;
pub mod shim;
mod sight;
pub mod signals;
mod standstill;
mod steady_point;
mod storage;
mod together;
mod until_steady;
mod variants;
mod virtual_time;
mod visit;
mod visits;
mod watch;
pub mod words;
pub mod worker_result;
pub mod would_refuse;
mod written;

/// What a run is asked for, and what is around it: handed to each of its stages.
#[derive(Clone, Copy)]
pub(crate) struct Lab<'a> {
    pub(crate) request: &'a RunRequest,
    pub(crate) system: &'a System,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) signals: &'a Signals,
    /// The other ranks, where there are some.
    pub(crate) all_ranks: Option<&'a all_ranks::AllRanks>,
}
