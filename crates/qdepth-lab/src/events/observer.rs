//! Observers of a run: terminal, output of another tool, a web page. Besides the record of the run,
//! events are the only output of this crate.

pub use qdepth_engine::{RECORDED_MAX, RecordedIo};
use qdepth_measure::{Instant, Nanos};
use qdepth_record::PhaseStep;
use qdepth_record::event::{Message, Phase, PhaseEnded, PhaseProgress, PhaseStarted, RunEvent};
use qdepth_workload::Point;

/// Interval between progress events.
const PROGRESS_EVERY: Nanos = Nanos::from_secs(1);

/// A front end, as this crate sees it.
pub trait Observer {
    /// Receives an event.
    fn event(&self, event: &RunEvent);
    /// Asks the user for a line of input; `None` if there is no user to answer.
    fn ask(&self, question: &str) -> Option<String>;
    /// True if the observer receives each I/O, which costs memory and CPU time in the loop.
    fn wants_ios(&self) -> bool;
    /// Receives the I/Os of one worker of a point.
    fn ios(&self, point: &Point, ios: Vec<RecordedIo>);
}

impl<'a> dyn Observer + 'a {
    /// Sends a line for people.
    pub(crate) fn message(&self, text: impl Into<String>) {
        self.event(&RunEvent::Message(Message { text: text.into(), is_warning: false }));
    }

    /// Sends a warning that must reach a person, for example that something is left behind.
    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.event(&RunEvent::Message(Message { text: text.into(), is_warning: true }));
    }
}

/// Reports a phase before the first point, its progress, and in any case its end.
pub(crate) struct Progress<'a> {
    observer: &'a dyn Observer,
    bytes: u64,
    reported_at: Instant,
}

impl<'a> Progress<'a> {
    /// Reports the start of the phase. `bytes` is the total to write, if known in advance.
    pub(crate) fn begin(
        observer: &'a dyn Observer,
        phase: Phase,
        step: PhaseStep,
        bytes: Option<u64>,
    ) -> Self {
        observer.event(&RunEvent::PhaseStarted(PhaseStarted::new(phase, step, bytes)));
        Self { observer, bytes: 0, reported_at: qdepth_linux::now() }
    }

    /// Reports the total number of bytes written so far.
    pub(crate) fn reach(&mut self, bytes: u64) {
        self.bytes = bytes;
        let now = qdepth_linux::now();
        if now.since(self.reported_at) >= PROGRESS_EVERY {
            self.reported_at = now;
            self.observer.event(&RunEvent::PhaseProgress(PhaseProgress { bytes_done: bytes }));
        }
    }

    /// Reports further bytes.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.reach(self.bytes + bytes);
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.observer.event(&RunEvent::PhaseEnded(PhaseEnded { bytes_done: self.bytes }));
    }
}
