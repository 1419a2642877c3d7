//! The words of a machine's tables.

use super::Lang;

/// Captions and headings.
#[derive(Debug)]
pub(crate) struct HostWords {
    pub(crate) machine: &'static str,
    pub(crate) machine_columns: [&'static str; 3],
    pub(crate) devices: &'static str,
    pub(crate) device_columns: [&'static str; 10],
    pub(crate) arrays: &'static str,
    pub(crate) array_columns: [&'static str; 5],
    pub(crate) mounts: &'static str,
    pub(crate) mount_columns: [&'static str; 5],
    pub(crate) unknown: &'static str,
    pub(crate) unknown_columns: [&'static str; 3],
    pub(crate) all: &'static str,
    pub(crate) all_columns: [&'static str; 4],
}

impl HostWords {
    pub(crate) fn of(lang: Lang) -> &'static Self {
        match lang {
            Lang::En => &ENGLISH,
        }
    }
}

const ENGLISH: HostWords = HostWords {
    machine: "Machine",
    machine_columns: ["Subject", "Fact", "Value"],
    devices: "Storage devices",
    device_columns: [
        "Device",
        "Product",
        "Capacity",
        "Link",
        "Limit",
        "Queues",
        "Scheduler",
        "Write cache",
        "Temperature",
        "Used",
    ],
    arrays: "Arrays and volumes",
    array_columns: ["Device", "Kind", "Chunk", "Name or metadata", "Built on"],
    mounts: "File systems",
    mount_columns: ["Mounted at", "Type", "On", "Options", "Striping"],
    unknown: "Unknown",
    unknown_columns: ["Subject", "Facts", "Why"],
    all: "Every fact",
    all_columns: ["Subject", "Fact", "Value", "Source"],
};
