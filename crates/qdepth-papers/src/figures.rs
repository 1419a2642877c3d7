//! Conversion of an emulated load's outcome.

use crate::EmulatedPoint;
use qdepth_engine::Outcome;

/// Rate, throughput and mean latency of an emulated load; `None` if nothing completed.
pub(crate) fn figures(outcome: &Outcome) -> Option<EmulatedPoint> {
    let times = outcome.directions[..3].iter().map(|d| d.service_time.sum()).sum();
    EmulatedPoint::new(outcome.completed(), outcome.bytes(), outcome.duration.0, times)
}
