//! Disks below targets.

use crate::sysfs::{number_of, whole_of};
use crate::system::System;
use crate::target::Inspected;

/// Disks whose counters include the I/O of these targets, each once; for a partition its disk.
pub fn disks_of<'a>(
    system: &System,
    targets: impl IntoIterator<Item = &'a Inspected>,
) -> Vec<String> {
    let mut names = Vec::new();
    for device in targets.into_iter().flat_map(Inspected::devices) {
        let disk = whole_of(system, &device).unwrap_or(device);
        if !names.contains(&disk) && number_of(system, &disk).is_some() {
            names.push(disk);
        }
    }
    names
}
