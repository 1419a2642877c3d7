//! Directories, resolved once and kept open.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    Access, AtFlags, Mode, OFlags, Stat, accessat, fstat, openat, readlink, statat, unlinkat,
};
use rustix::io::Errno;

use crate::at_work::AtWork;
use crate::error::FileError;
use crate::sort::{Identity, identity, is_link, is_regular};
use crate::walk::{
    LINKS_MAX, Missing, followed, in_a_circle, is_of_devices, not_the_kernels, walk, walk_from,
};

/// Unused random name, hidden and with the program's name in case a kill leaves it behind.
pub(crate) fn random_name() -> OsString {
    format!(".qdepth-{}", uuid::Uuid::new_v4().simple()).into()
}

/// Directory, resolved once and kept open: later changes of its name have no effect.
#[derive(Clone, Debug)]
pub struct Folder {
    descriptor: Arc<OwnedFd>,
    /// Path as given.
    path: PathBuf,
}

impl Folder {
    /// Opens an existing directory.
    ///
    /// # Errors
    /// If it does not exist, the path contains a link of another user or of the kernel, or the
    /// directory is on a file system of the kernel.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Self::find(path, path, Missing::Error)
    }

    /// Opens a directory, and creates missing components with these permission bits, subject to the
    /// umask.
    ///
    /// # Errors
    /// Like [`Folder::open`], or if it cannot be created.
    pub fn make(path: &Path, mode: u32) -> Result<Self, FileError> {
        Self::find(path, path, Missing::Create(mode))
    }

    /// Directory of a file, and the name of the file in it.
    pub(crate) fn containing(file: &Path, missing: Missing) -> Result<(Self, OsString), FileError> {
        let ends_in_a_name = !file.as_os_str().as_encoded_bytes().ends_with(b"/");
        let Some(name) = file.file_name().filter(|_| ends_in_a_name) else {
            let found = if file.as_os_str().is_empty() {
                "a file name must not be empty".to_owned()
            } else {
                format!("{} names a directory, not a file", file.display())
            };
            return Err(FileError::wrong(file, found, "Name a file"));
        };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = Self::find(folder.unwrap_or(Path::new(".")), file, missing)?;
        Ok((folder, name.to_owned()))
    }

    /// Like [`Folder::containing`], but follows the name if it is a link that may be followed.
    pub(crate) fn of_what_it_leads_to(
        file: &Path,
        missing: Missing,
    ) -> Result<(Self, OsString), FileError> {
        let (mut folder, mut name) = Self::containing(file, missing)?;
        for _ in 0..LINKS_MAX {
            let failed = |errno| FileError::cannot("look at", file, errno);
            if !folder.entry_stat(&name).map_err(failed)?.is_some_and(|found| is_link(&found)) {
                return Ok((folder, name));
            }
            let target = followed(folder.descriptor(), &name, file)?;
            let Some(next) = target.file_name() else {
                let found = format!("{} leads to a directory", file.display());
                return Err(FileError::wrong(file, found, "Name a file"));
            };
            let descriptor = folder.descriptor.try_clone().map_err(|error| {
                FileError::failed_io(file, "duplicate the handle of its directory", &error)
            })?;
            let way = target.parent().unwrap_or(Path::new(""));
            let descriptor = walk_from(descriptor, way, file, Missing::Error)?;
            name = next.to_owned();
            folder = Self::checked(descriptor, &folder.path.join(way), file)?;
        }
        Err(in_a_circle(file))
    }

    fn find(path: &Path, whole: &Path, missing: Missing) -> Result<Self, FileError> {
        let _work = AtWork::on(whole);
        Self::checked(walk(path, whole, missing)?, path, whole)
    }

    fn checked(descriptor: OwnedFd, path: &Path, whole: &Path) -> Result<Self, FileError> {
        not_the_kernels(&descriptor, whole)?;
        Ok(Self { descriptor: Arc::new(descriptor), path: path.to_owned() })
    }

    /// Current path without links, for programs and libraries that need a path.
    ///
    /// # Errors
    /// If `/proc` does not show the path.
    pub fn real_path(&self) -> Result<PathBuf, FileError> {
        let text = readlink(self.by_handle(), Vec::new())
            .map_err(|errno| FileError::failed(&self.path, "find its real path in /proc", errno))?;
        Ok(PathBuf::from(OsString::from_vec(text.into_bytes())))
    }

    /// Path through the open handle, valid in this process even if the directory is renamed.
    pub(crate) fn by_handle(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }

    /// Error of an action, for example `keep space free`.
    pub fn failed(&self, doing: &str, error: &std::io::Error) -> FileError {
        let doing = format!("{doing} in {}", self.path.display());
        FileError::failed_io(&self.path, &doing, error)
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn stat(&self) -> rustix::io::Result<Stat> {
        fstat(&self.descriptor)
    }

    pub(crate) fn identity(&self) -> rustix::io::Result<Identity> {
        Ok(identity(&self.stat()?))
    }

    /// File status of the entry with this name; `None` if there is none.
    pub(crate) fn entry_stat(&self, name: &OsStr) -> rustix::io::Result<Option<Stat>> {
        match statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            other => other.map(Some),
        }
    }

    /// True if it is on the file system of device nodes: a file there would be a mistyped device.
    pub(crate) fn among_devices(&self) -> bool {
        self.stat().is_ok_and(|found| is_of_devices(&found))
    }

    /// Checks that files can be created in it.
    pub(crate) fn may_write(&self) -> rustix::io::Result<()> {
        accessat(&self.descriptor, c".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
    }

    /// Opens a file in it without following a link and without blocking.
    pub(crate) fn open_in(
        &self,
        name: &OsStr,
        flags: OFlags,
        mode: u32,
    ) -> rustix::io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.descriptor, name, flags, Mode::from_raw_mode(mode))?))
    }

    /// Handle of any entry with this name, for inspection only.
    pub(crate) fn open_path(&self, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.descriptor, name, flags, Mode::empty())
    }

    /// Removes a name if it still belongs to this file. True if it was removed.
    pub(crate) fn remove_if(&self, name: &OsStr, which: Identity) -> rustix::io::Result<bool> {
        if self.entry_stat(name)?.is_none_or(|found| identity(&found) != which) {
            return Ok(false);
        }
        unlinkat(&self.descriptor, name, AtFlags::empty()).map(|()| true)
    }

    /// Creates a file without a name, which disappears with the process.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn nameless(&self) -> Result<File, FileError> {
        let doing = format!("create a file in {}", self.path.display());
        let failed = |errno| FileError::failed(&self.path, &doing, errno);
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL;
        match openat(&self.descriptor, c".", flags, Mode::from_raw_mode(0o600)) {
            Ok(file) => return Ok(File::from(file)),
            // The file system or kernel does not support unnamed files.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let name = random_name();
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR;
        let file = self.open_in(&name, flags, 0o600).map_err(failed)?;
        unlinkat(&self.descriptor, &name, AtFlags::empty()).map_err(failed)?;
        Ok(file)
    }

    /// Creates a directory like [`Folder::make`]. `None` if it exists.
    ///
    /// # Errors
    /// Like [`Folder::make`].
    pub fn make_new(path: &Path, mode: u32) -> Result<Option<NewFolder>, FileError> {
        let (parent, name) = Self::containing(path, Missing::Create(mode))?;
        let failed = |errno| FileError::cannot("look at", path, errno);
        let exists = parent.entry_stat(&name).map_err(failed)?.is_some();
        let which = Self::make(path, mode)?.identity().map_err(failed)?;
        // A value that is dropped would remove the directory.
        if exists { Ok(None) } else { Ok(Some(NewFolder { parent, name, which })) }
    }

    /// Names of regular files with this prefix, sorted.
    pub(crate) fn names(&self, beginning: &[u8]) -> rustix::io::Result<Vec<OsString>> {
        let open = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let readable = openat(&self.descriptor, c".", open, Mode::empty())?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(readable)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name.starts_with(beginning) {
                let name = OsString::from_vec(name);
                if self.entry_stat(&name)?.is_some_and(|found| is_regular(&found)) {
                    names.push(name);
                }
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Directory that this process created; removed on drop if it is empty.
#[derive(Debug)]
pub struct NewFolder {
    parent: Folder,
    name: OsString,
    which: Identity,
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        let found = self.parent.entry_stat(&self.name).ok().flatten();
        if found.is_some_and(|found| identity(&found) == self.which) {
            let _ = unlinkat(self.parent.descriptor(), &self.name, AtFlags::REMOVEDIR);
        }
    }
}
