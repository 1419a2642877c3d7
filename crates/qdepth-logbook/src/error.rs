//! Errors of a logbook.

use std::path::{Path, PathBuf};

use qdepth_files::{FileError, shell_word};
use rusqlite::ErrorCode;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::digest::is_unreadable;
use crate::file_name::{directory_of, sibling};

/// SQLite's extended result code for "the shared-memory file could not be made larger", which is
/// how a full disk shows itself when the first reader opens a write-ahead log.
const IOERR_SHMSIZE: i32 = 4874;
/// Below this much free space, an I/O failure of SQLite is put down to the full disk.
const NO_SPACE_BYTES: u64 = 64 << 10;
/// A file that ends less than this before the limit on the size of files was stopped by it: more
/// than SQLite writes at a time, and than it makes its shared memory larger by.
const NEAR_LIMIT_BYTES: u64 = 64 << 10;

/// Log, shared memory, a directory to be synced, and a temporary file.
const FILES: usize = 4;

/// Why a logbook could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum LogbookError {
    /// The file exists and is no logbook; it was left as it is.
    #[error(
        "{path} is not a qdepth logbook ({why}); it was left as it is: name another file for the \
         logbook"
    )]
    NotALogbook {
        /// The file.
        path: PathBuf,
        /// Actual contents.
        why: String,
    },
    /// Written by a newer program.
    #[error(
        "{path} has schema version {found}, this qdepth knows up to {known}: use the qdepth that \
         wrote it, a newer one or one from before the first release"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version of the file.
        found: i64,
        /// Largest schema version that this program knows.
        known: i64,
    },
    /// There is no such file.
    #[error("there is no logbook at {path}: run `qdepth run` first, or name the right file")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file system (or its quota) has no room left.
    #[error(
        "the file system of {path} is full while {doing} (this record is {}); what was kept before \
         is not lost: free some space, then `qdepth run --resume`, or start again where no point \
         was measured yet", kept_text(*.kept)
    )]
    Full {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// True if the record in question was stored after all, in the space that had been
        /// reserved. Either way, nothing more should be measured.
        kept: bool,
    },
    /// Another process held the logbook longer than we wait.
    #[error("{path} is locked by another process while {doing}: wait for it to end, or end it")]
    Busy {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
    },
    /// The file is damaged, or holds what this version cannot read.
    #[error(
        "{path} is damaged, or was written by a newer qdepth: {doing} failed ({source}); restore a \
         copy, or try `sqlite3 FILE .recover`"
    )]
    Damaged {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// SQLite's word.
        source: rusqlite::Error,
    },
    /// The record of a run, or the list of runs, is not what was written.
    #[error(
        "{path}: {what} is not what was written, so {not_done}; `qdepth logbook check {}` lists \
         what is damaged, and a run named by its id can still be shown: {instead}", .path.display()
    )]
    Altered {
        /// The logbook.
        path: PathBuf,
        /// Record.
        what: String,
        /// Refused request.
        not_done: &'static str,
        /// Remedy.
        instead: &'static str,
    },
    /// Somebody moved, replaced or removed the file while it was in use.
    #[error(
        "{path} was moved, replaced or removed while it was in use. All that was measured is in \
         {copy}: see it with `qdepth list --logbook {copy}`, then start a new run with a logbook \
         that stays in place", path = .path.display(), copy = shell_word(&.copy.to_string_lossy())
    )]
    Displaced {
        /// Path of the logbook.
        path: PathBuf,
        /// The copy.
        copy: PathBuf,
    },
    /// The same, and there is no copy.
    #[error(
        "{path} was moved, replaced or removed while it was in use, and no copy could be written \
         ({source}): look for the moved file and the -wal file beside its old place"
    )]
    Lost {
        /// Path of the logbook.
        path: PathBuf,
        /// Why there is no copy.
        source: Box<LogbookError>,
    },
    /// Any other failure of SQLite.
    #[error(
        "{path}: {doing} failed ({source}); check that the file and its directory are writable"
    )]
    Sqlite {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// SQLite's word.
        source: rusqlite::Error,
    },
    /// The tables could not be made.
    #[error("{path}: the tables could not be made or brought up to date ({source})")]
    Migration {
        /// The logbook.
        path: PathBuf,
        /// Error of the migration.
        source: rusqlite_migration::Error,
    },
    /// The space reserve could not be made, or the file could not be looked at.
    #[error("{path}: {doing} failed ({source}); check the permissions of its directory")]
    Io {
        /// The file.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// The system's word.
        source: std::io::Error,
    },
    /// The file, or what lies beside it, is none that a logbook may be in.
    #[error("the logbook {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Problem and remedy.
        source: Box<FileError>,
    },
    /// A limit on the size of this process's files stops the logbook.
    #[error(
        "{path} may not grow any further while {doing} (this record is {}): a limit on the size of \
         files is in the way; what was kept before is not lost: raise it (`ulimit -f unlimited`), \
         then `qdepth run --resume`, or start again where no point was measured \
         yet", kept_text(*.kept)
    )]
    Limited {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
        /// Like [`LogbookError::Full`].
        kept: bool,
    },
    /// SQLite needs a few files at once, and this process may not open them.
    #[error(
        "{path}: {doing} failed: too many files are open (`ulimit -n`); what was kept before is \
         not lost: raise the limit, then `qdepth run --resume`, or start again where no point was \
         measured yet"
    )]
    TooManyFiles {
        /// The logbook.
        path: PathBuf,
        /// Attempted action.
        doing: &'static str,
    },
    /// No run has this id.
    #[error("no run `{asked}` in {path}: `qdepth list` shows the runs")]
    NoSuchRun {
        /// The logbook.
        path: PathBuf,
        /// Requested name.
        asked: String,
    },
    /// There are not so many runs before the latest.
    #[error("`{asked}`: {why}")]
    NoEarlierRun {
        /// Requested name.
        asked: String,
        /// Number of runs, or the problem of the number.
        why: String,
    },
    /// Several runs begin with this prefix.
    #[error("`{asked}` may be any of {}: write more of the id", .candidates.join(", "))]
    AmbiguousRun {
        /// Requested name.
        asked: String,
        /// Ids of the runs that it may be.
        candidates: Vec<String>,
    },
    /// The run is sealed: nothing is added or changed any more.
    #[error("run {run} is sealed and cannot be changed: start a new run")]
    Sealed {
        /// Id of the run.
        run: String,
    },
    /// Another process is measuring the run.
    #[error(
        "run {run} is still being measured by another process; nothing was changed: wait for its \
         end, or stop it with Ctrl-C or SIGTERM, then resume"
    )]
    Alive {
        /// Id of the run.
        run: String,
    },
    /// The run has ended; it must be reopened before anything is added.
    #[error("run {run} is {state}, not running: resume it before adding to it")]
    NotRunning {
        /// Id of the run.
        run: String,
        /// Its state.
        state: &'static str,
    },
    /// This point is there, whole; only an interrupted one may be measured again.
    #[error(
        "point {index} of run {run} is measured already: only an interrupted point may be measured \
         again"
    )]
    AlreadyMeasured {
        /// Id of the run.
        run: String,
        /// Place of the point in the plan.
        index: u32,
    },
}

fn kept_text(kept: bool) -> &'static str {
    if kept { "kept" } else { "not kept" }
}

/// Description of an empty file.
const EMPTY: &str = "it is empty";
/// The same of a logbook whose write-ahead log is missing.
const WITHOUT_LOG: &str = "it has no tables: either a run was killed while it made it, or it was \
                           copied without the -wal file beside it, which must be copied, too";

impl LogbookError {
    /// A file is there, and nothing is in it. `marked` is whether it says that it is a logbook.
    pub(crate) fn empty(path: &Path, marked: bool) -> Self {
        let why = if marked { WITHOUT_LOG } else { EMPTY };
        Self::NotALogbook { path: path.to_owned(), why: why.to_owned() }
    }

    /// True if there is no logbook yet: no file, or one whose creation is in progress or was
    /// interrupted by a kill.
    pub fn is_absent(&self) -> bool {
        match self {
            Self::Missing { .. } => true,
            Self::NotALogbook { why, .. } => [EMPTY, WITHOUT_LOG].contains(&&**why),
            _ => false,
        }
    }

    /// Sorts SQLite's failures into those that a caller treats differently.
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

/// SQLite says IOERR, and no more, where a file may not grow because of `RLIMIT_FSIZE`.
fn is_limited(path: &Path, error: &rusqlite::Error) -> bool {
    let failed = matches!(error.sqlite_error_code(), Some(ErrorCode::SystemIoFailure));
    let Some(limit) = getrlimit(Resource::Fsize).current.filter(|_| failed) else { return false };
    let near = |ending| {
        let file = std::fs::metadata(sibling(path, ending));
        file.is_ok_and(|file| file.len() + NEAR_LIMIT_BYTES > limit)
    };
    limit < NEAR_LIMIT_BYTES || ["", "-wal", "-shm"].into_iter().any(near)
}

/// True if as many files as SQLite needs in addition can be opened: SQLite reports a limit on open
/// files only as an inability to open.
fn files_can_be_opened() -> bool {
    let more: rustix::io::Result<Vec<_>> =
        (0..FILES).map(|_| rustix::io::dup(rustix::stdio::stderr())).collect();
    !matches!(more, Err(Errno::MFILE | Errno::NFILE))
}

/// SQLite says FULL for ENOSPC of a write only; of fsync, truncate and shared memory, and for a
/// quota, it says IOERR. Then the file system is asked.
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
