//! Name for a result in an open directory, and the replacement of its current file.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{OFlags, RenameFlags, Stat, fstat, renameat, renameat_with};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::claim::{Claim, Use, is_read};
use crate::error::{FileError, word};
use crate::folder::Folder;
use crate::fresh::PendingFile;
use crate::mark;
use crate::sort::{identity, is_directory, is_link, is_null, is_regular, sort_of};
use crate::walk::{Missing, among_devices};

/// Permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// Only for the owner: it contains serial numbers, or more about the machine than is published.
    Private,
    /// For everyone, subject to the umask.
    Public,
    /// Like [`Privacy::Public`], and executable. Only the owner may write to it, because it is
    /// code.
    Program,
}

impl Privacy {
    /// Permission bits of directories for such files, before the umask.
    pub const fn of_folders(self) -> u32 {
        match self {
            Self::Private => 0o700,
            Self::Public | Self::Program => 0o777,
        }
    }

    pub(crate) const fn mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Public => 0o666,
            Self::Program => 0o755,
        }
    }
}

/// File that a result replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Size, bytes.
    pub bytes: u64,
    /// Last modification, seconds since 1970.
    pub written_at: i64,
}

impl Replaced {
    pub(crate) fn from_stat(old: &Stat) -> Self {
        Self { bytes: old.st_size as u64, written_at: old.st_mtime }
    }
}

/// Number of bytes that are inspected before a file is replaced.
const HEAD: usize = 4096;

/// First bytes of programs and libraries.
const PROGRAM: &[u8] = b"\x7fELF";

/// Suggested name for a result in a directory.
const RESULT: &str = "qdepth-result";

/// Reserved name for a result in an open directory.
#[derive(Debug)]
pub(crate) struct Destination {
    folder: Folder,
    name: OsString,
    pub(crate) path: PathBuf,
    _claim: Claim,
}

/// Current file of a name.
enum NameState {
    Nothing,
    Null,
    Replaceable(Stat),
}

impl Destination {
    /// Checks that a result may have this name, and reserves it. `None` for `/dev/null` under any
    /// name.
    pub(crate) fn at(path: &Path, privacy: Privacy) -> Result<Option<Self>, FileError> {
        let (folder, name) = Folder::containing(path, Missing::Error)?;
        let where_from = folder
            .identity()
            .map_err(|errno| FileError::failed(path, "inspect its directory", errno))?;
        let now = match name_state(&folder, &name, path, privacy)? {
            NameState::Null => return Ok(None),
            NameState::Nothing if folder.among_devices() => return Err(among_devices(path)),
            NameState::Nothing => None,
            NameState::Replaceable(old) => Some(identity(&old)),
        };
        folder.may_write().map_err(|errno| match errno {
            Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                let why = std::io::Error::from(errno);
                let found = format!("{} cannot be created in its directory: {why}", path.display());
                FileError::refused(path, found, "Name a file in a directory that you may write to")
            }
            _ => FileError::failed(path, "check whether its directory is writable", errno),
        })?;
        let Some(claim) = Claim::new(where_from, &name, Use::Result(now)) else {
            let found = format!("{} is used for two outputs", path.display());
            return Err(FileError::wrong(path, found, "Name another file"));
        };
        Ok(Some(Self { folder, name, path: path.to_owned(), _claim: claim }))
    }

    /// Writes the result atomically. Returns the file that it replaced, if any.
    pub(crate) fn write(
        &self,
        bytes: &[u8],
        privacy: Privacy,
    ) -> Result<Option<Replaced>, FileError> {
        self.write_between(bytes, privacy, || {})
    }

    /// Like [`Destination::write`]; `window` runs between the last check of the name and its change
    /// (for tests).
    pub(crate) fn write_between(
        &self,
        bytes: &[u8],
        privacy: Privacy,
        window: impl FnOnce(),
    ) -> Result<Option<Replaced>, FileError> {
        let old = match name_state(&self.folder, &self.name, &self.path, privacy)? {
            NameState::Null => return Ok(None),
            NameState::Nothing => None,
            NameState::Replaceable(old) => Some(old),
        };
        // Never readable by anyone who could not read the old file.
        let mode = old.map_or(privacy.mode(), |_| 0o600);
        let bits = old.as_ref().map(|old| old.st_mode & 0o777);
        let fresh =
            PendingFile::write(&self.folder, bytes, mode, bits).map_err(|e| self.named(e))?;
        let now = name_state(&self.folder, &self.name, &self.path, privacy)?;
        window();
        match (now, old) {
            (NameState::Null, _) => Ok(None),
            (NameState::Nothing, None) => match fresh.name_it(&self.name) {
                Ok(()) => Ok(None),
                Err(Errno::EXIST) => Err(self.changed_meanwhile()),
                Err(errno) => Err(self.failed(errno)),
            },
            (NameState::Replaceable(now), Some(old)) if identity(&now) == identity(&old) => {
                self.exchange(fresh, &old)?;
                Ok(Some(Replaced::from_stat(&old)))
            }
            _ => Err(self.changed_meanwhile()),
        }
    }

    fn named(&self, error: FileError) -> FileError {
        FileError { path: self.path.clone(), ..error }
    }

    /// Exchanges the new file with the current one, and deletes the latter only if it is the one
    /// that was checked.
    fn exchange(&self, fresh: PendingFile<'_>, old: &Stat) -> Result<(), FileError> {
        let descriptor = self.folder.descriptor();
        let swap = || {
            renameat_with(descriptor, &fresh.name, descriptor, &self.name, RenameFlags::EXCHANGE)
        };
        match swap() {
            Ok(()) => {}
            // Network and older file systems cannot exchange: replace directly.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                renameat(descriptor, &fresh.name, descriptor, &self.name)
                    .map_err(|e| self.failed(e))?;
                fresh.forget();
                return Ok(());
            }
            Err(Errno::NOENT) => return Err(self.changed_meanwhile()),
            Err(errno) => return Err(self.failed(errno)),
        }
        let out = self.folder.entry_stat(&fresh.name);
        if out
            .as_ref()
            .is_ok_and(|out| out.as_ref().is_some_and(|out| identity(out) == identity(old)))
        {
            // The old file now has the random name and is deleted with it.
            return Ok(());
        }
        let back = swap();
        if back.is_err() {
            // The unexpected file is not ours: leave it under the random name.
            fresh.forget();
        }
        Err(self.changed_meanwhile())
    }

    fn changed_meanwhile(&self) -> FileError {
        let found = format!("{} changed while qdepth wrote it", self.path.display());
        FileError::refused(
            &self.path,
            found,
            "Name a file in a directory that only you can write to",
        )
    }

    fn failed(&self, errno: Errno) -> FileError {
        FileError::cannot("write", &self.path, errno)
    }
}

/// Checks that a result may have the name, and returns its current file.
fn name_state(
    folder: &Folder,
    name: &OsString,
    path: &Path,
    privacy: Privacy,
) -> Result<NameState, FileError> {
    let failed = |errno| FileError::cannot("look at", path, errno);
    let Some(found) = folder.entry_stat(name).map_err(failed)? else {
        return Ok(NameState::Nothing);
    };
    if is_null(&found) {
        return Ok(NameState::Null);
    }
    let no = |what: String, remedy: &str| {
        let found = format!("{} {what}", path.display());
        Err(FileError::refused(path, found, remedy).instead(another(folder, path)))
    };
    if is_directory(&found) {
        let found = format!("{} is a directory", path.display());
        return Err(FileError::wrong(path, found, "Name a file in it").instead(path.join(RESULT)));
    }
    if !is_regular(&found) {
        let what = format!("is {}: results can only be written to regular files", sort_of(&found));
        return no(
            what,
            if is_link(&found) { "Name the file itself" } else { "Name another file" },
        );
    }
    if found.st_nlink > 1 {
        let what = format!(
            "has {} names (hard links), and replacing it would separate them",
            found.st_nlink
        );
        return no(what, "Name another file");
    }
    let owner = found.st_uid;
    if owner != geteuid().as_raw() {
        return no(format!("belongs to user {owner}"), "Name another file");
    }
    let into = |errno| {
        let why = std::io::Error::from(errno);
        let found = format!("cannot read {} before replacing it: {why}", path.display());
        FileError::refused(path, found, "Name another file").instead(another(folder, path))
    };
    let mut file = folder.open_in(name, OFlags::RDONLY, 0).map_err(into)?;
    if identity(&fstat(&file).map_err(into)?) != identity(&found) {
        return no("changed while qdepth checked it".to_owned(), "Name another file");
    }
    if is_read(&file).map_err(into)? {
        return no("is also an input of this command".to_owned(), "Name another file");
    }
    let in_words = |error: std::io::Error| into(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    if let Some(what) = what_it_holds(&file, privacy).map_err(in_words)? {
        let remedy = format!("Name another file, or remove this one: `rm -- {}`", word(path));
        return no(what.to_owned(), &remedy);
    }
    let is_lossless = found.st_size == 0 || mark::is_unchanged(&mut file).map_err(in_words)?;
    if !is_lossless && !REPLACES_ALL.load(Ordering::Relaxed) {
        let what = "is not a result of qdepth, or was changed since".to_owned();
        return no(what, "Name another file, or replace this one with --replace");
    }
    Ok(NameState::Replaceable(found))
}

static REPLACES_ALL: AtomicBool = AtomicBool::new(false);

/// Allows this process to replace files that qdepth did not write or that were changed since: only
/// texts and pictures that belong to the user.
pub fn replace_all() {
    REPLACES_ALL.store(true, Ordering::Relaxed);
}

/// Description of contents that a result must not replace, if any. A program may replace a program.
fn what_it_holds(file: &File, privacy: Privacy) -> std::io::Result<Option<&'static str>> {
    let mut head = Vec::with_capacity(HEAD);
    file.take(HEAD as u64).read_to_end(&mut head)?;
    let own: [&[u8]; 3] = [b"%PDF-", b"\x89PNG", b"\xff\xd8\xff"];
    let program = head.starts_with(PROGRAM);
    if own.iter().any(|mark| head.starts_with(mark))
        || is_text(&head)
        || (program && privacy == Privacy::Program)
    {
        return Ok(None);
    }
    Ok(Some(if head.starts_with(b"SQLite format 3\0") {
        "is an SQLite file (for example a logbook), not a report or export"
    } else if program {
        "is a program, not a report or export"
    } else {
        "contains binary data that is not a report or export"
    }))
}

fn is_text(head: &[u8]) -> bool {
    let cut_only = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be cut off at the end of the buffer.
        Err(error) => error.error_len().is_none() && head.len() == HEAD,
    };
    cut_only && !head.contains(&0)
}

/// Similar unused name in the same directory, or in the current one for a path among device nodes.
fn another(folder: &Folder, path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    if folder.among_devices() {
        return PathBuf::from(name);
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    let numbered = |number| format!("{stem}-{number}{}", ending.as_deref().unwrap_or_default());
    let free = (2..100)
        .map(numbered)
        .find(|name| folder.entry_stat(name.as_ref()).is_ok_and(|found| found.is_none()));
    path.with_file_name(free.unwrap_or_else(|| numbered(100)))
}
