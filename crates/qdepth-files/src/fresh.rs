//! Files that are complete before they get their name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, fchmod, linkat, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use crate::error::FileError;
use crate::folder::{Folder, random_name};
use crate::mark;

/// Complete file with a random name in its final directory. Deleted on drop, unless it was given
/// another name.
#[derive(Debug)]
pub(crate) struct PendingFile<'a> {
    folder: &'a Folder,
    pub(crate) name: OsString,
}

/// File being written, without a name if the file system supports that, so that a kill leaves
/// nothing behind.
struct PartialFile<'a> {
    folder: &'a Folder,
    file: File,
    named: Option<PendingFile<'a>>,
}

impl<'a> PartialFile<'a> {
    fn begin(folder: &'a Folder, mode: u32) -> Result<Self, FileError> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(folder.descriptor(), c".", flags, Mode::from_raw_mode(mode)) {
            Ok(file) => Ok(Self { folder, file: File::from(file), named: None }),
            Err(_) => Self::begin_named(folder, mode),
        }
    }

    fn begin_named(folder: &'a Folder, mode: u32) -> Result<Self, FileError> {
        let name = random_name();
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        let file = folder
            .open_in(&name, flags, mode)
            .map_err(|errno| FileError::failed(folder.path(), &doing(folder), errno))?;
        Ok(Self { folder, file, named: Some(PendingFile { folder, name }) })
    }

    /// Writes the bytes and syncs them to disk. `None` if the file then cannot get a name.
    fn complete(
        mut self,
        bytes: &[u8],
        exactly: Option<u32>,
    ) -> Result<Option<PendingFile<'a>>, FileError> {
        let failed = |error: &std::io::Error| {
            FileError::failed_io(self.folder.path(), &doing(self.folder), error)
        };
        self.file.write_all(bytes).map_err(|error| failed(&error))?;
        if let Some(bits) = exactly {
            fchmod(&self.file, Mode::from_raw_mode(bits)).map_err(|e| failed(&e.into()))?;
        }
        mark::put(&self.file, bytes);
        self.file.sync_all().map_err(|error| failed(&error))?;
        if let Some(fresh) = self.named {
            return Ok(Some(fresh));
        }
        let (descriptor, name) = (self.folder.descriptor(), random_name());
        let handle = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let linked = linkat(CWD, handle, descriptor, &name, AtFlags::SYMLINK_FOLLOW);
        Ok(linked.is_ok().then_some(PendingFile { folder: self.folder, name }))
    }
}

impl<'a> PendingFile<'a> {
    /// Creates a file with these bytes. `mode` is subject to the umask; the permission bits
    /// `exactly` are not.
    pub(crate) fn write(
        folder: &'a Folder,
        bytes: &[u8],
        mode: u32,
        exactly: Option<u32>,
    ) -> Result<Self, FileError> {
        if let Some(fresh) = PartialFile::begin(folder, mode)?.complete(bytes, exactly)? {
            return Ok(fresh);
        }
        let named = PartialFile::begin_named(folder, mode)?.complete(bytes, exactly)?;
        named.ok_or_else(|| FileError::failed(folder.path(), &doing(folder), Errno::NOENT))
    }
}

fn doing(folder: &Folder) -> String {
    format!("write a file in {}", folder.path().display())
}

impl PendingFile<'_> {
    /// Keeps the file: its name now belongs to someone else.
    pub(crate) fn forget(mut self) {
        self.name.clear();
    }

    /// Renames the file to an unused name.
    pub(crate) fn name_it(self, name: &OsStr) -> rustix::io::Result<()> {
        let descriptor = self.folder.descriptor();
        match renameat_with(descriptor, &self.name, descriptor, name, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.forget();
                Ok(())
            }
            // Network file systems support only links; the random name is deleted on drop.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                linkat(descriptor, &self.name, descriptor, name, AtFlags::empty())
            }
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for PendingFile<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = unlinkat(self.folder.descriptor(), &self.name, AtFlags::empty());
        }
    }
}
