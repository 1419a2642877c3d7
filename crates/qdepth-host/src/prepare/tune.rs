//! Kernel settings for a machine under measurement: as fast and as even as possible.

use super::apply::chosen;
use super::setting::Setting;
use super::{Step, Wanted};
use crate::environment::cpu;
use crate::sysfs;
use crate::system::System;

/// Exit latency of an idle state, µs, above which it is disabled. Shorter ones do not show in a
/// drive's latency.
const IDLE_MAX_US: u64 = 2;

/// Largest queue depth of the shipped plans.
const OUTSTANDING_MAX: u64 = 512;

fn setting(system: &System, path: &str) -> Option<String> {
    Some(chosen(&system.read_trimmed(path)?))
}

/// Settings of the machine and of these devices (kernel names) that differ from those recommended
/// for a measurement. Each step includes the current value, for its undo.
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
    // The engine's buffers request huge pages, and get small ones if huge pages are disabled.
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

/// Settings of a disk's request queue.
fn of_queue(system: &System, disk: &str) -> Vec<Step> {
    let queue = format!("/sys/block/{disk}/queue");
    let read = |key: &str| setting(system, &format!("{queue}/{key}"));
    let number = |key: &str| read(key).and_then(|text| text.parse::<u64>().ok());
    let mut wanted = Vec::new();
    // A rotational disk benefits from sorted requests.
    let turns = read("rotational").as_deref() != Some("0");
    if !turns {
        wanted.push(("scheduler", "none".to_owned()));
    }
    // Further requests wait outside the queue, where they are not counted. With a scheduler the
    // number is free. Without one it is the number of the drive's tags, which the kernel sets
    // itself when the scheduler is removed.
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
    // `io_poll` is not set: the kernel sets it if the drive has poll queues. Otherwise it returns
    // EINVAL, even if the driver was asked for poll queues that the drive did not have.
    let step = |(key, value): (&str, String)| differing(system, &format!("{queue}/{key}"), &value);
    wanted.into_iter().filter_map(step).collect()
}

/// A step that sets the value; `None` if it is set already, or cannot be set.
fn differing(system: &System, path: &str, value: &str) -> Option<Step> {
    let before = setting(system, path).filter(|before| before != value)?;
    let before = Setting::put_back(path, &before).ok()?;
    Some(Step::Setting(Wanted { setting: Setting::new(path, value).ok()?, before: Some(before) }))
}

/// Interrupts of NVMe queues that are not on the CPUs that their driver suggests. Interrupts whose
/// placement the kernel manages cannot be set, and have no suggestion.
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
