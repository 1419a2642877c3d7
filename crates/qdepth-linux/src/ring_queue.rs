//! Submission and waiting on an `io_uring`, independent of the operations: one system call does
//! both.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use qdepth_engine::{Completion, Completions, Fault, Slot, TargetFailure};
use qdepth_measure::{Instant, Nanos, label};
use rustix::io::Errno;
use rustix::io_uring::{
    IoringCqeFlags, IoringOp, IoringRegisterOp, IoringSetupFlags, IoringSqeFlags,
    IoringTimeoutFlags, io_uring_ptr, io_uring_sqe, io_uring_user_data,
};
use rustix::time::Timespec;

use crate::clock::{Clock, FEW, SPIN};
use crate::ring::{Await, Ring};
use crate::unsupported::reason;

/// User data of heartbeat completions; no slot has this number.
const HEARTBEAT: u64 = u64::MAX;
/// Interval of the heartbeat, which ends waits without a completion. A timeout per wait would cost
/// a kernel timer each time, about 5 % of the rate on memory-like targets. A repeating timeout
/// costs nothing in between.
const BEAT: Nanos = Nanos::from_millis(50);
/// `IORING_TIMEOUT_MULTISHOT` of linux/io_uring.h, which `rustix` does not name.
const MULTISHOT: IoringTimeoutFlags = IoringTimeoutFlags::from_bits_retain(1 << 6);

/// Mode of submission and completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionMode {
    /// By interrupts; the worker sleeps.
    Interrupts,
    /// The worker polls the device's completion queue (`IORING_SETUP_IOPOLL`).
    Completions,
    /// A thread of the kernel polls the submission queue (`IORING_SETUP_SQPOLL`).
    Submissions,
}

/// A ring on one file, and the state of its waits.
pub(crate) struct RingQueue<const WIDE: bool> {
    pub(crate) ring: Ring<WIDE>,
    clock: Clock,
    completion_mode: CompletionMode,
    /// Repeating timeout (Linux 6.4) that ends waits; `None` without it.
    heartbeat: Option<Box<Timespec>>,
    /// True if all requests of the last call had completed when it returned, as on targets in
    /// memory. Such a call need not look for more completions, which saves 25 ns.
    at_once: bool,
    /// Time of the last stamp, so that a wait need not read the clock again.
    last: Instant,
    in_kernel: u32,
}

impl<const WIDE: bool> RingQueue<WIDE> {
    /// A ring for this many requests in flight on `file`.
    ///
    /// # Errors
    /// The kernel's error, if it forbids `io_uring`.
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        slots: u32,
        completion_mode: CompletionMode,
        missing: &mut Vec<(&'static str, String)>,
    ) -> io::Result<Self> {
        // One more entry for the heartbeat, which the kernel may take only after the first request.
        let entries = slots + u32::from(completion_mode == CompletionMode::Submissions);
        let mut ring: Ring<WIDE> = open(entries, completion_mode, missing)?;
        // SAFETY: an array of one descriptor; the kernel keeps the file itself.
        unsafe { ring.register(IoringRegisterOp::RegisterFiles, &mut [file.as_raw_fd()], 1)? };
        if let Err(why) = ring.register_itself() {
            missing.push((label::REGISTERED_RING, reason(&why)));
        }
        let clock = Clock::get();
        let last = clock.now();
        let at_once = completion_mode == CompletionMode::Interrupts;
        Ok(Self { ring, clock, completion_mode, heartbeat: None, at_once, last, in_kernel: 0 })
    }

    /// Submits the heartbeat, a request that ends waits without completions. A ring that polls the
    /// device does not support it.
    pub(crate) fn start_heartbeat(&mut self, missing: &mut Vec<(&'static str, String)>) {
        if self.completion_mode == CompletionMode::Completions {
            return;
        }
        let beat = Box::new(Timespec { tv_sec: 0, tv_nsec: BEAT.0 as i64 });
        let entry = self.ring.next();
        entry.opcode = IoringOp::Timeout;
        entry.flags = IoringSqeFlags::empty();
        entry.addr_or_splice_off_in.addr =
            io_uring_ptr::new((&raw const *beat).cast_mut().cast::<c_void>());
        entry.len.len = 1;
        entry.op_flags.timeout_flags = MULTISHOT;
        entry.user_data = io_uring_user_data { u64_: HEARTBEAT };
        self.ring.queue();
        // A kernel that does not support it completes it at once.
        match self.ring.enter(Await::Poll) {
            Ok(()) if self.ring.ready() == 0 => self.heartbeat = Some(beat),
            Ok(()) => {
                let answer = io::Error::from_raw_os_error(-self.ring.take().result);
                self.ring.give_back();
                missing.push((label::REPEATING_LIMIT, reason(&answer)));
            }
            Err(why) => missing.push((label::REPEATING_LIMIT, reason(&why.into()))),
        }
    }

    /// The entry of the next request. [`queue`](Self::queue) queues it, and the next
    /// [`wait`](Self::wait) submits it. The caller must write all fields in which it differs from a
    /// heartbeat or another request.
    #[inline(always)]
    pub(crate) fn next(&mut self, slot: Slot) -> &mut io_uring_sqe {
        let entry = self.ring.next();
        entry.user_data = io_uring_user_data { u64_: u64::from(slot.0) };
        entry
    }

    #[inline(always)]
    pub(crate) fn queue(&mut self) {
        self.ring.queue();
        self.in_kernel += 1;
    }

    #[inline(always)]
    pub(crate) fn wait(
        &mut self,
        until: Instant,
        done: &mut Completions,
    ) -> Result<(), TargetFailure> {
        loop {
            self.enter(until)?;
            let ready = self.ring.ready();
            // All completions that are ready now happened before this stamp, and the stamp is read
            // before they are taken: no latency contains time of the loop.
            self.last = self.clock.now();
            if ready > 0 {
                self.take(ready, done);
                return Ok(());
            }
            self.at_once = false;
            if self.last >= until {
                return Ok(());
            }
        }
    }

    #[inline(always)]
    fn take(&mut self, ready: u32, done: &mut Completions) {
        let at = self.last;
        for _ in 0..ready {
            let answer = self.ring.take();
            if answer.user_data == HEARTBEAT {
                // Retried now and then: data that was not in a cache may be there now.
                self.at_once = self.completion_mode == CompletionMode::Interrupts;
                if !IoringCqeFlags::from_bits_retain(answer.flags).contains(IoringCqeFlags::MORE) {
                    self.heartbeat = None;
                }
                continue;
            }
            let slot = Slot(answer.user_data as u32);
            done.push(Completion { slot, result: answer.result, at });
            self.in_kernel -= 1;
        }
        self.ring.give_back();
        self.at_once &= self.in_kernel == 0;
    }

    /// Time stamp for requests issued after this many completions of the last wait were recorded.
    #[inline(always)]
    pub(crate) fn now_after(&mut self, taken: usize) -> Instant {
        if taken <= FEW { self.last } else { self.now() }
    }

    #[inline(always)]
    pub(crate) fn now(&mut self) -> Instant {
        self.last = self.clock.now();
        self.last
    }

    /// Submits the queued requests and waits for the first completion, in one system call.
    #[inline(always)]
    fn enter(&mut self, until: Instant) -> Result<(), TargetFailure> {
        let left = until.since(self.last);
        let wait = if self.completion_mode == CompletionMode::Completions {
            Await::Poll
        } else if self.at_once && self.in_kernel > 0 && self.in_kernel == self.ring.queued() {
            // Nothing else is in flight whose completion a call without a check would miss.
            Await::Nothing
        } else if left >= BEAT && self.in_kernel > 0 && self.heartbeat.is_some() {
            Await::First
        } else if left <= SPIN {
            Await::Poll
        } else {
            Await::Until(1, Nanos(left.0 - SPIN.0))
        };
        self.ring.enter(wait).map_err(broken)
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.in_kernel
    }
}

#[cold]
fn broken(why: Errno) -> TargetFailure {
    Fault::Call { call: "io_uring_enter".to_owned(), errno: why.raw_os_error() }.into()
}

/// Opens the best ring that the kernel supports.
pub(crate) fn open<const WIDE: bool>(
    entries: u32,
    completion_mode: CompletionMode,
    missing: &mut Vec<(&'static str, String)>,
) -> io::Result<Ring<WIDE>> {
    let deferred = IoringSetupFlags::SINGLE_ISSUER | IoringSetupFlags::DEFER_TASKRUN;
    let (best, plain) = match completion_mode {
        CompletionMode::Interrupts => (deferred, IoringSetupFlags::empty()),
        CompletionMode::Completions => {
            (deferred | IoringSetupFlags::IOPOLL, IoringSetupFlags::IOPOLL)
        }
        CompletionMode::Submissions => {
            return Ring::new(entries, IoringSetupFlags::SINGLE_ISSUER | IoringSetupFlags::SQPOLL);
        }
    };
    Ring::new(entries, best).or_else(|why| {
        let plain = Ring::new(entries, plain)?;
        missing.push((label::DEFERRED_TASKS, reason(&why)));
        Ok(plain)
    })
}
