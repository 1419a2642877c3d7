//! What requests do to a file besides moving its data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What requests of a load do. What is no transfer is done one at a time, by the worker itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// They move data, or discard it.
    #[default]
    Transfer,
    /// Writes reserve room for their bytes, and move none (`fallocate`).
    Reserve,
    /// Writes make the file end where they begin (`ftruncate`).
    Truncate,
    /// Each makes an empty file, and closes it.
    MakeFiles,
    /// Each looks at a file that was made before (`stat`).
    StatFiles,
    /// Each removes a file that was made before (`unlink`).
    RemoveFiles,
    /// Each makes a directory.
    MakeDirectories,
    /// Each looks at a directory that was made before.
    StatDirectories,
    /// Each removes an empty directory that was made before.
    RemoveDirectories,
}

impl Operation {
    /// Whether requests move data.
    pub fn is_transfer(&self) -> bool {
        *self == Self::Transfer
    }

    /// Whether requests are of the entries of a directory: the one at `offset / size`.
    pub fn is_of_entries(self) -> bool {
        !matches!(self, Self::Transfer | Self::Reserve | Self::Truncate)
    }

    /// Whether the entries are there before the load begins.
    pub fn needs_entries(self) -> bool {
        self.is_of_entries() && !matches!(self, Self::MakeFiles | Self::MakeDirectories)
    }

    /// Whether the entries are directories.
    pub fn is_of_directories(self) -> bool {
        matches!(self, Self::MakeDirectories | Self::StatDirectories | Self::RemoveDirectories)
    }

    /// Whether requests change what is stored, whatever way they are counted.
    pub fn changes(self) -> bool {
        !matches!(self, Self::Transfer | Self::StatFiles | Self::StatDirectories)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_entries_needs_none_and_what_looks_changes_none() {
        assert!(!Operation::MakeFiles.needs_entries() && Operation::MakeFiles.changes());
        assert!(Operation::StatDirectories.needs_entries());
        assert!(!Operation::StatDirectories.changes());
        assert!(Operation::Reserve.changes() && !Operation::Reserve.is_of_entries());
        assert!(Operation::Transfer.is_transfer() && !Operation::Transfer.changes());
    }
}
