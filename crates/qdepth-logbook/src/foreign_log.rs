//! Detects the write-ahead log of another logbook. SQLite applies every log that has the right name
//! (<https://sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use>).

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::error::LogbookError;
use crate::file_name::sibling;

/// Refuses a log with which runs of the file would be missing and others be there. A log that only
/// removes runs, or only adds some, is the file's own. On refusal the log is not applied.
/// `open_alone` opens the file without its log.
pub(crate) fn refuse(
    connection: &Connection,
    path: &Path,
    open_alone: impl FnOnce(&Path) -> rusqlite::Result<Connection>,
) -> Result<(), LogbookError> {
    let log = sibling(path, "-wal");
    if !std::fs::symlink_metadata(&log).is_ok_and(|found| found.len() > 0) {
        return Ok(());
    }
    // During a checkpoint by another process, the file alone may be inconsistent.
    let Ok(alone) = open_alone(path).and_then(|file| runs(&file)) else { return Ok(()) };
    let failed = |error| LogbookError::sqlite(path, "reading the list of runs", error);
    let both = runs(connection).map_err(failed)?;
    if alone.is_subset(&both) || both.is_subset(&alone) {
        return Ok(());
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
    Err(LogbookError::ForeignSibling { path: path.to_owned(), sibling: log })
}

fn runs(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut query = connection.prepare("SELECT id FROM run")?;
    query.query_map([], |row| row.get(0))?.collect()
}
