//! A measured point with the context for its findings.

use qdepth_host::system::System;
use qdepth_record::ExpectedRecord;
use qdepth_workload::Point;

use crate::outcome::measured::Measured;
use crate::target::prepare::Prepared;

/// A measured point with the context for its findings.
pub(crate) struct PointSeen<'a> {
    pub(crate) system: &'a System,
    pub(crate) point: &'a Point,
    pub(crate) prepared: &'a Prepared,
    pub(crate) measured: &'a Measured,
    /// The generator's ceiling at this queue depth.
    pub(crate) ceiling: Option<f64>,
    /// Result of the emulated device at this point.
    pub(crate) expected: Option<&'a ExpectedRecord>,
    /// True if the run was resumed.
    pub(crate) is_resumed: bool,
    /// True for a step of a load that rises until the target does not follow it.
    pub(crate) is_staircase: bool,
}
