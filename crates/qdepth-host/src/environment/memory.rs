//! Memory: size, modules, and NUMA nodes.

use qdepth_record::{Observation, Reason};

use super::fact::{UNKNOWN, fact, file_fact, read, unless_empty};
use super::unknown::{printed, unreadable};
use crate::system::System;

pub(super) fn memory(system: &System) -> Vec<Observation> {
    let mut facts = amounts(system);
    let huge = "/sys/kernel/mm/transparent_hugepage/enabled";
    facts.push(file_fact(system, "memory", "transparent_huge_pages", huge));
    facts.push(nodes(system));
    facts.push(modules(system));
    facts
}

fn amounts(system: &System) -> Vec<Observation> {
    let path = "/proc/meminfo";
    let text = read(system, path);
    let value = |key: &str| -> Result<String, Reason> {
        let missing = || Reason::NoEntry { path: path.to_owned(), name: key.to_owned() };
        let mut lines = text.as_deref().map_err(Reason::clone)?.lines();
        let line = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let kib: u64 = line
            .and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok())
            .ok_or_else(missing)?;
        kib.checked_mul(1024).map(|bytes| bytes.to_string()).ok_or_else(missing)
    };
    vec![
        fact("memory", "total_bytes", value("MemTotal"), path),
        fact("memory", "available_bytes", value("MemAvailable"), path),
        fact("memory", "swap_total_bytes", value("SwapTotal"), path),
        fact("memory", "huge_page_size_bytes", value("Hugepagesize"), path),
    ]
}

/// NUMA nodes, for example `2: node0 32 GB, node1 32 GB`.
fn nodes(system: &System) -> Observation {
    let base = "/sys/devices/system/node";
    let found = system.list_dir(base).map_err(|error| unreadable(base, &error)).map(|names| {
        let numbered = |name: &String| {
            name.strip_prefix("node").is_some_and(|rest| rest.parse::<u32>().is_ok())
        };
        let node = |name: &String| {
            let text = system.read_file(format!("{base}/{name}/meminfo")).unwrap_or_default();
            let line = text.lines().find(|line| line.contains("MemTotal:"));
            let kib = line.and_then(|line| line.split_whitespace().nth(3)).unwrap_or(UNKNOWN);
            let cpus = system.read_trimmed(format!("{base}/{name}/cpulist"));
            format!("{name}: {kib} KiB, CPUs {}", cpus.as_deref().unwrap_or("–"))
        };
        names.iter().filter(|name| numbered(name)).map(node).collect::<Vec<_>>().join("; ")
    });
    let none = || Reason::NoNumaNode { path: base.to_owned() };
    let found = found.and_then(|nodes| unless_empty(nodes, none()));
    fact("memory", "numa_nodes", found, base)
}

/// Memory modules, equal ones combined, for example `8 × 32 GB DDR4 3200 MT/s` (SMBIOS type 17).
fn modules(system: &System) -> Observation {
    let command = "dmidecode -t memory";
    let found = printed(system, "dmidecode", &["-t", "memory"]).map(|text| alike(&text));
    let found = found.and_then(|kinds| unless_empty(kinds, Reason::NoMemoryModule {}));
    fact("memory", "modules", found, command)
}

fn alike(text: &str) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for device in text.split("Memory Device\n").skip(1) {
        let value = |key: &str| {
            let lines = device.lines().take_while(|line| !line.trim().is_empty());
            let mut pairs = lines.filter_map(|line| line.split_once(':'));
            let found = pairs.find(|(name, _)| name.trim() == key).map(|(_, v)| v.trim());
            found.filter(|value| !value.starts_with("Unknown") && !value.starts_with("No Module"))
        };
        let Some(size) = value("Size") else { continue };
        let speed = value("Configured Memory Speed").or(value("Speed"));
        let words = [Some(size), value("Type"), speed];
        let kind = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    kinds.iter().map(|(kind, n)| format!("{n} × {kind}")).collect::<Vec<_>>().join(", ")
}
