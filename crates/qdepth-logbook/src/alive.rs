//! The sign that a run is being measured: a lock that the kernel takes away at the process's death,
//! however it dies. A lock on the logbook itself would not do: SQLite has locks there of its own,
//! and several processes may measure into one logbook.

use std::collections::BTreeSet;
use std::fs::TryLockError;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError, Weak};

use qdepth_files::{FileError, Kept, Named};

const ENDING: &str = ".running-";
/// Length of what is told, in bytes: days of a run; then it begins anew.
const LENGTH_MAX: u64 = 4 << 20;
/// Between making the file and locking it another process may take it for one left behind.
const TRIES: usize = 10;

/// Held as long as this value lives.
#[derive(Debug)]
pub(crate) struct Alive {
    sign: Kept,
    /// First event of the run, repeated when the file starts again; and the length of the file.
    beginning_and_length: Mutex<(String, u64)>,
}

impl Alive {
    /// The marker of a run; `None` if another process holds it. On a file system without locks,
    /// processes do not see each other's markers.
    pub(crate) fn hold(logbook: &Named, run_id: &str) -> Result<Option<Self>, FileError> {
        for _ in 0..TRIES {
            let sign = logbook.beside(&format!("{ENDING}{run_id}"))?;
            if matches!(sign.file().try_lock(), Err(TryLockError::WouldBlock)) {
                if sign.file().try_lock_shared().is_ok() {
                    // Somebody only looked whether there is somebody.
                    continue;
                }
                return Ok(None);
            }
            if sign.is_in_place() {
                // Of a killed run, if anything.
                let _ = sign.file().set_len(0);
                return Ok(Some(Self { sign, beginning_and_length: Mutex::default() }));
            }
        }
        let away = io::Error::other("the file goes away again and again");
        Err(logbook.folder().failed("mark the run as alive", &away))
    }

    /// Writes a line into the sign, which may grow to [`LENGTH_MAX`].
    pub(crate) fn append(&self, line: &str, beginning: bool) {
        let mut state = self.beginning_and_length.lock().unwrap_or_else(PoisonError::into_inner);
        let (first_line, length) = &mut *state;
        if beginning {
            *first_line = format!("{line}\n");
        }
        let mut file = self.sign.file();
        let mut text = format!("{line}\n");
        if *length > LENGTH_MAX && file.set_len(0).is_ok() {
            *length = 0;
            text.insert_str(0, if beginning { "" } else { first_line });
        }
        // Whoever looks on is no matter of the run; nor is a disk that is full.
        if file.write_all(text.as_bytes()).is_ok() {
            *length += text.len() as u64;
        }
    }

    /// The sign of a run that a process holds.
    pub(crate) fn find(logbook: &Named, run_id: &str) -> Option<Kept> {
        let signs = logbook.all_beside(&format!("{ENDING}{run_id}")).ok()?;
        let is_it = |sign: &Kept| run_of(sign.path()).as_deref() == Some(run_id);
        let held =
            |sign: &Kept| matches!(sign.file().try_lock_shared(), Err(TryLockError::WouldBlock));
        signs.into_iter().find(|sign| is_it(sign) && held(sign))
    }

    /// Ids of the runs that a process holds the sign of. Where they cannot be looked at, none.
    pub(crate) fn all(logbook: &Named) -> BTreeSet<String> {
        let signs = logbook.all_beside(ENDING).unwrap_or_default();
        let held = |sign: &&Kept| {
            // Shared: two who look at once are not in each other's way.
            matches!(sign.file().try_lock_shared(), Err(TryLockError::WouldBlock))
        };
        signs.iter().filter(held).filter_map(|sign| run_of(sign.path())).collect()
    }

    /// Takes away what killed runs left behind. What cannot be taken away harms nobody.
    pub(crate) fn tidy(logbook: &Named) {
        for sign in logbook.all_beside(ENDING).unwrap_or_default() {
            if sign.file().try_lock().is_ok() {
                let _ = sign.remove();
            }
        }
    }
}

/// The sign of a run that a logbook holds, as long as it does.
#[derive(Debug, Default)]
pub struct Sign(pub(crate) Weak<Alive>);

impl Sign {
    /// Tells whoever looks on what happens in the run: a line of
    /// [`RunEvent`](qdepth_record::RunEvent). The beginning of a run is told again where its file
    /// begins anew. Where it cannot be written nobody is told.
    pub fn publish(&self, line: &str, beginning: bool) {
        if let Some(alive) = self.0.upgrade() {
            alive.append(line, beginning);
        }
    }
}

/// The id behind the ending of a sign's name.
fn run_of(sign: &Path) -> Option<String> {
    let name = sign.file_name()?.to_str()?;
    name.rsplit_once(ENDING).map(|(_, id)| id.to_owned())
}

impl Drop for Alive {
    fn drop(&mut self) {
        let _ = self.sign.remove();
    }
}
