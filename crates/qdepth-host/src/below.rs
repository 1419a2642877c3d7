//! Layers between a target and its device that answer requests instead of it, or limit its rate:
//! memory, the page cache, holes, and control groups.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, fstat, open};

use crate::loop_device::LoopHolds;
use crate::mounts::{self, Mount};
use crate::stack::{Backing, Stack, Store, backing_path, loop_store};
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;
use crate::target::{Inspected, Kind};

/// File systems that keep their files in memory.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];
/// Kernel names, before their number, of devices that are memory or nothing.
const MEMORY_DEVICES: [&str; 3] = ["ram", "zram", "nullb"];
/// Limit for file systems on each other's files, larger than any real stack.
const DEEPEST: usize = 16;

/// Reason why requests may be answered from memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cached {
    /// The whole storage is memory, for example `tmpfs` or `ram0`.
    Memory(String),
    /// A loop device without direct I/O, by its kernel name.
    Loop(String),
}

/// Memory below a target that may answer its requests; `None` if none is visible. Below a loop
/// device, the search continues in the file system of its file.
pub fn cached_below(system: &System, target: &Inspected) -> Option<Cached> {
    if let Kind::RegularFile { file_system, .. } | Kind::Directory(file_system) = &target.kind
        && let Some(memory) = in_memory(&file_system.storing)
    {
        return Some(memory);
    }
    cached_devices(system, &target.devices(), DEEPEST)
}

fn in_memory(kind: &str) -> Option<Cached> {
    IN_MEMORY.contains(&kind).then(|| Cached::Memory(kind.to_owned()))
}

fn cached_devices(system: &System, names: &[String], deepest: usize) -> Option<Cached> {
    let deepest = deepest.checked_sub(1)?;
    let stacks: Vec<Stack> = names.iter().map(|name| Stack::of_device(system, name)).collect();
    let devices = || stacks.iter().flat_map(Stack::devices);
    let is_memory = |name: &str| {
        let is_numbered = |prefix: &&str| {
            name.strip_prefix(*prefix).is_some_and(|number| number.parse::<u32>().is_ok())
        };
        MEMORY_DEVICES.iter().any(is_numbered)
    };
    let is_cached = |name: &str| sysfs::number_attribute(system, name, "loop/dio") == Some(0);
    let memory = devices().find(|name| is_memory(name)).map(|name| Cached::Memory(name.to_owned()));
    let cached = devices().find(|name| is_cached(name)).map(|name| Cached::Loop(name.to_owned()));
    memory.or(cached).or_else(|| {
        let mounts = mounts::own(system);
        let mut below = devices().filter_map(|name| {
            let mount = backing_mount(system, &mounts, name)?;
            let names: Vec<String> = mounts::devices_below(system, mount).into_iter().collect();
            in_memory(&mount.kind).or_else(|| cached_devices(system, &names, deepest))
        });
        below.next()
    })
}

/// The mount that stores the file behind a loop device. The driver names the device of the file
/// system, even if the file was deleted; without its answer, the path at the setup decides.
fn backing_mount<'m>(system: &System, mounts: &'m [Mount], name: &str) -> Option<&'m Mount> {
    let backing = backing_path(system, name)?;
    let by_number = match loop_store(system, name, &backing) {
        Backing::Nothing | Backing::Unanswered | Backing::Store(Store::Device(_)) => return None,
        Backing::Store(Store::File { device, .. }) => {
            mounts.iter().find(|mount| mount.number == device)
        }
        Backing::Unknown => None,
    };
    let found = by_number.or_else(|| mounts::holding(mounts, Path::new(&backing)))?;
    Some(mounts::storing(system, mounts, found))
}

/// The file that stores a range of a loop device or of its partition, opened for reading, and the
/// position in it. `None` for any other device, and if the name is gone or that of another file.
pub fn file_below(system: &System, name: &str, offset: u64) -> Option<(OwnedFd, u64)> {
    let sectors = |key: &str| sysfs::number_attribute(system, name, key);
    if let Some(whole) = sysfs::whole_of(system, name) {
        let start = sectors("start")?.checked_mul(sysfs::SECTOR_BYTES)?;
        return file_below(system, &whole, offset.checked_add(start)?);
    }
    let backing = backing_path(system, name)?;
    let offset = offset.checked_add(sectors("loop/offset").unwrap_or(0))?;
    if let Some(number) = system.block_node(&backing) {
        return file_below(system, &sysfs::kernel_name(system, number)?, offset);
    }
    let held = system.loop_holds(name, sysfs::number_of(system, name));
    // The path may be on a server that does not answer.
    if !matches!(held, LoopHolds::File { .. }) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(&*backing, flags, Mode::empty()).ok()?;
    // Another file may have the name by now.
    let found = fstat(&file).ok()?;
    let found =
        LoopHolds::File { device: DeviceNumber::from_raw(found.st_dev), inode: found.st_ino };
    (held == found).then_some((file, offset))
}

/// Limit of a control group of this process for the rate of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct IoLimit {
    /// The file that sets it.
    pub file: String,
    /// True if the limit counts bytes, false if it counts I/Os.
    pub of_bytes: bool,
    /// True if the limit applies to writes, false if it applies to reads.
    pub of_writes: bool,
    /// Rate per second.
    pub per_s: f64,
}

/// Limits of all control groups of this process for a device or its disk.
pub fn io_limits(system: &System, name: &str) -> Vec<IoLimit> {
    let disk = sysfs::whole_of(system, name).unwrap_or_else(|| name.to_owned());
    let Some(number) = sysfs::number_of(system, &disk) else { return Vec::new() };
    let number = number.to_string();
    let groups = system.read_file("/proc/self/cgroup").unwrap_or_default();
    let mut limits = Vec::new();
    for group in groups.lines() {
        let mut words = group.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (words.next(), words.next()) else { continue };
        for above in Path::new(path).ancestors() {
            let above = above.to_string_lossy();
            let above = above.trim_matches('/');
            if controllers.is_empty() {
                limits.extend(unified(system, above, &number));
            } else if controllers.split(',').any(|name| name == "blkio") {
                limits.extend(legacy(system, above, &number));
            }
        }
    }
    limits
}

/// Limits in `io.max` of the unified hierarchy: `8:0 rbps=1048576 wbps=max riops=500 wiops=max`.
fn unified(system: &System, group: &str, number: &str) -> Vec<IoLimit> {
    let file = format!("/sys/fs/cgroup/{group}/io.max");
    let text = system.read_file(&file).unwrap_or_default();
    let words = text.lines().find_map(|line| line.strip_prefix(number)?.strip_prefix(' '));
    let limit = |word: &str| {
        let (key, value) = word.split_once('=')?;
        Some(IoLimit {
            file: file.clone(),
            of_bytes: key.ends_with("bps"),
            of_writes: key.starts_with('w'),
            per_s: value.parse().ok()?,
        })
    };
    words.unwrap_or_default().split_whitespace().filter_map(limit).collect()
}

/// Limits in `blkio.throttle.*_device` of version 1 hierarchies: `8:0 500`.
fn legacy(system: &System, group: &str, number: &str) -> Vec<IoLimit> {
    let kinds = [("read_bps", true, false), ("write_bps", true, true), ("read_iops", false, false)];
    let kinds = kinds.into_iter().chain([("write_iops", false, true)]);
    let limit = |(kind, of_bytes, of_writes): (&str, bool, bool)| {
        let file = format!("/sys/fs/cgroup/blkio/{group}/blkio.throttle.{kind}_device");
        let text = system.read_file(&file).ok()?;
        let value = text.lines().find_map(|line| line.strip_prefix(number)?.strip_prefix(' '))?;
        Some(IoLimit { file, of_bytes, of_writes, per_s: value.trim().parse().ok()? })
    };
    kinds.filter_map(limit).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let system = System::staged(root.path());
        (root, system)
    }

    #[test]
    fn io_limits_of_parent_cgroups_are_found() {
        let (_root, system) = machine(&[
            ("proc/self/cgroup", "5:blkio:/docker/abc\n0::/user.slice/app\n"),
            ("sys/class/block/sda/dev", "8:0\n"),
            ("sys/fs/cgroup/user.slice/app/io.max", "8:16 riops=1\n8:0 rbps=max wiops=300\n"),
            ("sys/fs/cgroup/user.slice/io.max", "8:0 rbps=1048576 wbps=max\n"),
            ("sys/fs/cgroup/blkio/docker/blkio.throttle.read_iops_device", "8:0 500\n"),
        ]);
        let found = io_limits(&system, "sda");
        let found: Vec<_> = found.iter().map(|l| (l.of_bytes, l.of_writes, l.per_s)).collect();
        assert_eq!(
            found,
            [(false, false, 500.0), (false, true, 300.0), (true, false, 1_048_576.0)]
        );
        assert_eq!(io_limits(&system, "sdb"), []);
    }

    #[test]
    fn cached_device_is_found_through_upper_layers() {
        let backing = "loop/backing_file";
        let machine = FakeMachine::new()
            .disk("loop0", "7:0")
            .attribute("loop0", backing, "/srv/image\n")
            .attribute("loop0", "loop/dio", "0\n")
            .disk("dm-0", "253:0")
            .with_file("sys/class/block/dm-0/slaves/loop0/dev", "7:0\n")
            .disk("loop1", "7:1")
            .attribute("loop1", backing, "/srv/inner\n")
            .disk("loop2", "7:2")
            .attribute("loop2", backing, "/memory/outer\n")
            .disk("loop3", "7:3")
            .attribute("loop3", backing, "/packed/image\n")
            .disk("loop4", "7:4")
            .attribute("loop4", backing, "/gone (deleted)\n")
            .with_loop("loop4", LoopHolds::File { device: "0:30".parse().unwrap(), inode: 9 })
            .disk("zram0", "252:0")
            .with_file(
                "proc/self/mountinfo",
                "20 1 7:2 / /srv rw - ext4 none rw\n21 1 0:30 / /memory rw - tmpfs none rw\n\
                 22 1 252:0 / /packed rw - ext4 none rw\n",
            );
        let cached = |name: &str| cached_devices(&machine.system, &[name.to_owned()], 9);
        assert_eq!(cached("dm-0"), Some(Cached::Loop("loop0".to_owned())));
        assert_eq!(cached("ram1"), Some(Cached::Memory("ram1".to_owned())));
        assert_eq!(cached("loop1"), Some(Cached::Memory("tmpfs".to_owned())), "ext4 on tmpfs");
        assert_eq!(cached("loop3"), Some(Cached::Memory("zram0".to_owned())), "ext4 on zram");
        assert_eq!(cached("loop4"), Some(Cached::Memory("tmpfs".to_owned())), "deleted");
        assert_eq!(cached("sda"), None);
    }
}
