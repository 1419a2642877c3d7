//! A directory that a measurement creates for its entries, and removes with them.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, XattrFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::entry::{self, Inode, inode_of};
use crate::noise;
use crate::own_content::foreign_offset;

/// Attribute with the run that created a file or directory, its inode and its name, so that a copy
/// is not accepted. Measurement files have a label instead.
const MADE_BY: &str = "user.qdepth-made-by";

/// Marks a file or directory with the run that created it. On a file system without such
/// attributes, leftovers of a killed run stay until their owner removes them.
pub(crate) fn note_maker(file: &OwnedFd, run_id: &str, name: &str) -> rustix::io::Result<()> {
    let note = format!("{run_id} {} {name}", rustix::fs::fstat(file)?.st_ino);
    rustix::fs::fsetxattr(file, MADE_BY, note.as_bytes(), XattrFlags::empty())
}

/// Run that created a file or directory; `None` for a copy, or under another name.
pub(crate) fn maker(file: &OwnedFd, name: &str) -> Option<String> {
    let mut note = [0_u8; 512];
    let length = rustix::fs::fgetxattr(file, MADE_BY, &mut note).ok()?;
    let note = std::str::from_utf8(note.get(..length)?).ok()?;
    let (run_id, rest) = note.split_once(' ')?;
    let inode = rustix::fs::fstat(file).ok()?.st_ino;
    (rest == format!("{inode} {name}")).then(|| run_id.to_owned())
}

/// Use of a directory by a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryUse {
    /// Creates files in it, or directories.
    Create {
        /// True for directories.
        directories: bool,
    },
    /// Uses existing entries.
    Use,
    /// Removes existing entries.
    Remove,
    /// Uses a directory that another rank of the run has checked and locked, or created.
    Join,
}

/// A directory for entries, held open.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    pub(crate) name: String,
    pub(crate) file: OwnedFd,
    inode: Inode,
}

impl OwnFolder {
    /// Creates the directory, which must not exist, for a run.
    pub(crate) fn make(
        directory: &OwnedFd,
        name: String,
        run_id: &str,
    ) -> rustix::io::Result<Self> {
        rustix::fs::mkdirat(directory, name.as_str(), Mode::RWXU)?;
        let folder = Self::open(directory, name)?;
        // Locked while it is open: a marked directory that is not locked was left behind. On a file
        // system without locks or attributes it stays until its owner removes it.
        let held = flock(&folder.file, FlockOperation::NonBlockingLockExclusive);
        let _ = held.and_then(|()| note_maker(&folder.file, run_id, &folder.name));
        Ok(folder)
    }

    /// Opens an existing directory.
    pub(crate) fn open(directory: &OwnedFd, name: String) -> rustix::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory, name.as_str(), flags, Mode::empty())?;
        let inode = inode_of(&rustix::fs::fstat(&file)?);
        Ok(Self { name, file, inode })
    }

    /// Removes directories that killed runs left, if nothing else is in them.
    ///
    /// # Errors
    /// If one was left and cannot be removed.
    pub(crate) fn remove_left(directory: &OwnedFd, stem: &str, run_id: &str) -> io::Result<()> {
        for entry in entry::list(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_str().unwrap_or_default();
            if !name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('-')) {
                continue;
            }
            let Ok(folder) = Self::open(directory, name.to_owned()) else { continue };
            // The mark on another user's directory cannot be trusted.
            let is_ours = rustix::fs::fstat(&folder.file)?.st_uid == geteuid().as_raw();
            let is_left = || -> io::Result<bool> {
                let maker = folder.left_by()?.filter(|maker| maker != run_id);
                Ok(maker.is_some_and(|maker| name.starts_with(&format!("{stem}-{maker}-"))))
            };
            if is_ours && is_left()? {
                folder.remove(directory)?;
            }
        }
        Ok(())
    }

    /// Run that created it, according to its mark and name, and left it: it is not in use, and its
    /// contents are entries of a measurement.
    pub(crate) fn left_by(&self) -> io::Result<Option<String>> {
        let maker = maker(&self.file, &self.name).filter(|maker| !maker.is_empty());
        let Some(maker) = maker.filter(|maker| self.name.contains(&format!("-{maker}-"))) else {
            return Ok(None);
        };
        if flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        Ok(self.foreign(true)?.is_none().then_some(maker))
    }

    /// Name of an entry that no measurement created, according to its name or, with `contents`, to
    /// its data.
    pub(crate) fn foreign(&self, contents: bool) -> io::Result<Option<String>> {
        for entry in Dir::read_from(&self.file)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_dot(name) {
                continue;
            }
            if !is_entry_name(name) || contents && !self.is_written_by_us(name)? {
                return Ok(Some(name.to_string_lossy().into_owned()));
            }
        }
        Ok(None)
    }

    /// Run that created it, according to its mark, if it belongs to this user: the mark on another
    /// user's directory cannot be trusted.
    pub(crate) fn maker(&self) -> Option<String> {
        let is_ours = rustix::fs::fstat(&self.file).ok()?.st_uid == geteuid().as_raw();
        maker(&self.file, &self.name).filter(|maker| is_ours && !maker.is_empty())
    }

    /// True if an entry is an empty directory, or a file with a single name that holds only data
    /// written by qdepth.
    fn is_written_by_us(&self, name: &CStr) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.file, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(stat.st_nlink <= 2 && Dir::read_from(&file)?.count() == 2),
            FileType::RegularFile if stat.st_nlink == 1 => {
                let length = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
                Ok(foreign_offset(&File::from(file), 0, length)?.is_none())
            }
            _ => Ok(false),
        }
    }

    /// Creates entries: files of `file_bytes` bytes, or directories.
    pub(crate) fn fill(
        &self,
        names: impl Iterator<Item = String>,
        file_bytes: Option<u64>,
    ) -> io::Result<()> {
        let mut pattern = noise::pattern();
        let mut contents = file_bytes.map(|bytes| vec![0; bytes as usize]);
        for name in names {
            let Some(bytes) = &mut contents else {
                rustix::fs::mkdirat(&self.file, name, Mode::RWXU)?;
                continue;
            };
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&self.file, name, flags, Mode::RUSR | Mode::WUSR)?;
            pattern.fill(bytes, 0.0);
            File::from(file).write_all(bytes)?;
        }
        // All entries are stored before anything is measured.
        Ok(rustix::fs::syncfs(&self.file)?)
    }

    /// Removes the entries, which are files and empty directories, and then the directory, if it
    /// still has its name.
    pub(crate) fn remove(&self, directory: &OwnedFd) -> io::Result<()> {
        self.empty(|_| true)?;
        entry::remove(directory, &self.name, self.inode, AtFlags::REMOVEDIR)
    }

    /// Removes the entries of these types, unless others have stored something with another name in
    /// the directory.
    pub(crate) fn empty(&self, which: impl Fn(FileType) -> bool) -> io::Result<()> {
        if let Some(name) = self.foreign(false)? {
            return Err(io::Error::other(format!("it contains {name}")));
        }
        for entry in Dir::read_from(&self.file)? {
            let entry = entry?;
            let name = entry.file_name();
            if !is_entry_name(name) {
                continue;
            }
            let kind = entry::kind(&self.file, &entry)?;
            if !which(kind) {
                continue;
            }
            let flags = match kind {
                FileType::Directory => AtFlags::REMOVEDIR,
                _ => AtFlags::empty(),
            };
            match rustix::fs::unlinkat(&self.file, name, flags) {
                Err(Errno::NOENT) | Ok(()) => {}
                Err(why) => return Err(why.into()),
            }
        }
        Ok(())
    }
}

fn is_dot(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// True if measurements give entries such names.
fn is_entry_name(name: &CStr) -> bool {
    let digits = name.to_bytes().strip_prefix(b"f").or(name.to_bytes().strip_prefix(b"d"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files as a user does")]
mod tests {
    use super::*;

    #[test]
    fn folder_is_removed_with_only_its_own_files() {
        let parent = tempfile::tempdir().unwrap();
        let directory: OwnedFd = File::open(parent.path()).unwrap().into();
        std::fs::write(parent.path().join("kept"), "yours").unwrap();
        let folder = OwnFolder::make(&directory, "mine".to_owned(), "r").unwrap();
        folder.fill(["f0", "f1"].map(str::to_owned).into_iter(), Some(4096)).unwrap();
        folder.fill(std::iter::once("d0".to_owned()), None).unwrap();
        assert_eq!(std::fs::metadata(parent.path().join("mine/f1")).unwrap().len(), 4096);
        assert!(
            OwnFolder::make(&directory, "mine".to_owned(), "r").is_err(),
            "it is there already"
        );
        folder.remove(&directory).unwrap();
        let left: Vec<_> = std::fs::read_dir(parent.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1);

        let folder = OwnFolder::make(&directory, "moved".to_owned(), "r").unwrap();
        std::fs::rename(parent.path().join("moved"), parent.path().join("elsewhere")).unwrap();
        std::fs::create_dir(parent.path().join("moved")).unwrap();
        assert!(folder.remove(&directory).is_err());
        assert!(parent.path().join("moved").is_dir(), "it is not ours");
    }

    #[test]
    fn folder_of_another_user_is_not_removed() {
        let parent = tempfile::tempdir().unwrap();
        let directory: OwnedFd = File::open(parent.path()).unwrap().into();
        for name in ["s-dead-1", "s-dead-2"] {
            let folder = OwnFolder::make(&directory, name.to_owned(), "dead").unwrap();
            folder.fill(std::iter::once("f1".to_owned()), Some(0)).unwrap();
        }
        let theirs = parent.path().join("s-dead-2");
        let is_root = geteuid().is_root();
        if is_root {
            std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
        } else {
            println!("SKIPPED: a directory of another user: not root");
        }
        OwnFolder::remove_left(&directory, "s", "alive").unwrap();
        assert!(!parent.path().join("s-dead-1").exists());
        assert_eq!(theirs.join("f1").exists(), is_root);
    }
}
