//! Files that points create in a directory, any number of them, and that are removed afterwards:
//! written from scratch, like a program's checkpoint. Nothing is overwritten except unused files of
//! earlier measurements.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;

use crate::entry::{self, Inode, Version, inode_of, version_of};
use crate::guard::{self, Direct, Use, Verdicts};
use crate::measurement_file::{cannot_make, failure, may_make, set_direct};
use crate::noise;
use crate::own_content::foreign_offset;
use crate::own_folder::{EntryUse, OwnFolder, maker, note_maker};
use crate::refusal::{Failure, Guard, Problem, Refusal};
use crate::room::check_room;
use crate::system::System;
use crate::target::{Inspected, Kind};

/// Names of the files of streams, in IOR's scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    /// Name of a file that streams share; files of single streams have a number of eight digits
    /// appended.
    pub stem: String,
    /// Number of the first stream in this directory. Streams are distributed to directories
    /// round-robin, and are numbered over all of them.
    pub first: u32,
    /// Difference between the numbers of successive streams.
    pub stride: u32,
    /// Suffix of all names.
    pub suffix: String,
}

impl Naming {
    /// Name of the file of a stream, or of the shared file.
    pub fn file_name(&self, stream: Option<u32>) -> String {
        let number = |stream: u32| {
            let number = u64::from(self.first) + u64::from(stream) * u64::from(self.stride);
            format!("{}.{number:08}{}", self.stem, self.suffix)
        };
        stream.map_or_else(|| format!("{}{}", self.stem, self.suffix), number)
    }

    /// True if [`file_name`](Self::file_name) could return this name.
    fn has(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.stem.as_str());
        let rest = rest.and_then(|rest| rest.strip_suffix(self.suffix.as_str()));
        rest.is_some_and(|rest| {
            let number = rest.strip_prefix('.').filter(|number| number.len() == 8);
            rest.is_empty() || number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        })
    }
}

/// Files to create or use.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// Total size of the files at a time, in bytes.
    pub size_bytes: u64,
    /// UUID of the run.
    pub run_id: &'a str,
    /// Naming of the files.
    pub naming: Naming,
    /// True if any file is written.
    pub writes: bool,
    /// True to keep them for later runs.
    pub keep: bool,
}

/// A directory in which files may be created. Dropping it removes them, unless they must be kept.
#[derive(Debug)]
pub struct OwnFiles {
    system: System,
    pub(crate) directory: OwnedFd,
    pub(crate) path: PathBuf,
    pub(crate) run_id: String,
    naming: Naming,
    pub(crate) keep: bool,
    size_bytes: u64,
    inodes: BTreeMap<String, Inode>,
    /// Files of this run as its last point left them.
    as_closed: BTreeSet<(Inode, Version)>,
    /// Files of earlier runs, known to hold nothing but what those runs wrote.
    verified_files: BTreeSet<(Inode, Version)>,
    pub(crate) folders: Vec<OwnFolder>,
    not_direct: Option<Errno>,
}

/// Asks all guards if files may be created, or read, in a directory. `promised_bytes` is the space
/// that other targets of the run will take on the same file system.
///
/// # Errors
/// Refused: G1 if it is not a directory, G14 for a system directory or one without write
/// permission, G13 without room (twice the size must be free, and 5 % of the file system must stay
/// free), G8 if a file with such a name is foreign or was changed, G2, G5 and G6 if it is in use.
pub fn clear(
    system: &System,
    target: &Inspected,
    wanted: &Wanted<'_>,
    promised_bytes: u64,
) -> Result<OwnFiles, Problem> {
    let Kind::Directory(file_system) = &target.kind else {
        let found = format!("{} is not a directory", target.expression.display());
        return Err(Refusal::new(Guard::G1Resolve, found, "Give a directory").into());
    };
    guard::check_location(&target.path, file_system)?;
    let directory = target.handle().try_clone_to_owned();
    let directory = directory.map_err(|error| failure("open", &target.path, error))?;
    if wanted.writes {
        may_make(&directory).map_err(|error| cannot_make(&target.path, error))?;
        check_room(target, wanted.size_bytes, 0, promised_bytes)?;
    }
    let mut files = OwnFiles {
        system: system.clone(),
        directory,
        path: target.path.clone(),
        run_id: wanted.run_id.to_owned(),
        naming: wanted.naming.clone(),
        keep: wanted.keep,
        size_bytes: wanted.size_bytes,
        inodes: BTreeMap::new(),
        as_closed: BTreeSet::new(),
        verified_files: BTreeSet::new(),
        folders: Vec::new(),
        not_direct: None,
    };
    if wanted.writes {
        files.check_names()?;
    }
    Ok(files)
}

/// Verdicts of the guards that [`clear`] asks.
///
/// # Errors
/// If the directory could not be read.
pub fn review(
    system: &System,
    target: &Inspected,
    wanted: &Wanted<'_>,
    promised_bytes: u64,
) -> Result<Verdicts, Failure> {
    let order = [
        Guard::G1Resolve,
        Guard::G14Place,
        Guard::G13Bounds,
        Guard::G2Exclusive,
        Guard::G5Swap,
        Guard::G6Backing,
        Guard::G8Ownership,
    ];
    Ok(guard::verdicts(&order, clear(system, target, wanted, promised_bytes))?.0)
}

impl OwnFiles {
    /// Name of the file of a stream, or of the shared file.
    pub fn name(&self, stream: Option<u32>) -> String {
        self.naming.file_name(stream)
    }

    /// Largest total size of the files at a time, in bytes.
    pub fn bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Error of the file system for direct I/O, if it is not available.
    pub fn not_direct(&self) -> Option<Errno> {
        self.not_direct
    }

    /// True if a file with this name exists.
    pub fn has(&self, name: &str) -> bool {
        rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Fills a file from its beginning to `length_bytes` with incompressible data.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn fill(&self, file: &OwnedFd, name: &str, length_bytes: u64) -> Result<(), Failure> {
        let write = || {
            let file = File::from(file.try_clone()?);
            noise::write(&file, length_bytes, &mut |_| ControlFlow::Continue(()))?;
            file.sync_all()
        };
        write().map_err(|error| failure("fill", &self.path.join(name), error))
    }

    /// Creates an empty file. An unused file of an earlier measurement with this name is removed
    /// first.
    ///
    /// # Errors
    /// Refused: G8 if a file with this name is foreign, G2 if another run uses it. Failed: if it
    /// cannot be created.
    pub fn create(&mut self, name: &str, direct: bool) -> Result<OwnedFd, Problem> {
        let path = self.path.join(name);
        self.remove_left(name, &path)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = entry::open(&self.directory, name, flags).map_err(|e| cannot_make(&path, e))?;
        let stat =
            rustix::fs::fstat(&file).map_err(|error| failure("look at", &path, error.into()))?;
        self.inodes.insert(name.to_owned(), inode_of(&stat));
        guard::lock_file(&file, &path, Use::Write)?;
        let _ = note_maker(&file, &self.run_id, name);
        self.set_direct(&file, direct);
        Ok(file)
    }

    /// Creates a directory for the entries of a point, with these entries: files of `file_bytes`
    /// bytes, or directories. Its name includes the run's id, so that it is unique. Directories
    /// left by killed runs are removed first.
    ///
    /// # Errors
    /// If the directory or an entry cannot be created.
    pub fn folder(
        &mut self,
        point: u32,
        entries: impl Iterator<Item = String>,
        file_bytes: Option<u64>,
    ) -> Result<OwnedFd, Problem> {
        let name = format!("{}-{}-{point}", self.naming.stem, self.run_id);
        let path = self.path.join(&name);
        let (stem, run) = (&self.naming.stem, &self.run_id);
        OwnFolder::remove_left(&self.directory, stem, run)
            .map_err(|error| failure("clear leftovers in", &self.path, error))?;
        let folder =
            OwnFolder::make(&self.directory, name, run).map_err(|e| cannot_make(&path, e))?;
        let file = folder.file.try_clone().map_err(|error| failure("open", &path, error));
        let filled = folder.fill(entries, file_bytes);
        // Removed later even if filling failed.
        self.folders.push(folder);
        filled.map_err(|error| failure("fill", &path, error))?;
        Ok(file?)
    }

    /// Opens a file for reading. Also for writing, but only if this run created it, here or on
    /// another node.
    ///
    /// # Errors
    /// If it does not exist, if another file has taken the name of one created here, or if it would
    /// be written and is not marked as this run's.
    pub fn open(&mut self, name: &str, direct: bool, write: bool) -> Result<OwnedFd, Failure> {
        let path = self.path.join(name);
        let open = || -> io::Result<(OwnedFd, Option<Errno>)> {
            let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
            let file = entry::open(&self.directory, name, access)?;
            if write && maker(&file, name).as_deref() != Some(&*self.run_id) {
                return Err(io::Error::other("it is not marked as created by this run"));
            }
            let stat = rustix::fs::fstat(&file)?;
            if self.inodes.get(name).is_some_and(|known| *known != inode_of(&stat)) {
                return Err(io::Error::other("it is not the file that was created here"));
            }
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                return Err(io::Error::other("it is not a regular file"));
            }
            let set = || rustix::fs::fcntl_setfl(&file, access | OFlags::DIRECT);
            let refused = if direct { set().err() } else { None };
            Ok((file, refused))
        };
        let (file, refused) = open().map_err(|error| failure("open", &path, error))?;
        self.not_direct = refused.or(self.not_direct);
        Ok(file)
    }

    /// Removes everything that was created here and still exists.
    ///
    /// # Errors
    /// The first file that could not be removed, or whose name another file has now. All others are
    /// still removed.
    pub fn remove(&mut self) -> Result<(), Failure> {
        let mut first = Ok(());
        for folder in std::mem::take(&mut self.folders) {
            let removed = folder.remove(&self.directory);
            let path = self.path.join(&folder.name);
            first = first.and(removed.map_err(|error| failure("remove", &path, error)));
        }
        for (name, inode) in std::mem::take(&mut self.inodes) {
            let removed = self.unlink(&name, inode);
            let removed = removed.map_err(|e| failure("remove", &self.path.join(&name), e));
            first = first.and(removed);
        }
        first
    }

    /// Notes the state of a file at the end of a point.
    pub fn note_closed(&mut self, file: &OwnedFd) {
        if let Ok(stat) = rustix::fs::fstat(file) {
            self.as_closed.insert((inode_of(&stat), version_of(&stat)));
        }
    }

    /// Like [`remove`](Self::remove), between two points. Others may have written to the files
    /// since the last point: files that changed must hold nothing but what the run wrote.
    ///
    /// # Errors
    /// Refused: G8 if a file is foreign or was changed, G2 if another program uses it.
    pub fn remove_unchanged(&mut self) -> Result<(), Problem> {
        let names: Vec<(String, Inode)> =
            self.inodes.iter().map(|(name, inode)| (name.clone(), *inode)).collect();
        for (name, inode) in names {
            let stat = rustix::fs::statat(&self.directory, &name, AtFlags::SYMLINK_NOFOLLOW);
            let is_unchanged = stat.is_ok_and(|stat| {
                inode_of(&stat) == inode && self.as_closed.contains(&(inode, version_of(&stat)))
            });
            if !is_unchanged && let Err(problem) = self.check_contents(&name) {
                // Not removed when the run ends, either.
                self.inodes.remove(&name);
                return Err(problem);
            }
        }
        self.as_closed.clear();
        Ok(self.remove()?)
    }

    /// Ends the use of the directory: removes everything that was created, unless it must be kept.
    ///
    /// # Errors
    /// Like [`remove`](Self::remove).
    pub fn end(mut self) -> Result<(), Failure> {
        if self.keep {
            return Ok(());
        }
        self.remove()
    }

    /// Guard G8 for every existing file with a name that a stream's file could have.
    fn check_names(&mut self) -> Result<(), Problem> {
        let failed = |error: Errno| failure("look into", &self.path, error.into());
        for entry in entry::list(&self.directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !self.naming.has(&name) {
                continue;
            }
            let kind = entry::kind(&self.directory, &entry);
            if kind.map_err(failed)? == FileType::Directory {
                self.check_directory(&name, EntryUse::Use)?;
            } else {
                let verified = self.check_left(&name, &self.path.join(&name))?;
                self.verified_files.extend(verified);
            }
        }
        Ok(())
    }

    fn set_direct(&mut self, file: &OwnedFd, wanted: bool) {
        if let Direct::Refused(why) = set_direct(file, wanted) {
            self.not_direct = Some(why);
        }
    }

    fn unlink(&self, name: &str, inode: Inode) -> io::Result<()> {
        entry::remove(&self.directory, name, inode, AtFlags::empty())
    }

    /// Removes an existing file with this name, if it is an unused one of qdepth's.
    fn remove_left(&self, name: &str, path: &Path) -> Result<(), Problem> {
        let Some((inode, _)) = self.check_left(name, path)? else { return Ok(()) };
        self.unlink(name, inode).map_err(|error| failure("remove", path, error).into())
    }

    /// Checks an existing file with this name: it must be an unused one of qdepth's. `None` if
    /// there is none.
    fn check_left(&self, name: &str, path: &Path) -> Result<Option<(Inode, Version)>, Problem> {
        let stat = match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            answer => answer.map_err(|error| failure("look at", path, error.into()))?,
        };
        let file = (inode_of(&stat), version_of(&stat));
        if self.inodes.get(name) == Some(&file.0) {
            return Ok(Some(file));
        }
        self.check_contents(name)
    }

    /// Checks that an existing file is an unused one that a run of qdepth wrote, with nothing else
    /// in it. `None` if there is none.
    fn check_contents(&self, name: &str) -> Result<Option<(Inode, Version)>, Problem> {
        let path = &self.path.join(name);
        let stat = match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            answer => answer.map_err(|error| failure("look at", path, error.into()))?,
        };
        let file = (inode_of(&stat), version_of(&stat));
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !regular || stat.st_nlink != 1 {
            return Err(not_ours(path).into());
        }
        let open = entry::open(&self.directory, name, OFlags::RDWR).map_err(|_| not_ours(path))?;
        let is_of_this_run = self.inodes.get(name) == Some(&file.0);
        if !is_of_this_run && maker(&open, name).is_none() {
            return Err(not_ours(path).into());
        }
        let open = File::from(open);
        guard::lock_file(&open, path, Use::Write)?;
        guard::nobody_uses_file(&self.system, &open, path)?;
        if self.verified_files.contains(&file) {
            return Ok(Some(file));
        }
        let length = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        let foreign = foreign_offset(&open, 0, length);
        if let Some(offset) = foreign.map_err(|error| failure("read", path, error))? {
            let why = format!("the data at byte {offset} is not qdepth's");
            return Err(guard::not_as_left(path, &why).into());
        }
        let now =
            rustix::fs::fstat(&open).map_err(|error| failure("look at", path, error.into()))?;
        if version_of(&now) != file.1 {
            return Err(guard::not_as_left(path, "somebody wrote to it during the check").into());
        }
        Ok(Some(file))
    }
}

impl Drop for OwnFiles {
    fn drop(&mut self) {
        if !self.keep {
            let _ = self.remove();
        }
    }
}

pub(crate) fn not_ours(path: &Path) -> Refusal {
    Refusal::new(
        Guard::G8Ownership,
        format!("{} exists already and was not created by qdepth", path.display()),
        "Remove or rename it, or use another directory",
    )
}
