//! Placement of the workers of a run on CPUs.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::sysfs;
use crate::system::System;

/// CPU numbers in the order in which the user gave them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(pub Vec<u32>);

impl FromStr for Cpus {
    type Err = String;
    /// Parses the kernel's form: `0-3,8`; at least one CPU, each once.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a list of CPUs: use for example 0-3,8");
        let mut cpus = Vec::new();
        for part in text.split(',') {
            for cpu in cpu_list(part).filter(|part| !part.is_empty()).ok_or_else(wrong)? {
                if cpus.contains(&cpu) {
                    return Err(format!("CPU {cpu} is named twice in `{text}`"));
                }
                cpus.push(cpu);
            }
        }
        Ok(Self(cpus))
    }
}

/// Why the first unusable CPU of these cannot be used: it does not exist, is offline, or is not
/// available to this process.
pub fn unusable(system: &System, cpus: &[u32], allowed: &[u32]) -> Option<String> {
    let cpu = cpus.iter().find(|cpu| !allowed.contains(cpu))?;
    let known = |file: &str| {
        let list = system.read_trimmed(format!("/sys/devices/system/cpu/{file}"));
        list.and_then(|text| cpu_list(&text)).is_none_or(|list| list.contains(cpu))
    };
    let allowed: Vec<String> = allowed.iter().map(u32::to_string).collect();
    Some(match (known("present"), known("online")) {
        (false, _) => format!("there is no CPU {cpu} in this machine"),
        (true, false) => format!("CPU {cpu} is offline"),
        (true, true) => format!(
            "this process may not run on CPU {cpu}, only on {} (taskset, cgroup, container)",
            allowed.join(",")
        ),
    })
}

/// NUMA node of a CPU; `None` if the kernel does not report it.
pub fn node_of_cpu(system: &System, cpu: u32) -> Option<u32> {
    let names = system.list_dir("/sys/devices/system/node").ok()?;
    let mut nodes = names.iter().filter_map(|name| name.strip_prefix("node")?.parse().ok());
    nodes.find(|node| cpus_of_node(system, *node).is_some_and(|cpus| cpus.contains(&cpu)))
}

/// NUMA node of a device; `None` if the firmware does not report it.
pub fn node_of_device(system: &System, device: &str) -> Option<u32> {
    node_above(system, device)?.parse().ok()
}

/// NUMA node of a device, from the nearest level above it; -1 if the firmware does not report it.
pub(crate) fn node_above(system: &System, device: &str) -> Option<String> {
    let whole = sysfs::whole_of(system, device).unwrap_or_else(|| device.to_owned());
    let real_path = system.canonical(format!("/sys/class/block/{whole}/device"));
    let above = |path: std::path::PathBuf| {
        path.ancestors().find_map(|folder| system.read_trimmed(folder.join("numa_node")))
    };
    // Without following links: a namespace is below its controller, and that is below the PCI
    // function.
    let spelled = || {
        let keys = ["device/numa_node", "device/device/numa_node"];
        keys.iter().find_map(|key| sysfs::attribute(system, device, key))
    };
    real_path.and_then(above).or_else(spelled)
}

/// CPUs that are on another node than the device; empty if either node is unknown.
pub fn far(system: &System, device: &str, cpus: &[u32]) -> Vec<u32> {
    let Some(node) = node_of_device(system, device) else { return Vec::new() };
    let is_far = |cpu: &&u32| node_of_cpu(system, **cpu).is_some_and(|other| other != node);
    cpus.iter().filter(is_far).copied().collect()
}

/// The CPUs of `allowed` in the order in which workers get them: CPUs on the node of the device
/// first; within a node, one thread of each core before the others.
pub fn order(system: &System, device: Option<&str>, allowed: &[u32]) -> Vec<u32> {
    let near: BTreeSet<u32> = device.and_then(|name| local_cpus(system, name)).unwrap_or_default();
    let mut cpus: Vec<u32> = allowed.to_vec();
    // A stable sort keeps the kernel's order otherwise.
    cpus.sort_by_key(|cpu| (!near.contains(cpu), !is_first_of_its_core(system, *cpu)));
    cpus
}

fn local_cpus(system: &System, device: &str) -> Option<BTreeSet<u32>> {
    let node = node_of_device(system, device)?;
    cpus_of_node(system, node)
}

/// The CPUs of a NUMA node; `None` if the node does not exist.
pub fn cpus_of_node(system: &System, node: u32) -> Option<BTreeSet<u32>> {
    cpu_list(&system.read_trimmed(format!("/sys/devices/system/node/node{node}/cpulist"))?)
}

fn is_first_of_its_core(system: &System, cpu: u32) -> bool {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let siblings = system.read_trimmed(path).and_then(|text| cpu_list(&text));
    siblings.is_none_or(|siblings| siblings.first() == Some(&cpu))
}

/// Parses the kernel's form of a list: `0-3,8`. `None` for another format, or for a list longer
/// than any machine has.
fn cpu_list(text: &str) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last >= 1 << 16 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    #[test]
    fn workers_prefer_cores_near_the_device() {
        let mut machine = FakeMachine::new().disk("nvme0n1", "259:0").attribute(
            "nvme0n1",
            "device/device/numa_node",
            "1",
        );
        machine = machine.with_file("/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
        for (cpu, siblings) in [(0, "0,4"), (2, "2,6"), (3, "3,7"), (6, "2,6"), (7, "3,7")] {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            machine = machine.with_file(&path, siblings);
        }
        let allowed = [0, 1, 2, 3, 6, 7];
        let near = order(&machine.system, Some("nvme0n1"), &allowed);
        assert_eq!(near, [2, 3, 6, 7, 0, 1]);
        // Without a node, as on virtual devices: cores before their second threads.
        assert_eq!(order(&machine.system, None, &allowed), [0, 1, 2, 3, 6, 7]);
        let negative =
            FakeMachine::new().disk("vda", "254:0").attribute("vda", "device/numa_node", "-1");
        assert_eq!(order(&negative.system, Some("vda"), &[1, 0]), [1, 0]);
    }

    #[test]
    fn chosen_cpus_keep_order_and_unusable_are_named() {
        assert_eq!("8,0-2".parse(), Ok(Cpus(vec![8, 0, 1, 2])));
        for wrong in ["", "a", "1,", "3,1-4", "0-99999"] {
            assert!(wrong.parse::<Cpus>().is_err(), "{wrong}");
        }
        let cpu = |file: &str| format!("/sys/devices/system/cpu/{file}");
        let machine = FakeMachine::new()
            .with_file(&cpu("present"), "0-7")
            .with_file(&cpu("online"), "0-3,5-7");
        let why = |cpus: &[u32]| unusable(&machine.system, cpus, &[0, 1, 2]);
        assert_eq!(why(&[2, 0]), None);
        assert!(why(&[0, 4]).is_some_and(|why| why == "CPU 4 is offline"));
        assert!(why(&[8]).is_some_and(|why| why.contains("no CPU 8")));
        assert!(why(&[3]).is_some_and(|why| why.contains("CPU 3, only on 0,1,2")));
    }

    #[test]
    fn cpu_list_is_parsed_or_rejected() {
        assert_eq!(cpu_list("0-2,8"), Some([0, 1, 2, 8].into()));
        assert_eq!(cpu_list(""), Some(BTreeSet::new()));
        for wrong in ["a", "1-", "0-4294967295", "-1"] {
            assert_eq!(cpu_list(wrong), None, "{wrong}");
        }
    }
}
