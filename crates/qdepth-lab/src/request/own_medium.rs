//! Conversion of measured runs to the data that a device model is fitted to.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, bail};
use qdepth_host::same_storage::{difference, identity_facts};
use qdepth_host::sysfs::{DeviceNumber, number_of, whole_of};
use qdepth_host::system::System;
use qdepth_host::target::inspect;
use qdepth_measure::{Code, Finding, Grade, Severity};
use qdepth_media::fit::{Kind, Observed, Provenance, late_ns};
use qdepth_record::{
    IntervalRecord, PointRecord, PointSummary, RunRecord, TargetKind, TargetRecord,
};
use qdepth_workload::{Arrivals, Plan, Point};

use crate::failure::{Missing, Usage};

/// Assumed standard error of a rate whose series gave no interval, as a share.
const SPREAD_UNKNOWN: f64 = 0.05;
/// Assumed day-to-day variation if a single run cannot show it; the description says so.
const DAY_TO_DAY: f64 = 0.02;
/// Share of invalid points from which a run as a whole is rejected.
const INVALID_MOST: f64 = 0.15;
/// The same if all of them are invalid only because the load generator paused. A device that is
/// emulated by the measuring CPU causes such pauses, and each point shows by itself if it had one.
const STOPPED_MOST: f64 = 0.67;
/// Half the width of a 95 % interval in standard errors.
const NORMAL_95: f64 = 1.96;
/// Findings about interferences by the machine or by other users.
const INTERFERENCE: [Code; 5] =
    [Code::ForeignIo, Code::Throttled, Code::Steal, Code::BackgroundWork, Code::Swapping];

/// Measurements of one target from several runs.
pub struct Seen {
    /// Measurements of the usable points.
    pub observed: Vec<Observed>,
    /// Runs of the measurements.
    pub provenance: Provenance,
    /// Points with a warning about interference.
    pub remarked: Vec<String>,
    /// Invalid points, which are not fitted.
    pub left_out: Vec<String>,
    /// Kind of the target according to the machine, and its source; `None` if any kind is possible.
    pub kind: Option<(Kind, String)>,
}

/// Reads runs of one target. Several runs with the same points show the variation from day to day.
///
/// # Errors
/// If a run is rejected, is of another target, or has no load that a device model could be fitted
/// to.
pub fn seen(runs: &[(RunRecord, Vec<PointRecord>)]) -> Result<Seen> {
    let Some((first, _)) = runs.first() else {
        bail!(Usage("name at least one run: qdepth media fit RUN".to_owned()))
    };
    let mut all: Vec<Observed> = Vec::new();
    let (mut remarked, mut left_out) = (Vec::new(), Vec::new());
    for (run, points) in runs {
        one_target(run, first)?;
        left_out.extend(sound(run, points)?);
        let plan = Plan::stored(&run.plan_text, &run.plan_hash).map_err(Missing)?;
        for record in
            points.iter().filter(|record| Grade::from_findings(&record.findings) != Grade::C)
        {
            let Some(point) = plan.points.iter().find(|point| point.index == record.index) else {
                continue;
            };
            if !is_plain(&plan, point) {
                continue;
            }
            let finding =
                record.findings.iter().find(|finding| INTERFERENCE.contains(&finding.code));
            remarked.extend(finding.map(|finding| {
                format!("{} at {}: {}", record.profile, record.queue_depth, finding.code.as_str())
            }));
            all.extend(observed(point, record));
        }
    }
    let provenance = provenance(runs, &all);
    let kind = first.targets.first().and_then(kind_of);
    Ok(Seen { observed: merged(all), provenance, remarked, left_out, kind })
}

/// Checks that each run has exactly one target, and that it is the same in all runs.
fn one_target(run: &RunRecord, first: &RunRecord) -> Result<()> {
    let ([target], Some(other)) = (run.targets.as_slice(), first.targets.first()) else {
        bail!(Usage(format!(
            "run {} has {} targets, but a device model describes one: run the plan on one target",
            run.id,
            run.targets.len()
        )));
    };
    let serial = |target: &TargetRecord| fact(target, "serial").unwrap_or_default();
    if target.expression != other.expression || serial(target) != serial(other) {
        bail!(Usage(format!(
            "run {} measured {}, run {} measured {}: a device model describes one drive",
            first.id, other.expression, run.id, target.expression
        )));
    }
    Ok(())
}

/// The invalid points, which are left out. A run that is invalid, or has many invalid points, is
/// rejected: the cause may also have affected its other points.
fn sound(run: &RunRecord, points: &[PointRecord]) -> Result<Vec<String>> {
    let invalid = |findings: &[Finding]| Grade::from_findings(findings) == Grade::C;
    let bad: Vec<&PointRecord> = points.iter().filter(|point| invalid(&point.findings)).collect();
    let most = invalid_most(bad.iter().flat_map(|point| &point.findings));
    let bad: Vec<String> = bad
        .iter()
        .map(|point| {
            let codes: Vec<&str> = point.findings.iter().map(|f| f.code.as_str()).collect();
            format!("{} at {} ({})", point.profile, point.queue_depth, codes.join(", "))
        })
        .collect();
    let mut why = Vec::new();
    if invalid(&run.findings) {
        why.push("the run as a whole is invalid".to_owned());
    }
    if bad.len() as f64 > points.len() as f64 * most {
        why.push(format!(
            "{} of {} points are invalid: {}",
            bad.len(),
            points.len(),
            bad.join("; ")
        ));
    }
    if why.is_empty() {
        return Ok(bad);
    }
    bail!(Missing(format!(
        "run {} is not valid enough for a device model: {}. `qdepth show {} --findings` explains \
         it. Measure again: qdepth run {} {}",
        run.id,
        why.join("; "),
        run.id,
        run.plan_name,
        run.targets.first().map_or("TARGET", |target| &target.expression)
    )))
}

/// Share of invalid points that is acceptable, given all of their findings.
fn invalid_most<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> f64 {
    let mut invalid = findings.into_iter().filter(|finding| finding.severity == Severity::Invalid);
    let stopped = invalid.all(|finding| finding.code == Code::GeneratorStopped);
    if stopped { STOPPED_MOST } else { INVALID_MOST }
}

/// True for a closed loop that runs alone.
fn is_plain(plan: &Plan, point: &Point) -> bool {
    let alone = plan.points.iter().filter(|other| other.group == point.group).count() == 1;
    alone
        && point.arrivals == Arrivals::Closed
        && !point.syncs()
        && point.own_writes.is_none()
        && !point.trims()
}

fn observed(point: &Point, record: &PointRecord) -> Option<Observed> {
    let summary = PointSummary::from_point(record);
    let half = summary.io_per_s.half_width_share();
    let times = &summary.latency;
    let intervals = &record.intervals;
    let third = intervals.len() / 3;
    let rate = |part: &[IntervalRecord]| {
        let count: u64 = part.iter().map(IntervalRecord::completed).sum();
        count as f64 * 1e9 / part.iter().map(|slice| slice.length_ns).sum::<u64>().max(1) as f64
    };
    let thirds = (third > 0)
        .then(|| (rate(&intervals[..third]), rate(&intervals[intervals.len() - third..])));
    let cpu = summary.cpu_user_ns_per_io.zip(summary.cpu_system_ns_per_io).map(|(u, s)| u + s);
    let mut all = record.reads.latency.clone();
    all.merge(&record.writes.latency);
    let load = Observed {
        point: point.clone(),
        io_per_s: summary.io_per_s.value,
        spread: half.map_or(SPREAD_UNKNOWN, |half| half / NORMAL_95),
        read_ns: times.reads.mean_ns,
        write_ns: times.writes.mean_ns,
        late_ns: late_ns(&all),
        thirds,
        cpu_ns: cpu.filter(|ns| *ns > 0.0),
    };
    (load.io_per_s > 0.0).then_some(load)
}

/// Combines the same load in several runs into one point, at the mean of the logarithms.
fn merged(all: Vec<Observed>) -> Vec<Observed> {
    let mut merged: Vec<(Observed, Vec<f64>)> = Vec::new();
    for load in all {
        let rate = load.io_per_s.ln();
        match merged.iter_mut().find(|(other, _)| same_load(&other.point, &load.point)) {
            Some((_, rates)) => rates.push(rate),
            None => merged.push((load, vec![rate])),
        }
    }
    let mean = |(load, rates): (Observed, Vec<f64>)| {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let slower = load.io_per_s / mean.exp();
        Observed {
            io_per_s: mean.exp(),
            read_ns: load.read_ns.map(|ns| ns * slower),
            write_ns: load.write_ns.map(|ns| ns * slower),
            spread: load.spread / (rates.len() as f64).sqrt(),
            ..load
        }
    };
    merged.into_iter().map(mean).collect()
}

fn same_load(a: &Point, b: &Point) -> bool {
    let key = |point: &Point| {
        (point.random_share, point.read_share, point.queue_depth, point.streams, point.area)
    };
    key(a) == key(b) && a.block_size == b.block_size
}

/// Variation of the same points from run to run.
fn day_to_day(all: &[Observed]) -> (f64, String) {
    let (mut squares, mut degrees) = (0.0, 0_usize);
    for (index, load) in all.iter().enumerate() {
        let same = |other: &&Observed| same_load(&other.point, &load.point);
        if all[..index].iter().any(|other| same(&other)) {
            continue;
        }
        let rates: Vec<f64> = all.iter().filter(same).map(|other| other.io_per_s.ln()).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        squares += rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
        degrees += rates.len() - 1;
    }
    if degrees == 0 {
        let share = DAY_TO_DAY * 100.0;
        return (DAY_TO_DAY, format!("one run cannot show it; {share:.0} % is assumed"));
    }
    ((squares / degrees as f64).sqrt(), format!("from {degrees} repeated points"))
}

fn fact(target: &TargetRecord, key: &str) -> Option<String> {
    let found = target.facts.iter().find(|fact| fact.key == key)?;
    found.value.clone().ok().filter(|value| !value.trim().is_empty())
}

fn provenance(runs: &[(RunRecord, Vec<PointRecord>)], all: &[Observed]) -> Provenance {
    let ids = runs.iter().map(|(run, _)| run.id.clone()).collect();
    let Some(((run, _), target)) =
        runs.first().and_then(|first| Some((first, first.0.targets.first()?)))
    else {
        return Provenance::default();
    };
    let ends = all.iter().map(|load| load.point.area.offset_bytes + load.point.area.length_bytes);
    let touched = ends.max().unwrap_or(0);
    let size = fact(target, "size_bytes").and_then(|text| u64::from_str(text.trim()).ok());
    let block = fact(target, "logical_block_bytes").and_then(|text| text.trim().parse().ok());
    let smallest = all.iter().map(|load| load.point.alignment_bytes).min().unwrap_or(512);
    let emulated = if run.emulated { ", itself EMULATED" } else { "" };
    Provenance {
        title: fact(target, "model").unwrap_or_else(|| target.name.clone()),
        runs: ids,
        measured_at: run.started_at.clone(),
        program: format!("qdepth {}", run.qdepth_version),
        how: format!("plan {}, engine {}{emulated}", run.plan_name, target.engine),
        capacity_bytes: size.unwrap_or(0).max(touched),
        block_bytes: block.unwrap_or(512).min(smallest as u32),
        day_to_day: day_to_day(all),
    }
}

/// Number of the disk that a run measured; `None` unless the storage is still the same, and on one
/// disk.
pub fn measured_disk(system: &System, target: &TargetRecord) -> Option<DeviceNumber> {
    if target.kind == TargetKind::Emulated {
        return None;
    }
    let found = inspect(system, Path::new(&target.expression)).ok()?;
    if difference(&target.facts, &identity_facts(system, &found), false).is_some() {
        return None;
    }
    let [device] = found.devices().try_into().ok()?;
    number_of(system, &whole_of(system, &device).unwrap_or(device))
}

/// Kind of the device according to the machine.
fn kind_of(target: &TargetRecord) -> Option<(Kind, String)> {
    let name = target.expression.rsplit('/').next().unwrap_or_default();
    let begins = |word: &str| name.starts_with(word);
    if ["zram", "ram", "pmem"].into_iter().any(begins) {
        return Some((Kind::Memory, format!("`{name}` is memory")));
    }
    if begins("nbd") {
        return Some((Kind::Network, format!("`{name}` is a network block device")));
    }
    if begins("nvme") && fact(target, "model").is_some_and(|model| !model.contains("Elastic")) {
        return Some((Kind::Flash, format!("`{name}` is an NVMe drive")));
    }
    None
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use super::*;

    #[test]
    fn only_stopped_generators_permit_many_invalid_points() {
        let stopped = Finding::invalid(Code::GeneratorStopped);
        let remark = Finding::remark(Code::Stall);
        assert!(invalid_most([&stopped, &remark, &stopped]) > 0.5);
        let doubtful = Finding::invalid(Code::Steal);
        assert!(invalid_most([&stopped, &doubtful]) < 0.2);
    }

    /// Limits are set by the number: it must not be that of what only has the name.
    #[test]
    fn disk_of_run_is_unknown_after_storage_changes() {
        let (system, folder) = (System::real(), tempfile::tempdir_in(".").unwrap());
        let path = folder.path().join("target");
        std::fs::write(&path, "data").unwrap();
        let found = inspect(&system, &path).unwrap();
        let mut target = TargetRecord {
            index: 0,
            expression: path.display().to_string(),
            name: "target".to_owned(),
            kind: TargetKind::File,
            area_bytes: 4096,
            engine: "sync".to_owned(),
            ceiling: Vec::new(),
            facts: identity_facts(&system, &found),
        };
        let disk = measured_disk(&system, &target);
        // A file system of several devices, or of none, has no single disk.
        assert_eq!(disk.is_some(), found.devices().len() == 1, "{:?}", found.devices());
        assert!(disk.is_none_or(|disk| {
            let name = qdepth_host::sysfs::kernel_name(&system, disk).unwrap();
            whole_of(&system, &name).is_none()
        }));
        target.kind = TargetKind::Emulated;
        assert_eq!(measured_disk(&system, &target), None);
        target.kind = TargetKind::File;
        std::fs::write(folder.path().join("other"), "data").unwrap();
        std::fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(measured_disk(&system, &target), None, "another file has its name");
    }
}
