//! Export of a run as fio's JSON, for programs that read it. Names, units and types follow fio
//! 3.42.
//!
//! Counters that qdepth does not have are 0, as if disabled in fio: `slat_ns` (submission and its
//! time stamp are one step), `iodepth_submit`, `iodepth_complete`. `iodepth_level` counts all I/Os
//! at the mean number in flight.

use qdepth_measure::{Code, LatencyHistogram, Settling};
use serde::Serialize;

use super::disk::FioDisk;
use super::job_parts::{LatencyGoal, Unified};
pub(super) use latency::FioLatency;
use latency::shares;
pub(super) use parts::Pairs;
use parts::Side;
pub use priority::FioPriority;
pub(super) use priority::PriorityEntry;
use priority::priorities;
use qdepth_record::{DirectionRecord, PointRecord};
use samples::Samples;
pub(crate) use samples::{figures, latencies};
use steadystate::SteadyState;

mod format;
mod latency;
mod parts;
mod priority;
mod samples;
mod steadystate;

/// Creation time of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioMoment {
    /// Milliseconds since 1970-01-01 UTC.
    pub unix_ms: i64,
    /// Time in fio's format: `Sat Nov 21 16:34:50 2026`.
    pub text: String,
}

/// Entry of fio's list of jobs: a job, or a group that is reported together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioEntry {
    /// Name of the first job.
    pub name: String,
    /// Description by the user; may be empty.
    pub description: String,
    /// Number of the reporting group.
    pub group: u32,
    /// Start, milliseconds since 1970.
    pub start_ms: i64,
    /// Options of the last job, as written.
    pub options: Vec<(String, String)>,
    /// Percentiles to print, per cent, ascending.
    pub percentiles: Vec<f64>,
    /// True for each latency with percentiles: completion, total.
    pub percentiles_of: [bool; 2],
    /// Queue depth of the first job.
    pub depth: u32,
    /// Number of clones.
    pub members: u32,
    /// Reporting of reads and writes.
    pub unified: Unified,
    /// Latency goal of the queue depth search.
    pub goal: Option<LatencyGoal>,
    /// Latencies of its I/Os by priority; empty if they are not known.
    pub priorities: Vec<FioPriority>,
    /// Steady-state rule of the job.
    pub settling: Option<Settling>,
    /// True if it reports percentiles of the submission latency, which is 0.
    pub submission_percentiles: bool,
    /// True if its jobs continue after errors.
    pub continues: bool,
    /// Writes per read that its jobs leave out because they only verify. fio counts them.
    pub writes_left_out: f64,
    /// True if its jobs flush only at the end, which fio does not count.
    pub flushes_at_end_only: bool,
    /// Counters of the workers: context switches, major page faults, minor page faults.
    pub counts: [u64; 3],
    /// Indices of its points in the list of points.
    pub points: Vec<usize>,
}

#[derive(Serialize)]
struct Root<'a> {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    #[serde(rename = "global options", skip_serializing_if = "none")]
    globals: Pairs<String>,
    jobs: Vec<JobEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_util: Option<&'a [FioDisk]>,
}

fn none<T>(pairs: &Pairs<T>) -> bool {
    pairs.0.is_empty()
}

#[derive(Serialize)]
pub(super) struct JobEntry {
    pub(super) jobname: String,
    pub(super) groupid: u32,
    pub(super) job_start: i64,
    pub(super) error: i32,
    pub(super) eta: u64,
    pub(super) elapsed: u64,
    #[serde(rename = "job options")]
    pub(super) options: Pairs<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<Direction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write: Option<Direction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trim: Option<Direction>,
    #[serde(skip_serializing_if = "Sync::is_left_out")]
    pub(super) sync: Sync,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mixed: Option<Direction>,
    pub(super) job_runtime: u64,
    pub(super) usr_cpu: f64,
    pub(super) sys_cpu: f64,
    pub(super) ctx: u64,
    pub(super) majf: u64,
    pub(super) minf: u64,
    pub(super) iodepth_level: Pairs<f64>,
    pub(super) iodepth_submit: Pairs<f64>,
    pub(super) iodepth_complete: Pairs<f64>,
    pub(super) latency_ns: Pairs<f64>,
    pub(super) latency_us: Pairs<f64>,
    pub(super) latency_ms: Pairs<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_err: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_error: Option<i32>,
    pub(super) latency_depth: u32,
    pub(super) latency_target: u64,
    pub(super) latency_target_ns: u64,
    pub(super) latency_percentile: f64,
    pub(super) latency_window: u64,
    pub(super) latency_window_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steadystate: Option<SteadyState>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) desc: String,
}

#[derive(Default, Serialize)]
pub(super) struct Direction {
    pub(super) io_bytes: u64,
    pub(super) io_kbytes: u64,
    pub(super) bw_bytes: u64,
    pub(super) bw: u64,
    pub(super) iops: f64,
    pub(super) runtime: u64,
    pub(super) total_ios: u64,
    pub(super) short_ios: u64,
    pub(super) drop_ios: u64,
    pub(super) slat_ns: FioLatency,
    pub(super) clat_ns: FioLatency,
    pub(super) lat_ns: FioLatency,
    #[serde(rename = "prios", skip_serializing_if = "Vec::is_empty")]
    pub(super) priorities: Vec<PriorityEntry>,
    pub(super) bw_min: u64,
    pub(super) bw_max: u64,
    pub(super) bw_agg: f64,
    pub(super) bw_mean: f64,
    pub(super) bw_dev: f64,
    pub(super) bw_samples: u64,
    pub(super) iops_min: u64,
    pub(super) iops_max: u64,
    pub(super) iops_mean: f64,
    pub(super) iops_stddev: f64,
    pub(super) iops_samples: u64,
}

#[derive(Serialize)]
pub(super) struct Sync {
    /// True if the entry is omitted, as in fio for merged reads and writes.
    #[serde(skip)]
    is_left_out: bool,
    pub(super) total_ios: u64,
    pub(super) lat_ns: FioLatency,
}

impl Sync {
    fn is_left_out(&self) -> bool {
        self.is_left_out
    }
}

/// The JSON document, without `disk_util` if `disks` is not given. `version` replaces fio's
/// version; `plus` adds all latency buckets.
pub fn export_fio_json(
    version: &str,
    moment: &FioMoment,
    globals: &[(String, String)],
    entries: &[FioEntry],
    points: &[PointRecord],
    disks: Option<&[FioDisk]>,
    plus: bool,
) -> String {
    let root = Root {
        version: version.to_owned(),
        timestamp: moment.unix_ms.div_euclid(1000),
        timestamp_ms: moment.unix_ms,
        time: moment.text.clone(),
        globals: Pairs(globals.to_vec()),
        jobs: jobs(moment, entries, points, plus),
        disk_util: disks,
    };
    format::as_fio(&root)
}

/// fio's list of jobs.
pub(super) fn jobs(
    moment: &FioMoment,
    entries: &[FioEntry],
    points: &[PointRecord],
    plus: bool,
) -> Vec<JobEntry> {
    let job_entry = |entry: &FioEntry| {
        let members: Vec<&PointRecord> =
            entry.points.iter().filter_map(|index| points.get(*index)).collect();
        job(entry, &members, moment, plus)
    };
    let mut jobs: Vec<JobEntry> = entries.iter().map(job_entry).collect();
    share_of_groups(&mut jobs);
    jobs
}

/// Sets the share of each job in its group's throughput, per direction, per cent.
fn share_of_groups(jobs: &mut [JobEntry]) {
    let sides: [fn(&mut JobEntry) -> Option<&mut Direction>; 4] = [
        |job| job.read.as_mut(),
        |job| job.write.as_mut(),
        |job| job.trim.as_mut(),
        |job| job.mixed.as_mut(),
    ];
    let mut groups: Vec<u32> = jobs.iter().map(|job| job.groupid).collect();
    groups.dedup();
    for group in groups {
        for pick in sides {
            let mut list: Vec<&mut Direction> =
                jobs.iter_mut().filter(|job| job.groupid == group).filter_map(pick).collect();
            let (bytes, ms) =
                list.iter().fold((0, 0), |(bytes, ms), d| (bytes + d.io_bytes, d.runtime.max(ms)));
            let all = bytes as f64 * 1e3 / 1024.0 / ms.max(1) as f64;
            for side in list.iter_mut().filter(|side| side.bw_samples > 0 && all > 0.0) {
                side.bw_agg = (side.bw_mean / all * 100.0).min(100.0);
            }
        }
    }
}

fn job(entry: &FioEntry, members: &[&PointRecord], moment: &FioMoment, plus: bool) -> JobEntry {
    let side = |side: Side| direction(entry, members, side, plus);
    let apart = |way: Side| (entry.unified != Unified::Mixed).then(|| side(way));
    let runtime = members.iter().map(|point| point.duration_ns).max().unwrap_or(0);
    let wall: f64 = members.iter().map(|point| point.duration_ns as f64).sum();
    let cpu = |pick: fn(&PointRecord) -> u64| {
        let used: f64 = members.iter().map(|point| pick(point) as f64).sum();
        if wall > 0.0 { used / wall * 100.0 } else { 0.0 }
    };
    let all = merged(members, Side::Both);
    let counted = if entry.flushes_at_end_only { &[][..] } else { members };
    let syncs = merged(counted, Side::Syncs);
    let zeros = |names: &[&str]| Pairs(names.iter().map(|n| ((*n).to_owned(), 0.0)).collect());
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let target_ns = entry.goal.map_or(0, |goal| goal.target_ns);
    let window_us = entry.goal.map_or(0, |goal| goal.window_ns / 1000);
    let errors = || {
        let sides = members.iter().flat_map(|p| p.transfers().into_iter().chain([&p.syncs]));
        sides.flat_map(|side| &side.errors)
    };
    let error = errors()
        .map(|error| error.errno)
        .chain(members.iter().filter(|point| fell_short(point)).map(|_| EIO))
        .next();
    JobEntry {
        jobname: entry.name.clone(),
        groupid: entry.group,
        job_start: entry.start_ms,
        error: error.unwrap_or(0),
        eta: 0,
        elapsed: u64::try_from((moment.unix_ms - entry.start_ms).div_euclid(1000)).unwrap_or(0),
        options: Pairs(entry.options.clone()),
        read: apart(Side::Reads),
        write: apart(Side::Writes),
        trim: apart(Side::Trims),
        sync: Sync {
            total_ios: syncs.count(),
            lat_ns: FioLatency::new(&syncs, &entry.percentiles, true, plus),
            is_left_out: entry.unified == Unified::Mixed,
        },
        mixed: (entry.unified != Unified::Apart).then(|| side(Side::Both)),
        job_runtime: members.iter().map(|point| point.duration_ns / 1_000_000).sum(),
        usr_cpu: cpu(|point| point.cpu_user_ns),
        sys_cpu: cpu(|point| point.cpu_system_ns),
        ctx: entry.counts[0],
        majf: entry.counts[1],
        minf: entry.counts[2],
        iodepth_level: levels(members, runtime),
        iodepth_submit: zeros(&batches),
        iodepth_complete: zeros(&batches),
        latency_ns: shares(&all, &latency::NS),
        latency_us: shares(&all, &latency::US),
        latency_ms: shares(&all, &latency::MS),
        total_err: entry.continues.then(|| errors().map(|error| error.count).sum()),
        first_error: entry.continues.then_some(error.unwrap_or(0)),
        latency_depth: entry.depth,
        latency_target: target_ns,
        latency_target_ns: target_ns,
        latency_percentile: entry.goal.map_or(100.0, |goal| goal.percentile),
        latency_window: window_us,
        latency_window_us: window_us,
        steadystate: entry.settling.map(|rule| SteadyState::new(rule, members)),
        desc: entry.description.clone(),
    }
}

/// Error number of a job that misses its minimum rate, as in fio.
const EIO: i32 = 5;

fn fell_short(point: &PointRecord) -> bool {
    point.findings.iter().any(|finding| finding.code == Code::RateNotKept)
}

fn merged(members: &[&PointRecord], side: Side) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    for part in members.iter().flat_map(|point| side.records(point)) {
        all.merge(&part.latency);
    }
    all
}

fn direction(entry: &FioEntry, members: &[&PointRecord], side: Side, plus: bool) -> Direction {
    let count = |field: fn(&DirectionRecord) -> u64| {
        let parts = members.iter().flat_map(|point| side.records(point));
        parts.map(field).fold(0, u64::saturating_add)
    };
    let (bytes, ios) = (count(|d| d.bytes), count(|d| d.completed));
    let left_out = |field: fn(&DirectionRecord) -> u64| match side {
        Side::Writes => {
            let reads = members.iter().map(|point| field(&point.reads)).sum::<u64>();
            (reads as f64 * entry.writes_left_out) as u64
        }
        _ => 0,
    };
    let active = |point: &&&PointRecord| side.records(point).iter().any(|part| part.completed > 0);
    let runtime_ns =
        members.iter().filter(active).map(|point| point.duration_ns).max().unwrap_or(0);
    let per_second = |figure: u64| {
        if runtime_ns == 0 { 0.0 } else { figure as f64 / (runtime_ns as f64 / 1e9) }
    };
    let latency = merged(members, side);
    let samples = Samples::new(members, side);
    let bw = per_second(bytes);
    Direction {
        io_bytes: bytes + left_out(|d| d.bytes),
        io_kbytes: (bytes + left_out(|d| d.bytes)) >> 10,
        bw_bytes: bw as u64,
        bw: (bw / 1024.0) as u64,
        iops: per_second(ios),
        // At least 1 ms if anything was transferred, because fio reports whole milliseconds.
        runtime: (runtime_ns / 1_000_000).max(u64::from(ios > 0)),
        total_ios: ios + left_out(|d| d.completed),
        short_ios: count(|d| d.short),
        drop_ios: 0,
        slat_ns: match entry.submission_percentiles {
            // An I/O's clock starts when it is submitted.
            true => FioLatency::zeros(ios, &entry.percentiles, plus),
            false => FioLatency::default(),
        },
        clat_ns: FioLatency::new(&latency, &entry.percentiles, entry.percentiles_of[0], plus),
        lat_ns: FioLatency::new(&latency, &entry.percentiles, entry.percentiles_of[1], plus),
        priorities: priorities(
            &entry.priorities,
            side,
            &entry.percentiles,
            entry.percentiles_of,
            plus,
        ),
        bw_min: samples.kib.min as u64,
        bw_max: samples.kib.max as u64,
        bw_agg: 0.0,
        bw_mean: samples.kib.mean,
        bw_dev: samples.kib.deviation,
        bw_samples: samples.kib.count,
        iops_min: samples.ios.min as u64,
        iops_max: samples.ios.max as u64,
        iops_mean: samples.ios.mean,
        iops_stddev: samples.ios.deviation,
        iops_samples: samples.ios.count,
    }
}

/// `iodepth_level` with all requests at the power of two for the mean number in flight.
fn levels(members: &[&PointRecord], runtime_ns: u64) -> Pairs<f64> {
    const LEVELS: [(&str, f64); 7] = [
        ("1", 1.0),
        ("2", 2.0),
        ("4", 4.0),
        ("8", 8.0),
        ("16", 16.0),
        ("32", 32.0),
        (">=64", 64.0),
    ];
    let in_flight: f64 = members.iter().map(|point| point.in_flight_integral_ns).sum();
    let by_member = runtime_ns as f64 * members.len() as f64;
    let mean = (in_flight / by_member.max(1.0)).round();
    let reached = LEVELS.iter().rposition(|(_, level)| mean >= *level).unwrap_or(0);
    let share = |(index, (name, _)): (usize, &(&str, f64))| {
        let here = index == reached && in_flight > 0.0;
        ((*name).to_owned(), if here { 100.0 } else { 0.0 })
    };
    Pairs(LEVELS.iter().enumerate().map(share).collect())
}
