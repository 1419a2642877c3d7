//! A file that is complete before it has a name that anybody knows.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Seek, Write, copy};
use std::os::fd::AsRawFd;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, fchmod, linkat, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::error::FileError;
use crate::folder::{Folder, random_name};
use crate::mark;

/// A complete file under a random name in the directory where it belongs. It goes with this value,
/// unless the name was taken from it.
#[derive(Debug)]
pub(crate) struct Fresh<'a> {
    folder: &'a Folder,
    pub(crate) name: OsString,
}

/// A file that is being written: without a name where the file system knows such files, so that a
/// kill leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Growing<'a> {
    folder: &'a Folder,
    file: File,
    mode: u32,
    digest: Sha256,
    named: Option<Fresh<'a>>,
}

impl<'a> Growing<'a> {
    /// An empty file. `mode` is that of a new file, less the umask.
    pub(crate) fn begin(folder: &'a Folder, mode: u32) -> Result<Self, FileError> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(folder.descriptor(), c".", flags, Mode::from_raw_mode(mode)) {
            Ok(file) => {
                let (file, digest) = (File::from(file), Sha256::new());
                Ok(Self { folder, file, mode, digest, named: None })
            }
            Err(_) => Self::begin_named(folder, mode),
        }
    }

    fn begin_named(folder: &'a Folder, mode: u32) -> Result<Self, FileError> {
        let name = random_name();
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        let file = folder
            .open_in(&name, flags, mode)
            .map_err(|errno| FileError::failed(folder.path(), &doing(folder), errno))?;
        let digest = Sha256::new();
        Ok(Self { folder, file, mode, digest, named: Some(Fresh { folder, name }) })
    }

    /// Adds bytes at its end.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.digest.update(bytes);
        self.file.write_all(bytes).map_err(|error| self.failed(&error))
    }

    /// Brings the bytes to rest. `exactly` are permission bits that it has whatever the umask.
    pub(crate) fn complete(mut self, exactly: Option<u32>) -> Result<Fresh<'a>, FileError> {
        if let Some(bits) = exactly {
            fchmod(&self.file, Mode::from_raw_mode(bits)).map_err(|e| self.failed(&e.into()))?;
        }
        mark::put(&self.file, self.digest.clone());
        self.file.sync_all().map_err(|error| self.failed(&error))?;
        if let Some(fresh) = self.named {
            return Ok(fresh);
        }
        let (descriptor, name) = (self.folder.descriptor(), random_name());
        let handle = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        if linkat(CWD, handle, descriptor, &name, AtFlags::SYMLINK_FOLLOW).is_ok() {
            return Ok(Fresh { folder: self.folder, name });
        }
        let mut again = Self::begin_named(self.folder, self.mode)?;
        let copied = self.file.rewind().and_then(|()| copy(&mut self.file, &mut again.file));
        copied.map_err(|error| self.failed(&error))?;
        again.digest = self.digest.clone();
        again.complete(exactly)
    }

    fn failed(&self, error: &std::io::Error) -> FileError {
        FileError::failed_io(self.folder.path(), &doing(self.folder), error)
    }
}

fn doing(folder: &Folder) -> String {
    format!("write a file in {}", folder.path().display())
}

impl Fresh<'_> {
    /// The name was given away, or taken away.
    pub(crate) fn forget(mut self) {
        self.name.clear();
    }

    /// Gives it a name that nothing has.
    pub(crate) fn name_it(self, name: &OsStr) -> rustix::io::Result<()> {
        let descriptor = self.folder.descriptor();
        match renameat_with(descriptor, &self.name, descriptor, name, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.forget();
                Ok(())
            }
            // Network file systems cannot, but know links; the random name goes with this value.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                linkat(descriptor, &self.name, descriptor, name, AtFlags::empty())
            }
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = unlinkat(self.folder.descriptor(), &self.name, AtFlags::empty());
        }
    }
}
