//! The machine as a product, and the software on it.

use qdepth_record::{Observation, Reason};

use super::fact::{fact, file_fact, read};
use crate::system::System;

pub(super) fn software(system: &System) -> Vec<Observation> {
    let mut facts = Vec::new();
    for (subject, key, path) in [
        ("host", "name", "/proc/sys/kernel/hostname"),
        ("host", "vendor", "/sys/class/dmi/id/sys_vendor"),
        ("host", "product", "/sys/class/dmi/id/product_name"),
        ("host", "board", "/sys/class/dmi/id/board_name"),
        ("host", "bios_vendor", "/sys/class/dmi/id/bios_vendor"),
        ("host", "bios_version", "/sys/class/dmi/id/bios_version"),
        ("host", "bios_date", "/sys/class/dmi/id/bios_date"),
        ("host", "device_tree_model", "/sys/firmware/devicetree/base/model"),
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
    facts.push(container(system));
    facts
}

/// Traces of container managers (systemd's virt.c, container_of, uses the same ones).
fn container(system: &System) -> Observation {
    for (path, kind) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if system.exists(path) {
            return fact("host", "container", Ok(kind.to_owned()), path);
        }
    }
    let path = "/proc/1/environ";
    let environment = system.read_file(path).unwrap_or_default();
    let named = environment.split('\0').find_map(|entry| entry.strip_prefix("container="));
    let found = named.map(str::to_owned).ok_or(Reason::NoContainer {});
    fact("host", "container", found, path)
}

fn os_name(system: &System) -> Observation {
    let path = "/etc/os-release";
    let missing = || Reason::NoEntry { path: path.to_owned(), name: "PRETTY_NAME".to_owned() };
    let value = read(system, path).and_then(|text| {
        let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        name.map(|name| name.trim_matches('"').to_owned()).ok_or_else(missing)
    });
    fact("host", "os", value, path)
}

/// Traces of a hypervisor, the most reliable first. A machine may hide all of them.
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
    let value = read(system, path).and_then(|text| {
        let flags = text.lines().find(|line| line.starts_with("flags"));
        if flags.is_some_and(|line| line.split_whitespace().any(|f| f == "hypervisor")) {
            Ok("of-unknown-kind".to_owned())
        } else {
            Err(Reason::NoHypervisor {})
        }
    });
    fact("host", "hypervisor", value, path)
}
