//! Contents that a step made on a device, so that its undo removes nothing else.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use super::journal::Entry;
use super::step::PARTITION_START;
use super::{Action, Step, Tool, Word};
use crate::device_handle::{DevicePresence, DeviceReference};
use crate::entry;
use crate::guard::{self, signature};
use crate::leftover::is_leftover;
use crate::stack::Stack;
use crate::sysfs;
use crate::system::System;

/// Result of one undo action.
#[derive(Debug)]
pub enum UndoResult {
    /// It was done.
    Done(String),
    /// There was nothing to do.
    Nothing(String),
    /// Not undone, because somebody else has changed it; holds the reason.
    Left(String, String),
    /// It failed, and remains in the journal.
    Failed(String, io::Error),
}

/// Current state before an undo.
pub(super) enum UndoState {
    Ours,
    Unchanged,
    ChangedByOther(String),
    /// In use, or not readable: the undo can be repeated.
    Unknown(io::Error),
}

/// Device whose signatures an action removes.
pub(super) fn wiped(action: &Action) -> Option<&super::Node> {
    let Action::Run { tool, words } = action else { return None };
    let removes = match tool {
        Tool::Wipefs | Tool::Pvremove => true,
        Tool::Mdadm => words.contains(&Word::from("--zero-superblock")),
        _ => false,
    };
    let device = words.iter().find_map(|word| match word {
        Word::Device(node) => Some(node),
        _ => None,
    });
    device.filter(|_| removes)
}

/// Partitions of a device, and the file systems and partition tables on it and on them, by type and
/// UUID; `None` if they cannot be read.
pub(super) fn contents(system: &System, device: &DeviceReference) -> Option<Vec<String>> {
    let DevicePresence::Here { node, name } = device.find(system) else { return None };
    let mut all = signature(system, &node, None)?;
    for partition in sysfs::partitions_of(system, &name) {
        let bytes = |key: &str| sysfs::own_bytes(system, &partition, key);
        let (start, size) = (bytes("start")?, bytes("size")?);
        let found = signature(system, &node, Some([start, size]))?;
        let place = format!("{PARTITION} of {size} B at byte {start}");
        all.extend(found.iter().map(|found| format!("{place} with {found}")));
        all.push(place);
    }
    Some(all)
}

/// Beginning of the description of a partition.
const PARTITION: &str = "a partition";

fn signature(system: &System, node: &str, range: Option<[u64; 2]>) -> Option<Vec<String>> {
    let keys = ["TYPE", "UUID", "PTTYPE", "PTUUID"];
    let found = signature::blkid(system, node, range, &keys).ok()?;
    let found: Vec<String> = found.iter().map(|(key, value)| format!("{key}={value}")).collect();
    Some(if found.is_empty() { found } else { vec![found.join(" ")] })
}

/// Types in the descriptions of what a step makes, unless the device had them before: a kill can
/// precede the record of what was made.
pub(super) fn possible(step: &Step, before: &[String]) -> Vec<String> {
    let mut types = match step {
        Step::FileSystem(made) => vec![format!("TYPE={}", made.kind.name())],
        Step::Partition { .. } => vec!["PTTYPE=gpt".to_owned(), PARTITION.to_owned()],
        Step::Array { .. } => {
            ["linux", "isw"].map(|kind| format!("TYPE={kind}_raid_member")).to_vec()
        }
        Step::Volume { .. } => vec!["TYPE=LVM2_member".to_owned()],
        _ => Vec::new(),
    };
    types.retain(|made| !before.iter().any(|found| types_in(found).contains(&&**made)));
    types
}

/// Types in a description. That of a partition which the step would not make is unlike any other.
fn types_in(found: &str) -> Vec<&str> {
    if found.starts_with(PARTITION) {
        let start = PARTITION_START.trim_end_matches('B');
        return vec![if found.ends_with(&format!(" at byte {start}")) { PARTITION } else { found }];
    }
    found.split(' ').filter(|word| word.contains("TYPE=")).collect()
}

/// True if the step made this content of its device.
pub(super) fn is_made(entry: &Entry, found: &str) -> bool {
    match &entry.made {
        Some(made) => made.iter().any(|made| made == found),
        None => {
            let types = types_in(found);
            let makes = |kind: &&str| entry.makes.iter().any(|made| made == kind);
            !types.is_empty() && types.iter().all(makes)
        }
    }
}

/// State of a device that is present, before its signatures are removed.
pub(super) fn state(system: &System, device: &DeviceReference, entry: &Entry) -> UndoState {
    let DevicePresence::Here { node, name } = device.find(system) else {
        return UndoState::Unchanged;
    };
    let Some(now) = contents(system, device) else {
        let found = format!("blkid cannot read the contents of {node}");
        return UndoState::Unknown(io::Error::other(found));
    };
    if now.is_empty() {
        return UndoState::Unchanged;
    }
    // First, because other steps may have put more on a device that is in use, and are not undone
    // yet.
    if let Err(no) = guard::nothing_uses(system, &name) {
        return UndoState::Unknown(io::Error::other(format!("{}. {}", no.found, no.remedy)));
    }
    let other = now.iter().find(|found| !is_made(entry, found));
    if let Some(other) = other {
        let why = match entry.made {
            Some(_) => "qdepth did not make it",
            None => "the step was interrupted before qdepth recorded it",
        };
        return UndoState::ChangedByOther(format!(
            "{node} contains {other}, and {why}. If it may be lost, run `wipefs -a {node}`"
        ));
    }
    match first_name_on(system, &node) {
        Ok(None) => UndoState::Ours,
        Ok(Some(name)) => UndoState::Unknown(io::Error::other(format!(
            "the file system on {node} still contains files, for example `{name}`. Mount it and \
             move them elsewhere, or remove them; if they may be lost, run `wipefs -a {node}`"
        ))),
        Err(error) => UndoState::Unknown(io::Error::new(
            error.kind(),
            format!(
                "{error}, so it is unknown if the file system on {node} contains files. If they \
                 may be lost, run `wipefs -a {node}`"
            ),
        )),
    }
}

/// File systems that a step can make, by the name of their driver.
const KINDS: [&str; 3] = ["xfs", "ext4", "btrfs"];

/// First name in the root directory of the file system on an unused device that may hold data of a
/// user; `None` if there is none, or no file system. Mounts the file system read-only, where no
/// process can reach it.
fn first_name_on(system: &System, node: &str) -> io::Result<Option<String>> {
    let kind = signature::blkid(system, node, None, &["TYPE"]).map_err(io::Error::other)?;
    let kind = kind.iter().map(|(_, kind)| kind.as_str()).find(|kind| KINDS.contains(kind));
    let Some(kind) = kind.filter(|_| system.is_real()) else { return Ok(None) };
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_flag(&context, "ro")?;
    fsconfig_set_string(&context, "source", node)?;
    if kind == "btrfs" {
        // The root of all subvolumes, not the one that is mounted by default.
        fsconfig_set_string(&context, "subvolid", "5")?;
    }
    fsconfig_create(&context)?;
    let safely = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, safely)?;
    for name in names(&root)? {
        if !may_be_lost(&root, &name)? {
            return Ok(Some(name.to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}

/// True for an entry that holds nothing of a user's: what a measurement left, and the empty
/// directory that mkfs.ext4 makes for files that a check recovers.
fn may_be_lost(root: &OwnedFd, name: &CStr) -> io::Result<bool> {
    if name == c"lost+found" {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(root, name, flags, Mode::empty());
        return Ok(directory.is_ok_and(|found| names(&found).is_ok_and(|names| names.is_empty())));
    }
    name.to_str().map_or(Ok(false), |name| is_leftover(root, name))
}

fn names(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    let names = entry::list(directory)?.map(|entry| Ok(entry?.file_name().to_owned()));
    let mut names: Vec<CString> = names.collect::<io::Result<_>>()?;
    names.retain(|name| !matches!(name.to_bytes(), b"." | b".."));
    Ok(names)
}

/// Devices that an undo left as they are. It leaves the devices below them, too: removing a volume
/// or an array would remove the data that somebody put on it.
#[derive(Default)]
pub(super) struct LeftDevices(Vec<LeftDevice>);

struct LeftDevice {
    name: String,
    /// Kernel names of the device and everything below it.
    all: Vec<String>,
    stays_in_journal: bool,
}

impl LeftDevices {
    /// Undoes an entry by `take_back`, unless it would affect what lies above its devices.
    pub(super) fn undo(
        &mut self,
        system: &System,
        entry: &Entry,
        take_back: impl FnOnce() -> UndoResult,
    ) -> UndoResult {
        let hidden = hidden(system, entry);
        let outcome = match (self.above(system, entry), &hidden) {
            (Some(outcome), _) => outcome,
            (None, Some((left, remedy))) => {
                let found = format!("{} is inactive or was replaced", left.name);
                let why = format!("{found}, so it is unknown if it contains files. {remedy}");
                UndoResult::Failed(entry.undo.action.text(), io::Error::other(why))
            }
            (None, None) => take_back(),
        };
        let stays_in_journal = match outcome {
            UndoResult::Left(..) => false,
            UndoResult::Failed(..) => true,
            UndoResult::Done(_) | UndoResult::Nothing(_) => return outcome,
        };
        let device = wiped(&entry.undo.action).and_then(|node| entry.devices.get(node));
        let here = device.and_then(|device| name(system, device)).map(|name| {
            let stack = Stack::of_device(system, &name);
            let all = stack.devices().map(str::to_owned).collect();
            LeftDevice { name: stack.name, all, stays_in_journal }
        });
        self.0.extend(here.or(hidden.map(|(left, _)| left)));
        outcome
    }

    /// Result of an action on a device below one that was left; `None` if there is none.
    fn above(&self, system: &System, entry: &Entry) -> Option<UndoResult> {
        let action = &entry.undo.action;
        if matches!(action, Action::Set(_)) {
            return None;
        }
        let own: Vec<String> =
            entry.devices.values().filter_map(|device| name(system, device)).collect();
        let is_below = |left: &&LeftDevice| own.iter().any(|name| left.all.contains(name));
        let left = self.0.iter().find(is_below)?;
        let (text, why) = (action.text(), format!("{} on it was left as it is", left.name));
        Some(match left.stays_in_journal {
            true => UndoResult::Failed(text, io::Error::other(why)),
            false => UndoResult::Left(text, why),
        })
    }
}

/// A device that a step made and that cannot be examined now, although those below it still hold
/// something: an inactive volume or array, or one with another name. With what to do about it.
fn hidden(system: &System, entry: &Entry) -> Option<(LeftDevice, String)> {
    let device = entry.devices.get(wiped(&entry.undo.action)?)?;
    let DeviceReference::Made { node, .. } = device else { return None };
    if name(system, device).is_some() {
        return None;
    }
    let mut below = Vec::new();
    bases(system, device, &mut below);
    below.retain(|(device, _)| contents(system, device).is_none_or(|found| !found.is_empty()));
    let (_, first) = below.first()?;
    let remedy = format!(
        "Activate it under its name and undo again; if everything on it may be lost, run `wipefs \
         -a /dev/{first}`"
    );
    let all = below.into_iter().map(|(_, name)| name).collect();
    Some((LeftDevice { name: node.clone(), all, stays_in_journal: true }, remedy))
}

/// Adds the present devices on which a device was made.
fn bases<'a>(
    system: &System,
    device: &'a DeviceReference,
    all: &mut Vec<(&'a DeviceReference, String)>,
) {
    let DeviceReference::Made { on, .. } = device else { return };
    for below in on {
        all.extend(name(system, below).map(|name| (below, name)));
        bases(system, below, all);
    }
}

fn name(system: &System, device: &DeviceReference) -> Option<String> {
    match device.find(system) {
        DevicePresence::Here { name, .. } => Some(name),
        DevicePresence::Gone | DevicePresence::Replaced(_) => None,
    }
}
