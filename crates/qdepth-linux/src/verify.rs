//! A target that compares reads with the writes before them.

use std::sync::Arc;

use qdepth_engine::{Completion, Completions, CpuTime, Slot, Target, TargetFailure};
use qdepth_measure::Instant;
use qdepth_measure::pattern::first_foreign;
use qdepth_measure::stamp::{generation_of, stamp};
use qdepth_workload::{Direction, Generations, Request};

/// EILSEQ: error number for a read that does not return the data written.
pub const NOT_AS_WRITTEN: i32 = 84;

/// A target whose buffers can be accessed.
pub trait WithBuffers {
    /// The target.
    fn target(&mut self) -> &mut dyn Target;
    /// The buffer of a slot that has no request in flight.
    fn buffer(&mut self, slot: Slot) -> &mut [u8];
    /// The same for its writes, if they have buffers of their own.
    fn write_buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.buffer(slot)
    }
}

/// Stamps every write and checks every read: its position, its run, and that it is the last write
/// of the position. This is a target of its own, so that other loads pay nothing for it. Each stamp
/// or check costs some tenths of a nanosecond per byte, between completion and next request, which
/// is not part of a latency in a closed loop.
pub struct Verifying<'a, T> {
    inner: &'a mut T,
    stamp: u64,
    writes: Arc<Generations>,
    slots: Vec<InFlight>,
    unwritten: bool,
    laid_out: bool,
}

/// A request in flight.
struct InFlight {
    request: Request,
    /// For each block of a read: the oldest write that it may return, and if it must be a write of
    /// this run.
    oldest: Vec<(Option<u32>, bool)>,
}

impl<'a, T: WithBuffers> Verifying<'a, T> {
    /// Wraps a target with this many slots. Data with another `stamp` counts as not written by this
    /// load. `writes` registers the writes to the target's file by all workers.
    pub fn new(inner: &'a mut T, slots: u32, stamp: u64, writes: Arc<Generations>) -> Self {
        let request = Request { direction: Direction::Sync, offset: 0, size: 0 };
        let slots = (0..slots).map(|_| InFlight { request, oldest: Vec::new() }).collect();
        Self { inner, stamp, writes, slots, unwritten: true, laid_out: false }
    }

    /// Does not check blocks that this run had not completely written when the read began.
    #[must_use]
    pub fn only_written(self) -> Self {
        Self { unwritten: false, ..self }
    }

    /// Accepts the data that fills new files where this run has not written.
    #[must_use]
    pub fn or_laid_out(self) -> Self {
        Self { laid_out: true, ..self }
    }

    fn check(&mut self, completion: &mut Completion) {
        let in_flight = &self.slots[completion.slot.0 as usize];
        let request = in_flight.request;
        match request.direction {
            Direction::Write => {
                let wrote = completion.result > 0;
                let blocks = blocks(&self.writes, request.offset, request.size as usize);
                blocks.for_each(|(offset, _)| self.writes.end_write(offset, wrote));
            }
            Direction::Read if completion.result > 0 => {
                let buffer = &self.inner.buffer(completion.slot)[..completion.result as usize];
                let mut blocks = blocks(&self.writes, request.offset, buffer.len());
                let as_written = blocks.all(|(offset, length)| {
                    let (start, block) = ((offset - request.offset) as usize, &in_flight.oldest);
                    let found = generation_of(&buffer[start..start + length], offset, self.stamp);
                    let first = request.offset / self.writes.block_bytes();
                    let index = (offset / self.writes.block_bytes() - first) as usize;
                    let (oldest, is_written) = block.get(index).copied().unwrap_or_default();
                    if !is_written && !self.unwritten {
                        return true;
                    }
                    let block = &buffer[start..start + length];
                    let is_laid_out = || !is_written && first_foreign(block).is_none();
                    found.is_some_and(|found| self.writes.may_be(offset, oldest, found))
                        || self.laid_out && is_laid_out()
                });
                if !as_written {
                    completion.result = -NOT_AS_WRITTEN;
                }
            }
            Direction::Read | Direction::Trim | Direction::Sync => {}
        }
    }
}

/// The blocks that contain these bytes: for each block the offset of its first byte in the range,
/// and the number of its bytes in the range.
fn blocks(
    writes: &Generations,
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (u64, usize)> + use<> {
    let (block, end) = (writes.block_bytes(), offset + length as u64);
    let mut next = offset;
    std::iter::from_fn(move || {
        let at = next;
        next = end.min(at - at % block + block);
        (at < end).then(|| (at, (next - at) as usize))
    })
}

impl<T: WithBuffers> Target for Verifying<'_, T> {
    fn now(&mut self) -> Instant {
        self.inner.target().now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        let Request { direction, offset, size } = request;
        let in_flight = &mut self.slots[slot.0 as usize];
        in_flight.request = request;
        match direction {
            Direction::Write => {
                let buffer = self.inner.write_buffer(slot);
                for (at, length) in blocks(&self.writes, offset, size as usize) {
                    let write = self.writes.begin_write(at);
                    let start = (at - offset) as usize;
                    stamp(&mut buffer[start..start + length], at, self.stamp, write);
                }
            }
            Direction::Read => {
                in_flight.oldest.clear();
                let blocks = blocks(&self.writes, offset, size as usize);
                let known = blocks.map(|(at, _)| self.writes.oldest_and_written(at));
                in_flight.oldest.extend(known);
            }
            Direction::Trim | Direction::Sync => {}
        }
        self.inner.target().submit(slot, request);
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let before = done.as_slice().len();
        let answer = self.inner.target().wait(until, done);
        for completion in done.as_mut_slice().iter_mut().skip(before) {
            self.check(completion);
        }
        answer
    }

    fn cpu_time(&mut self) -> CpuTime {
        self.inner.target().cpu_time()
    }
}
