//! Fields of the expected results of a point, one row each.

use crate::fields::fields;

/// With the transaction rate of the point, I/Os per second.
type Shown<'a> = (&'a ExpectedRecord, f64);

fields! {
    /// Result of an emulated device at a point of the plan, for comparison. EMULATED.
    record ExpectedRecord in "expected" and &[];
    /// Result of an emulated device at a point: EMULATED, for comparison.
    entry ExpectedEntry and cells;
    point "Index of the point in the plan, `point.place`."
        kept u32 = "place",;
    emulated "Always true."
        shown bool = |_| true,
        cell |_| None,;
    medium "Device model, as given by the user; its figures are EMULATED."
        kept String = "medium",
        shown String = |(expected, _)| expected.medium.clone(),;
    io_per_s "IOPS of the model."
        kept f64 = "io_per_s",
        shown f64 = |(expected, _)| expected.io_per_s,;
    bytes_per_s "Bytes per second of the model."
        kept f64 = "bytes_per_s",;
    mib_per_s "Throughput of the model, MiB/s (2^20 bytes)."
        shown f64 = |(expected, _)| expected.bytes_per_s / f64::from(1 << 20),;
    mean_ns "Mean latency of the model, ns."
        kept f64 = "mean_ns",
        shown f64 = |(expected, _)| expected.mean_ns,;
    share_reached "Ratio of the point's IOPS to the model's; null if the model's are 0."
        shown Option<f64> = |(expected, io_per_s)| expected.share_reached(*io_per_s),;
    below_io_per_s "IOPS below which a point is slower than expected, derived from the model's \
                    error; 0 if the model is not based on measurements, null if its error is \
                    unknown."
        kept Option<f64> = "below_io_per_s",
        shown Option<f64> = |(expected, _)| expected.below_io_per_s,
        older default,;
}

impl ExpectedRecord {
    /// A measured rate over the expected one; `None` if nothing was expected to move.
    pub fn share_reached(&self, io_per_s: f64) -> Option<f64> {
        Some(io_per_s / self.io_per_s).filter(|share| share.is_finite())
    }
}
