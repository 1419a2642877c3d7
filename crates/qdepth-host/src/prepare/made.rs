//! Contents that a step made on a device, so that its undo removes nothing else.

use std::io;

use super::{Action, Tool, Word};
use crate::device_handle::{DevicePresence, DeviceReference};
use crate::guard;
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
    match action {
        Action::Run { tool: Tool::Wipefs, words } => words.iter().find_map(|word| match word {
            Word::Device(node) => Some(node),
            _ => None,
        }),
        _ => None,
    }
}

/// File systems and partition tables on a device and its partitions, by type and UUID; `None` if
/// they cannot be read.
pub(super) fn contents(system: &System, device: &DeviceReference) -> Option<Vec<String>> {
    let DevicePresence::Here { node, name } = device.find(system) else { return None };
    let mut all = signature(system, &node)?;
    for partition in sysfs::partitions_of(system, &name) {
        all.extend(signature(system, &format!("/dev/{partition}"))?);
    }
    Some(all)
}

/// Exit status 2 of blkid: nothing found.
fn signature(system: &System, node: &str) -> Option<Vec<String>> {
    let found = system.run("blkid", &["-p", "-o", "export", node]).ok()?;
    let keys = ["TYPE=", "UUID=", "PTTYPE=", "PTUUID="];
    let is_kept = |line: &&str| keys.iter().any(|key| line.starts_with(key));
    match found.status {
        Some(0) => Some(vec![found.stdout.lines().filter(is_kept).collect::<Vec<_>>().join(" ")]),
        Some(2) => Some(Vec::new()),
        _ => None,
    }
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
    match guard::nothing_uses(system, &name) {
        Ok(()) => UndoState::Ours,
        Err(no) => UndoState::Unknown(io::Error::other(format!("{}. {}", no.found, no.remedy))),
    }
}
