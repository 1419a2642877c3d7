//! Preparation: steps that change a machine before a measurement, each with its way back.
//!
//! A step is data ([`Step`]). What it would run ([`Step::actions`]) and what takes it back
//! ([`Step::undo`]) are pure functions, so that a person sees both before anything is touched.
//! [`apply`] is the one place that acts: it writes the way back to the [`journal`] and syncs it
//! before each action, so that [`undo_all`] finds it after a kill at any moment.

mod apply;
pub mod journal;
mod purge;
mod step;
mod tune;

pub use apply::{Undone, apply, undo_all};
pub use purge::{Watch, can_purge};
pub use step::{PrepareError, PurgeMethod, Step, base_devices, read, steps_of};
pub(crate) use tune::misplaced_interrupts;
pub use tune::tuning;

use serde::{Deserialize, Serialize};

/// Something that is done to the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A command, with its arguments.
    Run(Vec<String>),
    /// A kernel setting: a file of one value.
    Set {
        /// Below `/sys` or `/proc`.
        path: String,
        /// What to write.
        value: String,
    },
    /// Waits until a drive says that its sanitize completed.
    AwaitSanitize {
        /// The drive.
        device: String,
    },
    /// Makes a directory.
    MakeDirectory(String),
    /// Removes an empty directory.
    RemoveDirectory(String),
}

/// When an action of the way back has something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Something is there.
    Exists(String),
    /// Something is mounted there.
    Mounted(String),
    /// A command succeeds.
    Succeeds(Vec<String>),
    /// A setting has this value: nobody else changed it since.
    Holds {
        /// Its file.
        path: String,
        /// What we wrote.
        value: String,
    },
}

/// One action of the way back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// When.
    pub only_if: Condition,
    /// What.
    pub action: Action,
}

impl Action {
    /// A command from its words.
    pub fn run(words: &[&str]) -> Self {
        Self::Run(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// For a person, as one would type it.
    pub fn text(&self) -> String {
        match self {
            Self::Run(words) => words.join(" "),
            Self::Set { path, value } => format!("echo {value} > {path}"),
            Self::AwaitSanitize { device } => {
                format!("nvme sanitize-log {device} -o json (until it says that it completed)")
            }
            Self::MakeDirectory(path) => format!("mkdir -p {path}"),
            Self::RemoveDirectory(path) => format!("rmdir {path}"),
        }
    }
}

#[cfg(test)]
mod tests;
