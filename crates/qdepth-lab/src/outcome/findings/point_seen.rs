//! A measured point, and what it is held against.

use qdepth_host::system::System;
use qdepth_record::ExpectedRecord;
use qdepth_workload::Point;

use crate::outcome::measured::Measured;
use crate::target::prepare::Prepared;

/// A measured point, and what it is held against.
pub(crate) struct PointSeen<'a> {
    pub(crate) system: &'a System,
    pub(crate) point: &'a Point,
    pub(crate) prepared: &'a Prepared,
    pub(crate) measured: &'a Measured,
    /// The generator's rate at this intensity where storage costs nothing.
    pub(crate) ceiling: Option<f64>,
    /// Result of the emulated device at this point.
    pub(crate) expected: Option<&'a ExpectedRecord>,
    /// True if its run had been interrupted.
    pub(crate) is_resumed: bool,
    /// True if it is a step of a load that rises until it is not followed.
    pub(crate) is_staircase: bool,
}
