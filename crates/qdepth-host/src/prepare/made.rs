//! Contents that a step made on a device, so that its undo removes nothing else.

use std::io;

use super::{Action, Tool, Word};
use crate::device_handle::{DevicePresence, DeviceReference};
use crate::guard::{self, signature};
use crate::sysfs;
use crate::system::System;

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
        let place = format!("a partition of {size} B at byte {start}");
        all.extend(found.iter().map(|found| format!("{place} with {found}")));
        all.push(place);
    }
    Some(all)
}

fn signature(system: &System, node: &str, range: Option<[u64; 2]>) -> Option<Vec<String>> {
    let keys = ["TYPE", "UUID", "PTTYPE", "PTUUID"];
    let found = signature::blkid(system, node, range, &keys).ok()?;
    let found: Vec<String> = found.iter().map(|(key, value)| format!("{key}={value}")).collect();
    Some(if found.is_empty() { found } else { vec![found.join(" ")] })
}

/// State of a device that is present, before its signatures are removed.
pub(super) fn state(
    system: &System,
    device: &DeviceReference,
    made: Option<&[String]>,
) -> UndoState {
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
    let other = now.iter().find(|found| !made.is_some_and(|made| made.contains(found)));
    if let Some(other) = other {
        let why = match made {
            Some(_) => "qdepth did not make it",
            None => "the step was interrupted before qdepth recorded it",
        };
        return UndoState::ChangedByOther(format!(
            "{node} contains {other}, and {why}. If it may be lost, run `wipefs -a {node}`"
        ));
    }
    UndoState::Ours
}
