//! The settings of a machine that is to be measured: as fast and as even as it can be.

use super::apply::chosen;
use super::setting::Setting;
use super::{Step, Wanted};
use crate::environment::cpu;
use crate::sysfs;
use crate::system::System;

/// An idle state that takes longer to leave than this, µs, is turned off. The shallow ones cost
/// nothing that a drive's latency shows.
const IDLE_MAX_US: u64 = 2;

/// The most outstanding I/Os of the shipped plans.
const OUTSTANDING_MAX: u64 = 512;

fn setting(system: &System, path: &str) -> Option<String> {
    Some(chosen(&system.read_trimmed(path)?))
}

/// The settings that differ from what a measurement should have, for the machine and for these
/// devices, by the kernel's names. Each knows its value now, so that it can be put back.
pub fn tuning(system: &System, devices: &[String]) -> Vec<Step> {
    let mut wanted = Vec::new();
    for number in cpu::numbers(system) {
        let base = format!("/sys/devices/system/cpu/cpu{number}");
        wanted.push((format!("{base}/cpufreq/scaling_governor"), "performance"));
        wanted.push((format!("{base}/cpufreq/energy_performance_preference"), "performance"));
        for state in system.list_dir(format!("{base}/cpuidle")).unwrap_or_default() {
            let folder = format!("{base}/cpuidle/{state}");
            let at = |key: &str| system.read_trimmed(format!("{folder}/{key}"));
            let latency: u64 = at("latency").and_then(|us| us.parse().ok()).unwrap_or(0);
            if latency > IDLE_MAX_US {
                wanted.push((format!("{folder}/disable"), "1"));
            }
        }
    }
    let cpu = "/sys/devices/system/cpu";
    wanted.push((format!("{cpu}/intel_pstate/no_turbo"), "0"));
    wanted.push((format!("{cpu}/cpufreq/boost"), "1"));
    // The engine's buffers ask for huge pages, and where nobody may have them get small ones.
    let huge = "/sys/kernel/mm/transparent_hugepage/enabled".to_owned();
    if setting(system, &huge).as_deref() == Some("never") {
        wanted.push((huge, "madvise"));
    }
    let mut steps: Vec<Step> =
        wanted.into_iter().filter_map(|(path, value)| differing(system, &path, value)).collect();
    let mut disks: Vec<String> = devices
        .iter()
        .map(|name| sysfs::whole_of(system, name).unwrap_or_else(|| name.clone()))
        .collect();
    disks.sort();
    disks.dedup();
    steps.extend(disks.iter().flat_map(|disk| of_queue(system, disk)));
    steps.extend(misplaced_interrupts(system));
    steps
}

/// The settings of a disk's request queue.
fn of_queue(system: &System, disk: &str) -> Vec<Step> {
    let queue = format!("/sys/block/{disk}/queue");
    let read = |key: &str| setting(system, &format!("{queue}/{key}"));
    let number = |key: &str| read(key).and_then(|text| text.parse::<u64>().ok());
    let mut wanted = Vec::new();
    // A disk that turns gains by the order of its requests.
    let turns = read("rotational").as_deref() != Some("0");
    if !turns {
        wanted.push(("scheduler", "none".to_owned()));
    }
    // More requests than this wait outside of the queue, where nobody counts them. A scheduler has
    // room for any number; without one there are as many as the drive has tags, which is what the
    // kernel sets itself when the scheduler goes.
    let room = match read("scheduler").as_deref() {
        Some("none") => system.read_trimmed(format!("/sys/block/{disk}/mq/0/nr_tags")),
        _ if turns => Some(OUTSTANDING_MAX.to_string()),
        _ => None,
    };
    let room = room.filter(|room| room.parse::<u64>().ok() > number("nr_requests"));
    wanted.extend(room.map(|room| ("nr_requests", room)));
    wanted.push(("nomerges", "2".to_owned()));
    wanted.push(("rq_affinity", "2".to_owned()));
    wanted.push(("wbt_lat_usec", "0".to_owned()));
    // Not `io_poll`: the kernel sets it where the drive has queues for it, and elsewhere answers
    // EINVAL, also where the driver was asked for such queues and the drive had none to spare.
    let step = |(key, value): (&str, String)| differing(system, &format!("{queue}/{key}"), &value);
    wanted.into_iter().filter_map(step).collect()
}

/// None where it is so already, or is not there to be set.
fn differing(system: &System, path: &str, value: &str) -> Option<Step> {
    let before = setting(system, path).filter(|before| before != value)?;
    let before = Setting::put_back(path, &before).ok()?;
    Some(Step::Setting(Wanted { setting: Setting::new(path, value).ok()?, before: Some(before) }))
}

/// Interrupts of NVMe queues, to the CPUs that their driver names; those whose place the kernel
/// manages itself cannot be set and name none.
pub(crate) fn misplaced_interrupts(system: &System) -> Vec<Step> {
    let text = system.read_file("/proc/interrupts").unwrap_or_default();
    let nvme = text
        .lines()
        .filter(|line| line.split_whitespace().last().is_some_and(|name| name.starts_with("nvme")));
    let numbers = nvme.filter_map(|line| line.split(':').next()?.trim().parse::<u32>().ok());
    let step = |number: u32| {
        let hint = system.read_trimmed(format!("/proc/irq/{number}/affinity_hint"))?;
        if hint.chars().all(|c| c == '0' || c == ',') {
            return None;
        }
        let path = format!("/proc/irq/{number}/smp_affinity");
        differing(system, &path, &hint)
    };
    numbers.filter_map(step).collect()
}
