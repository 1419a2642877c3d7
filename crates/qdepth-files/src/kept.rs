//! Files of our own that are written on and on.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, Stat, fstat, lstat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::claim::{Claim, Role, Use};
use crate::error::{FileError, word};
use crate::folder::Folder;
use crate::input::Limit;
use crate::sort::{Identity, identity, is_regular, is_shared, sort_of};
use crate::trust::must_be_trusted;
use crate::walk::{Missing, among_devices};

/// Trust in the creator of a kept file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Anyone: it is only read.
    Reading,
    /// The only user who may write to its directory; the file holds data.
    Data,
    /// The same, and it holds lines that are added at its end: nothing else may use it.
    Lines,
    /// Nobody but us and root: what it says is done.
    Orders,
}

/// A file of our own that is written on and on: a regular one with one name, mode 0600 when it is
/// made. A link to it is followed only if it is ours or root's.
#[derive(Debug)]
pub struct Kept {
    folder: Folder,
    name: OsString,
    path: PathBuf,
    file: LetGo,
    trust: Trust,
    claim: Claim,
}

/// An open file that gives its lock (flock) back when it is closed. The lock would stay as long as
/// any descriptor of this opening is, and a child that another thread starts has one from its fork
/// to its exec: who opens the file right after us would find it held by nobody (flock(2)).
#[derive(Debug)]
struct LetGo(File);

impl Drop for LetGo {
    fn drop(&mut self) {
        // Where there are no locks there is none to give back.
        let _ = self.0.unlock();
    }
}

impl Kept {
    /// Opens it for reading, or for reading and appending; `None` if there is none.
    ///
    /// # Errors
    /// If the name leads to anything else, or to a file that others had a hand in.
    pub fn open(path: &Path, trust: Trust, write: bool) -> Result<Option<Self>, FileError> {
        let (folder, name) = match Folder::of_what_it_leads_to(path, Missing::Error) {
            Ok(found) => found,
            // Without its directory there is no file.
            Err(error) if error.is_missing_directory() => return Ok(None),
            Err(error) => return Err(error),
        };
        let access = if write { OFlags::RDWR | OFlags::APPEND } else { OFlags::RDONLY };
        Self::open_in(folder, name, path, trust, access)
    }

    /// Opens it for reading and appending, or makes it; with its directory, mode 0700, where
    /// `folder_too`.
    ///
    /// # Errors
    /// Like [`Kept::open`], or where it cannot be made.
    pub fn open_or_make(path: &Path, trust: Trust, folder_too: bool) -> Result<Self, FileError> {
        let missing = if folder_too { Missing::Create(0o700) } else { Missing::Error };
        let (folder, name) = Folder::of_what_it_leads_to(path, missing)?;
        let access = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        let kept = Self::open_in(folder, name, path, trust, access)?;
        kept.ok_or_else(|| {
            FileError::failed(path, &format!("make {}", path.display()), Errno::NOENT)
        })
    }

    fn open_in(
        folder: Folder,
        name: OsString,
        path: &Path,
        trust: Trust,
        access: OFlags,
    ) -> Result<Option<Self>, FileError> {
        let failed = |errno| FileError::failed(path, &format!("open {}", path.display()), errno);
        // Some devices act on being opened: what it is must be known before.
        match folder.entry_stat(&name).map_err(failed)? {
            Some(found) => {
                must_be_ours(&folder, &found, path, trust)?;
                if trust == Trust::Orders {
                    must_be_trusted(&folder.real_path()?.join(&name))?;
                }
            }
            None if !access.contains(OFlags::CREATE) => return Ok(None),
            None if folder.among_devices() => return Err(among_devices(path)),
            None => {}
        }
        let role = if trust == Trust::Lines { Role::Lines } else { Role::Other };
        let Some(claim) = Claim::new(folder.identity().map_err(failed)?, &name, Use::Kept(role))
        else {
            let found = format!("{} is named for something else, too", path.display());
            return Err(FileError::wrong(path, found, "Name another file for one of them"));
        };
        let file = folder.open_in(&name, access, 0o600).map_err(failed)?;
        must_be_ours(&folder, &fstat(&file).map_err(failed)?, path, trust)?;
        Ok(Some(Self { folder, name, path: path.to_owned(), file: LetGo(file), trust, claim }))
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file.0
    }

    /// Path as spelled.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its directory.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// All that it holds, from its beginning.
    ///
    /// # Errors
    /// If it is longer than the limit, is not UTF-8, or cannot be read.
    pub fn text(&self, limit: Limit) -> Result<String, FileError> {
        let doing = format!("read the {} {}", limit.what, self.path.display());
        let failed = |error: io::Error| FileError::failed_io(&self.path, &doing, &error);
        let mut text = String::new();
        let mut file = self.file();
        file.rewind().map_err(failed)?;
        file.take(limit.bytes + 1).read_to_string(&mut text).map_err(failed)?;
        if text.len() as u64 > limit.bytes {
            let found = format!("cannot {doing}: it has more than {} bytes", limit.bytes);
            return Err(FileError::wrong(&self.path, found, ""));
        }
        Ok(text)
    }

    /// Adds a line at its end, whole or not at all: where the disk is full, what was written of it
    /// is taken away again.
    ///
    /// # Errors
    /// If not all of it could be written.
    pub fn add_line(&self, line: &str) -> io::Result<()> {
        let (text, mut written) = (format!("{line}\n"), 0);
        while let Some(rest) = text.as_bytes().get(written..).filter(|rest| !rest.is_empty()) {
            let error = match self.file().write(rest) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(count) => {
                    written += count;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            self.take_back(written as u64);
            return Err(error);
        }
        Ok(())
    }

    /// Takes away what we wrote last, where it still is the end of the file.
    fn take_back(&self, written: u64) {
        let end = self.file().metadata().map(|found| found.len());
        let (Ok(end), Ok(ours)) = (end, self.file().stream_position()) else { return };
        if written > 0 && end == ours {
            // Whoever reads it knows half a line for one.
            let _ = self.file().set_len(end - written);
        }
    }

    /// True if its name still leads to it.
    pub fn is_in_place(&self) -> bool {
        let here = fstat(self.file()).map(|found| identity(&found));
        let named = self.folder.entry_stat(&self.name);
        matches!((here, named), (Ok(a), Ok(Some(b))) if a == identity(&b))
    }

    /// Takes its name away, if that still leads to it; whether it did.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self) -> Result<bool, FileError> {
        let failed =
            |e| FileError::failed(&self.path, &format!("remove {}", self.path.display()), e);
        let which = fstat(self.file()).map(|found| identity(&found)).map_err(failed)?;
        self.folder.remove_if(&self.name, which).map_err(failed)
    }

    /// Its place without links, for a library that opens it by name and must follow none. The
    /// handle is closed: POSIX locks, which SQLite takes, go when any handle of a file is closed.
    ///
    /// # Errors
    /// If `/proc` does not show the path, or the file next to it (name and ending) is not a regular
    /// one.
    pub fn into_name(self, besides: &[&str]) -> Result<Named, FileError> {
        for ending in besides {
            let mut name = self.name.clone();
            name.push(ending);
            let path = self.path.with_file_name(&name);
            let failed =
                |errno| FileError::failed(&path, &format!("look at {}", path.display()), errno);
            if let Some(found) = self.folder.entry_stat(&name).map_err(failed)? {
                must_be_ours(&self.folder, &found, &path, self.trust)?;
            }
        }
        let path = self.folder.real_path()?.join(&self.name);
        let failed =
            |errno| FileError::failed(&path, &format!("look at {}", path.display()), errno);
        let which = identity(&fstat(self.file()).map_err(failed)?);
        Ok(Named { path, which, folder: self.folder, name: self.name, _claim: self.claim })
    }
}

/// The name of a kept file, for a library that opens it by itself.
#[derive(Debug)]
pub struct Named {
    path: PathBuf,
    which: Identity,
    folder: Folder,
    name: OsString,
    _claim: Claim,
}

impl Named {
    /// Its place, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its directory.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// True if its name still leads to it.
    pub fn is_in_place(&self) -> bool {
        lstat(&self.path).is_ok_and(|found| identity(&found) == self.which)
    }

    /// Opens a file beside it, whose name is this one's and `ending`; or makes it, mode 0600.
    ///
    /// # Errors
    /// Like [`Kept::open`], or where it cannot be made.
    pub fn beside(&self, ending: &str) -> Result<Kept, FileError> {
        let name = self.with(ending);
        let path = self.path.with_file_name(&name);
        let access = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        Kept::open_in(self.folder.clone(), name, &path, Trust::Data, access)?.ok_or_else(|| {
            FileError::failed(&path, &format!("make {}", path.display()), Errno::NOENT)
        })
    }

    /// Opens all files beside it whose names begin with this one's and `ending`. What is no
    /// ordinary file of ours is left out.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn all_beside(&self, ending: &str) -> Result<Vec<Kept>, FileError> {
        let beginning = self.with(ending);
        let names = self.folder.names(beginning.as_encoded_bytes()).map_err(|errno| {
            let doing = format!("list {}", self.folder.path().display());
            FileError::failed(&self.path, &doing, errno)
        })?;
        let open = |name: OsString| {
            let path = self.path.with_file_name(&name);
            Kept::open_in(self.folder.clone(), name, &path, Trust::Data, OFlags::RDONLY)
        };
        Ok(names.into_iter().filter_map(|name| open(name).ok().flatten()).collect())
    }

    fn with(&self, ending: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(ending);
        name
    }
}

fn must_be_ours(folder: &Folder, found: &Stat, path: &Path, trust: Trust) -> Result<(), FileError> {
    let no = |what: String, remedy: String| {
        Err(FileError::refused(path, format!("{} {what}", path.display()), remedy))
    };
    let another = "Name another file".to_owned();
    if !is_regular(found) {
        let what = format!("{} is {}, no regular file", path.display(), sort_of(found));
        return Err(FileError::wrong(path, what, another));
    }
    if trust == Trust::Reading {
        return Ok(());
    }
    if found.st_nlink > 1 {
        return no(format!("has {} names (hard links)", found.st_nlink), another);
    }
    let (owner, us) = (found.st_uid, geteuid().as_raw());
    let failed = |errno| FileError::failed(path, "look at its directory", errno);
    let shared = is_shared(&folder.stat().map_err(failed)?);
    let strange = match trust {
        Trust::Reading => false,
        Trust::Data | Trust::Lines => shared && owner != us,
        Trust::Orders => owner != us && owner != 0,
    };
    if strange {
        return no(format!("is user {owner}'s, who could have put anything into it"), another);
    }
    if trust == Trust::Orders && found.st_mode & 0o022 != 0 {
        let remedy = format!("Look at it, then `chmod go-w -- {}`", word(path));
        return no("may be written to by others than its owner".to_owned(), remedy);
    }
    Ok(())
}

/// A directory of our own that goes with this value.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// Makes it where temporary files belong (`TMPDIR`), mode 0700.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> Result<Self, FileError> {
        let folder = tempfile::tempdir().map_err(|error| {
            let parent = std::env::temp_dir();
            let doing = format!("make a folder in {}", parent.display());
            FileError::failed_io(&parent, &doing, &error)
        })?;
        Ok(Self { folder })
    }

    /// Path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
