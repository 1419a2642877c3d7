//! An `io_uring` on the kernel's structures directly. A request writes only the few words of its
//! submission entry that change, in the memory that the kernel reads next. A batch of completions
//! is read where the kernel wrote it. The `io-uring` crate copies 64 bytes each way; avoiding that
//! saves 25 ns per request (docs/engines.md), more than the rest of the loop costs.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering, fence};

use qdepth_measure::Nanos;
use rustix::io::Errno;
use rustix::io_uring::{
    IORING_OFF_SQ_RING, IORING_OFF_SQES, IoringEnterFlags, IoringFeatureFlags, IoringRegisterOp,
    IoringSetupFlags, IoringSqFlags, io_uring_cqe, io_uring_getevents_arg, io_uring_params,
    io_uring_ptr, io_uring_register, io_uring_setup, io_uring_sqe,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::time::Timespec;

use crate::call::{call, error};
use crate::nvme::{COMMAND_AT, Command};
use crate::unsupported::Unsupported;

/// Idle time of a kernel polling thread before it sleeps.
const POLLER_IDLE_MS: u32 = 50;

/// A ring and its two mappings. Entries of a `WIDE` ring are twice as large (128 and 32 bytes), as
/// NVMe commands require.
#[derive(Debug)]
pub(crate) struct Ring<const WIDE: bool = false> {
    descriptor: OwnedFd,
    /// Number of the ring in system calls: its descriptor, or its registered index, which avoids
    /// the lookup in the table of open files.
    name: RawFd,
    shared: Mapping,
    entries: Mapping,
    /// Offsets of the control words in the shared mapping.
    layout: Layout,
    /// Position of the next submission, and the number of submissions that the kernel has not
    /// taken.
    tail: u32,
    queued: u32,
    head: u32,
    flags: IoringEnterFlags,
    /// True if a kernel thread polls for submissions.
    polling: bool,
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    sq_flags: usize,
    sq_head: usize,
    sq_tail: usize,
    sq_mask: u32,
    cq_head: usize,
    cq_tail: usize,
    cq_entries: usize,
    cq_mask: u32,
}

/// Condition that a system call waits for, besides submitting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Await {
    /// None: the call only submits.
    Nothing,
    /// None, but the call checks once for completions.
    Poll,
    /// The first completion, however long it takes.
    First,
    /// This many completions, or the end of the time.
    Until(u32, Nanos),
}

/// Completion of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) user_data: u64,
    pub(crate) result: i32,
    pub(crate) flags: u32,
}

impl<const WIDE: bool> Ring<WIDE> {
    /// Bytes of a submission entry and of a completion.
    const SUBMISSION: usize = size_of::<io_uring_sqe>() << WIDE as usize;
    const COMPLETION: usize = size_of::<io_uring_cqe>() << WIDE as usize;

    /// A ring with at least this many entries.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn new(entries: u32, flags: IoringSetupFlags) -> io::Result<Self> {
        let mut params = io_uring_params::default();
        params.flags = flags | IoringSetupFlags::CQSIZE;
        params.flags.set(IoringSetupFlags::SQE128 | IoringSetupFlags::CQE32, WIDE);
        params.sq_thread_idle = POLLER_IDLE_MS;
        params.cq_entries = entries.next_power_of_two() * 2;
        let (descriptor, in_order) = set_up(entries, &mut params)?;
        if !params.features.contains(IoringFeatureFlags::SINGLE_MMAP | IoringFeatureFlags::EXT_ARG)
        {
            return Err(io::Error::other(Unsupported::OldRing));
        }
        let sq_end = params.sq_off.array as usize + params.sq_entries as usize * size_of::<u32>();
        let cq_end = params.cq_off.cqes as usize + params.cq_entries as usize * Self::COMPLETION;
        let shared = Mapping::new(&descriptor, sq_end.max(cq_end), IORING_OFF_SQ_RING)?;
        let length = params.sq_entries as usize * Self::SUBMISSION;
        let entries = Mapping::new(&descriptor, length, IORING_OFF_SQES)?;
        let layout = Layout {
            sq_flags: params.sq_off.flags as usize,
            sq_head: params.sq_off.head as usize,
            sq_tail: params.sq_off.tail as usize,
            sq_mask: params.sq_entries - 1,
            cq_head: params.cq_off.head as usize,
            cq_tail: params.cq_off.tail as usize,
            cq_entries: params.cq_off.cqes as usize,
            cq_mask: params.cq_entries - 1,
        };
        if !in_order {
            for number in 0..params.sq_entries {
                let offset = params.sq_off.array as usize + number as usize * size_of::<u32>();
                // SAFETY: within the mapping; the kernel does not read it before anything is
                // queued.
                unsafe { shared.base.add(offset).cast::<u32>().write(number) };
            }
        }
        let polling = flags.contains(IoringSetupFlags::SQPOLL);
        let flags = IoringEnterFlags::empty();
        Ok(Self {
            polling,
            name: descriptor.as_raw_fd(),
            descriptor,
            shared,
            entries,
            layout,
            tail: 0,
            queued: 0,
            head: 0,
            flags,
        })
    }

    /// Registers something that the ring's requests refer to.
    ///
    /// # Safety
    /// `argument` must be as `io_uring_register`(2) requires for this operation, and the object
    /// that it refers to must outlive the ring.
    ///
    /// # Errors
    /// The kernel's error.
    pub(crate) unsafe fn register<T>(
        &self,
        operation: IoringRegisterOp,
        argument: &mut [T],
        count: u32,
    ) -> io::Result<u32> {
        let argument = argument.as_mut_ptr().cast::<c_void>();
        // SAFETY: guaranteed by the caller.
        Ok(unsafe { io_uring_register(&self.descriptor, operation, argument, count)? })
    }

    /// Registers the ring's own descriptor, which saves a lookup in every call (Linux 5.18).
    ///
    /// # Errors
    /// The kernel's error.
    pub(crate) fn register_itself(&mut self) -> io::Result<()> {
        // struct io_uring_rsrc_update: offset (u32::MAX: any free one), reserved, data.
        let mut update = [u32::MAX, 0, self.descriptor.as_raw_fd() as u32, 0];
        // SAFETY: the call reads and writes the structure before it returns.
        unsafe { self.register(IoringRegisterOp::RegisterRingFds, &mut update, 1)? };
        self.name = update[0] as RawFd;
        self.flags |= IoringEnterFlags::REGISTERED_RING;
        Ok(())
    }

    /// Number of submission entries.
    pub(crate) fn entries(&self) -> u32 {
        self.layout.sq_mask + 1
    }

    /// The submission entry at an index. It keeps its contents between uses.
    #[inline(always)]
    pub(crate) fn entry(&mut self, index: u32) -> &mut io_uring_sqe {
        let offset = (index & self.layout.sq_mask) as usize * Self::SUBMISSION;
        // SAFETY: within the mapping by the mask, and aligned. The kernel copies the entry when it
        // takes it, and there are never more entries queued than exist.
        unsafe { self.entries.base.add(offset).cast().as_mut() }
    }

    /// The entry that [`queue`](Self::queue) will submit.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> &mut io_uring_sqe {
        self.entry(self.tail)
    }

    /// Queues the [`next`](Self::next) entry; the next [`enter`](Self::enter) submits it.
    #[inline(always)]
    pub(crate) fn queue(&mut self) {
        self.tail = self.tail.wrapping_add(1);
        self.queued += 1;
    }

    /// Number of entries that the kernel has not taken yet.
    #[inline(always)]
    pub(crate) fn queued(&self) -> u32 {
        self.queued
    }

    /// Submits the queued entries, and waits as [`Await`] says.
    ///
    /// # Errors
    /// The kernel's error. A wait that ends by its time limit or a signal is not an error.
    #[inline(always)]
    pub(crate) fn enter(&mut self, wait: Await) -> Result<(), Errno> {
        self.word(self.layout.sq_tail).store(self.tail, Ordering::Release);
        if self.polling {
            self.wake_poller();
        }
        // Written only if there is a limit.
        let mut limit = MaybeUninit::<Timespec>::uninit();
        let mut argument = MaybeUninit::<io_uring_getevents_arg>::uninit();
        let mut flags = self.flags;
        let (mut wanted, mut at, mut length) = (0, 0, 0);
        match wait {
            Await::Nothing => {}
            Await::Poll => flags |= IoringEnterFlags::GETEVENTS,
            Await::First => {
                flags |= IoringEnterFlags::GETEVENTS;
                wanted = 1;
            }
            Await::Until(completions, time) => {
                let time = limit.write(Timespec {
                    tv_sec: (time.0 / 1_000_000_000) as i64,
                    tv_nsec: (time.0 % 1_000_000_000) as i64,
                });
                let ts = io_uring_ptr::new((&raw mut *time).cast::<c_void>());
                let argument = argument.write(io_uring_getevents_arg { ts, ..Default::default() });
                flags |= IoringEnterFlags::GETEVENTS | IoringEnterFlags::EXT_ARG;
                wanted = completions as usize;
                at = (&raw const *argument).expose_provenance();
                length = size_of::<io_uring_getevents_arg>();
            }
        }
        let (name, queued) = (self.name as usize, self.queued as usize);
        let arguments = [name, queued, wanted, flags.bits() as usize, at, length];
        // SAFETY: the entries refer to memory that outlives the ring; the call reads limit and
        // argument, if any, before it returns.
        let answer = unsafe { call(libc::SYS_io_uring_enter, arguments) };
        if answer < 0 {
            return self.in_vain(error(answer));
        }
        self.queued = self.queued.saturating_sub(answer as u32);
        Ok(())
    }

    /// Handles a failed wait. Its result does not contain the number of submissions that the kernel
    /// took before, so that is read from the ring.
    #[cold]
    fn in_vain(&mut self, why: Errno) -> Result<(), Errno> {
        match why {
            Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN => {
                self.queued = self.tail.wrapping_sub(self.taken());
                Ok(())
            }
            why => Err(why),
        }
    }

    /// Sets the flag that wakes the kernel's polling thread if it sleeps because it found nothing
    /// for a while.
    #[inline(always)]
    fn wake_poller(&mut self) {
        // The CPU must not reorder the store and the read of the flag (io_uring_setup(2),
        // IORING_SETUP_SQPOLL).
        fence(Ordering::SeqCst);
        let flags = self.word(self.layout.sq_flags).load(Ordering::Relaxed);
        let asleep = flags & IoringSqFlags::NEED_WAKEUP.bits() != 0;
        self.flags.set(IoringEnterFlags::SQ_WAKEUP, asleep);
    }

    /// Position up to which the kernel has read the queue.
    fn taken(&self) -> u32 {
        self.word(self.layout.sq_head).load(Ordering::Acquire)
    }

    /// Number of available completions.
    #[inline(always)]
    pub(crate) fn ready(&self) -> u32 {
        self.word(self.layout.cq_tail).load(Ordering::Acquire).wrapping_sub(self.head)
    }

    /// Takes the next of the [`ready`](Self::ready) completions.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Answer {
        let index = (self.head & self.layout.cq_mask) as usize;
        // SAFETY: within the mapping by the mask; written by the kernel before the tail that
        // `ready` read.
        let entry = unsafe {
            let base = self.shared.base.add(self.layout.cq_entries);
            base.add(index * Self::COMPLETION).cast::<io_uring_cqe>().as_ref()
        };
        self.head = self.head.wrapping_add(1);
        Answer { user_data: entry.user_data.u64_(), result: entry.res, flags: entry.flags.bits() }
    }

    /// Returns the entries of all taken completions to the kernel.
    #[inline(always)]
    pub(crate) fn give_back(&self) {
        self.word(self.layout.cq_head).store(self.head, Ordering::Release);
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: an aligned word of the mapping, at an offset given by the kernel.
        unsafe { self.shared.base.add(offset).cast::<AtomicU32>().as_ref() }
    }
}

impl Ring<true> {
    /// The command in the entry at an index. It keeps its contents between uses.
    #[inline(always)]
    pub(crate) fn command(&mut self, index: u32) -> &mut Command {
        let entry = (index & self.layout.sq_mask) as usize * Self::SUBMISSION;
        let offset = entry + COMMAND_AT;
        // SAFETY: as for an entry; a wide entry has 80 bytes from this offset, aligned for a
        // command, for which any bytes are valid.
        unsafe { self.entries.base.add(offset).cast().as_mut() }
    }

    /// The command in the [`next`](Self::next) entry.
    #[inline(always)]
    pub(crate) fn next_command(&mut self) -> &mut Command {
        self.command(self.tail)
    }
}

/// Creates the ring: one whose entries are taken in the order of their positions (Linux 6.6), else
/// one with an index array, which is filled to give the same order.
fn set_up(entries: u32, params: &mut io_uring_params) -> io::Result<(OwnedFd, bool)> {
    let asked = *params;
    params.flags |= IoringSetupFlags::NO_SQARRAY;
    // SAFETY: no flag refers to memory or descriptors of this process.
    match unsafe { io_uring_setup(entries, params) } {
        Ok(descriptor) => Ok((descriptor, true)),
        Err(Errno::INVAL) => {
            *params = asked;
            // SAFETY: as above.
            Ok((unsafe { io_uring_setup(entries, params)? }, false))
        }
        Err(why) => Err(why.into()),
    }
}

/// Memory shared with the kernel.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: this value owns the mapping alone.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(ring: &OwnedFd, length: usize, offset: u64) -> io::Result<Self> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: a new mapping at an address that the kernel chooses aliases nothing.
        let base = unsafe { mmap(null_mut(), length, protection, flags, ring, offset)? };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, length })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: base and length are those of the mapping that `new` made.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}
