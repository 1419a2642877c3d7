//! What machine and what storage this is, as observations with their sources. A fact that cannot be
//! read is kept, with the reason.

use std::collections::BTreeSet;

use qdepth_logbook::record::Observation;

use crate::sysfs;
use crate::system::System;
use crate::target::{FileSystem, Inspected, Kind};

/// What this machine is: CPU, memory, kernel, system, hypervisor, clock.
pub fn observe(system: &System) -> Vec<Observation> {
    let mut facts = cpu(system);
    facts.extend(memory(system));
    facts.extend(software(system));
    facts
}

/// What is known of a target and of the storage below it.
pub fn target_facts(system: &System, target: &Inspected) -> Vec<Observation> {
    let mut facts = Vec::new();
    match &target.kind {
        Kind::BlockDevice(_) => {}
        Kind::RegularFile { file_system, .. } | Kind::Directory(file_system) => {
            facts.extend(file_system_facts(file_system));
        }
    }
    for name in target.devices() {
        facts.extend(device_facts(system, &name));
    }
    facts
}

/// What sysfs says of one block device, by the kernel's name.
pub fn device_facts(system: &System, name: &str) -> Vec<Observation> {
    let whole = sysfs::whole_of(system, name).unwrap_or_else(|| name.to_owned());
    let own = format!("/sys/class/block/{name}");
    let disk = format!("/sys/class/block/{whole}");
    let mut facts = vec![sectors(system, name, &format!("{own}/size"))];
    let attributes = [
        ("model", "device/model"),
        ("serial", "device/serial"),
        ("wwid", "wwid"),
        ("firmware", "device/firmware_rev"),
        ("diskseq", "diskseq"),
        ("rotational", "queue/rotational"),
        ("scheduler", "queue/scheduler"),
        ("write_cache", "queue/write_cache"),
        ("logical_block_bytes", "queue/logical_block_size"),
        ("physical_block_bytes", "queue/physical_block_size"),
        ("optimal_io_bytes", "queue/optimal_io_size"),
        ("max_request_kib", "queue/max_sectors_kb"),
        ("queue_requests", "queue/nr_requests"),
        ("read_ahead_kib", "queue/read_ahead_kb"),
        ("discard_max_bytes", "queue/discard_max_bytes"),
        ("zoned", "queue/zoned"),
        ("merges_off", "queue/nomerges"),
        ("polling", "queue/io_poll"),
        ("removable", "removable"),
        ("backing_file", "loop/backing_file"),
        ("backing_direct_io", "loop/dio"),
    ];
    facts.extend(
        attributes
            .iter()
            .map(|(key, file)| file_fact(system, name, key, &format!("{disk}/{file}"))),
    );
    let link = sysfs::link_of(system, name);
    let no_link = || "no PCIe, SATA or SAS link is shown for it".to_owned();
    let described = link.as_ref().map(|link| link.description.clone());
    facts.push(fact(name, "link", described.ok_or_else(no_link), &disk));
    let limit = link.map(|link| format!("{:.0}", link.practical_bytes_per_s));
    facts.push(fact(name, "link_limit_bytes_per_s", limit.ok_or_else(no_link), &disk));
    let below = sysfs::slaves_of(system, name).join(" ");
    if !below.is_empty() {
        facts.push(fact(name, "built_on", Ok(below), &format!("{own}/slaves")));
    }
    facts
}

fn file_system_facts(found: &FileSystem) -> Vec<Observation> {
    let source = "/proc/self/mountinfo";
    let mount = found.mount_point.display().to_string();
    let one = |key: &str, value: &str| {
        let value = (!value.is_empty()).then(|| value.to_owned());
        fact("file_system", key, value.ok_or_else(|| "the mount was not found".to_owned()), source)
    };
    let below = found.devices.join(" ");
    let devices = if below.is_empty() {
        Err("no block device is shown below it".to_owned())
    } else {
        Ok(below)
    };
    vec![
        one("type", &found.kind),
        one("mount_point", &mount),
        one("source", &found.source),
        one("options", &found.options),
        fact("file_system", "devices", devices, source),
    ]
}

fn cpu(system: &System) -> Vec<Observation> {
    let path = "/proc/cpuinfo";
    let text = system.read_file(path).map_err(|error| error.to_string());
    let values = |key: &str| -> Vec<String> {
        let lines = text.as_deref().unwrap_or_default().lines();
        let pairs = lines.filter_map(|line| line.split_once(':'));
        pairs.filter(|(name, _)| name.trim() == key).map(|(_, v)| v.trim().to_owned()).collect()
    };
    let because = |key: &str| match &text {
        Ok(_) => format!("{path} has no `{key}`"),
        Err(error) => error.clone(),
    };
    let model = values("model name").into_iter().next();
    let packages = values("physical id");
    let sockets: BTreeSet<&String> = packages.iter().collect();
    let core_ids = values("core id");
    let cores: BTreeSet<(&String, &String)> = packages.iter().zip(&core_ids).collect();
    let count = |n: usize, key: &str| if n > 0 { Ok(n.to_string()) } else { Err(because(key)) };
    let mut facts = vec![
        fact("cpu", "model", model.ok_or_else(|| because("model name")), path),
        fact("cpu", "sockets", count(sockets.len(), "physical id"), path),
        fact("cpu", "cores", count(cores.len(), "core id"), path),
        fact("cpu", "threads", count(values("processor").len(), "processor"), path),
    ];
    let base = "/sys/devices/system/cpu";
    for (key, file) in [
        ("online", "online"),
        ("smt_active", "smt/active"),
        ("governor", "cpu0/cpufreq/scaling_governor"),
        ("frequency_driver", "cpu0/cpufreq/scaling_driver"),
        ("frequency_now_khz", "cpu0/cpufreq/scaling_cur_freq"),
        ("frequency_max_khz", "cpu0/cpufreq/cpuinfo_max_freq"),
        ("no_turbo", "intel_pstate/no_turbo"),
        ("boost", "cpufreq/boost"),
        ("idle_driver", "cpuidle/current_driver"),
    ] {
        facts.push(file_fact(system, "cpu", key, &format!("{base}/{file}")));
    }
    facts
}

fn memory(system: &System) -> Vec<Observation> {
    let path = "/proc/meminfo";
    let text = system.read_file(path).map_err(|error| error.to_string());
    let value = |key: &str| -> Result<String, String> {
        let missing = || format!("{path} has no `{key}`");
        let mut lines = text.as_deref().map_err(|error| error.to_string())?.lines();
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
    ]
}

fn software(system: &System) -> Vec<Observation> {
    let mut facts = Vec::new();
    for (subject, key, path) in [
        ("host", "name", "/proc/sys/kernel/hostname"),
        ("host", "vendor", "/sys/class/dmi/id/sys_vendor"),
        ("host", "product", "/sys/class/dmi/id/product_name"),
        ("kernel", "release", "/proc/sys/kernel/osrelease"),
        ("kernel", "version", "/proc/sys/kernel/version"),
        ("kernel", "command_line", "/proc/cmdline"),
        (
            "kernel",
            "clock_source",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        ("kernel", "io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"),
        ("kernel", "aio_max_requests", "/proc/sys/fs/aio-max-nr"),
        ("kernel", "dirty_ratio", "/proc/sys/vm/dirty_ratio"),
    ] {
        facts.push(file_fact(system, subject, key, path));
    }
    facts.push(os_name(system));
    facts.push(hypervisor(system));
    facts
}

fn os_name(system: &System) -> Observation {
    let path = "/etc/os-release";
    let value = system.read_file(path).map_err(|error| error.to_string()).and_then(|text| {
        let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        name.map(|name| name.trim_matches('"').to_owned())
            .ok_or_else(|| format!("{path} has no PRETTY_NAME"))
    });
    fact("host", "os", value, path)
}

/// Hints, strongest first; a machine may hide all of them.
fn hypervisor(system: &System) -> Observation {
    if let Some(kind) = system.read_trimmed("/sys/hypervisor/type") {
        return fact("host", "hypervisor", Ok(kind), "/sys/hypervisor/type");
    }
    let path = "/sys/class/dmi/id/sys_vendor";
    let vendors =
        ["QEMU", "VMware", "Microsoft", "Xen", "innotek", "Amazon", "Google", "OpenStack"];
    if let Some(vendor) =
        system.read_trimmed(path).filter(|v| vendors.iter().any(|k| v.contains(k)))
    {
        return fact("host", "hypervisor", Ok(vendor), path);
    }
    let path = "/proc/cpuinfo";
    let value = match system.read_file(path) {
        Err(error) => Err(error.to_string()),
        Ok(text) => {
            let flags = text.lines().find(|line| line.starts_with("flags"));
            if flags.is_some_and(|line| line.split_whitespace().any(|f| f == "hypervisor")) {
                Ok("yes, of unknown kind".to_owned())
            } else {
                Err("no hint of one; the machine may hide it".to_owned())
            }
        }
    };
    fact("host", "hypervisor", value, path)
}

fn sectors(system: &System, subject: &str, path: &str) -> Observation {
    let value = system.read_file(path).map_err(|error| error.to_string()).and_then(|text| {
        let sectors: Option<u64> = text.trim().parse().ok();
        let bytes = sectors.and_then(|n| n.checked_mul(sysfs::SECTOR_BYTES));
        bytes.map(|n| n.to_string()).ok_or_else(|| format!("`{}` is no size", text.trim()))
    });
    fact(subject, "size_bytes", value, path)
}

fn file_fact(system: &System, subject: &str, key: &str, path: &str) -> Observation {
    let value = system.read_file(path).map_err(|error| error.to_string()).and_then(|text| {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
        if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(text) }
    });
    fact(subject, key, value, path)
}

fn fact(subject: &str, key: &str, value: Result<String, String>, source: &str) -> Observation {
    Observation {
        subject: subject.to_owned(),
        key: key.to_owned(),
        value,
        source: source.to_owned(),
    }
}
