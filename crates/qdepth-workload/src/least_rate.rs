//! A rate that a load is to keep, as written in a plan's file and as it stands in the plan.

use qdepth_measure::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From the beginning of the window until it is looked at for the first time.
const SETTLING: Nanos = Nanos::from_secs(2);
/// Over which a rate is taken, at least and at most.
const OVER: [Nanos; 2] = [Nanos::from_millis(1), Nanos::from_secs(86_400)];

/// Rates that a load is to keep: reads, writes and trims, each 0 where it may be any.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeastRateSpec {
    /// Requests a second of each stream. Left out: any.
    pub io_per_s: Option<[f64; 3]>,
    /// Bytes a second of each stream. Left out: any.
    pub bytes_per_s: Option<[f64; 3]>,
    /// Over which time. Left out: a second.
    pub over: Option<Nanos>,
    /// From the beginning of the window until the first look. Left out: two seconds.
    pub from: Option<Nanos>,
}

/// A load that does not keep these rates ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeastRate {
    /// Requests a second of each stream: reads, writes, trims; 0 = any.
    pub io_per_s: [f64; 3],
    /// Bytes a second of each stream: reads, writes, trims; 0 = any.
    pub bytes_per_s: [f64; 3],
    /// Over which time each is taken.
    pub over_ns: u64,
    /// From the beginning of the window until the first is taken.
    pub from_ns: u64,
}

impl LeastRate {
    /// With nothing left to a default.
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
            return Err(format!("least rates of {self:?}: 0 for any, and one above it"));
        }
        if !(OVER[0].0..=OVER[1].0).contains(&self.over_ns) || self.from_ns > OVER[1].0 {
            return Err(format!(
                "a least rate over {}; must be {} to {}",
                Nanos(self.over_ns),
                OVER[0],
                OVER[1]
            ));
        }
        Ok(())
    }
}
