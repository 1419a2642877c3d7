//! An `io_uring` laid out by hand over the kernel's structures: a request writes the few words of
//! its submission entry that change, where the kernel reads them next, and a batch of completions
//! is read where the kernel wrote it. Beside the `io-uring` crate, which copies 64 bytes each way,
//! that saves 25 ns a request (docs/engines.md), more than the rest of the loop costs.

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
use crate::lack::Lack;
use crate::nvme::{COMMAND_AT, Command};

/// Idle time of a kernel polling thread before it sleeps.
const POLLER_IDLE_MS: u32 = 50;

/// A ring and its two mappings. Entries of a `WIDE` one are twice as large (128 and 32 bytes): what
/// a device's own commands need.
#[derive(Debug)]
pub(crate) struct Ring<const WIDE: bool = false> {
    descriptor: OwnedFd,
    /// Name of the ring in system calls: its descriptor, or its registered index, which avoids the
    /// table of open files.
    name: RawFd,
    shared: Mapping,
    entries: Mapping,
    /// Words of the shared mapping, as offsets.
    layout: Layout,
    /// Position of the next submission, and the number that the kernel has not taken yet.
    tail: u32,
    queued: u32,
    head: u32,
    flags: IoringEnterFlags,
    /// True if a thread of the kernel looks for submissions by itself.
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

/// Condition that a system call waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Await {
    /// It only hands over.
    Nothing,
    /// It hands over and looks once for what has completed.
    Poll,
    /// The first completion, however long that takes.
    First,
    /// So many completions, or the end of the time.
    Until(u32, Nanos),
}

/// Completion of a call.
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
            return Err(io::Error::other(Lack::OldRing));
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
                // SAFETY: within the mapping; the kernel does not look before anything is queued.
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

    /// Tells the kernel of something that the ring's requests refer to.
    ///
    /// # Safety
    /// `argument` must be what `io_uring_register`(2) says for this operation, and what it refers
    /// to must outlive the ring.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) unsafe fn register<T>(
        &self,
        operation: IoringRegisterOp,
        argument: &mut [T],
        count: u32,
    ) -> io::Result<u32> {
        let argument = argument.as_mut_ptr().cast::<c_void>();
        // SAFETY: as the caller promises.
        Ok(unsafe { io_uring_register(&self.descriptor, operation, argument, count)? })
    }

    /// Registers the ring's own descriptor, which saves a look-up in every call (Linux 5.18).
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn register_itself(&mut self) -> io::Result<()> {
        // struct io_uring_rsrc_update: offset (u32::MAX: any free one), reserved, data.
        let mut update = [u32::MAX, 0, self.descriptor.as_raw_fd() as u32, 0];
        // SAFETY: the structure is read and written within the call.
        unsafe { self.register(IoringRegisterOp::RegisterRingFds, &mut update, 1)? };
        self.name = update[0] as RawFd;
        self.flags |= IoringEnterFlags::REGISTERED_RING;
        Ok(())
    }

    /// Number of submission entries.
    pub(crate) fn entries(&self) -> u32 {
        self.layout.sq_mask + 1
    }

    /// The submission entry at a place, which keeps what was written to it.
    #[inline(always)]
    pub(crate) fn entry(&mut self, index: u32) -> &mut io_uring_sqe {
        let offset = (index & self.layout.sq_mask) as usize * Self::SUBMISSION;
        // SAFETY: within the mapping by the mask, aligned, and copied by the kernel while it takes
        // what was queued: no more is ever queued than there are entries.
        unsafe { self.entries.base.add(offset).cast().as_mut() }
    }

    /// The entry that [`queue`](Self::queue) hands over.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> &mut io_uring_sqe {
        self.entry(self.tail)
    }

    /// Hands the [`next`](Self::next) entry to the kernel with the next [`enter`](Self::enter).
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

    /// Hands over what is queued, as [`Await`] says.
    ///
    /// # Errors
    /// The kernel's answer; where time or a signal ended the wait, none.
    #[inline(always)]
    pub(crate) fn enter(&mut self, wait: Await) -> Result<(), Errno> {
        self.word(self.layout.sq_tail).store(self.tail, Ordering::Release);
        if self.polling {
            self.wake_poller();
        }
        // Written where there is a limit, and nowhere else.
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
        // SAFETY: the entries refer to memory that outlives the ring; limit and argument, where
        // there are any, are read within the call.
        let answer = unsafe { call(libc::SYS_io_uring_enter, arguments) };
        if answer < 0 {
            return self.in_vain(error(answer));
        }
        self.queued = self.queued.saturating_sub(answer as u32);
        Ok(())
    }

    /// A call that waited in vain says nothing of what it took before.
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

    /// A polling thread that found nothing for long sleeps until it is told.
    #[inline(always)]
    fn wake_poller(&mut self) {
        // Between our store and the look at its flag the CPU must not trade places
        // (io_uring_setup(2), IORING_SETUP_SQPOLL).
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

    /// Takes one of those that are [`ready`](Self::ready).
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

    /// Gives the places of all that was taken back to the kernel.
    #[inline(always)]
    pub(crate) fn give_back(&self) {
        self.word(self.layout.cq_head).store(self.head, Ordering::Release);
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: an aligned word of the mapping, by the offsets that the kernel gave.
        unsafe { self.shared.base.add(offset).cast::<AtomicU32>().as_ref() }
    }
}

impl Ring<true> {
    /// The command in the entry at a place, which keeps what was written to it.
    #[inline(always)]
    pub(crate) fn command(&mut self, index: u32) -> &mut Command {
        let entry = (index & self.layout.sq_mask) as usize * Self::SUBMISSION;
        let offset = entry + COMMAND_AT;
        // SAFETY: as of an entry; a wide one has 80 bytes from there on, aligned for a command,
        // which any bytes are.
        unsafe { self.entries.base.add(offset).cast().as_mut() }
    }

    /// The command in the [`next`](Self::next) entry.
    #[inline(always)]
    pub(crate) fn next_command(&mut self) -> &mut Command {
        self.command(self.tail)
    }
}

/// Makes the ring: one whose entries are taken in the order of their places (Linux 6.6), else one
/// with an array between, which then names them in that order.
fn set_up(entries: u32, params: &mut io_uring_params) -> io::Result<(OwnedFd, bool)> {
    let asked = *params;
    params.flags |= IoringSetupFlags::NO_SQARRAY;
    // SAFETY: no flag given refers to memory or descriptors of ours.
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

// SAFETY: the mapping belongs to this value alone.
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
