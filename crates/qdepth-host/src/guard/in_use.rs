//! G3 to G6 and G12: nothing on this machine uses the target. All by device number and inode,
//! without opening it.

use std::collections::BTreeSet;
use std::path::Path;

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
    for used in loop_backings(system)? {
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
    /// What it was in truth, where `losetup` can say it.
    inode: Option<(DeviceNumber, u64)>,
    /// Whether the kernel was asked and its file system did not answer, as that of a FUSE server
    /// that died. Device nodes live on devtmpfs, which always answers: this is no device.
    unanswering: bool,
}

impl Backing {
    fn is(&self, system: &System, subject: &Subject) -> Option<String> {
        match (subject, self.inode) {
            (Subject::File { device, inode, name }, Some(found)) => {
                (found == (*device, *inode)).then(|| name.clone())
            }
            (Subject::Devices(names), _) if !self.unanswering && self.is_hidden(system) => {
                self.fits(system, names)
            }
            _ => subject.is_at(system, &self.path),
        }
    }

    /// Whether the path no longer shows what the loop device holds.
    fn is_hidden(&self, system: &System) -> bool {
        if system.block_node(&self.path).is_some() && self.inode.is_none() {
            return false;
        }
        match (rustix::fs::stat(system.path(&self.path)), self.inode) {
            (Ok(stat), Some(inode)) => (DeviceNumber::from_raw(stat.st_dev), stat.st_ino) != inode,
            (Ok(_), None) => false,
            (Err(_), _) => true,
        }
    }

    /// Of a hidden backing only the length is known: a device of that length might be it.
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

fn loop_backings(system: &System) -> Result<Vec<Backing>, Refusal> {
    let mut backings = Vec::new();
    for user in sysfs::whole_devices(system) {
        if let Some(path) = system.read_trimmed(format!("/sys/block/{user}/loop/backing_file")) {
            let path = path.trim_end_matches(" (deleted)").to_owned();
            backings.push(Backing { user, path, inode: None, unanswering: false });
        }
    }
    if backings.is_empty() {
        return Ok(backings);
    }
    let args = ["-l", "-J", "-O", "NAME,BACK-INO,BACK-MAJ:MIN"];
    match system.run("losetup", &args) {
        Ok(output) => {
            let known = losetup_inodes(&output.stdout);
            for backing in &mut backings {
                let Some((_, inode)) = known.iter().find(|(user, _)| *user == backing.user) else {
                    continue;
                };
                backing.inode = *inode;
                // Who may not open the loop device gets no answer either.
                let node = system.path(format!("/dev/{}", backing.user));
                let asked = rustix::fs::access(node, rustix::fs::Access::READ_OK).is_ok();
                backing.unanswering = inode.is_none() && asked;
            }
            Ok(backings)
        }
        // A file that a loop device cannot show us by name might be the target.
        Err(error) if backings.iter().any(|backing| !system.exists(&backing.path)) => {
            let found = format!("a loop device has a backing file out of sight, and {error}");
            Err(Refusal::new(Guard::G6Backing, found, "Install util-linux"))
        }
        Err(_) => Ok(backings),
    }
}

/// Loop devices with the file system and inode that they hold, where the kernel said it.
fn losetup_inodes(json: &str) -> Vec<(String, Option<(DeviceNumber, u64)>)> {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(json) else { return Vec::new() };
    let Some(devices) = value["loopdevices"].as_array() else { return Vec::new() };
    let entry = |device: &serde_json::Value| {
        let name = device["name"].as_str()?.strip_prefix("/dev/")?.to_owned();
        let inode = &device["back-ino"];
        let inode = inode.as_u64().or_else(|| inode.as_str()?.trim().parse().ok());
        let number = device["back-maj:min"].as_str().and_then(|number| number.parse().ok());
        Some((name, number.zip(inode)))
    };
    devices.iter().filter_map(entry).collect()
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
