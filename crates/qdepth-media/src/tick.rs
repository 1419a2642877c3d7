//! Time inside a medium: whole 1/1024 ns, so that a cost per byte needs no fraction, no carried
//! remainder and no float. 2^64 of them are 208 days.

use qdepth_measure::Instant;

/// A moment or a length in 1/1024 ns.
pub(crate) type Tick = u64;

/// Later than any measurement.
pub(crate) const NEVER: Tick = u64::MAX;
const PER_NS: u64 = 1024;

/// The moment that a target's clock shows as `at`.
#[inline]
pub(crate) fn ticks(at: Instant) -> Tick {
    at.0.saturating_mul(PER_NS)
}

/// The first whole nanosecond that is not before `tick`.
#[inline]
pub(crate) fn instant(tick: Tick) -> Instant {
    Instant(tick.div_ceil(PER_NS))
}

/// A length given in microseconds. Conversions of finite numbers are the same on every machine.
pub(crate) fn micros(length: f64) -> Tick {
    (length * 1e3 * PER_NS as f64).round() as Tick
}

/// The cost of one KiB at a rate in MB/s (2^20 bytes per second).
pub(crate) fn per_kib_at(mb_per_s: f64) -> Tick {
    micros(1e6 / 1024.0 / mb_per_s)
}

/// The cost of `bytes` at `per_kib`.
#[inline]
pub(crate) fn cost(bytes: u32, per_kib: Tick) -> Tick {
    (u64::from(bytes) * per_kib) >> 10
}

/// `length` times a share or factor given in 1/65536.
#[inline]
pub(crate) fn times(length: Tick, factor_16: u64) -> Tick {
    (length * factor_16) >> 16
}

/// A factor in 1/65536.
pub(crate) fn factor(value: f64) -> u64 {
    (value * 65536.0).round() as u64
}
