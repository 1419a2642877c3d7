//! Errors of a logbook.

use std::path::{Path, PathBuf};

use qdepth_files::{FileError, shell_word};
use rusqlite::ErrorCode;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::digest::is_unreadable;
use crate::file_name::{directory_of, sibling};

/// SQLite's extended result code for "the shared-memory file could not be enlarged". A full disk
/// causes it when the first reader opens a write-ahead log.
const IOERR_SHMSIZE: i32 = 4874;
/// Free space below which an I/O error of SQLite is attributed to a full disk.
const NO_SPACE_BYTES: u64 = 64 << 10;
/// Distance to the limit on file sizes below which an I/O error is attributed to it: more than
/// SQLite writes at once, and more than one extension of its shared memory.
const NEAR_LIMIT_BYTES: u64 = 64 << 10;

/// Number of files that SQLite opens at once: log, shared memory, a directory to sync, a temporary
/// file.
const FILES: usize = 4;

/// Error of opening, writing or reading a logbook.
#[derive(Debug, thiserror::Error)]
pub enum LogbookError {
    /// The file exists and is not a logbook; it was not changed.
    #[error("{path} is not a qdepth logbook ({why}) and was not changed. Name another file")]
    NotALogbook {
        /// The file.
        path: PathBuf,
        /// Description of its contents.
        why: String,
    },
    /// Written by a newer program.
    #[error(
        "{path} has schema version {found}, but this qdepth supports only versions up to {known}. \
         Use the version of qdepth that wrote it"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version of the file.
        found: i64,
        /// Largest schema version that this program knows.
        known: i64,
    },
    /// A table differs from that of the file's schema version.
    #[error(
        "{path}: the table `{table}` is not the one of its schema version, so an unreleased qdepth \
         wrote the file, or it is damaged. It was not changed. Name another file with --logbook, \
         or export the runs with the qdepth that wrote it"
    )]
    OtherTables {
        /// The file.
        path: PathBuf,
        /// Name of the table.
        table: String,
    },
    /// The file does not exist.
    #[error("no logbook at {path}. Check the name, or run `qdepth run` first")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file system (or its quota) has no room left.
    #[error(
        "the file system of {path} is full while {doing} (this record is {}). What was stored \
         before is not lost. Free some space, then continue with `qdepth run --resume`, or start \
         again if no point was measured", kept_text(*.kept)
    )]
    Full {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// True if the record was stored after all, in the reserved space. In either case,
        /// measuring should stop.
        kept: bool,
    },
    /// Another process held the lock for longer than the time limit.
    #[error("{path} is locked by another process while {doing}. Wait until it ends, or stop it")]
    Busy {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
    },
    /// The file is damaged, or contains data of a newer version.
    #[error(
        "{path} is damaged, or was written by a newer qdepth: {doing} failed ({source}). Restore a \
         copy, or try `sqlite3 FILE .recover`"
    )]
    Damaged {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// Error of SQLite.
        source: rusqlite::Error,
    },
    /// The record of a run, or the list of runs, is damaged.
    #[error(
        "{path}: {what} does not match its checksum, so {not_done}. `qdepth logbook check {}` \
         lists the damage; a run named by its ID can still be shown: {instead}", .path.display()
    )]
    Altered {
        /// The logbook.
        path: PathBuf,
        /// Description of the record.
        what: String,
        /// Consequence: what was not done.
        not_done: &'static str,
        /// Remedy.
        instead: &'static str,
    },
    /// The file was moved, replaced or removed while it was in use, or its storage failed.
    #[error(
        "{path} was moved, replaced or removed while it was in use, or its storage failed. All \
         measurements are in {copy}; list them with `qdepth list --logbook {copy}`. Then start a \
         new run with a logbook that stays in place, on storage that works",
        path = .path.display(), copy = shell_word(&.copy.to_string_lossy())
    )]
    Displaced {
        /// Path of the logbook.
        path: PathBuf,
        /// The copy.
        copy: PathBuf,
    },
    /// Like [`LogbookError::Displaced`], and what was stored before could not be copied.
    #[error(
        "{path} was moved, removed or overwritten while it was in use, or its storage failed, and \
         it could not be copied ({why}). Points that were not stored before are in {copy}; list \
         them with `qdepth list --logbook {copy}`. Look for the others in {path}, or where it was \
         moved. Then start a new run with a logbook that stays in place, on storage that works",
        path = .path.display(), copy = shell_word(&.copy.to_string_lossy())
    )]
    NotCopied {
        /// Path of the logbook.
        path: PathBuf,
        /// The new logbook.
        copy: PathBuf,
        /// Error of the copy.
        why: String,
    },
    /// Like [`LogbookError::Displaced`], and no copy could be written.
    #[error(
        "{path} was moved, replaced or removed while it was in use, and no copy could be written \
         ({source}). Look for the moved file, and for the -wal file at its old location"
    )]
    Lost {
        /// Path of the logbook.
        path: PathBuf,
        /// Error of the copy.
        source: Box<LogbookError>,
    },
    /// A file next to the logbook that SQLite would delete, or that names a file to delete.
    #[error(
        "{sibling} is next to the logbook and not part of it, but SQLite would apply or delete it. \
         Move it to another directory, or name another logbook with --logbook",
        sibling = .sibling.display()
    )]
    ForeignSibling {
        /// The logbook.
        path: PathBuf,
        /// The file next to it.
        sibling: PathBuf,
    },
    /// The contents of the file are older than what was written to it: another program wrote it.
    #[error(
        "{path} was overwritten by another program while qdepth wrote to it: stored points are \
         lost. Repeat the run with `--logbook FILE` and a file that nothing else writes",
        path = .path.display()
    )]
    Overwritten {
        /// The logbook.
        path: PathBuf,
    },
    /// Any other failure of SQLite.
    #[error(
        "{path}: {doing} failed ({source}). Check that the file and its directory are writable"
    )]
    Sqlite {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// Error of SQLite.
        source: rusqlite::Error,
    },
    /// The tables could not be created or migrated.
    #[error("{path}: the tables could not be created or updated ({source})")]
    Migration {
        /// The logbook.
        path: PathBuf,
        /// Error of the migration.
        source: rusqlite_migration::Error,
    },
    /// The space reserve could not be created, or the file could not be inspected.
    #[error("{path}: {doing} failed ({source}). Check the permissions of its directory")]
    Io {
        /// The file.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The file, or a file next to it, is not suitable for a logbook.
    #[error("the logbook {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Problem and remedy.
        source: Box<FileError>,
    },
    /// A limit on the size of this process's files stops the logbook.
    #[error(
        "{path} reached a limit on the file size while {doing} (this record is {}). What was \
         stored before is not lost. Raise the limit (`ulimit -f unlimited`), then continue with \
         `qdepth run --resume`, or start again if no point was measured", kept_text(*.kept)
    )]
    Limited {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// Like [`LogbookError::Full`].
        kept: bool,
    },
    /// SQLite needs several open files, and the limit of this process is reached.
    #[error(
        "{path}: {doing} failed: too many files are open (`ulimit -n`). What was stored before is \
         not lost. Raise the limit, then continue with `qdepth run --resume`, or start again if no \
         point was measured"
    )]
    TooManyFiles {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
    },
    /// No run has this ID.
    #[error("no run `{asked}` in {path}; `qdepth list` shows the runs")]
    NoSuchRun {
        /// The logbook.
        path: PathBuf,
        /// Requested name.
        asked: String,
    },
    /// There are not enough runs before the latest one.
    #[error("`{asked}`: {why}")]
    NoEarlierRun {
        /// Requested name.
        asked: String,
        /// Explanation: the number of runs, or the error in the number.
        why: String,
    },
    /// Several run IDs start with this prefix.
    #[error("`{asked}` matches several runs: {}. Type more of the ID", .candidates.join(", "))]
    AmbiguousRun {
        /// Requested name.
        asked: String,
        /// Matching IDs.
        candidates: Vec<String>,
    },
    /// The run is complete: it can no longer be changed.
    #[error("run {run} is complete and cannot be changed. Start a new run")]
    Complete {
        /// ID of the run.
        run: String,
    },
    /// Another process is measuring the run.
    #[error(
        "run {run} is still being measured by another process; nothing was changed. Wait until it \
         ends, or stop it with Ctrl-C or SIGTERM, then resume it"
    )]
    Alive {
        /// ID of the run.
        run: String,
    },
    /// The run has ended; it must be reopened before points are added.
    #[error("run {run} is {state}, not running. Resume it before adding points")]
    NotRunning {
        /// ID of the run.
        run: String,
        /// Its state.
        state: &'static str,
    },
    /// The point is already stored completely; only an interrupted one may be measured again.
    #[error(
        "point {index} of run {run} is already measured; only an interrupted point can be measured \
         again"
    )]
    AlreadyMeasured {
        /// ID of the run.
        run: String,
        /// Index of the point in the plan.
        index: u32,
    },
}

fn kept_text(kept: bool) -> &'static str {
    if kept { "kept" } else { "not kept" }
}

/// Description of an empty file.
const EMPTY: &str = "it is empty";
/// Description of a logbook whose write-ahead log is missing.
const WITHOUT_LOG: &str = "it has no tables: a run was killed while creating it, or it was copied \
                           without the -wal file next to it, which must be copied too";

impl LogbookError {
    /// Error of a file without tables. `marked` is true if it has the header of a logbook.
    pub(crate) fn empty(path: &Path, marked: bool) -> Self {
        let why = if marked { WITHOUT_LOG } else { EMPTY };
        Self::NotALogbook { path: path.to_owned(), why: why.to_owned() }
    }

    /// True if there is no logbook yet: no file, or one whose creation is in progress or was
    /// killed.
    pub fn is_absent(&self) -> bool {
        match self {
            Self::Missing { .. } => true,
            Self::NotALogbook { why, .. } => [EMPTY, WITHOUT_LOG].contains(&&**why),
            _ => false,
        }
    }

    /// Classifies errors of SQLite by how callers treat them.
    pub(crate) fn sqlite(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            _ if is_limited(&path, &source) => Self::Limited { path, doing, kept: false },
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if !files_can_be_opened() => {
                Self::TooManyFiles { path, doing }
            }
            _ if is_full(&path, &source) => Self::Full { path, doing, kept: false },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, doing },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, doing, source }
            }
            None if is_unreadable(&source) => Self::Damaged { path, doing, source },
            _ => Self::Sqlite { path, doing, source },
        }
    }

    /// Error for a full disk; `is_kept` is true if the record was stored anyway.
    pub(crate) fn no_room(self, is_kept: bool) -> Self {
        match self {
            Self::Full { path, doing, .. } => Self::Full { path, doing, kept: is_kept },
            Self::Limited { path, doing, .. } => Self::Limited { path, doing, kept: is_kept },
            other => other,
        }
    }

    pub(crate) fn file(path: &Path, source: FileError) -> Self {
        let path = path.to_owned();
        let doing = "creating a file next to it";
        match source.errno {
            Some(Errno::FBIG) => Self::Limited { path, doing, kept: false },
            _ if source.is_full() => Self::Full { path, doing, kept: false },
            _ => Self::File { path, source: Box::new(source) },
        }
    }

    pub(crate) fn io(path: &Path, doing: &'static str, source: std::io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::Full { path, doing, kept: false }
            }
            _ => Self::Io { path, doing, source },
        }
    }
}

/// True if the limit on file sizes (`RLIMIT_FSIZE`) was reached, which SQLite reports only as
/// IOERR.
fn is_limited(path: &Path, error: &rusqlite::Error) -> bool {
    let failed = matches!(error.sqlite_error_code(), Some(ErrorCode::SystemIoFailure));
    let Some(limit) = getrlimit(Resource::Fsize).current.filter(|_| failed) else { return false };
    let near = |ending| {
        let file = std::fs::metadata(sibling(path, ending));
        file.is_ok_and(|file| file.len() + NEAR_LIMIT_BYTES > limit)
    };
    limit < NEAR_LIMIT_BYTES || ["", "-wal", "-shm"].into_iter().any(near)
}

/// True if as many files as SQLite needs can be opened: it reports a limit on open files only as an
/// inability to open.
fn files_can_be_opened() -> bool {
    let more: rustix::io::Result<Vec<_>> =
        (0..FILES).map(|_| rustix::io::dup(rustix::stdio::stderr())).collect();
    !matches!(more, Err(Errno::MFILE | Errno::NFILE))
}

/// True if the disk is full. SQLite reports FULL only for ENOSPC of a write. For fsync, truncate,
/// shared memory and quotas it reports IOERR; then the free space decides.
fn is_full(path: &Path, error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => true,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
            error.sqlite_error().is_some_and(|e| e.extended_code == IOERR_SHMSIZE)
                || free_bytes(path).is_some_and(|free| free < NO_SPACE_BYTES)
        }
        _ => false,
    }
}

fn free_bytes(path: &Path) -> Option<u64> {
    let directory = directory_of(path);
    let found = rustix::fs::statvfs(directory).ok()?;
    Some(found.f_bavail * found.f_frsize)
}
