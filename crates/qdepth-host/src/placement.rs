//! On which CPUs the workers of a run are best kept.

use std::collections::BTreeSet;

use crate::sysfs::attribute;
use crate::system::System;

/// The CPUs of `allowed` in the order in which workers take them: those of the node that the device
/// hangs on first, and of each core one thread before the others.
pub fn order(system: &System, device: Option<&str>, allowed: &[u32]) -> Vec<u32> {
    let near: BTreeSet<u32> = device.and_then(|name| local_cpus(system, name)).unwrap_or_default();
    let mut cpus: Vec<u32> = allowed.to_vec();
    // Stable: within a kind the kernel's order stays.
    cpus.sort_by_key(|cpu| (!near.contains(cpu), !is_first_of_its_core(system, *cpu)));
    cpus
}

fn local_cpus(system: &System, device: &str) -> Option<BTreeSet<u32>> {
    // An NVMe namespace hangs on its controller, which hangs on the PCI function.
    let node = ["device/numa_node", "device/device/numa_node"];
    let node = node.iter().find_map(|key| attribute(system, device, key)?.parse::<u32>().ok())?;
    cpu_list(&system.read_trimmed(format!("/sys/devices/system/node/node{node}/cpulist"))?)
}

fn is_first_of_its_core(system: &System, cpu: u32) -> bool {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let siblings = system.read_trimmed(path).and_then(|text| cpu_list(&text));
    siblings.is_none_or(|siblings| siblings.first() == Some(&cpu))
}

/// The kernel's form of a list: `0-3,8`. None where it is no list, or longer than any machine.
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
    use crate::testing::FakeMachine;

    #[test]
    fn workers_go_to_the_device_first_and_to_one_thread_of_each_core() {
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
    fn a_list_is_read_and_nonsense_is_none() {
        assert_eq!(cpu_list("0-2,8"), Some([0, 1, 2, 8].into()));
        assert_eq!(cpu_list(""), Some(BTreeSet::new()));
        for wrong in ["a", "1-", "0-4294967295", "-1"] {
            assert_eq!(cpu_list(wrong), None, "{wrong}");
        }
    }
}
