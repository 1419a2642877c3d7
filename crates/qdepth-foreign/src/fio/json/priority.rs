//! Latencies by priority.

use std::collections::BTreeMap;

use qdepth_measure::{LatencyHistogram, Nanos};
use serde::Serialize;

use super::latency::FioLatency;
use super::parts::Side;

/// Latencies of the I/Os with one priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioPriority {
    /// 0 for reads, 1 for writes, 2 for trims.
    pub direction: u8,
    /// Priority in the kernel's encoding.
    pub priority: u16,
    /// Latencies.
    pub latency: LatencyHistogram,
}

impl FioPriority {
    /// Latencies by direction and priority, of the direction, priority and latency of each I/O.
    pub fn split(ios: impl IntoIterator<Item = (u8, u16, Nanos)>) -> Vec<Self> {
        let mut all: BTreeMap<(u8, u16), LatencyHistogram> = BTreeMap::new();
        for (direction, priority, latency) in ios {
            all.entry((direction, priority)).or_default().record(latency);
        }
        let part = |((direction, priority), latency)| Self { direction, priority, latency };
        all.into_iter().map(part).collect()
    }
}

/// Latencies of the I/Os with one priority: total latencies if the job asks for their percentiles,
/// otherwise completion latencies.
#[derive(Serialize)]
pub(in crate::fio) struct PriorityEntry {
    pub(in crate::fio) prioclass: u16,
    pub(in crate::fio) prio: u16,
    priohint: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::fio) clat_ns: Option<FioLatency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::fio) lat_ns: Option<FioLatency>,
}

/// Entries of a direction; empty if all its I/Os have the same priority.
pub(super) fn priorities(
    parts: &[FioPriority],
    side: Side,
    percentiles: &[f64],
    [of_completion, of_total]: [bool; 2],
    plus: bool,
) -> Vec<PriorityEntry> {
    let directions: &[u8] = match side {
        Side::Reads => &[0],
        Side::Writes => &[1],
        Side::Trims => &[2],
        Side::Both => &[0, 1, 2],
        Side::Syncs => &[],
    };
    let mut all: BTreeMap<u16, LatencyHistogram> = BTreeMap::new();
    for part in parts.iter().filter(|part| directions.contains(&part.direction)) {
        all.entry(part.priority).or_default().merge(&part.latency);
    }
    if all.len() < 2 {
        return Vec::new();
    }
    let part = |(priority, times): (u16, LatencyHistogram)| {
        let detailed = of_completion || of_total;
        let latency = FioLatency::new(&times, percentiles, detailed, plus);
        let (clat_ns, lat_ns) =
            if of_total { (None, Some(latency)) } else { (Some(latency), None) };
        let (prioclass, prio) = (priority >> 13, priority & 7);
        PriorityEntry { prioclass, prio, priohint: 0, clat_ns, lat_ns }
    };
    all.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_split_by_priority() {
        let io = |direction, priority, ns| (direction, priority, Nanos(ns));
        let ios = [io(0, 0, 100), io(0, 0x2001, 40), io(0, 0x2001, 60), io(1, 0, 7)];
        let parts = FioPriority::split(ios);
        let entries = |side| priorities(&parts, side, &[50.0], [true, false], false);
        let facts = |entry: &PriorityEntry| {
            let times = entry.clat_ns.as_ref().unwrap();
            (entry.prioclass, entry.prio, times.count, times.min, times.max)
        };
        let reads: Vec<_> = entries(Side::Reads).iter().map(facts).collect();
        assert_eq!(reads, [(0, 0, 1, 100, 100), (1, 1, 2, 40, 60)]);
        assert!(entries(Side::Writes).is_empty(), "one priority only");
        assert_eq!(entries(Side::Both).len(), 2);
    }
}
