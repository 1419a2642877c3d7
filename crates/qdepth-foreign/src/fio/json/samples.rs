//! Throughput and IOPS in windows of half a second, as fio samples them.

use qdepth_record::{IntervalRecord, PointRecord};

use super::parts::Side;

/// Length of a sample, ns.
const WINDOW_NS: u64 = 500_000_000;

/// Statistics of a quantity over windows.
#[derive(Default)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) count: u64,
}

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
        Self {
            kib: spread(sums.iter().map(|sum| sum.2 as f64 / 1024.0 / seconds(sum))),
            ios: spread(sums.iter().map(|sum| sum.1 as f64 / seconds(sum))),
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

fn spread(values: impl Iterator<Item = f64>) -> Spread {
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    if values.is_empty() {
        return Spread::default();
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Spread {
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(0.0, f64::max),
        mean,
        deviation: if values.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() },
        count: values.len() as u64,
    }
}
