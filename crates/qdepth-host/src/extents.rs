//! Which parts of a file were ever written.

use std::os::fd::AsFd;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// The share (0..1) of `offset..offset + length` that was never written: holes, and extents that
/// are allocated and unwritten. A read of those is answered without the storage.
///
/// By `SEEK_DATA` and `SEEK_HOLE` (lseek(2)), which ext4, XFS and btrfs answer with unwritten
/// extents counted as holes. None where the file system cannot tell, for devices, and for an
/// empty range. A file system that always answers "all data" is believed.
pub fn unwritten_share(file: impl AsFd, offset: u64, length: u64) -> Option<f64> {
    let file = file.as_fd();
    let stat = rustix::fs::fstat(file).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let end = offset.checked_add(length)?;
    if !is_file || length == 0 {
        return None;
    }
    let mut written = 0_u64;
    let mut at = offset;
    while at < end {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) if data < end => data,
            Ok(_) | Err(Errno::NXIO) => break,
            Err(_) => return None,
        };
        let hole = seek(file, SeekFrom::Hole(data)).ok()?.min(end);
        if hole <= data {
            return None;
        }
        written += hole - data;
        at = hole;
    }
    Some(1.0 - written as f64 / length as f64)
}
