//! Synchronous reads and writes by the worker itself, one at a time: on targets that answer within
//! a few microseconds faster than any queue, and the peer of other tools' synchronous engines.

use std::os::fd::RawFd;

use qdepth_engine::{Completion, Completions, Slot, TargetFailure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::Request;
use rustix::thread::nanosleep;
use rustix::time::Timespec;

use crate::clock::{Clock, SPIN};
use crate::threads::transfer;

pub(crate) struct Inline {
    file: RawFd,
    clock: Clock,
    next: Option<(Slot, Request, *mut u8)>,
}

impl Inline {
    pub(crate) fn new(file: RawFd, slots: u32) -> std::io::Result<Self> {
        if slots > 1 {
            return Err(std::io::Error::other(format!(
                "it holds one I/O at a time, and {slots} were asked for"
            )));
        }
        Ok(Self { file, clock: Clock::get(), next: None })
    }

    #[inline]
    pub(crate) fn submit(&mut self, slot: Slot, request: Request, buffer: *mut u8) {
        self.next = Some((slot, request, buffer));
    }

    /// Does the request, however long the kernel takes for it, or waits until then.
    #[inline]
    pub(crate) fn wait(
        &mut self,
        until: Instant,
        done: &mut Completions,
    ) -> Result<(), TargetFailure> {
        match self.next.take() {
            Some((slot, request, buffer)) => {
                let result = transfer(self.file, request, buffer as usize);
                done.push(Completion { slot, result, at: self.clock.now() });
            }
            None => self.sleep(until),
        }
        Ok(())
    }

    fn sleep(&self, until: Instant) {
        loop {
            let left = until.since(self.clock.now());
            if left == Nanos::ZERO {
                return;
            }
            if left > SPIN {
                let coarse = left.0 - SPIN.0;
                // Ended early by a signal, it is begun again.
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
