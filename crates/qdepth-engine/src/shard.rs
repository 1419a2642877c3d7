//! Shards: the part of a load that one worker drives, and groups of shards that end together.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use qdepth_workload::Point;

use crate::flow::{Flow, weight};

/// A load, or the streams of it that one worker drives.
#[derive(Clone, Debug)]
pub struct Shard<'a> {
    /// The load.
    pub point: &'a Point,
    /// Numbers of its streams.
    pub streams: Range<u32>,
    /// Shards that end together with this one, because they wait for samples or precision, or are
    /// coupled.
    pub stop_group: Option<&'a StopGroup>,
}

/// Shards that run at the same time and end together, once each has the samples or the precision
/// that it requires. The relative error of a sum of rates is at most that of the least precise
/// rate.
#[derive(Debug)]
pub struct StopGroup {
    unsatisfied: AtomicUsize,
    /// True if a shard has ended that ends the whole group.
    over: AtomicBool,
    /// Counters of the coupled loads.
    flows: Vec<Flow>,
    /// Number of shards that catch up with each other and whose own time is not over.
    catching_up: AtomicUsize,
    /// Largest number of bytes that one of their streams had requested when its time was over.
    most_bytes: AtomicU64,
}

impl StopGroup {
    /// Coupling of shards that run at the same time; `None` if none waits for another.
    pub fn from_shards<'p>(shards: impl Iterator<Item = &'p Shard<'p>>) -> Option<Self> {
        let (mut unsatisfied, mut catching_up, mut ends) = (0, 0, false);
        let mut flows = Vec::new();
        for shard in shards {
            unsatisfied += usize::from(shard.needs_more());
            ends |= shard.point.stop.ends_step;
            catching_up += usize::from(shard.point.stop.catches_up);
            if let Some(group) = shard.point.flow.map(|flow| flow.group) {
                Flow::join(&mut flows, group, weight(shard.point, &shard.streams));
            }
        }
        // If no shard requires anything, the group never ends early.
        let count = if unsatisfied > 0 { unsatisfied } else { usize::MAX };
        let unsatisfied = AtomicUsize::new(count);
        let together = count < usize::MAX || ends || catching_up > 0 || !flows.is_empty();
        let (over, most_bytes) = (AtomicBool::new(false), AtomicU64::new(0));
        let catching_up = AtomicUsize::new(catching_up);
        together.then_some(Self { unsatisfied, over, flows, catching_up, most_bytes })
    }
    /// Coupling of the shard with others.
    pub(crate) fn flow(&self, shard: &Shard<'_>) -> Option<&Flow> {
        let group = shard.point.flow?.group;
        self.flows.iter().find(|flow| flow.group == group)
    }
    /// Notes that the own time of a shard that catches up is over, and the largest number of bytes
    /// that one of its streams had requested.
    pub(crate) fn note_own_time_over(&self, bytes: u64) {
        self.most_bytes.fetch_max(bytes, Ordering::Relaxed);
        self.catching_up.fetch_sub(1, Ordering::Release);
    }
    /// Largest number of bytes of one stream; `None` until the own time of all shards is over.
    pub(crate) fn most_bytes(&self) -> Option<u64> {
        let all = self.catching_up.load(Ordering::Acquire) == 0;
        all.then(|| self.most_bytes.load(Ordering::Relaxed))
    }
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
    pub(crate) fn note_satisfied(&self) {
        self.unsatisfied.fetch_sub(1, Ordering::Relaxed);
    }
    pub(crate) fn all_satisfied(&self) -> bool {
        self.is_over() || self.unsatisfied.load(Ordering::Relaxed) == 0
    }
}

impl<'a> Shard<'a> {
    /// A shard with all streams of the point.
    pub fn whole(point: &'a Point) -> Self {
        Self { point, streams: 0..point.streams, stop_group: None }
    }
    /// Seed of its worker.
    pub fn seed(&self) -> u64 {
        self.point.seed ^ u64::from(self.streams.start)
    }
    /// True if other shards must continue until this one has enough samples or precision.
    pub fn needs_more(&self) -> bool {
        self.point.stop.samples.is_some() || self.point.stop.until.is_some()
    }
    /// Its share of a limit that counts over all streams; 0 = no limit.
    pub(crate) fn share(&self, limit: u64) -> u64 {
        let streams = u64::from(self.point.streams).max(1);
        limit.div_ceil(streams) * self.streams.len() as u64
    }
    /// Its share of the bytes that end the point's window; 0 = no limit.
    pub(crate) fn bytes(&self) -> u64 {
        self.share(self.point.stop.bytes)
    }
    /// Largest number of requests in flight, which is the number of slots that it needs.
    pub fn slots(&self) -> u32 {
        self.streams.len() as u32 * self.point.queue_depth
    }
}
