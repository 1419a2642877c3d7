//! Opening of logbooks: identification, version check and creation.

use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use qdepth_files::{Kept, Named, Trust};
use qdepth_linux::outlive_lost_pages;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use crate::digest::Chain;
use crate::error::LogbookError;
use crate::file_name::sibling;
use crate::foreign_log;
use crate::read::{unreadable, version};

/// Application ID in SQLite's header: "qdep".
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"qdep");
/// Newest schema version, which is `user_version` of a logbook.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;
/// Name and text of the files of `migrations/`, listed by `build.rs`.
const MIGRATIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/migrations.rs"));
/// Time limit for locks. Writes are short: a longer wait means a stuck process.
pub(crate) const BUSY: Duration = Duration::from_secs(30);
/// Number of attempts to create a file while another process creates it.
const TRIES: usize = 20;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// First bytes of a rollback journal, and last bytes of the name of a super-journal.
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Largest journal of a logbook without contents, bytes: a header of one sector.
const NEW_JOURNAL_MAX: u64 = 64 * 1024;
/// Files that SQLite creates or finds next to the logbook: they must not be links.
const SIBLINGS: [&str; 3] = ["-wal", "-shm", JOURNAL];
const JOURNAL: &str = "-journal";

type Result<T> = std::result::Result<T, LogbookError>;

/// Opens for writing, and creates the file if it does not exist or is empty. A file that stays
/// empty because the disk is full is removed. After other errors it stays, because another process
/// may be about to fill it.
pub(crate) fn open_for_writing(path: &Path) -> Result<(Connection, Named)> {
    let was_there = std::fs::symlink_metadata(path).is_ok();
    open_or_make(path).inspect_err(|error| {
        let is_empty = std::fs::symlink_metadata(path).is_ok_and(|found| found.len() == 0);
        if !was_there
            && matches!(error, LogbookError::Full { .. })
            && is_empty
            && let Ok(Some(made)) = Kept::open(path, Trust::Data, false)
        {
            let _ = made.remove();
        }
    })
}

fn open_or_make(path: &Path) -> Result<(Connection, Named)> {
    let kept = Kept::open_or_make(path, Trust::Data, false);
    let file = checked(kept.map_err(|error| LogbookError::file(path, error))?, path)?;
    Ok((set_up(&file, path)?, file))
}

/// Opens a file for writing as a logbook; an empty file becomes one.
pub(crate) fn set_up(file: &Named, path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OPEN;
    let mut connection = connect(file.path(), flags).map_err(doing(path, "opening the logbook"))?;
    // Until it is known whose log it is.
    let apply_log = |is_own: bool| {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_own)
    };
    apply_log(false).map_err(doing(path, "opening the logbook"))?;
    connection.busy_timeout(BUSY).map_err(doing(path, "opening the logbook"))?;
    let fresh = is_fresh(&connection, path)?;
    if !fresh {
        check_identity(&connection, path)?;
        foreign_log::refuse(&connection, file.path(), open_immutable)?;
    }
    apply_log(true).map_err(doing(path, "opening the logbook"))?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    let pragmas = |connection: &Connection| {
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "synchronous", "FULL")
    };
    pragmas(&connection).map_err(doing(path, "configuring the connection"))?;
    retrying(&connection, || mark_as_ours(&connection, fresh))
        .map_err(doing(path, "creating the logbook"))?;
    migrate(&mut connection, path)?;
    bring_into_file(&connection);
    Ok(connection)
}

/// Copies the write-ahead log into the file, as far as readers allow: a copy of the file alone is
/// then complete. If it fails, everything is still in the log.
pub(crate) fn bring_into_file(connection: &Connection) {
    let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

/// Creates a logbook in memory.
pub(crate) fn open_in_memory(path: &Path) -> Result<Connection> {
    let doing = |error| LogbookError::sqlite(path, "creating a logbook in memory", error);
    let mut connection = Connection::open_in_memory().map_err(doing)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(doing)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(doing)?;
    migrate(&mut connection, path)?;
    Ok(connection)
}

/// Opens an existing logbook for reading only. The file is not changed, and need not be writable.
/// Columns that a later schema added are missing and read as empty.
pub(crate) fn open_for_reading(path: &Path) -> Result<(Connection, Named)> {
    let kept = Kept::open(path, Trust::Reading, false);
    let Some(kept) = kept.map_err(|error| LogbookError::file(path, error))? else {
        return Err(LogbookError::Missing { path: path.to_owned() });
    };
    let file = checked(kept, path)?;
    let ordinary = connect_for_reading(file.path())
        .and_then(|connection| {
            connection.pragma_update(None, "query_only", true)?;
            connection.busy_timeout(BUSY)?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        })
        .map_err(doing(path, "opening the logbook for reading"));
    let connection = match ordinary {
        Ok(connection) => connection,
        // The first error is more informative than that of the fallback.
        Err(error @ (LogbookError::Full { .. } | LogbookError::Sqlite { .. })) => {
            open_without_shared_memory(file.path()).map_err(|_| error)?
        }
        Err(error) => return Err(error),
    };
    if is_fresh(&connection, path)? {
        return Err(LogbookError::empty(path, is_marked(&connection)));
    }
    check_identity(&connection, path)?;
    foreign_log::refuse(&connection, file.path(), open_immutable)?;
    Ok((connection, file))
}

/// Connects for reading. A reading connection creates a missing write-ahead log and its index, and
/// only one that could write removes them again
/// (<https://sqlite.org/wal.html#read_only_databases>). A user without write permission would leave
/// the owner an index that belongs to somebody else, and does not need one. An existing log or
/// journal is left to the next writer.
fn connect_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let waits = |ending: &str| {
        let found = std::fs::symlink_metadata(sibling(path, ending));
        found.is_ok_and(|found| found.len() > 0)
    };
    if waits("-wal") || waits("-journal") {
        connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OPEN)
    } else if rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok() {
        connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OPEN)
    } else {
        open_immutable(path)
    }
}

/// No mutex within this process, and no links.
pub(crate) const OPEN: OpenFlags =
    OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// The only call that opens SQLite files; the path must have been checked.
#[expect(clippy::disallowed_methods, reason = "SQLite opens its files by itself")]
pub(crate) fn connect(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    outlive_lost_pages();
    Connection::open_with_flags(path, flags)
}

/// Fallback without shared memory, which a write-ahead log needs, but which cannot be created on a
/// full disk or in a directory without write permission. Without a log, the file itself is
/// complete. With one, its index can be in qdepth's own memory, while no other process needs the
/// file.
fn open_without_shared_memory(path: &Path) -> rusqlite::Result<Connection> {
    let log = std::fs::metadata(sibling(path, "-wal"));
    if log.is_ok_and(|log| log.len() > 0) { open_alone(path) } else { open_immutable(path) }
}

fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let unusable = || rusqlite::Error::InvalidPath(path.to_owned());
    let text = path.to_str().ok_or_else(unusable)?;
    let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OPEN;
    connect(format!("file:{escaped}?immutable=1"), flags)
}

/// Opens with an exclusive lock, for which SQLite keeps the log's index in memory. This needs a
/// handle for writing, but nothing is written.
fn open_alone(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OPEN)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |_| Ok(()))?;
    connection.pragma_update(None, "query_only", true)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Checks the first bytes before SQLite does, so that no other file is opened for writing, and the
/// files next to it.
fn checked(kept: Kept, path: &Path) -> Result<Named> {
    let mut head = Vec::new();
    kept.file()
        .take(100)
        .read_to_end(&mut head)
        .map_err(|error| LogbookError::io(path, "inspecting the file", error))?;
    refuse_foreign_bytes(&head, path)?;
    let file = kept.into_name(&SIBLINGS).map_err(|error| LogbookError::file(path, error))?;
    for ending in SIBLINGS {
        check_sibling(&file, ending, path)?;
    }
    Ok(file)
}

/// Refuses a file next to the logbook that SQLite would delete, or from which it would take the
/// name of a file to delete: a rollback journal may end with the name of a super-journal
/// (<https://sqlite.org/fileformat.html#the_rollback_journal>). qdepth's own never do.
fn check_sibling(logbook: &Named, ending: &str, path: &Path) -> Result<()> {
    let sibling = sibling(logbook.path(), ending);
    let is_filled = std::fs::symlink_metadata(&sibling).is_ok_and(|found| found.len() > 0);
    let journal = if ending == JOURNAL { journal(&sibling, path)? } else { Journal::Foreign };
    // The logbook is looked at last: another process may be creating it.
    let is_empty = || std::fs::metadata(logbook.path()).is_ok_and(|found| found.len() == 0);
    if journal == Journal::OfSeveral || is_filled && journal == Journal::Foreign && is_empty() {
        return Err(LogbookError::ForeignSibling { path: path.to_owned(), sibling });
    }
    Ok(())
}

/// A rollback journal, as far as its first and last bytes show it.
#[derive(PartialEq)]
enum Journal {
    /// The journal of a logbook without contents.
    New,
    /// It ends with the name of a super-journal.
    OfSeveral,
    Foreign,
}

/// Reads a journal. Only this file may be opened apart from SQLite: to close one of the others
/// releases the locks that SQLite holds on it for other connections of this process
/// (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
fn journal(file: &Path, path: &Path) -> Result<Journal> {
    let failed = |error| LogbookError::io(path, "inspecting the files next to it", error);
    let kept = Kept::open(file, Trust::Reading, false);
    let Some(kept) = kept.map_err(|error| LogbookError::file(path, error))? else {
        return Ok(Journal::Foreign);
    };
    let mut file = kept.file();
    let length = file.metadata().map_err(failed)?.len();
    let mut bytes_from = |place: u64| -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(place))?;
        file.take(JOURNAL_MAGIC.len() as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let first = bytes_from(0).map_err(failed)?;
    let last = bytes_from(length.saturating_sub(JOURNAL_MAGIC.len() as u64)).map_err(failed)?;
    Ok(if length > JOURNAL_MAGIC.len() as u64 && last == JOURNAL_MAGIC {
        Journal::OfSeveral
    } else if length <= NEW_JOURNAL_MAX
        && (first == JOURNAL_MAGIC || first.iter().all(|byte| *byte == 0))
    {
        Journal::New
    } else {
        Journal::Foreign
    })
}

fn refuse_foreign_bytes(head: &[u8], path: &Path) -> Result<()> {
    let foreign =
        |why: &str| Err(LogbookError::NotALogbook { path: path.to_owned(), why: why.to_owned() });
    if head.is_empty() {
        return Ok(());
    }
    if !head.starts_with(MAGIC) {
        return foreign("it is not an SQLite file");
    }
    let Some(id) = head.get(68..72).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()) else {
        return foreign("it is truncated");
    };
    match i32::from_be_bytes(id) {
        0 | APPLICATION_ID => Ok(()),
        _ => foreign("it is the SQLite file of another application"),
    }
}

/// True if the file has no contents yet.
fn is_fresh(connection: &Connection, path: &Path) -> Result<bool> {
    let query = "SELECT (SELECT count(*) FROM sqlite_schema) = 0
                    AND (SELECT user_version FROM pragma_user_version) = 0";
    connection
        .query_row(query, [], |row| row.get(0))
        .map_err(doing(path, "reading the table of contents"))
}

/// True if a file without tables has the header of a logbook.
fn is_marked(connection: &Connection) -> bool {
    let id = connection.query_row("PRAGMA application_id", [], |row| row.get::<_, i32>(0));
    id.is_ok_and(|id| id == APPLICATION_ID)
}

/// Checks that names in the schema are text: in a damaged file they may not be, which the SQLite
/// library treats as a bug of its caller.
fn must_be_text(connection: &Connection) -> rusqlite::Result<()> {
    let mut query = connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..3 {
            if let ValueRef::Text(text) = row.get_ref(column)? {
                std::str::from_utf8(text).map_err(unreadable)?;
            }
        }
    }
    Ok(())
}

/// A table, view or trigger: name, true for anything but an ordinary table, and SQL text.
type Object = (String, bool, String);

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let query = "SELECT name, type <> 'table' OR sql LIKE 'CREATE VIRTUAL%' AS is_active, sql
                 FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger')
                 ORDER BY is_active";
    let mut query = connection.prepare(query)?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

/// Tables, views and triggers as the migrations up to this version create them. Those of the newest
/// version are kept, because creating them takes a millisecond.
fn expected(version: i64) -> rusqlite::Result<Cow<'static, [Object]>> {
    static NEWEST: OnceLock<Vec<Object>> = OnceLock::new();
    if version == SCHEMA_VERSION
        && let Some(known) = NEWEST.get()
    {
        return Ok(Cow::Borrowed(known));
    }
    let fresh = Connection::open_in_memory()?;
    for (_, text) in MIGRATIONS.iter().take(version as usize) {
        fresh.execute_batch(text)?;
    }
    let found = objects(&fresh)?;
    Ok(if version == SCHEMA_VERSION {
        Cow::Borrowed(NEWEST.get_or_init(|| found))
    } else {
        Cow::Owned(found)
    })
}

/// Refuses tables, views and triggers that are not exactly those of the schema version. Rows of
/// another table would be misread, and writing them would fail halfway; a view in place of a table
/// could run forever, and a trigger could delete what was stored. A missing table is damage, which
/// reading reports; tables of other names are allowed.
fn check_objects(connection: &Connection, path: &Path, version: i64) -> Result<()> {
    let found = objects(connection).map_err(doing(path, "reading the table of contents"))?;
    let expected = expected(version).map_err(doing(path, "creating the expected tables"))?;
    for object in found.into_iter().filter(|object| !expected.contains(object)) {
        let (name, is_active, _) = object;
        if is_active {
            let why = format!("its view, trigger or virtual table `{name}` is not qdepth's");
            return Err(LogbookError::NotALogbook { path: path.to_owned(), why });
        }
        if expected.iter().any(|(known, ..)| *known == name) {
            return Err(LogbookError::OtherTables { path: path.to_owned(), table: name });
        }
    }
    Ok(())
}

fn check_identity(connection: &Connection, path: &Path) -> Result<()> {
    must_be_text(connection).map_err(doing(path, "reading the table of contents"))?;
    let number = |pragma: &str| -> Result<i64> {
        connection
            .query_row(&format!("SELECT * FROM pragma_{pragma}"), [], |row| row.get(0))
            .map_err(doing(path, "reading the version"))
    };
    if number("application_id")? != i64::from(APPLICATION_ID) {
        let why = "it is the SQLite file of another application".to_owned();
        return Err(LogbookError::NotALogbook { path: path.to_owned(), why });
    }
    let (found, known) = (number("user_version")?, SCHEMA_VERSION);
    if found > known {
        return Err(LogbookError::Newer { path: path.to_owned(), found, known });
    }
    check_objects(connection, path, found)
}

/// Writes the application ID before enabling write-ahead logging, so that the first bytes of a
/// logbook always identify it.
fn mark_as_ours(connection: &Connection, fresh: bool) -> rusqlite::Result<()> {
    if fresh {
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    if connection.query_row("PRAGMA journal_mode", [], mode)? != "wal" {
        connection.query_row("PRAGMA journal_mode = WAL", [], mode)?;
    }
    Ok(())
}

/// Retries work that SQLite gives up at once because waiting could be a deadlock: waits for the
/// lock separately, then tries again.
fn retrying<T>(
    connection: &Connection,
    mut work: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    for _ in 1..TRIES {
        match work() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
            }
            other => return other,
        }
    }
    work()
}

/// Version of the built-in SQLite.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Migrates the tables to the newest schema. Migrations never change rows, whose digests would then
/// not match.
fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    migrate_by(MIGRATIONS, connection, path)
}

fn migrate_by(
    texts: &[(&'static str, &'static str)],
    connection: &mut Connection,
    path: &Path,
) -> Result<()> {
    let step = |(number, (_, text)): (usize, &(&'static str, &'static str))| match number {
        0 => M::up_with_hook(text, |made: &Transaction<'_>| Ok(Chain::Runs.begin(made)?)),
        _ => M::up(text),
    };
    let steps = Migrations::new(texts.iter().enumerate().map(step).collect());
    let mut failure = None;
    for _ in 0..TRIES {
        let found = version(connection).map_err(doing(path, "reading the version"))?;
        if found == texts.len() as i64 {
            return Ok(());
        }
        // Another process may create the tables between our check and our attempt: check again.
        failure = steps.to_latest(connection).err();
        if failure.is_some() {
            connection
                .execute_batch("BEGIN IMMEDIATE; COMMIT")
                .map_err(doing(path, "waiting for another process to create the tables"))?;
        }
    }
    match failure {
        Some(rusqlite_migration::Error::RusqliteError { err, .. }) => {
            Err(LogbookError::sqlite(path, "creating the tables", err))
        }
        Some(source) => Err(LogbookError::Migration { path: path.to_owned(), source }),
        None => Ok(()),
    }
}

pub(crate) fn doing(
    path: &Path,
    what: &'static str,
) -> impl FnOnce(rusqlite::Error) -> LogbookError {
    move |error| LogbookError::sqlite(path, what, error)
}

#[cfg(test)]
mod tests {
    use qdepth_record::RunRecord;

    use rusqlite::OpenFlags;

    use super::{MIGRATIONS, migrate_by, open_for_writing};
    use crate::Logbook;

    #[test]
    fn new_column_keeps_stored_runs_intact() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("qdepth.db");
        let run = RunRecord { id: "a".to_owned(), ..RunRecord::default() };
        Logbook::open(&path).unwrap().begin_run(&run).unwrap();
        let next = [MIGRATIONS, &[("next", "ALTER TABLE run ADD COLUMN next TEXT")]].concat();
        let (mut connection, _) = open_for_writing(&path).unwrap();
        migrate_by(&next, &mut connection, &path).unwrap();
        // A second migration has no effect.
        migrate_by(&next, &mut connection, &path).unwrap();
        assert_eq!(super::version(&connection).unwrap(), next.len() as i64);
        let (read, damage) = crate::check::run(&connection, 1).unwrap();
        assert_eq!((read.id, damage), (run.id, None));
    }

    #[test]
    fn every_earlier_schema_is_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("first.db");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut made = super::connect(&path, flags).unwrap();
        made.pragma_update(None, "application_id", super::APPLICATION_ID).unwrap();
        migrate_by(&MIGRATIONS[..1], &mut made, &path).unwrap();
        drop(made);
        assert_eq!(
            Logbook::open_read_only(&path).unwrap().listed(9, 0, |_| true).unwrap().len(),
            0
        );
        let run = RunRecord { id: "a".to_owned(), ..RunRecord::default() };
        Logbook::open(&path).unwrap().begin_run(&run).unwrap();
        assert_eq!(Logbook::open_read_only(&path).unwrap().run("a").unwrap().id, "a");
    }
}
