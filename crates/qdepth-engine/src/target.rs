//! Interface to storage: a target takes requests, and stamps their completions with its own clock.

use std::ops::AddAssign;

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, Request};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Index of a place for one request in flight, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Most bytes that the kernel reads or writes in one call. The rest of a larger request is left to
/// the caller.
pub const CALL_MAX: u32 = 0x7fff_f000;
/// Piece of a request whose size does not fit in a result.
const PIECE: i32 = 1 << 30;

/// Result of a request that moved all of its bytes, or as many as a result can express: the loop
/// submits the rest.
#[inline]
pub fn moved(size: u32) -> i32 {
    i32::try_from(size).unwrap_or(PIECE)
}

/// Result of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the request.
    pub slot: Slot,
    /// Bytes transferred, or a negative Linux error number.
    pub result: i32,
    /// Time at which the completion was seen.
    pub at: Instant,
}

/// Completions returned by [`Target::wait`], ordered by time stamp. The capacity is fixed.
#[derive(Debug, Default)]
pub struct Completions {
    list: Vec<Completion>,
}

impl Completions {
    /// An empty list with room for `capacity` completions.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity.max(1)) }
    }
    /// True if another one fits without allocating.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.list.len() < self.list.capacity()
    }
    /// Adds a completion. Does nothing if there is no room; check [`has_room`](Self::has_room)
    /// first.
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
    /// Removes all completions.
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
    /// Page faults: those that read from storage (major), and others (minor).
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

impl AddAssign for CpuTime {
    fn add_assign(&mut self, other: Self) {
        self.user += other.user;
        self.system += other.system;
        self.switches += other.switches;
        self.faults = [0, 1].map(|kind| self.faults[kind] + other.faults[kind]);
    }
}

/// Failure of a target that can no longer be measured. The cause is boxed, because the loop
/// receives an optional failure in every turn.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error(transparent)]
pub struct TargetFailure(Box<Cause>);

/// Cause of the failure of a target.
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
    /// Cause of the failure.
    pub fn cause(&self) -> &Cause {
        &self.0
    }

    /// True if the engine broke: no request in flight completes any more.
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

/// Evidence that a device is gone.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Absence {
    /// A transfer inside the area moved zero bytes.
    #[error("a {} of {size} B at {offset} transferred 0 bytes", word(*direction))]
    NothingMoved {
        /// Direction.
        direction: Direction,
        /// Requested bytes.
        size: u32,
        /// Offset from the start of the target.
        offset: u64,
    },
    /// The target does not answer at its path; holds its language-neutral identity.
    #[error("{0} is gone")]
    NotThere(String),
}

/// Failure of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Fault {
    /// A system call failed that affects all requests.
    #[error("{call}: {}", std::io::Error::from_raw_os_error(*errno))]
    Call {
        /// Name of the call.
        call: String,
        /// The kernel's error number, positive.
        errno: i32,
    },
    /// Every thread of the engine has ended.
    #[error("every thread of the engine has ended")]
    ThreadsEnded,
    /// Another rank of the measurement is lost.
    #[error("rank {rank} is lost: {cause} {message}")]
    RankLost {
        /// Number of the rank.
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

/// Storage, real or emulated, and the clock that stamps its completions.
///
/// Rules, which [`conformance`](crate::conformance) checks on every target: each submitted slot
/// completes exactly once; time never goes back; the stamp of a completion is between its
/// submission and the return of the `wait` that returns it; `wait` returns at or soon after
/// `until`.
pub trait Target {
    /// Nanoseconds since this target's epoch.
    fn now(&mut self) -> Instant;

    /// Submits one request. `slot` stays occupied until its completion is returned. Never blocks;
    /// the request may stay in a queue until the next [`wait`](Self::wait).
    fn submit(&mut self, slot: Slot, request: Request);

    /// Returns when something has completed, or at `until`, whichever is first. On an emulated
    /// target only this call advances time.
    ///
    /// # Errors
    /// If the target as a whole is broken. A request that fails is a completion.
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure>;

    /// Time stamp for the requests issued after `taken` completions of the last
    /// [`wait`](Self::wait) were recorded: never later than [`now`](Self::now), and not earlier
    /// than the stamps of those completions. For few completions a target may save reading its
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
