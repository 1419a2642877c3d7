//! Time inside an emulated device, in units of 1/1024 ns: costs per byte need no fractions, carried
//! remainders or floats. 2^64 ticks are 208 days.

use qdepth_measure::Instant;

/// Moment or duration in 1/1024 ns.
pub(crate) type Tick = u64;

/// Marker: later than any measurement.
pub(crate) const NEVER: Tick = u64::MAX;
const PER_NS: u64 = 1024;

/// Converts a target's time to ticks.
#[inline]
pub(crate) fn ticks(at: Instant) -> Tick {
    at.0.saturating_mul(PER_NS)
}

/// Converts ticks to a target's time, rounded up.
#[inline]
pub(crate) fn instant(tick: Tick) -> Instant {
    Instant(tick.div_ceil(PER_NS))
}

/// Duration of `length` microseconds. The conversion of finite numbers is the same on every
/// machine.
pub(crate) fn micros(length: f64) -> Tick {
    (length * 1e3 * PER_NS as f64).round() as Tick
}

/// Cost of one KiB at a rate in MB/s (2^20 bytes per second).
pub(crate) fn per_kib_at(mb_per_s: f64) -> Tick {
    micros(1e6 / 1024.0 / mb_per_s)
}

/// Cost of `bytes` at `per_kib`.
#[inline]
pub(crate) fn cost(bytes: u32, per_kib: Tick) -> Tick {
    (u64::from(bytes) * per_kib) >> 10
}

/// `length` times a factor in 1/65536.
#[inline]
pub(crate) fn times(length: Tick, factor_16: u64) -> Tick {
    (length * factor_16) >> 16
}

/// Factor in 1/65536.
pub(crate) fn factor(value: f64) -> u64 {
    (value * 65536.0).round() as u64
}
