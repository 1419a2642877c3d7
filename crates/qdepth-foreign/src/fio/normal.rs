//! Export in fio's normal output. Written from the output of fio 3.42. Results of `writeln!` are
//! ignored: writing to a `String` never fails.

use std::fmt::Write;

use qdepth_record::PointRecord;

use super::disk::FioDisk;
use super::figure::{Unit, figure};
use super::job::Job;
use super::json::{
    Direction, FioEntry, FioLatency, FioMoment, JobEntry, Pairs, PriorityEntry, jobs,
};
use super::values::SizePart;

/// Text before the results: jobs, version, number of started jobs.
pub fn export_fio_heads(program: &str, jobs: &[(&Job, u32)]) -> String {
    let mut text = String::new();
    for (job, group) in jobs {
        let _ = writeln!(text, "{}", head(job, *group));
        if job.clones > 1 {
            let _ = writeln!(text, "...");
        }
    }
    let _ = writeln!(text, "{program}");
    let count = |threads: bool| {
        let members = jobs.iter().filter(|(job, _)| job.thread == threads);
        members.map(|(job, _)| u64::from(job.clones)).sum::<u64>()
    };
    let named = |count: u64, singular: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {singular}")),
        count => Some(format!("{count} {more}")),
    };
    let started =
        [named(count(true), "thread", "threads"), named(count(false), "process", "processes")];
    let started: Vec<String> = started.into_iter().flatten().collect();
    let _ = writeln!(text, "Starting {}", started.join(" and "));
    text
}

fn head(job: &Job, group: u32) -> String {
    let size = |bytes: u64| figure(bytes, 4, true, Unit::Bytes);
    let sizes = |parts: &[SizePart]| {
        let bytes = || parts.iter().map(|part| part.bytes);
        format!("{}-{}", size(bytes().min().unwrap_or(0)), size(bytes().max().unwrap_or(0)))
    };
    let (reads, writes) = (sizes(&job.sizes.parts), sizes(job.sizes.of_writes()));
    format!(
        "{}: (g={group}): rw={}, bs=(R) {reads}, (W) {writes}, (T) {writes}, ioengine={}, \
         iodepth={}",
        job.name, job.rw_name, job.engine_name, job.depth
    )
}

/// Results: all entries, then all groups.
pub fn export_fio_normal(
    moment: &FioMoment,
    entries: &[FioEntry],
    points: &[PointRecord],
    disks: &[FioDisk],
) -> String {
    let jobs = jobs(moment, entries, points, false);
    let mut text = "\n".to_owned();
    for (entry, job) in entries.iter().zip(&jobs).filter(|(_, job)| is_shown(job)) {
        append_job(&mut text, entry, job, moment);
    }
    let mut groups: Vec<u32> = jobs.iter().map(|job| job.groupid).collect();
    groups.dedup();
    for group in groups {
        let members: Vec<&JobEntry> =
            jobs.iter().filter(|job| job.groupid == group && moved(job)).collect();
        if !members.is_empty() {
            summary(&mut text, group, &members);
        }
    }
    if !disks.is_empty() {
        let _ = writeln!(text, "\nDisk stats (read/write):");
    }
    for disk in disks {
        let _ = writeln!(text, "{}", disk.line());
    }
    text
}

fn sides(job: &JobEntry) -> [(&'static str, &Option<Direction>); 4] {
    [("read", &job.read), ("write", &job.write), ("trim", &job.trim), ("mixed", &job.mixed)]
}

/// True if a job transferred data or failed.
fn is_shown(job: &JobEntry) -> bool {
    job.error != 0 || moved(job)
}

fn moved(job: &JobEntry) -> bool {
    sides(job).iter().any(|(_, side)| side.as_ref().is_some_and(|side| side.io_bytes > 0))
}

fn append_job(text: &mut String, entry: &FioEntry, job: &JobEntry, moment: &FioMoment) {
    let error = match job.error {
        0 => " 0".to_owned(),
        number => {
            let words = std::io::Error::from_raw_os_error(number).to_string();
            let words = words.split(" (os error").next().unwrap_or("").to_owned();
            format!("{number:2} ({words})")
        }
    };
    let _ = writeln!(
        text,
        "{}: (groupid={}, jobs={}): err={error}: pid={}: {}",
        job.jobname,
        job.groupid,
        entry.members,
        std::process::id(),
        moment.text
    );
    if !job.desc.is_empty() {
        let _ = writeln!(text, "  Description  : [{}]", job.desc);
    }
    for (name, side) in sides(job) {
        let moving = side.as_ref().filter(|side| side.io_bytes > 0);
        moving.into_iter().for_each(|side| direction(text, name, side));
    }
    shares(text, "nsec", &job.latency_ns);
    shares(text, "usec", &job.latency_us);
    shares(text, "msec", &job.latency_ms);
    if job.sync.total_ios > 0 {
        let _ = writeln!(text, "  fsync/fdatasync/sync_file_range/syncfs:");
        latency(text, "sync", &job.sync.lat_ns);
        percentiles(text, "sync", &job.sync.lat_ns);
    }
    footer(text, job);
}

fn footer(text: &mut String, job: &JobEntry) {
    let _ = writeln!(
        text,
        "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
        job.usr_cpu, job.sys_cpu, job.ctx, job.majf, job.minf
    );
    let list = |pairs: &Pairs<f64>| {
        let entry = |(name, share): &(String, f64)| format!("{name}={share:.1}%");
        pairs.0.iter().map(entry).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(text, "  IO depths    : {}", list(&job.iodepth_level));
    let _ = writeln!(text, "     submit    : {}", list(&job.iodepth_submit));
    let _ = writeln!(text, "     complete  : {}", list(&job.iodepth_complete));
    let number =
        |side: &Option<Direction>, pick: fn(&Direction) -> u64| side.as_ref().map_or(0, pick);
    // A mixed entry replaces that of reads.
    let first = if job.read.is_some() { &job.read } else { &job.mixed };
    let each = |pick: fn(&Direction) -> u64| {
        format!("{},{},{}", number(first, pick), number(&job.write, pick), number(&job.trim, pick))
    };
    let _ = writeln!(
        text,
        "     issued rwts: total={},{} short={},0 dropped={},0",
        each(|side| side.total_ios),
        job.sync.total_ios,
        each(|side| side.short_ios),
        each(|side| side.drop_ios)
    );
    if let (Some(total), Some(first @ 1..)) = (job.total_err, job.first_error) {
        let name = std::io::Error::from_raw_os_error(first).to_string();
        let name = name.split(" (os error").next().unwrap_or_default();
        let _ = writeln!(text, "     errors    : total={total}, first_error={first}/<{name}>");
    }
    let _ = writeln!(
        text,
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}",
        time(job.latency_target_ns),
        time(job.latency_window_us.saturating_mul(1000)),
        job.latency_percentile,
        job.latency_depth
    );
    if let Some(steady) = &job.steadystate {
        let rate = |binary| figure(steady.data.bw_mean, 4, binary, Unit::BytesPerSecond);
        let _ = writeln!(
            text,
            "  steadystate  : attained={}, bw={} ({}), iops={}, {}",
            if steady.attained == 1 { "yes" } else { "no" },
            rate(true),
            rate(false),
            figure(steady.data.iops_mean, 4, false, Unit::None),
            steady.criterion()
        );
    }
}

/// Formats a time in the smallest unit in which it is below 2000.
fn time(ns: u64) -> String {
    let (mut value, mut unit) = (ns as f64, "ns");
    for larger in ["us", "ms", "s"] {
        if value >= 2000.0 {
            (value, unit) = (value / 1000.0, larger);
        }
    }
    format!("{value:.2}{unit}")
}

fn direction(text: &mut String, name: &str, side: &Direction) {
    let rate = |binary| figure(side.bw_bytes, 4, binary, Unit::BytesPerSecond);
    let _ = writeln!(
        text,
        "  {name}: IOPS={}, BW={} ({})({}/{}msec)",
        figure(side.iops as u64, 4, false, Unit::None),
        rate(true),
        rate(false),
        figure(side.io_bytes, 4, true, Unit::Bytes),
        side.runtime
    );
    for (name, times) in [("slat", &side.slat_ns), ("clat", &side.clat_ns), (" lat", &side.lat_ns)]
    {
        latency(text, name, times);
    }
    let priorities = || side.priorities.iter().filter_map(by_priority);
    for (name, times) in priorities() {
        latency(text, &name, times);
    }
    percentiles(text, "slat", &side.slat_ns);
    percentiles(text, "clat", &side.clat_ns);
    percentiles(text, "lat", &side.lat_ns);
    for (name, times) in priorities() {
        let share = times.count as f64 / side.total_ios.max(1) as f64 * 100.0;
        percentiles(text, &format!("{name} ({share:.2}% of IOs)"), times);
    }
    let mut unit = ("KiB", 1.0);
    if side.bw_mean > f64::from(1 << 20) {
        unit = ("MiB", 1024.0);
    }
    if side.bw_samples > 0 {
        let (name, by) = unit;
        let _ = writeln!(
            text,
            "   bw ({name:>5}/s): min={:>5}, max={:>5}, per={:.2}%, avg={:>5.2}, \
                 stdev={:>5.2}, samples={}",
            (side.bw_min as f64 / by) as u64,
            (side.bw_max as f64 / by) as u64,
            side.bw_agg,
            side.bw_mean / by,
            side.bw_dev / by,
            side.bw_samples
        );
        let _ = writeln!(
            text,
            "   iops        : min={:>5}, max={:>5}, avg={:>5.2}, stdev={:>5.2}, samples={}",
            side.iops_min, side.iops_max, side.iops_mean, side.iops_stddev, side.iops_samples
        );
    }
}

/// Name and latencies of a priority.
fn by_priority(entry: &PriorityEntry) -> Option<(String, &FioLatency)> {
    let PriorityEntry { prioclass, prio, clat_ns, lat_ns, .. } = entry;
    let named = |name: &str| format!("{name} prio {prioclass}/{prio}/0");
    let total = lat_ns.as_ref().map(|times| (named("lat"), times));
    total.or_else(|| clat_ns.as_ref().map(|times| (named("clat"), times)))
}

/// Latency line, in the unit that keeps it short.
fn latency(text: &mut String, name: &str, times: &FioLatency) {
    if times.count == 0 {
        return;
    }
    let above = |by: u64| times.min > 2 * by && times.max >= 100 * by && times.stddev > by as f64;
    let (unit, by) = unit_of(above);
    let short = |value: u64| figure(value / by, 6, false, Unit::None);
    let _ = writeln!(
        text,
        "    {name} ({unit}): min={}, max={}, avg={:>5.2}, stdev={:>5.2}",
        short(times.min),
        short(times.max),
        times.mean / by as f64,
        times.stddev / by as f64
    );
}

/// The largest unit that is small enough for the values, and its length in ns.
fn unit_of(above: impl Fn(u64) -> bool) -> (&'static str, u64) {
    match () {
        () if above(1_000_000) => ("msec", 1_000_000),
        () if above(1_000) => ("usec", 1_000),
        () => ("nsec", 1),
    }
}

fn percentiles(text: &mut String, name: &str, times: &FioLatency) {
    let Some(list) =
        times.percentile.as_ref().map(|pairs| &pairs.0).filter(|list| !list.is_empty())
    else {
        return;
    };
    let values = || list.iter().map(|(_, value)| *value);
    let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
    let above = |by: u64| least > 2 * by && most >= 100 * by;
    let (unit, by) = unit_of(above);
    let digits = list.iter().map(|(percent, _)| decimals(percent)).max().unwrap_or(2);
    let width = (most / by).to_string().len().max(5);
    let in_line = (73 / (digits + 10 + width)).max(1);
    let cell = |(percent, value): &(String, u64)| {
        let percent: f64 = percent.parse().unwrap_or(0.0);
        let value = value.div_ceil(by);
        format!(" {percent:>head$.digits$}th=[{value:>width$}]", head = digits + 3)
    };
    let rows: Vec<String> = list
        .chunks(in_line)
        .map(|row| format!("     |{}", row.iter().map(cell).collect::<Vec<_>>().join(",")))
        .collect();
    let _ = writeln!(text, "    {name} percentiles ({unit}):\n{}", rows.join(",\n"));
}

/// Decimals of a percentile, at least two.
fn decimals(percent: &str) -> usize {
    let behind = percent.split_once('.').map_or("", |(_, behind)| behind);
    behind.trim_end_matches('0').len().max(2)
}

/// Shares of the requests in latency classes, five per line.
fn shares(text: &mut String, unit: &str, pairs: &Pairs<f64>) {
    let there: Vec<String> = pairs
        .0
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(name, share)| format!("{name}={share:.2}%"))
        .collect();
    for row in there.chunks(5) {
        let _ = writeln!(text, "  lat ({unit})   : {}", row.join(", "));
    }
}

/// Totals of a group in each direction.
fn summary(text: &mut String, group: u32, members: &[&JobEntry]) {
    let _ = writeln!(text, "\nRun status group {group} (all jobs):");
    for (index, name) in ["   READ", "  WRITE", "   TRIM", "  MIXED"].into_iter().enumerate() {
        let sides = members.iter().filter_map(|job| sides(job)[index].1.as_ref());
        let list: Vec<&Direction> = sides.filter(|side| side.runtime > 0).collect();
        let of_all = |figure: fn(&Direction) -> u64| list.iter().map(move |side| figure(side));
        let times = || of_all(|side| side.runtime);
        let Some((shortest, longest)) = times().min().zip(times().max()) else { continue };
        let bytes: u64 = of_all(|side| side.io_bytes).sum();
        let all = (bytes as f64 * 1e3 / longest as f64) as u64;
        let least = of_all(|side| side.bw_bytes).min().unwrap_or(0);
        let most = of_all(|side| side.bw_bytes).max().unwrap_or(0);
        let rate = |value, binary| figure(value, 4, binary, Unit::BytesPerSecond);
        let _ = writeln!(
            text,
            "{name}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={shortest}-{longest}msec",
            rate(all, true),
            rate(all, false),
            rate(least, true),
            rate(most, true),
            rate(least, false),
            rate(most, false),
            figure(bytes, 4, true, Unit::Bytes),
            figure(bytes, 4, false, Unit::Bytes)
        );
    }
}
