//! Discards: a command of a device, or a hole in a file.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use qdepth_engine::moved;
use qdepth_workload::{Direction, Request};
use rustix::fs::{FallocateFlags, FileType, fallocate, fstat};
use rustix::io::Errno;
use rustix::io::ReadWriteFlags;
use rustix::io_uring::{
    IoringOp, IoringSetupFlags, IoringSqeFlags, io_uring_sqe, io_uring_user_data,
};

use crate::call::call;
use crate::ring::{Await, Ring};
use crate::unsupported::Unsupported;

/// `ioctl` and ring command (Linux 6.12) for discards, from <linux/fs.h> and <linux/blkdev.h>:
/// `_IO(0x12, …)`.
const BLKDISCARD: usize = 0x1277;
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
/// Punches a hole without changing the length of the file.
const HOLE: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

/// Discard operation of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discard {
    /// The device's own command.
    Command,
    /// A hole in a file.
    Hole,
}

impl Discard {
    /// Discard operation for a file or device.
    ///
    /// # Errors
    /// The error of the system call that reads its type.
    pub(crate) fn for_file(file: BorrowedFd<'_>) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(fstat(file)?.st_mode);
        Ok(if kind == FileType::BlockDevice { Self::Command } else { Self::Hole })
    }

    /// Checks that the file supports the operation, by punching a hole after its end, where no data
    /// can be lost.
    ///
    /// # Errors
    /// The kernel's error.
    pub(crate) fn is_possible(self, file: BorrowedFd<'_>) -> io::Result<()> {
        const PAGE: u64 = 4096;
        if self == Self::Command {
            return Ok(());
        }
        let end = u64::try_from(fstat(file)?.st_size).unwrap_or(0).next_multiple_of(PAGE);
        Ok(fallocate(file, HOLE, end, PAGE)?)
    }

    /// Checks that a ring submits discards without blocking. A kernel that supports them rejects an
    /// empty range as invalid, and discards nothing.
    ///
    /// # Errors
    /// The reason why it does not.
    pub(crate) fn by_ring(self, file: BorrowedFd<'_>) -> io::Result<()> {
        if self == Self::Hole {
            return Ok(());
        }
        let mut ring: Ring = Ring::new(2, IoringSetupFlags::empty())?;
        let entry = ring.next();
        let nothing = Request { direction: Direction::Trim, offset: 0, size: 0 };
        self.enter(entry, nothing, IoringSqeFlags::empty());
        entry.fd = file.as_raw_fd();
        entry.user_data = io_uring_user_data { u64_: 0 };
        ring.queue();
        ring.enter(Await::First)?;
        let answer = ring.take().result;
        ring.give_back();
        match Errno::from_raw_os_error(-answer) {
            Errno::INVAL => Ok(()),
            why => Err(io::Error::other(Unsupported::Discards(why))),
        }
    }

    /// Fills a submission entry, except for its slot and its file.
    pub(crate) fn enter(self, entry: &mut io_uring_sqe, request: Request, flags: IoringSqeFlags) {
        let Request { offset, size, .. } = request;
        let size = moved(size).unsigned_abs();
        entry.flags = flags;
        entry.ioprio.ioprio = 0;
        entry.op_flags.rw_flags = ReadWriteFlags::empty();
        match self {
            Self::Command => {
                entry.opcode = IoringOp::UringCmd;
                entry.off_or_addr2.off = u64::from(BLOCK_URING_CMD_DISCARD);
                entry.addr_or_splice_off_in.splice_off_in = offset;
                entry.addr3_or_cmd.addr3.addr3 = u64::from(size);
                entry.len.len = 0;
            }
            Self::Hole => {
                entry.opcode = IoringOp::Fallocate;
                entry.off_or_addr2.off = offset;
                entry.addr_or_splice_off_in.splice_off_in = u64::from(size);
                entry.len.len = HOLE.bits();
            }
        }
    }

    /// Discards synchronously. Returns the size, or a negative error number.
    #[cold]
    pub(crate) fn now(self, file: RawFd, request: Request) -> i32 {
        let Request { offset, size, .. } = request;
        let result = moved(size);
        let size = result.unsigned_abs();
        let range = [offset, u64::from(size)];
        let at = (&raw const range).expose_provenance();
        let (number, arguments) = match self {
            Self::Command => (libc::SYS_ioctl, [file as usize, BLKDISCARD, at, 0, 0, 0]),
            Self::Hole => {
                let mode = HOLE.bits() as usize;
                (libc::SYS_fallocate, [file as usize, mode, offset as usize, size as usize, 0, 0])
            }
        };
        // SAFETY: the call reads the range before it returns; the target keeps the file open while
        // requests are in flight.
        let answer = unsafe { call(number, arguments) };
        if answer == 0 { result } else { answer as i32 }
    }
}

/// Sizes of the ring's discards in flight: the kernel returns 0 for success, but the loop counts
/// bytes.
#[derive(Debug)]
pub(crate) struct Sizes(Vec<u32>);

impl Sizes {
    pub(crate) fn new(slots: u32) -> Self {
        Self(vec![0; slots as usize])
    }

    /// Notes the size of a discard that starts in the slot.
    pub(crate) fn began(&mut self, slot: u32, size: u32) {
        if let Some(entry) = self.0.get_mut(slot as usize) {
            *entry = size;
        }
    }

    /// Converts the kernel's result of a slot's request: bytes, or a negative error number.
    pub(crate) fn result(&mut self, slot: u32, result: i32) -> i32 {
        match self.0.get_mut(slot as usize).map(std::mem::take) {
            Some(size) if result == 0 && size > 0 => moved(size),
            _ => result,
        }
    }
}
