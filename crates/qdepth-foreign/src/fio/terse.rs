//! Export in fio's terse format: a line per entry, times in microseconds. Written from the output
//! of fio 3.42.

use std::fmt::Write;

use qdepth_record::PointRecord;

use super::disk::FioDisk;
use super::json::{Direction, FioEntry, FioLatency, FioMoment, JobEntry, jobs};

/// Number of percentiles in a line; missing ones are `0%=0`.
const PERCENTILES: usize = 20;

/// Terse lines of version 2 to 5.
pub fn export_fio_terse(
    version: u8,
    program: &str,
    moment: &FioMoment,
    entries: &[FioEntry],
    points: &[PointRecord],
    disks: &[FioDisk],
) -> String {
    let jobs = jobs(moment, entries, points, false);
    let lines = entries.iter().zip(&jobs);
    let lines = lines.map(|(entry, job)| line(version, program, entry, job, disks));
    lines.collect::<Vec<_>>().join("\n")
}

fn line(version: u8, program: &str, entry: &FioEntry, job: &JobEntry, disks: &[FioDisk]) -> String {
    let name = job.jobname.replace(';', ",");
    let mut text = match version {
        2 => format!("2;{name};{};{}", job.groupid, job.error),
        _ => format!("{version};{program};{name};{};{}", job.groupid, job.error),
    };
    let none = Direction::default();
    let trim = if version == 3 { None } else { Some(&job.trim) };
    // A mixed entry replaces reads and writes, or follows them.
    let together = job.mixed.is_some().then_some(&job.mixed);
    let sides = match job.read {
        None => [together, None, None, None],
        Some(_) => [Some(&job.read), Some(&job.write), trim, together],
    };
    for side in sides.into_iter().flatten() {
        direction(&mut text, version, entry, side.as_ref().unwrap_or(&none));
    }
    // Writing to a String never fails.
    let _ = write!(
        text,
        ";{:.6}%;{:.6}%;{};{};{}",
        job.usr_cpu, job.sys_cpu, job.ctx, job.majf, job.minf
    );
    job.iodepth_level.0.iter().for_each(|(_, share)| add(&mut text, format!("{share:.1}%")));
    let below: f64 = job.latency_ns.0.iter().map(|(_, share)| share).sum();
    for (index, (_, share)) in job.latency_us.0.iter().enumerate() {
        let share = share + if index == 0 { below } else { 0.0 };
        add(&mut text, format!("{share:.2}%"));
    }
    job.latency_ms.0.iter().for_each(|(_, share)| add(&mut text, format!("{share:.2}%")));
    let shown = if version == 2 { &[] } else { disks };
    shown.iter().for_each(|disk| add(&mut text, disk.fields()));
    if !job.desc.is_empty() {
        let end = if version == 2 { "\n" } else { "" };
        let _ = write!(text, "{end};{}", job.desc);
    }
    text
}

fn direction(text: &mut String, version: u8, entry: &FioEntry, side: &Direction) {
    add(text, format!("{};{};{};{}", side.io_kbytes, side.bw, side.iops as u64, side.runtime));
    latency(text, &side.slat_ns);
    latency(text, &side.clat_ns);
    let of_total = entry.percentiles_of[1];
    let listed = if of_total { &side.lat_ns } else { &side.clat_ns };
    let values = listed.percentile.as_ref().map_or(&[][..], |pairs| pairs.0.as_slice());
    for index in 0..PERCENTILES {
        let value = values.get(index).map_or(0, |(_, value)| *value / 1000);
        match entry.percentiles.get(index) {
            Some(percent) => add(text, format!("{percent:.6}%={value}")),
            None => add(text, "0%=0".to_owned()),
        }
    }
    latency(text, &side.lat_ns);
    let (min, max) = (side.bw_min, side.bw_max);
    add(text, format!("{min};{max};{:.6}%;{:.6};{:.6}", side.bw_agg, side.bw_mean, side.bw_dev));
    if version >= 5 {
        let (mean, deviation) = (side.iops_mean, side.iops_stddev);
        add(text, side.bw_samples.to_string());
        add(text, format!("{};{};{mean:.6};{deviation:.6}", side.iops_min, side.iops_max));
        add(text, side.iops_samples.to_string());
    }
}

fn latency(text: &mut String, times: &FioLatency) {
    let (mean, deviation) = (times.mean / 1e3, times.stddev / 1e3);
    add(text, format!("{};{};{mean:.6};{deviation:.6}", times.min / 1000, times.max / 1000));
}

fn add(text: &mut String, field: String) {
    text.push(';');
    text.push_str(&field);
}
