//! The generator's ceiling: the same loop on a ring whose requests are no-ops.

use std::sync::atomic::AtomicBool;

use io_uring::{IoUring, opcode, types};
use qdepth_engine::{Completion, Completions, Slot, Target, TargetFailure, measure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Point, Request};

use crate::clock::Clock;

/// A target that answers at once, through the kernel.
struct NullTarget {
    ring: IoUring,
}

impl Target for NullTarget {
    fn now(&mut self) -> Instant {
        Clock.now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        let entry =
            opcode::Nop::new().build().user_data(u64::from(slot.0) << 32 | u64::from(request.size));
        // SAFETY: a no-op refers to no memory.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        debug_assert!(pushed.is_ok());
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let left = until.since(Clock.now());
        let limit = types::Timespec::new()
            .sec(left.0 / 1_000_000_000)
            .nsec((left.0 % 1_000_000_000) as u32);
        let arguments = types::SubmitArgs::new().timespec(&limit);
        // A time-out is no failure, and a ring of no-ops has no other.
        let _ = self.ring.submitter().submit_with_args(1, &arguments);
        let at_most = self.ring.completion().len();
        for entry in self.ring.completion().take(at_most) {
            let user = entry.user_data();
            let slot = Slot((user >> 32) as u32);
            done.push(Completion { slot, result: user as u32 as i32, at: Instant(0) });
        }
        let at = Clock.now();
        for completion in done.as_mut_slice() {
            completion.at = at;
        }
        Ok(())
    }
}

/// I/Os per second that the loop reaches with this point's requests when storage costs nothing.
/// None where `io_uring` is not to be had.
pub fn ceiling(point: &Point) -> Option<f64> {
    let entries = point.in_flight_max().next_power_of_two();
    let ring = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    let mut target = NullTarget { ring: ring.or_else(|_| IoUring::new(entries)).ok()? };
    let short = Point {
        warm_up_ns: Nanos::from_millis(5).0,
        stop: qdepth_workload::Stop { duration_ns: Nanos::from_millis(40).0, bytes: 0 },
        arrivals: qdepth_workload::Arrivals::Closed,
        ..point.clone()
    };
    let outcome = measure(&mut target, &short, &AtomicBool::new(false), &mut |_| {});
    Some(outcome.completed() as f64 / outcome.duration.as_secs_f64())
}
