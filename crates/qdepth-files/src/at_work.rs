//! The file that this process works on, for a message about a file system that does not answer.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are worked on, the newest last, and the file that keeps the results.
static FILES: Mutex<(Vec<PathBuf>, Option<PathBuf>)> = Mutex::new((Vec::new(), None));

fn files() -> MutexGuard<'static, (Vec<PathBuf>, Option<PathBuf>)> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work on a file, until it is dropped.
#[derive(Debug)]
pub(crate) struct AtWork(PathBuf);

impl AtWork {
    /// Begins work on the file of this path, as given by the user.
    pub(crate) fn on(path: &Path) -> Self {
        files().0.push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let open = &mut files().0;
        if let Some(last) = open.iter().rposition(|path| *path == self.0) {
            open.remove(last);
        }
    }
}

/// Path of the file that is worked on now, as given by the user.
pub fn file_at_work() -> Option<PathBuf> {
    files().0.last().cloned()
}

/// Notes the file that keeps the results of this command.
pub fn note_results_file(path: &Path) {
    files().1 = Some(path.to_owned());
}

/// File that keeps the results of this command so far.
pub fn results_file() -> Option<PathBuf> {
    files().1.clone()
}
