//! Results of the workers of a point.

use qdepth_engine::Outcome;
use qdepth_measure::Nanos;
use qdepth_workload::Point;

/// Results of one worker of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerResult {
    /// Bytes moved.
    pub bytes: u64,
    /// Number of completed requests.
    pub transfers: u64,
    /// Time from the common start to the start of catching up with the others.
    pub caught_up_from: Nanos,
    /// Bytes moved until then.
    pub bytes_before: u64,
    /// Number of context switches in the window.
    pub switches: u64,
    /// Length of the window. If a number of bytes ends the point, time from the common start to the
    /// last completion.
    pub duration: Nanos,
    /// CPU time in the window.
    pub cpu: Nanos,
    /// Page faults in the window: major ones, which read from storage, and minor ones.
    pub faults: [u64; 2],
    /// Time for opening and closing its file.
    pub opened: Nanos,
    /// Time for closing its file.
    pub closed: Nanos,
}

/// Results of the workers of each point.
pub type WorkerResults = Vec<(Point, Vec<WorkerResult>)>;

impl WorkerResult {
    /// Adds the results of a later segment.
    pub(crate) fn append(&mut self, later: Self) {
        self.bytes += later.bytes;
        self.transfers += later.transfers;
        self.caught_up_from += later.caught_up_from;
        self.bytes_before += later.bytes_before;
        self.switches += later.switches;
        self.duration += later.duration;
        self.cpu += later.cpu;
        self.faults = [0, 1].map(|kind| self.faults[kind] + later.faults[kind]);
        self.opened += later.opened;
        self.closed += later.closed;
    }
    pub(crate) fn from_outcome(outcome: &Outcome) -> Self {
        Self {
            bytes: outcome.bytes(),
            duration: outcome.duration,
            cpu: Nanos(outcome.cpu.user.0 + outcome.cpu.system.0),
            transfers: outcome.directions[..3].iter().map(|d| d.completed).sum(),
            caught_up_from: outcome.caught_up_from,
            bytes_before: outcome.bytes_before,
            switches: outcome.cpu.switches,
            faults: outcome.cpu.faults,
            ..Self::default()
        }
    }
}
