//! Guards G3 to G6 and G12: nothing on this machine uses bytes of the target. They compare device
//! numbers and inodes, and do not open the target.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::pread;

use crate::guard::again;
use crate::mounts::{self, Mount};
use crate::refusal::{Guard, Refusal};
use crate::stack::{self, Backing, Stack, Store};
use crate::sysfs::{self, DeviceNumber, SECTOR_BYTES};
use crate::system::System;
use crate::target;

/// Guards G4 to G6 for a file: the kernel has not mounted a file system from it, does not swap to
/// it, and does not use it behind a device.
pub(super) fn by_kernel(system: &System, target: &Stack) -> Result<(), Refusal> {
    mounted(system, target)?;
    swap(system, target)?;
    backing(system, target)
}

/// Addition to a message if the used storage is not the target itself, its disk or its partition.
fn below(system: &System, target: &Stack, used: &str) -> String {
    let names = target.devices().next().map(|own| sysfs::overlapping(system, own));
    let mut names = names.into_iter().flatten().map(|name| format!("/dev/{name}"));
    let is_near = target.name == used || names.any(|name| name == used);
    if is_near { String::new() } else { format!(", and {} uses the same bytes", target.name) }
}

/// Name of the storage at a path and the addition to a message, if it shares bytes with the target.
fn met_at(system: &System, target: &Stack, path: &str) -> Option<(String, String)> {
    let used = Stack::of_path(system, path).filter(|used| used.meets(target))?;
    let below = below(system, target, &used.name);
    Some((used.name, below))
}

/// Guard G3: no volume, array or cache is built on bytes of the target.
pub(super) fn holders(system: &System, target: &Stack) -> Result<(), Refusal> {
    let own: BTreeSet<&str> = target.devices().collect();
    for name in all_devices(system) {
        let holders = sysfs::holders_of(system, &name);
        // Devices that the target is built on list it as their holder.
        if holders.is_empty() || holders.iter().any(|holder| own.contains(holder.as_str())) {
            continue;
        }
        if Stack::of_device(system, &name).meets(target) {
            let used = format!("/dev/{name}");
            return Err(Refusal::new(
                Guard::G3Holders,
                format!("{used} is used by {}{}", holders.join(", "), below(system, target, &used)),
                "Remove the upper device first (`dmsetup remove`, `vgchange -an`, `mdadm --stop`), \
                 or measure that one",
            ));
        }
    }
    Ok(())
}

/// All block devices, including partitions.
fn all_devices(system: &System) -> Vec<String> {
    system.list_dir("/sys/class/block").unwrap_or_default()
}

/// Guard G4: no bytes of the target are mounted in any mount namespace: directly, as a member of a
/// btrfs, through devices above it, or from a file.
pub(super) fn mounted(system: &System, target: &Stack) -> Result<(), Refusal> {
    let refuse = |found: String| Err(Refusal::new(Guard::G4Mounts, found, "Unmount it first"));
    let namespaces = mounts::everywhere(system);
    if namespaces.is_empty() {
        return Err(Refusal::new(
            Guard::G4Mounts,
            "the mounts could not be read from /proc/self/mountinfo",
            "Mount /proc",
        ));
    }
    for (process, mounts) in &namespaces {
        for mount in mounts {
            let used = sources(system, process, mount);
            if used.is_empty() && is_from_file(mount) && target.has_file() {
                let at = mount.mount_point.display();
                return refuse(format!("the file mounted on {at} could not be found"));
            }
            let Some(used) = used.iter().find(|used| used.meets(target)) else { continue };
            let view = match process.as_str() {
                "self" => String::new(),
                other => format!(" in the mount namespace of process {other}"),
            };
            let (at, kind) = (mount.mount_point.display(), &mount.kind);
            let below = below(system, target, &used.name);
            return refuse(format!("{} is mounted on {at} ({kind}){view}{below}", used.name));
        }
    }
    for name in mounts::btrfs_members(system).into_iter().flatten() {
        if Stack::of_device(system, &name).meets(target) {
            let used = format!("/dev/{name}");
            let below = below(system, target, &used);
            return refuse(format!("{used} is a member of a mounted btrfs{below}"));
        }
    }
    // A lease shows other users of a file, but not behind a loop device, which is a user itself.
    if !target.is_device_on_file() || !has_unknown_files(system, &namespaces) {
        return Ok(());
    }
    again(
        UNKNOWN_TRIES,
        |_| true,
        || match has_unknown_files(system, &mounts::everywhere(system)) {
            true => refuse(format!(
                "an erofs is mounted from files that are unknown, and {} is on a file",
                target.name
            )),
            false => Ok(()),
        },
    )
}

/// Number of attempts, a tenth of a second apart: a file system that is being mounted or unmounted
/// is not in both of the kernel's lists.
const UNKNOWN_TRIES: u32 = 50;

/// True if an erofs is mounted from files that no mount shows: it is mounted nowhere (for example
/// after `umount -l`), or it has more than one.
fn has_unknown_files(system: &System, namespaces: &[(String, Vec<Mount>)]) -> bool {
    let all = system.list_dir("/sys/fs/erofs").unwrap_or_default();
    let is_on_file =
        |name: &&String| *name != "features" && !system.exists(format!("/sys/class/block/{name}"));
    let mounts = namespaces.iter().flat_map(|(process, mounts)| {
        let from_file =
            |mount: &&Mount| is_from_file(mount) && mounts::devices_below(system, mount).is_empty();
        mounts.iter().filter(from_file).map(move |mount| (process, mount))
    });
    let shown: BTreeMap<DeviceNumber, _> =
        mounts.map(|(process, mount)| (mount.number, (process, mount))).collect();
    all.iter().filter(is_on_file).count() > shown.len()
        || shown.into_values().any(|(process, mount)| {
            let mut paths = seen_source(process, mount).into_iter();
            paths.find_map(|path| has_further_files(system, &path)) != Some(false)
        })
}

/// True if the erofs in a file is stored in further files, too (`struct erofs_super_block` of the
/// kernel). `None` without an erofs at its beginning.
fn has_further_files(system: &System, path: &str) -> Option<bool> {
    let file = target::open_regular(&system.path(path), OFlags::RDONLY | OFlags::NONBLOCK)?;
    let mut block = [0; 128];
    let length = pread(&file, &mut block, 1024).ok()?;
    let is_erofs = length == block.len() && block.starts_with(&0xE0F5_E1E2_u32.to_le_bytes());
    is_erofs.then(|| block[86..88] != [0, 0])
}

/// File systems that the kernel can mount from a regular file, without a loop device.
const FROM_FILES: [&str; 1] = ["erofs"];

fn is_from_file(mount: &Mount) -> bool {
    FROM_FILES.contains(&mount.kind.as_str())
}

/// Paths of the source of a mount: in its namespace, where the path may lead to another file, and
/// here.
fn seen_source(process: &str, mount: &Mount) -> [String; 2] {
    let source = &mount.source;
    let root = format!("/proc/{process}/root");
    [format!("{root}/{}", source.trim_start_matches('/')), source.clone()]
}

/// The devices or the file that a file system is mounted from.
fn sources(system: &System, process: &str, mount: &Mount) -> Vec<Stack> {
    let devices = mounts::devices_below(system, mount);
    if devices.is_empty() && is_from_file(mount) {
        let mut stacks =
            seen_source(process, mount).into_iter().map(|path| Stack::of_path(system, &path));
        let stack = stacks.find_map(|stack| stack);
        return stack.into_iter().map(|stack| stack.named(&mount.source)).collect();
    }
    devices.iter().map(|name| Stack::of_device(system, name)).collect()
}

/// Guard G5: the target is neither swap space, as a partition or a file, nor the place from which a
/// hibernated system resumes.
pub(super) fn swap(system: &System, target: &Stack) -> Result<(), Refusal> {
    let refuse = |found: String| {
        Err(Refusal::new(
            Guard::G5Swap,
            found,
            "Stop using it first (`swapoff`, and remove it from /etc/fstab)",
        ))
    };
    let swaps = system.read_file("/proc/swaps").unwrap_or_default();
    for path in parse_swaps(&swaps) {
        if let Some((used, below)) = met_at(system, target, &path) {
            return refuse(format!("{used} is swap space in use ({path}){below}"));
        }
    }
    let line = system.read_file("/proc/cmdline").unwrap_or_default();
    for device in line.split_whitespace().filter_map(|word| word.strip_prefix("resume=")) {
        if let Some((used, below)) = met_at(system, target, &resume_path(device)) {
            return refuse(format!(
                "{used} is the resume device of a hibernated system (resume={device}){below}"
            ));
        }
    }
    Ok(())
}

/// Paths in `/proc/swaps`: the first column without the heading, with octal escapes decoded.
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

/// Guard G6: no loop device uses bytes of the target, except those that the target itself is built
/// on, and no bytes are exported to other machines. The kernel's exclusive claim does not cover
/// these uses.
pub(super) fn backing(system: &System, target: &Stack) -> Result<(), Refusal> {
    let refuse = |found: String, remedy: String| Err(Refusal::new(Guard::G6Backing, found, remedy));
    if let Some(layer) = &target.unknown {
        return refuse(
            format!("the storage below {layer} could not be determined"),
            "Run qdepth as root, or attach it again from a path that is visible here".to_owned(),
        );
    }
    let own: BTreeSet<&str> = target.devices().collect();
    let mounts = mounts::own(system);
    for user in sysfs::whole_devices(system) {
        let Some(path) = stack::backing_path(system, &user) else { continue };
        if own.contains(user.as_str()) {
            continue;
        }
        let found = match stack::loop_store(system, &user, &path) {
            Backing::Nothing | Backing::Unanswered => None,
            Backing::Unknown => suspect(system, &user, &path, target),
            Backing::Store(_) => {
                let used = Stack::of_device(system, &user);
                let meets = used.meets(target);
                let found = || format!("{path} backs /dev/{user}{}", below(system, target, &path));
                meets
                    .then(found)
                    .or_else(|| detached(system, &mounts, &used, [&user, &path], target))
            }
        };
        if let Some(found) = found {
            return refuse(found, format!("Detach it first (`losetup -d /dev/{user}`)"));
        }
    }
    for (path, attribute) in exports(system) {
        if let Some((used, below)) = met_at(system, target, &path) {
            return refuse(
                format!("{used} is exported to other machines ({attribute}){below}"),
                "Remove it from the configuration of the NVMe, SCSI or USB target first".to_owned(),
            );
        }
    }
    Ok(())
}

/// Suspicion if a loop device's file was on a file system that is mounted nowhere now: an overlay
/// may have shown the target's file, if that has the same length.
fn detached(
    system: &System,
    mounts: &[Mount],
    used: &Stack,
    [user, path]: [&str; 2],
    target: &Stack,
) -> Option<String> {
    let (device, inode) = used.unexplained_file(mounts)?;
    // Btrfs gives each subvolume a device number that no mount shows.
    let mount = mounts::holding(mounts, Path::new(path));
    let is_btrfs = mount.is_some_and(|mount| mount.kind == "btrfs")
        && stack::store_at(system, path) == Some(Store::File { device, inode });
    // The inodes of two files on one file system show if they are the same.
    if is_btrfs || target.has_file_on(device) {
        return None;
    }
    let end = |name: &str| {
        let number = |key: &str| sysfs::number_attribute(system, name, key);
        let (start, sectors) = (number("loop/offset")?, number("size")?);
        Some((start.checked_add(sectors.checked_mul(SECTOR_BYTES)?)?, number("loop/sizelimit")?))
    };
    let (used_end, used_limit) = end(user)?;
    let fits = |name: &&str| {
        end(name).is_some_and(|(own, limit)| own == used_end || limit != 0 || used_limit != 0)
    };
    let name = target.devices().find(fits)?;
    Some(format!("the file that backs /dev/{user} may be that of /dev/{name}, judging by its size"))
}

/// Suspicion if a loop device's backing is unknown: it may use any device of its length.
fn suspect(system: &System, user: &str, path: &str, target: &Stack) -> Option<String> {
    if system.exists(path) {
        return None;
    }
    let number = |key: &str| sysfs::number_attribute(system, user, key);
    let offset = number("loop/offset").unwrap_or(0);
    let is_limited = number("loop/sizelimit").unwrap_or(0) != 0;
    let sectors = number("size")?.checked_add(offset / SECTOR_BYTES)?;
    let fits = |name: &String| {
        sysfs::number_attribute(system, name, "size")
            .is_some_and(|own| own == sectors || (is_limited && own >= sectors))
    };
    let names = sysfs::overlapping(system, target.devices().next()?);
    let name = names.iter().find(|name| fits(name))?;
    Some(format!("/dev/{name} backs /dev/{user}, judging by its size"))
}

/// Paths exported by the kernel's NVMe, SCSI and USB targets, each with the file that contains it.
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
    let usb = "/sys/kernel/config/usb_gadget";
    for gadget in list(usb) {
        let functions = format!("{usb}/{gadget}/functions");
        for function in list(&functions).iter().filter(|name| name.starts_with("mass_storage.")) {
            let luns = list(&format!("{functions}/{function}")).into_iter();
            attributes.extend(luns.map(|lun| format!("{functions}/{function}/{lun}/file")));
        }
    }
    attributes
        .into_iter()
        .filter_map(|attribute| Some((system.read_trimmed(&attribute)?, attribute)))
        .collect()
}

/// Guard G12: no other disk has the same world-wide name. Such a disk would be a second path to the
/// same blocks, which may be in use.
pub(super) fn shared(system: &System, target: &Stack) -> Result<(), Refusal> {
    target.direct_devices().try_for_each(|name| shared_disk(system, name))
}

fn shared_disk(system: &System, kernel_name: &str) -> Result<(), Refusal> {
    let read = |name: &str| {
        let number = sysfs::number_of(system, name)?;
        crate::identity::DeviceIdentity::read_names(system, number)?.wwid
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
            "Use the multipath device, or remove the other path",
        )),
    }
}
