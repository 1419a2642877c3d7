//! One physical request, and what every part of a medium does with it.

use crate::tick::Tick;

/// A request as a drive sees it: no profile, no stream, no number of the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) read: bool,
    /// Discards what is stored; no read then.
    pub(crate) trim: bool,
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

impl Io {
    /// Bytes that are moved for it.
    #[inline]
    pub(crate) fn moved(self) -> u32 {
        if self.trim { 0 } else { self.size }
    }
}

/// The end of a request that came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) slot: u32,
    pub(crate) at: Tick,
    /// Error number, or 0.
    pub(crate) errno: i32,
}
