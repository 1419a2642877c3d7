//! Node of a target: a drive, an array of drives, or a wrapper.

mod array;
mod member;

use qdepth_measure::Nanos;

use crate::hdd::Hdd;
use crate::io::{End, Io};
use crate::pressure::Pressured;
use crate::simple::{Servers, Volume};
use crate::ssd::{Ssd, Wear};
use crate::tick::{NEVER, Tick};

pub(crate) use array::{Array, Layout, Queue};
use member::Member;

/// Injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every nth request fails with this error number.
    Error {
        /// Interval n, in requests.
        every: u64,
        /// Positive error number.
        errno: i32,
    },
    /// The nth request never ends.
    Hang {
        /// Number n of the request, from 1.
        at: u64,
    },
    /// Every request fails from this moment on, like after a removal of the device.
    Removed {
        /// Time since the target was opened.
        after: Nanos,
    },
}

/// ENODEV, the result of requests to a removed device.
pub(crate) const ENODEV: i32 = 19;

/// Wrapper that injects a fault.
#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    pub(crate) member: Node,
    pub(crate) fault: Fault,
    pub(crate) removed_at: Tick,
    pub(crate) submitted: u64,
}

/// Drive, array or wrapper. One `match` per request is cheaper than a virtual call.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Ssd(Box<Ssd>),
    Hdd(Box<Hdd>),
    Servers(Box<Servers>),
    Volume(Box<Volume>),
    Pressured(Box<Pressured>),
    Array(Box<Array<Self>>),
    /// Adds a fixed delay to every request.
    Delayed(Box<Node>, Tick),
    Faulty(Box<Faulty>),
}

impl Node {
    /// Submits a request. Returns its completion if already known. `now` must never decrease.
    #[inline(always)]
    pub(crate) fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        let at = match self {
            Self::Ssd(ssd) => Some(ssd.submit(now, io)),
            Self::Hdd(hdd) => hdd.submit(now, slot, io),
            Self::Servers(servers) => Some(servers.submit(now, io)),
            Self::Volume(volume) => Some(volume.submit(now, io)),
            Self::Pressured(drive) => Some(drive.submit(now, io)),
            Self::Array(_) | Self::Delayed(..) | Self::Faulty(_) => {
                return self.pass_on(now, slot, io);
            }
        };
        at.map(|at| End { slot, at, errno: 0 })
    }

    /// [`submit`](Self::submit) for nodes with members. Separate, because a recursive function is
    /// not inlined into the path of every request.
    #[inline(never)]
    fn pass_on(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        match self {
            Self::Array(array) => array.submit(now, slot, io),
            Self::Delayed(member, delay) => {
                let end = member.submit(now, slot, io)?;
                Some(End { at: end.at + *delay, ..end })
            }
            Self::Faulty(faulty) => faulty.submit(now, slot, io),
            _ => None,
        }
    }

    /// Returns the time of the next internal event.
    pub(crate) fn next(&self) -> Tick {
        match self {
            Self::Hdd(hdd) => hdd.next(),
            Self::Array(array) => array.next(),
            Self::Delayed(member, _) => member.next(),
            Self::Faulty(faulty) => faulty.member.next(),
            Self::Ssd(_) | Self::Servers(_) | Self::Volume(_) | Self::Pressured(_) => NEVER,
        }
    }

    /// Processes the event that is due at [`next`](Self::next), and appends the completions that it
    /// decides.
    pub(crate) fn step(&mut self, ends: &mut Vec<End>) {
        match self {
            Self::Hdd(hdd) => hdd.step(ends),
            Self::Array(array) => array.step(ends),
            Self::Delayed(member, delay) => {
                let first = ends.len();
                member.step(ends);
                ends[first..].iter_mut().for_each(|end| end.at += *delay);
            }
            Self::Faulty(faulty) => faulty.member.step(ends),
            Self::Ssd(_) | Self::Servers(_) | Self::Volume(_) | Self::Pressured(_) => {}
        }
    }

    /// Notes that a request was completed.
    #[inline]
    pub(crate) fn completed(&mut self, slot: u32) {
        match self {
            Self::Ssd(ssd) => ssd.completed(),
            Self::Pressured(drive) => drive.drive.completed(),
            Self::Array(array) => array.completed(slot),
            Self::Delayed(member, _) => member.completed(slot),
            Self::Faulty(faulty) => faulty.member.completed(slot),
            Self::Hdd(_) | Self::Servers(_) | Self::Volume(_) => {}
        }
    }

    /// True if every completion time is known at submission.
    pub(crate) fn is_immediate(&self) -> bool {
        match self {
            Self::Ssd(_) | Self::Servers(_) | Self::Volume(_) | Self::Pressured(_) => true,
            Self::Hdd(_) | Self::Faulty(_) => false,
            Self::Array(array) => array.is_immediate(),
            Self::Delayed(member, _) => member.is_immediate(),
        }
    }

    /// Number of physical requests beyond the first.
    #[inline]
    pub(crate) fn further(&self, io: Io) -> u32 {
        match self {
            Self::Array(array) => array.further(io),
            Self::Delayed(member, _) => member.further(io),
            Self::Faulty(faulty) => faulty.member.further(io),
            _ => 0,
        }
    }

    /// Number of thermal throttling events of its drives.
    pub(crate) fn throttles(&self) -> u32 {
        match self {
            Self::Ssd(ssd) => ssd.throttles(),
            Self::Pressured(drive) => drive.drive.throttles(),
            Self::Array(array) => array.members().iter().map(Self::throttles).sum(),
            Self::Delayed(member, _) => member.throttles(),
            Self::Faulty(faulty) => faulty.member.throttles(),
            Self::Hdd(_) | Self::Servers(_) | Self::Volume(_) => 0,
        }
    }

    /// Appends the wear of each drive, in order.
    pub(crate) fn wear(&self, into: &mut Vec<Wear>) {
        match self {
            Self::Ssd(ssd) => into.push(ssd.wear()),
            Self::Pressured(drive) => into.push(drive.drive.wear()),
            Self::Array(array) => array.members().iter().for_each(|m| m.wear(into)),
            Self::Delayed(member, _) => member.wear(into),
            Self::Faulty(faulty) => faulty.member.wear(into),
            Self::Hdd(_) | Self::Servers(_) | Self::Volume(_) => into.push(Wear::STEADY),
        }
    }
}

impl Member for Node {
    #[inline(always)]
    fn ssd(&mut self) -> Option<&mut Ssd> {
        match self {
            Self::Ssd(ssd) => Some(ssd),
            _ => None,
        }
    }
    #[inline(always)]
    fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        Self::submit(self, now, slot, io)
    }
    #[inline(always)]
    fn next(&self) -> Tick {
        Self::next(self)
    }
    #[inline(always)]
    fn step(&mut self, ends: &mut Vec<End>) {
        Self::step(self, ends);
    }
    #[inline(always)]
    fn completed(&mut self, slot: u32) {
        Self::completed(self, slot);
    }
    #[inline(always)]
    fn is_immediate(&self) -> bool {
        Self::is_immediate(self)
    }
}

impl Faulty {
    fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Option<End> {
        self.submitted += 1;
        let errno = match self.fault {
            Fault::Error { every, errno } if self.submitted.is_multiple_of(every) => errno,
            Fault::Removed { .. } if now >= self.removed_at => ENODEV,
            Fault::Hang { at } if self.submitted == at => return None,
            _ => 0,
        };
        if errno != 0 {
            return Some(End { slot, at: now, errno });
        }
        self.member.submit(now, slot, io)
    }
}
