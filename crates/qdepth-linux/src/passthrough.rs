//! NVMe passthrough: reads and writes as commands of the drive, submitted to its driver by
//! `io_uring`, bypassing the block layer (`IORING_OP_URING_CMD`, Linux 5.19).

use std::io;
use std::os::fd::BorrowedFd;

use qdepth_engine::{Cause, Completion, Completions, CpuTime, Fault, Slot, Target, TargetFailure};
use qdepth_measure::{Instant, Nanos, label};
use qdepth_workload::{Direction, Request};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;
use rustix::io_uring::{
    IoringOp, IoringRegisterOp, IoringSqeFlags, IoringUringCmdFlags, buf_union, io_uring_ptr,
};
use rustix::ioctl::opcode;

use crate::buffers::{Buffers, Pieces};
use crate::clock::cpu_time;
use crate::nvme::{Command, result};
use crate::ring_queue::{CompletionMode, RingQueue};
use crate::unsupported::reason;

/// Blocks of the largest command: the number of blocks has 16 bits and counts from zero (NVM
/// Command Set Specification, Read command, dword 12).
const BLOCKS_MAX: u32 = 1 << 16;
/// Interval for checking the first command; the driver itself cancels one after 30 s.
const WAIT_SLICE: Nanos = Nanos::from_secs(1);

/// The namespace that a descriptor sends commands to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Number of the namespace, as used in commands.
    pub id: u32,
    /// Size of a logical block in bytes, a power of two.
    pub block_bytes: u32,
}

pub(crate) struct Passthrough {
    ring_queue: RingQueue<true>,
    namespace: Namespace,
    writable: bool,
    pieces: Pieces,
    /// Size of the command in each slot, bytes: the drive reports only success.
    sizes: Vec<u32>,
    /// Completions of requests that were refused without a command.
    refused: Vec<Completion>,
}

impl Passthrough {
    /// A ring for this many commands in flight. It first reads `size_max` bytes, so that a kernel
    /// or drive without passthrough fails before the measurement.
    ///
    /// # Errors
    /// The reason why the kernel or the drive accepts no such command.
    pub(crate) fn new(
        commands: BorrowedFd<'_>,
        namespace: Namespace,
        slots: u32,
        size_max: u32,
        completion_mode: CompletionMode,
        buffers: &mut Buffers,
        missing: &mut Vec<(&'static str, String)>,
    ) -> io::Result<Self> {
        let Namespace { id, block_bytes } = namespace;
        if !block_bytes.is_power_of_two() || !takes(namespace, 0, size_max) {
            return Err(io::Error::other(format!(
                "I/Os of {size_max} B are not 1 to {BLOCKS_MAX} blocks of {block_bytes} B"
            )));
        }
        let mut ring_queue =
            RingQueue::new(commands, slots, completion_mode, missing).map_err(|why| {
                io::Error::new(
                    why.kind(),
                    format!("cannot create a ring for commands (needs Linux 5.19): {why}"),
                )
            })?;
        // Must come before the entries are prepared, because it uses one.
        ring_queue.start_heartbeat(missing);
        let writable = !(fcntl_getfl(commands)? & OFlags::ACCMODE).is_empty();
        let (sizes, refused) = (vec![0; slots as usize], Vec::with_capacity(slots as usize));
        let mut passthrough =
            Self { ring_queue, namespace, writable, pieces: buffers.pieces(), sizes, refused };
        passthrough.lay(id);
        let fixed = passthrough.register(slots, buffers);
        match fixed.and_then(|()| passthrough.first(size_max)) {
            Ok(()) => {}
            Err(why) => {
                passthrough.set_flags(IoringUringCmdFlags::empty());
                passthrough.first(size_max).map_err(|why| {
                    io::Error::other(format!(
                        "the first command, a read of {size_max} B, failed: {why}"
                    ))
                })?;
                missing.push((label::REGISTERED_BUFFERS, reason(&why)));
            }
        }
        Ok(passthrough)
    }

    /// Writes the fields that are the same in every command.
    fn lay(&mut self, namespace: u32) {
        let ring = &mut self.ring_queue.ring;
        for index in 0..ring.entries() {
            let entry = ring.entry(index);
            entry.opcode = IoringOp::UringCmd;
            entry.flags = IoringSqeFlags::FIXED_FILE;
            entry.off_or_addr2.off = 0;
            entry.off_or_addr2.cmd_op.cmd_op = opcode::read_write::<Command>(b'N', 0x80);
            entry.addr_or_splice_off_in.addr = io_uring_ptr::null();
            entry.len.len = 0;
            entry.op_flags.uring_cmd_flags = IoringUringCmdFlags::empty();
            *ring.command(index) = Command::new(namespace);
        }
    }

    fn set_flags(&mut self, flags: IoringUringCmdFlags) {
        let ring = &mut self.ring_queue.ring;
        for index in 0..ring.entries() {
            ring.entry(index).op_flags.uring_cmd_flags = flags;
        }
    }

    /// Registers each piece of memory separately: Linux 6.1 counts all pages from a command's first
    /// to the end of its registered buffer as the command's.
    fn register(&mut self, slots: u32, buffers: &mut Buffers) -> io::Result<()> {
        let own_writes = self.pieces.number(0, Direction::Write) > 0;
        let slots_for = |direction| (0..slots).map(move |slot| (slot, direction));
        let own = slots_for(Direction::Write).filter(|_| own_writes);
        let all = slots_for(Direction::Read).chain(own);
        let mut pieces: Vec<libc::iovec> = all
            .map(|(slot, direction)| {
                let piece = buffers.piece(slot, direction);
                libc::iovec { iov_base: piece.as_mut_ptr().cast(), iov_len: piece.len() }
            })
            .collect();
        let count = pieces.len() as u32;
        // SAFETY: an array of `count` ranges; their mapping outlives the ring: `KernelTarget` drops
        // the ring first, and leaks both if requests are still in the kernel.
        unsafe {
            self.ring_queue.ring.register(IoringRegisterOp::RegisterBuffers, &mut pieces, count)?;
        }
        self.set_flags(IoringUringCmdFlags::FIXED);
        Ok(())
    }

    /// Reads the first bytes. Waits without a time limit, because the kernel owns the memory until
    /// the command ends.
    fn first(&mut self, size: u32) -> io::Result<()> {
        self.submit(Slot(0), Request { direction: Direction::Read, offset: 0, size });
        let mut done = Completions::with_capacity(1);
        while done.as_slice().is_empty() {
            let until = self.now() + WAIT_SLICE;
            self.wait(until, &mut done).map_err(in_words_of_the_kernel)?;
        }
        match done.as_slice()[0].result {
            error @ ..0 => Err(io::Error::from_raw_os_error(-error)),
            _ => Ok(()),
        }
    }

    #[cold]
    fn refuse(&mut self, slot: Slot, why: Errno) {
        let at = self.ring_queue.now();
        self.refused.push(Completion { slot, result: -why.raw_os_error(), at });
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.ring_queue.in_kernel()
    }
}

impl Target for Passthrough {
    #[inline(always)]
    fn submit(&mut self, slot: Slot, request: Request) {
        let Request { direction, offset, size } = request;
        // For root, the kernel permits writes through a descriptor that is open for reading.
        if direction == Direction::Write && !self.writable {
            return self.refuse(slot, Errno::BADF);
        }
        if direction == Direction::Trim {
            return self.refuse(slot, Errno::OPNOTSUPP);
        }
        if direction != Direction::Sync && !takes(self.namespace, offset, size) {
            return self.refuse(slot, Errno::INVAL);
        }
        let shift = self.namespace.block_bytes.trailing_zeros();
        let buffer = self.pieces.piece_ptr(slot.0, direction);
        let buf_index = self.pieces.number(slot.0, direction) as u16;
        self.ring_queue.next(slot).buf = buf_union { buf_index };
        let command = self.ring_queue.ring.next_command();
        match direction {
            Direction::Read => command.transfer(Command::READ, offset >> shift, size >> shift),
            Direction::Write => command.transfer(Command::WRITE, offset >> shift, size >> shift),
            Direction::Sync | Direction::Trim => command.flush(),
        }
        let size = if direction == Direction::Sync { 0 } else { size };
        let memory = if size == 0 { std::ptr::null_mut() } else { buffer };
        command.memory(io_uring_ptr::new(memory.cast()), size);
        self.sizes[slot.0 as usize] = size;
        self.ring_queue.queue();
    }

    #[inline(always)]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        if !self.refused.is_empty() {
            while done.has_room()
                && let Some(refused) = self.refused.pop()
            {
                let at = self.ring_queue.now();
                done.push(Completion { at, ..refused });
            }
            return Ok(());
        }
        let before = done.as_slice().len();
        let answer = self.ring_queue.wait(until, done);
        for completion in &mut done.as_mut_slice()[before..] {
            completion.result = result(completion.result, self.sizes[completion.slot.0 as usize]);
        }
        answer
    }

    #[inline(always)]
    fn now(&mut self) -> Instant {
        self.ring_queue.now()
    }

    #[inline(always)]
    fn now_after(&mut self, taken: usize) -> Instant {
        self.ring_queue.now_after(taken)
    }

    fn cpu_time(&mut self) -> CpuTime {
        cpu_time(false)
    }
}

/// True if a request can be a command: whole blocks, and not too many.
#[inline]
fn takes(namespace: Namespace, offset: u64, size: u32) -> bool {
    let block = namespace.block_bytes;
    let within = u64::from(block - 1);
    (offset | u64::from(size)) & within == 0
        && size > 0
        && u64::from(size) <= u64::from(block) * u64::from(BLOCKS_MAX)
}

fn in_words_of_the_kernel(failure: TargetFailure) -> io::Error {
    match failure.cause() {
        Cause::Broken(Fault::Call { errno, .. }) => io::Error::from_raw_os_error(*errno),
        _ => io::Error::other(failure),
    }
}
