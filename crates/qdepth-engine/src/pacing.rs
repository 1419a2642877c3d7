//! Scheduling of the next request. The rule is chosen as a type before the loop, so that the loop
//! has no branch for it.

use qdepth_measure::{Instant, Nanos, Seed};
use qdepth_workload::Schedule;

use crate::shard::Shard;
use crate::target::Slot;

/// A pacing rule over the slots of a driver. Stream `s` owns the `queue_depth` slots from `s ×
/// queue_depth`.
pub(crate) trait Pacing {
    /// Notes that a slot has become free.
    fn released(&mut self, slot: Slot);
    /// The next request due at `now`: its slot and its intended time.
    fn next(&mut self, now: Instant) -> Option<(Slot, Instant)>;
    /// Takes all slots that are free, the last one first, if a request is due in each. Then
    /// [`next`](Self::next) and [`drawn`](Self::drawn) need no call for each request.
    #[inline]
    fn take_free(&mut self) -> Option<&[Slot]> {
        None
    }
    /// Time at which a request will be due even if nothing completes.
    fn wake(&self) -> Instant;
    /// Largest number of requests of one stream that were due while no slot was free.
    fn backlog_max(&self) -> u64 {
        0
    }
    /// Notes the size of the request that was put into the slot.
    #[inline]
    fn drawn(&mut self, _: Slot, _: u32) {}
    /// True if the rule may become [exhausted](Self::exhausted).
    fn is_finite(&self) -> bool {
        false
    }
    /// True if nothing will ever be due again.
    #[inline]
    fn exhausted(&self) -> bool {
        false
    }
    /// Forgets the backlog of the warm-up.
    fn window_begins(&mut self) {}
    /// Largest number of bytes that one stream has requested in the window, if streams end by
    /// bytes.
    fn most_bytes(&self) -> u64 {
        0
    }
    /// Lets each stream continue up to this many bytes in the window.
    fn continue_to(&mut self, _: u64) {}
    /// Notes that the driver issues no more requests.
    fn ends(&mut self) {}
}

impl Pacing for Box<dyn Pacing + '_> {
    fn released(&mut self, slot: Slot) {
        (**self).released(slot);
    }
    fn next(&mut self, now: Instant) -> Option<(Slot, Instant)> {
        (**self).next(now)
    }
    fn wake(&self) -> Instant {
        (**self).wake()
    }
    fn backlog_max(&self) -> u64 {
        (**self).backlog_max()
    }
    fn drawn(&mut self, slot: Slot, size: u32) {
        (**self).drawn(slot, size);
    }
    fn is_finite(&self) -> bool {
        (**self).is_finite()
    }
    fn exhausted(&self) -> bool {
        (**self).exhausted()
    }
    fn window_begins(&mut self) {
        (**self).window_begins();
    }
    fn most_bytes(&self) -> u64 {
        (**self).most_bytes()
    }
    fn continue_to(&mut self, bytes: u64) {
        (**self).continue_to(bytes);
    }
    fn ends(&mut self) {
        (**self).ends();
    }
}

/// Any rule, limited to a number of bytes per stream in the window.
#[derive(Debug)]
pub(crate) struct Finite<P> {
    rule: P,
    queue_depth: u32,
    bytes: u64,
    /// Bytes left to each stream; `u64::MAX` before the window begins.
    left: Vec<u64>,
    unfinished: usize,
}

impl<P> Finite<P> {
    pub(crate) fn new(rule: P, shard: &Shard<'_>) -> Self {
        let streams = shard.streams.len();
        Self {
            rule,
            queue_depth: shard.point.queue_depth,
            bytes: shard.point.stop.bytes_per_stream,
            left: vec![u64::MAX; streams],
            unfinished: streams,
        }
    }

    fn stream(&self, slot: Slot) -> usize {
        (slot.0 / self.queue_depth) as usize
    }
}

impl<P: Pacing> Pacing for Finite<P> {
    fn released(&mut self, slot: Slot) {
        // The slots of a stream that has moved its bytes stay empty.
        if self.left[self.stream(slot)] > 0 {
            self.rule.released(slot);
        }
    }

    fn next(&mut self, now: Instant) -> Option<(Slot, Instant)> {
        loop {
            let due = self.rule.next(now)?;
            if self.left[self.stream(due.0)] > 0 {
                return Some(due);
            }
        }
    }

    fn wake(&self) -> Instant {
        if self.exhausted() { Instant::NEVER } else { self.rule.wake() }
    }

    fn backlog_max(&self) -> u64 {
        self.rule.backlog_max()
    }

    fn drawn(&mut self, slot: Slot, size: u32) {
        let stream = self.stream(slot);
        let left = &mut self.left[stream];
        *left = left.saturating_sub(u64::from(size));
        self.unfinished -= usize::from(*left == 0);
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn exhausted(&self) -> bool {
        self.unfinished == 0
    }

    fn window_begins(&mut self) {
        self.rule.window_begins();
        self.left.fill(self.bytes);
    }

    fn most_bytes(&self) -> u64 {
        self.bytes - self.left.iter().min().copied().unwrap_or_default().min(self.bytes)
    }

    fn continue_to(&mut self, bytes: u64) {
        for left in &mut self.left {
            *left = bytes.saturating_sub(self.bytes - *left);
        }
        self.unfinished = self.left.iter().filter(|left| **left > 0).count();
    }
}

/// Closed loop: the next request follows a completion.
#[derive(Debug)]
pub(crate) struct Closed {
    /// The free slots are the first `count`.
    free: Box<[Slot]>,
    count: usize,
}

impl Closed {
    pub(crate) fn new(slots: u32) -> Self {
        Self { free: (0..slots).rev().map(Slot).collect(), count: slots as usize }
    }
}

impl Pacing for Closed {
    #[inline]
    fn released(&mut self, slot: Slot) {
        // The final sync releases a slot that is free already.
        if let Some(place) = self.free.get_mut(self.count) {
            *place = slot;
            self.count += 1;
        }
    }
    #[inline]
    fn next(&mut self, now: Instant) -> Option<(Slot, Instant)> {
        self.count = self.count.checked_sub(1)?;
        Some((self.free[self.count], now))
    }
    #[inline]
    fn take_free(&mut self) -> Option<&[Slot]> {
        let count = std::mem::take(&mut self.count);
        Some(&self.free[..count])
    }
    #[inline]
    fn wake(&self) -> Instant {
        Instant::NEVER
    }
}

#[derive(Debug)]
struct Line {
    schedule: Schedule,
    free: Vec<Slot>,
}

/// Requests by a schedule. If `OPEN`, the schedule holds whatever completes (latency counts from
/// the intended time); else it is an upper limit for the rate of a closed loop.
#[derive(Debug)]
pub(crate) struct Scheduled<const OPEN: bool> {
    lines: Vec<Line>,
    queue_depth: u32,
    backlog_max: u64,
}

impl<const OPEN: bool> Scheduled<OPEN> {
    pub(crate) fn new(shard: &Shard<'_>, start: Instant) -> Self {
        let point = shard.point;
        let line = |number: u32| {
            let seed = Seed(point.seed).derive("arrivals").derive(&number.to_string());
            let first = (number - shard.streams.start) * point.queue_depth;
            Some(Line {
                schedule: Schedule::for_stream(
                    point.arrivals,
                    point.trace.as_ref(),
                    start,
                    seed.0,
                )?,
                free: (first..first + point.queue_depth).rev().map(Slot).collect(),
            })
        };
        let lines = shard.streams.clone().filter_map(line).collect();
        Self { lines, queue_depth: point.queue_depth, backlog_max: 0 }
    }
}

impl<const OPEN: bool> Pacing for Scheduled<OPEN> {
    fn released(&mut self, slot: Slot) {
        self.lines[(slot.0 / self.queue_depth) as usize].free.push(slot);
    }

    fn next(&mut self, now: Instant) -> Option<(Slot, Instant)> {
        for line in &mut self.lines {
            let intended = line.schedule.next();
            if intended > now {
                continue;
            }
            let Some(slot) = line.free.pop() else {
                self.backlog_max = self.backlog_max.max(line.schedule.due(now));
                continue;
            };
            if OPEN {
                line.schedule.advance();
                return Some((slot, intended));
            }
            line.schedule.advance_from(now);
            return Some((slot, now));
        }
        None
    }

    fn wake(&self) -> Instant {
        let ready = self.lines.iter().filter(|line| !line.free.is_empty());
        ready.map(|line| line.schedule.next()).min().unwrap_or(Instant::NEVER)
    }

    fn backlog_max(&self) -> u64 {
        if OPEN { self.backlog_max } else { 0 }
    }

    fn window_begins(&mut self) {
        self.backlog_max = 0;
    }
}

/// Think-time state of one stream.
#[derive(Debug)]
struct Thinker {
    free: Vec<Slot>,
    /// Requests until the next pause.
    left: u32,
    /// End of the pause; `None` until all requests have completed.
    resumes: Option<Instant>,
}

/// Closed loop with think time: after `requests` requests a stream waits until all have completed,
/// and then for the think time.
#[derive(Debug)]
pub(crate) struct Thinking {
    streams: Vec<Thinker>,
    queue_depth: u32,
    time: Nanos,
    requests: u32,
}

impl Thinking {
    pub(crate) fn new(shard: &Shard<'_>, time: Nanos, requests: u32) -> Self {
        let queue_depth = shard.point.queue_depth;
        let stream = |number: u32| Thinker {
            free: (number * queue_depth..(number + 1) * queue_depth).rev().map(Slot).collect(),
            left: requests,
            resumes: None,
        };
        let streams = (0..shard.streams.len() as u32).map(stream).collect();
        Self { streams, queue_depth, time, requests }
    }
}

impl Pacing for Thinking {
    fn released(&mut self, slot: Slot) {
        self.streams[(slot.0 / self.queue_depth) as usize].free.push(slot);
    }

    fn next(&mut self, now: Instant) -> Option<(Slot, Instant)> {
        for stream in &mut self.streams {
            if stream.left == 0 {
                if stream.free.len() < self.queue_depth as usize {
                    continue;
                }
                if now < *stream.resumes.get_or_insert(now + self.time) {
                    continue;
                }
                (stream.left, stream.resumes) = (self.requests, None);
            }
            if let Some(slot) = stream.free.pop() {
                stream.left -= 1;
                return Some((slot, now));
            }
        }
        None
    }

    fn wake(&self) -> Instant {
        self.streams.iter().filter_map(|stream| stream.resumes).min().unwrap_or(Instant::NEVER)
    }
}
