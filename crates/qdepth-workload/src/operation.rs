//! Operations on a file besides data transfer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Operation of a load. The worker executes operations without data transfer one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Transfers data, or discards it.
    #[default]
    Transfer,
    /// Allocates space for the bytes of a write, without data (`fallocate`).
    Reserve,
    /// Sets the end of the file to the offset of a write (`ftruncate`).
    Truncate,
    /// Creates an empty file and closes it.
    MakeFiles,
    /// Creates a file, writes the bytes of a block to it and closes it.
    WriteFiles,
    /// Opens an existing file and closes it.
    OpenFiles,
    /// Opens an existing file, reads the bytes of a block from it and closes it.
    ReadFiles,
    /// Like `read-files`, and checks that a run of qdepth wrote the data.
    VerifyFiles,
    /// Queries an existing file (`stat`).
    StatFiles,
    /// Removes an existing file (`unlink`).
    RemoveFiles,
    /// Creates a directory.
    MakeDirectories,
    /// Queries an existing directory.
    StatDirectories,
    /// Removes an empty directory.
    RemoveDirectories,
}

impl Operation {
    /// True if requests move data.
    pub fn is_transfer(&self) -> bool {
        *self == Self::Transfer
    }

    /// True if requests operate on entries of a directory: the one at `offset / size`.
    pub fn is_of_entries(self) -> bool {
        !matches!(self, Self::Transfer | Self::Reserve | Self::Truncate)
    }

    /// True if the entries exist before the load starts.
    pub fn needs_entries(self) -> bool {
        self.is_of_entries() && !self.makes_entries()
    }

    /// True if requests create entries.
    pub fn makes_entries(self) -> bool {
        matches!(self, Self::MakeFiles | Self::WriteFiles | Self::MakeDirectories)
    }

    /// True if the entries are directories.
    pub fn is_of_directories(self) -> bool {
        matches!(self, Self::MakeDirectories | Self::StatDirectories | Self::RemoveDirectories)
    }

    /// True if requests change stored data, however they are counted.
    pub fn changes(self) -> bool {
        !matches!(
            self,
            Self::Transfer
                | Self::OpenFiles
                | Self::ReadFiles
                | Self::VerifyFiles
                | Self::StatFiles
                | Self::StatDirectories
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_know_if_they_change_or_need_entries() {
        assert!(!Operation::MakeFiles.needs_entries() && Operation::MakeFiles.changes());
        assert!(Operation::StatDirectories.needs_entries());
        assert!(!Operation::StatDirectories.changes());
        assert!(Operation::WriteFiles.changes() && Operation::WriteFiles.makes_entries());
        assert!(Operation::ReadFiles.needs_entries() && !Operation::ReadFiles.changes());
        assert!(Operation::Reserve.changes() && !Operation::Reserve.is_of_entries());
        assert!(Operation::Transfer.is_transfer() && !Operation::Transfer.changes());
    }
}
