//! How the program ends: the table of exit statuses, and what is said on standard error.

use std::process::ExitCode;

use qdepth_host::{Failure, Problem, Refusal};
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

/// Says what went wrong and chooses the exit status: 2 wrong usage, 3 refused (nothing was
/// changed), 4 failed.
#[expect(clippy::print_stderr, reason = "the one place where errors are shown")]
pub(crate) fn explain(error: &anyhow::Error) -> ExitCode {
    // Errors of the logbook say their own cause; others leave it to the chain.
    match error.downcast_ref::<LogbookError>() {
        Some(error) => eprintln!("qdepth: {error}"),
        None => eprintln!("qdepth: {error:#}"),
    }
    let is = |found: bool, code: u8| found.then(|| ExitCode::from(code));
    is(error.is::<Usage>() || error.is::<ResolveError>() || error.is::<MediaError>(), 2)
        .or_else(|| is(error.is::<Refusal>() || error.is::<Missing>(), 3))
        .or_else(|| is(matches!(error.downcast_ref(), Some(Problem::Refused(_))), 3))
        .or_else(|| is(matches!(error.downcast_ref(), Some(LogbookError::Alive { .. })), 3))
        .or_else(|| is(error.is::<Failure>(), 4))
        .unwrap_or_else(|| ExitCode::from(4))
}
