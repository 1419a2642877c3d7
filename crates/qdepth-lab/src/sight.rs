//! What is to be seen while a group is measured, and what all ranks see together.

use std::collections::{BTreeMap, VecDeque};

use qdepth_engine::Interval;
use qdepth_host::witness::{Sample, between};
use qdepth_measure::Nanos;
use serde::{Deserialize, Serialize};

use crate::all_ranks::AllRanks;

/// Slices of other ranks come with their signs of life, every half second: whoever waits for so long
/// has all of a second.
const RANKS_LAG: Nanos = Nanos::from_millis(1200);
/// From look to look, at least: the kernel counts CPU time in ticks of 10 ms.
const NEWS_MIN: Nanos = Nanos::from_millis(200);
/// Slices of one sign of life, at most: what a screen cannot show is no reason to hold memory.
const HELD_MAX: usize = 4096;

/// Something that is seen by whoever waits for the workers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sight<'a> {
    /// A slice of the load at this place of the group, by one worker.
    Slice(usize, &'a Interval),
    /// What a look at the machine told.
    Machine(&'a MachineNews),
    /// Some time has passed.
    Tick,
}

impl Sight<'_> {
    /// Bytes that were written.
    pub(crate) fn written(&self) -> u64 {
        match self {
            Sight::Slice(_, slice) => slice.bytes[1],
            Sight::Machine(_) | Sight::Tick => 0,
        }
    }
}

/// What two looks at a machine told, a second apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineNews {
    /// Name of the machine.
    pub(crate) host: String,
    /// From look to look, ns.
    pub(crate) length_ns: u64,
    /// What, with its unit, and how much; as in the series of a point's witnesses.
    pub(crate) values: Vec<(String, f64)>,
}

impl MachineNews {
    pub(crate) fn of(before: &Sample, after: &Sample) -> Self {
        let length_ns = after.at_ns.saturating_sub(before.at_ns);
        Self { host: hostname(), length_ns, values: between(before, after) }
    }

    /// What the last two looks told, where they are not too close to each other to tell anything.
    pub(crate) fn last_of(samples: &[Sample]) -> Option<Self> {
        let [.., before, after] = samples else { return None };
        let news = Self::of(before, after);
        (news.length_ns >= NEWS_MIN.0).then_some(news)
    }
}

/// Name of this machine.
pub(crate) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// What a rank tells the leader with its sign of life.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RankNews {
    slices: Vec<(usize, Interval)>,
    machine: Option<MachineNews>,
}

impl RankNews {
    pub(crate) fn see(&mut self, sight: Sight<'_>) {
        match sight {
            Sight::Slice(place, slice) if self.slices.len() < HELD_MAX => {
                self.slices.push((place, *slice));
            }
            Sight::Machine(machine) => self.machine = Some(machine.clone()),
            Sight::Slice(..) | Sight::Tick => {}
        }
    }

    /// As a message; nothing where there is nothing to tell.
    pub(crate) fn taken(&mut self) -> Vec<u8> {
        let news = std::mem::take(self);
        if news.slices.is_empty() && news.machine.is_none() {
            return Vec::new();
        }
        // Numbers and texts cannot fail to be encoded.
        postcard::to_allocvec(&news).unwrap_or_default()
    }
}

/// What is told of a machine: its news, and what its ranks completed and moved a second.
#[derive(Debug, PartialEq)]
pub(crate) struct MachineSight {
    pub(crate) news: MachineNews,
    pub(crate) io_per_s: f64,
    pub(crate) bytes_per_s: f64,
}

/// What is ready to be told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) slices: Vec<(usize, Interval)>,
    pub(crate) machines: Vec<MachineSight>,
}

/// The sights of all ranks, put together at the leader. Where there is one rank alone, each is told
/// at once.
#[derive(Default)]
pub(crate) struct Together<'a> {
    all_ranks: Option<&'a AllRanks>,
    /// Slices that wait for those of other ranks, and up to where this rank has come.
    waiting: VecDeque<(usize, Interval)>,
    reached: Nanos,
    /// The machine of each other rank, once it told.
    hosts: BTreeMap<u32, String>,
    /// I/Os and bytes by rank since its machine told last.
    counts: BTreeMap<u32, (u64, u64)>,
}

impl<'a> Together<'a> {
    pub(crate) fn of(all_ranks: Option<&'a AllRanks>) -> Self {
        Self { all_ranks, ..Self::default() }
    }

    /// What can be told after this was seen here.
    pub(crate) fn see(&mut self, sight: Sight<'_>) -> Told {
        let mut told = Told::default();
        match sight {
            Sight::Slice(place, slice) => {
                self.reached = self.reached.max(slice.start + slice.length);
                self.count(0, slice);
                match self.all_ranks {
                    Some(_) => self.waiting.push_back((place, *slice)),
                    None => told.slices.push((place, *slice)),
                }
            }
            Sight::Machine(news) => {
                self.hosts.insert(0, news.host.clone());
                told.machines.push(self.machine(news.clone()));
            }
            Sight::Tick => self.hear(&mut told),
        }
        let ready = self.reached.0.saturating_sub(RANKS_LAG.0);
        self.release(&mut told, |slice| (slice.start + slice.length).0 <= ready);
        told
    }

    /// What is left when the group is measured.
    pub(crate) fn rest(mut self) -> Told {
        let mut told = Told::default();
        self.hear(&mut told);
        self.release(&mut told, |_| true);
        told
    }

    fn hear(&mut self, told: &mut Told) {
        let Some(all_ranks) = self.all_ranks else { return };
        while let Some((rank, bytes)) = all_ranks.news() {
            // Another version would have been refused at the start.
            let Ok(news) = postcard::from_bytes::<RankNews>(&bytes) else { continue };
            for (place, slice) in news.slices {
                self.count(rank, &slice);
                self.waiting.push_back((place, slice));
            }
            if let Some(news) = news.machine {
                self.hosts.insert(rank, news.host.clone());
                // Ranks of one machine see the same of it: the first of them tells.
                if self.hosts.iter().all(|(other, host)| *other >= rank || *host != news.host) {
                    told.machines.push(self.machine(news));
                }
            }
        }
    }

    fn count(&mut self, rank: u32, slice: &Interval) {
        let (ios, bytes) = self.counts.entry(rank).or_default();
        *ios += slice.completed.iter().sum::<u64>();
        *bytes += slice.bytes.iter().sum::<u64>();
    }

    /// The machine with what its ranks did since it told last.
    fn machine(&mut self, news: MachineNews) -> MachineSight {
        let (mut ios, mut bytes) = (0, 0);
        for (rank, _) in self.hosts.iter().filter(|(_, host)| **host == news.host) {
            let (more_ios, more_bytes) = self.counts.remove(rank).unwrap_or_default();
            (ios, bytes) = (ios + more_ios, bytes + more_bytes);
        }
        let seconds = news.length_ns.max(1) as f64 / 1e9;
        let (io_per_s, bytes_per_s) = (ios as f64 / seconds, bytes as f64 / seconds);
        MachineSight { news, io_per_s, bytes_per_s }
    }

    /// Those that are ready, in the order of time.
    fn release(&mut self, told: &mut Told, is_ready: impl Fn(&Interval) -> bool) {
        let (mut ready, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(_, s)| is_ready(s));
        self.waiting = waiting.into();
        ready.sort_by_key(|(_, slice)| slice.start);
        told.slices.append(&mut ready);
    }
}
