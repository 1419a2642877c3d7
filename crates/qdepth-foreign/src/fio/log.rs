//! Export of a point's series as a fio log: a row per window and direction, `time_ms, value,
//! direction, 0, 0`; direction 0 reads, 1 writes, 2 trims.

use std::fmt::Write;

use qdepth_measure::LatencyHistogram;

use qdepth_record::{IntervalRecord, PointRecord};

/// Quantity of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioLog {
    /// Throughput, KiB/s.
    Bandwidth,
    /// IOPS.
    Iops,
    /// Mean latency of the window, ns.
    Latency,
}

/// Log of a point in windows of `window_ms`, rounded up to whole intervals of the series. A
/// direction without I/Os in a window has no row there. Times count from `start_ms`.
pub fn export_fio_log(kind: FioLog, point: &PointRecord, window_ms: u64, start_ms: u64) -> String {
    let mut text = String::new();
    for (end_ms, window) in windows(point, window_ms) {
        let length_ns: u64 = window.iter().map(|interval| interval.length_ns).sum();
        let end_ms = start_ms.saturating_add(end_ms);
        for direction in 0..3 {
            if let Some(value) = value(kind, window, direction, length_ns) {
                // Writing to a String never fails.
                let _ = writeln!(text, "{end_ms}, {value}, {direction}, 0, 0");
            }
        }
    }
    text
}

/// Number of classes of fio's histograms: 64 per power of two of nanoseconds.
const CLASSES: usize = 29 * 64;

/// Log of histograms per window and direction: `time_ms, direction, bytes, count, count …`.
/// 2^`coarseness` classes are merged.
pub fn export_fio_histograms(
    point: &PointRecord,
    window_ms: u64,
    coarseness: u32,
    bytes: u64,
    start_ms: u64,
) -> String {
    let mut text = String::new();
    for (end_ms, window) in windows(point, window_ms) {
        for direction in 0..3 {
            let mut counts = vec![0_u64; CLASSES >> coarseness];
            let Some(all) = latencies(window, direction) else { continue };
            for (low, high, count) in all.occupied() {
                let class = class(low.0.midpoint(high.0)) >> coarseness;
                if let Some(sum) = counts.get_mut(class) {
                    *sum += count;
                }
            }
            if all.count() > 0 {
                let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
                let end_ms = start_ms.saturating_add(end_ms);
                // Writing to a String never fails.
                let _ = writeln!(text, "{end_ms}, {direction}, {bytes}, {}", counts.join(", "));
            }
        }
    }
    text
}

/// fio's class of a time in ns: below 128 one class per value, then by the first seven bits.
fn class(value: u64) -> usize {
    if value < 128 {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - 6;
    let class = (u64::from(shift + 1) << 6) + (value >> shift & 63);
    (class as usize).min(CLASSES - 1)
}

/// The series in windows of about this length, with the end of each window, ms.
fn windows(point: &PointRecord, window_ms: u64) -> impl Iterator<Item = (u64, &[IntervalRecord])> {
    let interval_ns = point.intervals.first().map_or(1, |interval| interval.length_ns.max(1));
    let wanted = window_ms.saturating_mul(1_000_000);
    let in_window = usize::try_from(wanted.div_ceil(interval_ns).max(1)).unwrap_or(usize::MAX);
    point.intervals.chunks(in_window).map(|window| {
        let end = window.last().map_or(0, |last| (last.start_ns + last.length_ns) / 1_000_000);
        (end, window)
    })
}

fn latencies(window: &[IntervalRecord], direction: usize) -> Option<LatencyHistogram> {
    let mut all = LatencyHistogram::new();
    for interval in window {
        // No rows for trims if there were none.
        if direction > 1 && interval.trims == 0 {
            continue;
        }
        all.merge(&super::json::latencies(interval, direction).decode().ok()?);
    }
    Some(all)
}

fn value(kind: FioLog, window: &[IntervalRecord], direction: usize, length_ns: u64) -> Option<u64> {
    let (ios, bytes) = window
        .iter()
        .map(|interval| super::json::figures(interval, direction))
        .fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
    if ios == 0 || length_ns == 0 {
        return None;
    }
    let seconds = length_ns as f64 / 1e9;
    Some(match kind {
        FioLog::Bandwidth => (bytes as f64 / 1024.0 / seconds).round() as u64,
        FioLog::Iops => (ios as f64 / seconds).round() as u64,
        FioLog::Latency => latencies(window, direction)?.mean()?.round() as u64,
    })
}
