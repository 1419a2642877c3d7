//! The generator's ceiling: the same loop on a ring whose requests are no-ops.

use std::sync::atomic::AtomicBool;

use qdepth_engine::{Completion, Completions, Slot, Target, TargetFailure, measure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Point, Request};
use rustix::io_uring::{IoringOp, io_uring_user_data};

use crate::clock::Clock;
use crate::ring::Ring;
use crate::uring::{Looking, open};

/// A target that answers at once, through the kernel.
struct NullTarget {
    ring: Ring,
    clock: Clock,
}

impl Target for NullTarget {
    #[inline]
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, slot: Slot, request: Request) {
        let entry = self.ring.entry(slot.0);
        entry.opcode = IoringOp::Nop;
        let user_data = u64::from(slot.0) << 32 | u64::from(request.size);
        entry.user_data = io_uring_user_data { u64_: user_data };
        self.ring.queue(slot.0);
    }

    #[inline]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let left = until.since(self.clock.now());
        // A time-out is no failure, and a ring of no-ops has no other.
        let _ = self.ring.enter(1, Some(left));
        let ready = self.ring.ready();
        let at = self.clock.now();
        for _ in 0..ready {
            let answer = self.ring.take();
            let slot = Slot((answer.user_data >> 32) as u32);
            done.push(Completion { slot, result: answer.user_data as u32 as i32, at });
        }
        self.ring.give_back();
        Ok(())
    }
}

/// I/Os per second that the loop reaches with this point's requests when storage costs nothing.
/// None where `io_uring` is not to be had.
pub fn ceiling(point: &Point) -> Option<f64> {
    let ring = open(point.in_flight_max(), Looking::Interrupts, &mut Vec::new()).ok()?;
    let mut target = NullTarget { ring, clock: Clock::get() };
    let short = Point {
        warm_up_ns: Nanos::from_millis(5).0,
        stop: qdepth_workload::Stop {
            duration_ns: Nanos::from_millis(40).0,
            bytes: 0,
            until: None,
        },
        arrivals: qdepth_workload::Arrivals::Closed,
        ..point.clone()
    };
    let outcome = measure(&mut target, &short, &AtomicBool::new(false), &mut |_| {});
    Some(outcome.completed() as f64 / outcome.duration.as_secs_f64())
}
