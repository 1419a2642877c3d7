//! Who looks on while the lab works: terminal, another tool's output, a page. Besides a run's
//! record this is the only way out of the lab.

use std::path::Path;

use qdepth_record::RunEvent;

/// A front end, as the lab sees it.
pub trait Observer {
    /// Something happened in the run.
    fn event(&self, event: &RunEvent);
    /// What is written before anything is measured.
    fn preparing(&self, news: Preparing<'_>);
    /// A line for the person.
    fn print_line(&self, line: &str);
    /// A line that must reach a person, whoever reads the others: something is left behind.
    fn warn(&self, line: &str);
    /// Asks for a line; none where nobody can answer.
    fn ask(&self, question: &str) -> Option<String>;
}

/// How far the writing before a measurement has come.
#[derive(Clone, Copy, Debug)]
pub enum Preparing<'a> {
    /// The measurement file in this directory is filled.
    Filling {
        /// The directory.
        path: &'a Path,
        /// Size of the file.
        bytes: u64,
    },
    /// A target is preconditioned; how many bytes rounds until the steady state take is not known.
    Preconditioning {
        /// The step in words.
        step: &'a str,
        /// What is written in all, where that is known before.
        bytes: Option<u64>,
    },
    /// So many bytes of it are written.
    Written(u64),
    /// It has ended, well or not.
    Over,
}

/// Tells an observer of one piece of work, and of its end in any case.
pub(crate) struct Progress<'a> {
    observer: &'a dyn Observer,
    bytes: u64,
}

impl<'a> Progress<'a> {
    pub(crate) fn begin(observer: &'a dyn Observer, work: Preparing<'_>) -> Self {
        observer.preparing(work);
        Self { observer, bytes: 0 }
    }

    /// So many bytes in all.
    pub(crate) fn reach(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.observer.preparing(Preparing::Written(bytes));
    }

    /// So many bytes more.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.reach(self.bytes + bytes);
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.observer.preparing(Preparing::Over);
    }
}
