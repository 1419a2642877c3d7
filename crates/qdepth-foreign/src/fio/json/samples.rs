//! Throughput and IOPS in windows of half a second, as fio samples them.

use qdepth_measure::EncodedHistogram;
use qdepth_record::{IntervalRecord, PointRecord};

use super::parts::Side;
use crate::spread::Spread;

/// Length of a sample, ns.
const WINDOW_NS: u64 = 500_000_000;

#[derive(Default)]
pub(super) struct Samples {
    /// Throughput, KiB/s.
    pub(super) kib: Spread,
    /// IOPS.
    pub(super) ios: Spread,
}

impl Samples {
    /// Statistics of concurrent points.
    pub(super) fn new(members: &[&PointRecord], side: Side) -> Self {
        let directions: &[usize] = match side {
            Side::Reads => &[0],
            Side::Writes => &[1],
            Side::Trims => &[2],
            Side::Both => &[0, 1, 2],
            Side::Syncs => return Self::default(),
        };
        let mut sums: Vec<(u64, u64, u64)> = Vec::new();
        for interval in members.iter().flat_map(|point| &point.intervals) {
            let window = (interval.start_ns / WINDOW_NS) as usize;
            // A series is bounded: a window beyond a week means damaged data.
            if window > 7 * 86_400 * 2 {
                continue;
            }
            if sums.len() <= window {
                sums.resize(window + 1, (0, 0, 0));
            }
            let sum = &mut sums[window];
            sum.0 += interval.length_ns;
            for (ios, bytes) in directions.iter().map(|direction| figures(interval, *direction)) {
                (sum.1, sum.2) = (sum.1 + ios, sum.2 + bytes);
            }
        }
        let most = sums.iter().map(|sum| sum.0).max().unwrap_or(0);
        sums.retain(|sum| sum.0 > 0 && sum.0 >= most - most / 10);
        // Each member adds its own time, so divide by their number.
        let seconds = |sum: &(u64, u64, u64)| sum.0 as f64 / 1e9 / members.len().max(1) as f64;
        if sums.iter().all(|sum| sum.1 == 0) {
            return Self::default();
        }
        let spread = |figure: &dyn Fn(&(u64, u64, u64)) -> f64| {
            Spread::new(&sums.iter().map(figure).collect::<Vec<_>>(), 1)
        };
        Self {
            kib: spread(&|sum| sum.2 as f64 / 1024.0 / seconds(sum)),
            ios: spread(&|sum| sum.1 as f64 / seconds(sum)),
        }
    }
}

/// I/Os and bytes of an interval in one direction: 0 reads, 1 writes, 2 trims.
pub(crate) fn figures(interval: &IntervalRecord, direction: usize) -> (u64, u64) {
    match direction {
        0 => (interval.reads, interval.read_bytes),
        1 => (interval.writes, interval.written_bytes),
        _ => (interval.trims, interval.trimmed_bytes),
    }
}

/// Service times of an interval in one direction.
pub(crate) fn latencies(interval: &IntervalRecord, direction: usize) -> &EncodedHistogram {
    match direction {
        0 => &interval.read_latency,
        1 => &interval.write_latency,
        _ => &interval.trim_latency,
    }
}
