//! Durability of writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Durability that a write waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// The kernel or device has accepted the write.
    #[default]
    None,
    /// Data and metadata are on stable storage when the write returns (`O_SYNC`).
    Sync,
    /// Data is on stable storage when the write returns (`O_DSYNC`).
    Dsync,
    /// An `fsync` follows; the operation lasts until its end. Writes of a stream that complete
    /// while a sync runs share the next one.
    Fsync,
    /// An `fdatasync` follows; otherwise as `fsync`.
    Fdatasync,
}

impl Durability {
    /// True if a sync belongs to each write.
    pub fn syncs(self) -> bool {
        matches!(self, Self::Fsync | Self::Fdatasync)
    }
}
