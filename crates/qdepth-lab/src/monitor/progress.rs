//! Progress of a group while it is measured.

use qdepth_engine::Interval;
use qdepth_host::monitor::{Sample, between};
use qdepth_measure::Nanos;
use serde::{Deserialize, Serialize};

/// Least time between two samples: the kernel counts CPU time in ticks of 10 ms.
const NEWS_MIN: Nanos = Nanos::from_millis(200);
/// Largest number of samples in one heartbeat: a screen could not show more, so they need no
/// memory.
const SLICES_MAX: usize = 4096;

/// Progress event for the thread that waits for the workers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProgressEvent<'a> {
    /// A sample of the load with this index in the group, from one worker.
    Slice(usize, &'a Interval),
    /// A sample of the machine.
    Machine(&'a MachineSample),
    /// Some time has passed.
    Tick,
}

impl ProgressEvent<'_> {
    /// Bytes written in the sample.
    pub(crate) fn written(&self) -> u64 {
        match self {
            ProgressEvent::Slice(_, slice) => slice.bytes[1],
            ProgressEvent::Machine(_) | ProgressEvent::Tick => 0,
        }
    }
}

/// Changes of a machine between two samples one second apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineSample {
    /// Name of the machine.
    pub(crate) host: String,
    /// Time between the samples, ns.
    pub(crate) length_ns: u64,
    /// Quantities with their units, and values, like in the series of a point's monitors.
    pub(crate) values: Vec<(String, f64)>,
}

impl MachineSample {
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

/// Progress of a rank, sent to the leader with its heartbeat.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RankProgress {
    pub(crate) slices: Vec<(usize, Interval)>,
    pub(crate) machine: Option<MachineSample>,
}

impl RankProgress {
    pub(crate) fn see(&mut self, event: ProgressEvent<'_>) {
        match event {
            ProgressEvent::Slice(index, slice) if self.slices.len() < SLICES_MAX => {
                self.slices.push((index, *slice));
            }
            ProgressEvent::Machine(machine) => self.machine = Some(machine.clone()),
            ProgressEvent::Slice(..) | ProgressEvent::Tick => {}
        }
    }

    /// The message, which empties the progress; no bytes if there is nothing to report.
    pub(crate) fn taken(&mut self) -> Vec<u8> {
        let news = std::mem::take(self);
        if news.slices.is_empty() && news.machine.is_none() {
            return Vec::new();
        }
        // Numbers and strings always encode.
        postcard::to_allocvec(&news).unwrap_or_default()
    }
}
