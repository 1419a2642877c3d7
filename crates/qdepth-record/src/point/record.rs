//! The record of a point.

use qdepth_measure::{Code, EncodedHistogram, Finding, LatencyHistogram, Severity};

use super::fields::rows;
use super::merged::{both, direction, ended_by, histogram, least_each, series, sum_32};
use crate::fields::{joined, structure};
use crate::merged::{add_missing, keep_first, maximum, minimum, reset, sum, sum_real};
use crate::record::{DirectionRecord, EndedBy, IntervalRecord, KernelCounts, MonitorRecord};

rows! {
    structure
    /// One profile at one intensity on one target, as measured.
    record PointRecord;
}

rows!(joined record PointRecord;);

impl PointRecord {
    /// Reads, writes, trims and syncs, with their names.
    pub fn directions(&self) -> [(&'static str, &DirectionRecord); 4] {
        let Self { reads, writes, trims, syncs, .. } = self;
        [("read", reads), ("write", writes), ("trim", trims), ("sync", syncs)]
    }

    /// Reads, writes and trims: the directions that count for rate and latency.
    pub fn transfers(&self) -> [&DirectionRecord; 3] {
        [&self.reads, &self.writes, &self.trims]
    }

    /// Response times of reads, writes and trims; in a closed loop these are the latencies.
    pub(crate) fn response_times(&self) -> LatencyHistogram {
        let mut all = LatencyHistogram::new();
        for each in self.transfers() {
            all.merge(each.response_time.as_ref().unwrap_or(&each.latency));
        }
        all
    }

    /// True if the point has an invalidating finding whose code is in none of these lists.
    pub(crate) fn is_invalid_but_for(&self, accepted: &[&[Code]]) -> bool {
        self.findings.iter().any(|finding| {
            let is_accepted = accepted.iter().any(|codes| codes.contains(&finding.code));
            finding.severity == Severity::Invalid && !is_accepted
        })
    }

    /// Number of reads, writes and trims completed in full.
    pub fn completed(&self) -> u64 {
        self.transfers().map(|each| each.completed).into_iter().fold(0, u64::saturating_add)
    }

    /// Bytes of the completed reads, writes and trims.
    pub fn bytes(&self) -> u64 {
        self.transfers().map(|each| each.bytes).into_iter().fold(0, u64::saturating_add)
    }

    /// Findings of interrupted points (by the user, or by loss of the target), which do not count
    /// as measured.
    pub const CUT_SHORT: [Code; 4] =
        [Code::Interrupted, Code::DeviceGone, Code::DeviceChanged, Code::TargetFailed];

    /// True if the point was interrupted and must be measured again.
    pub fn is_cut_short(&self) -> bool {
        self.findings.iter().any(|finding| Self::CUT_SHORT.contains(&finding.code))
    }

    /// True if the samples hold latencies. Samples merged from several ranks do not, nor do
    /// imported ones without a latency log.
    pub fn has_latencies_over_time(&self) -> bool {
        let holds = |sample: &IntervalRecord| {
            let times = [&sample.read_latency, &sample.write_latency, &sample.trim_latency];
            times.iter().any(|times| times.decode().is_ok_and(|times| times.count() > 0))
        };
        self.intervals.iter().any(holds)
    }

    /// The samples of each interleaved segment. Segments are separated by gaps in the series, in
    /// which other points were measured. Imported series may have gaps for other reasons, so they
    /// count as one segment.
    pub fn segments(&self) -> Vec<&[IntervalRecord]> {
        if self.findings.iter().any(|finding| finding.code == Code::Imported) {
            return vec![&self.intervals];
        }
        let nominal = self.intervals.iter().map(|sample| sample.length_ns).max().unwrap_or(0);
        let goes_on = |a: &IntervalRecord, b: &IntervalRecord| {
            let end_ns = a.start_ns.saturating_add(a.length_ns);
            b.start_ns <= end_ns.saturating_add(nominal / 10)
        };
        self.intervals.chunk_by(goes_on).collect()
    }

    /// Share of requests that write data, 0..=1.
    pub fn write_share(&self) -> f64 {
        1.0 - self.read_share - self.trim_share
    }
}
