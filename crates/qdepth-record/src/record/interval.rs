//! Fields of a sample of a point's series, one row each.

use qdepth_measure::EncodedHistogram;

use crate::fields::record;
use crate::merged::{keep_first, maximum, reset, sum};

record! {
    /// One slice of a point's series (100 ms unless the point is shorter).
    record IntervalRecord in "sample" and &[], merged;
    start_ns "Start, ns from the start of the measured window."
        kept u64 = "start_ns": keep_first,;
    length_ns "Length, ns; the last sample of a segment may be shorter."
        kept u64 = "length_ns": maximum,;
    reads "Completed reads."
        kept u64 = "reads": sum,;
    writes "Completed writes."
        kept u64 = "writes": sum,;
    read_bytes "Bytes of the reads."
        kept u64 = "read_bytes": sum,;
    written_bytes "Bytes of the writes."
        kept u64 = "written_bytes": sum,;
    trims "Completed trims."
        kept u64 = "trims": sum,;
    trimmed_bytes "Bytes of the trims."
        kept u64 = "trimmed_bytes": sum,;
    read_latency "Histogram of the latencies of the reads."
        kept EncodedHistogram = "read_latency": reset,;
    write_latency "Histogram of the latencies of the writes."
        kept EncodedHistogram = "write_latency": reset,;
    trim_latency "Histogram of the latencies of the trims; empty without trims."
        kept EncodedHistogram = "trim_latency": reset,;
}

impl IntervalRecord {
    /// Reads, writes and trims completed.
    pub fn completed(&self) -> u64 {
        self.reads.saturating_add(self.writes).saturating_add(self.trims)
    }

    /// Bytes of those.
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.written_bytes).saturating_add(self.trimmed_bytes)
    }
}
