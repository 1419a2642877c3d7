//! `io_uring`: registered file, buffers and ring descriptor, single issuer, deferred task run; one
//! system call submits and waits.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{IoUring, cqueue, opcode, register, squeue, types};
use qdepth_engine::{Completion, Completions, Slot, TargetFailure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, Request};

use crate::buffers::Buffers;
use crate::clock::Clock;

/// User data of the heartbeat's completions; no slot has this number.
const HEARTBEAT: u64 = u64::MAX;
/// How often a wait for I/O ends though nothing completes. A time limit armed for each wait costs
/// a timer in the kernel each time, some 5 % of the rate on memory-like targets; one that repeats
/// by itself costs nothing in between.
const BEAT: Nanos = Nanos::from_millis(50);
/// Largest transfer that one registered buffer may hold (`io_uring_register`(2): 1 GiB in all).
const REGISTERED_MAX: usize = 1 << 30;

pub(crate) struct Uring {
    ring: IoUring,
    clock: Clock,
    /// Whether the mapping is registered; else plain reads and writes are used.
    fixed_buffers: bool,
    /// Whether the kernel knows repeating time limits (Linux 6.4).
    heartbeat: Option<Box<types::Timespec>>,
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
        entries: u32,
        buffers: &mut Buffers,
        missing: &mut Vec<(String, String)>,
    ) -> io::Result<Self> {
        let ring = Self::ring(entries, missing)?;
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        // A registered ring descriptor saves a table look-up in every system call; older kernels
        // (before 5.18) lack it.
        if let Err(why) = ring.submitter().register_ring_fd() {
            missing.push(("registered ring descriptor".to_owned(), why.to_string()));
        }
        let fixed_buffers = match Self::register(&ring, buffers) {
            Ok(()) => true,
            Err(why) => {
                missing.push(("registered buffers".to_owned(), why.to_string()));
                false
            }
        };
        let mut uring = Self {
            ring,
            clock: Clock,
            fixed_buffers,
            heartbeat: None,
            last: Clock.now(),
            in_kernel: 0,
        };
        uring.start_heartbeat(missing);
        Ok(uring)
    }

    fn start_heartbeat(&mut self, missing: &mut Vec<(String, String)>) {
        let beat = Box::new(types::Timespec::new().nsec(BEAT.0 as u32));
        let flags = types::TimeoutFlags::MULTISHOT;
        let entry = opcode::Timeout::new(&raw const *beat).flags(flags).build();
        // SAFETY: the kernel reads the time limit while it takes the entry, in the call below.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(HEARTBEAT)) };
        let taken = pushed.is_ok() && self.ring.submit().is_ok();
        // A kernel that does not know it answers at once.
        let refused = self.ring.completion().next().map(|entry| entry.result());
        match refused {
            None if taken => self.heartbeat = Some(beat),
            answer => missing.push((
                "repeating time limit".to_owned(),
                io::Error::from_raw_os_error(-answer.unwrap_or(0)).to_string(),
            )),
        }
    }

    fn ring(entries: u32, missing: &mut Vec<(String, String)>) -> io::Result<IoUring> {
        let size = entries.next_power_of_two();
        let best = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_cqsize(size * 2)
            .build(size);
        best.or_else(|why| {
            let plain = IoUring::builder().setup_cqsize(size * 2).build(size)?;
            missing.push(("single issuer, deferred task run".to_owned(), why.to_string()));
            Ok(plain)
        })
    }

    fn register(ring: &IoUring, buffers: &mut Buffers) -> io::Result<()> {
        let whole = buffers.as_mut_slice();
        if whole.len() > REGISTERED_MAX {
            return Err(io::Error::other("more than 1 GiB of buffers"));
        }
        let vector = libc::iovec { iov_base: whole.as_mut_ptr().cast(), iov_len: whole.len() };
        // SAFETY: the mapping outlives the ring: `KernelTarget` drops the ring first, and leaks
        // both where requests are still in the kernel.
        unsafe { ring.submitter().register_buffers(&[vector]) }
    }

    #[inline]
    pub(crate) fn submit(&mut self, slot: Slot, request: Request, buffer: *mut u8) {
        let entry = self.entry(request, buffer).user_data(u64::from(slot.0));
        // SAFETY: the buffer belongs to this slot until its completion is handed back, and holds
        // at least `request.size` bytes.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        // The queue holds every slot of the point at once, so it is never full.
        debug_assert!(pushed.is_ok());
        self.in_kernel += 1;
    }

    #[inline]
    fn entry(&self, request: Request, buffer: *mut u8) -> squeue::Entry {
        let file = types::Fixed(0);
        let Request { direction, offset, size } = request;
        match (direction, self.fixed_buffers) {
            (Direction::Read, true) => {
                opcode::ReadFixed::new(file, buffer, size, 0).offset(offset).build()
            }
            (Direction::Write, true) => {
                opcode::WriteFixed::new(file, buffer, size, 0).offset(offset).build()
            }
            (Direction::Read, false) => {
                opcode::Read::new(file, buffer, size).offset(offset).build()
            }
            (Direction::Write, false) => {
                opcode::Write::new(file, buffer, size).offset(offset).build()
            }
            (Direction::Sync, _) => opcode::Fsync::new(file).build(),
        }
    }

    #[inline]
    pub(crate) fn wait(
        &mut self,
        until: Instant,
        done: &mut Completions,
    ) -> Result<(), TargetFailure> {
        self.enter(until)?;
        let mut beats_on = true;
        let room = done.room();
        for entry in self.ring.completion().take(room) {
            if entry.user_data() == HEARTBEAT {
                beats_on = cqueue::more(entry.flags());
                continue;
            }
            done.push(completion(&entry));
            self.in_kernel -= 1;
        }
        if !beats_on {
            self.heartbeat = None;
        }
        // Read after the reap: a completion is stamped when it was seen. A batch that was reaped
        // together is stamped together; reaping one entry costs some 5 ns.
        let at = self.clock.now();
        self.last = at;
        for completion in done.as_mut_slice() {
            completion.at = at;
        }
        Ok(())
    }

    pub(crate) fn now(&mut self) -> Instant {
        self.last = self.clock.now();
        self.last
    }

    /// One system call: hands over what is queued and waits for the first completion.
    #[inline]
    fn enter(&mut self, until: Instant) -> Result<(), TargetFailure> {
        let left = until.since(self.last);
        if left.0 == 0 {
            return self.answer(|ring| ring.submit());
        }
        if left >= BEAT && self.in_kernel > 0 && self.heartbeat.is_some() {
            return self.answer(|ring| ring.submit_and_wait(1));
        }
        let limit = types::Timespec::new()
            .sec(left.0 / 1_000_000_000)
            .nsec((left.0 % 1_000_000_000) as u32);
        let arguments = types::SubmitArgs::new().timespec(&limit);
        self.answer(|ring| ring.submitter().submit_with_args(1, &arguments))
    }

    #[inline]
    fn answer(&self, call: impl Fn(&IoUring) -> io::Result<usize>) -> Result<(), TargetFailure> {
        match call(&self.ring) {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(TargetFailure::Broken(format!("io_uring_enter: {error}"))),
            },
        }
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.in_kernel
    }
}

#[inline]
fn completion(entry: &cqueue::Entry) -> Completion {
    Completion { slot: Slot(entry.user_data() as u32), result: entry.result(), at: Instant(0) }
}

/// Whether the kernel supports the operations that are needed.
pub(crate) fn probe() -> io::Result<()> {
    let ring = IoUring::new(2)?;
    let mut probe = register::Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    for (code, name) in [
        (opcode::Read::CODE, "read"),
        (opcode::Write::CODE, "write"),
        (opcode::ReadFixed::CODE, "read into registered buffers"),
        (opcode::Fsync::CODE, "fsync"),
    ] {
        if !probe.is_supported(code) {
            return Err(io::Error::other(format!("the kernel's io_uring has no {name}")));
        }
    }
    Ok(())
}
