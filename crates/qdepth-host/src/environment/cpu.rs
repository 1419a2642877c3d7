//! CPUs: model, topology, frequency and idle states.

use std::collections::{BTreeMap, BTreeSet};

use qdepth_record::{Observation, Reason};

use super::fact::{fact, file_fact, read, unless_empty};
use super::unknown::unreadable;
use crate::system::System;

/// Directory of CPUs.
const BASE: &str = "/sys/devices/system/cpu";

/// Arm implementers and parts (`MIDR_EL1`) of servers, as numbered in /proc/cpuinfo; the kernel
/// prints no model name for them.
const ARM_PARTS: [(&str, &str, &str); 8] = [
    ("0x41", "0xd08", "Arm Cortex-A72"),
    ("0x41", "0xd0c", "Arm Neoverse N1"),
    ("0x41", "0xd40", "Arm Neoverse V1"),
    ("0x41", "0xd49", "Arm Neoverse N2"),
    ("0x41", "0xd4f", "Arm Neoverse V2"),
    ("0x43", "0x0af", "Cavium ThunderX2"),
    ("0x48", "0xd01", "HiSilicon Kunpeng 920"),
    ("0xc0", "0xac3", "Ampere-1"),
];

pub(super) fn cpu(system: &System) -> Vec<Observation> {
    let mut facts = identity(system);
    for (key, file) in [
        ("online", "online"),
        ("smt_active", "smt/active"),
        ("no_turbo", "intel_pstate/no_turbo"),
        ("boost", "cpufreq/boost"),
        ("idle_driver", "cpuidle/current_driver"),
    ] {
        facts.push(file_fact(system, "cpu", key, &format!("{BASE}/{file}")));
    }
    for (key, file) in [
        ("governor", "cpufreq/scaling_governor"),
        ("energy_preference", "cpufreq/energy_performance_preference"),
        ("frequency_driver", "cpufreq/scaling_driver"),
        ("frequency_now_khz", "cpufreq/scaling_cur_freq"),
        ("frequency_min_khz", "cpufreq/cpuinfo_min_freq"),
        ("frequency_max_khz", "cpufreq/cpuinfo_max_freq"),
    ] {
        facts.push(of_all(system, key, file));
    }
    facts.push(idle_states(system));
    facts
}

/// Numbers of the existing CPUs.
pub fn numbers(system: &System) -> Vec<u32> {
    let names = system.list_dir(BASE).unwrap_or_default();
    let mut numbers: Vec<u32> =
        names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn identity(system: &System) -> Vec<Observation> {
    let path = "/proc/cpuinfo";
    let text = read(system, path);
    let values = |key: &str| -> Vec<String> {
        let lines = text.as_deref().unwrap_or_default().lines();
        let pairs = lines.filter_map(|line| line.split_once(':'));
        pairs.filter(|(name, _)| name.trim() == key).map(|(_, v)| v.trim().to_owned()).collect()
    };
    let because = |key: &str| match &text {
        Ok(_) => Reason::NoEntry { path: path.to_owned(), name: key.to_owned() },
        Err(unread) => unread.clone(),
    };
    let first = |key: &str| values(key).into_iter().next();
    let arm = || {
        let (by, part) = (first("CPU implementer")?, first("CPU part")?);
        let known = ARM_PARTS.iter().find(|(i, p, _)| *i == by && *p == part);
        Some(
            known.map_or_else(|| format!("Arm, implementer {by}, part {part}"), |k| k.2.to_owned()),
        )
    };
    let model = first("model name").or_else(arm).ok_or_else(|| because("model name"));
    let microcode = first("microcode").ok_or_else(|| because("microcode"));
    let threads = values("processor").len();
    let threads = if threads > 0 { Ok(threads.to_string()) } else { Err(because("processor")) };
    let [sockets, cores] = topology(system);
    vec![
        fact("cpu", "model", model, path),
        fact("cpu", "microcode", microcode, path),
        sockets,
        cores,
        fact("cpu", "threads", threads, path),
    ]
}

/// Numbers of sockets and cores: distinct packages, and distinct cores within them.
fn topology(system: &System) -> [Observation; 2] {
    let at = |cpu: u32, key: &str| system.read_trimmed(format!("{BASE}/cpu{cpu}/topology/{key}"));
    let mut packages = BTreeSet::new();
    let mut cores = BTreeSet::new();
    for cpu in numbers(system) {
        let Some(package) = at(cpu, "physical_package_id") else { continue };
        // Core numbers repeat in each cluster of some Arm servers; sibling lists do not.
        let core = at(cpu, "thread_siblings_list").or_else(|| at(cpu, "core_id"));
        cores.extend(core.map(|core| (package.clone(), core)));
        packages.insert(package);
    }
    let count = |key: &str, file: &str, n: usize| {
        let source = format!("{BASE}/cpu*/topology/{file}");
        let value = if n > 0 { Ok(n.to_string()) } else { Err(Reason::NoCpuShowsIt {}) };
        fact("cpu", key, value, &source)
    };
    [
        count("sockets", "physical_package_id", packages.len()),
        count("cores", "thread_siblings_list", cores.len()),
    ]
}

/// An attribute of all CPUs: a single value if they agree, else each value with its number of CPUs.
fn of_all(system: &System, key: &str, file: &str) -> Observation {
    let cpus = numbers(system);
    let Some(first) = cpus.first() else {
        return file_fact(system, "cpu", key, &format!("{BASE}/cpu0/{file}"));
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cpu in &cpus {
        if let Some(value) = system.read_trimmed(format!("{BASE}/cpu{cpu}/{file}")) {
            *counts.entry(value).or_default() += 1;
        }
    }
    let source = format!("{BASE}/cpu*/{file}");
    // Frequencies differ between CPUs and change all the time, so their range is given.
    let numbers: Option<Vec<u64>> = counts.keys().map(|value| value.parse().ok()).collect();
    let range = numbers.as_ref().and_then(|n| n.iter().min().zip(n.iter().max()));
    let value = match (counts.len(), range) {
        (0, _) => return file_fact(system, "cpu", key, &format!("{BASE}/cpu{first}/{file}")),
        (1, _) => counts.into_keys().next().unwrap_or_default(),
        (_, Some((low, high))) => format!("{low}–{high}"),
        (_, None) => {
            let each = counts.iter().map(|(value, n)| format!("{n} × {value}"));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    fact("cpu", key, Ok(value), &source)
}

/// Idle states of the first CPU with their exit latencies, for example `C1 2 µs, C6 133 µs (off)`.
fn idle_states(system: &System) -> Observation {
    let path = format!("{BASE}/cpu0/cpuidle");
    let names = system.list_dir(&path).map_err(|error| unreadable(&path, &error));
    let states = names.and_then(|names| {
        let at = |state: &String, key: &str| system.read_trimmed(format!("{path}/{state}/{key}"));
        let state = |state: &String| {
            let (name, latency) = (at(state, "name")?, at(state, "latency")?);
            let off = if at(state, "disable").as_deref() == Some("1") { " (off)" } else { "" };
            Some(format!("{name} {latency} µs{off}"))
        };
        let states: Vec<String> = names.iter().filter_map(state).collect();
        unless_empty(states.join(", "), Reason::NoIdleState {})
    });
    fact("cpu", "idle_states", states, &path)
}
