//! Durable writes: one operation is a write and the sync that follows it. The loop sees the write
//! complete when the sync has completed, so that latency, rate and queue depth are those of the
//! whole operation.
//!
//! Writers of a stream share syncs like those of a write-ahead log (group commit): writes that
//! complete during a sync wait, and the next sync makes all of them durable.

use std::ops::Range;

use qdepth_measure::{Instant, LatencyHistogram, Nanos};
use qdepth_workload::{Direction, Request};
use serde::{Deserialize, Serialize};

use crate::shard::Shard;
use crate::target::{Completion, Completions, CpuTime, Slot, Target, TargetFailure};

const SYNC: Request = Request { direction: Direction::Sync, offset: 0, size: 0 };

/// Latencies of the two parts of durable writes that ended in the window. A write may also wait for
/// the sync of earlier writes, so the parts need not add up to the operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DurableParts {
    /// From the submission of a write to its completion.
    pub write: LatencyHistogram,
    /// From the submission of a sync to its completion.
    pub sync: LatencyHistogram,
}

impl DurableParts {
    /// Merges the parts of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
    }
}

/// Writers that share syncs: the slots of one stream.
#[derive(Debug)]
struct Log {
    /// Index of its load among the loads of the target.
    load: usize,
    /// The running sync: the slot of the first write that it covers, and its start.
    sync: Option<(Slot, Instant)>,
    /// Writes that the running sync covers, and writes that wait for the next sync.
    covered: Vec<Completion>,
    waiting: Vec<Completion>,
}

/// A write in flight.
#[derive(Clone, Copy, Debug)]
struct Write {
    left: u32,
    since: Option<Instant>,
}

/// Wrapper of a target that completes a durable write only when its sync has completed.
pub(crate) struct Durable<'t> {
    target: &'t mut dyn Target,
    logs: Vec<Log>,
    /// Index of the log of each slot; `None` if the slot's load is not durable.
    owners: Vec<Option<usize>>,
    writes: Vec<Write>,
    /// Measured window of each load.
    windows: Vec<Range<Instant>>,
    parts: Vec<Option<DurableParts>>,
    done: Completions,
}

impl<'t> Durable<'t> {
    pub(crate) fn new(target: &'t mut dyn Target, shards: &[Shard<'_>], start: Instant) -> Self {
        let (mut logs, mut owners) = (Vec::new(), Vec::new());
        for (load, shard) in shards.iter().enumerate() {
            for _ in shard.streams.clone() {
                let writers = shard.point.queue_depth as usize;
                let is_durable = shard.point.durability.syncs();
                owners.extend(std::iter::repeat_n(is_durable.then_some(logs.len()), writers));
                if is_durable {
                    logs.push(Log {
                        load,
                        sync: None,
                        covered: Vec::with_capacity(writers),
                        waiting: Vec::with_capacity(writers),
                    });
                }
            }
        }
        let window = |shard: &Shard<'_>| {
            let from = start + Nanos(shard.point.delay_ns + shard.point.warm_up_ns);
            from..from + Nanos(shard.point.stop.duration_ns)
        };
        let empty =
            || DurableParts { write: LatencyHistogram::new(), sync: LatencyHistogram::new() };
        let parts = |shard: &Shard<'_>| shard.point.durability.syncs().then(empty);
        Self {
            target,
            writes: vec![Write { left: 0, since: None }; owners.len()],
            done: Completions::with_capacity(owners.len()),
            logs,
            owners,
            windows: shards.iter().map(window).collect(),
            parts: shards.iter().map(parts).collect(),
        }
    }

    /// The parts of each load; `None` for loads that are not durable.
    pub(crate) fn into_parts(self) -> Vec<Option<DurableParts>> {
        self.parts
    }

    /// The parts of a load, if `at` is in its window.
    fn parts(&mut self, load: usize, at: Instant) -> Option<&mut DurableParts> {
        self.parts[load].as_mut().filter(|_| self.windows[load].contains(&at))
    }

    /// Starts a sync for each log that has no running sync and has completed writes.
    fn start_syncs(&mut self) {
        for log in &mut self.logs {
            if let (None, Some(first)) = (log.sync, log.waiting.first()) {
                log.sync = Some((first.slot, self.target.now()));
                self.target.submit(first.slot, SYNC);
                std::mem::swap(&mut log.covered, &mut log.waiting);
            }
        }
    }

    fn synced(&mut self, number: usize, since: Instant, sync: Completion, done: &mut Completions) {
        let log = &mut self.logs[number];
        log.sync = None;
        for write in log.covered.drain(..) {
            let result = if sync.result < 0 { sync.result } else { write.result };
            done.push(Completion { result, at: sync.at, ..write });
        }
        let load = log.load;
        if let Some(parts) = self.parts(load, sync.at) {
            parts.sync.record(sync.at.since(since));
        }
    }

    /// Handles a completion of the inner target. A complete write waits for a sync; failed and
    /// short transfers are passed on at once.
    fn take(&mut self, completion: Completion, done: &mut Completions) {
        let slot = completion.slot.0 as usize;
        let Some(number) = self.owners[slot] else { return done.push(completion) };
        if let Some((_, since)) = self.logs[number].sync.filter(|sync| sync.0 == completion.slot) {
            return self.synced(number, since, completion, done);
        }
        let Write { left, since } = self.writes[slot];
        let Some(since) = since else { return done.push(completion) };
        if completion.result <= 0 || completion.result as u32 != left {
            self.writes[slot].since = Some(since).filter(|_| completion.result > 0);
            return done.push(completion);
        }
        self.writes[slot].since = None;
        let load = self.logs[number].load;
        if let Some(parts) = self.parts(load, completion.at) {
            parts.write.record(completion.at.since(since));
        }
        self.logs[number].waiting.push(completion);
    }
}

impl Target for Durable<'_> {
    fn now(&mut self) -> Instant {
        self.target.now()
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        let index = slot.0 as usize;
        if self.owners[index].is_some() && request.direction == Direction::Write {
            let since = self.writes[index].since.unwrap_or_else(|| self.target.now());
            self.writes[index] = Write { left: request.size, since: Some(since) };
        }
        self.target.submit(slot, request);
    }

    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.start_syncs();
        let mut own = std::mem::take(&mut self.done);
        own.clear();
        let answer = self.target.wait(until, &mut own);
        for completion in own.as_slice() {
            self.take(*completion, done);
        }
        self.done = own;
        answer
    }

    fn cpu_time(&mut self) -> CpuTime {
        self.target.cpu_time()
    }
}
