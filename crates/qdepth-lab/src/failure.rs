//! Errors of the lab, and the exit status of each kind in every front end.

use qdepth_files::{FileError, How};
use qdepth_host::{Problem, Refusal};
use qdepth_logbook::LogbookError;
use qdepth_media::MediaError;
use qdepth_workload::ResolveError;
use thiserror::Error;

/// The exit status of what began and could not end.
pub const FAILED: u8 = 4;

/// Why no thread can be started, and what to do.
pub const THREAD_LIMIT: &str = "a limit on threads (`ulimit -u`, pids.max of the control group) or \
    on memory (`ulimit -v`) is in the way. What was finished before is kept in the logbook; raise \
    the limit, then `qdepth run --resume`";

/// Wrong usage: exit status 2.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Something that the work needs is not there, and nothing was changed: exit status 3.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Missing(pub String);

/// Error on another rank, with its exit status.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct RemoteError {
    pub(crate) what: String,
    pub(crate) status: u8,
}

/// The error of a file, where that is what went wrong.
pub fn file_error(error: &anyhow::Error) -> Option<&FileError> {
    match error.downcast_ref() {
        Some(LogbookError::File { source, .. }) => Some(source),
        _ => error.downcast_ref(),
    }
}

/// The exit status of what went wrong.
///
/// 2: the words cannot be followed: one is not understood, or what it names is not there or is
/// nothing of that kind. 3: they were understood, and a guard, a right or something that this
/// machine lacks is in the way; nothing was changed. 4: it was tried, and could not end.
pub fn exit_status(error: &anyhow::Error) -> u8 {
    if let Some(remote) = error.downcast_ref::<RemoteError>() {
        return remote.status;
    }
    if let Some(error) = file_error(error) {
        return match error.how {
            How::Wrong => 2,
            How::Refused => 3,
            How::Failed => FAILED,
        };
    }
    if let Some(error) = error.downcast_ref::<LogbookError>() {
        return of_logbook(error);
    }
    let wrong = error.is::<Usage>() || error.is::<ResolveError>() || error.is::<MediaError>();
    let refused = error.is::<Refusal>()
        || error.is::<Missing>()
        || matches!(error.downcast_ref(), Some(Problem::Refused(_)));
    match (wrong, refused) {
        (true, _) => 2,
        (_, true) => 3,
        _ => FAILED,
    }
}

fn of_logbook(error: &LogbookError) -> u8 {
    match error {
        LogbookError::NotALogbook { .. }
        | LogbookError::Missing { .. }
        | LogbookError::NoSuchRun { .. }
        | LogbookError::NoEarlierRun { .. }
        | LogbookError::AmbiguousRun { .. } => 2,
        LogbookError::Alive { .. } | LogbookError::Newer { .. } => 3,
        _ => FAILED,
    }
}
