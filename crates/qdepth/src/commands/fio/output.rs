//! Results in fio's formats.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{Read, Write};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use qdepth_files::{Input, Privacy, limit};
use qdepth_foreign::fio::{
    Converted, FIO_TRACE_VERSION, FioDisk, FioEntry, FioIo, FioLog, FioMoment, FioPriority, Job,
    JobSet, LatencyGoal, Origin, OutputFormat, export_fio_heads, export_fio_histograms,
    export_fio_io_windows, export_fio_ios, export_fio_json, export_fio_log, export_fio_normal,
    export_fio_terse, export_fio_trace,
};
use qdepth_lab::events::observer::RECORDED_MAX;
use qdepth_lab::request::FinishedRun;
use qdepth_linux::NOT_AS_WRITTEN;
use qdepth_measure::{Code, LatencyHistogram, Nanos, Severity};
use qdepth_record::{ErrorCount, PointRecord};
use qdepth_report::{Lang, finding_text};

use super::disks::Watcher;
use crate::result_file::ResultFile;
use crate::terminal::print_line;

/// End of the names of compressed logs, and the most bytes of such a log's text.
const COMPRESSED: &str = ".fz";
const INFLATED_MAX: u64 = 1 << 29;
/// Version string of the fio release whose formats this module writes.
pub(super) const VERSION: &str = "fio-3.42";

/// Results of a run in the requested formats, in the order in which fio prints them.
pub(super) fn text(
    formats: &[OutputFormat],
    set: &JobSet,
    converted: &Converted,
    ran: &FinishedRun,
    watcher: &Watcher<'_>,
) -> String {
    let FinishedRun { run, points, .. } = ran;
    let disks = &watcher.counters();
    let ended = run.ended_at.as_deref().unwrap_or(&run.started_at);
    let ended = ended.parse::<Timestamp>().unwrap_or_else(|_| Timestamp::now());
    let emulated = if run.emulated { ", EMULATED" } else { "" };
    let version = format!("{VERSION} (made by qdepth {}{emulated})", run.qdepth_version);
    let mut entries = entries(set, converted, points);
    for entry in &mut entries {
        count(entry, ran);
        entry.priorities = priorities(entry, points, watcher);
    }
    let results = EntryResults { version, ended, entries, points, disks };
    results.text(formats, set, converted)
}

/// Like [`text`], for jobs that measured nothing.
pub(super) fn text_without_points(
    formats: &[OutputFormat],
    set: &JobSet,
    converted: &Converted,
) -> String {
    let version = format!("{VERSION} (made by qdepth {})", env!("CARGO_PKG_VERSION"));
    let entries = entries(set, converted, &[]);
    let ended = Timestamp::now();
    EntryResults { version, ended, entries, points: &[], disks: &[] }.text(formats, set, converted)
}

/// Results of all entries.
struct EntryResults<'a> {
    version: String,
    ended: Timestamp,
    entries: Vec<FioEntry>,
    points: &'a [PointRecord],
    disks: &'a [FioDisk],
}

impl EntryResults<'_> {
    fn text(&self, formats: &[OutputFormat], set: &JobSet, converted: &Converted) -> String {
        let Self { version, ended, entries, points, disks } = self;
        let moment = FioMoment {
            unix_ms: ended.as_millisecond(),
            text: ended.to_zoned(TimeZone::system()).strftime("%a %b %e %H:%M:%S %Y").to_string(),
        };
        let has_disks = set.jobs.iter().any(|job| job.report.disks);
        let wanted = has_disks.then_some(*disks);
        let disks = wanted.unwrap_or_default();
        let mut texts = Vec::new();
        if formats.contains(&OutputFormat::Normal) {
            texts.push(
                export_fio_heads(version, &jobs_with_groups(set, converted)).trim_end().to_owned(),
            );
        }
        for format in formats {
            texts.push(match format {
                OutputFormat::Terse(number) => {
                    export_fio_terse(*number, version, &moment, entries, points, disks)
                }
                OutputFormat::Json | OutputFormat::JsonPlus => {
                    let plus = *format == OutputFormat::JsonPlus;
                    export_fio_json(version, &moment, &set.globals, entries, points, wanted, plus)
                }
                OutputFormat::Normal => {
                    export_fio_normal(&moment, entries, points, disks).trim_end().to_owned()
                }
            });
        }
        texts.join("\n")
    }
}

/// Adds the workers' context switches and page faults to the entry.
fn count(entry: &mut FioEntry, ran: &FinishedRun) {
    let indices: Vec<u32> = entry.points.iter().map(|at| ran.points[*at].index).collect();
    let of_entry = ran.ranks.iter().filter(|(point, _)| indices.contains(&point.index));
    for worker in of_entry.flat_map(|(_, workers)| workers) {
        let [major, minor] = worker.faults;
        for (all, more) in entry.counts.iter_mut().zip([worker.switches, major, minor]) {
            *all += more;
        }
    }
}

/// Latencies of an entry's I/Os by priority, if all its I/Os were recorded.
fn priorities(entry: &FioEntry, points: &[PointRecord], watcher: &Watcher<'_>) -> Vec<FioPriority> {
    let mut all = Vec::new();
    for point in entry.points.iter().map(|at| &points[*at]) {
        let parts = watcher.with_ios(point.index, |ios| {
            let ios = (ios.len() as u64 == completed(point)).then_some(ios)?;
            let parts = ios.iter().map(|io| (io.direction, io.priority, Nanos(io.latency_ns)));
            Some(FioPriority::split(parts))
        });
        let Some(parts) = parts else { return Vec::new() };
        all.extend(parts);
    }
    all
}

/// Messages for jobs that stopped because they missed `rate_min`, in fio's wording.
pub(super) fn too_slow(set: &JobSet, converted: &Converted, points: &[PointRecord]) -> Vec<String> {
    let message = |point: &PointRecord| {
        let short = point.findings.iter().find(|finding| finding.code == Code::RateNotKept)?;
        let origin = converted.origins.get(point.index as usize)?;
        let name = &set.jobs.get(origin.job)?.name;
        let figure = |name| short.values.get(name).copied().unwrap_or(0.0) as u64;
        let (least, reached) = (figure("least_per_s"), figure("reached_per_s"));
        Some(match short.labels.get("unit").map(String::as_str) {
            Some("B") => format!("{name}: rate_min={least}B/s not met, got {reached}B/s"),
            _ => format!("{name}: rate_iops_min={least} not met, got {reached} IOPS"),
        })
    };
    points.iter().filter_map(message).collect()
}

/// True if I/Os of a point failed, except with errors after which its job continues.
pub(super) fn has_failed(set: &JobSet, converted: &Converted, point: &PointRecord) -> bool {
    let origin = converted.origins.get(point.index as usize);
    let job = origin.and_then(|origin| set.jobs.get(origin.job));
    let [reads, writes, verify] = job.map_or([false; 3], |job| job.report.continues_on);
    let counts = |error: &ErrorCount, continues: bool| match error.errno == NOT_AS_WRITTEN {
        true => !verify,
        false => !continues,
    };
    let mut sides = point.transfers().into_iter().zip([reads, writes, writes]);
    !point.syncs.errors.is_empty()
        || sides.any(|(side, on)| side.errors.iter().any(|error| counts(error, on)))
}

/// Messages for jobs whose reads found other data than was written for verification.
pub(super) fn unverified(
    set: &JobSet,
    converted: &Converted,
    points: &[PointRecord],
) -> Vec<String> {
    let message = |point: &PointRecord| {
        let is_other = |error: &&ErrorCount| error.errno == NOT_AS_WRITTEN;
        let error = point.reads.errors.iter().find(is_other)?;
        let job = set.jobs.get(converted.origins.get(point.index as usize)?.job)?;
        Some(format!(
            "qdepth: {}: verify: {} reads found other data than jobs with the same verify options \
             write. qdepth verifies what qdepth wrote, not what fio wrote",
            job.name, error.count
        ))
    };
    points.iter().filter_map(message).collect()
}

/// Findings that lower a grade, each code once: fio's text has no place for them. Options that are
/// handled differently are listed by `--parse-only`.
pub(super) fn findings(ran: &FinishedRun) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let points = ran.points.iter().flat_map(|point| &point.findings);
    for finding in points.chain(&ran.run.findings) {
        if matches!(finding.code, Code::RateNotKept | Code::NotLiteral) {
            continue;
        }
        let grade = match finding.severity {
            Severity::Invalid => "grade C, invalid",
            Severity::Remark => "grade B",
        };
        let start = format!("qdepth: {grade} ({}): ", finding.code);
        if !lines.iter().any(|line| line.starts_with(&start)) {
            lines.push(start + &finding_text(finding, Lang::En).explanation);
        }
    }
    lines
}

/// Each job with its group id.
fn jobs_with_groups<'a>(set: &'a JobSet, converted: &Converted) -> Vec<(&'a Job, u32)> {
    let origins = || converted.origins.iter().chain(&converted.idle);
    let group = |job: usize| origins().find(|origin| origin.job == job);
    let jobs = set.jobs.iter().enumerate();
    jobs.map(|(number, job)| (job, group(number).map_or(0, |origin| origin.group))).collect()
}

/// Clones of all jobs, in the order in which fio reports them.
fn clones(converted: &Converted) -> Vec<Origin> {
    let mut list = [converted.origins.as_slice(), &converted.idle].concat();
    list.sort_by_key(|origin| origin.thread);
    list.dedup();
    list
}

/// Indices of the points that belong to a clone.
fn point_indices(converted: &Converted, points: &[PointRecord], clone: &Origin) -> Vec<usize> {
    let of_clone = |point: &PointRecord| converted.origins.get(point.index as usize) == Some(clone);
    points.iter().enumerate().filter(|(_, point)| of_clone(point)).map(|(at, _)| at).collect()
}

/// Index of the deepest queue depth that meets the latency goal: the last point before the first
/// failure, or the first point if none meets it. Points are in order of rising depth.
fn deepest(goal: LatencyGoal, points: &[PointRecord], point_indices: &[usize]) -> Vec<usize> {
    let keeps = |at: &&usize| {
        let mut all = LatencyHistogram::new();
        points[**at].transfers().iter().for_each(|side| all.merge(&side.latency));
        all.quantile(goal.percentile / 100.0).is_some_and(|ns| ns.0 <= goal.target_ns)
    };
    let last = point_indices.iter().take_while(keeps).last();
    last.or(point_indices.first()).copied().into_iter().collect()
}

/// Start of a clone's first point, milliseconds since 1970; 0 if it is unknown.
fn started_ms(points: &[PointRecord], point_indices: &[usize]) -> i64 {
    let first =
        point_indices.first().and_then(|at| points[*at].started_at.parse::<Timestamp>().ok());
    first.map_or(0, Timestamp::as_millisecond)
}

/// Entries of fio's job list: consecutive clones of a group merge into one if they set
/// `group_reporting`.
fn entries(set: &JobSet, converted: &Converted, points: &[PointRecord]) -> Vec<FioEntry> {
    let mut entries: Vec<FioEntry> = Vec::new();
    let mut open_group = None;
    for clone in clones(converted) {
        let job = &set.jobs[clone.job];
        let point_indices = point_indices(converted, points, &clone);
        let point_indices =
            job.goal.map_or(point_indices.clone(), |goal| deepest(goal, points, &point_indices));
        let together = job.group_reporting && open_group == Some(clone.group);
        open_group = job.group_reporting.then_some(clone.group);
        match entries.last_mut() {
            Some(entry) if together => {
                entry.points.extend(point_indices);
                entry.members += 1;
                // Like fio: a merged entry has the options and percentiles of its last clone.
                entry.options.clone_from(&job.report.written);
                entry.percentiles.clone_from(&job.report.percentiles);
            }
            _ => entries.push(FioEntry {
                name: job.name.clone(),
                description: job.description.clone(),
                group: clone.group,
                start_ms: started_ms(points, &point_indices),
                options: job.report.written.clone(),
                percentiles: job.report.percentiles.clone(),
                percentiles_of: [job.report.percentiles_of[0], job.report.percentiles_of[1]],
                depth: match (job.goal, point_indices.first()) {
                    (Some(_), Some(at)) => points[*at].queue_depth,
                    _ => job.depth,
                },
                goal: job.goal,
                members: 1,
                unified: job.report.unified,
                priorities: Vec::new(),
                submission_percentiles: job.report.percentiles_of[2] && job.is_asynchronous(),
                continues: job.report.continues_on.contains(&true),
                writes_left_out: job.writes_left_out(),
                flushes_at_end_only: job.fsync_end && job.fsync_every.0 == 0,
                counts: [0; 3],
                settling: job.settling,
                points: point_indices,
            }),
        }
    }
    entries
}

/// Contents of a file in fio's format.
#[derive(Clone, Copy)]
enum LogContent {
    Nothing,
    Series(FioLog),
    /// Trace of the I/Os.
    Trace,
    /// Window length (ms) and coarseness.
    Histograms(u64, u32),
}

/// Log files of the jobs, named like fio's: `NAME_bw.1.log`. Clones that name the same file append
/// to it in order.
pub(super) struct Logs(BTreeMap<String, ResultFile>);

impl Logs {
    /// Checks and opens all log files before the first job starts.
    pub(super) fn open(set: &JobSet, converted: &Converted) -> Result<Self> {
        let mut files = BTreeMap::new();
        for (path, ..) in requested_logs(set, converted) {
            if let Entry::Vacant(entry) = files.entry(path) {
                let file = ResultFile::file(entry.key(), Privacy::Private)?;
                entry.insert(file);
            }
        }
        Ok(Self(files))
    }

    /// Writes all logs.
    pub(super) fn write(
        &self,
        set: &JobSet,
        converted: &Converted,
        points: &[PointRecord],
        watcher: &Watcher<'_>,
        silent: bool,
    ) -> Result<()> {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for (path, clone, kind) in requested_logs(set, converted) {
            let job = &set.jobs[clone.job];
            let rows = point_indices(converted, points, &clone);
            let start = if job.report.logs_since_1970 { started_ms(points, &rows) } else { 0 };
            let start = u64::try_from(start).unwrap_or(0);
            let window = job.report.log_window_ms;
            let columns = job.report.log_columns;
            let bytes = job.sizes.smallest();
            let exported = |at: &usize| match kind {
                LogContent::Nothing => String::new(),
                LogContent::Trace => trace(silent, &path, &points[*at], converted, watcher),
                LogContent::Series(log) if window == 0 => {
                    let point = &points[*at];
                    let begin = converted.begins.get(point.index as usize).copied();
                    watcher.with_ios(point.index, |ios| {
                        print_missing(silent, &path, ios.len() as u64, point);
                        export_fio_ios(log, ios, begin.unwrap_or(0), start, columns)
                    })
                }
                LogContent::Series(log) => {
                    let point = &points[*at];
                    watcher.with_ios(point.index, |ios| match has_all(ios, point, window) {
                        true => {
                            let end_ns = point.duration_ns;
                            export_fio_io_windows(log, ios, window, end_ns, start, columns)
                        }
                        false => export_fio_log(log, point, window, start, columns),
                    })
                }
                LogContent::Histograms(window, coarse) => {
                    export_fio_histograms(&points[*at], window, coarse, bytes, start)
                }
            };
            let text: String = rows.iter().map(exported).collect();
            let all = texts.entry(path).or_default();
            if matches!(kind, LogContent::Trace) && all.is_empty() {
                all.push_str(FIO_TRACE_VERSION);
            }
            all.push_str(&text);
        }
        for (path, text) in &texts {
            let Some(file) = self.0.get(path) else { continue };
            match path.ends_with(COMPRESSED) {
                true => file.write(compressed(text)?)?,
                false => file.write(text)?,
            }
        }
        Ok(())
    }
}

/// Trace of a point's I/Os.
fn trace(
    silent: bool,
    path: &str,
    point: &PointRecord,
    converted: &Converted,
    watcher: &Watcher<'_>,
) -> String {
    let index = point.index as usize;
    let Some(file) = converted.paths.get(index).filter(|file| !file.is_empty()) else {
        return String::new();
    };
    let first = converted.begins.get(index).copied().unwrap_or(0);
    watcher.with_ios(point.index, |ios| {
        print_missing(silent, path, ios.len() as u64, point);
        export_fio_trace(file, ios, first)
    })
}

fn compressed(text: &str) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?)
}

/// Text of a compressed log.
pub(super) fn inflated(path: &str) -> Result<String> {
    let bytes = Input::file(path, limit::RESULT).bytes()?;
    let mut text = String::new();
    let why = || format!("{path}: is not a log that qdepth compressed");
    let mut decoder = ZlibDecoder::new(&*bytes).take(INFLATED_MAX);
    let length = decoder.read_to_string(&mut text).with_context(why)?;
    if length as u64 == INFLATED_MAX {
        anyhow::bail!(
            "{path}: its text is longer than {INFLATED_MAX} bytes, the most that is shown"
        );
    }
    Ok(text)
}

/// True if the recorded I/Os are all of a point's, and its series is coarser than the windows.
fn has_all(ios: &[FioIo], point: &PointRecord, window_ms: u64) -> bool {
    let interval_ns = point.intervals.first().map_or(0, |interval| interval.length_ns);
    interval_ns > window_ms.saturating_mul(1_000_000) && ios.len() as u64 == completed(point)
}

fn completed(point: &PointRecord) -> u64 {
    point.reads.completed + point.writes.completed + point.trims.completed
}

/// Says that a log does not have all I/Os of a point.
fn print_missing(silent: bool, path: &str, rows: u64, point: &PointRecord) {
    let all = completed(point);
    // Clients take any line of fio on standard error for a failure.
    if rows < all && !silent {
        print_line(&format!(
            "{path}: the log ends after {rows} of {all} I/Os; all logs of a step have at most \
             {RECORDED_MAX}. Use log_avg_msec=100"
        ));
    }
}

/// True if a job has I/Os of several priorities, writes a trace, asks for a log with one row per
/// I/O, or ends by its bytes: the series of a job of unknown length is coarse.
pub(super) fn logs_ios(set: &JobSet) -> bool {
    let logs = |job: &Job| {
        let has_others = job.priorities.as_ref().is_some_and(|all| !all.others.is_empty());
        let needs_ios = job.report.log_window_ms == 0 || job.span.runtime_ns.is_none();
        let has_logs = job.report.logs.iter().any(Option::is_some);
        has_others || job.report.trace.is_some() || needs_ios && has_logs
    };
    set.jobs.iter().any(logs)
}

/// Requested logs: file name, clone, and content of each.
fn requested_logs(set: &JobSet, converted: &Converted) -> Vec<(String, Origin, LogContent)> {
    let mut all = Vec::new();
    for clone in clones(converted) {
        let report = &set.jobs[clone.job].report;
        let first = all.len();
        let [bandwidth, latency, iops] = &report.logs;
        let number = format!(".{}", clone.thread);
        let number = if report.per_job_logs { number.as_str() } else { "" };
        let kinds = [
            (bandwidth, "bw", FioLog::Bandwidth),
            (latency, "lat", FioLog::Latency),
            (latency, "clat", FioLog::Completion),
            (latency, "slat", FioLog::Submission),
            (iops, "iops", FioLog::Iops),
        ];
        for (name, kind, log) in kinds {
            let Some(name) = name else { continue };
            // As in fio, only an asynchronous engine has submission latencies.
            let is_empty = log == FioLog::Submission && !set.jobs[clone.job].is_asynchronous();
            let content = if is_empty { LogContent::Nothing } else { LogContent::Series(log) };
            all.push((format!("{name}_{kind}{number}.log"), clone, content));
        }
        if let Some((name, window, coarse)) = &report.histogram_log {
            let kind = LogContent::Histograms(*window, *coarse);
            all.push((format!("{name}_clat_hist{number}.log"), clone, kind));
        }
        if report.compresses_logs {
            all[first..].iter_mut().for_each(|(path, ..)| path.push_str(COMPRESSED));
        }
        all.extend(report.trace.iter().map(|path| (path.clone(), clone, LogContent::Trace)));
    }
    all
}
