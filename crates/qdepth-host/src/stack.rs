//! The storage below a target: the byte ranges of all devices and files that it maps to.
//!
//! A stack ends at a file, because its file system keeps files apart. Below a volume manager it
//! continues, but two ranges there never meet: two volumes on one disk do not overlap, but each
//! overlaps any direct use of that disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use crate::device_names::{serial, udev_property, wwid};
use crate::loop_device::LoopHolds;
use crate::mounts::{self, Mount};
use crate::sysfs::{self, DeviceNumber, SECTOR_BYTES};
use crate::system::System;

/// Largest depth of layers, more than any machine has. Ends the search if the kernel shows a cycle.
const DEEPEST: usize = 16;

/// Storage of bytes: a device or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// A block device, by the kernel's name.
    Device(String),
    /// A regular file: the device of its file system, and its inode.
    File { device: DeviceNumber, inode: u64 },
}

/// Bytes `start..end` of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ByteRange {
    store: Store,
    start: u64,
    end: u64,
    /// True if a volume manager decides which of these bytes are used.
    is_managed: bool,
    /// True if a file system server (FUSE) seems to store the file there.
    is_served: bool,
}

impl ByteRange {
    /// All bytes of a store.
    fn whole(store: Store) -> Self {
        Self { store, start: 0, end: u64::MAX, is_managed: false, is_served: false }
    }

    fn meets(&self, other: &Self) -> bool {
        let apart = self.is_managed && other.is_managed;
        self.store == other.store && self.start < other.end && other.start < self.end && !apart
    }

    /// The same bytes in a store below. This store begins `offset` bytes into it.
    fn shifted(&self, store: Store, offset: u64) -> Self {
        let add = |at: u64| at.saturating_add(offset);
        Self { store, start: add(self.start), end: add(self.end), ..self.clone() }
    }

    /// The range, cut off at the end of its device.
    fn within_its_store(self, system: &System) -> Self {
        let size = self.device().and_then(|name| sysfs::number_attribute(system, name, "size"));
        let size = size.map_or(u64::MAX, |sectors| sectors.saturating_mul(SECTOR_BYTES));
        Self { end: self.end.min(size), ..self }
    }

    fn device(&self) -> Option<&str> {
        match &self.store {
            Store::Device(name) => Some(name),
            Store::File { .. } => None,
        }
    }

    fn contains(&self, other: &Self) -> bool {
        self.store == other.store
            && self.start <= other.start
            && other.end <= self.end
            && (other.is_managed || !self.is_managed)
    }
}

/// A device or file, and everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stack {
    /// Name of the top layer in messages.
    pub(crate) name: String,
    ranges: Vec<ByteRange>,
    /// A layer whose storage is unknown.
    pub(crate) unknown: Option<String>,
}

impl Stack {
    pub(crate) fn of_device(system: &System, kernel_name: &str) -> Self {
        let name = format!("/dev/{kernel_name}");
        let mut stack = Self { name, ranges: Vec::new(), unknown: None };
        stack.add(system, ByteRange::whole(Store::Device(kernel_name.to_owned())), 0);
        stack
    }

    /// The stack of a file. On an overlay, it is also the file in the layer that stores it;
    /// `mounts` are those of the namespace in which its path is valid.
    pub(crate) fn of_file(
        system: &System,
        mounts: &[Mount],
        path: &Path,
        device: DeviceNumber,
        inode: u64,
    ) -> Self {
        let file = ByteRange::whole(Store::File { device, inode });
        let ranges = ranges_of_file(system, mounts, path, &file);
        Self { name: path.display().to_string(), ranges, unknown: None }
    }

    /// The stack of the device or regular file at a path. A device node that is not visible is
    /// identified by its name.
    pub(crate) fn of_path(system: &System, path: &str) -> Option<Self> {
        let store = store_at(system, path).or_else(|| {
            let name = Path::new(path).strip_prefix("/dev").ok()?.to_str()?;
            Some(Store::Device(name.replace('/', "!")))
        })?;
        Some(match store {
            Store::Device(name) => Self::of_device(system, &name),
            Store::File { device, inode } => {
                let seen = system.canonical(path).unwrap_or_else(|| PathBuf::from(path));
                Self::of_file(system, &mounts::own(system), &seen, device, inode).named(path)
            }
        })
    }

    /// The same bytes under another name.
    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// The stack without the files behind servers, which a server holds open while it serves them.
    pub(crate) fn without_served(&self) -> Self {
        let mut own = self.clone();
        own.ranges.retain(|range| !range.is_served);
        own
    }

    /// True if the two stacks have bytes in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.ranges.iter().any(|own| other.ranges.iter().any(|range| own.meets(range)))
    }

    /// Kernel names of all devices in the stack, the top first.
    pub(crate) fn devices(&self) -> impl Iterator<Item = &str> {
        self.ranges.iter().filter_map(ByteRange::device)
    }

    /// Devices of the stack that are not below a volume manager.
    pub(crate) fn direct_devices(&self) -> impl Iterator<Item = &str> {
        self.ranges.iter().filter(|range| !range.is_managed).filter_map(ByteRange::device)
    }

    /// True if the stack contains a file of the file system with this device.
    pub(crate) fn has_file_on(&self, wanted: DeviceNumber) -> bool {
        let device = |range: &ByteRange| match range.store {
            Store::File { device, .. } => Some(device),
            Store::Device(_) => None,
        };
        self.ranges.iter().any(|range| device(range) == Some(wanted))
    }

    /// The only file of the stack, if a file system without a device of its own shows it that is
    /// mounted nowhere. If that was an overlay, the file has another identity in the layer below.
    pub(crate) fn unexplained_file(&self, mounts: &[Mount]) -> Option<(DeviceNumber, u64)> {
        let files = self.ranges.iter().filter_map(|range| match &range.store {
            Store::File { device, inode } => Some((*device, *inode)),
            Store::Device(_) => None,
        });
        let mut files: Vec<(DeviceNumber, u64)> = files.collect();
        files.dedup();
        let [(device, inode)] = files[..] else { return None };
        let explains = |mount: &Mount| mount.number == device && mount.kind != "overlay";
        let is_explained = device.major != 0 || mounts.iter().any(explains);
        (!is_explained).then_some((device, inode))
    }

    /// True if the top is a device and a file is below it.
    pub(crate) fn is_device_on_file(&self) -> bool {
        self.ranges.first().is_some_and(|top| top.device().is_some()) && self.has_file()
    }

    /// True if the stack contains a file.
    pub(crate) fn has_file(&self) -> bool {
        self.ranges.iter().any(|range| range.device().is_none())
    }

    /// Start of the device on each layer below that no volume manager manages; `None` if there is
    /// no such layer.
    pub(crate) fn position_below(&self) -> Option<String> {
        let word = |range: &ByteRange| match &range.store {
            Store::Device(name) => format!("{name}@{}", range.start),
            Store::File { device, inode } => format!("{device}/{inode}@{}", range.start),
        };
        let is_fixed = |range: &&ByteRange| !range.is_managed && !range.is_served;
        let below = self.ranges.iter().skip(1).filter(is_fixed);
        let words: Vec<String> = below.map(word).collect();
        (!words.is_empty()).then(|| words.join(","))
    }

    /// Identity of each layer that survives a reboot, with its byte range.
    pub(crate) fn identity_words(&self, system: &System) -> Vec<String> {
        let word = |range: &ByteRange| {
            let name = match &range.store {
                Store::File { device, inode } => match udev_property(system, *device, "ID_FS_UUID")
                {
                    Some(uuid) => format!("inode:{inode}:{uuid}"),
                    None => format!("inode:{inode}"),
                },
                Store::Device(name) => match permanent_name(system, name) {
                    Some(serial) => serial,
                    // Loop devices are numbered in the order of their setup, so their number is not
                    // an identity.
                    None if name.starts_with("loop") => "loop".to_owned(),
                    None => name.clone(),
                },
            };
            format!("{name}@{}-{}", range.start, range.end)
        };
        self.ranges.iter().filter(|range| !range.is_served).map(word).collect()
    }

    /// True if a layer has a permanent identity, or its file has one.
    pub(crate) fn is_identified(&self, system: &System) -> bool {
        let mut devices = self.devices();
        self.has_file() || devices.any(|name| permanent_name(system, name).is_some())
    }

    fn add(&mut self, system: &System, range: ByteRange, depth: usize) {
        let range = range.within_its_store(system);
        if self.ranges.iter().any(|known| known.contains(&range)) {
            return;
        }
        self.ranges.push(range.clone());
        let Store::Device(name) = &range.store else { return };
        if depth == DEEPEST {
            self.unknown.get_or_insert(format!("/dev/{name}"));
            return;
        }
        for below in self.below(system, name, &range) {
            self.add(system, below, depth + 1);
        }
    }

    /// The ranges directly below a range of a device.
    fn below(&mut self, system: &System, name: &str, range: &ByteRange) -> Vec<ByteRange> {
        if let Some(whole) = sysfs::whole_of(system, name) {
            let store = Store::Device(whole);
            return vec![match sysfs::own_bytes(system, name, "start") {
                Some(start) => range.shifted(store, start),
                None => ByteRange::whole(store),
            }];
        }
        if let Some(path) = backing_path(system, name) {
            let offset = sysfs::number_attribute(system, name, "loop/offset").unwrap_or(0);
            return match loop_store(system, name, &path) {
                Backing::Nothing => Vec::new(),
                Backing::Store(Store::File { device, inode }) => {
                    let mounts = mounts::own(system);
                    let names = [format!("{path}{DELETED}"), path].map(PathBuf::from);
                    let file = range.shifted(Store::File { device, inode }, offset);
                    let ranges = |path: &PathBuf| ranges_of_file(system, &mounts, path, &file);
                    names.iter().flat_map(ranges).collect()
                }
                Backing::Store(store) => vec![range.shifted(store, offset)],
                Backing::Unanswered | Backing::Unknown => {
                    self.unknown.get_or_insert(format!("/dev/{name}"));
                    Vec::new()
                }
            };
        }
        let mut below: Vec<ByteRange> = sysfs::slaves_of(system, name)
            .into_iter()
            .map(|slave| ByteRange { is_managed: true, ..ByteRange::whole(Store::Device(slave)) })
            .collect();
        // zram writes pages that do not fit into memory to a device or file, which it claims.
        let written_back = system.read_trimmed(format!("/sys/class/block/{name}/backing_dev"));
        let written_back = written_back.filter(|path| path != "none");
        let written_back = written_back.and_then(|path| store_at(system, &path));
        below.extend(
            written_back.map(|store| ByteRange { is_managed: true, ..ByteRange::whole(store) }),
        );
        below
    }
}

/// A range of a file, and the same range in the files that store it: in layers of an overlay, or in
/// the directory that a server such as bindfs shows under another name.
fn ranges_of_file(
    system: &System,
    mounts: &[Mount],
    path: &Path,
    file: &ByteRange,
) -> Vec<ByteRange> {
    let mut all = vec![file.clone()];
    // An overlay or a server has no device of its own.
    if matches!(file.store, Store::File { device, .. } if device.major != 0) {
        return all;
    }
    let (mut known, mut next) = (BTreeSet::new(), vec![path.to_owned()]);
    for _ in 0..mounts::DEEPEST_OVERLAYS {
        let layers = next.iter().flat_map(|path| mounts::in_layers(system, mounts, path));
        let new: BTreeSet<PathBuf> = layers.filter(|path| !known.contains(path)).collect();
        known.extend(new.iter().cloned());
        // Only existing files: each path within a container's root may be in dozens of layers.
        let found = new.into_iter().filter_map(|path| Some((file_at(system, &path)?, path)));
        let (stores, paths): (Vec<Store>, Vec<PathBuf>) = found.unzip();
        all.extend(stores.into_iter().map(|store| ByteRange { store, ..file.clone() }));
        next = paths;
    }
    let served = mounts::behind_servers(mounts, path);
    let served = served.iter().filter_map(|path| file_at(system, path));
    all.extend(served.map(|store| ByteRange { store, is_served: true, ..file.clone() }));
    all
}

/// The regular file at a path.
fn file_at(system: &System, path: &Path) -> Option<Store> {
    // Must not ask a server that may not answer.
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT | AtFlags::SYMLINK_NOFOLLOW;
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let found = statx(CWD, system.path(path), flags, wanted).ok()?;
    let device = DeviceNumber { major: found.stx_dev_major, minor: found.stx_dev_minor };
    let is_file = FileType::from_raw_mode(found.stx_mode.into()).is_file();
    is_file.then_some(Store::File { device, inode: found.stx_ino })
}

/// Serial number or world-wide name of a device.
fn permanent_name(system: &System, name: &str) -> Option<String> {
    let number = sysfs::number_of(system, name)?;
    serial(system, name, number).or_else(|| wwid(system, name, number))
}

/// Backing of a loop device.
pub(crate) enum Backing {
    Nothing,
    Store(Store),
    /// A file on a file system that does not answer, and therefore not a device.
    Unanswered,
    /// The driver could not be asked, and the path leads nowhere.
    Unknown,
}

/// Path given when the loop device was set up, which may now lead elsewhere. `None` for other
/// devices, and for an unused loop device.
pub(crate) fn backing_path(system: &System, name: &str) -> Option<String> {
    let text = system.read_file(format!("/sys/class/block/{name}/loop/backing_file")).ok()?;
    let path = text.trim_end_matches(['\n', '\0']);
    let path = path.strip_suffix(DELETED).unwrap_or(path);
    (!path.is_empty()).then(|| path.to_owned())
}

/// Mark of the kernel behind the path of a deleted file. A file may also have such a name.
const DELETED: &str = " (deleted)";

/// Storage of a loop device, from its driver or else from its path.
pub(crate) fn loop_store(system: &System, name: &str, path: &str) -> Backing {
    match system.loop_holds(name, sysfs::number_of(system, name)) {
        LoopHolds::Nothing => Backing::Nothing,
        LoopHolds::File { device, inode } => Backing::Store(Store::File { device, inode }),
        // A device that sysfs no longer shows shares no bytes with any that it does show.
        LoopHolds::Device(number) => sysfs::kernel_name(system, number)
            .map_or(Backing::Nothing, |name| Backing::Store(Store::Device(name))),
        // The path is not used: it is on the file system that does not answer.
        LoopHolds::Unanswered => Backing::Unanswered,
        LoopHolds::Unknown => store_at(system, path).map_or(Backing::Unknown, Backing::Store),
    }
}

/// The device or regular file at a path, after following all links.
pub(crate) fn store_at(system: &System, path: &str) -> Option<Store> {
    if let Some(number) = system.block_node(path) {
        return sysfs::kernel_name(system, number).map(Store::Device);
    }
    let stat = rustix::fs::stat(system.path(path)).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    let device = DeviceNumber::from_raw(stat.st_dev);
    is_file.then_some(Store::File { device, inode: stat.st_ino })
}
