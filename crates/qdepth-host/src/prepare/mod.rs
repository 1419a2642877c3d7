//! Preparation: steps that change a machine before a measurement, each with its way back.
//!
//! A step is data ([`Step`]). What it would run ([`Step::actions`]) and what takes it back
//! ([`Step::undo`]) are pure functions, so that a person sees both before anything is touched.
//! [`apply`] is the one place that acts: it writes the way back to the [`journal`] and syncs it
//! before each action, so that [`undo_all`] finds it after a kill at any moment.

mod apply;
mod devices;
pub mod journal;
mod options;
mod purge;
mod setting;
mod step;
mod tune;
mod word;

pub use apply::{Undone, apply, undo_all};
pub use devices::Devices;
pub use options::{Kind, Metadata, MountOptions};
pub use purge::{Watch, can_purge};
pub use setting::{Setting, settings};
pub use step::{
    FileSystem, Level, PrepareError, PurgeMethod, Step, Wanted, base_devices, read, steps_of,
};
pub(crate) use tune::misplaced_interrupts;
pub use tune::tuning;
pub use word::{MountPoint, Name, Node, Text, Word};

use serde::{Deserialize, Serialize};

/// The programs that prepare a machine, and none else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Discards, or writes zeros.
    Blkdiscard,
    /// Makes logical volumes.
    Lvcreate,
    /// Arrays.
    Mdadm,
    /// Makes a btrfs.
    #[serde(rename = "mkfs.btrfs")]
    MkfsBtrfs,
    /// Makes an ext4.
    #[serde(rename = "mkfs.ext4")]
    MkfsExt4,
    /// Makes an XFS.
    #[serde(rename = "mkfs.xfs")]
    MkfsXfs,
    /// Mounts.
    Mount,
    /// A drive's own commands.
    Nvme,
    /// Partitions.
    Parted,
    /// Makes physical volumes.
    Pvcreate,
    /// Takes them away.
    Pvremove,
    /// Lists them.
    Pvs,
    /// Unmounts.
    Umount,
    /// Makes volume groups.
    Vgcreate,
    /// Takes them away.
    Vgremove,
    /// Lists them.
    Vgs,
    /// Takes signatures away.
    Wipefs,
}

impl Tool {
    /// True if it takes a device for itself alone before it touches it.
    pub const fn opens_exclusively(self) -> bool {
        !matches!(self, Self::Blkdiscard | Self::Nvme | Self::Parted)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blkdiscard => "blkdiscard",
            Self::Lvcreate => "lvcreate",
            Self::Mdadm => "mdadm",
            Self::MkfsBtrfs => "mkfs.btrfs",
            Self::MkfsExt4 => "mkfs.ext4",
            Self::MkfsXfs => "mkfs.xfs",
            Self::Mount => "mount",
            Self::Nvme => "nvme",
            Self::Parted => "parted",
            Self::Pvcreate => "pvcreate",
            Self::Pvremove => "pvremove",
            Self::Pvs => "pvs",
            Self::Umount => "umount",
            Self::Vgcreate => "vgcreate",
            Self::Vgremove => "vgremove",
            Self::Vgs => "vgs",
            Self::Wipefs => "wipefs",
        }
    }
}

/// Something that is done to the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A program with its words.
    Run {
        /// Which.
        tool: Tool,
        /// Its words.
        words: Vec<Word>,
    },
    /// A kernel setting: a file of one value.
    Set(Setting),
    /// Waits until a drive says that its sanitize completed.
    AwaitSanitize {
        /// The drive.
        device: Node,
    },
    /// Makes a directory.
    MakeDirectory(MountPoint),
    /// Removes an empty directory.
    RemoveDirectory(MountPoint),
}

/// Condition under which an undo action runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// A device is there.
    Exists(Node),
    /// A directory is there.
    Place(MountPoint),
    /// This device is mounted there.
    Mounted {
        /// Where.
        at: MountPoint,
        /// What.
        device: Node,
    },
    /// A volume group is there, on none but these devices.
    Group {
        /// Its name.
        group: Name,
        /// The devices.
        on: Vec<Node>,
    },
    /// A command succeeds.
    Succeeds {
        /// Its program.
        tool: Tool,
        /// Its words.
        words: Vec<Word>,
    },
    /// A setting has this value: nobody else changed it since.
    Holds(Setting),
    /// A setting is there, whatever it is.
    Readable(Setting),
}

/// One action of the way back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// When.
    pub only_if: Condition,
    /// What.
    pub action: Action,
}

impl Undo {
    /// An action of the way back.
    pub fn new(only_if: Condition, action: Action) -> Self {
        Self { only_if, action }
    }
}

impl Action {
    /// A command from its words.
    pub fn run(tool: Tool, words: impl IntoIterator<Item = Word>) -> Self {
        Self::Run { tool, words: words.into_iter().collect() }
    }

    /// For a person, as one would type it.
    pub fn text(&self) -> String {
        match self {
            Self::Run { tool, words } => {
                let words = words.iter().map(Word::text);
                std::iter::once(tool.name()).chain(words).collect::<Vec<_>>().join(" ")
            }
            Self::Set(setting) => format!("echo {} > {}", setting.value(), setting.path()),
            Self::AwaitSanitize { device } => {
                let device = device.as_str();
                format!("nvme sanitize-log {device} -o json (until it says that it completed)")
            }
            Self::MakeDirectory(path) => format!("mkdir -p {}", path.as_str()),
            Self::RemoveDirectory(path) => format!("rmdir {}", path.as_str()),
        }
    }
}

#[cfg(test)]
mod tests;
