//! A load, or a share of it, as one worker drives it, and those that run at the same time.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use qdepth_workload::Point;

use crate::flow::{Flow, weight};

/// A load, or the streams of it that one worker drives.
#[derive(Clone, Debug)]
pub struct Shard<'a> {
    /// The load.
    pub point: &'a Point,
    /// Its streams, by number.
    pub streams: Range<u32>,
    /// The shards that it ends with, where they wait for samples or for precision, or that it is
    /// tied to.
    pub stop_group: Option<&'a StopGroup>,
}

/// Parts that run at the same time and end together, once each has the samples, or the precision,
/// that it wants. A sum of rates is known as well as the worst known of them, or better: its error
/// is at most the sum of theirs.
#[derive(Debug)]
pub struct StopGroup {
    wanting: AtomicUsize,
    /// True if one has ended that ends all.
    over: AtomicBool,
    /// Groups of shards that are tied to each other.
    flows: Vec<Flow>,
    /// Shards that catch up with each other, and are not at the end of their time.
    to_come: AtomicUsize,
    /// Most bytes that a stream of theirs had asked for at that end.
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
        // Where nobody wants anything, nobody is content either.
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
    /// The time of one that catches up is over, or it has ended before: so many bytes a stream of
    /// it had asked for at most.
    pub(crate) fn came(&self, bytes: u64) {
        self.most.fetch_max(bytes, Ordering::Relaxed);
        self.to_come.fetch_sub(1, Ordering::Release);
    }
    /// Most bytes of a stream, once that is known.
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
    /// All of it.
    pub fn whole(point: &'a Point) -> Self {
        Self { point, streams: 0..point.streams, stop_group: None }
    }
    /// True if the others continue until it has enough samples, or enough precision.
    pub fn wants(&self) -> bool {
        self.point.stop.samples.is_some() || self.point.stop.until.is_some()
    }
    /// Its share of what a limit counts over all streams; 0 = no limit.
    pub(crate) fn share(&self, limit: u64) -> u64 {
        let streams = u64::from(self.point.streams).max(1);
        limit.div_ceil(streams) * self.streams.len() as u64
    }
    /// Its share of the bytes that end the point's window; 0 = no limit.
    pub(crate) fn bytes(&self) -> u64 {
        self.share(self.point.stop.bytes)
    }
    /// Most requests in flight, and so the slots that it needs.
    pub fn slots(&self) -> u32 {
        self.streams.len() as u32 * self.point.outstanding
    }
}
