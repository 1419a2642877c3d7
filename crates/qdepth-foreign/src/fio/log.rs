//! Export as a fio log: of a point's series, a row per window and direction, `time_ms, value,
//! direction, 0, 0`; of single I/Os, a row each; direction 0 reads, 1 writes, 2 trims.

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

/// I/O of a log with one row per I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioIo {
    /// Completion, in ns since the start of the job.
    pub completed_ns: u64,
    /// Latency, ns.
    pub latency_ns: u64,
    /// 0 for a read, 1 for a write, 2 for a trim.
    pub direction: u8,
    /// Offset in its file.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
}

/// Log with one row per I/O: `time_ms, value, direction, bytes, 0`, with the offset before the last
/// column if `offsets`. As in fio, a value of the bandwidth log is in thousands of bytes/second,
/// and a value of the IOPS log is 1.
pub fn export_fio_ios(
    kind: FioLog,
    ios: &[FioIo],
    offsets_from: Option<u64>,
    start_ms: u64,
) -> String {
    let mut text = String::with_capacity(ios.len() * 32);
    for io in ios {
        let value = match kind {
            FioLog::Bandwidth => u64::from(io.size) * 1_000_000 / io.latency_ns.max(1),
            FioLog::Iops => 1,
            FioLog::Latency => io.latency_ns,
        };
        let ms = start_ms.saturating_add(io.completed_ns / 1_000_000);
        // Writing to a String never fails.
        let _ = write!(text, "{ms}, {value}, {}, {}", io.direction, io.size);
        if let Some(begin) = offsets_from {
            let _ = write!(text, ", {}", io.offset.saturating_add(begin));
        }
        text.push_str(", 0\n");
    }
    text
}

/// Log of single I/Os in windows of `window_ms`, with the rows of [`export_fio_log`]; the last
/// one ends with the point, `end_ns` after its start.
pub fn export_fio_io_windows(
    kind: FioLog,
    ios: &[FioIo],
    window_ms: u64,
    end_ns: u64,
    start_ms: u64,
) -> String {
    let mut text = String::new();
    let window_ns = window_ms.saturating_mul(1_000_000).max(1);
    for window in ios.chunk_by(|a, b| a.completed_ns / window_ns == b.completed_ns / window_ns) {
        let begin = window[0].completed_ns / window_ns * window_ns;
        let end = (begin + window_ns).min(end_ns.max(begin + 1));
        let end_ms = start_ms.saturating_add(end.div_ceil(1_000_000));
        let seconds = (end - begin) as f64 / 1e9;
        for direction in 0..3 {
            let own = || window.iter().filter(|io| io.direction == direction);
            let sum = |part: fn(&FioIo) -> u64| own().map(part).sum::<u64>() as f64;
            let count = own().count() as f64;
            if count > 0.0 {
                let value = match kind {
                    FioLog::Bandwidth => sum(|io| io.size.into()) / 1024.0 / seconds,
                    FioLog::Iops => count / seconds,
                    FioLog::Latency => sum(|io| io.latency_ns) / count,
                };
                // Writing to a String never fails.
                let _ = writeln!(text, "{end_ms}, {value:.0}, {direction}, 0, 0");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_ios_have_means_and_rates() {
        let io = |ms: u64, direction| FioIo {
            completed_ns: ms * 1_000_000,
            latency_ns: 1000 * ms,
            direction,
            offset: 0,
            size: 1 << 20,
        };
        let ios = [io(10, 0), io(90, 0), io(110, 1)];
        let log = |kind| export_fio_io_windows(kind, &ios, 100, 150_000_000, 0);
        assert_eq!(log(FioLog::Iops), "100, 20, 0, 0, 0\n150, 20, 1, 0, 0\n");
        assert_eq!(log(FioLog::Latency), "100, 50000, 0, 0, 0\n150, 110000, 1, 0, 0\n");
        assert_eq!(log(FioLog::Bandwidth), "100, 20480, 0, 0, 0\n150, 20480, 1, 0, 0\n");
    }

    #[test]
    fn single_io_rows_match_fio_columns_and_units() {
        // Rows of fio 3.42 for the same I/O.
        let io = FioIo {
            completed_ns: 2_500_000,
            latency_ns: 20,
            direction: 1,
            offset: 8192,
            size: 4096,
        };
        let row = |kind, offsets: bool| export_fio_ios(kind, &[io], offsets.then_some(0), 0);
        assert_eq!(row(FioLog::Bandwidth, true), "2, 204800000, 1, 4096, 8192, 0\n");
        assert_eq!(row(FioLog::Iops, true), "2, 1, 1, 4096, 8192, 0\n");
        assert_eq!(row(FioLog::Latency, false), "2, 20, 1, 4096, 0\n");
        assert_eq!(export_fio_ios(FioLog::Iops, &[io], None, 1000), "1002, 1, 1, 4096, 0\n");
    }
}
