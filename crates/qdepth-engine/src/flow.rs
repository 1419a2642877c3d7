//! Issue counters shared by coupled loads.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use qdepth_workload::Point;

/// Number of requests that a group of coupled loads has issued, and its total weight.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) group: u32,
    pub(crate) issued: AtomicU64,
    pub(crate) weights: AtomicU64,
}

impl Flow {
    /// Adds a shard of this weight to its group.
    pub(crate) fn join(flows: &mut Vec<Self>, group: u32, weight: u64) {
        let index = flows.iter().position(|flow| flow.group == group).unwrap_or_else(|| {
            flows.push(Self { group, issued: AtomicU64::new(0), weights: AtomicU64::new(0) });
            flows.len() - 1
        });
        *flows[index].weights.get_mut() += weight;
    }
}

/// Share of a load's weight that belongs to these streams.
pub(crate) fn weight(point: &Point, streams: &Range<u32>) -> u64 {
    const WHOLE: u64 = 1 << 20;
    let whole = point.flow.map_or(0, |flow| u64::from(flow.weight)) * WHOLE;
    whole * streams.len() as u64 / u64::from(point.streams).max(1)
}
