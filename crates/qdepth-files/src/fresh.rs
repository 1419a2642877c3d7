//! A file that is complete before it has a name that anybody knows.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, fchmod, linkat, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use crate::error::FileError;
use crate::folder::Folder;

/// A name that is nobody's; hidden, and it says whose it is should a kill leave it.
pub(crate) fn random_name() -> OsString {
    format!(".qdepth-{}", uuid::Uuid::new_v4().simple()).into()
}

/// A complete file under a random name in the directory where it belongs. It goes with this value,
/// unless the name was taken from it.
#[derive(Debug)]
pub(crate) struct Fresh<'a> {
    folder: &'a Folder,
    pub(crate) name: OsString,
}

impl<'a> Fresh<'a> {
    /// Writes the bytes and brings them to rest. `mode` is that of a new file, less the umask;
    /// `exactly` are permission bits that it has whatever the umask.
    pub(crate) fn write(
        folder: &'a Folder,
        bytes: &[u8],
        mode: u32,
        exactly: Option<u32>,
    ) -> Result<Self, FileError> {
        let doing = format!("write a file in {}", folder.path().display());
        let failed = |errno| FileError::failed(folder.path(), &doing, errno);
        let fill = |mut file: &File| -> Result<(), FileError> {
            if let Some(bits) = exactly {
                fchmod(file, Mode::from_raw_mode(bits)).map_err(failed)?;
            }
            file.write_all(bytes)
                .and_then(|()| file.sync_all())
                .map_err(|error| FileError::failed_io(folder.path(), &doing, &error))
        };
        let name = random_name();
        // A kill leaves nothing behind of a file that has no name while it is written.
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        if let Ok(file) = openat(folder.held(), c".", flags, Mode::from_raw_mode(mode)) {
            let file = File::from(file);
            fill(&file)?;
            let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
            let follow = AtFlags::SYMLINK_FOLLOW;
            if linkat(CWD, handle, folder.held(), &name, follow).is_ok() {
                return Ok(Self { folder, name });
            }
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        let file = folder.open_in(&name, flags, mode).map_err(failed)?;
        let fresh = Self { folder, name };
        fill(&file)?;
        Ok(fresh)
    }

    /// The name was given away, or taken away.
    pub(crate) fn forget(mut self) {
        self.name.clear();
    }

    /// Gives it a name that nothing has.
    pub(crate) fn name_it(self, name: &OsStr) -> rustix::io::Result<()> {
        let held = self.folder.held();
        match renameat_with(held, &self.name, held, name, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.forget();
                Ok(())
            }
            // Network file systems cannot, but know links; the random name goes with this value.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                linkat(held, &self.name, held, name, AtFlags::empty())
            }
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = unlinkat(self.folder.held(), &self.name, AtFlags::empty());
        }
    }
}
