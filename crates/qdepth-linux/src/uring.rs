//! Reads and writes by `io_uring`, with a registered file, registered buffers and a registered ring
//! descriptor, a single issuer, and deferred task run.

use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;

use qdepth_engine::{Completions, CpuTime, Slot, Target, TargetFailure};
use qdepth_measure::{Instant, label};
use qdepth_workload::{Direction, PriorityDraw, Request};
use rustix::io::{Errno, ReadWriteFlags};
use rustix::io_uring::{
    IoringOp, IoringRegisterOp, IoringSetupFlags, IoringSqeFlags, io_uring_ptr,
};

use crate::buffers::{Buffers, Pieces};
use crate::clock::cpu_time;
use crate::discard::{Discard, Sizes};
use crate::op_flags::{OpFlags, preadv2_beyond};
use crate::ring::Ring;
use crate::ring_queue::{CompletionMode, RingQueue};
use crate::unsupported::{Unsupported, reason};

/// Largest memory that can be registered as one buffer (`io_uring_register`(2): 1 GiB).
const REGISTERED_MAX: usize = 1 << 30;

/// Engine. `TRIMS` is a type parameter, so that loads without trims have no branch for them.
pub(crate) struct Uring<const TRIMS: bool> {
    ring_queue: RingQueue<false>,
    /// Operations for reads, writes, trims and syncs; entries of trims are filled separately.
    operations: [IoringOp; 4],
    discard: Discard,
    sizes: Sizes,
    flags: IoringSqeFlags,
    pub(crate) op_flags: OpFlags,
    pieces: Pieces,
    /// Boxed, because hardly any load has priorities.
    priorities: Option<Box<PriorityDraw>>,
}

impl<const TRIMS: bool> Uring<TRIMS> {
    /// A ring for this many requests in flight on `file`.
    ///
    /// # Errors
    /// The kernel's error, if it forbids `io_uring`.
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        slots: u32,
        completion_mode: CompletionMode,
        buffers: &mut Buffers,
        missing: &mut Vec<(&'static str, String)>,
    ) -> io::Result<Self> {
        let discard = Discard::for_file(file)?;
        if TRIMS {
            discard.by_ring(file)?;
        }
        let mut ring_queue = RingQueue::new(file, slots, completion_mode, missing)?;
        let operations = match register(&ring_queue.ring, buffers) {
            Ok(()) => [IoringOp::ReadFixed, IoringOp::WriteFixed, IoringOp::Nop, IoringOp::Fsync],
            Err(why) => {
                missing.push((label::REGISTERED_BUFFERS, reason(&why)));
                [IoringOp::Read, IoringOp::Write, IoringOp::Nop, IoringOp::Fsync]
            }
        };
        let mut flags = IoringSqeFlags::FIXED_FILE;
        if let Err(why) = never_blocks(file) {
            missing.push((label::NEVER_BLOCKS, reason(&why)));
            flags |= IoringSqeFlags::ASYNC;
        }
        ring_queue.start_heartbeat(missing);
        Ok(Self {
            ring_queue,
            operations,
            discard,
            sizes: Sizes::new(slots),
            flags,
            op_flags: OpFlags::default(),
            pieces: buffers.pieces(),
            priorities: None,
        })
    }

    pub(crate) fn prioritise(&mut self, priorities: PriorityDraw) {
        self.priorities = Some(Box::new(priorities));
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.ring_queue.in_kernel()
    }
}

impl<const TRIMS: bool> Target for Uring<TRIMS> {
    #[inline(always)]
    fn now(&mut self) -> Instant {
        self.ring_queue.now()
    }

    #[inline(always)]
    fn submit(&mut self, slot: Slot, request: Request) {
        let entry = self.ring_queue.next(slot);
        if TRIMS && request.direction == Direction::Trim {
            self.discard.enter(entry, request, self.flags);
            self.sizes.began(slot.0, request.size);
            return self.ring_queue.queue();
        }
        entry.opcode = self.operations[request.direction as usize];
        entry.flags = self.flags;
        let flags = self.op_flags.word(request.direction);
        entry.op_flags.rw_flags = ReadWriteFlags::from_bits_retain(flags);
        entry.off_or_addr2.off = request.offset;
        entry.len.len = request.size;
        let buffer = if request.direction == Direction::Sync {
            std::ptr::null_mut()
        } else {
            self.pieces.piece_ptr(slot.0, request.direction).cast::<c_void>()
        };
        entry.addr_or_splice_off_in.addr = io_uring_ptr::new(buffer);
        if TRIMS {
            entry.addr3_or_cmd.addr3.addr3 = 0;
        }
        if let Some(priorities) = &mut self.priorities {
            entry.ioprio.ioprio = priorities.next(request);
        }
        self.ring_queue.queue();
    }

    #[inline(always)]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let answer = self.ring_queue.wait(until, done);
        if TRIMS {
            for completion in done.as_mut_slice() {
                completion.result = self.sizes.result(completion.slot.0, completion.result);
            }
        }
        answer
    }

    #[inline(always)]
    fn now_after(&mut self, taken: usize) -> Instant {
        self.ring_queue.now_after(taken)
    }

    fn cpu_time(&mut self) -> CpuTime {
        cpu_time(false)
    }
}

/// Checks that the kernel can start a request on this file without blocking. If it cannot (zram,
/// many FUSE servers), `io_uring` tries each in vain and then passes it to a kernel thread; asking
/// for that thread at once raises the rate by a quarter (measured on zram at queue depths 32 and
/// 512).
fn never_blocks(file: BorrowedFd<'_>) -> io::Result<()> {
    match preadv2_beyond(file, ReadWriteFlags::NOWAIT) {
        Err(Errno::OPNOTSUPP) => Err(Errno::OPNOTSUPP.into()),
        _ => Ok(()),
    }
}

fn register(ring: &Ring, buffers: &mut Buffers) -> io::Result<()> {
    let whole = buffers.as_mut_slice();
    if whole.len() > REGISTERED_MAX {
        return Err(io::Error::other(Unsupported::LargeBuffers));
    }
    let vector = libc::iovec { iov_base: whole.as_mut_ptr().cast(), iov_len: whole.len() };
    // SAFETY: an array of one range; the mapping outlives the ring: `KernelTarget` drops the ring
    // first, and leaks both if requests are still in the kernel.
    unsafe { ring.register(IoringRegisterOp::RegisterBuffers, &mut [vector], 1)? };
    Ok(())
}

/// Checks that the kernel supports the required operations.
pub(crate) fn probe() -> io::Result<()> {
    const OPERATIONS: u32 = 256;
    const SUPPORTED: u32 = 1;
    let ring: Ring = Ring::new(2, IoringSetupFlags::empty())?;
    // struct io_uring_probe: 16 bytes, then 8 for each operation: its number (8 bits), reserved
    // (8), flags (16), reserved (32).
    let mut answer = [0u32; 4 + 2 * OPERATIONS as usize];
    // SAFETY: there is room for the given number of operations.
    unsafe { ring.register(IoringRegisterOp::RegisterProbe, &mut answer, OPERATIONS)? };
    for (operation, name) in [
        (IoringOp::Read, "IORING_OP_READ"),
        (IoringOp::Write, "IORING_OP_WRITE"),
        (IoringOp::ReadFixed, "IORING_OP_READ_FIXED"),
        (IoringOp::Fsync, "IORING_OP_FSYNC"),
    ] {
        if (answer[4 + 2 * operation as usize] >> 16) & SUPPORTED == 0 {
            return Err(io::Error::other(Unsupported::Operation(name)));
        }
    }
    Ok(())
}
