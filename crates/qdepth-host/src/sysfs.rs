//! The kernel's view of block devices: names, partitions, holders, slaves, links.

use crate::system::System;

pub use crate::device_number::{DeviceNumber, ParseDeviceNumberError};

/// Size of the kernel's sectors, independent of the block size of a device.
pub const SECTOR_BYTES: u64 = 512;

/// The kernel's name (`sda1`, `nvme0n1`) of a block device; `None` if sysfs does not know it.
pub fn kernel_name(system: &System, number: DeviceNumber) -> Option<String> {
    let link = system.read_link(format!("/sys/dev/block/{number}")).ok()?;
    Some(link.file_name()?.to_str()?.to_owned())
}

/// The number of a block device by the kernel's name.
pub fn number_of(system: &System, name: &str) -> Option<DeviceNumber> {
    system.read_trimmed(format!("/sys/class/block/{name}/dev"))?.parse().ok()
}

/// The whole disk of a partition; `None` if `name` is not a partition.
pub fn whole_of(system: &System, name: &str) -> Option<String> {
    if !system.exists(format!("/sys/class/block/{name}/partition")) {
        return None;
    }
    let link = system.read_link(format!("/sys/class/block/{name}")).ok()?;
    Some(link.parent()?.file_name()?.to_str()?.to_owned())
}

/// Partitions of a disk, by kernel name.
pub fn partitions_of(system: &System, name: &str) -> Vec<String> {
    let names = system.list_dir(format!("/sys/class/block/{name}")).unwrap_or_default();
    names
        .into_iter()
        .filter(|child| system.exists(format!("/sys/class/block/{name}/{child}/partition")))
        .collect()
}

/// Devices built on this device: volumes, arrays, caches.
pub fn holders_of(system: &System, name: &str) -> Vec<String> {
    system.list_dir(format!("/sys/class/block/{name}/holders")).unwrap_or_default()
}

/// Devices that this device is built on.
pub fn slaves_of(system: &System, name: &str) -> Vec<String> {
    system.list_dir(format!("/sys/class/block/{name}/slaves")).unwrap_or_default()
}

/// True for the device of an MD array that does not exist. The kernel creates such a device for
/// every program that opens the name, and removes it some time after an array was stopped.
pub(crate) fn is_without_array(system: &System, name: &str) -> bool {
    let state = system.read_trimmed(format!("/sys/block/{name}/md/array_state"));
    state.as_deref() == Some("clear")
}

/// All devices that share blocks with `name`: itself, its partitions, and its whole disk.
pub fn overlapping(system: &System, name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    names.extend(partitions_of(system, name));
    names.extend(whole_of(system, name));
    names
}

/// All whole block devices that can be opened. The kernel hides the single paths of a multipath
/// NVMe namespace.
pub fn whole_devices(system: &System) -> Vec<String> {
    let hidden = |name: &String| {
        system.read_trimmed(format!("/sys/class/block/{name}/hidden")).as_deref() == Some("1")
    };
    let names = system.list_dir("/sys/block").unwrap_or_default();
    names.into_iter().filter(|name| !hidden(name)).collect()
}

/// An attribute of a device, or of its whole disk if a partition has none of its own (`queue/*`,
/// `diskseq`, `device/*`).
pub fn attribute(system: &System, name: &str, attribute: &str) -> Option<String> {
    let own = |name: &str| system.read_trimmed(format!("/sys/class/block/{name}/{attribute}"));
    own(name).or_else(|| own(&whole_of(system, name)?))
}

/// An attribute of a device that is a number.
pub fn number_attribute(system: &System, name: &str, key: &str) -> Option<u64> {
    attribute(system, name, key)?.parse().ok()
}

/// The kernel's node of a device. In sysfs, `!` replaces the `/` of a name such as cciss/c0d0.
pub(crate) fn node_path(name: &str) -> String {
    format!("/dev/{}", name.replace('!', "/"))
}

/// A length or position of a device itself, which sysfs gives in sectors, in bytes.
pub(crate) fn own_bytes(system: &System, name: &str, key: &str) -> Option<u64> {
    let sectors = system.read_trimmed(format!("/sys/class/block/{name}/{key}"))?;
    sectors.parse::<u64>().ok()?.checked_mul(SECTOR_BYTES)
}

/// Connection of a device, and its maximum throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Description, for example `PCIe 4.0 x4`, `SATA 6.0 Gbit/s`.
    pub description: String,
    /// Practical throughput in bytes per second: the line rate without line coding and about 10 %
    /// (PCIe packets with 256 B of payload) or 4 % (SATA and SAS frames) of protocol overhead.
    pub practical_bytes_per_s: f64,
}

/// The narrowest link on the path to a device at its current speed; `None` for virtual devices.
pub fn link_of(system: &System, name: &str) -> Option<Link> {
    let whole = whole_of(system, name).unwrap_or_else(|| name.to_owned());
    serial_link(system, &whole, ["sata_spd", "negotiated_linkrate"])
        .or_else(|| pcie_link(system, &whole, "current"))
}

/// The same link at the highest speed that the device supports.
pub fn link_possible(system: &System, name: &str) -> Option<Link> {
    let whole = whole_of(system, name).unwrap_or_else(|| name.to_owned());
    serial_link(system, &whole, ["hw_sata_spd_limit", "maximum_linkrate"])
        .or_else(|| pcie_link(system, &whole, "max"))
}

/// Controllers that lead to an NVMe namespace; empty for any other device.
pub fn nvme_controllers(system: &System, whole: &str) -> Vec<String> {
    if !whole.starts_with("nvme") {
        return Vec::new();
    }
    let parent = format!("/sys/class/block/{whole}/device");
    let real_path = system.canonical(&parent);
    let name = real_path.and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
    match name {
        Some(name) if is_numbered(&name, "nvme") => vec![name],
        // With multipath, the kernel lists the paths to a namespace below the subsystem.
        Some(_) => {
            let names = system.list_dir(&parent).unwrap_or_default();
            names.into_iter().filter(|name| is_numbered(name, "nvme")).collect()
        }
        None => Vec::new(),
    }
}

fn pcie_link(system: &System, whole: &str, which: &str) -> Option<Link> {
    let base = format!("/sys/class/block/{whole}/device");
    // The parent of an NVMe namespace is the controller, whose parent is the PCI function.
    let mut functions: Vec<String> =
        ["device", "", "../.."].iter().map(|up| format!("{base}/{up}")).collect();
    let controllers = nvme_controllers(system, whole);
    functions.extend(controllers.first().map(|name| format!("/sys/class/nvme/{name}/device")));
    let at = |key: &str| {
        let key = format!("{which}_link_{key}");
        functions.iter().find_map(|folder| system.read_trimmed(format!("{folder}/{key}")))
    };
    let speed = at("speed")?;
    let gigatransfers: f64 = speed.split_whitespace().next()?.parse().ok()?;
    let lanes: f64 = at("width")?.parse().ok()?;
    let coding = if gigatransfers < 6.0 { 0.8 } else { 128.0 / 130.0 };
    let generation = match gigatransfers as u32 {
        0..=3 => "1.0",
        4..=6 => "2.0",
        7..=9 => "3.0",
        10..=17 => "4.0",
        18..=40 => "5.0",
        _ => "6.0 or later",
    };
    Some(Link {
        description: format!("PCIe {generation} x{lanes}"),
        practical_bytes_per_s: gigatransfers * 1e9 / 8.0 * coding * lanes * 0.9,
    })
}

fn serial_link(system: &System, whole: &str, [sata, sas]: [&str; 2]) -> Option<Link> {
    let real = system.canonical(format!("/sys/class/block/{whole}"))?;
    let names: Vec<String> = real.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let ata = names.iter().find(|part| is_numbered(part, "ata"));
    let (kind, text) = if let Some(port) = ata {
        let number = port.trim_start_matches("ata");
        ("SATA", system.read_trimmed(format!("/sys/class/ata_link/link{number}/{sata}"))?)
    } else {
        let end = names.iter().find(|part| part.starts_with("end_device-"))?;
        let phy = format!("phy-{}", end.trim_start_matches("end_device-"));
        ("SAS", system.read_trimmed(format!("/sys/class/sas_phy/{phy}/{sas}"))?)
    };
    let gigabits: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(Link {
        description: format!("{kind} {text}"),
        practical_bytes_per_s: gigabits * 1e9 / 10.0 * 0.96,
    })
}

fn is_numbered(part: &str, prefix: &str) -> bool {
    part.strip_prefix(prefix)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
