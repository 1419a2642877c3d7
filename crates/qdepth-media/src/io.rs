//! Physical requests and their completions.

use crate::tick::Tick;

/// Request at a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) read: bool,
    /// True for a discard; `read` is then false.
    pub(crate) trim: bool,
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

impl Io {
    /// Bytes transferred; 0 for a discard.
    #[inline]
    pub(crate) fn moved(self) -> u32 {
        if self.trim { 0 } else { self.size }
    }
}

/// Completion of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) slot: u32,
    pub(crate) at: Tick,
    /// Error number, or 0.
    pub(crate) errno: i32,
}
