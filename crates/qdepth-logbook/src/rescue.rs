//! Rescue of a logbook whose file was moved, replaced or removed while it was open, or whose
//! storage failed: its contents are copied to a new file.

use std::path::{Path, PathBuf};

use qdepth_files::{Kept, Named, Trust};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::error::LogbookError;
use crate::file_name::directory_of;
use crate::open::{OPEN, connect};

/// Maximum number of copies in a directory.
const COPIES_MAX: u32 = 100;

/// Copies everything that a connection sees to a new file: in the logbook's directory, or else in
/// the working directory, or in the directory for temporary files.
///
/// # Errors
/// Error of the last of these directories.
pub(crate) fn copy(from: &Connection, path: &Path) -> Result<(Connection, Named), LogbookError> {
    let folders = [directory_of(path), PathBuf::from("."), std::env::temp_dir()];
    let mut result = Err(LogbookError::Missing { path: path.to_owned() });
    for folder in folders {
        result = copy_into(from, &folder);
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

fn copy_into(from: &Connection, folder: &Path) -> Result<(Connection, Named), LogbookError> {
    let (path, file) = new_file(folder)?;
    let copied = || -> rusqlite::Result<Connection> {
        let mut copy = connect(file.path(), OpenFlags::SQLITE_OPEN_READ_WRITE | OPEN)?;
        if Backup::new(from, &mut copy)?.step(-1)? != StepResult::Done {
            return Err(rusqlite::Error::ExecuteReturnedResults);
        }
        Ok(copy)
    };
    let copy = copied().map_err(|why| LogbookError::sqlite(&path, "copying the logbook", why))?;
    Ok((copy, file))
}
