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
    /// Line rate without line coding, bytes per second.
    pub bytes_per_s: f64,
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
    pcie(|key| {
        let key = format!("{which}_link_{key}");
        functions.iter().find_map(|folder| system.read_trimmed(format!("{folder}/{key}")))
    })
}

/// PCIe link with the `speed` and `width` that sysfs states.
fn pcie(at: impl Fn(&str) -> Option<String>) -> Option<Link> {
    let speed = at("speed")?;
    let gigatransfers: f64 = speed.split_whitespace().next()?.parse().ok()?;
    let lanes: f64 = at("width")?.parse().ok().filter(|lanes| *lanes > 0.0)?;
    let coding = if gigatransfers < 6.0 { 0.8 } else { 128.0 / 130.0 };
    let generation = match gigatransfers as u32 {
        0..=3 => "1.0",
        4..=6 => "2.0",
        7..=9 => "3.0",
        10..=17 => "4.0",
        18..=40 => "5.0",
        _ => "6.0 or later",
    };
    let bytes_per_s = gigatransfers * 1e9 / 8.0 * coding * lanes;
    Some(Link {
        description: format!("PCIe {generation} x{lanes}"),
        practical_bytes_per_s: bytes_per_s * 0.9,
        bytes_per_s,
    })
}

/// PCIe functions from the root port to a drive, by address, each with its link: that of a bridge
/// leads down, that of a switch's upper port and of the drive up. Empty for other drives.
pub fn pcie_path(system: &System, name: &str) -> Vec<(String, Link)> {
    let whole = whole_of(system, name).unwrap_or_else(|| name.to_owned());
    // The parent of a multipath namespace is not a PCIe function.
    let controllers = nvme_controllers(system, &whole);
    let through = controllers.first().map(|name| format!("/sys/class/nvme/{name}/device"));
    let above = [Some(format!("/sys/class/block/{whole}/device")), through];
    let path = |folder: String| {
        let real = system.canonical(folder)?;
        let mut found: Vec<(String, Link)> = Vec::new();
        for folder in real.ancestors() {
            let Some(address) = folder.file_name().and_then(|name| name.to_str()) else { continue };
            let link = is_pci_address(address).then(|| {
                pcie(|key| system.read_trimmed(folder.join(format!("current_link_{key}"))))
            });
            found.extend(link.flatten().map(|link| (address.to_owned(), link)));
        }
        found.reverse();
        (!found.is_empty()).then_some(found)
    };
    above.into_iter().flatten().find_map(path).unwrap_or_default()
}

/// True for an address such as `0000:41:00.0`; the domains of some controllers have five digits.
fn is_pci_address(name: &str) -> bool {
    let Some((device, function)) = name.split_once('.') else { return false };
    let parts: Vec<&str> = device.split(':').chain([function]).collect();
    let is_hex = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
    parts.len() == 4 && parts.iter().all(is_hex)
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
        bytes_per_s: gigabits * 1e9 / 10.0,
    })
}

fn is_numbered(part: &str, prefix: &str) -> bool {
    part.strip_prefix(prefix)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    const GEN4: &str = "16.0 GT/s PCIe";

    /// Drives below switches: the root port's width, and the number of drives of each.
    fn machine(switches: &[(&str, u32)]) -> FakeMachine {
        let (mut machine, mut number) = (FakeMachine::new(), 0);
        for (switch, (width, count)) in switches.iter().enumerate() {
            let bus = |bus: u32| format!("{:04x}:{bus:02x}", switch * 0x1000);
            let (root, up) = (format!("{}:01.1", bus(0x40)), format!("{}:00.0", bus(0x41)));
            for slot in 0..*count {
                let down = format!("{}:{slot:02x}.0", bus(0x42));
                let own = format!("{}:00.0", bus(0x43 + slot));
                let path = [(&root, *width), (&up, *width), (&down, "4"), (&own, "4")];
                let path = path.map(|(address, width)| (address.as_str(), GEN4, width));
                machine = machine.pcie(&format!("nvme{number}n1"), &format!("259:{number}"), &path);
                number += 1;
            }
        }
        machine
    }

    #[test]
    fn pcie_path_leads_from_root_port_to_drive() {
        for (switches, drives) in
            [(vec![("16", 8); 3], 24), (vec![("16", 8); 4], 32), (vec![("8", 6); 2], 12)]
        {
            let machine = machine(&switches);
            let path = |drive: u32| pcie_path(&machine.system, &format!("nvme{drive}n1"));
            let roots: std::collections::BTreeSet<String> =
                (0..drives).map(|drive| path(drive)[0].0.clone()).collect();
            assert_eq!(roots.len(), switches.len());
            let links: Vec<String> =
                path(drives - 1).into_iter().map(|(_, link)| link.description).collect();
            let uplink = format!("PCIe 4.0 x{}", switches[0].0);
            assert_eq!(links, [&*uplink, &*uplink, "PCIe 4.0 x4", "PCIe 4.0 x4"]);
            assert!((path(0)[3].1.bytes_per_s - 7.877e9).abs() < 1e6);
        }
        let other = FakeMachine::new().disk("vda", "254:0");
        assert!(pcie_path(&other.system, "vda").is_empty());
    }

    #[test]
    fn pci_address_differs_from_other_names() {
        assert!(["0000:41:00.0", "10000:e1:00.0"].iter().all(|name| is_pci_address(name)));
        let others = ["pci0000:40", "nvme0", "0000:41:00", "target0:0:0", "1:2:3.", "a.b.c.d"];
        assert!(!others.iter().any(|name| is_pci_address(name)));
    }
}
