//! Import of fio's logs: `PREFIX_KIND.N.log` with rows `time_ms, value, direction, size, …`. Logs
//! with the same prefix and number are one point. A row with a size is a single I/O; a row without
//! one is the mean of a window.

use std::collections::BTreeMap;

use qdepth_measure::{LatencyHistogram, Nanos};

use crate::imported::{self, Imported, target_index};
use crate::remark::Remark;
use qdepth_record::{DirectionRecord, IntervalRecord, PointRecord, StatedLatency};

/// Maximum number of windows in a point's series; a longer log gets longer windows.
const WINDOWS_MAX: u64 = 36_000;
/// Shortest window, ms.
const WINDOW_MS: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Latency,
    Bandwidth,
    Iops,
}

#[derive(Clone, Copy, Debug)]
struct LogRow {
    time_ms: u64,
    value: u64,
    direction: usize,
    size: u64,
}

pub(crate) fn is_it(name: &str, text: &str) -> bool {
    named(name).is_some() && text.lines().next().is_some_and(|line| row(line).is_some())
}

/// Prefix with number, and kind. `None` as kind for submission and completion latency, which are
/// parts of the total.
fn named(name: &str) -> Option<(String, Option<Kind>)> {
    let file = name.rsplit(['/', '\\']).next()?;
    let stem = file.strip_suffix(".log")?;
    let (stem, number) = match stem.rsplit_once('.') {
        Some((stem, number)) if number.bytes().all(|b| b.is_ascii_digit()) => (stem, number),
        _ => (stem, ""),
    };
    let (prefix, kind) = stem.rsplit_once('_')?;
    let kind = match kind {
        "lat" => Some(Kind::Latency),
        "bw" => Some(Kind::Bandwidth),
        "iops" => Some(Kind::Iops),
        "slat" | "clat" => None,
        _ => return None,
    };
    Some((format!("{prefix} {number}").trim_end().to_owned(), kind))
}

fn row(line: &str) -> Option<LogRow> {
    let mut cells = line.split(',').map(str::trim);
    let mut next = || cells.next()?.parse::<u64>().ok();
    let (time_ms, value, direction, size) = (next()?, next()?, next()?, next()?);
    Some(LogRow { time_ms, value, direction: usize::try_from(direction).ok()?, size })
}

type Failed = (String, String);

pub(crate) fn read(files: &[(&str, std::borrow::Cow<'_, str>)]) -> Result<Imported, Failed> {
    let mut points: BTreeMap<String, Vec<(Kind, Vec<LogRow>)>> = BTreeMap::new();
    for (name, text) in files {
        let Some((point, kind)) = named(name) else { continue };
        let rows = points.entry(point).or_default();
        let Some(kind) = kind else { continue };
        let mut list = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row = row(line).ok_or_else(|| {
                ((*name).to_owned(), format!("line {} is not a line of a fio log", number + 1))
            })?;
            // A time beyond a year means a damaged file.
            if row.direction > 2 || row.time_ms > 31_536_000_000 {
                return Err(((*name).to_owned(), format!("line {} is out of range", number + 1)));
            }
            list.push(row);
        }
        rows.push((kind, list));
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let mut run = Imported {
        program: "fio".to_owned(),
        file: names.join(", "),
        remarks: vec![Remark::LogsWithoutLoad],
        ..Imported::default()
    };
    for (name, logs) in points {
        if logs.iter().all(|(_, rows)| rows.is_empty()) {
            continue;
        }
        let mut point = point(&name, &logs);
        point.index = run.points.len() as u32;
        point.target = target_index(&mut run.targets, "unknown target");
        run.points.push(point);
    }
    if run.points.is_empty() {
        let first = names.first().copied().unwrap_or_default().to_owned();
        return Err((first, "it contains neither throughput, IOPS nor total latency".to_owned()));
    }
    Ok(run)
}

/// One window of the series being filled.
#[derive(Default)]
struct Window {
    /// I/Os of reads, writes and trims.
    ios: [f64; 3],
    bytes: [f64; 3],
    times: [Option<Box<LatencyHistogram>>; 3],
}

fn point(name: &str, logs: &[(Kind, Vec<LogRow>)]) -> PointRecord {
    let last_ms = logs.iter().flat_map(|(_, rows)| rows).map(|row| row.time_ms).max().unwrap_or(0);
    let window_ms = WINDOW_MS * (last_ms / WINDOW_MS).div_ceil(WINDOWS_MAX).max(1);
    let mut filling = Filling { window_ms, ..Filling::default() };
    let has = |kind: Kind| logs.iter().any(|(known, rows)| *known == kind && !rows.is_empty());
    for (kind, rows) in logs {
        filling.log(*kind, rows, has(Kind::Iops), has(Kind::Bandwidth));
    }
    filling.into_point(name, last_ms)
}

/// Means of windows.
#[derive(Clone, Copy, Default)]
struct Means {
    sum: f64,
    count: u64,
    max: u64,
}

#[derive(Default)]
struct Filling {
    window_ms: u64,
    windows: BTreeMap<u64, Window>,
    times: [LatencyHistogram; 3],
    means: [Means; 3],
}

impl Filling {
    fn log(&mut self, kind: Kind, rows: &[LogRow], rates: bool, bytes: bool) {
        let mut former = [0_u64; 3];
        for row in rows.iter().filter(|row| row.direction < 3) {
            let side = row.direction;
            let seconds = row.time_ms.saturating_sub(former[side]) as f64 / 1e3;
            former[side] = row.time_ms;
            let window = self.windows.entry(row.time_ms / self.window_ms).or_default();
            match kind {
                Kind::Iops => window.ios[side] += row.value as f64 * seconds,
                Kind::Bandwidth => window.bytes[side] += row.value as f64 * 1024.0 * seconds,
                Kind::Latency if row.size > 0 => {
                    self.times[side].record(Nanos(row.value));
                    let times = window.times[side].get_or_insert_default();
                    times.record(Nanos(row.value));
                    // Rows of single I/Os are counted, unless another log has the rates.
                    window.ios[side] += f64::from(u8::from(!rates));
                    window.bytes[side] += if bytes { 0.0 } else { row.size as f64 };
                }
                Kind::Latency => {
                    let means = &mut self.means[side];
                    means.sum += row.value as f64;
                    means.count += 1;
                    means.max = means.max.max(row.value);
                }
            }
        }
    }

    fn into_point(self, name: &str, last_ms: u64) -> PointRecord {
        let side = |index: usize| {
            let windows = || self.windows.values();
            let completed = windows().map(|window| window.ios[index]).sum::<f64>() as u64;
            DirectionRecord {
                completed,
                bytes: windows().map(|window| window.bytes[index]).sum::<f64>() as u64,
                latency: self.times[index].clone(),
                stated: stated(self.means[index], completed),
                ..DirectionRecord::default()
            }
        };
        PointRecord {
            duration_ns: last_ms.saturating_mul(1_000_000),
            intervals: self.windows.iter().map(|(n, w)| interval(*n, w, self.window_ms)).collect(),
            ..imported::point(name.to_owned(), [side(0), side(1), side(2)])
        }
    }
}

/// Latency figures from the means of windows, with equal weights.
fn stated(means: Means, completed: u64) -> Option<StatedLatency> {
    let Means { sum, count, max } = means;
    (count > 0).then(|| StatedLatency {
        count: completed.max(count),
        min_ns: None,
        mean_ns: Some(sum / count as f64),
        max_ns: Some(max),
        percentiles: Vec::new(),
    })
}

fn interval(number: u64, window: &Window, window_ms: u64) -> IntervalRecord {
    let times =
        |index: usize| window.times[index].as_deref().map(|times| times.into()).unwrap_or_default();
    IntervalRecord {
        start_ns: number.saturating_mul(window_ms).saturating_mul(1_000_000),
        length_ns: window_ms.saturating_mul(1_000_000),
        reads: window.ios[0] as u64,
        writes: window.ios[1] as u64,
        read_bytes: window.bytes[0] as u64,
        written_bytes: window.bytes[1] as u64,
        trims: window.ios[2] as u64,
        trimmed_bytes: window.bytes[2] as u64,
        read_latency: times(0),
        write_latency: times(1),
        trim_latency: times(2),
    }
}
