//! Rules of an array for its members.

use crate::io::{End, Io};
use crate::ssd::Ssd;
use crate::tick::Tick;

/// A member of an arrangement.
pub(crate) trait Member {
    /// The drive that it is, where it is a flash drive and nothing else: most requests go to one,
    /// and not through a function that calls itself.
    fn ssd(&mut self) -> Option<&mut Ssd>;

    /// Takes a request; its end, where it is known already. `now` never goes back.
    fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End>;

    /// Returns the time of the next internal event.
    fn next(&self) -> Tick;

    /// Decides what is due at [`next`](Self::next), and says which ends came to be known.
    fn step(&mut self, ends: &mut Vec<End>);

    /// A request has ended.
    fn completed(&mut self, slot: u32);

    /// True if every end is known when a request is submitted.
    fn is_immediate(&self) -> bool;
}
