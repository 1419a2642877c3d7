//! Minimum rate of a load, as written in a plan file and as resolved in the plan.

use qdepth_measure::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time from the start of the window to the first check.
const SETTLING: Nanos = Nanos::from_secs(2);
/// Shortest and longest time over which a rate is determined.
const OVER: [Nanos; 2] = [Nanos::from_millis(1), Nanos::from_secs(86_400)];

/// Minimum rates of a load: reads, writes and trims, each 0 for no minimum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeastRateSpec {
    /// I/Os per second of each stream.
    pub io_per_s: Option<[f64; 3]>,
    /// Bytes per second of each stream.
    pub bytes_per_s: Option<[f64; 3]>,
    /// Time over which the rate is determined. Default: one second.
    pub over: Option<Nanos>,
    /// Time from the start of the window to the first check. Default: two seconds.
    pub from: Option<Nanos>,
}

/// Minimum rates; a load that is slower ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeastRate {
    /// Requests per second of each stream: reads, writes, trims; 0 for no minimum.
    pub io_per_s: [f64; 3],
    /// Bytes per second of each stream: reads, writes, trims; 0 for no minimum.
    pub bytes_per_s: [f64; 3],
    /// Time over which each rate is determined.
    pub over_ns: u64,
    /// Time from the start of the window to the start of the first.
    pub from_ns: u64,
}

impl LeastRate {
    /// Resolves all defaults.
    pub(crate) fn resolved(spec: LeastRateSpec) -> Result<Self, String> {
        let least = Self {
            io_per_s: spec.io_per_s.unwrap_or_default(),
            bytes_per_s: spec.bytes_per_s.unwrap_or_default(),
            over_ns: spec.over.unwrap_or(Nanos::from_secs(1)).0,
            from_ns: spec.from.unwrap_or(SETTLING).0,
        };
        least.check().map(|()| least)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let rates = || self.io_per_s.iter().chain(&self.bytes_per_s);
        if !rates().all(|rate| (0.0..=1e15).contains(rate)) || rates().all(|rate| *rate <= 0.0) {
            return Err(format!(
                "least rates of {self:?}: must not be negative, and at least one must be above 0"
            ));
        }
        if !(OVER[0].0..=OVER[1].0).contains(&self.over_ns) || self.from_ns > OVER[1].0 {
            return Err(format!(
                "a least rate over {}: must be between {} and {}",
                Nanos(self.over_ns),
                OVER[0],
                OVER[1]
            ));
        }
        Ok(())
    }
}
