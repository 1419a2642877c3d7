//! Progress of a group while it is measured.

use qdepth_engine::Interval;
use qdepth_host::monitor::{Sample, between};
use qdepth_measure::Nanos;
use serde::{Deserialize, Serialize};

/// From look to look, at least: the kernel counts CPU time in ticks of 10 ms.
const NEWS_MIN: Nanos = Nanos::from_millis(200);
/// Slices of one sign of life, at most: what a screen cannot show is no reason to hold memory.
const SLICES_MAX: usize = 4096;

/// Something that is seen by whoever waits for the workers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sight<'a> {
    /// A slice of the load at this place of the group, by one worker.
    Slice(usize, &'a Interval),
    /// Sample of the machine.
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

/// Changes of a machine between two samples, a second apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineNews {
    /// Name of the machine.
    pub(crate) host: String,
    /// From look to look, ns.
    pub(crate) length_ns: u64,
    /// Quantity with its unit, and value; as in the series of a point's monitors.
    pub(crate) values: Vec<(String, f64)>,
}

impl MachineNews {
    pub(crate) fn new(before: &Sample, after: &Sample) -> Self {
        let length_ns = after.at_ns.saturating_sub(before.at_ns);
        Self { host: hostname(), length_ns, values: between(before, after) }
    }

    /// Changes between the last two samples, if they are far enough apart.
    pub(crate) fn last_of(samples: &[Sample]) -> Option<Self> {
        let [.., before, after] = samples else { return None };
        let news = Self::new(before, after);
        (news.length_ns >= NEWS_MIN.0).then_some(news)
    }
}

/// Name of this machine.
pub(crate) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// News of a rank, sent to the leader with its heartbeat.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RankNews {
    pub(crate) slices: Vec<(usize, Interval)>,
    pub(crate) machine: Option<MachineNews>,
}

impl RankNews {
    pub(crate) fn see(&mut self, sight: Sight<'_>) {
        match sight {
            Sight::Slice(index, slice) if self.slices.len() < SLICES_MAX => {
                self.slices.push((index, *slice));
            }
            Sight::Machine(machine) => self.machine = Some(machine.clone()),
            Sight::Slice(..) | Sight::Tick => {}
        }
    }

    /// Message; empty if there is nothing to report.
    pub(crate) fn taken(&mut self) -> Vec<u8> {
        let news = std::mem::take(self);
        if news.slices.is_empty() && news.machine.is_none() {
            return Vec::new();
        }
        // Numbers and texts cannot fail to be encoded.
        postcard::to_allocvec(&news).unwrap_or_default()
    }
}
