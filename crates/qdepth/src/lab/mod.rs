//! Strings the stages together: words → plan → prepared targets → outcomes → logbook.

use qdepth_host::system::System;

use crate::lab::observer::Observer;
use crate::lab::request::RunRequest;
use crate::lab::signals::Signals;

pub(crate) mod begin;
mod beside_fio;
pub(crate) mod calibrate;
pub(crate) mod campaign;
pub(crate) mod certify;
pub(crate) mod check;
pub(crate) mod crew;
pub(crate) mod disturbed;
pub(crate) mod emulate;
pub(crate) mod events;
pub(crate) mod execute;
pub(crate) mod expect;
pub(crate) mod failure;
pub(crate) mod first;
pub(crate) mod foresee;
pub(crate) mod identity;
pub(crate) mod memory;
pub(crate) mod observer;
pub(crate) mod own_medium;
pub(crate) mod placed;
pub(crate) mod planned;
pub(crate) mod points;
pub(crate) mod precondition;
pub(crate) mod preparation;
pub(crate) mod prepare;
pub(crate) mod reach;
pub(crate) mod record;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod seal;
pub(crate) mod shim;
pub(crate) mod signals;
pub(crate) mod standstill;
mod steady_point;
pub(crate) mod storage;
pub(crate) mod until_steady;
pub(crate) mod variants;
pub(crate) mod virtual_time;
mod visits;
pub(crate) mod wire;
pub(crate) mod witnesses;
pub(crate) mod words;
pub(crate) mod written;

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
