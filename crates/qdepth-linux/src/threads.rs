//! Synchronous reads and writes in threads: the last resort, which works everywhere. One thread per
//! slot, up to a limit. Requests beyond it wait for a thread, and the point reports that.
//!
//! All threads take requests from one queue, and each wakes at most one other. A request that takes
//! less time than a wake-up is therefore made by a thread that is already awake, as in glibc's
//! POSIX AIO; slow requests are all in flight.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use qdepth_engine::{Completion, Completions, CpuTime, Fault, Slot, Target, TargetFailure};
use qdepth_measure::Instant;
use qdepth_workload::{Direction, Request};

use crate::buffers::Pieces;
use crate::call::call;
use crate::clock::{Clock, cpu_time};
use crate::discard::Discard;
use crate::op_flags::OpFlags;

/// Largest number of threads: one for each of the 512 outstanding I/Os of the method.
const THREADS_MAX: u32 = 512;

struct Work {
    slot: u32,
    request: Request,
}

/// Requests that no thread has taken yet.
struct Waiting {
    works: VecDeque<Work>,
    /// Number of sleeping threads.
    idle: u32,
    /// True if the threads should end.
    closed: bool,
}

struct Shared {
    waiting: Mutex<Waiting>,
    woken: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request; `None` if the threads should end.
    fn next(&self) -> Option<Work> {
        let mut waiting = self.lock();
        loop {
            if let Some(work) = waiting.works.pop_front() {
                let wakes = waiting.idle > 0 && !waiting.works.is_empty();
                drop(waiting);
                if wakes {
                    self.woken.notify_one();
                }
                return Some(work);
            }
            if waiting.closed {
                return None;
            }
            waiting.idle += 1;
            waiting = self.woken.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
        }
    }
}

pub(crate) struct Threads {
    shared: Arc<Shared>,
    /// Requests since the last wait.
    submitted: Vec<Work>,
    from: Receiver<Completion>,
    in_kernel: u32,
}

impl Threads {
    pub(crate) fn new(
        file: BorrowedFd<'_>,
        op_flags: OpFlags,
        entries: u32,
        pieces: Pieces,
    ) -> std::io::Result<Self> {
        let discard = Discard::for_file(file)?;
        let file = file.as_raw_fd();
        let (report, from) = channel();
        // Each slot is in flight at most once.
        let works = VecDeque::with_capacity(entries as usize);
        let waiting = Mutex::new(Waiting { works, idle: 0, closed: false });
        let shared = Arc::new(Shared { waiting, woken: Condvar::new() });
        // Ends the threads also if not all of them start.
        let threads = Self {
            shared: Arc::clone(&shared),
            submitted: Vec::with_capacity(entries as usize),
            from,
            in_kernel: 0,
        };
        for _ in 0..entries.clamp(1, THREADS_MAX) {
            let (shared, report) = (Arc::clone(&shared), report.clone());
            thread::Builder::new()
                .name("qdepth-io".to_owned())
                .stack_size(128 << 10)
                .spawn(move || serve(file, discard, op_flags, pieces, &shared, &report))?;
        }
        Ok(threads)
    }

    fn take(&mut self, completion: Completion, done: &mut Completions) {
        self.in_kernel -= 1;
        done.push(completion);
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.in_kernel
    }

    /// Hands the submitted requests to the threads.
    fn hand_over(&mut self) {
        if self.submitted.is_empty() {
            return;
        }
        let mut waiting = self.shared.lock();
        waiting.works.extend(self.submitted.drain(..));
        let wakes = waiting.idle > 0;
        drop(waiting);
        if wakes {
            self.shared.woken.notify_one();
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut waiting = self.shared.lock();
        waiting.closed = true;
        waiting.works.clear();
        drop(waiting);
        self.shared.woken.notify_all();
    }
}

impl Target for Threads {
    fn now(&mut self) -> Instant {
        Clock::get().now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        self.submitted.push(Work { slot: slot.0, request });
        self.in_kernel += 1;
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.hand_over();
        let left = until.since(Clock::get().now());
        match self.from.recv_timeout(Duration::from_nanos(left.0)) {
            Ok(first) => self.take(first, done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Fault::ThreadsEnded.into());
            }
        }
        while done.has_room()
            && let Ok(next) = self.from.try_recv()
        {
            self.take(next, done);
        }
        // The order of the channel is not the order of the stamps.
        done.as_mut_slice().sort_unstable_by_key(|completion| completion.at);
        Ok(())
    }

    /// CPU time of the whole process, because threads do the I/O.
    fn cpu_time(&mut self) -> CpuTime {
        cpu_time(true)
    }
}

fn serve(
    file: RawFd,
    discard: Discard,
    op_flags: OpFlags,
    pieces: Pieces,
    shared: &Shared,
    report: &Sender<Completion>,
) {
    while let Some(Work { slot, request }) = shared.next() {
        let piece = pieces.piece_ptr(slot, request.direction);
        let result = transfer(file, discard, op_flags, request, piece);
        let completion = Completion { slot: Slot(slot), result, at: Clock::get().now() };
        if report.send(completion).is_err() {
            return;
        }
    }
}

#[inline(always)]
pub(crate) fn transfer(
    file: RawFd,
    discard: Discard,
    op_flags: OpFlags,
    request: Request,
    memory: *mut u8,
) -> i32 {
    let Request { direction, offset, size } = request;
    if direction == Direction::Trim {
        return discard.now(file, request);
    }
    let file = file as usize;
    let (number, arguments) = match direction {
        Direction::Sync if op_flags.data_sync() => (libc::SYS_fdatasync, [file, 0, 0, 0, 0, 0]),
        Direction::Sync => (libc::SYS_fsync, [file, 0, 0, 0, 0, 0]),
        transfer => {
            let write = transfer == Direction::Write;
            let flags = op_flags.word(transfer);
            if flags != 0 {
                return flagged(file, write, memory, request, flags);
            }
            let number = if write { libc::SYS_pwrite64 } else { libc::SYS_pread64 };
            let memory = memory.expose_provenance();
            (number, [file, memory, size as usize, offset as usize, 0, 0])
        }
    };
    // SAFETY: the buffer belongs to the request's slot until its completion is handed back and
    // holds at least `size` bytes; the target keeps the file open while requests are in flight.
    unsafe { call(number, arguments) as i32 }
}

/// A transfer with flags (preadv2(2), pwritev2(2)).
#[inline(always)]
fn flagged(file: usize, write: bool, memory: *mut u8, request: Request, flags: u32) -> i32 {
    let number = if write { libc::SYS_pwritev2 } else { libc::SYS_preadv2 };
    let range = libc::iovec { iov_base: memory.cast(), iov_len: request.size as usize };
    let range = (&raw const range).expose_provenance();
    // On 64-bit kernels the low half of the position is all of it.
    let arguments = [file, range, 1, request.offset as usize, 0, flags as usize];
    // SAFETY: as for transfers without flags; the kernel copies the range before the call returns.
    unsafe { call(number, arguments) as i32 }
}
