//! `io_uring`: registered file, buffers and ring descriptor, single issuer, deferred task run; one
//! system call submits and waits.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use qdepth_engine::{Completion, Completions, Slot, TargetFailure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, Request};
use rustix::io::{Errno, IoSliceMut, ReadWriteFlags, preadv2};
use rustix::io_uring::{
    IoringCqeFlags, IoringOp, IoringRegisterOp, IoringSetupFlags, IoringSqeFlags,
    IoringTimeoutFlags, io_uring_ptr, io_uring_user_data,
};
use rustix::time::Timespec;

use crate::buffers::Buffers;
use crate::clock::{Clock, SPIN};
use crate::ring::Ring;

/// User data of the heartbeat's completions; no slot has this number.
const HEARTBEAT: u64 = u64::MAX;
/// How often a wait for I/O ends though nothing completes. A time limit armed for each wait costs
/// a timer in the kernel each time, some 5 % of the rate on memory-like targets; one that repeats
/// by itself costs nothing in between.
const BEAT: Nanos = Nanos::from_millis(50);
/// `IORING_TIMEOUT_MULTISHOT` of linux/io_uring.h, which `rustix` does not name.
const MULTISHOT: IoringTimeoutFlags = IoringTimeoutFlags::from_bits_retain(1 << 6);
/// Largest transfer that one registered buffer may hold (`io_uring_register`(2): 1 GiB in all).
const REGISTERED_MAX: usize = 1 << 30;

/// How completions and submissions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looking {
    /// By interrupts; the worker sleeps.
    Interrupts,
    /// The worker polls the device's completion queue (`IORING_SETUP_IOPOLL`).
    Completions,
    /// A thread of the kernel polls the submission queue (`IORING_SETUP_SQPOLL`).
    Submissions,
}

pub(crate) struct Uring {
    ring: Ring,
    clock: Clock,
    looking: Looking,
    /// Operations of reads, writes and syncs.
    operations: [IoringOp; 3],
    /// Whether a repeating time limit (Linux 6.4) ends waits.
    heartbeat: Option<Box<Timespec>>,
    /// The last stamp, so that a wait needs no further look at the clock.
    last: Instant,
    in_kernel: u32,
}

impl Uring {
    /// A ring for this many requests in flight on `file`.
    ///
    /// # Errors
    /// The kernel's answer, where it forbids `io_uring`.
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        slots: u32,
        looking: Looking,
        buffers: &mut Buffers,
        missing: &mut Vec<(String, String)>,
    ) -> io::Result<Self> {
        // One entry more, for the heartbeat.
        let mut ring = open(slots + 1, looking, missing)?;
        // SAFETY: an array of one descriptor; the kernel keeps the file itself.
        unsafe { ring.register(IoringRegisterOp::RegisterFiles, &mut [file.as_raw_fd()], 1)? };
        if let Err(why) = ring.register_itself() {
            missing.push(("registered ring descriptor".to_owned(), why.to_string()));
        }
        let operations = match register(&ring, buffers) {
            Ok(()) => [IoringOp::ReadFixed, IoringOp::WriteFixed, IoringOp::Fsync],
            Err(why) => {
                missing.push(("registered buffers".to_owned(), why.to_string()));
                [IoringOp::Read, IoringOp::Write, IoringOp::Fsync]
            }
        };
        let mut flags = IoringSqeFlags::FIXED_FILE;
        if let Err(why) = never_blocks(file) {
            missing.push(("requests that never block".to_owned(), why.to_string()));
            flags |= IoringSqeFlags::ASYNC;
        }
        for slot in 0..slots {
            let entry = ring.entry(slot);
            entry.flags = flags;
            entry.user_data = io_uring_user_data { u64_: u64::from(slot) };
        }
        let clock = Clock::get();
        let last = clock.now();
        let mut uring =
            Self { ring, clock, looking, operations, heartbeat: None, last, in_kernel: 0 };
        match looking {
            // Such a ring takes reads and writes only.
            Looking::Completions => {}
            Looking::Interrupts | Looking::Submissions => uring.start_heartbeat(slots, missing),
        }
        Ok(uring)
    }

    fn start_heartbeat(&mut self, slot: u32, missing: &mut Vec<(String, String)>) {
        let beat = Box::new(Timespec { tv_sec: 0, tv_nsec: BEAT.0 as i64 });
        let entry = self.ring.entry(slot);
        entry.opcode = IoringOp::Timeout;
        entry.addr_or_splice_off_in.addr =
            io_uring_ptr::new((&raw const *beat).cast_mut().cast::<c_void>());
        entry.len.len = 1;
        entry.op_flags.timeout_flags = MULTISHOT;
        entry.user_data = io_uring_user_data { u64_: HEARTBEAT };
        self.ring.queue(slot);
        // A kernel that does not know it answers at once.
        match self.ring.enter(0, None) {
            Ok(()) if self.ring.ready() == 0 => self.heartbeat = Some(beat),
            Ok(()) => {
                let answer = io::Error::from_raw_os_error(-self.ring.take().result);
                self.ring.give_back();
                missing.push(("repeating time limit".to_owned(), answer.to_string()));
            }
            Err(why) => missing.push(("repeating time limit".to_owned(), why.to_string())),
        }
    }

    #[inline]
    pub(crate) fn submit(&mut self, slot: Slot, request: Request, buffer: *mut u8) {
        let entry = self.ring.entry(slot.0);
        entry.opcode = self.operations[request.direction as usize];
        entry.off_or_addr2.off = request.offset;
        entry.len.len = request.size;
        let buffer = if request.direction == Direction::Sync {
            std::ptr::null_mut()
        } else {
            buffer.cast::<c_void>()
        };
        entry.addr_or_splice_off_in.addr = io_uring_ptr::new(buffer);
        self.ring.queue(slot.0);
        self.in_kernel += 1;
    }

    #[inline]
    pub(crate) fn wait(
        &mut self,
        until: Instant,
        done: &mut Completions,
    ) -> Result<(), TargetFailure> {
        loop {
            self.enter(until)?;
            let ready = self.ring.ready();
            // All that is ready now was complete before this stamp, and it is read before they
            // are taken: nothing that the loop does is in a latency.
            self.last = self.clock.now();
            if ready > 0 {
                self.take(ready, done);
                return Ok(());
            }
            if self.last >= until {
                return Ok(());
            }
        }
    }

    #[inline]
    fn take(&mut self, ready: u32, done: &mut Completions) {
        let at = self.last;
        for _ in 0..ready {
            let answer = self.ring.take();
            if answer.user_data == HEARTBEAT {
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
    }

    #[inline]
    pub(crate) fn now(&mut self) -> Instant {
        self.last = self.clock.now();
        self.last
    }

    /// One system call: hands over what is queued and waits for the first completion.
    #[inline]
    fn enter(&mut self, until: Instant) -> Result<(), TargetFailure> {
        let left = until.since(self.last);
        let answer = if self.looking == Looking::Completions {
            self.ring.enter(0, None)
        } else if left >= BEAT && self.in_kernel > 0 && self.heartbeat.is_some() {
            self.ring.enter(1, None)
        } else if left <= SPIN {
            self.ring.enter(0, None)
        } else {
            self.ring.enter(1, Some(Nanos(left.0 - SPIN.0)))
        };
        answer.map_err(|error| TargetFailure::Broken(format!("io_uring_enter: {error}")))
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.in_kernel
    }
}

/// Whether the kernel can begin a request on this file without blocking. Where it can not (zram,
/// many FUSE servers), `io_uring` tries each in vain and then hands it to a thread of its own; to
/// ask for that thread at once raises the rate by a quarter (measured on zram at 32 and 512).
fn never_blocks(file: BorrowedFd<'_>) -> io::Result<()> {
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    // Far beyond the end of anything: the kernel answers without touching the storage.
    const BEYOND: u64 = 1 << 60;
    let mut page = Page([0; 4096]);
    match preadv2(file, &mut [IoSliceMut::new(&mut page.0)], BEYOND, ReadWriteFlags::NOWAIT) {
        Err(Errno::OPNOTSUPP) => Err(Errno::OPNOTSUPP.into()),
        _ => Ok(()),
    }
}

/// The best ring that the kernel makes.
pub(crate) fn open(
    entries: u32,
    looking: Looking,
    missing: &mut Vec<(String, String)>,
) -> io::Result<Ring> {
    let deferred = IoringSetupFlags::SINGLE_ISSUER | IoringSetupFlags::DEFER_TASKRUN;
    let (best, plain) = match looking {
        Looking::Interrupts => (deferred, IoringSetupFlags::empty()),
        Looking::Completions => (deferred | IoringSetupFlags::IOPOLL, IoringSetupFlags::IOPOLL),
        Looking::Submissions => {
            return Ring::new(entries, IoringSetupFlags::SINGLE_ISSUER | IoringSetupFlags::SQPOLL);
        }
    };
    Ring::new(entries, best).or_else(|why| {
        let plain = Ring::new(entries, plain)?;
        missing.push(("single issuer, deferred task run".to_owned(), why.to_string()));
        Ok(plain)
    })
}

fn register(ring: &Ring, buffers: &mut Buffers) -> io::Result<()> {
    let whole = buffers.as_mut_slice();
    if whole.len() > REGISTERED_MAX {
        return Err(io::Error::other("more than 1 GiB of buffers"));
    }
    let vector = libc::iovec { iov_base: whole.as_mut_ptr().cast(), iov_len: whole.len() };
    // SAFETY: an array of one range; the mapping outlives the ring: `KernelTarget` drops the ring
    // first, and leaks both where requests are still in the kernel.
    unsafe { ring.register(IoringRegisterOp::RegisterBuffers, &mut [vector], 1)? };
    Ok(())
}

/// Whether the kernel supports the operations that are needed.
pub(crate) fn probe() -> io::Result<()> {
    const OPERATIONS: u32 = 256;
    const SUPPORTED: u32 = 1;
    let ring = Ring::new(2, IoringSetupFlags::empty())?;
    // struct io_uring_probe: 16 bytes, then 8 for each operation: its number (8 bits), reserved
    // (8), flags (16), reserved (32).
    let mut answer = [0u32; 4 + 2 * OPERATIONS as usize];
    // SAFETY: room for as many operations as said.
    unsafe { ring.register(IoringRegisterOp::RegisterProbe, &mut answer, OPERATIONS)? };
    for (operation, name) in [
        (IoringOp::Read, "read"),
        (IoringOp::Write, "write"),
        (IoringOp::ReadFixed, "read into registered buffers"),
        (IoringOp::Fsync, "fsync"),
    ] {
        if (answer[4 + 2 * operation as usize] >> 16) & SUPPORTED == 0 {
            return Err(io::Error::other(format!("the kernel's io_uring has no {name}")));
        }
    }
    Ok(())
}
