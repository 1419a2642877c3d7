//! Entries of a directory that is held open, each by its name alone, without following links.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, DirEntry, FileType, Mode, OFlags, ResolveFlags, Stat, openat, openat2, statat,
    unlinkat,
};
use rustix::io::Errno;

/// Device of the file system, and inode number.
pub(crate) type Inode = (u64, u64);

pub(crate) fn inode_of(stat: &Stat) -> Inode {
    (stat.st_dev, stat.st_ino)
}

/// Time of the last change of a file, s and ns, and its length: differs after every write that is
/// not within the resolution of the file system's clock.
pub(crate) type Version = [i128; 3];

pub(crate) fn version_of(stat: &Stat) -> Version {
    [stat.st_ctime.into(), stat.st_ctime_nsec.into(), stat.st_size.into()]
}

/// Opens an entry, or creates it with mode 0600.
pub(crate) fn open(directory: impl AsFd, name: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(&directory, name, flags, mode, resolve) {
        // Kernels before 5.6, and containers that forbid the call.
        Err(Errno::NOSYS | Errno::PERM) => openat(&directory, name, flags, mode),
        answer => answer,
    }
}

/// Entries of a directory that is held for its path only, which cannot be listed.
pub(crate) fn list(directory: impl AsFd) -> rustix::io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Dir::new(openat(directory, c".", flags, Mode::empty())?)
}

/// Type of a listed entry. Some file systems do not list it.
pub(crate) fn kind(directory: impl AsFd, entry: &DirEntry) -> rustix::io::Result<FileType> {
    match entry.file_type() {
        FileType::Unknown => {
            let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(FileType::from_raw_mode(stat.st_mode))
        }
        known => Ok(known),
    }
}

/// Removes an entry if it still is the one with this inode.
pub(crate) fn remove(
    directory: impl AsFd,
    name: &str,
    inode: Inode,
    flags: AtFlags,
) -> io::Result<()> {
    if inode_of(&statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?) != inode {
        let kind = if flags.contains(AtFlags::REMOVEDIR) { "directory" } else { "file" };
        return Err(io::Error::other(format!("it was replaced by another {kind}")));
    }
    Ok(unlinkat(&directory, name, flags)?)
}
