//! A request, as the engine carries it out.

use serde::{Deserialize, Serialize};

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Discards what is stored.
    Trim,
    /// Forces what was written to stable storage.
    Sync,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Direction.
    pub direction: Direction,
    /// First byte; 0 for a sync.
    pub offset: u64,
    /// Bytes; 0 for a sync.
    pub size: u32,
}
