//! Somewhere to send requests, and the clock that their completions are stamped by.

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, Request};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A place for one request in flight, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// The answer to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Whose.
    pub slot: Slot,
    /// Bytes transferred, or a negative Linux error number.
    pub result: i32,
    /// Time at which the completion was seen.
    pub at: Instant,
}

/// Completions handed back by [`Target::wait`], in order of their stamps. Its room is made once.
#[derive(Debug, Default)]
pub struct Completions {
    list: Vec<Completion>,
}

impl Completions {
    /// Room for this many at a time.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity.max(1)) }
    }
    /// True if another one fits without allocating.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.list.len() < self.list.capacity()
    }
    /// Adds one; does nothing where there is no room, which [`has_room`](Self::has_room) tells.
    #[inline]
    pub fn push(&mut self, completion: Completion) {
        if self.has_room() {
            self.list.push(completion);
        }
    }
    /// Completions as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[Completion] {
        &self.list
    }
    /// Completions as a mutable slice, to stamp a reaped batch.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [Completion] {
        &mut self.list
    }
    /// Forgets them.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
    }
}

/// CPU time of the calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// In user mode.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
    /// Number of context switches.
    pub switches: u64,
    /// Pages that it waited for: those that storage had to give, and those that memory had.
    pub faults: [u64; 2],
}

impl CpuTime {
    /// CPU time since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            switches: self.switches.saturating_sub(before.switches),
            faults: [0, 1].map(|kind| self.faults[kind].saturating_sub(before.faults[kind])),
        }
    }
}

/// A target can no longer be measured. It is as large as an address, since the loop is handed one
/// or none at every turn.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(transparent)]
pub struct TargetFailure(Box<Cause>);

/// Why a target can no longer be measured.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Cause {
    /// The device vanished or shrank.
    #[error("the device is gone: {0}")]
    Gone(Absence),
    /// The engine broke.
    #[error("the engine failed: {0}")]
    Broken(Fault),
}

impl TargetFailure {
    /// Why.
    pub fn cause(&self) -> &Cause {
        &self.0
    }

    /// True if it is the engine that broke: then nothing comes back.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(*self.0, Cause::Broken(_))
    }
}

impl From<Absence> for TargetFailure {
    fn from(absence: Absence) -> Self {
        Self(Box::new(Cause::Gone(absence)))
    }
}

impl From<Fault> for TargetFailure {
    fn from(fault: Fault) -> Self {
        Self(Box::new(Cause::Broken(fault)))
    }
}

/// By what it is known that a device is gone.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Absence {
    /// A transfer inside the area moved nothing.
    #[error("a {} of {size} B at {offset} transferred nothing", word(*direction))]
    NothingMoved {
        /// Direction.
        direction: Direction,
        /// Bytes that were to be moved.
        size: u32,
        /// Offset from the start of the target.
        offset: u64,
    },
    /// Nothing answers in its place; its identity, in no language.
    #[error("{0} is gone")]
    NotThere(String),
}

/// Why an engine broke.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Fault {
    /// A system call failed that concerns all requests.
    #[error("{call}: {}", std::io::Error::from_raw_os_error(*errno))]
    Call {
        /// Its name.
        call: String,
        /// The kernel's error number, positive.
        errno: i32,
    },
    /// Every thread of the engine has ended.
    #[error("every thread of the engine has ended")]
    ThreadsEnded,
    /// A rank that measured, too, is lost.
    #[error("rank {rank} is lost: {cause} {message}")]
    RankLost {
        /// Which.
        rank: u32,
        /// Code of the symptom.
        cause: String,
        /// Message of the rank; empty if it sent none.
        message: String,
    },
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Write => "write",
        Direction::Trim => "trim",
        Direction::Read | Direction::Sync => "read",
    }
}

/// Somewhere to send requests, and the clock that their completions are stamped by.
///
/// Laws, which [`conformance`](crate::conformance) checks on every target: each submitted slot
/// completes once; time never goes back; a completion is stamped between its submission and the
/// return of the `wait` that hands it back; `wait` returns at the latest soon after `until`.
pub trait Target {
    /// Nanoseconds since this target's epoch.
    fn now(&mut self) -> Instant;

    /// Takes one request. `slot` stays taken until its completion is handed back. Never blocks;
    /// the request may rest in a queue until the next [`wait`](Self::wait).
    fn submit(&mut self, slot: Slot, request: Request);

    /// Returns when something has completed or `until` has come, whichever is first. On an
    /// emulated target this call, and nothing else, moves time.
    ///
    /// # Errors
    /// If the target as a whole is broken; failures of single requests are completions.
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure>;

    /// The time after `taken` completions of the last [`wait`](Self::wait) were taken into the
    /// results, for the stamps of what is issued next: never after [`now`](Self::now), and not
    /// before the stamp of any of them. Where they are few, a target may save the look at its
    /// clock.
    fn now_after(&mut self, taken: usize) -> Instant {
        let _ = taken;
        self.now()
    }

    /// CPU time of the calling thread; zero in virtual time.
    fn cpu_time(&mut self) -> CpuTime {
        CpuTime::default()
    }
}

impl Target for &mut dyn Target {
    fn now(&mut self) -> Instant {
        (**self).now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        (**self).submit(slot, request);
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        (**self).wait(until, done)
    }

    fn now_after(&mut self, taken: usize) -> Instant {
        (**self).now_after(taken)
    }

    fn cpu_time(&mut self) -> CpuTime {
        (**self).cpu_time()
    }
}
