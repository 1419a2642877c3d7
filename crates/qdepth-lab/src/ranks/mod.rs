//! Ranks that measure together: broadcast, gather, and a common start despite different clocks. A
//! dead rank is detected by its silence, so that no rank waits forever.
//!
//! Rank 0 leads, and the others communicate only with it. A [`Transport`] carries the messages:
//! MPI, or in tests channels between threads. This module reads no clock and has no `unsafe`
//! code: both are up to the transport. Start with [`RankGroup`].

pub mod all_ranks;
pub(crate) mod other_ranks;
pub(crate) mod shard_results;
pub mod shim;
pub(crate) mod together;

mod rank_group;
#[cfg(test)]
#[path = "../../tests/threads/mod.rs"]
pub(crate) mod threads;

pub use rank_group::{ClockOffset, Loss, Lost, RankGroup};

/// Transport of messages between the leader and the other ranks, in order and complete.
pub trait Transport {
    /// Rank of this process, from 0.
    fn rank(&self) -> u32;
    /// Number of ranks.
    fn size(&self) -> u32;
    /// Sends a message to a rank; never blocks.
    ///
    /// # Errors
    /// If the rank cannot be reached.
    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), String>;
    /// The next message from a rank, `None` if none has arrived; never blocks.
    ///
    /// # Errors
    /// If no message can arrive any more.
    fn poll(&mut self, from: u32) -> Result<Option<Vec<u8>>, String>;
    /// Current time of this rank's measuring clock, ns.
    fn now_ns(&self) -> u64;
    /// Waits for about this many nanoseconds; a message may end the wait earlier.
    fn pause(&mut self, ns: u64);
}
