//! Access pattern of a job (`rw`).

use super::values::Trims;

/// Value of `rw`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Access {
    /// Share of random accesses, 0..=100.
    pub(super) random: f64,
    /// Share of random accesses among the writes of a mix, if different.
    pub(super) random_writes: Option<f64>,
    /// Share of reads, 0..=100.
    pub(super) read: f64,
    /// Discards of the job. A job with discards reads nothing.
    pub(super) trims: Trims,
    /// Bytes skipped after each sequential request.
    pub(super) gap: u64,
    /// Distance back from the end of a request to the start of the next one, bytes; `None` for
    /// forward.
    pub(super) back: Option<u64>,
}

impl Access {
    /// Default of `rw`.
    pub(super) const READ: Self = Self {
        random: 0.0,
        random_writes: None,
        read: 100.0,
        trims: Trims::None,
        gap: 0,
        back: None,
    };
}
