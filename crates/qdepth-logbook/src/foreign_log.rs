//! Detects the write-ahead log of another logbook. SQLite applies every log that has the right name
//! (<https://sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use>).

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use crate::error::LogbookError;
use crate::file_name::sibling;

/// Refuses a log with which runs of the file would be missing and others be in their places. The
/// file's own log removes runs, or adds some behind the last one. The connection must not apply the
/// log when it closes.
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
    let is_replaced =
        |(number, run): (&i64, &String)| both.get(number).is_some_and(|found| found != run);
    if alone.iter().any(is_replaced) {
        return Err(LogbookError::ForeignSibling { path: path.to_owned(), sibling: log });
    }
    Ok(())
}

/// The runs by their numbers.
fn runs(connection: &Connection) -> rusqlite::Result<BTreeMap<i64, String>> {
    let mut query = connection.prepare("SELECT sequence, id FROM run")?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
