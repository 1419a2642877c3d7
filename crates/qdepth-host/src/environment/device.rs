//! One block device: its facts from sysfs, about its link, queues and temperature, and from the
//! device itself.

use qdepth_record::{Observation, Reason};

use super::fact::{fact, file_fact, read, unless_empty};
use super::health;
use crate::placement::node_above;
use crate::sysfs::{self, Link};
use crate::system::System;

/// Attributes that every block device has.
const ATTRIBUTES: [(&str, &str); 20] = [
    ("wwid", "wwid"),
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
    ("write_throttling_us", "queue/wbt_lat_usec"),
    ("completion_affinity", "queue/rq_affinity"),
    ("io_statistics", "queue/iostats"),
    ("zoned", "queue/zoned"),
    ("merges_off", "queue/nomerges"),
    ("polling", "queue/io_poll"),
    ("removable", "removable"),
    ("read_only", "ro"),
];

/// Attributes of a loop device.
const LOOP: [(&str, &str); 2] =
    [("backing_file", "loop/backing_file"), ("backing_direct_io", "loop/dio")];

/// Attributes with several possible paths; the first readable one is used.
const ATTRIBUTE_PATHS: [(&str, &[&str]); 4] = [
    ("model", &["device/model"]),
    ("vendor", &["device/vendor"]),
    ("serial", &["device/serial", "serial"]),
    ("firmware", &["device/firmware_rev", "device/rev"]),
];

/// Facts of one block device, by its kernel name.
pub fn device_facts(system: &System, name: &str) -> Vec<Observation> {
    let whole = sysfs::whole_of(system, name).unwrap_or_else(|| name.to_owned());
    let own = format!("/sys/class/block/{name}");
    let disk = format!("/sys/class/block/{whole}");
    let mut facts = vec![sectors(system, name, &format!("{own}/size"))];
    for (key, files) in ATTRIBUTE_PATHS {
        let readable =
            files.iter().find(|file| system.read_trimmed(format!("{disk}/{file}")).is_some());
        let file = readable.unwrap_or(&files[0]);
        facts.push(file_fact(system, name, key, &format!("{disk}/{file}")));
    }
    let backed: &[_] = if whole.starts_with("loop") { &LOOP } else { &[] };
    let attributes = ATTRIBUTES.iter().chain(backed);
    facts.extend(
        attributes.map(|(key, file)| file_fact(system, name, key, &format!("{disk}/{file}"))),
    );
    facts.extend(links(system, name, &disk));
    let below = sysfs::slaves_of(system, name).join(" ");
    if !below.is_empty() {
        facts.push(fact(name, "built_on", Ok(below), &format!("{own}/slaves")));
    }
    if system.exists(format!("{disk}/device")) {
        facts.push(drivers(system, name, &whole));
        facts.push(numa_node(system, name, &whole));
        facts.extend(queues(system, name, &whole));
        facts.extend(heat(system, name, &whole));
        facts.extend(health::facts(system, name, &whole));
    }
    facts
}

/// Current speed of the link, and its maximum.
fn links(system: &System, name: &str, disk: &str) -> Vec<Observation> {
    let (running, possible) = (sysfs::link_of(system, name), sysfs::link_possible(system, name));
    let described = |link: &Option<Link>| {
        link.as_ref().map(|link| link.description.clone()).ok_or(Reason::NoLink {})
    };
    let limit = |link: &Option<Link>| {
        link.as_ref().map(|l| format!("{:.0}", l.practical_bytes_per_s)).ok_or(Reason::NoLink {})
    };
    vec![
        fact(name, "link", described(&running), disk),
        fact(name, "link_limit_bytes_per_s", limit(&running), disk),
        fact(name, "link_possible", described(&possible), disk),
    ]
}

/// Drivers on the path to the device, its own first, for example `sd, mpt3sas`.
fn drivers(system: &System, name: &str, whole: &str) -> Observation {
    let source = format!("/sys/class/block/{whole}/device");
    let mut names: Vec<String> = Vec::new();
    let real_path = system.canonical(&source);
    for folder in real_path.iter().flat_map(|path| path.ancestors()) {
        let driver = system.read_link(folder.join("driver")).ok();
        let driver = driver.and_then(|d| Some(d.file_name()?.to_string_lossy().into_owned()));
        // Bridges on the path only pass data on.
        if let Some(driver) = driver.filter(|d| d != "pcieport" && !names.contains(d)) {
            let version = system.read_trimmed(format!("/sys/module/{driver}/version"));
            names.push(version.map_or(driver.clone(), |version| format!("{driver} {version}")));
        }
    }
    fact(name, "drivers", unless_empty(names.join(", "), Reason::NoDriver {}), &source)
}

fn numa_node(system: &System, name: &str, whole: &str) -> Observation {
    let source = format!("/sys/class/block/{whole}/device");
    let found = match node_above(system, whole).as_deref() {
        None => Err(Reason::NoDeviceNode {}),
        Some("-1") => Err(Reason::DeviceNodeUnset {}),
        Some(node) => Ok(node.to_owned()),
    };
    fact(name, "numa_node", found, &source)
}

/// Number of hardware queues, and the CPUs of each.
fn queues(system: &System, name: &str, whole: &str) -> Vec<Observation> {
    let path = format!("/sys/block/{whole}/mq");
    let mut numbers: Vec<u32> =
        system.list_dir(&path).unwrap_or_default().iter().filter_map(|n| n.parse().ok()).collect();
    numbers.sort_unstable();
    let none = || Reason::NoQueue { path: path.clone() };
    let count = if numbers.is_empty() { Err(none()) } else { Ok(numbers.len().to_string()) };
    let cpus = |queue: &u32| {
        let list = system.read_trimmed(format!("{path}/{queue}/cpu_list")).unwrap_or_default();
        format!("{queue}: {}", list.split_whitespace().collect::<String>())
    };
    let cpus: Vec<String> = numbers.iter().map(cpus).collect();
    let cpus = unless_empty(cpus.join("; "), none());
    vec![fact(name, "queues", count, &path), fact(name, "queue_cpus", cpus, &path)]
}

/// Temperature from the kernel's sensors, which needs no privilege.
fn heat(system: &System, name: &str, whole: &str) -> Vec<Observation> {
    let Some(sensor) = sensor(system, whole) else {
        let source = format!("/sys/class/block/{whole}/device/hwmon");
        return vec![fact(name, "sensor_celsius", Err(Reason::NoSensor {}), &source)];
    };
    let keys = [
        ("sensor_celsius", "temp1_input"),
        ("sensor_warning_celsius", "temp1_max"),
        ("sensor_critical_celsius", "temp1_crit"),
    ];
    let observation = |(key, file): (&str, &str)| {
        let path = format!("{sensor}/{file}");
        let mut seen = file_fact(system, name, key, &path);
        seen.value = seen.value.and_then(|text| {
            let millis = text.parse::<f64>();
            let celsius = millis.map(|millis| format!("{:.0}", millis / 1e3));
            celsius.map_err(|_| Reason::NotATemperature { text })
        });
        seen
    };
    keys.into_iter().map(observation).collect()
}

/// The folder of a device's temperature sensor.
pub(crate) fn sensor(system: &System, whole: &str) -> Option<String> {
    let mut bases = vec![format!("/sys/class/block/{whole}/device")];
    bases.extend(
        sysfs::nvme_controllers(system, whole).iter().map(|c| format!("/sys/class/nvme/{c}")),
    );
    for base in bases {
        for parent in [base.clone(), format!("{base}/hwmon")] {
            let names = system.list_dir(&parent).unwrap_or_default();
            let found = names.iter().map(|n| format!("{parent}/{n}")).find(|folder| {
                folder.contains("/hwmon") && system.exists(format!("{folder}/temp1_input"))
            });
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

fn sectors(system: &System, subject: &str, path: &str) -> Observation {
    let value = read(system, path).and_then(|text| {
        let sectors: Option<u64> = text.trim().parse().ok();
        let bytes = sectors.and_then(|n| n.checked_mul(sysfs::SECTOR_BYTES));
        let no_size = || Reason::NotASize { text: text.trim().to_owned() };
        bytes.map(|n| n.to_string()).ok_or_else(no_size)
    });
    fact(subject, "size_bytes", value, path)
}
