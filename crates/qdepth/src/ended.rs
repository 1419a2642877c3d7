//! How the program ends: the table of exit statuses, and what is said on standard error.

use std::process::ExitCode;

use qdepth_host::{Problem, Refusal};
use qdepth_logbook::LogbookError;
use qdepth_media::MediaError;
use qdepth_workload::ResolveError;

/// Exit statuses that scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All points are valid.
    Valid,
    /// Finished, with invalid points.
    Invalid,
    /// Interrupted by this signal; what was measured is kept.
    Interrupted(i32),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Valid => Self::SUCCESS,
            Status::Invalid => Self::from(1),
            Status::Interrupted(signal) => Self::from(128 + signal as u8),
        }
    }
}

/// Wrong usage: exit status 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Usage {}

/// Something that the work needs is not there, and nothing was changed: exit status 3.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Missing {}

/// What went wrong on another rank, with the exit status that it has there.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) what: String,
    pub(crate) status: u8,
}

impl std::fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}
impl std::error::Error for Elsewhere {}

/// Says what went wrong and chooses the exit status.
#[expect(clippy::print_stderr, reason = "the one place where errors are shown")]
pub(crate) fn explain(error: &anyhow::Error) -> ExitCode {
    // Errors of the logbook say their own cause; others leave it to the chain.
    match error.downcast_ref::<LogbookError>() {
        Some(error) => eprintln!("qdepth: {error}"),
        None => eprintln!("qdepth: {error:#}"),
    }
    ExitCode::from(status(error))
}

/// The exit status of what went wrong: 2 wrong usage, 3 refused (nothing was changed), 4 failed.
pub(crate) fn status(error: &anyhow::Error) -> u8 {
    if let Some(elsewhere) = error.downcast_ref::<Elsewhere>() {
        return elsewhere.status;
    }
    let wrong = error.is::<Usage>() || error.is::<ResolveError>() || error.is::<MediaError>();
    let refused = error.is::<Refusal>()
        || error.is::<Missing>()
        || matches!(error.downcast_ref(), Some(Problem::Refused(_)))
        || matches!(error.downcast_ref(), Some(LogbookError::Alive { .. }));
    match (wrong, refused) {
        (true, _) => 2,
        (_, true) => 3,
        _ => 4,
    }
}
