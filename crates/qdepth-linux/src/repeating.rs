//! A target whose writes repeat contents, or never do, for storage that deduplicates.

use qdepth_engine::{Completions, CpuTime, Slot, Target, TargetFailure};
use qdepth_measure::Instant;
use qdepth_workload::{Contents, Direction, Payload, Request, fill, stamp_content};

use crate::verify::WithBuffers;

/// Draws the content of every write before it is submitted. This is a target of its own, so that
/// loads that only read pay nothing for it. A write costs 16 bytes more per 4 KiB, between
/// completion and next request.
#[derive(Debug)]
pub struct Repeating<'a, T> {
    inner: &'a mut T,
    contents: Contents,
}

impl<'a, T: WithBuffers> Repeating<'a, T> {
    /// Wraps a target whose writes all differ. Their buffers are filled already.
    pub fn never(inner: &'a mut T, contents: Contents) -> Self {
        Self { inner, contents }
    }

    /// Wraps a target with this many slots, and fills all buffers alike.
    pub fn new(inner: &'a mut T, slots: u32, payload: Payload, contents: Contents) -> Self {
        for slot in 0..slots {
            fill(inner.write_buffer(Slot(slot)), payload, contents.seed());
        }
        Self { inner, contents }
    }
}

impl<T: WithBuffers> Target for Repeating<'_, T> {
    fn now(&mut self) -> Instant {
        self.inner.target().now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        if request.direction == Direction::Write {
            let buffer = self.inner.write_buffer(slot);
            let length = buffer.len().min(request.size as usize);
            stamp_content(&mut buffer[..length], self.contents.draw());
        }
        self.inner.target().submit(slot, request);
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.inner.target().wait(until, done)
    }

    fn now_after(&mut self, taken: usize) -> Instant {
        self.inner.target().now_after(taken)
    }

    fn cpu_time(&mut self) -> CpuTime {
        self.inner.target().cpu_time()
    }
}
