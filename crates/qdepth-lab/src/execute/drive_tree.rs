//! Place of drives in the tree of PCIe links: the order in which they are added one by one, facts
//! about the links, and the placement of the workers that load them.

use std::path::Path;

use qdepth_host::placement::node_of_device;
use qdepth_host::sysfs::pcie_path;
use qdepth_host::system::System;
use qdepth_linux::allowed_cpus;
use qdepth_record::Observation;
use qdepth_workload::{Compared, Plan};

use crate::execute::cpu_placement::near;
use crate::request::PlanRequest;
use crate::target::prepare::{Prepared, Real, ResolvedTarget, find};

/// The request with its targets in the order of the tree, if the plan adds them one by one. Drives
/// below one link follow each other, so that the number of drives that fill it shows.
pub fn in_tree_order(system: &System, asked: &PlanRequest) -> PlanRequest {
    let mut asked = asked.clone();
    if asked.file.comparison.as_ref().is_some_and(|spec| spec.of == Compared::Saturation) {
        // Targets that cannot be found are refused later.
        let device = |target: &Path| device_of(&find(system, target).ok()?);
        asked.targets.sort_by_cached_key(|target| device(target).map(|name| key(system, &name)));
    }
    asked
}

/// Sorting key of a drive: NUMA node, then the addresses from the root port to the drive.
fn key(system: &System, device: &str) -> (Option<u32>, Vec<String>) {
    let path = pcie_path(system, device);
    (node_of_device(system, device), path.into_iter().map(|(address, _)| address).collect())
}

/// The drive of a target, if it is on a single one.
fn device_of(target: &ResolvedTarget) -> Option<String> {
    <[String; 1]>::try_from(target.real()?.devices()).ok().map(|[device]| device)
}

fn adds_drives(plan: &Plan) -> bool {
    plan.comparison.as_ref().is_some_and(|comparison| comparison.of == Compared::Saturation)
}

/// Facts about the links above the drives, for a plan that adds drives: the addresses from the root
/// port to each drive, and the link of each address.
pub(crate) fn facts(system: &System, plan: &Plan, prepared: &[Prepared]) -> Vec<Observation> {
    let mut facts: Vec<Observation> = Vec::new();
    if !adds_drives(plan) {
        return facts;
    }
    for device in prepared.iter().filter_map(|target| target.real().and_then(Real::device)) {
        let path = pcie_path(system, &device);
        let fact = |subject: &str, key: &str, value: String| {
            Observation::new((subject, key), Ok(value), "/sys/devices")
        };
        let addresses: Vec<&str> = path.iter().map(|(address, _)| address.as_str()).collect();
        facts.extend((!path.is_empty()).then(|| fact(&device, "pcie_path", addresses.join(" "))));
        for (address, link) in &path {
            if facts.iter().all(|fact| fact.subject != *address) {
                facts.push(fact(address, "link", link.description.clone()));
                let rate = format!("{:.0}", link.bytes_per_s);
                facts.push(fact(address, "link_bytes_per_s", rate));
            }
        }
    }
    facts
}

/// Links, NUMA node and CPUs of the worker of each target while all run, for a plan that adds
/// drives; `None` for targets without a known place.
pub fn places(system: &System, plan: &Plan, found: &[ResolvedTarget]) -> Vec<Option<String>> {
    if !adds_drives(plan) {
        return vec![None; found.len()];
    }
    let devices: Vec<Option<String>> = found.iter().map(device_of).collect();
    let mut cpus = near(system, &devices, &allowed_cpus()).into_iter();
    let place = |device: &Option<String>| {
        let cpus = cpus.next().unwrap_or_default();
        let device = device.as_deref()?;
        let path = pcie_path(system, device).into_iter();
        let links = path.map(|(address, link)| format!("{address} ({})", link.description));
        let node = node_of_device(system, device).map(|node| format!("NUMA node {node}"));
        let list = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let cpus = (!cpus.is_empty()).then(|| format!("CPU {list}"));
        let all: Vec<String> = links.chain(node).chain(cpus).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    devices.iter().map(place).collect()
}
