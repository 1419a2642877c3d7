//! Calibration of the generator's ceiling: the loop with the same engine, on a target without
//! storage.

use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicBool;
use std::thread::Builder;

use qdepth_engine::{
    Completion, Completions, CpuTime, Interval, Outcome, Slot, Target, TargetFailure, measure,
    moved,
};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Arrivals, Fsync, Operation, Point, Request, SizeMix, Stop};
use rustix::io_uring::{IoringOp, io_uring_user_data};

use crate::clock::{Clock, cpu_time};
use crate::gate::Gate;
use crate::kernel_target::{Engine, EngineChoice, KernelTarget, OpenOptions};
use crate::ring::{Await, Ring};
use crate::ring_queue::{CompletionMode, open};

/// Target whose requests complete at once, after a round trip through the kernel.
struct NullTarget {
    ring: Ring,
    clock: Clock,
}

impl Target for NullTarget {
    #[inline(always)]
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    #[inline(always)]
    fn submit(&mut self, slot: Slot, request: Request) {
        let entry = self.ring.next();
        entry.opcode = IoringOp::Nop;
        let bytes = moved(request.size).unsigned_abs();
        let user_data = u64::from(slot.0) << 32 | u64::from(bytes);
        entry.user_data = io_uring_user_data { u64_: user_data };
        self.ring.queue();
    }

    #[inline(always)]
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        let left = until.since(self.clock.now());
        // A time-out is not a failure, and a ring of no-ops has no other errors.
        let _ = self.ring.enter(Await::Until(1, left));
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

    fn cpu_time(&mut self) -> CpuTime {
        cpu_time(false)
    }
}

/// Durations of a calibration: long enough for 1 %, short enough not to be noticed.
const WARM_UP: Nanos = Nanos::from_millis(5);
const LENGTH: Nanos = Nanos::from_millis(40);
/// Size of a read of `/dev/zero`, for engines without a no-op. It is small, because the kernel
/// writes the zeros.
const ZEROS: u32 = 512;

/// Result of a calibration with the null target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NullRate {
    /// Requests in flight per worker.
    pub in_flight: u32,
    /// Threads.
    pub workers: u32,
    /// Requests per second of all workers.
    pub io_per_s: f64,
    /// CPU time per request in user mode, ns.
    pub user_ns: f64,
    /// CPU time per request in the kernel, ns.
    pub system_ns: f64,
}

/// Rate that loop and engine reach with this point's load if storage costs nothing, I/Os per second
/// over all of the point's workers. It uses no-ops with `io_uring`, else reads of 512 B from
/// `zero`, a descriptor of `/dev/zero`. `None` if the engine is not available.
pub fn ceiling(point: &Point, engine: Engine, zero: BorrowedFd<'_>) -> Option<NullRate> {
    let workers = point.workers.max(1);
    let streams = point.streams.div_ceil(workers);
    let null = Point {
        streams,
        workers: 1,
        arrivals: Arrivals::Closed,
        fsync: Fsync { every_writes: 0, at_end: false, data_only: false },
        delay_ns: 0,
        warm_up_ns: WARM_UP.0,
        stop: Stop { duration_ns: LENGTH.0, interleaved_segments: 1, ..Stop::default() },
        ..point.clone()
    };
    let together = Gate::new(workers as usize);
    let outcomes: Vec<Option<Outcome>> = std::thread::scope(|scope| {
        // All start at once, because sibling threads of a core are faster the less they overlap.
        let work = || together.wait().then(|| measure_worker(&null, engine, zero)).flatten();
        let start = |_| Builder::new().spawn_scoped(scope, work);
        let running: Result<Vec<_>, _> = (0..workers).map(start).collect();
        match running {
            Ok(running) => running.into_iter().map(|worker| worker.join().ok().flatten()).collect(),
            Err(_) => {
                together.give_up();
                vec![None]
            }
        }
    });
    let outcomes = outcomes.into_iter().collect::<Option<Vec<_>>>()?;
    let seconds = |outcome: &Outcome| outcome.duration.as_secs_f64().max(1e-9);
    let completed: u64 = outcomes.iter().map(Outcome::completed).sum();
    let cpu = |pick: fn(&CpuTime) -> Nanos| {
        let spent: u64 = outcomes.iter().map(|outcome| pick(&outcome.cpu).0).sum();
        spent as f64 / completed.max(1) as f64
    };
    let failed = outcomes.iter().any(|o| o.failure.is_some() || o.failed() > 0);
    (completed > 0 && !failed).then(|| NullRate {
        in_flight: null.in_flight_max(),
        workers,
        io_per_s: outcomes.iter().map(|o| o.completed() as f64 / seconds(o)).sum(),
        user_ns: cpu(|cpu| cpu.user),
        system_ns: cpu(|cpu| cpu.system),
    })
}

fn measure_worker(null: &Point, engine: Engine, zero: BorrowedFd<'_>) -> Option<Outcome> {
    if matches!(engine, Engine::LinuxAio | Engine::Threads | Engine::Sync) {
        return measure_reads(null, engine, zero);
    }
    // No-ops complete on submission, so that there is nothing to poll for.
    let completion_mode = match engine {
        Engine::IoUringSqPoll => CompletionMode::Submissions,
        _ => CompletionMode::Interrupts,
    };
    let ring = open(null.in_flight_max(), completion_mode, &mut Vec::new()).ok()?;
    let mut target = NullTarget { ring, clock: Clock::get() };
    Some(measure(&mut target, null, &AtomicBool::new(false), &mut |_: &Interval| {}))
}

fn measure_reads(null: &Point, engine: Engine, zero: BorrowedFd<'_>) -> Option<Outcome> {
    let reads = Point {
        read_share: 1.0,
        trim_share: 0.0,
        trims_first: false,
        operation: Operation::Transfer,
        trace: None,
        block_size: SizeMix::fixed(ZEROS),
        own_writes: None,
        alignment_bytes: u64::from(ZEROS),
        ..null.clone()
    };
    let options = OpenOptions::from_point(&reads, EngineChoice::Only(engine));
    let file = zero.try_clone_to_owned().ok()?;
    Some(KernelTarget::open(file, &options).ok()?.measure(&reads))
}
