//! A target whose reads are held against what was written.

use qdepth_engine::{Completion, Completions, CpuTime, Slot, Target, TargetFailure};
use qdepth_measure::Instant;
use qdepth_workload::{Direction, Request, is_stamped, stamp};

use crate::kernel_target::KernelTarget;

/// EILSEQ: how a read is counted that does not hold what was written there.
pub const NOT_AS_WRITTEN: i32 = 84;

/// Stamps every write and checks every read. A target of its own, so that a load which does not ask
/// for it pays nothing; here each costs some tenths of a nanosecond a byte, between completion and
/// next request, which is no part of a latency in a closed loop.
pub struct Verifying<'a> {
    inner: &'a mut KernelTarget,
    stamp: u64,
    requests: Vec<Request>,
}

impl<'a> Verifying<'a> {
    /// On a target with this many slots. What was stamped by another number is not as written.
    pub fn new(inner: &'a mut KernelTarget, slots: u32, stamp: u64) -> Self {
        let nothing = Request { direction: Direction::Sync, offset: 0, size: 0 };
        Self { inner, stamp, requests: vec![nothing; slots as usize] }
    }

    fn check(&mut self, completion: &mut Completion) {
        let request = self.requests[completion.slot.0 as usize];
        if request.direction != Direction::Read || completion.result <= 0 {
            return;
        }
        let length = completion.result as usize;
        if !is_stamped(&self.inner.buffer(completion.slot)[..length], request.offset, self.stamp) {
            completion.result = -NOT_AS_WRITTEN;
        }
    }
}

impl Target for Verifying<'_> {
    fn now(&mut self) -> Instant {
        self.inner.by_any().now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        self.requests[slot.0 as usize] = request;
        if request.direction == Direction::Write {
            let number = self.stamp;
            stamp(&mut self.inner.buffer(slot)[..request.size as usize], request.offset, number);
        }
        self.inner.by_any().submit(slot, request);
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let before = done.as_slice().len();
        let answer = self.inner.by_any().wait(until, done);
        for completion in done.as_mut_slice().iter_mut().skip(before) {
            self.check(completion);
        }
        answer
    }

    fn cpu_time(&mut self) -> CpuTime {
        self.inner.by_any().cpu_time()
    }
}
