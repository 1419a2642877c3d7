//! Transactions on the file.

use std::path::Path;

use qdepth_linux::private_index_pages;
use qdepth_record::RunRecord;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction};

use crate::error::LogbookError;
use crate::failure::Failure;
use crate::logbook::Logbook;
use crate::open::{BUSY, OPEN, bring_into_file, connect, doing};
use crate::rescue;

type Result<T> = std::result::Result<T, LogbookError>;
/// Work of a transaction, given the path for its errors.
type Work<'w> = dyn Fn(&Transaction<'_>, &Path) -> std::result::Result<(), Failure> + 'w;

/// True if the storage of the logbook failed, or was made read-only because it did.
fn is_unwritable(result: &Result<()>) -> bool {
    let Err(LogbookError::Sqlite { source, .. }) = result else { return is_unreadable(result) };
    let code = source.sqlite_error_code();
    matches!(code, Some(ErrorCode::SystemIoFailure | ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// True if the contents of the file are no longer what was stored.
fn is_unreadable(result: &Result<()>) -> bool {
    use LogbookError::{Damaged, NoSuchRun, Overwritten};
    matches!(result, Err(Damaged { .. } | Overwritten { .. } | NoSuchRun { .. }))
}

/// True if a record was stored in spite of a full disk.
fn is_kept(result: &Result<()>) -> bool {
    use LogbookError::{Full, Limited};
    matches!(result, Err(Full { kept: true, .. } | Limited { kept: true, .. }))
}

/// Highest numbers of the tables to which each write adds.
const NEWEST: &str = "SELECT coalesce((SELECT max(sequence) FROM run), 0),
    coalesce((SELECT max(id) FROM observation), 0), coalesce((SELECT max(id) FROM point), 0),
    coalesce((SELECT max(id) FROM finding), 0)";

impl Logbook {
    /// Runs a transaction, which is valid only if the file is still in place. Otherwise, and if its
    /// storage fails, everything is written to a copy, and an error reports it.
    pub(crate) fn write(
        &mut self,
        what: &'static str,
        work: impl Fn(&Transaction<'_>, &Path) -> std::result::Result<(), Failure>,
    ) -> Result<()> {
        self.write_or_begin(None, what, &work)
    }

    /// Like [`write`](Self::write); if the file cannot be copied, begins a new logbook with the run
    /// in progress.
    pub(crate) fn write_or_begin(
        &mut self,
        begun: Option<&RunRecord>,
        what: &'static str,
        work: &Work<'_>,
    ) -> Result<()> {
        let mut result = self.write_with_room(what, work);
        if result.is_ok() {
            bring_into_file(&self.connection);
        }
        let is_stored = result.is_ok();
        // Others do not see what is stored with an index of our own, and may overwrite it.
        let is_unseen = private_index_pages() > self.index_pages;
        let is_lost = self.file.as_ref().is_some_and(|file| !file.is_in_place());
        if is_stored && !is_lost && !is_unseen && self.rescued.is_none() {
            result = self.read_back();
        }
        if self.rescued.is_none() && (is_lost || is_unseen || is_unwritable(&result)) {
            let path = self.path.clone();
            let source = (!is_unreadable(&result)).then_some(&self.connection);
            let found = rescue::rescue(source, begun, &path);
            let (connection, rescued) = match (found, result) {
                (Ok(found), stored) => {
                    result = stored;
                    found
                }
                (Err(source), _) if is_lost => {
                    return Err(LogbookError::Lost { path, source: Box::new(source) });
                }
                (Err(_), stored) => return stored,
            };
            let has_it = is_stored && rescued.not_copied.is_none();
            (self.connection, self.rescued) = (connection, Some(rescued));
            if has_it {
                result = Ok(());
            } else if is_stored || is_unwritable(&result) || is_unseen && !is_kept(&result) {
                result = self.write_once(what, work);
            }
        }
        match (&self.rescued, result) {
            (Some(rescued), Ok(())) => Err(rescued.report(self.path.clone())),
            (_, result) => result,
        }
    }

    /// Checks that a reader that opens the file now finds everything that this connection stored.
    /// Another process may add more.
    fn read_back(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let newest = |connection: &Connection| -> rusqlite::Result<[i64; 4]> {
            connection.query_row(NEWEST, [], |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
            })
        };
        let both = || -> rusqlite::Result<[[i64; 4]; 2]> {
            let reader = connect(file.path(), OpenFlags::SQLITE_OPEN_READ_ONLY | OPEN)?;
            reader.busy_timeout(BUSY)?;
            Ok([newest(&self.connection)?, newest(&reader)?])
        };
        let is_whole = match both() {
            Ok([own, read]) => own.iter().zip(read).all(|(own, read)| *own <= read),
            Err(error) => match error.sqlite_error_code() {
                // The file is damaged or has no tables.
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
                    false
                }
                _ => {
                    let doing = "reading back what was stored";
                    return Err(LogbookError::sqlite(&self.path, doing, error));
                }
            },
        };
        if is_whole { Ok(()) } else { Err(LogbookError::Overwritten { path: self.path.clone() }) }
    }

    /// Runs a transaction. On a full disk, releases the reserve, copies the log into the file, and
    /// tries once more; the error reports the full disk in either case.
    fn write_with_room(&mut self, what: &'static str, work: &Work<'_>) -> Result<()> {
        let full = match self.write_once(what, work) {
            Err(error @ (LogbookError::Full { .. } | LogbookError::Limited { .. })) => error,
            other => return other,
        };
        let Some(reserve) = self.reserve.take() else { return Err(full) };
        drop(reserve);
        // Best effort: if it fails, all committed data is in the log next to the file.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        let kept = self.write_once(what, work).is_ok();
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Err(full.no_room(kept))
    }

    fn write_once(&mut self, what: &'static str, work: &Work<'_>) -> Result<()> {
        let path = self.path.clone();
        let transaction = self.connection.transaction().map_err(doing(&path, what))?;
        match work(&transaction, &path) {
            Ok(()) => transaction.commit().map_err(doing(&path, what)),
            Err(failure) => Err(failure.during(&path, what)),
        }
    }
}
