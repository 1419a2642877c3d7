//! A driver takes one load through the loop: it issues requests, records their completions, and
//! changes its state: delayed, warming up, measuring, draining, syncing, done.

use qdepth_measure::{Instant, Nanos, Precision, SettlingSamples, Tolerance};
use qdepth_workload::{Direction, Point, Request, RequestStream, Samples};

use crate::in_flight::{FREE, InFlight};
use crate::ledger::{Ledger, Stamps};
use crate::minimum_rate::MinimumRateRule;
use crate::outcome::{Ended, Outcome};
use crate::pacing::Pacing;
use crate::series::{Interval, slice};
use crate::shard::{Shard, StopGroup};
use crate::target::{Absence, CALL_MAX, Completion, CpuTime, Slot, Target, TargetFailure};

/// Time limit for requests in flight after the window and after an interruption: a hung device must
/// not block the program (docs/method/thresholds.md).
const DRAIN: Nanos = Nanos::from_secs(8);
const DRAIN_INTERRUPTED: Nanos = Nanos::from_secs(3);
/// Time limit for the final sync of a load, which may write back a whole cache.
pub const FINAL_SYNC: Nanos = Nanos::from_secs(600);
/// Longest time between two checks of the stop flag while nothing completes.
const ATTENTION: Nanos = Nanos::from_millis(100);
/// Interval for checking if the streams to catch up with have finished.
const CATCHING_UP: Nanos = Nanos::from_micros(100);
/// EIO: error number for a transfer of zero bytes.
const EIO: i32 = 5;

/// Interface between the loop and one or several drivers.
pub(crate) trait Drivers<T: Target> {
    /// Checks the clock: changes state, closes intervals, and issues requests that are due. Returns
    /// false once the driver is done.
    fn turn(
        &mut self,
        now: Instant,
        target: &mut T,
        interrupted: bool,
        seen: &mut dyn FnMut(usize, &Interval),
    ) -> bool;
    /// Time of the next check if nothing completes.
    fn wake(&self, now: Instant) -> Instant;
    /// Records a completion.
    fn completed(&mut self, completion: &Completion, target: &mut T);
    /// Records that the target as a whole has failed.
    fn failed(&mut self, failure: &TargetFailure);
}

/// A driver of any type among several that share the loop.
pub(crate) trait OneDriver<T: Target>: Drivers<T> {
    /// Final results of the driver.
    fn into_outcome(self: Box<Self>) -> Outcome;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the load's own start.
    Delayed(Instant),
    /// Before the window.
    WarmingUp,
    /// In the window.
    Measuring,
    /// Waits for requests in flight, at most until this time.
    Draining(Instant),
    /// Waits for the final sync, at most until this time.
    Syncing(Instant),
    Done,
}

/// State of a load that continues after its time until each stream has moved as many bytes as the
/// fastest stream of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CatchUp {
    /// The load's own time lasts until this time. The window stays open: later completions count.
    Before(Instant),
    /// The load waits until the time of all other loads of the group is over.
    Waiting,
    /// The load continues up to the common number of bytes, or it never catches up.
    Settled,
}

/// Driver of one load. `P` decides when it issues; `RESPONSE` is true if response times differ from
/// latencies.
pub(crate) struct Driver<'a, P, const RESPONSE: bool> {
    point: &'a Point,
    number: usize,
    /// First slot of the load on the target.
    base: u32,
    pacing: P,
    streams: Vec<RequestStream>,
    slots: Vec<InFlight>,
    /// Intended time of the request in each slot, if it differs from the issue time.
    intended: Vec<Instant>,
    ledger: Ledger<RESPONSE>,
    /// Decides when the rate is known precisely enough.
    precision: Option<Precision>,
    /// Checks that the load keeps its minimum rate.
    least: Option<MinimumRateRule>,
    /// End of the current interval, or time of the next check of the minimum rate.
    check_at: Instant,
    /// Decides when the load has settled (its last samples are near their mean), and if that ended
    /// it.
    settling: Option<SettlingSamples>,
    settled: bool,
    /// Number of samples that the load requires, and the least time.
    samples: Option<Samples>,
    /// True while the load still requires samples or precision.
    needs_more: bool,
    stop_group: Option<&'a StopGroup>,
    /// True if all loads of the group have what they require, so that the window ends.
    satisfied: bool,
    catch_up: CatchUp,
    state: State,
    /// Until this time nothing can happen but due requests, so that a turn checks one condition
    /// instead of eight.
    quiet_until: Instant,
    failure: Option<TargetFailure>,
    /// Bytes of all its streams after which the window ends; 0 = no limit.
    bytes: u64,
    /// CPU time of the worker when the window began.
    cpu: CpuTime,
}

impl<'a, P: Pacing, const RESPONSE: bool> Driver<'a, P, RESPONSE> {
    /// Driver number `number` of the loop, on the target's slots from `base`.
    pub(crate) fn new(
        number: usize,
        shard: &Shard<'a>,
        base: u32,
        start: Instant,
        pacing: P,
    ) -> Self {
        let point = shard.point;
        let start = start + Nanos(point.delay_ns);
        let nothing = Request { direction: Direction::Read, offset: 0, size: 0 };
        let empty = |slot: u32| InFlight {
            request: nothing,
            issued: start,
            left: FREE,
            stream: (slot / point.queue_depth) as u16,
        };
        let mut ledger = Ledger::new(point, start);
        let catch_up = match shard.stop_group {
            Some(_) if point.stop.catches_up => {
                CatchUp::Before(std::mem::replace(&mut ledger.window_end, Instant::NEVER))
            }
            _ => CatchUp::Settled,
        };
        let precision = point.stop.until.and_then(|until| {
            let tolerance = Tolerance::from_share(until.share)?;
            Some(Precision::new(tolerance, Nanos(until.least_ns), ledger.intervals_max()))
        });
        let least = MinimumRateRule::new(point, shard.streams.len(), ledger.window_start);
        Self {
            point,
            number,
            base,
            pacing,
            streams: shard.streams.clone().map(|n| RequestStream::new(point, n)).collect(),
            slots: (0..shard.slots()).map(empty).collect(),
            intended: if RESPONSE { vec![start; shard.slots() as usize] } else { Vec::new() },
            check_at: next_check(&ledger, least.as_ref()),
            ledger,
            least,
            precision,
            settling: point.stop.settling.map(SettlingSamples::new),
            settled: false,
            samples: point.stop.samples.map(|s| Samples { count: shard.share(s.count), ..s }),
            needs_more: shard.needs_more(),
            stop_group: shard.stop_group,
            satisfied: false,
            catch_up,
            state: State::Delayed(start),
            quiet_until: Instant(0),
            failure: None,
            bytes: shard.bytes(),
            cpu: CpuTime::default(),
        }
    }

    #[inline(always)]
    fn issue(&mut self, now: Instant, target: &mut impl Target) {
        let Self { pacing, streams, slots, intended, ledger, base, .. } = self;
        ledger.pass(now);
        let (slots, intended) = (slots.as_mut_slice(), intended.as_mut_slice());
        let issued = if let [only] = streams.as_mut_slice()
            && let Some(size) = only.plain_size()
        {
            let draw = |_, _: &Request| only.draw_plain(size);
            issue_due::<_, RESPONSE>(pacing, slots, intended, draw, now, *base, target)
        } else {
            let draw = |stream, former: &Request| streams[usize::from(stream)].draw_after(former);
            issue_due::<_, RESPONSE>(pacing, slots, intended, draw, now, *base, target)
        };
        ledger.issued(issued);
    }

    #[inline(always)]
    fn take(&mut self, completion: &Completion, target: &mut impl Target) {
        let slot = Slot(completion.slot.0 - self.base);
        let in_flight = &mut self.slots[slot.0 as usize];
        let (size, direction) = (in_flight.request.size, in_flight.request.direction);
        let issued = in_flight.issued;
        let intended = if RESPONSE { self.intended[slot.0 as usize] } else { issued };
        let stamps = Stamps { intended, issued, completed: completion.at };
        if i64::from(completion.result) == i64::from(in_flight.left) {
            in_flight.left = FREE;
            self.ledger.completed(direction, u64::from(size), stamps);
        } else if completion.result > 0 {
            return self.submit_rest(slot, completion.result as u32, target);
        } else {
            in_flight.left = FREE;
            let errno = if completion.result == 0 { EIO } else { -completion.result };
            if completion.result == 0 {
                self.failure = Some(shrunk(&in_flight.request));
                self.quiet_until = Instant(0);
            }
            self.ledger.failed(direction, errno, stamps);
        }
        self.pacing.released(slot);
    }

    /// Submits the rest of a short transfer; the latency continues to its end.
    #[cold]
    fn submit_rest(&mut self, slot: Slot, bytes: u32, target: &mut impl Target) {
        let in_flight = &mut self.slots[slot.0 as usize];
        let size = in_flight.request.size;
        if in_flight.left == size && size <= CALL_MAX {
            self.ledger.short(in_flight.request.direction);
        }
        in_flight.left -= bytes;
        let offset = in_flight.request.offset + u64::from(size - in_flight.left);
        let rest = Request { offset, size: in_flight.left, ..in_flight.request };
        target.submit(Slot(self.base + slot.0), rest);
    }

    fn enough(&self) -> bool {
        let moved = self.bytes != 0 && self.ledger.bytes() >= self.bytes;
        moved || (self.pacing.exhausted() && self.ledger.in_flight() == 0)
    }

    fn ended(&self) -> Ended {
        if self.ledger.out.interrupted {
            Ended::Interrupted
        } else if self.failure.is_some() {
            Ended::Failure
        } else if self.enough() && self.point.stop.ends_step {
            Ended::Bytes
        } else if self.stop_group.is_some_and(StopGroup::is_over) {
            Ended::Duration
        } else if self.ledger.out.shortfall.is_some() {
            Ended::Rate
        } else if self.settled {
            Ended::Steady
        } else if self.satisfied {
            Ended::Precision
        } else if self.enough() {
            Ended::Bytes
        } else {
            Ended::Duration
        }
    }

    /// Advances the state. Returns `None` if requests may be issued, else whether the driver is
    /// still active.
    #[inline(never)]
    fn close_intervals(
        &mut self,
        now: Instant,
        target: &mut dyn Target,
        interrupted: bool,
        seen: &mut dyn FnMut(usize, &Interval),
    ) -> Option<bool> {
        if let State::Delayed(start) = self.state {
            if now < start && !interrupted && self.failure.is_none() {
                return Some(true);
            }
            self.state = State::WarmingUp;
        }
        if self.state == State::WarmingUp && now >= self.ledger.window_start {
            self.state = State::Measuring;
            self.cpu = target.cpu_time();
            self.pacing.window_begins();
        }
        if matches!(self.state, State::WarmingUp | State::Measuring) {
            let waits = self.catch_up != CatchUp::Settled && self.awaits_catch_up(now);
            let over = now >= self.ledger.window_end || self.enough() || self.failure.is_some();
            // The intervals of a load without a runtime are seconds long.
            let ended = self.stop_group.is_some_and(StopGroup::is_over);
            if !over && !ended && !interrupted {
                if !waits {
                    return None;
                }
                self.after_issue(now, seen);
                return Some(true);
            }
            self.stop(now, target.cpu_time(), interrupted, seen);
        }
        self.advance_after_last_issue(now, target, seen);
        Some(self.state != State::Done)
    }

    /// Runs after due requests are issued, so that none waits for it: closes intervals, and
    /// computes until when only due requests need attention.
    #[inline(never)]
    fn after_issue(&mut self, now: Instant, seen: &mut dyn FnMut(usize, &Interval)) {
        if now >= self.check_at {
            self.roll(now, seen);
        }
        let settled = self.state == State::Measuring && self.catch_up == CatchUp::Settled;
        let by_time = self.bytes == 0 && !self.pacing.is_finite() && self.failure.is_none();
        self.quiet_until =
            if settled && by_time { self.ledger.window_end.min(self.check_at) } else { Instant(0) };
    }

    /// Closes all intervals that have ended, and ends the window if all loads have what they
    /// require. This check runs between two requests and delays none.
    #[cold]
    fn roll(&mut self, now: Instant, seen: &mut dyn FnMut(usize, &Interval)) {
        let Self { ledger, precision, settling, settled, number, .. } = self;
        let mut enough = false;
        ledger.roll(now, &mut |interval| {
            if let Some(rule) = precision {
                enough |= rule.closed(interval.completed.iter().sum(), interval.length);
            }
            *settled |= settling.as_mut().is_some_and(|samples| samples.closed(slice(interval)));
            seen(*number, interval);
        });
        enough |= self.samples.is_some_and(|wanted| {
            let [transfers @ .., _] = self.ledger.completed_in_window();
            transfers.iter().sum::<u64>() >= wanted.count
                && now >= self.ledger.window_start + Nanos(wanted.least_ns)
        });
        if enough {
            self.mark_satisfied();
            self.satisfied |= self.stop_group.is_none();
        }
        self.satisfied |= self.stop_group.is_some_and(StopGroup::all_satisfied);
        let short = self.least.as_mut().and_then(|rule| rule.check(now, self.ledger.counts()));
        self.ledger.out.shortfall = short;
        if self.satisfied || self.settled || short.is_some() {
            self.ledger.move_end(now);
        }
        self.check_at = next_check(&self.ledger, self.least.as_ref());
    }

    /// Reports to the group, once, that this load requires nothing more.
    fn mark_satisfied(&mut self) {
        if let (true, Some(stop_group)) = (std::mem::take(&mut self.needs_more), self.stop_group) {
            stop_group.note_satisfied();
        }
    }

    /// Reports to the group, once, that this load's own time is over and how many bytes its streams
    /// moved.
    fn report_own_time_over(&mut self, now: Instant) {
        if let (CatchUp::Before(_), Some(stop_group)) = (self.catch_up, self.stop_group) {
            stop_group.note_own_time_over(self.pacing.most_bytes());
            self.catch_up = CatchUp::Waiting;
            self.ledger.out.caught_up_from = now.since(self.ledger.window_start);
            self.ledger.out.bytes_before = self.ledger.bytes();
        }
    }

    /// True while the load, after its own time, waits for the common number of bytes.
    #[cold]
    fn awaits_catch_up(&mut self, now: Instant) -> bool {
        if matches!(self.catch_up, CatchUp::Before(then) if now < then) {
            return false;
        }
        self.report_own_time_over(now);
        let Some(most) = self.stop_group.and_then(StopGroup::most_bytes) else { return true };
        self.catch_up = CatchUp::Settled;
        self.pacing.continue_to(most);
        false
    }

    /// True if the final sync belongs to the measured time.
    fn sync_counts(&self) -> bool {
        self.point.fsync.at_end && self.failure.is_none()
    }

    /// Ends issuing: closes the window, or leaves it open for the final sync.
    fn stop(
        &mut self,
        now: Instant,
        cpu: CpuTime,
        interrupted: bool,
        seen: &mut dyn FnMut(usize, &Interval),
    ) {
        self.quiet_until = Instant(0);
        self.ledger.out.interrupted = interrupted && now < self.ledger.window_end;
        self.ledger.out.ended = self.ended();
        self.mark_satisfied();
        self.report_own_time_over(now);
        self.pacing.ends();
        if let (true, Some(stop_group)) = (self.point.stop.ends_step, self.stop_group) {
            stop_group.end();
        }
        if self.state == State::Measuring {
            self.ledger.out.cpu = cpu.since(self.cpu);
        }
        let patience = if self.ledger.out.interrupted { DRAIN_INTERRUPTED } else { DRAIN };
        let broken = self.failure.as_ref().is_some_and(TargetFailure::is_broken);
        self.state = State::Draining(if broken { now } else { now + patience });
        if self.sync_counts() {
            self.ledger.move_end(Instant::NEVER);
        } else {
            let end = now.min(self.ledger.window_end).max(self.ledger.window_start);
            self.ledger.finish(end, &mut |interval| seen(self.number, interval));
        }
    }

    /// Advances the state after the last request was issued.
    fn advance_after_last_issue(
        &mut self,
        now: Instant,
        target: &mut dyn Target,
        seen: &mut dyn FnMut(usize, &Interval),
    ) {
        let idle = self.ledger.in_flight() == 0;
        match self.state {
            State::Draining(limit) if idle || now >= limit => {
                let open = self.ledger.window_end == Instant::NEVER;
                if open && idle && self.failure.is_none() {
                    self.sync(now, target);
                } else {
                    self.close(now, open, seen);
                }
            }
            State::Syncing(limit) if idle || now >= limit => self.close(now, true, seen),
            _ => {}
        }
    }

    fn sync(&mut self, now: Instant, target: &mut dyn Target) {
        let request = Request { direction: Direction::Sync, offset: 0, size: 0 };
        self.ledger.pass(now);
        self.slots[0].put(request, now);
        self.intended.iter_mut().take(1).for_each(|intended| *intended = now);
        self.ledger.issued(1);
        target.submit(Slot(self.base), request);
        self.state = State::Syncing(now + FINAL_SYNC);
    }

    fn close(&mut self, now: Instant, open: bool, seen: &mut dyn FnMut(usize, &Interval)) {
        if open {
            let end = now.max(self.ledger.window_start);
            self.ledger.finish(end, &mut |interval| seen(self.number, interval));
        }
        for slot in self.slots.iter().filter(|slot| slot.left != FREE) {
            self.ledger.abandoned(slot.issued);
        }
        self.state = State::Done;
    }

    pub(crate) fn into_outcome(mut self) -> Outcome {
        self.ledger.out.backlog_max = self.pacing.backlog_max();
        self.ledger.out.interim_checks =
            self.precision.as_ref().map_or(0, Precision::interim_checks);
        Outcome { failure: self.failure, ..self.ledger.into_outcome() }
    }
}

/// Issues the requests that are due and returns their number. It borrows single fields instead of
/// the whole driver, so that the compiler loads them once per turn.
#[inline(always)]
fn issue_due<P: Pacing, const RESPONSE: bool>(
    pacing: &mut P,
    slots: &mut [InFlight],
    intended: &mut [Instant],
    mut draw: impl FnMut(u16, &Request) -> Request,
    now: Instant,
    base: u32,
    target: &mut impl Target,
) -> u64 {
    let mut issued = 0;
    if let Some(free) = pacing.take_free() {
        for &slot in free.iter().rev() {
            issue_one(slot, &mut slots[slot.0 as usize], &mut draw, now, base, target);
            issued += 1;
        }
        return issued;
    }
    while let Some((slot, since)) = pacing.next(now) {
        let size = issue_one(slot, &mut slots[slot.0 as usize], &mut draw, now, base, target);
        pacing.drawn(slot, size);
        if RESPONSE {
            intended[slot.0 as usize] = since;
        }
        issued += 1;
    }
    issued
}

/// Draws and submits the request of one slot, and returns its size.
#[inline(always)]
fn issue_one(
    slot: Slot,
    in_flight: &mut InFlight,
    draw: &mut impl FnMut(u16, &Request) -> Request,
    now: Instant,
    base: u32,
    target: &mut impl Target,
) -> u32 {
    let request = draw(in_flight.stream, &in_flight.request);
    in_flight.put(request, now);
    target.submit(Slot(base + slot.0), request);
    request.size
}

impl<T: Target, P: Pacing, const RESPONSE: bool> Drivers<T> for Driver<'_, P, RESPONSE> {
    #[inline]
    fn turn(
        &mut self,
        now: Instant,
        target: &mut T,
        interrupted: bool,
        seen: &mut dyn FnMut(usize, &Interval),
    ) -> bool {
        let due = now >= self.quiet_until || interrupted;
        if due && let Some(alive) = self.close_intervals(now, target, interrupted, seen) {
            return alive;
        }
        self.issue(now, target);
        if due {
            self.after_issue(now, seen);
        }
        true
    }

    #[inline]
    fn wake(&self, now: Instant) -> Instant {
        let attention = now + ATTENTION;
        if self.quiet_until != Instant(0) {
            return self.pacing.wake().min(self.ledger.window_end).min(attention);
        }
        match self.state {
            State::Delayed(start) => start.min(attention),
            State::WarmingUp => self.pacing.wake().min(self.ledger.window_start).min(attention),
            State::Measuring if self.catch_up != CatchUp::Settled => match self.catch_up {
                CatchUp::Before(then) => self.pacing.wake().min(then).min(attention),
                CatchUp::Waiting | CatchUp::Settled => now + CATCHING_UP,
            },
            State::Measuring => self.pacing.wake().min(self.ledger.window_end).min(attention),
            State::Draining(limit) | State::Syncing(limit) => limit.min(attention),
            State::Done => attention,
        }
    }

    #[inline]
    fn completed(&mut self, completion: &Completion, target: &mut T) {
        self.take(completion, target);
    }

    fn failed(&mut self, failure: &TargetFailure) {
        self.failure = Some(failure.clone());
        self.quiet_until = Instant(0);
        // A broken engine never returns the requests in flight.
        if failure.is_broken() && matches!(self.state, State::Draining(_) | State::Syncing(_)) {
            self.state = State::Draining(Instant(0));
        }
    }
}

impl<T: Target, P: Pacing, const RESPONSE: bool> OneDriver<T> for Driver<'_, P, RESPONSE> {
    fn into_outcome(self: Box<Self>) -> Outcome {
        (*self).into_outcome()
    }
}

fn next_check<const RESPONSE: bool>(
    ledger: &Ledger<RESPONSE>,
    least: Option<&MinimumRateRule>,
) -> Instant {
    least.map_or(Instant::NEVER, MinimumRateRule::next).min(ledger.interval_end())
}

fn shrunk(request: &Request) -> TargetFailure {
    let Request { direction, offset, size } = *request;
    Absence::NothingMoved { direction, size, offset }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_design_note_states_the_time_limits() {
        let note = include_str!("../../../docs/design/0004-loop.md").replace("\n  ", " ");
        for (what, length) in [
            ("qdepth waits {} s for I/O in flight", DRAIN.0 / 1_000_000_000),
            ("({} s after an interruption,", DRAIN_INTERRUPTED.0 / 1_000_000_000),
            ("{} s for a final `fsync`)", FINAL_SYNC.0 / 1_000_000_000),
            ("the stop flag every {} ms", ATTENTION.0 / 1_000_000),
        ] {
            let sentence = what.replace("{}", &length.to_string());
            assert!(note.contains(&sentence), "{sentence}");
        }
    }
}
