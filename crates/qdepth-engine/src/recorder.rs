//! Recording of each I/O by a target of its own, so that loads without it pay nothing.

use std::sync::atomic::AtomicBool;

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, PriorityDraw, Request};

use crate::drive::measure_together;
use crate::outcome::Outcome;
use crate::series::Interval;
use crate::shard::Shard;
use crate::target::{Completion, Completions, CpuTime, Slot, Target, TargetFailure};

/// I/Os in one piece of memory: a longer list is never copied while the loop runs.
const PIECE: usize = 1 << 16;
/// Largest number of I/Os that all workers of a step record: about half a GiB of memory.
pub const RECORDED_MAX: usize = 1 << 23;

/// A completed I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedIo {
    /// Time of its completion since the start of the window.
    pub completed: Nanos,
    /// Time from its submission to its completion.
    pub latency: Nanos,
    /// Its direction, offset and size.
    pub request: Request,
    /// Its priority in the kernel's encoding; 0 for that of the process.
    pub priority: u16,
}

/// Like [`measure_together`], and also returns the I/Os of each load that its outcome counts, in
/// the order of completion; at most the first `most`, except flushes.
pub fn measure_recorded(
    target: &mut dyn Target,
    shards: &[Shard<'_>],
    most: usize,
    start: Instant,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(usize, &Interval),
) -> Vec<(Outcome, Vec<RecordedIo>)> {
    let start = start.max(target.now());
    let windows = shards.iter().map(|shard| shard.point.delay_ns + shard.point.warm_up_ns);
    let first_window = Nanos(windows.min().unwrap_or(0));
    let slots: usize = shards.iter().map(|shard| shard.slots() as usize).sum();
    // The target of a single load draws the same priorities.
    let priorities = match shards {
        [shard] => shard.point.priorities.as_ref().map(|all| PriorityDraw::new(all, shard.seed())),
        _ => None,
    };
    let mut recorder = Recorder {
        inner: target,
        priorities,
        in_flight: vec![None; slots],
        pieces: vec![Vec::with_capacity(PIECE)],
        from: start + first_window,
        most,
        now: start,
    };
    let mut any: &mut dyn Target = &mut recorder;
    let outcomes = measure_together(&mut any, shards, start, stop, &mut |load, interval| {
        seen(load, interval);
    });
    let (mut first, pieces) = (0, recorder.pieces);
    let of_load = |(outcome, shard): (Outcome, &Shard<'_>)| {
        let own = first..first + shard.slots();
        first = own.end;
        let window = start + Nanos(shard.point.delay_ns + shard.point.warm_up_ns);
        let mut left = outcome.directions.each_ref().map(|direction| direction.completed);
        let ios = pieces.iter().flatten().filter(|io| own.contains(&io.slot.0));
        let counted = ios.filter_map(|io| {
            let count = &mut left[io.request.direction as usize];
            let counts = io.completed >= window && *count > 0;
            *count -= u64::from(counts);
            counts.then(|| io.since(window))
        });
        let ios = counted.collect();
        (outcome, ios)
    };
    outcomes.into_iter().zip(shards).map(of_load).collect()
}

/// An I/O in a slot, until its last byte is transferred.
#[derive(Clone, Copy)]
struct Pending {
    request: Request,
    priority: u16,
    issued: Instant,
    left: u32,
}

struct Completed {
    slot: Slot,
    completed: Instant,
    issued: Instant,
    request: Request,
    priority: u16,
}

impl Completed {
    fn since(&self, window: Instant) -> RecordedIo {
        RecordedIo {
            completed: self.completed.since(window),
            latency: self.completed.since(self.issued),
            request: self.request,
            priority: self.priority,
        }
    }
}

struct Recorder<'a> {
    inner: &'a mut dyn Target,
    priorities: Option<PriorityDraw>,
    in_flight: Vec<Option<Pending>>,
    pieces: Vec<Vec<Completed>>,
    /// Start of the first window; what completes before is not recorded.
    from: Instant,
    most: usize,
    /// Last time that the loop was given: the issue time of the requests that follow.
    now: Instant,
}

impl Recorder<'_> {
    fn note(&mut self, &Completion { slot, result, at }: &Completion) {
        let place = &mut self.in_flight[slot.0 as usize];
        let Some(Pending { request, priority, issued, left }) = place.take() else { return };
        let moved = u32::try_from(result).unwrap_or(0);
        if moved > 0 && moved < left {
            // The rest of a short transfer follows in the same slot.
            *place = Some(Pending { request, priority, issued, left: left - moved });
        }
        if moved < left || request.direction == Direction::Sync || at < self.from {
            return;
        }
        if self.most == 0 {
            return;
        }
        self.most -= 1;
        if self.pieces.last().is_none_or(|piece| piece.len() == PIECE) {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.push(Completed { slot, completed: at, issued, request, priority });
        }
    }
}

impl Target for Recorder<'_> {
    fn now(&mut self) -> Instant {
        self.now = self.inner.now();
        self.now
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        let priority = self.priorities.as_mut().map_or(0, |draw| draw.next(request));
        let pending = Pending { request, priority, issued: self.now, left: request.size };
        self.in_flight[slot.0 as usize].get_or_insert(pending);
        self.inner.submit(slot, request);
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let answer = self.inner.wait(until, done);
        done.as_slice().iter().for_each(|completion| self.note(completion));
        answer
    }

    fn now_after(&mut self, taken: usize) -> Instant {
        self.now = self.inner.now_after(taken);
        self.now
    }

    fn cpu_time(&mut self) -> CpuTime {
        self.inner.cpu_time()
    }
}
