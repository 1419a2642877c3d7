//! Preparation: steps that change a machine before a measurement, each with its undo.
//!
//! A step is data ([`Step`]). Its commands ([`Step::actions`]) and its undo ([`Step::undo`]) are
//! pure functions, so that the user sees both before anything is changed. Only [`apply`] acts: it
//! writes the undo to the [`journal`] and syncs it before each action, so that [`undo_all`] finds
//! it after a kill at any moment.

mod apply;
mod cpu;
mod devices;
pub mod journal;
mod made;
mod options;
mod purge;
mod setting;
mod step;
mod tune;
mod word;

pub use apply::{apply, undo_all};
pub use cpu::cpu_settings;
pub use devices::Devices;
pub use made::UndoResult;
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

/// The only programs that prepare a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Discards, or writes zeros.
    Blkdiscard,
    /// Makes logical volumes.
    Lvcreate,
    /// Manages MD arrays.
    Mdadm,
    /// Makes a btrfs file system.
    #[serde(rename = "mkfs.btrfs")]
    MkfsBtrfs,
    /// Makes an ext4 file system.
    #[serde(rename = "mkfs.ext4")]
    MkfsExt4,
    /// Makes an XFS file system.
    #[serde(rename = "mkfs.xfs")]
    MkfsXfs,
    /// Mounts file systems.
    Mount,
    /// Sends NVMe commands.
    Nvme,
    /// Makes partitions.
    Parted,
    /// Makes physical volumes.
    Pvcreate,
    /// Removes physical volumes.
    Pvremove,
    /// Lists physical volumes.
    Pvs,
    /// Unmounts file systems.
    Umount,
    /// Makes volume groups.
    Vgcreate,
    /// Removes volume groups.
    Vgremove,
    /// Lists volume groups.
    Vgs,
    /// Removes signatures.
    Wipefs,
}

impl Tool {
    /// True if the program claims its device exclusively before it changes anything.
    pub const fn opens_exclusively(self) -> bool {
        !matches!(self, Self::Blkdiscard | Self::Nvme | Self::Parted)
    }

    /// Its name.
    pub fn name(self) -> String {
        word::name_of(self)
    }
}

/// A change of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Runs a program.
    Run {
        /// The program.
        tool: Tool,
        /// Its arguments.
        words: Vec<Word>,
    },
    /// Sets a kernel setting: a file with one value.
    Set(Setting),
    /// Waits until a drive reports the end of its sanitize.
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
    /// The device exists.
    Exists(Node),
    /// The directory exists.
    Place(MountPoint),
    /// The device is mounted at this place.
    Mounted {
        /// Mount point.
        at: MountPoint,
        /// Device.
        device: Node,
    },
    /// The volume group exists, and uses no devices but these.
    Group {
        /// Its name.
        group: Name,
        /// The devices.
        on: Vec<Node>,
    },
    /// The command succeeds.
    Succeeds {
        /// Its program.
        tool: Tool,
        /// Its arguments.
        words: Vec<Word>,
    },
    /// The setting has this value: nobody else has changed it.
    Holds(Setting),
    /// The setting exists, with any value.
    Readable(Setting),
}

/// One undo action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Condition under which the action runs.
    pub only_if: Condition,
    /// Action.
    pub action: Action,
}

impl Undo {
    /// An undo action with its condition.
    pub fn new(only_if: Condition, action: Action) -> Self {
        Self { only_if, action }
    }
}

impl Action {
    /// A command with its arguments.
    pub fn run(tool: Tool, words: impl IntoIterator<Item = Word>) -> Self {
        Self::Run { tool, words: words.into_iter().collect() }
    }

    /// Text for the user, as it would be typed.
    pub fn text(&self) -> String {
        match self {
            Self::Run { tool, words } => {
                let words = words.iter().map(|word| word.text().to_owned());
                std::iter::once(tool.name()).chain(words).collect::<Vec<_>>().join(" ")
            }
            Self::Set(setting) => format!("echo {} > {}", setting.value(), setting.path()),
            Self::AwaitSanitize { device } => {
                let device = device.as_str();
                format!("nvme sanitize-log {device} -o json (until it reports completion)")
            }
            Self::MakeDirectory(path) => format!("mkdir -p {}", path.as_str()),
            Self::RemoveDirectory(path) => format!("rmdir {}", path.as_str()),
        }
    }
}

#[cfg(test)]
mod tests;
