//! A scripted target in virtual time: one queue and one or more servers with a known service time.
//! Its results are known in closed form, which tests the loop against theory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Direction, Request};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::target::{Completion, Completions, Slot, Target, TargetFailure, moved};

/// Service time of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// The same for every request: M/D/c under Poisson arrivals.
    Fixed(Nanos),
    /// Exponentially distributed with this mean: M/M/c under Poisson arrivals.
    Exponential(Nanos),
}

/// Fault injected into one of N requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every nth request fails with this error number.
    Error {
        /// Value of n.
        every: u64,
        /// Positive error number.
        errno: i32,
    },
    /// Every nth request transfers half.
    Short {
        /// Value of n.
        every: u64,
    },
    /// From request number `from` on, transfers return zero bytes: the device is gone.
    Gone {
        /// Number of the first such request.
        from: u64,
    },
    /// One request never completes.
    Hang {
        /// Number of that request.
        at: u64,
    },
    /// All servers pause for a while, and then continue.
    Stall {
        /// Start of the pause.
        at: Instant,
        /// Length of the pause.
        length: Nanos,
    },
}

/// Emulated target: requests wait in order of arrival for one of the servers.
#[derive(Debug)]
pub struct ScriptedTarget {
    now: Instant,
    service: Service,
    fault: Option<Fault>,
    /// Time at which each server becomes free.
    servers: BinaryHeap<Reverse<Instant>>,
    /// Pending completions, ordered by time, then by submission.
    pending: BinaryHeap<Reverse<(Instant, u64, u32, i32)>>,
    submitted: u64,
    random: Xoshiro256PlusPlus,
}

impl ScriptedTarget {
    /// A target with this many servers, at time 0.
    pub fn new(servers: usize, service: Service, seed: u64) -> Self {
        let mut pending = BinaryHeap::new();
        pending.reserve(4096);
        Self {
            now: Instant(0),
            service,
            fault: None,
            servers: (0..servers).map(|_| Reverse(Instant(0))).collect(),
            pending,
            submitted: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// The same target with a fault.
    #[must_use]
    pub fn with_fault(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }

    fn latency(&mut self) -> Nanos {
        match self.service {
            Service::Fixed(length) => length,
            Service::Exponential(mean) => {
                let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
                Nanos((-uniform.ln() * mean.0 as f64).round() as u64)
            }
        }
    }

    /// End of a service, extended by a stall that overlaps it.
    fn stalled(&self, start: Instant, end: Instant) -> Instant {
        match self.fault {
            Some(Fault::Stall { at, length }) if end > at && start < at + length => {
                end + (at + length).since(start.max(at))
            }
            _ => end,
        }
    }

    fn result(&self, request: &Request) -> Option<i32> {
        let whole = if request.direction == Direction::Sync { 0 } else { moved(request.size) };
        match self.fault {
            Some(Fault::Error { every, errno }) if self.submitted.is_multiple_of(every) => {
                Some(-errno)
            }
            Some(Fault::Short { every }) if self.submitted.is_multiple_of(every) => Some(whole / 2),
            Some(Fault::Gone { from }) if self.submitted >= from => Some(0),
            Some(Fault::Hang { at }) if self.submitted == at => None,
            _ => Some(whole),
        }
    }
}

impl Target for ScriptedTarget {
    fn now(&mut self) -> Instant {
        self.now
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        self.submitted += 1;
        let free = self.servers.pop().map_or(self.now, |Reverse(at)| at);
        let start = self.now.max(free);
        let end = start + self.latency();
        let end = self.stalled(start, end);
        self.servers.push(Reverse(end));
        if let Some(result) = self.result(&request) {
            self.pending.push(Reverse((end, self.submitted, slot.0, result)));
        }
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let Some(Reverse((first, ..))) = self.pending.peek() else {
            self.now = self.now.max(until);
            return Ok(());
        };
        self.now = self.now.max((*first).min(until));
        while let Some(Reverse((at, _, slot, result))) = self.pending.peek().copied() {
            if at > self.now || !done.has_room() {
                break;
            }
            self.pending.pop();
            done.push(Completion { slot: Slot(slot), result, at });
        }
        Ok(())
    }
}
