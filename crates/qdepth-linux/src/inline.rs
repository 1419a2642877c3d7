//! Synchronous reads and writes by the worker itself, one at a time. On targets that answer within
//! a few microseconds this is faster than any queue. It is the counterpart of other tools'
//! synchronous engines.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use qdepth_engine::{Completion, Completions, CpuTime, Slot, Target, TargetFailure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::Request;
use rustix::thread::nanosleep;
use rustix::time::Timespec;

use crate::buffers::Pieces;
use crate::clock::{Clock, SPIN, cpu_time};
use crate::discard::Discard;
use crate::op_flags::OpFlags;
use crate::threads::transfer;

/// Synchronous execution of one request by a worker.
pub(crate) trait Perform {
    /// Performs the request. Returns the number of bytes, or a negative error number.
    fn perform(&self, slot: u32, request: Request) -> i32;
}

/// Reads, writes and discards of a file.
pub(crate) struct Transfers {
    file: RawFd,
    discard: Discard,
    pub(crate) op_flags: OpFlags,
    pieces: Pieces,
}

impl Transfers {
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        op_flags: OpFlags,
        pieces: Pieces,
    ) -> std::io::Result<Self> {
        Ok(Self { file: file.as_raw_fd(), discard: Discard::for_file(file)?, op_flags, pieces })
    }
}

impl Perform for Transfers {
    #[inline(always)]
    fn perform(&self, slot: u32, request: Request) -> i32 {
        let piece = self.pieces.piece_ptr(slot, request.direction);
        transfer(self.file, self.discard, self.op_flags, request, piece)
    }
}

pub(crate) struct Inline<P> {
    pub(crate) calls: P,
    clock: Clock,
    /// Time of the last stamp.
    last: Instant,
    next: Option<(Slot, Request)>,
}

impl<P: Perform> Inline<P> {
    pub(crate) fn new(calls: P, slots: u32) -> std::io::Result<Self> {
        if slots > 1 {
            return Err(std::io::Error::other(format!(
                "it supports one I/O at a time, but {slots} were requested"
            )));
        }
        let clock = Clock::get();
        Ok(Self { calls, clock, last: clock.now(), next: None })
    }

    #[cold]
    fn sleep(&self, until: Instant) {
        loop {
            let left = until.since(self.clock.now());
            if left == Nanos::ZERO {
                return;
            }
            if left > SPIN {
                let coarse = left.0 - SPIN.0;
                // If a signal interrupts the sleep, the loop starts another one.
                let _ = nanosleep(&Timespec {
                    tv_sec: (coarse / 1_000_000_000) as i64,
                    tv_nsec: (coarse % 1_000_000_000) as i64,
                });
            } else {
                std::hint::spin_loop();
            }
        }
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        0
    }
}

impl<P: Perform> Target for Inline<P> {
    #[inline(always)]
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    #[inline(always)]
    fn submit(&mut self, slot: Slot, request: Request) {
        self.next = Some((slot, request));
    }

    /// Performs the pending request, however long the kernel takes; without one, waits until
    /// `until`.
    #[inline(always)]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        match self.next.take() {
            Some((slot, request)) => {
                let result = self.calls.perform(slot.0, request);
                self.last = self.clock.now();
                done.push(Completion { slot, result, at: self.last });
            }
            None => {
                self.sleep(until);
                self.last = self.clock.now();
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn now_after(&mut self, _taken: usize) -> Instant {
        self.last
    }

    fn cpu_time(&mut self) -> CpuTime {
        cpu_time(false)
    }
}
