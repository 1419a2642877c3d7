//! The undo journal, which is on disk before each change.
//!
//! One JSON object per line; the first one holds the version. `{"id":3,"undo":…}` is written and
//! synced before the action that it undoes; `{"undone":3}` after it was undone, or turned out to be
//! unnecessary. An incomplete last line, left by a kill, counts as not written: its action had not
//! begun. The journal is executed as root. Therefore only its owner may write to it, and a line
//! that is not understood is an error.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use qdepth_files::{FileError, How, Kept, Trust, limit, shell_word};
use rustix::fs::{FlockOperation, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{Node, Undo};
use crate::device_handle::DeviceReference;
use crate::refusal::{Failure, Guard, Problem, Refusal};
use crate::system::{CommandError, Output, System};

/// Path of the journal.
pub const PATH: &str = "/var/lib/qdepth/undo.jsonl";

/// Time limit of a tool: creating a file system or erasing a drive may take this long.
pub(super) const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// Version of its format.
const VERSION: u32 = 3;

/// One undo action, with the identities that protect other objects from being undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Action with its condition.
    #[serde(flatten)]
    pub undo: Undo,
    /// Identities of the devices.
    pub devices: BTreeMap<Node, DeviceReference>,
    /// Boot ID at the time of the change.
    pub boot: Option<String>,
    /// Types of what the step can make on its device and that were not there before, should it be
    /// killed before it records what it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub makes: Vec<String>,
    /// Mount ID, if something was mounted.
    #[serde(skip)]
    pub mount: Option<u64>,
    /// Contents of the device after the step, if the undo removes them.
    #[serde(skip)]
    pub made: Option<Vec<String>>,
}

impl Entry {
    /// An undo action for these devices.
    pub fn new(undo: Undo, devices: BTreeMap<Node, DeviceReference>, boot: Option<String>) -> Self {
        Self { undo, devices, boot, makes: Vec::new(), mount: None, made: None }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Version {
        journal: u32,
    },
    Undo {
        id: u64,
        undo: Box<Entry>,
    },
    Mounted {
        #[serde(rename = "of")]
        entry: u64,
        mount: u64,
    },
    Made {
        #[serde(rename = "of")]
        entry: u64,
        made: Vec<String>,
    },
    Undone {
        undone: u64,
    },
}

/// A journal, opened exclusively.
#[derive(Debug)]
pub struct Journal {
    kept: Kept,
    lock: Lock,
    next: u64,
}

/// Lock of a journal, which belongs to a descriptor of its own that reads as an empty file.
///
/// The tools that change the machine get it as standard input, the one descriptor that all of them
/// keep: what a killed qdepth started may still change the machine, and must not be undone before
/// it ends.
#[derive(Debug)]
struct Lock {
    file: OwnedFd,
    /// True if a tool may still run.
    stays: Cell<bool>,
}

impl Lock {
    fn take(file: &File) -> rustix::io::Result<Self> {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let locked = |access: OFlags| -> rustix::io::Result<OwnedFd> {
            let file = rustix::fs::open(&*path, access | OFlags::CLOEXEC, Mode::empty())?;
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            Ok(file)
        };
        let file = match locked(OFlags::RDONLY) {
            // NFS locks only files that are open for writing (flock(2)).
            Err(Errno::BADF) => locked(OFlags::RDWR)?,
            other => other?,
        };
        rustix::fs::seek(&file, SeekFrom::Start(limit::JOURNAL.bytes + 1))?;
        Ok(Self { file, stays: Cell::new(false) })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing it is not enough: a program that another thread starts has a copy for a moment.
        if !self.stays.get() {
            let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
        }
    }
}

impl Journal {
    /// Opens the journal, or creates one.
    ///
    /// # Errors
    /// Refused if another user owns it or could write to it, if another process has it open, or if
    /// a line is not understood. Failed if the system did not open it.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let kept = Kept::open_or_make(path, Trust::Orders, true).map_err(problem)?;
        let lock = Lock::take(kept.file()).map_err(|error| match error {
            Errno::WOULDBLOCK => in_use(path),
            _ => failed(path, error.into()),
        })?;
        let text = kept.text(limit::JOURNAL).map_err(problem)?;
        // The action of an incomplete line had not begun, and the next line must not be appended to
        // it.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            kept.file().set_len(whole as u64).map_err(|error| failed(path, error))?;
        }
        let lines = lines(&text).map_err(|why| not_understood(path, &why))?;
        let ids = lines.iter().filter_map(|line| match line {
            Line::Undo { id, .. } => Some(*id),
            _ => None,
        });
        let next = ids.max().map_or(0, |id| id.saturating_add(1));
        let mut journal = Self { kept, lock, next };
        if whole == 0 {
            journal
                .write(&Line::Version { journal: VERSION })
                .map_err(|error| failed(path, error))?;
        }
        Ok(journal)
    }

    /// Runs a tool that changes the machine, which keeps the journal locked until it ends.
    ///
    /// # Errors
    /// Those of [`System::run`].
    pub(super) fn run(
        &self,
        system: &System,
        tool: &str,
        words: &[String],
    ) -> Result<Output, CommandError> {
        let not_started = |error| CommandError::NotStarted { command: tool.to_owned(), error };
        let input = self.lock.file.try_clone().map_err(not_started)?;
        let answer = system.run_with(tool, words, LONGEST, Some(input));
        if matches!(answer, Err(CommandError::TooLong { .. })) {
            self.lock.stays.set(true);
        }
        answer
    }

    /// Writes the undo of an action that is about to start, and returns the number of the entry.
    ///
    /// # Errors
    /// The error of the system; the action must then not be started.
    pub fn intend(&mut self, entry: &Entry) -> io::Result<u64> {
        let id = self.next;
        self.write(&Line::Undo { id, undo: Box::new(entry.clone()) })?;
        self.next += 1;
        Ok(id)
    }

    /// Records the mount that an entry is about.
    ///
    /// # Errors
    /// The error of the system.
    pub fn mounted(&mut self, id: u64, mount: u64) -> io::Result<()> {
        self.write(&Line::Mounted { entry: id, mount })
    }

    /// Records the contents of a device that an entry's undo removes.
    ///
    /// # Errors
    /// The error of the system.
    pub fn made(&mut self, id: u64, made: Vec<String>) -> io::Result<()> {
        self.write(&Line::Made { entry: id, made })
    }

    /// Records that an entry was undone. The journal is removed when nothing is left.
    ///
    /// # Errors
    /// The error of the system.
    pub fn undone(&mut self, id: u64) -> io::Result<()> {
        self.write(&Line::Undone { undone: id })?;
        if self.open_entries()?.is_empty() {
            self.kept.remove().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Entries that are not undone yet, the last one first.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open_entries(&self) -> io::Result<Vec<(u64, Entry)>> {
        let text = self.kept.text(limit::JOURNAL).map_err(io::Error::other)?;
        open_in(&text).map_err(io::Error::other)
    }

    /// Removes the journal if nothing in it needs an undo, for example after steps without an undo.
    ///
    /// # Errors
    /// The error of the system.
    pub fn close(self) -> io::Result<()> {
        if self.open_entries()?.is_empty() {
            self.kept.remove().map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        let mut file = self.kept.file();
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

fn in_use(path: &Path) -> Problem {
    let name = path.display();
    let found = format!("another process, or a tool that it started, uses the undo journal {name}");
    let shown = shell_word(&name.to_string());
    let remedy = format!("Wait until it ends (`fuser -v {shown}` shows it)");
    Refusal::new(Guard::G2Exclusive, found, remedy).into()
}

fn problem(error: FileError) -> Problem {
    let remedy = if error.remedy.is_empty() { "Check the file" } else { &error.remedy };
    if error.how == How::Failed {
        let is_root = rustix::process::geteuid().is_root();
        let failure = failure(&error.path, io::Error::other(error.found.clone()));
        let remedy = "Changing settings of the machine needs root: start qdepth with sudo";
        return Problem::Failed(if is_root { failure } else { Failure { remedy, ..failure } });
    }
    let found = format!("the undo journal cannot be used: {}", error.found);
    Refusal::new(Guard::G8Ownership, found, remedy).into()
}

fn failed(path: &Path, error: io::Error) -> Problem {
    Problem::Failed(failure(path, error))
}

fn failure(path: &Path, error: io::Error) -> Failure {
    Failure {
        doing: "use",
        thing: format!("the undo journal {}", path.display()),
        error,
        remedy: "Name another file with --journal, or check the permissions of its directory",
    }
}

fn not_understood(path: &Path, why: &str) -> Problem {
    let found = format!("the undo journal {} cannot be read: {why}", path.display());
    let remedy = "Run `qdepth host undo` of the version that wrote it, or undo its steps by hand, \
                  then remove it";
    Refusal::new(Guard::G8Ownership, found, remedy).into()
}

/// True if the journal may have entries that are not undone. An unreadable journal counts as open.
pub fn is_open(path: &Path) -> bool {
    match Kept::open(path, Trust::Orders, false) {
        Ok(None) => false,
        Ok(Some(kept)) => match kept.text(limit::JOURNAL) {
            Ok(text) => open_in(&text).map_or(true, |open| !open.is_empty()),
            Err(_) => true,
        },
        Err(_) => true,
    }
}

/// Entries of these lines that are not undone, the last one first.
fn open_in(text: &str) -> Result<Vec<(u64, Entry)>, String> {
    let mut open: Vec<(u64, Entry)> = Vec::new();
    let mut done = BTreeSet::new();
    for line in lines(text)? {
        match line {
            Line::Version { .. } => {}
            Line::Undo { id, undo } => open.push((id, *undo)),
            Line::Mounted { entry, mount } => {
                by_id(&mut open, entry).into_iter().for_each(|entry| entry.mount = Some(mount));
            }
            Line::Made { entry, made } => {
                if let Some(entry) = by_id(&mut open, entry) {
                    entry.made = Some(made);
                }
            }
            Line::Undone { undone } => {
                done.insert(undone);
            }
        }
    }
    open.retain(|(id, _)| !done.contains(id));
    open.reverse();
    Ok(open)
}

fn by_id(entries: &mut [(u64, Entry)], wanted: u64) -> Option<&mut Entry> {
    entries.iter_mut().find(|(id, _)| *id == wanted).map(|(_, entry)| entry)
}

/// Parses all complete lines; fails if a line is not understood.
fn lines(text: &str) -> Result<Vec<Line>, String> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut all = Vec::new();
    for (number, line) in whole.lines().enumerate() {
        let line = serde_json::from_str(line)
            .map_err(|_| format!("line {} is not of format version {VERSION}", number + 1))?;
        match (number, &line) {
            (0, Line::Version { journal: VERSION }) => {}
            (0, _) => return Err(format!("it is not of format version {VERSION}")),
            _ => {}
        }
        all.push(line);
    }
    Ok(all)
}
