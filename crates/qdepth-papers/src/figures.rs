//! Conversion of an emulated load's outcome.

use crate::EmulatedPoint;
use qdepth_engine::Outcome;

/// Rate, throughput and mean latency of an emulated load; `None` if nothing completed.
///
/// # Errors
/// The reason why the load ended early.
pub(crate) fn figures(outcome: &Outcome) -> Result<Option<EmulatedPoint>, String> {
    if outcome.interrupted {
        return Err("interrupted".to_owned());
    }
    if let Some(failure) = &outcome.failure {
        return Err(failure.to_string());
    }
    let times = outcome.directions[..3].iter().map(|d| d.latency.sum()).sum();
    Ok(EmulatedPoint::new(outcome.completed(), outcome.bytes(), outcome.duration.0, times))
}
