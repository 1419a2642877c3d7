//! Coupled loads: each issues a share of all requests, by weight, and waits while it is ahead of
//! its share.

use std::sync::atomic::Ordering;

use qdepth_measure::{Instant, Nanos};

use crate::flow::{Flow, weight};
use crate::pacing::Pacing;
use crate::shard::Shard;
use crate::target::Slot;

/// Time after which a load that is ahead and has no pause checks again.
const TURN: Nanos = Nanos::from_micros(10);

/// Decision on the next request of a coupled load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Free,
    /// The load is ahead, and waits for its requests in flight to complete.
    Draining,
    /// The load is ahead, and checks again at this time.
    Until(Instant),
}

/// Any pacing rule of a coupled load. The rule is a trait object: a type parameter would double the
/// number of compiled loops.
pub(crate) struct Coupled<'a> {
    rule: Box<dyn Pacing + 'a>,
    flow: &'a Flow,
    weight: u64,
    pause: Nanos,
    issued: u64,
    in_flight: u64,
    hold: Hold,
}

impl<'a> Coupled<'a> {
    pub(crate) fn new(rule: Box<dyn Pacing + 'a>, flow: &'a Flow, shard: &Shard<'_>) -> Self {
        let pause = Nanos(shard.point.flow.map_or(0, |flow| flow.pause_ns));
        Self {
            rule,
            flow,
            weight: weight(shard.point, &shard.streams),
            pause,
            issued: 0,
            in_flight: 0,
            hold: Hold::Free,
        }
    }

    fn is_ahead(&self) -> bool {
        let all = self.flow.issued.load(Ordering::Relaxed);
        let weights = self.flow.weights.load(Ordering::Relaxed);
        u128::from(self.issued) * u128::from(weights) > u128::from(all) * u128::from(self.weight)
    }

    fn may_issue(&mut self, now: Instant) -> bool {
        loop {
            self.hold = match self.hold {
                Hold::Free if !self.is_ahead() => return true,
                Hold::Free if self.pause == Nanos::ZERO => Hold::Until(now + TURN),
                Hold::Free => Hold::Draining,
                Hold::Draining if self.in_flight == 0 => Hold::Until(now + self.pause),
                Hold::Until(then) if now >= then => Hold::Free,
                Hold::Draining | Hold::Until(_) => return false,
            };
        }
    }
}

impl Pacing for Coupled<'_> {
    fn released(&mut self, slot: Slot) {
        // The final sync was not issued by a pacing rule, so the count may be 0 already.
        self.in_flight = self.in_flight.saturating_sub(1);
        self.rule.released(slot);
    }

    fn next(&mut self, now: Instant) -> Option<(Slot, Instant)> {
        if !self.may_issue(now) {
            return None;
        }
        let due = self.rule.next(now)?;
        self.issued += 1;
        self.in_flight += 1;
        self.flow.issued.fetch_add(1, Ordering::Relaxed);
        Some(due)
    }

    fn wake(&self) -> Instant {
        match self.hold {
            Hold::Free => self.rule.wake(),
            Hold::Draining => Instant::NEVER,
            Hold::Until(then) => then,
        }
    }

    fn backlog_max(&self) -> u64 {
        self.rule.backlog_max()
    }

    fn drawn(&mut self, slot: Slot, size: u32) {
        self.rule.drawn(slot, size);
    }

    fn is_finite(&self) -> bool {
        self.rule.is_finite()
    }

    fn exhausted(&self) -> bool {
        self.rule.exhausted()
    }

    fn window_begins(&mut self) {
        self.rule.window_begins();
    }

    /// Removes this load from the group, whose other loads share the rest.
    fn ends(&mut self) {
        self.rule.ends();
        self.flow.issued.fetch_sub(std::mem::take(&mut self.issued), Ordering::Relaxed);
        self.flow.weights.fetch_sub(std::mem::take(&mut self.weight), Ordering::Relaxed);
    }
}
