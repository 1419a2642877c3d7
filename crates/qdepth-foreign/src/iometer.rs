//! Import of Iometer's result CSV. Sections start with a line that begins with `'`; columns are
//! found by name.

use jiff::fmt::strtime::BrokenDownTime;

use crate::imported::{self, Imported, target_index};
use crate::remark::Remark;
use qdepth_record::{DirectionRecord, PointRecord, StatedLatency};

/// Maximum number of results per file: a record takes about 200 KiB.
const RESULTS_MAX: usize = 500;

/// Access specification.
#[derive(Clone, Debug, Default)]
struct Access {
    name: String,
    /// Bytes, weight, read share, random share; shares 0..=1.
    lines: Vec<[f64; 4]>,
}

pub(crate) fn is_it(text: &str) -> bool {
    text.lines()
        .take(200)
        .any(|line| line.trim_start_matches(['\u{feff}', '"']).starts_with("'Target Type,"))
}

pub(crate) fn read(file: &str, text: &str) -> Result<Imported, String> {
    let mut run = Imported {
        program: "Iometer".to_owned(),
        file: file.to_owned(),
        remarks: vec![Remark::NoPercentiles],
        ..Imported::default()
    };
    let mut accesses: Vec<Access> = Vec::new();
    let mut heading = String::new();
    let mut columns: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if let Some(name) = line.strip_prefix('\'') {
            heading = name.to_owned();
            if name.starts_with("Target Type,") {
                columns = cells(name);
            }
            continue;
        }
        let values = cells(line);
        if heading.starts_with("Version") {
            run.version = line.trim().to_owned();
        } else if heading.starts_with("Time Stamp") {
            run.started_at = run.started_at.or_else(|| moment(line));
        } else if heading.starts_with("Access specification name") {
            let name = values.first().cloned().unwrap_or_default();
            accesses.push(Access { name, lines: Vec::new() });
        } else if heading.starts_with("size,") {
            if let Some(access) = accesses.last_mut() {
                access.lines.extend(access_line(&values));
            }
        } else if heading.starts_with("Target Type,") && values.first().is_some_and(|v| v == "ALL")
        {
            if run.points.len() == RESULTS_MAX {
                return Err(format!("contains more than {RESULTS_MAX} results: divide it"));
            }
            let row = Row { columns: &columns, values: &values };
            let mut point = point(&row, &accesses);
            point.index = run.points.len() as u32;
            point.target = target_index(&mut run.targets, "all targets of Iometer");
            point.started_at = run.started_at.clone().unwrap_or_default();
            run.points.push(point);
        }
    }
    if run.points.is_empty() { Err("it contains no result of Iometer".to_owned()) } else { Ok(run) }
}

fn cells(line: &str) -> Vec<String> {
    line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
}

/// Parses `size, % of size, % reads, % random, …`.
fn access_line(values: &[String]) -> Option<[f64; 4]> {
    let number = |index: usize| {
        values.get(index)?.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0)
    };
    Some([number(0)?, number(1)?, number(2)? / 100.0, number(3)? / 100.0])
}

struct Row<'a> {
    columns: &'a [String],
    values: &'a [String],
}

impl Row<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let index = self.columns.iter().position(|column| column == name)?;
        self.values.get(index).map(String::as_str)
    }

    fn number(&self, names: &[&str]) -> Option<f64> {
        let value = names.iter().find_map(|name| self.text(name))?.parse::<f64>().ok()?;
        (value.is_finite() && value >= 0.0).then_some(value)
    }
}

fn point(row: &Row<'_>, accesses: &[Access]) -> PointRecord {
    let name = row.text("Access Specification Name").unwrap_or("unnamed").to_owned();
    let access = accesses.iter().find(|access| access.name == name).cloned().unwrap_or_default();
    let weight: f64 = access.lines.iter().map(|line| line[1]).sum();
    let mean = |pick: usize| {
        let sum: f64 = access.lines.iter().map(|line| line[1] * line[pick]).sum();
        if weight > 0.0 { Some(sum / weight) } else { None }
    };
    let number = |name: &str| row.number(&[name]).unwrap_or(0.0);
    let side = |way: &str, bytes: &str| {
        let completed = number(&format!("{way} I/Os"));
        let ns = |kind: &str| {
            let time = "Response Time";
            let names = [format!("{kind} {way} {time}"), format!("{way} {kind} {time}")];
            let [first, second] = &names;
            row.number(&[first, second, &format!("{kind} {time}")]).map(|ms| ms * 1e6)
        };
        let stated = (completed > 0.0).then(|| StatedLatency {
            count: completed as u64,
            mean_ns: ns("Average"),
            max_ns: ns("Maximum").map(|value| value as u64),
            ..StatedLatency::default()
        });
        let (completed, bytes) = (completed as u64, number(bytes) as u64);
        DirectionRecord { completed, bytes, stated, ..DirectionRecord::default() }
    };
    // There is no column for the time: it follows from counts and rates.
    let seconds = ["Read", "Write"].iter().find_map(|way| {
        let [count, rate] = ["I/Os", "IOps"].map(|figure| number(&format!("{way} {figure}")));
        (count > 0.0 && rate > 0.0).then(|| count / rate)
    });
    let random = mean(3).unwrap_or(0.0).clamp(0.0, 1.0);
    let sides =
        [side("Read", "Bytes Read"), side("Write", "Bytes Written"), DirectionRecord::default()];
    let point = imported::point(name, sides);
    let size = mean(0).unwrap_or(point.block_size_mean_bytes);
    PointRecord {
        random_share: random,
        read_share: mean(2).unwrap_or(point.read_share),
        block_size: format!("{size:.0}B"),
        block_size_mean_bytes: size,
        reported_as_throughput: random <= 0.0,
        queue_depth: number("Queue Depth").clamp(1.0, 1e6) as u32,
        streams: number("# Workers").clamp(1.0, 1e6) as u32,
        duration_ns: (seconds.unwrap_or(0.0) * 1e9) as u64,
        ..point
    }
}

/// Parses `2014-06-27 12:00:00:123`, as UTC because the file has no time zone.
fn moment(line: &str) -> Option<String> {
    let (parsed, _) = BrokenDownTime::parse_prefix("%Y-%m-%d %H:%M:%S", line.trim()).ok()?;
    Some(format!("{}Z", parsed.to_datetime().ok()?))
}
