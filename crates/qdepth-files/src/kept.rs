//! Long-lived files of qdepth that are written repeatedly.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, Stat, fstat, lstat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::at_work::AtWork;
use crate::claim::{Claim, Use};
use crate::error::{FileError, word};
use crate::folder::Folder;
use crate::input::Limit;
use crate::sort::{Identity, identity, is_regular, is_shared, sort_of};
use crate::trust::must_be_trusted;
use crate::walk::{Missing, among_devices};

/// Required trust in the creator of a kept file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// No trust required: the file is only read.
    Reading,
    /// Only one user may have write permission to its directory; the file holds data.
    Data,
    /// Like [`Trust::Data`], for a file to which lines are appended. Excludes other uses.
    Lines,
    /// Only this user and root may have written it, because qdepth executes its contents.
    Orders,
}

/// Long-lived file of qdepth: a regular file with a single name, created with mode 0600. A link to
/// it is followed only if it belongs to this user or root.
#[derive(Debug)]
pub struct Kept {
    folder: Folder,
    name: OsString,
    path: PathBuf,
    file: UnlockOnDrop,
    trust: Trust,
    claim: Claim,
}

/// Open file that releases its lock (flock) when it is dropped. Closing it is not enough: a child
/// that another thread starts inherits the descriptor between fork and exec, and would keep the
/// lock for that time (flock(2)).
#[derive(Debug)]
struct UnlockOnDrop(File);

impl Drop for UnlockOnDrop {
    fn drop(&mut self) {
        // File systems without locks have none to release.
        let _ = self.0.unlock();
    }
}

impl Kept {
    /// Opens a file for reading, or for reading and appending; `None` if it does not exist.
    ///
    /// # Errors
    /// If it is not a regular file, or if others may have changed it.
    pub fn open(path: &Path, trust: Trust, write: bool) -> Result<Option<Self>, FileError> {
        let _work = AtWork::on(path);
        let (folder, name) = match Folder::of_what_it_leads_to(path, Missing::Error) {
            Ok(found) => found,
            // If the directory does not exist, neither does the file.
            Err(error) if error.is_missing_directory() => return Ok(None),
            Err(error) => return Err(error),
        };
        let access = if write { OFlags::RDWR | OFlags::APPEND } else { OFlags::RDONLY };
        Self::open_in(folder, name, path, trust, access)
    }

    /// Opens a file for reading and appending, or creates it. With `folder_too`, also creates its
    /// directory with mode 0700.
    ///
    /// # Errors
    /// Like [`Kept::open`], or if it cannot be created.
    pub fn open_or_make(path: &Path, trust: Trust, folder_too: bool) -> Result<Self, FileError> {
        let _work = AtWork::on(path);
        let missing = if folder_too { Missing::Create(0o700) } else { Missing::Error };
        let (folder, name) = Folder::of_what_it_leads_to(path, missing)?;
        let access = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        let kept = Self::open_in(folder, name, path, trust, access)?;
        kept.ok_or_else(|| FileError::cannot("make", path, Errno::NOENT))
    }

    /// Creates a file that did not exist, also if others create files of such names now.
    ///
    /// # Errors
    /// Like [`Kept::open_or_make`], or if it exists.
    pub fn make_new(path: &Path, trust: Trust) -> Result<Self, FileError> {
        let _work = AtWork::on(path);
        let (folder, name) = Folder::of_what_it_leads_to(path, Missing::Error)?;
        let access = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let kept = Self::open_in(folder, name, path, trust, access)?;
        kept.ok_or_else(|| FileError::cannot("make", path, Errno::NOENT))
    }

    fn open_in(
        folder: Folder,
        name: OsString,
        path: &Path,
        trust: Trust,
        access: OFlags,
    ) -> Result<Option<Self>, FileError> {
        let failed = |errno| FileError::cannot("open", path, errno);
        // Some devices act on being opened: check the type before.
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
        let using = if trust == Trust::Lines { Use::Lines } else { Use::Kept };
        let claim = claim(&folder, &name, path, using)?;
        let file = folder.open_in(&name, access, 0o600).map_err(failed)?;
        must_be_ours(&folder, &fstat(&file).map_err(failed)?, path, trust)?;
        Ok(Some(Self {
            folder,
            name,
            path: path.to_owned(),
            file: UnlockOnDrop(file),
            trust,
            claim,
        }))
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file.0
    }

    /// Path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its directory.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Reads the whole text.
    ///
    /// # Errors
    /// If it exceeds the limit, is not UTF-8, or cannot be read.
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

    /// Appends a line completely or not at all: if the disk is full, an incomplete line is removed.
    ///
    /// # Errors
    /// If the line could not be written completely.
    pub fn add_line(&self, line: &str) -> io::Result<()> {
        let _work = AtWork::on(&self.path);
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

    /// Removes the last written bytes if they still are the end of the file.
    fn take_back(&self, written: u64) {
        let end = self.file().metadata().map(|found| found.len());
        let (Ok(end), Ok(ours)) = (end, self.file().stream_position()) else { return };
        if written > 0 && end == ours {
            // A reader can recognise an incomplete line.
            let _ = self.file().set_len(end - written);
        }
    }

    /// True if its name still refers to this file.
    pub fn is_in_place(&self) -> bool {
        let here = fstat(self.file()).map(|found| identity(&found));
        let named = self.folder.entry_stat(&self.name);
        matches!((here, named), (Ok(a), Ok(Some(b))) if a == identity(&b))
    }

    /// Removes its name if it still refers to this file. True if it was removed.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self) -> Result<bool, FileError> {
        let failed = |e| FileError::cannot("remove", &self.path, e);
        let which = fstat(self.file()).map(|found| identity(&found)).map_err(failed)?;
        self.folder.remove_if(&self.name, which).map_err(failed)
    }

    /// Converts it to a path without links, for a library that opens the file by name and must not
    /// follow any. The handle is closed: POSIX locks, which SQLite uses, are released when any
    /// handle of a file is closed.
    ///
    /// # Errors
    /// If `/proc` does not show the path, or a file next to it (name and extension) is not a
    /// regular file.
    pub fn into_name(self, siblings: &[&str]) -> Result<Named, FileError> {
        let failed = |errno| FileError::cannot("look at", &self.path, errno);
        let own = fstat(self.file()).map_err(failed)?;
        let mut claims = Vec::new();
        for ending in siblings {
            let mut name = self.name.clone();
            name.push(ending);
            let path = self.path.with_file_name(&name);
            let failed = |errno| FileError::cannot("look at", &path, errno);
            if let Some(found) = self.folder.entry_stat(&name).map_err(failed)? {
                must_be_ours(&self.folder, &found, &path, self.trust)?;
                must_share_owner(&found, &own, &path)?;
            }
            claims.push(claim(&self.folder, &name, &path, Use::Kept)?);
        }
        claims.push(self.claim);
        let path = self.folder.real_path()?.join(&self.name);
        let which = identity(&own);
        Ok(Named { path, which, folder: self.folder, name: self.name, _claims: claims })
    }
}

fn claim(folder: &Folder, name: &OsStr, path: &Path, using: Use) -> Result<Claim, FileError> {
    let failed = |errno| FileError::failed(path, "inspect its directory", errno);
    Claim::new(folder.identity().map_err(failed)?, name, using).ok_or_else(|| {
        let found = format!("{} is also used for another purpose by this command", path.display());
        FileError::wrong(path, found, "Name different files")
    })
}

/// A library trusts a file next to the kept file as much as the kept file itself, even when it only
/// reads, and may change its owner.
fn must_share_owner(found: &Stat, kept: &Stat, path: &Path) -> Result<(), FileError> {
    if [kept.st_uid, geteuid().as_raw(), 0].contains(&found.st_uid) {
        return Ok(());
    }
    let found = format!("{} belongs to user {}", path.display(), found.st_uid);
    let remedy = "Copy both files to a directory of your own, and use the copies";
    Err(FileError::refused(path, found, remedy))
}

/// Path of a kept file, for a library that opens it by itself.
#[derive(Debug)]
pub struct Named {
    path: PathBuf,
    which: Identity,
    folder: Folder,
    name: OsString,
    _claims: Vec<Claim>,
}

impl Named {
    /// Path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its directory.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// True if its name still refers to the same file.
    pub fn is_in_place(&self) -> bool {
        lstat(&self.path).is_ok_and(|found| identity(&found) == self.which)
    }

    /// Removes its name if it still refers to this file. True if it was removed.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self) -> Result<bool, FileError> {
        let failed = |errno| FileError::cannot("remove", &self.path, errno);
        self.folder.remove_if(&self.name, self.which).map_err(failed)
    }

    /// Opens or creates (mode 0600) a file next to it, whose name is this one's plus `ending`.
    ///
    /// # Errors
    /// Like [`Kept::open`], or if it cannot be created.
    pub fn beside(&self, ending: &str) -> Result<Kept, FileError> {
        let name = self.with(ending);
        let path = self.path.with_file_name(&name);
        let access = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        Kept::open_in(self.folder.clone(), name, &path, Trust::Data, access)?
            .ok_or_else(|| FileError::cannot("make", &path, Errno::NOENT))
    }

    /// Opens all files next to it whose names start with this one's plus `ending`. Files that are
    /// not regular or not qdepth's are omitted.
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
        let what = format!("{} is {}, not a regular file", path.display(), sort_of(found));
        return Err(FileError::wrong(path, what, another));
    }
    if trust == Trust::Reading {
        return Ok(());
    }
    if found.st_nlink > 1 {
        return no(format!("has {} names (hard links)", found.st_nlink), another);
    }
    let (owner, us) = (found.st_uid, geteuid().as_raw());
    let failed = |errno| FileError::failed(path, "inspect its directory", errno);
    let shared = is_shared(&folder.stat().map_err(failed)?);
    let strange = match trust {
        Trust::Reading => false,
        Trust::Data | Trust::Lines => shared && owner != us,
        Trust::Orders => owner != us && owner != 0,
    };
    if strange {
        return no(
            format!("belongs to user {owner}, who could have changed its contents"),
            another,
        );
    }
    if trust == Trust::Orders && found.st_mode & 0o022 != 0 {
        let remedy = format!("Check it, then run `chmod go-w -- {}`", word(path));
        return no("can be written by users other than its owner".to_owned(), remedy);
    }
    Ok(())
}

/// Temporary directory, deleted on drop.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// Creates it in the directory for temporary files (`TMPDIR`), mode 0700.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new() -> Result<Self, FileError> {
        let folder = tempfile::tempdir().map_err(|error| {
            let parent = std::env::temp_dir();
            let doing = format!("create a directory in {}", parent.display());
            FileError::failed_io(&parent, &doing, &error)
        })?;
        Ok(Self { folder })
    }

    /// Path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
