//! Guard G2 below the target: the kernel grants an exclusive claim to each device that the target
//! is built on. Some uses appear nowhere else: a file system that was unmounted lazily, one without
//! a mount point, an external journal, a second device of a file system.

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;

use super::exclusive::again;
use crate::device_number::DeviceNumber;
use crate::refusal::{Guard, Refusal};
use crate::stack::Stack;
use crate::sysfs;
use crate::system::System;

/// Refuses a target if anything claims bytes of it through a device below it. The target itself is
/// claimed later, for the whole run. Devices below a volume manager are claimed by it.
pub(super) fn nothing_claims(system: &System, target: &Stack) -> Result<(), Refusal> {
    if !system.is_real() {
        return Ok(());
    }
    let names: Vec<&str> = target.direct_devices().collect();
    let disks: Vec<String> =
        names.iter().filter_map(|name| sysfs::whole_of(system, name)).collect();
    for name in names.into_iter().skip(1) {
        // The claim on a partition includes the question about its disk.
        let is_disk = disks.iter().any(|disk| disk == name);
        if !is_disk && is_claimed(system, name)? && !only_others_claimed(system, target, name)? {
            return Err(Refusal::new(
                Guard::G2Exclusive,
                format!(
                    "something has claimed /dev/{name} exclusively, and {} uses the same bytes",
                    target.name
                ),
                format!(
                    "A file system may use it although no mount table shows it, for example after \
                     `umount -l` or as an external journal. `lsblk /dev/{name}` and `fuser -v \
                     /dev/{name}` may show the user"
                ),
            ));
        }
    }
    Ok(())
}

/// True if only partitions with other bytes than the target's are claimed, and not the disk: then
/// another partition can be claimed.
fn only_others_claimed(system: &System, target: &Stack, disk: &str) -> Result<bool, Refusal> {
    let mut has_free_partition = false;
    for partition in sysfs::partitions_of(system, disk) {
        if !is_claimed(system, &partition)? {
            has_free_partition = true;
        } else if Stack::of_device(system, &partition).meets(target) {
            return Ok(false);
        }
    }
    Ok(has_free_partition)
}

/// Asks the kernel by a claim that is released at once.
fn is_claimed(system: &System, name: &str) -> Result<bool, Refusal> {
    let cannot_ask = |why: String| {
        Refusal::new(
            Guard::G2Exclusive,
            format!("qdepth cannot check whether /dev/{name}, below the target, is in use: {why}"),
            "Run qdepth as root, with the nodes of all devices in /dev",
        )
    };
    let node = system.path(sysfs::node_path(name));
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    // The system's device manager may hold a device for a moment.
    let claim = || open(&node, flags, Mode::empty());
    let file = match again(5, |error| *error == Errno::BUSY, claim) {
        Ok(file) => file,
        Err(Errno::BUSY) => return Ok(true),
        Err(error) => return Err(cannot_ask(error.to_string())),
    };
    let found = fstat(&file).map_err(|error| cannot_ask(error.to_string()))?;
    let is_node = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice;
    let number = DeviceNumber::from_raw(found.st_rdev);
    if is_node && Some(number) == sysfs::number_of(system, name) {
        return Ok(false);
    }
    Err(cannot_ask("its node belongs to another device".to_owned()))
}
