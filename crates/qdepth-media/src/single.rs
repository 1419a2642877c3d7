//! Fast path for one device of a known type under one stream, the most frequent emulated load.

use qdepth_engine::{Completion, Completions, Slot, Target, TargetFailure, moved};
use qdepth_measure::Instant;
use qdepth_workload::{Direction, Request};

use crate::calendar::CalendarQueue;
use crate::host::Host;
use crate::io::Io;
use crate::tick::{Tick, instant, ticks};

/// Route of a stream's requests: one of several independent drives, and the offset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamRoute {
    pub(crate) node: usize,
    /// Subtracted from an offset before `to` is added.
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl StreamRoute {
    /// Translates a request of the stream to one of its drive.
    #[inline(always)]
    pub(crate) fn io(self, request: Request) -> Io {
        Io {
            read: request.direction == Direction::Read,
            trim: request.direction == Direction::Trim,
            offset: request.offset - self.from.min(request.offset) + self.to,
            // As much as a result can express: the loop submits the rest.
            size: moved(request.size).unsigned_abs(),
        }
    }
}

/// Device whose completion times are known at submission. A type parameter, chosen before the loop,
/// so that no request needs a dispatch.
pub(crate) trait Medium {
    /// Returns the completion time of the request.
    fn submit(&mut self, now: Tick, slot: u32, io: Io) -> Tick;
    /// Notes that a request was completed.
    fn completed(&mut self, slot: u32);
    /// Number of physical requests beyond the first.
    #[inline(always)]
    fn further(&self, _: Io) -> u32 {
        0
    }
}

/// Target of one device under one stream.
pub(crate) struct Single<'e, M> {
    pub(crate) now: &'e mut Instant,
    pub(crate) host: &'e mut Host,
    pub(crate) route: StreamRoute,
    pub(crate) medium: &'e mut M,
    pub(crate) pending: &'e mut CalendarQueue,
}

impl<M: Medium> Target for Single<'_, M> {
    #[inline(always)]
    fn now(&mut self) -> Instant {
        *self.now
    }

    #[inline(always)]
    fn submit(&mut self, slot: Slot, request: Request) {
        let now = *self.now;
        if request.direction == Direction::Sync {
            return self.pending.push(now.0, slot.0, 0);
        }
        let io = self.route.io(request);
        let further = self.medium.further(io);
        let issued = self.host.process(ticks(now), 0, io, further);
        let at = self.host.share(issued, further);
        let end = instant(self.medium.submit(at, slot.0, io));
        self.pending.push(end.0.max(now.0), slot.0, io.size.cast_signed());
    }

    #[inline(always)]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let Some((mut at, mut slot)) = self.pending.peek() else {
            *self.now = (*self.now).max(until);
            return Ok(());
        };
        let now = (*self.now).max(Instant(at).min(until));
        *self.now = now;
        while at <= now.0 && done.has_room() {
            let result = self.pending.take();
            if result != 0 {
                // Result 0 is a sync, which no device received.
                self.medium.completed(slot);
            }
            done.push(Completion { slot: Slot(slot), result, at: Instant(at) });
            let Some(next) = self.pending.peek() else { break };
            (at, slot) = next;
        }
        Ok(())
    }
}
