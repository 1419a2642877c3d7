//! Progress of all ranks during a group, merged by the leader.

use std::collections::{BTreeMap, VecDeque};

use qdepth_engine::Interval;
use qdepth_measure::Nanos;
use qdepth_record::event::Machine;

use crate::monitor::progress::{MachineSample, ProgressEvent, RankProgress};
use crate::ranks::all_ranks::AllRanks;

/// Delay after which the samples of all ranks are complete: they arrive with heartbeats, every half
/// second.
const RANKS_LAG: Nanos = Nanos::from_millis(1200);

/// Progress that is ready to be reported.
#[derive(Debug, Default)]
pub(crate) struct ProgressBatch {
    pub(crate) slices: Vec<(usize, Interval)>,
    pub(crate) machines: Vec<Machine>,
}

/// Merges the progress of all ranks. With a single rank, everything is reported at once.
#[derive(Default)]
pub(crate) struct ProgressMerger<'a> {
    all_ranks: Option<&'a AllRanks>,
    /// Samples that wait for those of other ranks, and the time up to which this rank has reported.
    waiting: VecDeque<(usize, Interval)>,
    reached: Nanos,
    /// Host of each other rank that has reported.
    hosts: BTreeMap<u32, String>,
    /// I/Os and bytes of each rank since the last report of its machine.
    counts: BTreeMap<u32, (u64, u64)>,
}

impl<'a> ProgressMerger<'a> {
    pub(crate) fn new(all_ranks: Option<&'a AllRanks>) -> Self {
        Self { all_ranks, ..Self::default() }
    }

    /// Adds progress, and returns what can be reported now.
    pub(crate) fn see(&mut self, event: ProgressEvent<'_>) -> ProgressBatch {
        let mut batch = ProgressBatch::default();
        match event {
            ProgressEvent::Slice(index, slice) => {
                self.reached = self.reached.max(slice.start + slice.length);
                self.count(0, slice);
                match self.all_ranks {
                    Some(_) => self.waiting.push_back((index, *slice)),
                    None => batch.slices.push((index, *slice)),
                }
            }
            ProgressEvent::Machine(news) => {
                self.hosts.insert(0, news.host.clone());
                batch.machines.push(self.machine(news.clone()));
            }
            ProgressEvent::Tick => self.hear(&mut batch),
        }
        let ready = self.reached.0.saturating_sub(RANKS_LAG.0);
        self.release(&mut batch, |slice| (slice.start + slice.length).0 <= ready);
        batch
    }

    /// Returns all remaining progress, after the group.
    pub(crate) fn rest(mut self) -> ProgressBatch {
        let mut batch = ProgressBatch::default();
        self.hear(&mut batch);
        self.release(&mut batch, |_| true);
        batch
    }

    fn hear(&mut self, batch: &mut ProgressBatch) {
        let Some(all_ranks) = self.all_ranks else { return };
        while let Some((rank, bytes)) = all_ranks.news() {
            // Cannot fail here: another version is refused at the start.
            let Ok(news) = postcard::from_bytes::<RankProgress>(&bytes) else { continue };
            for (index, slice) in news.slices {
                self.count(rank, &slice);
                self.waiting.push_back((index, slice));
            }
            if let Some(news) = news.machine {
                self.hosts.insert(rank, news.host.clone());
                // Ranks of one machine see the same values, so only the first of them reports.
                if self.hosts.iter().all(|(other, host)| *other >= rank || *host != news.host) {
                    batch.machines.push(self.machine(news));
                }
            }
        }
    }

    fn count(&mut self, rank: u32, slice: &Interval) {
        let (ios, bytes) = self.counts.entry(rank).or_default();
        *ios += slice.completed.iter().sum::<u64>();
        *bytes += slice.bytes.iter().sum::<u64>();
    }

    /// Report of a machine, with the I/O of its ranks since its last report.
    fn machine(&mut self, news: MachineSample) -> Machine {
        let (mut ios, mut bytes) = (0, 0);
        for (rank, _) in self.hosts.iter().filter(|(_, host)| **host == news.host) {
            let (more_ios, more_bytes) = self.counts.remove(rank).unwrap_or_default();
            (ios, bytes) = (ios + more_ios, bytes + more_bytes);
        }
        let seconds = news.length_ns.max(1) as f64 / 1e9;
        let (io_per_s, bytes_per_s) = (ios as f64 / seconds, bytes as f64 / seconds);
        let values = news.values.into_iter().filter(|(_, value)| value.is_finite()).collect();
        Machine { host: news.host, io_per_s, bytes_per_s, values }
    }

    /// Moves samples that are ready to the batch, ordered by time.
    fn release(&mut self, batch: &mut ProgressBatch, is_ready: impl Fn(&Interval) -> bool) {
        let (mut ready, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(_, s)| is_ready(s));
        self.waiting = waiting.into();
        ready.sort_by_key(|(_, slice)| slice.start);
        batch.slices.append(&mut ready);
    }
}
