//! The loop itself.

use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Arrivals, Direction, Point, Request, RequestStream};

use crate::ledger::{Interval, Ledger, Stamps};
use crate::outcome::Outcome;
use crate::pacing::{Closed, Pacing, Scheduled};
use crate::target::{Completions, CpuTime, Slot, Target, TargetFailure};

/// How long requests in flight are waited for after the window, and after an interruption: a hung
/// device must not hold the program (notes on trust, R6: gone in 10 s).
const DRAIN: Nanos = Nanos::from_secs(8);
const DRAIN_INTERRUPTED: Nanos = Nanos::from_secs(3);
/// How often the stop flag is looked at while nothing completes.
const ATTENTION: Nanos = Nanos::from_millis(100);
/// EIO: what a transfer of nothing is counted as.
const EIO: i32 = 5;

/// What is in a slot.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    request: Request,
    intended: Instant,
    issued: Instant,
    /// Bytes of a short transfer that are done.
    done: u32,
    /// Whose the slot is; the same for the whole point.
    stream: u16,
    taken: bool,
}

impl InFlight {
    /// Puts a request into the slot, word by word: a structure that is built elsewhere and copied
    /// stalls the CPU (a wide load of words just stored), which took a third of the loop's time.
    #[inline(always)]
    fn put(&mut self, request: Request, intended: Instant, issued: Instant) {
        self.request.offset = request.offset;
        self.request.size = request.size;
        self.request.direction = request.direction;
        self.intended = intended;
        self.issued = issued;
        self.done = 0;
        self.taken = true;
    }
}

/// Measures one point: issues its requests until its end, waits for those in flight, and says what
/// came of it. `stop` ends it early; `seen` is handed each interval of the series as it closes.
///
/// Nothing is allocated between the first request and the last completion.
pub fn measure<T: Target>(
    target: &mut T,
    point: &Point,
    stop: &AtomicBool,
    seen: &mut impl FnMut(&Interval),
) -> Outcome {
    let start = target.now();
    match point.arrivals {
        Arrivals::Closed => {
            Loop::<T, Closed, false>::new(target, point, start, Closed::new(point)).run(stop, seen)
        }
        Arrivals::Paced { .. } => {
            let pacing = Scheduled::<false>::new(point, start);
            Loop::<T, _, false>::new(target, point, start, pacing).run(stop, seen)
        }
        Arrivals::Fixed { .. } | Arrivals::Poisson { .. } => {
            let pacing = Scheduled::<true>::new(point, start);
            Loop::<T, _, true>::new(target, point, start, pacing).run(stop, seen)
        }
    }
}

struct Loop<'a, T, P, const RESPONSE: bool> {
    target: &'a mut T,
    point: &'a Point,
    pacing: P,
    streams: Vec<RequestStream>,
    slots: Vec<InFlight>,
    done: Completions,
    ledger: Ledger<RESPONSE>,
}

impl<'a, T: Target, P: Pacing, const RESPONSE: bool> Loop<'a, T, P, RESPONSE> {
    fn new(target: &'a mut T, point: &'a Point, start: Instant, pacing: P) -> Self {
        let nothing = Request { direction: Direction::Read, offset: 0, size: 0 };
        let empty = |slot: u32| InFlight {
            request: nothing,
            intended: start,
            issued: start,
            done: 0,
            stream: (slot / point.outstanding) as u16,
            taken: false,
        };
        Self {
            target,
            point,
            pacing,
            streams: (0..point.streams).map(|n| RequestStream::new(point, n)).collect(),
            slots: (0..point.in_flight_max()).map(empty).collect(),
            done: Completions::with_capacity(point.in_flight_max() as usize),
            ledger: Ledger::new(point, start),
        }
    }

    fn run(mut self, stop: &AtomicBool, seen: &mut impl FnMut(&Interval)) -> Outcome {
        let mut cpu = self.target.cpu_time();
        let mut warm = false;
        let mut failure = None;
        loop {
            let now = self.target.now();
            if !warm && now >= self.ledger.window_start {
                warm = true;
                cpu = self.target.cpu_time();
                self.pacing.window_begins();
            }
            let interrupted = stop.load(Ordering::Relaxed);
            if now >= self.ledger.window_end || interrupted || failure.is_some() || self.enough() {
                self.ledger.out.interrupted = interrupted && now < self.ledger.window_end;
                break;
            }
            self.issue(now);
            if now >= self.ledger.interval_end() {
                self.ledger.roll(now, seen);
            }
            failure = self.reap(self.until(now)).err();
        }
        self.ledger.out.cpu = used_since(cpu, self.target.cpu_time());
        self.finish(failure, seen)
    }

    fn until(&self, now: Instant) -> Instant {
        let wake = self.pacing.wake().min(self.ledger.window_end).min(now + ATTENTION);
        if now < self.ledger.window_start { wake.min(self.ledger.window_start) } else { wake }
    }

    #[inline]
    fn issue(&mut self, now: Instant) {
        self.ledger.pass(now);
        let mut issued = 0;
        while let Some((slot, intended)) = self.pacing.next(now) {
            let place = &mut self.slots[slot.0 as usize];
            let request = self.streams[usize::from(place.stream)].draw();
            place.put(request, intended, now);
            issued += 1;
            self.target.submit(slot, request);
        }
        self.ledger.issued(issued);
    }

    #[inline]
    fn reap(&mut self, until: Instant) -> Result<(), TargetFailure> {
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        let answer = self.target.wait(until, &mut done);
        let mut gone = Ok(());
        for completion in done.as_slice() {
            let place = &mut self.slots[completion.slot.0 as usize];
            let (size, direction) = (place.request.size, place.request.direction);
            let stamps =
                Stamps { intended: place.intended, issued: place.issued, completed: completion.at };
            if completion.result == (size - place.done) as i32 {
                place.taken = false;
                self.ledger.completed(direction, u64::from(size), stamps);
            } else if completion.result > 0 {
                self.go_on(completion.slot, completion.result as u32);
                continue;
            } else {
                place.taken = false;
                let errno = if completion.result == 0 { EIO } else { -completion.result };
                if completion.result == 0 {
                    gone = Err(shrunk(&place.request));
                }
                self.ledger.failed(direction, errno, stamps);
            }
            self.pacing.released(completion.slot);
        }
        self.done = done;
        answer.and(gone)
    }

    /// A transfer came back short: the rest is asked for, and the latency goes on.
    fn go_on(&mut self, slot: Slot, bytes: u32) {
        let kept = &mut self.slots[slot.0 as usize];
        if kept.done == 0 {
            self.ledger.short(kept.request.direction);
        }
        kept.done += bytes;
        let rest = Request {
            offset: kept.request.offset + u64::from(kept.done),
            size: kept.request.size - kept.done,
            ..kept.request
        };
        self.target.submit(slot, rest);
    }

    fn enough(&self) -> bool {
        let limit = self.point.stop.bytes;
        limit != 0 && self.ledger.bytes() >= limit
    }

    /// After the last request: waits for what is in flight, forces the data out where that is part
    /// of the measured time, and closes the books.
    fn finish(
        mut self,
        failure: Option<TargetFailure>,
        seen: &mut impl FnMut(&Interval),
    ) -> Outcome {
        let stopped = self.target.now();
        let sync_counts = self.point.fsync.at_end && failure.is_none();
        let mut end = stopped.min(self.ledger.window_end).max(self.ledger.window_start);
        if sync_counts {
            self.ledger.window_end = Instant::NEVER;
        } else {
            self.ledger.finish(end, seen);
        }
        let mut failure = self.drain(stopped).err().or(failure);
        if sync_counts {
            if failure.is_none() {
                failure = self.sync(stopped).err();
            }
            end = self.target.now().max(end);
            self.ledger.finish(end, seen);
        }
        for slot in &self.slots {
            if slot.taken {
                self.ledger.abandoned(slot.issued);
            }
        }
        self.ledger.out.backlog_max = self.pacing.backlog_max();
        Outcome { failure, ..self.ledger.into_outcome() }
    }

    fn drain(&mut self, stopped: Instant) -> Result<(), TargetFailure> {
        let patience = if self.ledger.out.interrupted { DRAIN_INTERRUPTED } else { DRAIN };
        let limit = stopped + patience;
        let mut gone = Ok(());
        while self.ledger.in_flight() > 0 && self.target.now() < limit {
            match self.reap(limit) {
                Err(TargetFailure::Broken(why)) => return Err(TargetFailure::Broken(why)),
                Err(why) => gone = Err(why),
                Ok(()) => {}
            }
        }
        gone
    }

    fn sync(&mut self, stopped: Instant) -> Result<(), TargetFailure> {
        if self.ledger.in_flight() > 0 {
            return Ok(());
        }
        let now = self.target.now();
        let request = Request { direction: Direction::Sync, offset: 0, size: 0 };
        self.ledger.pass(now);
        self.slots[0].put(request, now, now);
        self.ledger.issued(1);
        self.target.submit(Slot(0), request);
        self.drain(stopped.max(now) + Nanos::from_secs(600))
    }
}

fn shrunk(request: &Request) -> TargetFailure {
    TargetFailure::Gone(format!(
        "a {} of {} B at {} transferred nothing",
        if request.direction == Direction::Write { "write" } else { "read" },
        request.size,
        request.offset
    ))
}

fn used_since(before: CpuTime, after: CpuTime) -> CpuTime {
    CpuTime {
        user: after.user.saturating_sub(before.user),
        system: after.system.saturating_sub(before.system),
    }
}
