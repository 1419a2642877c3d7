//! Observers of the lab: terminal, output of another tool, a page. Besides a run's record, events
//! are the only output of the lab.

use qdepth_measure::{Instant, Nanos};
use qdepth_record::PhaseStep;
use qdepth_record::event::{Message, Phase, PhaseEnded, PhaseProgress, PhaseStarted, RunEvent};

/// Between two events of progress.
const PROGRESS_EVERY: Nanos = Nanos::from_secs(1);

/// A front end, as the lab sees it.
pub trait Observer {
    /// Something happened.
    fn event(&self, event: &RunEvent);
    /// Asks the user for a line; `None` if nobody can answer.
    fn ask(&self, question: &str) -> Option<String>;
}

impl<'a> dyn Observer + 'a {
    /// A line for people.
    pub(crate) fn message(&self, text: impl Into<String>) {
        self.event(&RunEvent::Message(Message { text: text.into(), is_warning: false }));
    }

    /// A line that must reach a person, whoever reads the others: something is left behind.
    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.event(&RunEvent::Message(Message { text: text.into(), is_warning: true }));
    }
}

/// Tells an observer of a phase before the first point, and of its end in any case.
pub(crate) struct Progress<'a> {
    observer: &'a dyn Observer,
    bytes: u64,
    reported_at: Instant,
}

impl<'a> Progress<'a> {
    /// The phase begins; `bytes` are written in all, where that is known before.
    pub(crate) fn begin(
        observer: &'a dyn Observer,
        phase: Phase,
        step: PhaseStep,
        bytes: Option<u64>,
    ) -> Self {
        observer.event(&RunEvent::PhaseStarted(PhaseStarted::new(phase, step, bytes)));
        Self { observer, bytes: 0, reported_at: qdepth_linux::now() }
    }

    /// So many bytes in all.
    pub(crate) fn reach(&mut self, bytes: u64) {
        self.bytes = bytes;
        let now = qdepth_linux::now();
        if now.since(self.reported_at) >= PROGRESS_EVERY {
            self.reported_at = now;
            self.observer.event(&RunEvent::PhaseProgress(PhaseProgress { bytes_done: bytes }));
        }
    }

    /// So many bytes more.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.reach(self.bytes + bytes);
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.observer.event(&RunEvent::PhaseEnded(PhaseEnded { bytes_done: self.bytes }));
    }
}
