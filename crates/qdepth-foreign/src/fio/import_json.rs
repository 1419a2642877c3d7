//! Import of fio's JSON: tolerates lines before it, several documents in one file, client/server
//! output, and latencies in ns or (before fio 3) in µs.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::import_laws::{contradiction, failures};
use crate::imported::{self, Imported, rfc3339, target_index};
use crate::remark::Remark;
use qdepth_record::{DirectionRecord, ErrorCount, PointRecord, StatedLatency};

/// Maximum number of documents per file, and of jobs per document.
const MANY: usize = 100_000;
/// Maximum size of a document, in bytes. Parsed, it takes up to 21 times its size.
const DOCUMENT_MAX: usize = 24 << 20;

pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Imported>, String> {
    let mut runs: Vec<Imported> = Vec::new();
    let mut last: Option<Map<String, Value>> = None;
    for document in objects(text).take(MANY) {
        let document = document?;
        // With --status-interval, each document continues the counts of the previous one.
        if !last.as_ref().is_some_and(|last| same_run(last, &document)) {
            runs.extend(last.map(|last| import_document(file, &last)).transpose()?);
        }
        last = Some(document);
    }
    let is_damaged = last.is_none() && text.contains("\"fio version\"");
    runs.extend(last.map(|last| import_document(file, &last)).transpose()?);
    runs.retain(|run| !run.points.is_empty());
    if runs.is_empty() {
        let json = text.get(text.find('{').unwrap_or(0)..).unwrap_or_default();
        return Err(match serde_json::from_str::<IgnoredAny>(json) {
            Err(why) if is_damaged => format!("its JSON is damaged or incomplete: {why}"),
            _ => "it contains no result of fio".to_owned(),
        });
    }
    Ok(runs)
}

/// All complete objects with a list of jobs, whatever text is between them.
fn objects(text: &str) -> impl Iterator<Item = Result<Map<String, Value>, String>> {
    let mut rest = text.as_bytes();
    // Each failure costs time in proportion to the text parsed, so their number is bounded.
    let mut failures = 0;
    std::iter::from_fn(move || {
        while let Some(start) = rest.iter().position(|byte| *byte == b'{') {
            rest = &rest[start..];
            let document = &rest[..rest.len().min(DOCUMENT_MAX)];
            let mut stream = serde_json::Deserializer::from_slice(document).into_iter::<Value>();
            match stream.next() {
                Some(Ok(Value::Object(object))) => {
                    rest = &rest[stream.byte_offset().max(1)..];
                    if object.contains_key("jobs") || object.contains_key("client_stats") {
                        return Some(Ok(object));
                    }
                }
                Some(Err(why)) if why.is_eof() && document.len() < rest.len() => {
                    let most = DOCUMENT_MAX >> 20;
                    return Some(Err(format!(
                        "a JSON document in it is larger than {most} MiB; write it with \
                         --group_reporting or without json+"
                    )));
                }
                _ if failures == 100 => return None,
                _ => {
                    failures += 1;
                    rest = &rest[1..];
                }
            }
        }
        None
    })
}

fn same_run(former: &Map<String, Value>, later: &Map<String, Value>) -> bool {
    let start = |document: &Map<String, Value>| {
        let elapsed = jobs(document).next()?.get("elapsed")?.as_f64()?;
        Some(document.get("timestamp")?.as_f64()? - elapsed)
    };
    let names = |document: &Map<String, Value>| -> Vec<String> {
        jobs(document).map(|job| text(job, "jobname")).collect()
    };
    let near = match (start(former), start(later)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1.0,
        _ => false,
    };
    near && names(former) == names(later)
}

fn jobs(document: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let list = |key: &str| document.get(key).and_then(Value::as_array).into_iter().flatten();
    list("jobs")
        .chain(list("client_stats"))
        .filter_map(Value::as_object)
        // Skip the sum over all clients, which would count everything twice.
        .filter(|job| text(job, "jobname") != "All clients")
        .take(MANY)
}

fn import_document(file: &str, document: &Map<String, Value>) -> Result<Imported, String> {
    let globals = document.get("global options").and_then(Value::as_object);
    let mut run = Imported {
        program: "fio".to_owned(),
        version: text(document, "fio version"),
        started_at: started(document),
        file: file.to_owned(),
        ..Imported::default()
    };
    let mut completion = false;
    for job in jobs(document) {
        let mut sides = ["read", "write", "trim", "mixed"].iter().filter_map(|side| job.get(*side));
        if let Some(name) = sides.find_map(negative) {
            let job = text(job, "jobname");
            return Err(format!("the job `{job}` has a negative {name}, so the file is damaged"));
        }
        let unit = unit(&run.version, job)?;
        completion |= [job.get("read"), job.get("write")].into_iter().flatten().any(by_completion);
        let options = Options { globals, own: job.get("job options").and_then(Value::as_object) };
        let mut target = options.get("filename").or_else(|| options.get("directory"));
        let host = text(job, "hostname");
        if !host.is_empty() {
            target = Some(format!("{host}:{}", target.unwrap_or_default()));
        }
        let target = target.unwrap_or_else(|| "unknown target".to_owned());
        let index = target_index(&mut run.targets, &target);
        let mut point = point(job, &options, unit);
        point.index = run.points.len() as u32;
        point.target = index;
        point.started_at = run.started_at.clone().unwrap_or_default();
        run.points.push(point);
    }
    run.remarks.push(if completion { Remark::CompletionLatency } else { Remark::TotalLatency });
    if jobs(document).any(|job| job.contains_key("mixed") && !job.contains_key("read")) {
        run.remarks.push(Remark::MixedStandsAsReads);
    }
    Ok(run)
}

/// Unit of `io_bytes`: bytes since fio 3, KiB before. If the version is missing, it follows from
/// rate and time.
fn unit(version: &str, job: &Map<String, Value>) -> Result<u64, String> {
    let major = version.trim_start_matches("fio-").split('.').next();
    if major.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 3) {
        return Ok(1);
    }
    for side in ["read", "write", "trim", "mixed"].iter().filter_map(|side| job.get(*side)) {
        let figure = |key: &str| side.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        let moved = figure("io_bytes");
        if side.get("io_kbytes").is_some() {
            return Ok(1);
        }
        let kib = figure("bw") * figure("runtime") / 1000.0;
        if moved <= 0.0 || kib <= 0.0 {
            continue;
        }
        // Tolerance of rounding: the rate is in whole KiB/s, the time in whole ms.
        let room = (2.0 / figure("bw") + 2.0 / figure("runtime")).clamp(0.02, 0.5);
        let near = |wanted: f64| (moved / wanted - 1.0).abs() <= room;
        return match (near(kib), near(kib * 1024.0)) {
            (true, false) => Ok(1024),
            (false, true) => Ok(1),
            _ => Err(format!(
                "it was written by {}, and its io_bytes {moved} matches bw and runtime neither in \
                 KiB nor in bytes, so its unit is unknown",
                if version.is_empty() { "an unknown version of fio" } else { version },
            )),
        };
    }
    Ok(1)
}

/// True if completion latencies must be used for a direction: total latencies are missing, or lack
/// the percentiles that completion latencies have. Mean and percentiles must be of one kind.
fn by_completion(side: &Value) -> bool {
    let times = |names: [&str; 2]| names.iter().find_map(|name| side.get(name)?.as_object());
    let listed = |object: Option<&Map<String, Value>>| {
        object.is_some_and(|object| object.contains_key("percentile"))
    };
    let (total, completion) = (times(["lat_ns", "lat"]), times(["clat_ns", "clat"]));
    completion.is_some() && (total.is_none() || (!listed(total) && listed(completion)))
}

fn started(document: &Map<String, Value>) -> Option<String> {
    let seconds = document.get("timestamp")?.as_i64()?;
    let elapsed = jobs(document).filter_map(|job| job.get("elapsed")?.as_i64()).max().unwrap_or(0);
    rfc3339(seconds.checked_sub(elapsed)?)
}

/// Options of a job, which override the global ones.
struct Options<'a> {
    globals: Option<&'a Map<String, Value>>,
    own: Option<&'a Map<String, Value>>,
}

impl Options<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let found = self.own.and_then(|own| own.get(name));
        let value = found.or_else(|| self.globals.and_then(|globals| globals.get(name)))?;
        value.as_str().map(str::to_owned)
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.trim().parse().ok()
    }

    /// I/Os that all jobs together may have in flight. `None` if unknown: figures of a group belong
    /// to several jobs, of which the file names the options of one.
    fn in_flight_max(&self) -> Option<f64> {
        if self.own.is_none() || self.globals.is_none() || self.get("group_reporting").is_some() {
            return None;
        }
        let number = |name| self.get(name).map_or(Some(1), |text| text.trim().parse::<u32>().ok());
        Some(f64::from(number("iodepth")?) * f64::from(number("numjobs")?))
    }
}

fn point(job: &Map<String, Value>, options: &Options<'_>, unit: u64) -> PointRecord {
    let first = job.get("read").or_else(|| job.get("mixed"));
    let (mut reads, mut writes) = (direction(first, unit), direction(job.get("write"), unit));
    let mut trims = direction(job.get("trim"), unit);
    let error = job.get("error").and_then(Value::as_i64).unwrap_or(0);
    if let Ok(errno) = i32::try_from(error)
        && errno != 0
    {
        let failed = job.get("total_err").and_then(Value::as_u64).unwrap_or(1);
        let side = match (reads.completed, trims.completed) {
            (0, 0) => &mut writes,
            (0, _) => &mut trims,
            _ => &mut reads,
        };
        side.errors.push(ErrorCount { errno, count: failed });
    }
    let runtime = |key: &str| job.get(key).and_then(|d| d.get("runtime")?.as_u64()).unwrap_or(0);
    let runtime_ms = ["read", "write", "trim", "mixed"].map(runtime).into_iter().max();
    let runtime_ms = runtime_ms.unwrap_or(0);
    let cpu = |key: &str| {
        let share = job.get(key).and_then(Value::as_f64).unwrap_or(0.0) / 100.0;
        (share.clamp(0.0, 1024.0) * runtime_ms as f64 * 1e6) as u64
    };
    let rw = options.get("rw").or_else(|| options.get("readwrite")).unwrap_or_default();
    let rate = options.get("rate_iops").or_else(|| options.get("rate"));
    let sizes = ["bssplit", "bs", "blocksize"].iter().find_map(|name| options.get(name));
    let in_flight_max = options.in_flight_max();
    let contradiction = |(name, direction): (&str, &DirectionRecord)| {
        contradiction(job.get(name)?.as_object()?, direction, in_flight_max)
    };
    let sides = [("read", &reads), ("write", &writes), ("trim", &trims)];
    let findings = sides.into_iter().find_map(contradiction);
    let findings = findings.into_iter().chain(failures(sides.map(|(_, side)| side))).collect();
    let point = imported::point(text(job, "jobname"), [reads, writes, trims]);
    PointRecord {
        findings,
        random_share: if rw.starts_with("rand") { 1.0 } else { 0.0 },
        block_size: sizes.unwrap_or_else(|| point.block_size.clone()),
        reported_as_throughput: !rw.starts_with("rand"),
        arrivals: rate.map_or_else(|| point.arrivals.clone(), |rate| format!("fixed {rate}")),
        queue_depth: options.number("iodepth").unwrap_or(1),
        streams: options.number("numjobs").unwrap_or(1),
        direct: options.get("direct").is_some_and(|value| value == "1"),
        duration_ns: runtime_ms.saturating_mul(1_000_000),
        syncs: syncs(job.get("sync")),
        cpu_user_ns: cpu("usr_cpu"),
        cpu_system_ns: cpu("sys_cpu"),
        ..point
    }
}

/// Name of the first negative figure, which no version of fio writes.
fn negative(value: &Value) -> Option<&str> {
    let entries = value.as_object()?.iter();
    let mut names = entries.filter_map(|(name, inner)| match inner.as_f64() {
        Some(figure) => (figure < 0.0).then_some(name.as_str()),
        None => negative(inner),
    });
    names.next()
}

fn direction(value: Option<&Value>, unit: u64) -> DirectionRecord {
    let Some(side) = value.and_then(Value::as_object) else { return DirectionRecord::default() };
    let whole = |key: &str| side.get(key).and_then(Value::as_u64);
    let bytes = whole("io_bytes").map(|bytes| bytes.saturating_mul(unit));
    let bytes = bytes.or_else(|| Some(whole("io_kbytes")?.saturating_mul(1024)));
    // The first versions report no count, but rate and time.
    let counted = || {
        let rate = side.get("iops").and_then(Value::as_f64)?;
        Some((rate * whole("runtime")? as f64 / 1000.0).round() as u64)
    };
    DirectionRecord {
        completed: whole("total_ios").or_else(counted).unwrap_or(0).min(1 << 60),
        bytes: bytes.unwrap_or(0).min(1 << 62),
        short: whole("short_ios").unwrap_or(0),
        stated: stated(value),
        ..DirectionRecord::default()
    }
}

fn syncs(value: Option<&Value>) -> DirectionRecord {
    let Some(side) = value.and_then(Value::as_object) else { return DirectionRecord::default() };
    DirectionRecord {
        completed: side.get("total_ios").and_then(Value::as_u64).unwrap_or(0),
        stated: stated(value),
        ..DirectionRecord::default()
    }
}

/// Latency figures, all of one kind: total or completion.
fn stated(side: Option<&Value>) -> Option<StatedLatency> {
    let side = side?;
    let names = if by_completion(side) {
        [("clat_ns", 1.0), ("clat", 1000.0)]
    } else {
        [("lat_ns", 1.0), ("lat", 1000.0)]
    };
    let found = |(name, scale): (&str, f64)| Some((side.get(name)?.as_object()?, scale));
    let (object, scale) = names.into_iter().find_map(found)?;
    let count = object.get("N").and_then(Value::as_u64);
    let count = count.or_else(|| side.get("total_ios")?.as_u64());
    let figure = |key: &str| object.get(key).and_then(Value::as_f64).map(|value| value * scale);
    // Without requests all figures are 0, like those that were not recorded.
    let count = count.or_else(|| Some(u64::from(figure("max")? > 0.0)))?;
    if count == 0 {
        return None;
    }
    Some(StatedLatency {
        count,
        min_ns: figure("min").map(|value| value as u64),
        mean_ns: figure("mean"),
        max_ns: figure("max").map(|value| value as u64),
        percentiles: percentiles(object, scale),
    })
}

fn percentiles(object: &Map<String, Value>, scale: f64) -> Vec<(f64, u64)> {
    let Some(list) = object.get("percentile").and_then(Value::as_object) else { return Vec::new() };
    let percentile = |(name, value): (&String, &Value)| {
        let quantile = name.parse::<f64>().ok()? / 100.0;
        let good = quantile > 0.0 && quantile <= 1.0;
        good.then_some((quantile, (value.as_f64()? * scale) as u64))
    };
    let mut list: Vec<(f64, u64)> = list.iter().filter_map(percentile).take(64).collect();
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    list
}

fn text(object: &Map<String, Value>, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use qdepth_measure::Code;

    use super::*;

    #[test]
    fn failed_short_and_negative_figures_are_not_hidden() {
        let read = |side: &str, job: &str| {
            let text = format!(
                r#"{{"fio version":"fio-3.33","jobs":[{{"jobname":"j","elapsed":1,{job}
                "read":{{"total_ios":9,"io_bytes":36864,"runtime":1000{side}}}}}]}}"#
            );
            let runs = super::read("f.json", &text)?;
            Ok::<_, String>(runs[0].points[0].findings.iter().map(|f| f.code).collect::<Vec<_>>())
        };
        assert_eq!(read("", ""), Ok(vec![]));
        assert_eq!(read("", r#""error":5,"total_err":1500,"#), Ok(vec![Code::IoErrors]));
        assert_eq!(read(r#","short_ios":200"#, ""), Ok(vec![Code::ShortTransfers]));
        for wrong in [r#","iops":-5"#, r#","lat_ns":{"mean":-1.0}"#] {
            assert!(read(wrong, "").unwrap_err().contains("negative"), "{wrong}");
        }
    }

    #[test]
    fn only_each_document_is_limited_in_size() {
        let job = r#"{"jobname":"j","elapsed":1,"read":{"total_ios":9,"runtime":1000}}"#;
        let padding = " ".repeat(DOCUMENT_MAX / 2);
        let document = |at: u32, padding: &str| {
            format!(r#"{{"fio version":"fio-3.42","timestamp":{at},{padding}"jobs":[{job}]}}"#)
        };
        let several: String = (1..4).map(|at| document(at * 100, &padding)).collect();
        assert_eq!(read("f", &several).unwrap().len(), 3);
        let continued: String = (1..4).map(|_| document(100, "")).collect();
        assert_eq!(read("f", &continued).unwrap().len(), 1);
        let why = read("f", &document(1, &padding.repeat(2))).unwrap_err();
        assert!(why.starts_with("a JSON document in it is larger than 24 MiB"), "{why}");
    }
}
