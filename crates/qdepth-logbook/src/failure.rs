//! Error of a transaction.

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
