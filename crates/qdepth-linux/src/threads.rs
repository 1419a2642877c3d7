//! Synchronous reads and writes in threads: the last resort, which works everywhere. A thread for
//! each slot, up to a limit; requests beyond it wait for a thread, and the point says so.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use qdepth_engine::{Completion, Completions, Slot, TargetFailure};
use qdepth_measure::Instant;
use qdepth_workload::{Direction, Request};

use crate::clock::Clock;

/// Most threads: one each for the 512 outstanding I/Os of the method.
const THREADS_MAX: u32 = 512;

struct Work {
    slot: u32,
    request: Request,
    buffer: usize,
}

pub(crate) struct Threads {
    to: Vec<SyncSender<Work>>,
    from: Receiver<Completion>,
    in_kernel: u32,
}

impl Threads {
    pub(crate) fn new(file: RawFd, entries: u32) -> std::io::Result<Self> {
        let (report, from) = channel();
        let file = Arc::new(file);
        let mut to = Vec::new();
        for _ in 0..entries.clamp(1, THREADS_MAX) {
            let (sender, work) = sync_channel(entries as usize);
            let (file, report) = (Arc::clone(&file), report.clone());
            thread::Builder::new()
                .name("qdepth-io".to_owned())
                .stack_size(128 << 10)
                .spawn(move || serve(*file, &work, &report))?;
            to.push(sender);
        }
        Ok(Self { to, from, in_kernel: 0 })
    }

    pub(crate) fn submit(&mut self, slot: Slot, request: Request, buffer: *mut u8) {
        let work = Work { slot: slot.0, request, buffer: buffer as usize };
        let thread = &self.to[slot.0 as usize % self.to.len()];
        // Each slot is in flight once, so its thread's queue of all slots is never full.
        if thread.try_send(work).is_ok() {
            self.in_kernel += 1;
        }
    }

    pub(crate) fn wait(
        &mut self,
        until: Instant,
        done: &mut Completions,
    ) -> Result<(), TargetFailure> {
        let left = until.since(Clock::get().now());
        match self.from.recv_timeout(Duration::from_nanos(left.0)) {
            Ok(first) => self.take(first, done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(TargetFailure::Broken(
                    "every thread of the engine has ended".to_owned(),
                ));
            }
        }
        while done.has_room()
            && let Ok(next) = self.from.try_recv()
        {
            self.take(next, done);
        }
        // Threads report in the order of the channel, which is not that of their stamps.
        done.as_mut_slice().sort_unstable_by_key(|completion| completion.at);
        Ok(())
    }

    fn take(&mut self, completion: Completion, done: &mut Completions) {
        self.in_kernel -= 1;
        done.push(completion);
    }

    pub(crate) fn in_kernel(&self) -> u32 {
        self.in_kernel
    }
}

fn serve(file: RawFd, work: &Receiver<Work>, report: &Sender<Completion>) {
    while let Ok(Work { slot, request, buffer }) = work.recv() {
        let result = transfer(file, request, buffer);
        let completion = Completion { slot: Slot(slot), result, at: Clock::get().now() };
        if report.send(completion).is_err() {
            return;
        }
    }
}

pub(crate) fn transfer(file: RawFd, request: Request, buffer: usize) -> i32 {
    let (memory, size, offset) =
        (buffer as *mut libc::c_void, request.size as usize, request.offset as i64);
    // SAFETY: the buffer belongs to the request's slot until its completion is handed back and
    // holds at least `size` bytes; the target keeps the file open while requests are in flight.
    let answer = unsafe {
        match request.direction {
            Direction::Read => libc::pread(file, memory, size, offset),
            Direction::Write => libc::pwrite(file, memory, size, offset),
            Direction::Sync => libc::fsync(file) as isize,
        }
    };
    if answer < 0 {
        -std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
    } else {
        answer as i32
    }
}
