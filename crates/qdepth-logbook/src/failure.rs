//! Why a transaction was not made.

use crate::error::LogbookError;

/// Within a transaction: SQLite's failure, or ours.
pub(crate) enum Failure {
    Sqlite(rusqlite::Error),
    Rule(LogbookError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}
