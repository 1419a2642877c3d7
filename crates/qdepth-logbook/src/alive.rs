//! Marker of a run in progress: a locked file, whose lock the kernel releases when the process dies
//! in any way. A lock on the logbook itself would not work: SQLite has its own locks there, and
//! several processes may measure into one logbook.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError, Weak};

use qdepth_files::{FileError, Kept, Named};

const ENDING: &str = ".running-";
/// Maximum size of the event file, bytes: enough for days. Then it is restarted.
const LENGTH_MAX: u64 = 4 << 20;
/// Number of attempts: between its creation and its lock, another process may remove the file as
/// stale.
const TRIES: usize = 10;

/// Marker of a run, held until it is dropped.
#[derive(Debug)]
pub(crate) struct RunMarker {
    marker: Kept,
    /// First event of the run, which is repeated when the file is restarted; and the length of the
    /// file.
    beginning_and_length: Mutex<(String, u64)>,
}

impl RunMarker {
    /// Acquires the marker of a run; `None` if another process holds it. On a file system without
    /// locks, processes do not see each other's markers.
    pub(crate) fn hold(logbook: &Named, run_id: &str) -> Result<Option<Self>, FileError> {
        for _ in 0..TRIES {
            let marker = logbook.beside(&format!("{ENDING}{run_id}"))?;
            if matches!(marker.file().try_lock(), Err(TryLockError::WouldBlock)) {
                if marker.file().try_lock_shared().is_ok() {
                    // Only a reader has it locked for a moment.
                    continue;
                }
                return Ok(None);
            }
            if marker.is_in_place() {
                // Any contents are from a killed run.
                let _ = marker.file().set_len(0);
                return Ok(Some(Self { marker, beginning_and_length: Mutex::default() }));
            }
        }
        let away = io::Error::other("the file disappears repeatedly");
        Err(logbook.folder().failed("mark the run as alive", &away))
    }

    /// Appends a line to the event file, which is restarted above [`LENGTH_MAX`].
    pub(crate) fn append(&self, line: &str, beginning: bool) {
        let mut state = self.beginning_and_length.lock().unwrap_or_else(PoisonError::into_inner);
        let (first_line, length) = &mut *state;
        if beginning {
            *first_line = format!("{line}\n");
        }
        let mut file = self.marker.file();
        let mut text = format!("{line}\n");
        if *length > LENGTH_MAX && file.set_len(0).is_ok() {
            *length = 0;
            text.insert_str(0, if beginning { "" } else { first_line });
        }
        // Problems of observers, and a full disk, must not affect the run.
        if file.write_all(text.as_bytes()).is_ok() {
            *length += text.len() as u64;
        }
    }

    /// Marker of a run, if a process holds it.
    pub(crate) fn find(logbook: &Named, run_id: &str) -> Option<Kept> {
        let markers = logbook.all_beside(&format!("{ENDING}{run_id}")).ok()?;
        let is_it = |marker: &Kept| run_of(marker.path()).as_deref() == Some(run_id);
        markers.into_iter().find(|marker| is_it(marker) && is_held(marker))
    }

    /// IDs of the runs whose markers are held by a process; empty if the markers cannot be read.
    pub(crate) fn all(logbook: &Named) -> BTreeSet<String> {
        let markers = logbook.all_beside(ENDING).unwrap_or_default();
        let held = markers.iter().filter(|marker| is_held(marker));
        held.filter_map(|marker| run_of(marker.path())).collect()
    }

    /// Removes markers of killed runs. One that cannot be removed does no harm.
    pub(crate) fn tidy(logbook: &Named) {
        for marker in logbook.all_beside(ENDING).unwrap_or_default() {
            if marker.file().try_lock().is_ok() {
                let _ = marker.remove();
            }
        }
    }
}

/// Event file of the run that a logbook holds, valid as long as it is held.
#[derive(Debug, Default)]
pub struct EventFile(pub(crate) Weak<RunMarker>);

impl EventFile {
    /// Publishes an event to observers: a line of [`RunEvent`](qdepth_record::RunEvent). With
    /// `beginning`, the event is repeated whenever the file is restarted. Write errors are ignored.
    pub fn publish(&self, line: &str, beginning: bool) {
        if let Some(alive) = self.0.upgrade() {
            alive.append(line, beginning);
        }
    }
}

/// True if a run holds the marker. Asks for a shared lock, so that concurrent readers do not
/// mistake each other for a run.
fn is_held(marker: &Kept) -> bool {
    matches!(marker.file().try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Run ID from the name of a marker.
fn run_of(marker: &Path) -> Option<String> {
    let name = marker.file_name()?.to_str()?;
    name.rsplit_once(ENDING).map(|(_, id)| id.to_owned())
}

impl Drop for RunMarker {
    fn drop(&mut self) {
        let _ = self.marker.remove();
    }
}
