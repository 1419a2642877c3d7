//! The lab: a request becomes a plan, prepared targets, outcomes, and a run in the logbook.
//!
//! A front end makes a [`RunRequest`], hands in an [`Observer`](observer::Observer) that is told what
//! happens, and gets the run's record back from [`run::run`]. What goes wrong is of a kind that
//! [`failure`] knows the exit status of. The lab knows no flag, no command and no terminal.
//!
//! Read [`run`], then `one_run`, then `points`.

use qdepth_host::system::System;

use crate::observer::Observer;
use crate::request::RunRequest;
use crate::signals::Signals;

mod begin;
mod beside_fio;
pub mod calibrate;
pub mod campaign;
pub mod certify;
pub mod check;
pub mod crew;
mod disturbed;
pub mod emulated;
mod events;
pub mod execute;
mod expect;
pub mod failure;
pub mod first;
mod follower;
pub mod foresee;
mod identity;
pub mod made;
mod manner;
mod measured;
mod memory;
pub mod observer;
mod one_run;
pub mod own_medium;
mod placed;
mod points;
pub mod precondition;
mod preconditioned;
pub mod preparation;
pub mod prepare;
mod proof;
pub mod rank;
mod reach;
pub mod record;
pub mod request;
pub mod run;
mod seal;
pub mod shim;
pub mod signals;
mod standstill;
mod steady_point;
mod storage;
mod until_steady;
mod variants;
mod virtual_time;
mod visit;
mod visits;
mod watch;
mod wire;
mod witnesses;
pub mod words;
mod written;

/// What a run is asked for, and what is around it: handed to each of its stages.
#[derive(Clone, Copy)]
pub(crate) struct Lab<'a> {
    pub(crate) request: &'a RunRequest,
    pub(crate) system: &'a System,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) signals: &'a Signals,
    /// The other ranks, where there are some.
    pub(crate) crew: Option<&'a crew::Crew>,
}
