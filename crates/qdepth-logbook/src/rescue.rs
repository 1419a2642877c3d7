//! Rescue of a logbook whose file was moved, replaced or removed while it was open, or whose
//! storage failed: its contents are copied to a new file. If that is impossible, the points of the
//! run in progress that could not be stored go to a new logbook.

use std::path::{Path, PathBuf};

use qdepth_files::{Kept, Named, Trust};
use qdepth_record::RunRecord;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::error::LogbookError;
use crate::file_name::directory_of;
use crate::open::{OPEN, connect, doing, set_up};
use crate::write;

/// Maximum number of copies in a directory.
const COPIES_MAX: u32 = 100;

/// New file that is used instead of the logbook.
#[derive(Debug)]
pub(crate) struct Rescued {
    pub(crate) file: Named,
    /// Reason why it does not contain what the logbook contained.
    pub(crate) not_copied: Option<String>,
}

impl Rescued {
    /// Error that reports it; `path` is the logbook.
    pub(crate) fn report(&self, path: PathBuf) -> LogbookError {
        let copy = self.file.path().to_owned();
        match self.not_copied.clone() {
            None => LogbookError::Displaced { path, copy },
            Some(why) => LogbookError::NotCopied { path, copy, why },
        }
    }
}

/// Copies what a connection sees. If it sees nothing of use or cannot be copied, begins a logbook
/// with the run in progress, if there is one.
///
/// # Errors
/// If no directory takes the file, or nothing is left to rescue.
pub(crate) fn rescue(
    from: Option<&Connection>,
    begun: Option<&RunRecord>,
    path: &Path,
) -> Result<(Connection, Rescued), LogbookError> {
    let (why, error) = match from.map(|from| copy(from, path)) {
        Some(Ok((connection, file))) => {
            return Ok((connection, Rescued { file, not_copied: None }));
        }
        Some(Err(error)) => match &error {
            LogbookError::Sqlite { source, .. } => (source.to_string(), error),
            _ => (error.to_string(), error),
        },
        None => {
            let why = "it does not contain what was stored".to_owned();
            (why, LogbookError::Missing { path: path.to_owned() })
        }
    };
    let (connection, file) = begin(begun.ok_or(error)?, path)?;
    Ok((connection, Rescued { file, not_copied: Some(why) }))
}

/// Copies everything that a connection sees to a new file: in the logbook's directory, or else in
/// the working directory, or in the directory for temporary files.
///
/// # Errors
/// Error of the last of these directories.
fn copy(from: &Connection, path: &Path) -> Result<(Connection, Named), LogbookError> {
    in_first_folder(path, &|file, new_path| {
        copy_to(from, file).map_err(doing(new_path, "copying the logbook"))
    })
}

/// Creates a new logbook, in one of the same directories, with a run that has no points yet.
///
/// # Errors
/// Error of the last of these directories.
fn begin(run: &RunRecord, path: &Path) -> Result<(Connection, Named), LogbookError> {
    in_first_folder(path, &|file, new_path| {
        let mut connection = set_up(file, new_path)?;
        let store = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction = connection.transaction()?;
            write::run(&transaction, run)?;
            transaction.commit()
        };
        store(&mut connection).map_err(doing(new_path, "storing the run"))?;
        Ok(connection)
    })
}

type Fill<'a> = dyn Fn(&Named, &Path) -> Result<Connection, LogbookError> + 'a;

/// Creates a file in the first directory where it can be filled. A file that cannot is removed.
fn in_first_folder(path: &Path, fill: &Fill<'_>) -> Result<(Connection, Named), LogbookError> {
    let folders = [directory_of(path), PathBuf::from("."), std::env::temp_dir()];
    let mut result = Err(LogbookError::Missing { path: path.to_owned() });
    for folder in folders {
        result = new_file(&folder).and_then(|(path, file)| match fill(&file, &path) {
            Ok(connection) => Ok((connection, file)),
            Err(error) => {
                let _ = file.remove();
                Err(error)
            }
        });
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Runs that lose the same disk copy their logbooks at the same time.
fn new_file(folder: &Path) -> Result<(PathBuf, Named), LogbookError> {
    let mut result = Err(LogbookError::Missing { path: folder.to_owned() });
    for number in 1..=COPIES_MAX {
        let path = folder.join(format!("qdepth-rescued-{number}.db"));
        let made = Kept::make_new(&path, Trust::Data).and_then(|kept| kept.into_name(&[]));
        result =
            made.map(|file| (path.clone(), file)).map_err(|error| LogbookError::file(&path, error));
        if result.is_ok() || std::fs::symlink_metadata(&path).is_err() {
            break;
        }
    }
    result
}

fn copy_to(from: &Connection, file: &Named) -> rusqlite::Result<Connection> {
    let mut copy = connect(file.path(), OpenFlags::SQLITE_OPEN_READ_WRITE | OPEN)?;
    if Backup::new(from, &mut copy)?.step(-1)? != StepResult::Done {
        return Err(rusqlite::Error::ExecuteReturnedResults);
    }
    Ok(copy)
}
