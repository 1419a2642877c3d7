//! What there is of what was expected of a point, a row each.

use crate::fields::fields;

/// With the transaction rate of the point, I/Os per second.
type Shown<'a> = (&'a ExpectedRecord, f64);

fields! {
    /// What an emulated medium of a target's kind does at a point of the plan, to stand beside what
    /// is measured there. EMULATED.
    record ExpectedRecord in "expected" and &[];
    /// What an emulated medium does at a point: EMULATED, beside what was measured.
    entry ExpectedEntry and cells;
    point "Place of the point in the plan, `point.place`."
        kept u32 = "place",;
    emulated "Always true."
        shown bool = |_| true,
        cell |_| None,;
    medium "The medium, as the user spelled it: its figures are EMULATED."
        kept String = "medium",
        shown String = |(expected, _)| expected.medium.clone(),;
    io_per_s "Its transaction rate, I/Os per second."
        kept f64 = "io_per_s",
        shown f64 = |(expected, _)| expected.io_per_s,;
    bytes_per_s "Its bytes per second."
        kept f64 = "bytes_per_s",;
    mib_per_s "Its throughput, MiB/s (2^20 bytes)."
        shown f64 = |(expected, _)| expected.bytes_per_s / f64::from(1 << 20),;
    mean_ns "Its mean service time, ns."
        kept f64 = "mean_ns",
        shown f64 = |(expected, _)| expected.mean_ns,;
    share_reached "The point's transaction rate over the medium's; null where the medium's is 0."
        shown Option<f64> = |(expected, io_per_s)| expected.share_reached(*io_per_s),;
    below_io_per_s "The rate under which a point is below what is expected, by the medium's own \
                    error, I/Os per second; 0 where nothing measured stands behind the medium; \
                    null where nobody knows its error."
        kept Option<f64> = "below_io_per_s",
        shown Option<f64> = |(expected, _)| expected.below_io_per_s,
        older default,;
}

impl ExpectedRecord {
    /// A measured rate over the expected one; none where nothing was expected to move.
    pub fn share_reached(&self, io_per_s: f64) -> Option<f64> {
        Some(io_per_s / self.io_per_s).filter(|share| share.is_finite())
    }
}
