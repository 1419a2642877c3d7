//! Strings the stages together: words → plan → prepared targets → outcomes → logbook.

use qdepth_host::system::System;

use crate::flags::RunOptions;
use crate::lab::signals::Signals;
use crate::result_file::ResultFile;
use crate::screen::Screen;

pub(crate) mod again;
pub(crate) mod begin;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod crew;
pub(crate) mod disturbed;
pub(crate) mod emulate;
pub(crate) mod execute;
pub(crate) mod expect;
pub(crate) mod foresee;
pub(crate) mod identity;
pub(crate) mod memory;
pub(crate) mod placed;
pub(crate) mod planned;
pub(crate) mod points;
pub(crate) mod precondition;
pub(crate) mod preparation;
pub(crate) mod prepare;
pub(crate) mod reach;
pub(crate) mod read_plan;
pub(crate) mod record;
pub(crate) mod seal;
pub(crate) mod signals;
pub(crate) mod standstill;
pub(crate) mod storage;
pub(crate) mod virtual_time;
pub(crate) mod wire;
pub(crate) mod witnesses;
pub(crate) mod written;

/// What a run is asked for, and what is around it: handed to each of its stages.
#[derive(Clone, Copy)]
pub(crate) struct Lab<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) system: &'a System,
    pub(crate) screen: &'a Screen,
    pub(crate) signals: &'a Signals,
    /// The other ranks, where there are some.
    pub(crate) crew: Option<&'a crew::Crew>,
    /// Where the report goes, where there is to be one.
    pub(crate) report: Option<&'a ResultFile>,
}
