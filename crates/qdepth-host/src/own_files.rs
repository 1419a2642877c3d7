//! Files that a measurement makes anew in a directory, any number of them, and takes away again:
//! written from nothing, as a program writes its checkpoint. Nothing that was there is overwritten,
//! except what an earlier measurement left and nobody uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::guard::{self, Direct, Use, Verdicts};
use crate::measurement_file::{cannot_make, failure, may_make, set_direct};
use crate::noise;
use crate::own_content::foreign_offset;
use crate::own_folder::{OwnFolder, maker, note_maker};
use crate::refusal::{Failure, Guard, Problem, Refusal};
use crate::room::check_room;
use crate::system::System;
use crate::target::{Inspected, Kind};

/// Names of the files of streams, as IOR names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    /// Name of one that streams share; those of single streams have a number of eight digits behind
    /// it.
    pub stem: String,
    /// Number of the first stream, and from one to the next: streams are dealt to directories in
    /// turn, and numbered over all of them.
    pub first: u32,
    /// From one stream to the next.
    pub stride: u32,
    /// Suffix of all names.
    pub suffix: String,
}

impl Naming {
    /// Name of the file of a stream, or of the one that all share.
    pub fn file_name(&self, stream: Option<u32>) -> String {
        let number = |stream: u32| {
            let number = u64::from(self.first) + u64::from(stream) * u64::from(self.stride);
            format!("{}.{number:08}{}", self.stem, self.suffix)
        };
        stream.map_or_else(|| format!("{}{}", self.stem, self.suffix), number)
    }

    /// True if it is a name that [`file_name`](Self::file_name) may give.
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
    /// Bytes of all of them at a time.
    pub size_bytes: u64,
    /// The run that they are for.
    pub run_id: &'a str,
    /// Naming of the files.
    pub naming: Naming,
    /// True if any is written.
    pub writes: bool,
    /// True to leave them for later runs.
    pub keep: bool,
}

/// A directory in which files may be made. Dropping it removes those it made, unless they are to be
/// kept.
#[derive(Debug)]
pub struct OwnFiles {
    system: System,
    directory: OwnedFd,
    path: PathBuf,
    run_id: String,
    naming: Naming,
    keep: bool,
    size_bytes: u64,
    inodes: BTreeMap<String, (u64, u64)>,
    /// Files that earlier runs left, all of whose bytes they wrote.
    proven: BTreeSet<(u64, u64)>,
    folders: Vec<OwnFolder>,
    not_direct: Option<Errno>,
}

/// Asks every guard whether files may be made in a directory, or read there.
/// `promised_bytes` is what other targets of the run will take of the same file system.
///
/// # Errors
/// Refused: G1 where it is no directory, G14 for a system place or one that may not be written,
/// G13 without room (twice the size must be free, and 5 % of the file system must stay free), G8
/// where a file of such a name is not ours or not as we left it, G2, G5, G6 where somebody uses it.
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
        proven: BTreeSet::new(),
        folders: Vec::new(),
        not_direct: None,
    };
    if wanted.writes {
        files.check_names()?;
    }
    Ok(files)
}

/// The verdicts of the guards that [`clear`] asks.
///
/// # Errors
/// When the directory could not be read.
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
    match clear(system, target, wanted, promised_bytes) {
        Ok(_) => Ok(guard::in_order(&order, None)),
        Err(Problem::Refused(refusal)) => Ok(guard::in_order(&order, Some(refusal))),
        Err(Problem::Failed(failure)) => Err(failure),
    }
}

impl OwnFiles {
    /// Name of the file of a stream, or of the one that all share.
    pub fn name(&self, stream: Option<u32>) -> String {
        self.naming.file_name(stream)
    }

    /// Bytes that its files may take at a time.
    pub fn bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Error number of the file system for direct I/O, if it is not available.
    pub fn not_direct(&self) -> Option<Errno> {
        self.not_direct
    }

    /// True if a file of that name is there.
    pub fn has(&self, name: &str) -> bool {
        rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Writes a file from its beginning to `length_bytes` with bytes that no storage can compress.
    ///
    /// # Errors
    /// When it could not be written.
    pub fn fill(&self, file: &OwnedFd, name: &str, length_bytes: u64) -> Result<(), Failure> {
        let write = || {
            let file = File::from(file.try_clone()?);
            noise::write(&file, length_bytes, &mut |_| ControlFlow::Continue(()))?;
            file.sync_all()
        };
        write().map_err(|error| failure("fill", &self.path.join(name), error))
    }

    /// Makes an empty file; one of that name that a measurement left and nobody uses goes first.
    ///
    /// # Errors
    /// Refused: G8 where a file of that name is not ours, G2 where another run uses it. Failed:
    /// where it cannot be made.
    pub fn create(&mut self, name: &str, direct: bool) -> Result<OwnedFd, Problem> {
        let path = self.path.join(name);
        self.remove_left(name, &path)?;
        let flags = OFlags::CREATE | OFlags::EXCL;
        let file = self.open_flags(name, flags).map_err(|e| cannot_make(&path, e))?;
        let read_inode = || -> io::Result<(u64, u64)> {
            let stat = rustix::fs::fstat(&file)?;
            Ok((stat.st_dev, stat.st_ino))
        };
        let inode = read_inode().map_err(|error| failure("look at", &path, error))?;
        self.inodes.insert(name.to_owned(), inode);
        guard::lock_file(&file, &path, Use::Write)?;
        let _ = note_maker(&file, &self.run_id, name);
        self.set_direct(&file, direct);
        Ok(file)
    }

    /// Makes a directory for the entries of a point, with these in it: files of this many bytes, or
    /// directories. Its name holds the run's, so that it can be no other's. What runs that were
    /// killed left there goes first.
    ///
    /// # Errors
    /// If it or an entry cannot be made.
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
            .map_err(|error| failure("clear what was left in", &self.path, error))?;
        let folder =
            OwnFolder::make(&self.directory, name, run).map_err(|e| cannot_make(&path, e))?;
        let file = folder.file.try_clone().map_err(|error| failure("open", &path, error));
        let filled = folder.fill(entries, file_bytes);
        // Whatever came of it, it is taken away again.
        self.folders.push(folder);
        filled.map_err(|error| failure("fill", &path, error))?;
        Ok(file?)
    }

    /// Opens a file to be read; to be written as well only where this run made it, here or on
    /// another node.
    ///
    /// # Errors
    /// If it does not exist, or another file has the name of one that was created here, or it would
    /// be written and does not identify itself as this run's.
    pub fn open(&mut self, name: &str, direct: bool, write: bool) -> Result<OwnedFd, Failure> {
        let path = self.path.join(name);
        let open = || -> io::Result<(OwnedFd, Option<Errno>)> {
            let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
            let file = self.open_access(name, access)?;
            if write && maker(&file, name).as_deref() != Some(&*self.run_id) {
                return Err(io::Error::other("it does not say that this run made it"));
            }
            let stat = rustix::fs::fstat(&file)?;
            let inode = (stat.st_dev, stat.st_ino);
            if self.inodes.get(name).is_some_and(|known| *known != inode) {
                return Err(io::Error::other("it is not the file that was made here"));
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

    /// Removes what was made here and is still there.
    ///
    /// # Errors
    /// The first that could not be removed, or whose name another file bears by now; the others are
    /// removed all the same.
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

    /// Ends the use of the directory: removes what was made, unless it is to be kept.
    ///
    /// # Errors
    /// Like [`remove`](Self::remove).
    pub fn end(mut self) -> Result<(), Failure> {
        if self.keep {
            return Ok(());
        }
        self.remove()
    }

    /// G8 for every file that is there under a name of ours.
    fn check_names(&mut self) -> Result<(), Problem> {
        let failed = |error: Errno| failure("look into", &self.path, error.into());
        // The handle at hand is a path only, which cannot be listed.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = rustix::fs::openat(&self.directory, ".", flags, Mode::empty());
        for entry in rustix::fs::Dir::new(listed.map_err(failed)?).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if self.naming.has(&name) {
                let inode = self.check_left(&name, &self.path.join(&name))?;
                self.proven.extend(inode);
            }
        }
        Ok(())
    }

    fn set_direct(&mut self, file: &OwnedFd, wanted: bool) {
        if let Direct::Refused(why) = set_direct(file, wanted) {
            self.not_direct = Some(why);
        }
    }

    fn unlink(&self, name: &str, inode: (u64, u64)) -> io::Result<()> {
        let stat = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (stat.st_dev, stat.st_ino) != inode {
            return Err(io::Error::other("another file bears its name by now"));
        }
        Ok(rustix::fs::unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    /// Removes a file of that name where it is one of ours that nobody uses.
    fn remove_left(&self, name: &str, path: &Path) -> Result<(), Problem> {
        let Some(inode) = self.check_left(name, path)? else { return Ok(()) };
        self.unlink(name, inode).map_err(|error| failure("remove", path, error).into())
    }

    /// Checks the existing file of that name: an unused one of qdepth, or none.
    fn check_left(&self, name: &str, path: &Path) -> Result<Option<(u64, u64)>, Problem> {
        let stat = match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            answer => answer.map_err(|error| failure("look at", path, error.into()))?,
        };
        let inode = (stat.st_dev, stat.st_ino);
        if self.inodes.get(name) == Some(&inode) {
            return Ok(Some(inode));
        }
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !regular || stat.st_nlink != 1 {
            return Err(not_ours(path).into());
        }
        let file = self.open_flags(name, OFlags::empty()).map_err(|_| not_ours(path))?;
        if maker(&file, name).is_none() {
            return Err(not_ours(path).into());
        }
        let file = File::from(file);
        guard::lock_file(&file, path, Use::Write)?;
        guard::nobody_uses_file(&self.system, &file, path)?;
        if self.proven.contains(&inode) {
            return Ok(Some(inode));
        }
        let length = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        match foreign_offset(&file, 0, length).map_err(|error| failure("read", path, error))? {
            None => Ok(Some(inode)),
            Some(offset) => {
                let why = format!("qdepth did not write what is at byte {offset}");
                Err(guard::not_as_left(path, &why).into())
            }
        }
    }

    /// One component below the open directory, no link followed, nothing outside reached.
    fn open_flags(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        self.open_access(name, flags | OFlags::RDWR)
    }

    fn open_access(&self, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode =
            if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(self.directory.as_fd(), name, flags, mode, resolve) {
            // Kernels before 5.6, and containers that forbid the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                rustix::fs::openat(self.directory.as_fd(), name, flags, mode)
            }
            answer => answer,
        }
    }
}

impl Drop for OwnFiles {
    fn drop(&mut self) {
        if !self.keep {
            let _ = self.remove();
        }
    }
}

fn not_ours(path: &Path) -> Refusal {
    Refusal::new(
        Guard::G8Ownership,
        format!("{} is there and was not made by qdepth", path.display()),
        "Take it away, or give another directory",
    )
}
