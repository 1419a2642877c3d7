//! G3 to G6 and G12: nothing on this machine uses the target. All by device number and inode,
//! without opening it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::loop_device::LoopHolds;
use crate::mounts;
use crate::refusal::{Guard, Refusal};
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;

/// What must not be in use: every device that shares blocks with the target, or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The kernel's names of the target, its partitions and its disk; the target first.
    Devices(Vec<String>),
    /// A regular file.
    File { device: DeviceNumber, inode: u64, name: String },
}

impl Subject {
    pub(super) fn device(system: &System, kernel_name: &str) -> Self {
        Self::Devices(sysfs::overlapping(system, kernel_name))
    }

    /// Which of the target's devices a path leads to, or the file itself.
    fn is_at(&self, system: &System, path: &str) -> Option<String> {
        match self {
            Self::Devices(names) => {
                let name = match system.block_node(path) {
                    Some(number) => sysfs::kernel_name(system, number)?,
                    // A node that is gone from our view may still be in use under its name.
                    None => Path::new(path).strip_prefix("/dev").ok()?.to_str()?.replace('/', "!"),
                };
                names.contains(&name).then_some(name)
            }
            Self::File { device, inode, name } => {
                let stat = rustix::fs::stat(system.path(path)).ok()?;
                let same = DeviceNumber::from_raw(stat.st_dev) == *device && stat.st_ino == *inode;
                same.then(|| name.clone())
            }
        }
    }
}

/// G5, G6 of a file: the kernel neither swaps to it nor serves it as a device.
pub(super) fn by_kernel(system: &System, subject: &Subject) -> Result<(), Refusal> {
    swap(system, subject)?;
    backing(system, subject)
}

/// G3: no volume, array or cache is built on the device, its partitions or its disk.
pub(super) fn holders(system: &System, subject: &Subject) -> Result<(), Refusal> {
    let Subject::Devices(names) = subject else { return Ok(()) };
    for name in names {
        let holders = sysfs::holders_of(system, name);
        if !holders.is_empty() {
            return Err(Refusal::new(
                Guard::G3Holders,
                format!("/dev/{name} carries {}", holders.join(", ")),
                "Take that apart first (`dmsetup remove`, `vgchange -an`, `mdadm --stop`), or \
                 measure the upper device",
            ));
        }
    }
    Ok(())
}

/// G4: mounted in no mount namespace, neither itself nor as a member of a btrfs.
pub(super) fn mounted(system: &System, subject: &Subject) -> Result<(), Refusal> {
    let Subject::Devices(names) = subject else { return Ok(()) };
    let refuse = |found: String| Err(Refusal::new(Guard::G4Mounts, found, "Unmount it first"));
    let namespaces = mounts::everywhere(system);
    if namespaces.is_empty() {
        return Err(Refusal::new(
            Guard::G4Mounts,
            "what is mounted could not be read from /proc/self/mountinfo",
            "Mount /proc",
        ));
    }
    for (process, mounts) in &namespaces {
        for mount in mounts {
            let below = mounts::devices_below(system, mount);
            let Some(name) = names.iter().find(|name| below.contains(*name)) else { continue };
            let mount_point = mount.mount_point.display();
            let view = match process.as_str() {
                "self" => String::new(),
                other => format!(" in the mount namespace of process {other}"),
            };
            return refuse(format!(
                "/dev/{name} is mounted on {mount_point} ({}){view}",
                mount.kind
            ));
        }
    }
    for members in mounts::btrfs_members(system) {
        if let Some(name) = names.iter().find(|name| members.contains(name)) {
            return refuse(format!("/dev/{name} is a member of a mounted btrfs"));
        }
    }
    Ok(())
}

/// G5: neither swap space, as partition or file, nor where a hibernated system resumes from.
pub(super) fn swap(system: &System, subject: &Subject) -> Result<(), Refusal> {
    let refuse = |found: String| {
        Err(Refusal::new(
            Guard::G5Swap,
            found,
            "Take it out of use first (`swapoff`, and /etc/fstab)",
        ))
    };
    let swaps = system.read_file("/proc/swaps").unwrap_or_default();
    for path in parse_swaps(&swaps) {
        if let Some(name) = subject.is_at(system, &path) {
            return refuse(format!("{name} is swap space in use ({path})"));
        }
    }
    let line = system.read_file("/proc/cmdline").unwrap_or_default();
    for device in line.split_whitespace().filter_map(|word| word.strip_prefix("resume=")) {
        if let Some(name) = subject.is_at(system, &resume_path(device)) {
            return refuse(format!(
                "{name} is where a hibernated system resumes (resume={device})"
            ));
        }
    }
    Ok(())
}

/// The paths in `/proc/swaps`: the first column, without the heading and its octal escapes.
pub(super) fn parse_swaps(text: &str) -> Vec<String> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(mounts::unescape)
        .collect()
}

fn resume_path(device: &str) -> String {
    match device.split_once('=') {
        Some((key, value)) => {
            let value = value.trim_matches('"');
            format!("/dev/disk/by-{}/{value}", key.to_ascii_lowercase())
        }
        None => device.to_owned(),
    }
}

/// G6: backs no loop device and is exported to no other machine. The kernel's exclusive claim
/// does not see these.
pub(super) fn backing(system: &System, subject: &Subject) -> Result<(), Refusal> {
    for used in loop_backings(system) {
        if let Some(name) = used.is(system, subject) {
            return Err(Refusal::new(
                Guard::G6Backing,
                format!("{name} backs /dev/{}", used.user),
                format!("Detach it first (`losetup -d /dev/{}`)", used.user),
            ));
        }
    }
    for (path, attribute) in exports(system) {
        if let Some(name) = subject.is_at(system, &path) {
            return Err(Refusal::new(
                Guard::G6Backing,
                format!("{name} is exported to other machines ({attribute})"),
                "Take it out of the target's configuration first",
            ));
        }
    }
    Ok(())
}

struct Backing {
    user: String,
    /// The path that the loop device was set up with; it may lead elsewhere by now.
    path: String,
    holds: LoopHolds,
}

impl Backing {
    fn is(&self, system: &System, subject: &Subject) -> Option<String> {
        match (self.holds, subject) {
            (
                LoopHolds::File { device, inode },
                Subject::File { device: own, inode: node, name },
            ) => ((device, inode) == (*own, *node)).then(|| name.clone()),
            (LoopHolds::Device(number), Subject::Devices(names)) => {
                sysfs::kernel_name(system, number).filter(|name| names.contains(name))
            }
            (LoopHolds::Nothing | LoopHolds::File { .. } | LoopHolds::Device(_), _) => None,
            (LoopHolds::Unknown, Subject::Devices(names)) if !system.exists(&self.path) => {
                self.fits(system, names)
            }
            (LoopHolds::Unanswered | LoopHolds::Unknown, _) => subject.is_at(system, &self.path),
        }
    }

    /// Of a backing out of sight only the length is known: a device of that length might be it.
    fn fits(&self, system: &System, names: &[String]) -> Option<String> {
        let number = |key: &str| sysfs::number_attribute(system, &self.user, key);
        let offset = number("loop/offset").unwrap_or(0);
        let limited = number("loop/sizelimit").unwrap_or(0) != 0;
        let sectors = number("size")?.checked_add(offset / sysfs::SECTOR_BYTES)?;
        let fits = |name: &&String| {
            sysfs::number_attribute(system, name, "size")
                .is_some_and(|own| own == sectors || (limited && own >= sectors))
        };
        names.iter().find(fits).map(|name| format!("/dev/{name}, as far as its size tells,"))
    }
}

fn loop_backings(system: &System) -> Vec<Backing> {
    let backing = |user: String| {
        let path = system.read_trimmed(format!("/sys/block/{user}/loop/backing_file"))?;
        let path = path.trim_end_matches(" (deleted)").to_owned();
        let holds = system.loop_holds(&user, sysfs::number_of(system, &user));
        Some(Backing { user, path, holds })
    };
    sysfs::whole_devices(system).into_iter().filter_map(backing).collect()
}

/// Paths exported by the kernel's NVMe and SCSI targets, with the file that says so.
fn exports(system: &System) -> Vec<(String, String)> {
    let list = |path: &str| system.list_dir(path).unwrap_or_default();
    let mut attributes = Vec::new();
    let nvme = "/sys/kernel/config/nvmet/subsystems";
    for subsystem in list(nvme) {
        let namespaces = format!("{nvme}/{subsystem}/namespaces");
        let paths = list(&namespaces).into_iter();
        attributes.extend(paths.map(|id| format!("{namespaces}/{id}/device_path")));
    }
    let scsi = "/sys/kernel/config/target/core";
    for hba in list(scsi) {
        let stores = list(&format!("{scsi}/{hba}")).into_iter();
        attributes.extend(stores.map(|store| format!("{scsi}/{hba}/{store}/udev_path")));
    }
    attributes
        .into_iter()
        .filter_map(|attribute| Some((system.read_trimmed(&attribute)?, attribute)))
        .collect()
}

/// G12: no other disk has the same world-wide name, which would make it a second path to the same
/// blocks, perhaps in use there.
pub(super) fn shared(system: &System, kernel_name: &str) -> Result<(), Refusal> {
    let read = |name: &str| {
        let number = sysfs::number_of(system, name)?;
        crate::identity::DeviceIdentity::read(system, number)?.wwid
    };
    let whole = sysfs::whole_of(system, kernel_name).unwrap_or_else(|| kernel_name.to_owned());
    let Some(wwid) = read(&whole) else { return Ok(()) };
    let twins: BTreeSet<String> = sysfs::whole_devices(system)
        .into_iter()
        .filter(|name| *name != whole && read(name).as_ref() == Some(&wwid))
        .collect();
    match twins.first() {
        None => Ok(()),
        Some(twin) => Err(Refusal::new(
            Guard::G12Shared,
            format!("/dev/{whole} and /dev/{twin} are paths to the same disk {wwid}"),
            "Give the multipath device, or take the other path away",
        )),
    }
}
