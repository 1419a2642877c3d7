//! Linux AIO (`io_submit`(2)), for kernels and containers that forbid `io_uring`. It is
//! asynchronous only for direct I/O; buffered requests block in `io_submit`.

use std::io;
use std::os::fd::RawFd;

use qdepth_engine::{Completion, Completions, CpuTime, Fault, Slot, Target, TargetFailure};
use qdepth_measure::Instant;
use qdepth_workload::{Direction, PriorityDraw, Request};
use rustix::io::Errno;

use crate::buffers::Pieces;
use crate::call::{call, error};
use crate::clock::{Clock, cpu_time};
use crate::op_flags::OpFlags;

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;
const IOCB_CMD_NONE: u16 = u16::MAX;
const IOCB_FLAG_IOPRIO: u32 = 2;

/// `struct iocb` of <linux/aio_abi.h>, little-endian layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    eventfd: u32,
}

/// `struct io_event` of <linux/aio_abi.h>.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct IoEvent {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

pub(crate) struct Aio {
    context: u64,
    file: RawFd,
    pub(crate) op_flags: OpFlags,
    clock: Clock,
    blocks: Vec<Iocb>,
    /// Addresses of the control blocks to submit.
    queue: Vec<*mut Iocb>,
    events: Vec<IoEvent>,
    pieces: Pieces,
    /// Requests handed over at once: all if they are direct. Buffered ones wait in the submission
    /// itself, and the kernel holds back the I/O of more than two (`AIO_PLUG_THRESHOLD`) until a
    /// kernel thread has CPU time.
    at_once: usize,
    in_kernel: u32,
    priorities: Option<Box<PriorityDraw>>,
}

impl Aio {
    pub(crate) fn new(
        file: RawFd,
        op_flags: OpFlags,
        entries: u32,
        pieces: Pieces,
    ) -> io::Result<Self> {
        let mut context = 0u64;
        // SAFETY: the pointer is to a live context id of zero, as io_setup(2) requires.
        let answer = unsafe { libc::syscall(libc::SYS_io_setup, entries, &raw mut context) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call only reads the flags of a descriptor.
        let flags = unsafe { libc::fcntl(file, libc::F_GETFL) };
        let is_direct = flags >= 0 && flags & libc::O_DIRECT != 0;
        Ok(Self {
            at_once: if is_direct { usize::MAX } else { 1 },
            context,
            file,
            op_flags,
            clock: Clock::get(),
            blocks: vec![Iocb::default(); entries as usize],
            queue: Vec::with_capacity(entries as usize),
            events: vec![IoEvent::default(); entries as usize],
            pieces,
            in_kernel: 0,
            priorities: None,
        })
    }

    pub(crate) fn prioritise(&mut self, priorities: PriorityDraw) {
        self.priorities = Some(Box::new(priorities));
    }

    /// Submits the queued requests. A request that the kernel refuses at once completes with its
    /// error.
    #[inline(always)]
    fn hand_over(&mut self, done: &mut Completions) -> Result<(), TargetFailure> {
        let mut first = 0;
        while first < self.queue.len() {
            let rest = &mut self.queue[first..];
            let (many, blocks) =
                (rest.len().min(self.at_once), rest.as_mut_ptr().expose_provenance());
            let arguments = [self.context as usize, many, blocks, 0, 0, 0];
            // SAFETY: every pointer is to a block of `self.blocks`, which never moves, and whose
            // buffer belongs to its slot until the completion is handed back.
            let count = unsafe { call(libc::SYS_io_submit, arguments) };
            if count > 0 {
                first += count as usize;
                continue;
            }
            let why = if count < 0 { error(count) } else { Errno::IO };
            if why == Errno::AGAIN || why == Errno::INTR {
                break;
            }
            // SAFETY: as above, the pointer is to a live block.
            let slot = unsafe { (*self.queue[first]).data } as u32;
            done.push(Completion {
                slot: Slot(slot),
                result: -why.raw_os_error(),
                at: self.clock.now(),
            });
            self.in_kernel -= 1;
            first += 1;
        }
        self.queue.drain(..first);
        Ok(())
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.in_kernel
    }

    /// Number of events that arrived, or a negative error number. At least one, unless the time
    /// limit was reached first.
    fn events_until(&mut self, until: Instant) -> isize {
        let left = until.since(self.now());
        let mut limit = libc::timespec {
            tv_sec: (left.0 / 1_000_000_000) as i64,
            tv_nsec: (left.0 % 1_000_000_000) as i64,
        };
        let (room, events) = (self.events.len(), self.events.as_mut_ptr().expose_provenance());
        let limit = (&raw mut limit).expose_provenance();
        let arguments = [self.context as usize, 1, room, events, limit, 0];
        // SAFETY: the addresses are those of live memory of the sizes given.
        unsafe { call(libc::SYS_io_getevents, arguments) }
    }
}

impl Target for Aio {
    #[inline(always)]
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    #[inline(always)]
    fn submit(&mut self, slot: Slot, request: Request) {
        let piece = self.pieces.piece_ptr(slot.0, request.direction);
        let buffer = piece.expose_provenance() as u64;
        let block = &mut self.blocks[slot.0 as usize];
        *block = Iocb {
            data: u64::from(slot.0),
            opcode: match request.direction {
                Direction::Read => IOCB_CMD_PREAD,
                Direction::Write => IOCB_CMD_PWRITE,
                Direction::Sync if self.op_flags.data_sync() => IOCB_CMD_FDSYNC,
                Direction::Sync => IOCB_CMD_FSYNC,
                // Not reached: this engine is not chosen for loads that trim. The kernel would
                // refuse the request.
                Direction::Trim => IOCB_CMD_NONE,
            },
            file: self.file as u32,
            buffer: if request.direction == Direction::Sync { 0 } else { buffer },
            bytes: u64::from(request.size),
            offset: request.offset as i64,
            rw_flags: match request.direction {
                Direction::Sync | Direction::Trim => 0,
                transfer => self.op_flags.word(transfer),
            },
            ..Iocb::default()
        };
        if let Some(priorities) = &mut self.priorities {
            block.priority = priorities.next(request) as i16;
            block.flags = if block.priority == 0 { 0 } else { IOCB_FLAG_IOPRIO };
        }
        self.queue.push(block);
        self.in_kernel += 1;
    }

    #[inline(always)]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.hand_over(done)?;
        if !done.as_slice().is_empty() {
            return Ok(());
        }
        // The call may be interrupted by kernel work for a ring of this thread that no longer
        // exists.
        let (count, at) = loop {
            let count = self.events_until(until);
            let at = self.now();
            if count >= 0 || error(count) != Errno::INTR || at >= until {
                break (count, at);
            }
        };
        for event in self.events.iter().take(count.max(0) as usize) {
            done.push(Completion {
                slot: Slot(event.data as u32),
                result: event.result as i32,
                at,
            });
            self.in_kernel -= 1;
        }
        if count < 0 && error(count) != Errno::INTR {
            let (call, errno) = ("io_getevents".to_owned(), error(count).raw_os_error());
            return Err(Fault::Call { call, errno }.into());
        }
        Ok(())
    }

    fn cpu_time(&mut self) -> CpuTime {
        cpu_time(false)
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        // SAFETY: the context is the one that io_setup made; it is destroyed once.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
