//! Error of a transaction.

use std::path::Path;

use crate::error::LogbookError;

/// Error within a transaction: of SQLite, or of the logbook.
pub(crate) enum Failure {
    Sqlite(rusqlite::Error),
    Rule(LogbookError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<LogbookError> for Failure {
    fn from(error: LogbookError) -> Self {
        Self::Rule(error)
    }
}

impl Failure {
    /// Error of this file, which names what failed.
    pub(crate) fn during(self, path: &Path, what: &'static str) -> LogbookError {
        match self {
            Self::Sqlite(error) => LogbookError::sqlite(path, what, error),
            Self::Rule(error) => error,
        }
    }
}
