//! Layers between a target and its device that answer requests instead of it, or limit its rate:
//! memory, the page cache, holes, and control groups.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

use crate::extents::unwritten_share;
use crate::mounts;
use crate::sysfs;
use crate::system::System;
use crate::target::{Inspected, Kind};

/// File systems that keep their files in memory.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "hugetlbfs", "devtmpfs"];
/// Kernel names, before their number, of devices that are memory or nothing.
const MEMORY_DEVICES: [&str; 3] = ["ram", "zram", "nullb"];
/// Limit for stacked loop devices, larger than any real stack.
const DEEPEST: usize = 16;

/// Reason why requests may be answered from memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cached {
    /// The whole storage is memory, for example `tmpfs` or `ram0`.
    Memory(String),
    /// A loop device without direct I/O, by its kernel name.
    Loop(String),
}

/// Memory below a target that may answer its requests; `None` if none is visible.
pub fn cached_below(system: &System, target: &Inspected) -> Option<Cached> {
    if let Kind::RegularFile { file_system, .. } | Kind::Directory(file_system) = &target.kind
        && IN_MEMORY.contains(&file_system.storing.as_str())
    {
        return Some(Cached::Memory(file_system.storing.clone()));
    }
    target.devices().iter().find_map(|name| cached_device(system, name, DEEPEST))
}

fn cached_device(system: &System, name: &str, deepest: usize) -> Option<Cached> {
    let is_numbered = |prefix: &&str| {
        name.strip_prefix(*prefix).is_some_and(|number| number.parse::<u32>().is_ok())
    };
    if MEMORY_DEVICES.iter().any(is_numbered) {
        return Some(Cached::Memory(name.to_owned()));
    }
    let deepest = deepest.checked_sub(1)?;
    if let Some(whole) = sysfs::whole_of(system, name) {
        return cached_device(system, &whole, deepest);
    }
    let Some(backing) = backing_file(system, name) else {
        let below = sysfs::slaves_of(system, name);
        return below.iter().find_map(|name| cached_device(system, name, deepest));
    };
    if sysfs::number_attribute(system, name, "loop/dio") == Some(0) {
        return Some(Cached::Loop(name.to_owned()));
    }
    if let Some(number) = system.block_node(&backing) {
        return cached_device(system, &sysfs::kernel_name(system, number)?, deepest);
    }
    let mounts = mounts::own(system);
    let mount = mounts::holding(&mounts, Path::new(&backing))?;
    let kind = &mounts::storing(system, &mounts, mount).kind;
    IN_MEMORY.contains(&kind.as_str()).then(|| Cached::Memory(kind.clone()))
}

/// Name of the file or device behind a loop device, as given at its setup.
fn backing_file(system: &System, name: &str) -> Option<String> {
    system.read_trimmed(format!("/sys/class/block/{name}/loop/backing_file"))
}

/// Share (0..1) of `offset..offset + length` that was never written in the file of a loop device.
/// `name` is the loop device or a partition of it; `None` for any other device.
pub fn unwritten_below(system: &System, name: &str, offset: u64, length: u64) -> Option<f64> {
    let sectors = |key: &str| sysfs::number_attribute(system, name, key);
    if let Some(whole) = sysfs::whole_of(system, name) {
        let start = sectors("start")?.checked_mul(sysfs::SECTOR_BYTES)?;
        return unwritten_below(system, &whole, offset.checked_add(start)?, length);
    }
    let backing = backing_file(system, name)?;
    let start = sysfs::number_attribute(system, name, "loop/offset").unwrap_or(0);
    let offset = offset.checked_add(start)?;
    if let Some(number) = system.block_node(&backing) {
        return unwritten_below(system, &sysfs::kernel_name(system, number)?, offset, length);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(&*backing, flags, Mode::empty()).ok()?;
    unwritten_share(file.as_fd(), offset, length)
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
    fn cached_loop_device_is_found_through_upper_layers() {
        let (_root, system) = machine(&[
            ("sys/class/block/loop0/loop/backing_file", "/srv/image\n"),
            ("sys/class/block/loop0/loop/dio", "0\n"),
            ("sys/class/block/dm-0/slaves/loop0/dev", "7:0\n"),
        ]);
        assert_eq!(cached_device(&system, "dm-0", 9), Some(Cached::Loop("loop0".to_owned())));
        assert_eq!(cached_device(&system, "ram1", 9), Some(Cached::Memory("ram1".to_owned())));
        assert_eq!(cached_device(&system, "sda", 9), None);
    }
}
