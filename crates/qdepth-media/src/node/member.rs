//! Interface between an array and its members.

use crate::io::{End, Io};
use crate::ssd::Ssd;
use crate::tick::Tick;

/// Member of an array.
pub(crate) trait Member {
    /// The member as a plain flash drive, if it is one: the fast path of most requests, without a
    /// recursive call.
    fn ssd(&mut self) -> Option<&mut Ssd>;

    /// Submits a request. Returns its completion if already known. `now` must never decrease.
    fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End>;

    /// Returns the time of the next internal event.
    fn next(&self) -> Tick;

    /// Processes the event that is due at [`next`](Self::next), and appends the completions that it
    /// decides.
    fn step(&mut self, ends: &mut Vec<End>);

    /// Notes that a request was completed.
    fn completed(&mut self, slot: u32);

    /// True if every completion time is known at submission.
    fn is_immediate(&self) -> bool;
}
