//! Files that are complete before they get their name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
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

impl<'a> PendingFile<'a> {
    /// Creates a file with these bytes. `mode` is subject to the umask; the permission bits
    /// `exactly` are not. The file has no name while it is written, if the file system supports
    /// that, so that a kill leaves nothing behind.
    pub(crate) fn write(
        folder: &'a Folder,
        bytes: &[u8],
        mode: u32,
        exactly: Option<u32>,
    ) -> Result<Self, FileError> {
        let doing = format!("write a file in {}", folder.path().display());
        let failed = |error: io::Error| FileError::failed_io(folder.path(), &doing, &error);
        let name = random_name();
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let nameless = openat(folder.descriptor(), c".", flags, Mode::from_raw_mode(mode));
        if let Ok(file) = nameless.map(File::from) {
            fill(&file, bytes, exactly).map_err(failed)?;
            let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
            let follow = AtFlags::SYMLINK_FOLLOW;
            if linkat(CWD, handle, folder.descriptor(), &name, follow).is_ok() {
                return Ok(Self { folder, name });
            }
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        let file = folder.open_in(&name, flags, mode).map_err(|errno| failed(errno.into()))?;
        let fresh = Self { folder, name };
        fill(&file, bytes, exactly).map_err(failed)?;
        Ok(fresh)
    }
}

/// Writes the bytes and syncs them to disk.
fn fill(mut file: &File, bytes: &[u8], exactly: Option<u32>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(bits) = exactly {
        fchmod(file, Mode::from_raw_mode(bits))?;
    }
    mark::put(file, bytes);
    file.sync_all()
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
