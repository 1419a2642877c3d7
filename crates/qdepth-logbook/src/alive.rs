//! The sign that a run is being measured: a lock that the kernel takes away at the process's death,
//! however it dies. A lock on the logbook itself would not do: SQLite has locks there of its own,
//! and several processes may measure into one logbook.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::open::{directory_of, sibling};

const ENDING: &str = ".running-";
/// Between making the file and locking it another process may take it for one left behind.
const TRIES: usize = 10;

/// Held as long as this value lives.
#[derive(Debug)]
pub(crate) struct Alive {
    path: PathBuf,
    file: File,
}

impl Alive {
    /// The sign of a run; none where another process holds it. Where the file system has no locks,
    /// nobody is told of anybody.
    pub(crate) fn hold(logbook: &Path, run_id: &str) -> io::Result<Option<Self>> {
        let path = sibling(logbook, &format!("{ENDING}{run_id}"));
        for _ in 0..TRIES {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Ok(None);
            }
            if is_at(&file, &path) {
                return Ok(Some(Self { path, file }));
            }
        }
        Err(io::Error::other("the file goes away again and again"))
    }

    /// Takes away what killed runs left behind. What cannot be taken away harms nobody.
    pub(crate) fn tidy(logbook: &Path) {
        let own = sibling(logbook, ENDING);
        let Some(prefix) = own.file_name().and_then(|name| name.to_str()) else { return };
        let Ok(entries) = std::fs::read_dir(directory_of(logbook)) else { return };
        for entry in entries.flatten() {
            if !entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) {
                continue;
            }
            let Ok(file) = File::open(entry.path()) else { continue };
            if file.try_lock().is_ok() {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether the name still leads to the open file.
fn is_at(file: &File, path: &Path) -> bool {
    let same =
        |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().ok().zip(std::fs::metadata(path).ok()).is_some_and(|(a, b)| same(a, b))
}
