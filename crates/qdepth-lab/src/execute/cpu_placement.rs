//! CPU placement of workers, and what is reported about it: the CPUs, their NUMA nodes, and drives
//! on another node.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use qdepth_host::environment::with_all_below;
use qdepth_host::placement::{cpus_of_node, far, node_of_cpu, node_of_device, order, unusable};
use qdepth_host::system::System;
use qdepth_linux::allowed_cpus;
use qdepth_measure::Finding;
use qdepth_record::Observation;
use qdepth_workload::{Plan, Point};

use crate::Lab;
use crate::failure::Missing;
use crate::outcome::findings;
use crate::request::Pinning;
use crate::target::prepare::{Prepared, Real};

/// Placement requested by the user. Ranks of one machine do not know each other's workers, so they
/// cannot place theirs near the device.
pub(crate) fn placement(lab: Lab<'_>) -> &Pinning {
    match &lab.request.pinning {
        Pinning::Near if lab.all_ranks.is_some() => &Pinning::Scheduler,
        wanted => wanted,
    }
}

/// Refuses CPUs that the process cannot use.
pub(crate) fn can_be_used(lab: Lab<'_>) -> Result<()> {
    let Some(cpus) = lab.request.pinning.named() else { return Ok(()) };
    match unusable(lab.system, cpus, &allowed_cpus()) {
        Some(why) => {
            bail!(Missing(format!("{why}; nothing was changed. Name other CPUs with --cpus")))
        }
        None => Ok(()),
    }
}

/// CPUs of each worker, by the device that it loads; empty if the scheduler places them.
pub(crate) fn worker_cpus(
    system: &System,
    devices: &[Option<String>],
    placement: &Pinning,
) -> Vec<Vec<u32>> {
    let each = |cpu: &u32| vec![*cpu];
    match placement {
        Pinning::Scheduler => Vec::new(),
        Pinning::Near => near(system, devices, &allowed_cpus()),
        Pinning::InTurn(cpus) => cpus.iter().cycle().take(devices.len()).map(each).collect(),
        Pinning::Among(cpus) => vec![cpus.to_vec(); devices.len()],
    }
}

/// The device below each worker of a group.
pub(crate) fn devices_of_workers<'a>(
    group: impl IntoIterator<Item = (&'a Point, Option<String>)>,
) -> Vec<Option<String>> {
    let each = |(point, device)| std::iter::repeat_n(device, (point as &Point).workers as usize);
    group.into_iter().flat_map(each).collect()
}

/// A CPU for each worker, those near its device first. A single worker, and workers that outnumber
/// the CPUs, may use all CPUs near their devices. Empty if those are all CPUs: the scheduler places
/// workers better.
pub(super) fn near(system: &System, devices: &[Option<String>], allowed: &[u32]) -> Vec<Vec<u32>> {
    if devices.len() < 2 || devices.len() > allowed.len() {
        let near: Vec<Vec<u32>> =
            devices.iter().map(|device| on_node(system, device.as_deref(), allowed)).collect();
        let anywhere = near.iter().all(|cpus| cpus.len() == allowed.len());
        return if anywhere { Vec::new() } else { near };
    }
    let mut orders: BTreeMap<Option<String>, Vec<u32>> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    let cpu = |device: &Option<String>| {
        let of_device = || order(system, device.as_deref(), allowed);
        let cpus = orders.entry(device.clone()).or_insert_with(of_device);
        cpus.iter().copied().find(|cpu| taken.insert(*cpu)).into_iter().collect()
    };
    devices.iter().map(cpu).collect()
}

/// The CPUs on the node of a device; all if the node or its CPUs are unknown.
fn on_node(system: &System, device: Option<&str>, allowed: &[u32]) -> Vec<u32> {
    let node = device.and_then(|device| node_of_device(system, device));
    let cpus = node.and_then(|node| cpus_of_node(system, node)).unwrap_or_default();
    let near: Vec<u32> = allowed.iter().copied().filter(|cpu| cpus.contains(cpu)).collect();
    if near.is_empty() { allowed.to_vec() } else { near }
}

/// The group with the most workers, and their CPUs.
fn largest<'a>(
    lab: Lab<'_>,
    plan: &'a Plan,
    prepared: &[Prepared],
) -> Option<(&'a [Point], Vec<Vec<u32>>)> {
    let workers = |group: &&[Point]| group.iter().map(|point| point.workers).sum::<u32>();
    let group = plan.groups().max_by_key(workers)?;
    let real = |point: &Point| prepared[point.target as usize].real();
    if group.iter().all(|point| real(point).is_none()) {
        return None;
    }
    let device = |point: &'a Point| (point, real(point).and_then(Real::device));
    let devices = devices_of_workers(group.iter().map(device));
    Some((group, worker_cpus(lab.system, &devices, placement(lab))))
}

/// Facts about the placement of the plan's workers.
pub(crate) fn facts(lab: Lab<'_>, plan: &Plan, prepared: &[Prepared]) -> Vec<Observation> {
    let Some((_, cpus)) = largest(lab, plan, prepared) else { return Vec::new() };
    let mut kept = cpus.concat();
    kept.sort_unstable();
    kept.dedup();
    let fact = |key: &str, numbers: &[u32], source: &str| {
        let list = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        Observation::new(("generator", key), Ok(list), source)
    };
    let chosen = lab.request.pinning.named().is_some();
    let source = if chosen { "--cpus" } else { "sched_getaffinity(2), /sys/devices/system" };
    let mut facts = Vec::new();
    facts.extend((!kept.is_empty()).then(|| fact("cpus_of_workers", &kept, source)));
    let cpus = if kept.is_empty() { allowed_cpus() } else { kept };
    let mut nodes: Vec<u32> = cpus.iter().filter_map(|cpu| node_of_cpu(lab.system, *cpu)).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let source = "/sys/devices/system/node";
    facts.extend((!nodes.is_empty()).then(|| fact("numa_nodes_of_workers", &nodes, source)));
    facts
}

/// Findings about drives on another NUMA node than the workers that load them. A worker that is
/// kept on CPUs counts if one of them is far away, any other only if all of its CPUs are.
pub(crate) fn far_drives(lab: Lab<'_>, plan: &Plan, prepared: &[Prepared]) -> Vec<Finding> {
    let Some((group, cpus)) = largest(lab, plan, prepared) else { return Vec::new() };
    let (mut findings, mut cpus) = (Vec::<Finding>::new(), cpus.into_iter());
    for point in group {
        let kept: Vec<u32> = cpus.by_ref().take(point.workers as usize).flatten().collect();
        let Some(real) = prepared[point.target as usize].real() else { continue };
        for drive in with_all_below(lab.system, real.inspected.devices()) {
            let found = far_drive(lab.system, &drive, &kept, &allowed_cpus());
            findings.extend(found.filter(|found| !findings.contains(found)));
        }
    }
    findings
}

fn far_drive(system: &System, drive: &str, kept: &[u32], allowed: &[u32]) -> Option<Finding> {
    let cpus = if kept.is_empty() { allowed } else { kept };
    let far = far(system, drive, cpus);
    if far.is_empty() || (kept.is_empty() && far.len() < allowed.len()) {
        return None;
    }
    Some(findings::far_drive(drive, node_of_device(system, drive)?, &far))
}

#[cfg(test)]
mod tests {
    use qdepth_host::recording::Recording;

    use super::*;

    #[test]
    fn worker_on_another_socket_gets_a_remark() {
        // Two sockets. The drive is on node 0, which has the CPUs 0 to 3 and 8 to 11.
        let machine = include_str!("../../../qdepth-host/tests/machines/server-p3700.machine");
        let system = System::recorded(Recording::parse(machine).unwrap());
        let all: Vec<u32> = (0..16).collect();
        let far = |kept: &[u32], allowed: &[u32]| far_drive(&system, "nvme0n1", kept, allowed);
        assert_eq!(far(&[0, 11], &all), None);
        assert_eq!(far(&[], &all), None, "the scheduler may choose a near one");
        let found = far(&[3, 4, 12], &all).unwrap();
        assert_eq!((found.labels["node"].as_str(), found.labels["cpus"].as_str()), ("0", "4,12"));
        assert_eq!(far(&[], &[5, 6]).unwrap().labels["cpus"], "5,6");
        assert_eq!(far_drive(&system, "nvme9n1", &[4], &all), None);
    }

    #[test]
    fn workers_of_drives_stay_on_their_nodes() {
        let machine = include_str!("../../../qdepth-host/tests/machines/server-p3700.machine");
        let system = System::recorded(Recording::parse(machine).unwrap());
        let (drive, other) = (Some("nvme0n1".to_owned()), None);
        let all: Vec<u32> = (0..16).collect();
        let node = vec![0, 1, 2, 3, 8, 9, 10, 11];
        let places = |devices: &[&Option<String>], allowed: &[u32]| {
            let devices: Vec<_> = devices.iter().map(|device| (*device).clone()).collect();
            near(&system, &devices, allowed)
        };
        assert_eq!(places(&[&drive], &all)[0], node, "a single worker is not on one CPU");
        assert!(places(&[&other], &all).is_empty());
        let each = places(&[&drive; 10], &all);
        assert!(each.iter().take(8).all(|cpus| node.contains(&cpus[0])), "{each:?}");
        assert!(each.iter().skip(8).all(|cpus| !node.contains(&cpus[0])), "{each:?}");
        let more = places(&[&drive; 3], &[3, 4]);
        assert_eq!(more, vec![vec![3]; 3], "more workers than CPUs");
    }

    #[test]
    fn workers_alternate_between_or_share_chosen_cpus() {
        let system = System::real();
        let places = |placement: &Pinning| worker_cpus(&system, &[None, None, None], placement);
        assert_eq!(places(&Pinning::InTurn(vec![6, 2])), [vec![6], vec![2], vec![6]]);
        assert_eq!(places(&Pinning::Among(vec![6, 2])), vec![vec![6, 2]; 3]);
        assert!(places(&Pinning::Scheduler).is_empty());
    }
}
