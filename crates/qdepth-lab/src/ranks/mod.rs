//! Ranks that measure together: broadcast, gather, and a common start on clocks that are apart. A
//! rank that dies is noticed by its silence, so that nobody waits for ever.
//!
//! Rank 0 leads, and the others talk to it alone. What carries the messages is a [`Transport`]:
//! MPI, or channels between threads ([`threads`]). This module reads no clock and holds no
//! `unsafe`: both are the transport's. Start with [`RankGroup`].

pub mod all_ranks;
pub(crate) mod other_ranks;
pub(crate) mod shard_results;
pub mod shim;
pub(crate) mod together;

mod rank_group;
mod threads;

pub use rank_group::{ClockOffset, Loss, Lost, RankGroup};
pub use threads::{ThreadTransport, threads};

/// Transport of messages between the leader and the other ranks, in order and complete.
pub trait Transport {
    /// Own number, from 0.
    fn rank(&self) -> u32;
    /// Number of ranks.
    fn size(&self) -> u32;
    /// Takes a message for a rank; never blocks.
    ///
    /// # Errors
    /// If the rank cannot be reached.
    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), String>;
    /// The next message of a rank, if one is there; never blocks.
    ///
    /// # Errors
    /// If none will come any more.
    fn poll(&mut self, from: u32) -> Result<Option<Vec<u8>>, String>;
    /// Nanoseconds of the clock that this rank measures by.
    fn now_ns(&self) -> u64;
    /// Waits this many nanoseconds; a message may end the wait earlier or later.
    fn pause(&mut self, ns: u64);
}
