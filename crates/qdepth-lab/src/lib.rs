//! Execution of runs: turns a request into a plan, prepared targets, outcomes, and a run in the
//! logbook.
//!
//! A front end builds a [`RunRequest`], passes an [`Observer`] that receives the events, and gets
//! the run's record from [`run::run`]. Each kind of error has an exit status in [`failure`]. This
//! crate knows nothing about options, commands and terminals.
//!
//! The folders in the order of use, each of which uses only those before it: `failure`, `events`,
//! `monitor`; `request`, `ranks`, `instrument`; `target`; `outcome`; `execute`; `run`; `campaign`.
//! Read `run/mod.rs`, then `run/one_run.rs`, then `run/points.rs`.

use qdepth_host::system::System;

use crate::events::observer::Observer;
use crate::events::signals::Signals;
use crate::request::RunRequest;

pub mod campaign;
pub mod events;
pub mod execute;
pub mod failure;
pub mod instrument;
pub mod monitor;
pub mod outcome;
pub mod ranks;
pub mod request;
pub mod run;
pub mod target;

/// Request and context of a run, passed to each of its stages.
#[derive(Clone, Copy)]
pub(crate) struct Lab<'a> {
    pub(crate) request: &'a RunRequest,
    pub(crate) system: &'a System,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) signals: &'a Signals,
    /// The ranks of the measurement; `None` without MPI.
    pub(crate) all_ranks: Option<&'a ranks::all_ranks::AllRanks>,
}
