//! Readable storage in a directory where no file can be created.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{Access, AtFlags, FileType};

use crate::entry;
use crate::target::Inspected;

/// Largest number of names examined in a directory.
const NAMES_MAX: usize = 10_000;

/// Name of the largest regular file in a directory that is readable, has no holes, and has at least
/// this many bytes. Subdirectories and links are not considered.
pub fn largest_file(directory: &Inspected, bytes_min: u64) -> Option<OsString> {
    let fits = |name: OsString| {
        let found =
            rustix::fs::statat(directory.handle(), &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let size = u64::try_from(found.st_size).ok().filter(|size| *size >= bytes_min)?;
        let regular = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        let sole = found.st_nlink == 1;
        let whole = u64::try_from(found.st_blocks).is_ok_and(|blocks| blocks * 512 >= size);
        let access = (Access::READ_OK, AtFlags::EACCESS);
        let readable = rustix::fs::accessat(directory.handle(), &name, access.0, access.1).is_ok();
        (regular && sole && whole && readable).then_some((size, name))
    };
    let names = entry::list(directory.handle()).ok()?.filter_map(Result::ok).take(NAMES_MAX);
    let names = names.map(|entry| OsString::from_vec(entry.file_name().to_bytes().to_vec()));
    names.filter_map(fits).max().map(|(_, name)| name)
}
