//! What a job replays, and the lines of the traces that it is read of.

use qdepth_workload::{Recorded, Trace};

/// Most requests that are read of all traces of a job.
pub(super) const REQUESTS_MAX: usize = 1 << 20;

/// What a job replays.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The traces, of which clones take one each in turn: by file or device, in the order in which
    /// they come up.
    pub traces: Vec<Vec<(String, Trace)>>,
    /// How many times as fast as it was recorded; none for as fast as it goes.
    pub speed: Option<f64>,
}

impl Replay {
    /// What a clone replays.
    pub(super) fn for_clone(&self, clone: u32) -> &[(String, Trace)] {
        self.traces.get(clone as usize % self.traces.len().max(1)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Recorded> {
        self.traces.iter().flatten().flat_map(|(_, trace)| trace.requests())
    }
}

/// A request of some file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) path: String,
    pub(super) recorded: Recorded,
}

/// What was read, and the most that was in flight where the trace says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) lines: Vec<Line>,
    pub(super) depth: Option<u32>,
}
