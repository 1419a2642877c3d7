//! Errors of this crate, and their exit status in all front ends.

use qdepth_files::{FileError, How};
use qdepth_host::{Problem, Refusal};
use qdepth_logbook::LogbookError;
use qdepth_media::MediaError;
use qdepth_workload::ResolveError;
use thiserror::Error;

/// Exit status of work that began and could not be completed.
pub const FAILED: u8 = 4;

/// Cause of a thread that cannot be started, with the remedy.
pub const THREAD_LIMIT: &str = "a limit on threads (`ulimit -u`, pids.max of the control group) or \
                                on memory (`ulimit -v`) is reached. The finished points are in the \
                                logbook: raise the limit, then continue with `qdepth run --resume`";

/// Wrong usage: exit status 2.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Something that the run needs is missing; nothing was changed: exit status 3.
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

/// The file error in the chain of causes, if there is one.
pub fn file_error(error: &anyhow::Error) -> Option<&FileError> {
    match error.downcast_ref() {
        Some(LogbookError::File { source, .. }) => Some(source),
        _ => error.downcast_ref(),
    }
}

/// Exit status of an error.
///
/// 2: the command cannot be followed: a word is not understood, or what it names does not exist or
/// has the wrong type. 3: it was understood, but a guard, a permission or something missing on this
/// machine prevents it; nothing was changed. 4: it was tried, and could not be completed.
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
        LogbookError::Alive { .. }
        | LogbookError::Newer { .. }
        | LogbookError::OtherTables { .. } => 3,
        _ => FAILED,
    }
}
