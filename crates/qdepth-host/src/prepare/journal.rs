//! The undo journal: what takes back what was done, on disk before it is done.
//!
//! One JSON object a line. `{"id":3,"undo":…}` is written and synced before the action that it
//! takes back; `{"undone":3}` after it was taken back, or was found to have nothing to do. A last
//! line that was cut by a kill counts as not written: its action had not begun.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Undo;

/// Where it is kept.
pub const PLACE: &str = "/var/lib/qdepth/undo.jsonl";

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Undo { id: u64, undo: Undo },
    Undone { undone: u64 },
}

/// A journal, open for one process alone.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    next: u64,
}

impl Journal {
    /// Opens it, or begins one.
    ///
    /// # Errors
    /// What the system answered; [`io::ErrorKind::WouldBlock`] while another process has it.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
        let text = std::fs::read_to_string(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // What a kill cut off must not run into the next line.
            (&file).write_all(b"\n")?;
        }
        let ids = lines(&text).into_iter().map(|line| match line {
            Line::Undo { id, .. } => id,
            Line::Undone { undone } => undone,
        });
        let next = ids.max().map_or(0, |id| id.saturating_add(1));
        Ok(Self { path: path.to_owned(), file, next })
    }

    /// Keeps the way back of what is about to be done.
    ///
    /// # Errors
    /// What the system answered; then nothing may be done.
    pub fn intend(&mut self, undo: &Undo) -> io::Result<()> {
        let id = self.next;
        self.write(&Line::Undo { id, undo: undo.clone() })?;
        self.next += 1;
        Ok(())
    }

    /// Notes that something was taken back. When nothing is left the journal goes.
    ///
    /// # Errors
    /// What the system answered.
    pub fn undone(&mut self, id: u64) -> io::Result<()> {
        self.write(&Line::Undone { undone: id })?;
        if self.open_entries()?.is_empty() {
            std::fs::remove_file(&self.path)?;
        }
        Ok(())
    }

    /// What is still to be taken back, the last done first.
    ///
    /// # Errors
    /// What the system answered.
    pub fn open_entries(&self) -> io::Result<Vec<(u64, Undo)>> {
        let text = match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        Ok(open_in(&text))
    }

    /// Lets the journal go if nothing in it is to be taken back: steps without a way back leave it
    /// empty.
    ///
    /// # Errors
    /// What the system answered.
    pub fn close(self) -> io::Result<()> {
        if self.open_entries()?.is_empty() && self.path.exists() {
            std::fs::remove_file(&self.path)?;
        }
        Ok(())
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())?;
        self.file.sync_all()
    }
}

/// Whether anything is left to be taken back there. What cannot be read may hold something.
pub fn is_open(path: &Path) -> bool {
    match std::fs::read_to_string(path) {
        Ok(text) => !open_in(&text).is_empty(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// What these lines leave open, the last done first.
fn open_in(text: &str) -> Vec<(u64, Undo)> {
    let (mut open, mut done) = (Vec::new(), BTreeSet::new());
    for line in lines(text) {
        match line {
            Line::Undo { id, undo } => open.push((id, undo)),
            Line::Undone { undone } => {
                done.insert(undone);
            }
        }
    }
    open.retain(|(id, _)| !done.contains(id));
    open.reverse();
    open
}

fn lines(text: &str) -> Vec<Line> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
