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
    wanting: AtomicUsize,
    /// True if a shard has ended that ends the whole group.
    over: AtomicBool,
    /// Counters of the coupled loads.
    flows: Vec<Flow>,
    /// Number of shards that catch up with each other and whose own time is not over.
    to_come: AtomicUsize,
    /// Largest number of bytes that one of their streams had requested when its time was over.
    most: AtomicU64,
}

impl StopGroup {
    /// Coupling of shards that run at the same time; `None` if none waits for another.
    pub fn from_shards<'p>(shards: impl Iterator<Item = &'p Shard<'p>>) -> Option<Self> {
        let (mut wanting, mut to_come, mut ends) = (0, 0, false);
        let mut flows = Vec::new();
        for shard in shards {
            wanting += usize::from(shard.wants());
            ends |= shard.point.stop.ends_step;
            to_come += usize::from(shard.point.stop.catches_up);
            if let Some(group) = shard.point.flow.map(|flow| flow.group) {
                Flow::join(&mut flows, group, weight(shard.point, &shard.streams));
            }
        }
        // If no shard requires anything, the group never ends early.
        let count = if wanting > 0 { wanting } else { usize::MAX };
        let wanting = AtomicUsize::new(count);
        let together = count < usize::MAX || ends || to_come > 0 || !flows.is_empty();
        let (over, most) = (AtomicBool::new(false), AtomicU64::new(0));
        let to_come = AtomicUsize::new(to_come);
        together.then_some(Self { wanting, over, flows, to_come, most })
    }
    /// Coupling of the shard with others.
    pub(crate) fn flow(&self, shard: &Shard<'_>) -> Option<&Flow> {
        let group = shard.point.flow?.group;
        self.flows.iter().find(|flow| flow.group == group)
    }
    /// Notes that the own time of a shard that catches up is over, and the largest number of bytes
    /// that one of its streams had requested.
    pub(crate) fn came(&self, bytes: u64) {
        self.most.fetch_max(bytes, Ordering::Relaxed);
        self.to_come.fetch_sub(1, Ordering::Release);
    }
    /// Largest number of bytes of one stream; `None` until the own time of all shards is over.
    pub(crate) fn most(&self) -> Option<u64> {
        let all = self.to_come.load(Ordering::Acquire) == 0;
        all.then(|| self.most.load(Ordering::Relaxed))
    }
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
    pub(crate) fn content(&self) {
        self.wanting.fetch_sub(1, Ordering::Relaxed);
    }
    pub(crate) fn all_content(&self) -> bool {
        self.is_over() || self.wanting.load(Ordering::Relaxed) == 0
    }
}

impl<'a> Shard<'a> {
    /// A shard with all streams of the point.
    pub fn whole(point: &'a Point) -> Self {
        Self { point, streams: 0..point.streams, stop_group: None }
    }
    /// True if other shards must continue until this one has enough samples or precision.
    pub fn wants(&self) -> bool {
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
        self.streams.len() as u32 * self.point.outstanding
    }
}
