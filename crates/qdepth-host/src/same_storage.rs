//! Identity of a target's storage, stored with a run and checked when the run is resumed.

use std::os::fd::{AsFd, BorrowedFd};

use qdepth_record::Observation;
use rustix::fs::{OFlags, SeekFrom, fstatfs};

use crate::device_names::udev_property;
use crate::identity::{created, short_digest};
use crate::stack::Stack;
use crate::sysfs;
use crate::system::System;
use crate::target::{FileSystem, Inspected, Kind};

/// Subject of the facts.
const SUBJECT: &str = "identity";
/// Bytes of a file that are written: a run that only reads needs at least as many.
const DATA_BYTES: &str = "data_bytes";
/// Position of a file on its device: a run that only reads needs the same.
const EXTENTS: &str = "extents";
/// Facts that are compared, with their names in messages.
const COMPARED: [(&str, &str); 8] = [
    ("machine", "machine"),
    ("kind", "kind"),
    ("size_bytes", "size"),
    ("storage", "storage below it"),
    ("attachment", "attachment"),
    ("file_system", "file system"),
    ("inode", "inode"),
    ("created", "time of creation"),
];

/// Identity of a target that survives a reboot: drives by serial number, loop devices by file, file
/// systems by UUID, files and directories by inode and creation time.
pub fn identity_facts(system: &System, target: &Inspected) -> Vec<Observation> {
    let mut facts = Vec::new();
    let mut add = |key: &str, value: Option<String>| {
        facts.extend(value.map(|value| Observation {
            subject: SUBJECT.to_owned(),
            key: key.to_owned(),
            value: Ok(value),
            source: "statx, statfs, sysfs, udev".to_owned(),
        }));
    };
    add("machine", machine(system));
    let devices = target.devices();
    let stacks = || devices.iter().map(|name| Stack::of_device(system, name));
    let words: Vec<String> = stacks().flat_map(|stack| stack.identity_words(system)).collect();
    add("storage", Some(words.join(" ")).filter(|words| !words.is_empty()));
    let file_system = match &target.kind {
        Kind::BlockDevice(device) => {
            add("kind", Some("device".to_owned()));
            add("size_bytes", Some(device.identity.size_bytes.to_string()));
            let is_known = stacks().any(|stack| stack.is_identified(system));
            let attached = device.identity.diskseq.map(|count| count.to_string());
            let attached =
                attached.zip(system.boot()).map(|(count, boot)| format!("{count} {boot}"));
            add("attachment", attached.filter(|_| !is_known));
            return facts;
        }
        Kind::RegularFile { file_system, .. } => {
            add("kind", Some("file".to_owned()));
            if let Ok(file) = target.open(OFlags::RDONLY | OFlags::NONBLOCK) {
                let (bytes, size) = (data_bytes(file.as_fd()), target.identity().size_bytes());
                add(DATA_BYTES, bytes.map(|bytes| bytes.to_string()));
                add(EXTENTS, bytes.and_then(|b| extents_digest(file.as_fd(), size, b)));
            }
            file_system
        }
        Kind::Directory(file_system) => {
            add("kind", Some("directory".to_owned()));
            file_system
        }
    };
    add("file_system", Some(file_system_id(system, target, file_system)));
    add("inode", Some(target.inode().1.to_string()));
    add("created", created(target.handle()));
    facts
}

/// Difference from the identity at the start of the run; `None` if it is the same storage.
/// `only_reads` is true if the run writes nothing to the target.
pub fn difference(then: &[Observation], now: &[Observation], only_reads: bool) -> Option<String> {
    let value = |facts: &[Observation], wanted: &str| {
        let fact = facts.iter().find(|fact| fact.subject == SUBJECT && fact.key == wanted);
        fact.and_then(|fact| fact.value.clone().ok())
    };
    if value(then, "kind").is_none() {
        return Some("the record of the run does not identify its storage".to_owned());
    }
    for (key, what) in COMPARED {
        let (was, is) = (value(then, key), value(now, key));
        if was != is {
            let text = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
            return Some(format!("its {what} was {}, is {}", text(was), text(is)));
        }
    }
    let bytes = |facts| value(facts, DATA_BYTES).and_then(|text| text.parse::<u64>().ok());
    let (was, is) = (bytes(then)?, bytes(now).unwrap_or(0));
    if only_reads && is < was {
        return Some(format!("{was} B of it were allocated, and {is} B are now"));
    }
    let (was, is) = (value(then, EXTENTS)?, value(now, EXTENTS)?);
    let moved = "it was rewritten since, to other blocks of its device".to_owned();
    (only_reads && is != was).then_some(moved)
}

/// A digest of the machine id, or the host name.
fn machine(system: &System) -> Option<String> {
    if let Some(id) = system.read_trimmed("/etc/machine-id") {
        return Some(short_digest(&format!("qdepth {id}")));
    }
    system.read_trimmed("/proc/sys/kernel/hostname")
}

/// UUID of a file system, or else its id from statfs(2), which for XFS is its device number.
pub(crate) fn file_system_id(system: &System, target: &Inspected, found: &FileSystem) -> String {
    let uuid = found
        .devices
        .iter()
        .find_map(|name| udev_property(system, sysfs::number_of(system, name)?, "ID_FS_UUID"));
    let number = || {
        let id = fstatfs(target.handle()).ok()?.f_fsid;
        Some(format!("{id:?}").replace(|c: char| !c.is_ascii_digit() && c != '-', ""))
    };
    format!("{} {}", found.kind, uuid.or_else(number).unwrap_or_default())
}

/// Bytes of a file that are not holes.
fn data_bytes(file: BorrowedFd<'_>) -> Option<u64> {
    let (mut bytes, mut at) = (0, 0);
    while let Ok(data) = rustix::fs::seek(file, SeekFrom::Data(at)) {
        at = rustix::fs::seek(file, SeekFrom::Hole(data)).ok().filter(|hole| *hole > data)?;
        bytes += at - data;
    }
    Some(bytes)
}

/// A digest of the extents of a file; `None` if the file system does not report them, or has not
/// placed all data yet.
fn extents_digest(file: BorrowedFd<'_>, size_bytes: u64, data_bytes: u64) -> Option<String> {
    let extents = qdepth_linux::extents(file, 0, size_bytes)?;
    let placed: u64 = extents.iter().map(|extent| extent.length).sum();
    let text: Vec<String> =
        extents.iter().map(|extent| format!("{}+{}", extent.physical, extent.length)).collect();
    (placed >= data_bytes).then(|| short_digest(&text.join(" ")))
}
