//! Replay of a job, and the requests of its traces.

use qdepth_workload::{Recorded, Trace};

/// Maximum number of requests in all traces of a job.
pub(super) const REQUESTS_MAX: usize = 1 << 20;

/// Replay of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Traces, which clones use round-robin: requests by file or device, in order of appearance.
    pub traces: Vec<Vec<(String, Trace)>>,
    /// Speed relative to the recording; `None` for as fast as possible.
    pub speed: Option<f64>,
}

impl Replay {
    /// Trace of one clone.
    pub(super) fn for_clone(&self, clone: u32) -> &[(String, Trace)] {
        self.traces.get(clone as usize % self.traces.len().max(1)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Recorded> {
        self.traces.iter().flatten().flat_map(|(_, trace)| trace.requests())
    }
}

/// Request of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) path: String,
    pub(super) recorded: Recorded,
}

/// Requests of a log, and the maximum in flight if the log contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) lines: Vec<Line>,
    pub(super) depth: Option<u32>,
}
