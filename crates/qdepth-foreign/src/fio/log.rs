//! Export as a fio log: of a point's series, a row per window and direction, `time_ms, value,
//! direction, 0, 0`; of single I/Os, a row each; direction 0 reads, 1 writes, 2 trims.

use std::fmt::Write;

use qdepth_measure::LatencyHistogram;

use qdepth_record::{IntervalRecord, PointRecord};

use super::job_parts::{FioLogColumns, WindowValue};

/// Quantity of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioLog {
    /// Throughput, KiB/s.
    Bandwidth,
    /// IOPS.
    Iops,
    /// Latency, ns.
    Latency,
    /// The same, with times of issue.
    Completion,
    /// Submission latency, which is 0: an I/O's clock starts when it is submitted.
    Submission,
}

/// Row of a log.
struct Row {
    ms: u64,
    mean: u64,
    max: u64,
    direction: usize,
    bytes: u32,
    offset: u64,
    issued_ns: u64,
    priority: u16,
}

impl FioLogColumns {
    fn add(self, text: &mut String, row: &Row) {
        let Row { ms, mean, max, direction, bytes, offset, issued_ns, priority } = row;
        // Writing to a String never fails.
        let _ = match self.value {
            WindowValue::Mean => write!(text, "{ms}, {mean}, {direction}, {bytes}"),
            WindowValue::Max => write!(text, "{ms}, {max}, {direction}, {bytes}"),
            WindowValue::Both => write!(text, "{ms}, {mean}, {max}, {direction}, {bytes}"),
        };
        if self.offsets {
            let _ = write!(text, ", {offset}");
        }
        let _ = match self.priorities {
            true => write!(text, ", {priority:#06x}"),
            false => write!(text, ", 0"),
        };
        if self.issued {
            let _ = write!(text, ", {issued_ns}");
        }
        text.push('\n');
    }

    fn add_window(self, text: &mut String, ms: u64, direction: usize, [mean, max]: [u64; 2]) {
        let (bytes, offset, issued_ns, priority) = Default::default();
        self.add(text, &Row { ms, mean, max, direction, bytes, offset, issued_ns, priority });
    }
}

/// Log of a point in windows of `window_ms`, rounded up to whole intervals of the series. A
/// direction without I/Os in a window has no row there. Times count from `start_ms`.
pub fn export_fio_log(
    kind: FioLog,
    point: &PointRecord,
    window_ms: u64,
    start_ms: u64,
    columns: FioLogColumns,
) -> String {
    let mut text = String::new();
    for (end_ms, window) in windows(point, window_ms) {
        let length_ns: u64 = window.iter().map(|interval| interval.length_ns).sum();
        let end_ms = start_ms.saturating_add(end_ms);
        for direction in 0..3 {
            if let Some(values) = values(kind, window, direction, length_ns) {
                columns.add_window(&mut text, end_ms, direction, values);
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
    /// Priority in the kernel's encoding; 0 for that of the process.
    pub priority: u16,
}

/// Log with one row per I/O. Offsets count from `first`. As in fio, a value of the bandwidth log is
/// in thousands of bytes/second, and a value of the IOPS log is 1.
pub fn export_fio_ios(
    kind: FioLog,
    ios: &[FioIo],
    first: u64,
    start_ms: u64,
    columns: FioLogColumns,
) -> String {
    let mut text = String::with_capacity(ios.len() * 32);
    let columns = FioLogColumns { value: WindowValue::Mean, ..columns };
    for io in ios {
        let value = match kind {
            FioLog::Bandwidth => u64::from(io.size) * 1_000_000 / io.latency_ns.max(1),
            FioLog::Iops => 1,
            FioLog::Latency | FioLog::Completion => io.latency_ns,
            FioLog::Submission => 0,
        };
        let issued_ns = start_ms.saturating_mul(1_000_000).saturating_add(io.completed_ns);
        let row = Row {
            ms: start_ms.saturating_add(io.completed_ns / 1_000_000),
            mean: value,
            max: value,
            direction: io.direction.into(),
            bytes: io.size,
            offset: io.offset.saturating_add(first),
            priority: io.priority,
            issued_ns: match kind {
                FioLog::Completion | FioLog::Submission => issued_ns.saturating_sub(io.latency_ns),
                _ => 0,
            },
        };
        columns.add(&mut text, &row);
    }
    text
}

/// Version of the traces of [`export_fio_trace`]: their first line.
pub const FIO_TRACE_VERSION: &str = "fio version 3 iolog\n";

/// Trace of a file's I/Os, in the order of issue, without its first line. Offsets count from
/// `first`, and times are in microseconds.
pub fn export_fio_trace(file: &str, ios: &[FioIo], first: u64) -> String {
    let issued_us = |io: &FioIo| io.completed_ns.saturating_sub(io.latency_ns) / 1000;
    let mut ios: Vec<&FioIo> = ios.iter().collect();
    ios.sort_by_key(|io| issued_us(io));
    let mut text = format!("0 {file} add\n0 {file} open\n");
    for io in &ios {
        let action = ["read", "write", "trim"][usize::from(io.direction.min(2))];
        let (us, offset) = (issued_us(io), io.offset.saturating_add(first));
        // Writing to a String never fails.
        let _ = writeln!(text, "{us} {file} {action} {offset} {}", io.size);
    }
    let end_us = ios.iter().map(|io| io.completed_ns.div_ceil(1000)).max().unwrap_or(0);
    text + &format!("{end_us} {file} close\n")
}

/// Log of single I/Os in windows of `window_ms`, with the rows of [`export_fio_log`]; the last
/// one ends with the point, `end_ns` after its start.
pub fn export_fio_io_windows(
    kind: FioLog,
    ios: &[FioIo],
    window_ms: u64,
    end_ns: u64,
    start_ms: u64,
    columns: FioLogColumns,
) -> String {
    let mut text = String::new();
    let window_ns = window_ms.saturating_mul(1_000_000).max(1);
    for window in ios.chunk_by(|a, b| a.completed_ns / window_ns == b.completed_ns / window_ns) {
        let begin = window[0].completed_ns / window_ns * window_ns;
        let end = (begin + window_ns).min(end_ns.max(begin + 1));
        let end_ms = start_ms.saturating_add(end.div_ceil(1_000_000));
        let seconds = (end - begin) as f64 / 1e9;
        for direction in 0..3 {
            let own = || window.iter().filter(|io| usize::from(io.direction) == direction);
            let sum = |part: fn(&FioIo) -> u64| own().map(part).sum::<u64>() as f64;
            let count = own().count() as f64;
            if count > 0.0 {
                let whole = |value: f64| [value.round_ties_even() as u64; 2];
                let values = match kind {
                    FioLog::Bandwidth => whole(sum(|io| io.size.into()) / 1024.0 / seconds),
                    FioLog::Iops => whole(count / seconds),
                    FioLog::Latency | FioLog::Completion => {
                        let [mean, _] = whole(sum(|io| io.latency_ns) / count);
                        [mean, own().map(|io| io.latency_ns).max().unwrap_or(mean)]
                    }
                    FioLog::Submission => [0; 2],
                };
                columns.add_window(&mut text, end_ms, direction, values);
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

/// Mean and maximum of a window; a rate has only one value.
fn values(
    kind: FioLog,
    window: &[IntervalRecord],
    direction: usize,
    length_ns: u64,
) -> Option<[u64; 2]> {
    let (ios, bytes) = window
        .iter()
        .map(|interval| super::json::figures(interval, direction))
        .fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
    if ios == 0 || length_ns == 0 {
        return None;
    }
    let seconds = length_ns as f64 / 1e9;
    Some(match kind {
        FioLog::Bandwidth => [(bytes as f64 / 1024.0 / seconds).round() as u64; 2],
        FioLog::Iops => [(ios as f64 / seconds).round() as u64; 2],
        FioLog::Latency | FioLog::Completion => {
            let all = latencies(window, direction)?;
            [all.mean()?.round() as u64, all.max()?.0]
        }
        FioLog::Submission => [0; 2],
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
            priority: 0,
        };
        let ios = [io(10, 0), io(90, 0), io(110, 1)];
        let plain = FioLogColumns::default();
        let log = |kind| export_fio_io_windows(kind, &ios, 100, 150_000_000, 0, plain);
        assert_eq!(log(FioLog::Iops), "100, 20, 0, 0, 0\n150, 20, 1, 0, 0\n");
        assert_eq!(log(FioLog::Latency), "100, 50000, 0, 0, 0\n150, 110000, 1, 0, 0\n");
        assert_eq!(log(FioLog::Bandwidth), "100, 20480, 0, 0, 0\n150, 20480, 1, 0, 0\n");
        // Rows of fio 3.42 with both values, offset, priority and time of issue.
        let all = FioLogColumns {
            offsets: true,
            priorities: true,
            issued: true,
            value: WindowValue::Both,
        };
        let log = |kind| export_fio_io_windows(kind, &ios[..2], 100, 150_000_000, 0, all);
        assert_eq!(log(FioLog::Completion), "100, 50000, 90000, 0, 0, 0, 0x0000, 0\n");
        assert_eq!(log(FioLog::Iops), "100, 20, 20, 0, 0, 0, 0x0000, 0\n");
    }

    #[test]
    fn trace_has_ios_in_order_of_issue() {
        let io = |completed_ns, latency_ns, direction, offset| FioIo {
            completed_ns,
            latency_ns,
            direction,
            offset,
            size: 4096,
            priority: 0,
        };
        let ios = [io(9_000, 1_000, 0, 0), io(10_500, 8_500, 1, 4096)];
        let rows = "0 f add\n0 f open\n2 f write 5120 4096\n8 f read 1024 4096\n11 f close\n";
        assert_eq!(export_fio_trace("f", &ios, 1024), rows);
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
            priority: 0x4003,
        };
        let row = |kind, offsets: bool| {
            let columns = FioLogColumns { offsets, ..FioLogColumns::default() };
            export_fio_ios(kind, &[io], 0, 0, columns)
        };
        assert_eq!(row(FioLog::Bandwidth, true), "2, 204800000, 1, 4096, 8192, 0\n");
        assert_eq!(row(FioLog::Iops, true), "2, 1, 1, 4096, 8192, 0\n");
        assert_eq!(row(FioLog::Latency, false), "2, 20, 1, 4096, 0\n");
        let plain = FioLogColumns::default();
        assert_eq!(export_fio_ios(FioLog::Iops, &[io], 0, 1000, plain), "1002, 1, 1, 4096, 0\n");
        let issued = FioLogColumns { offsets: true, issued: true, priorities: true, ..plain };
        let row = |kind| export_fio_ios(kind, &[io], 0, 0, issued);
        assert_eq!(row(FioLog::Submission), "2, 0, 1, 4096, 8192, 0x4003, 2499980\n");
        assert_eq!(row(FioLog::Latency), "2, 20, 1, 4096, 8192, 0x4003, 0\n");
    }
}
