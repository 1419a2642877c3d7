//! Extents of a file: unwritten, shared and compressed ones.

use std::os::fd::AsFd;

use qdepth_linux::Extent;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Share (0..1) of `offset..offset + length` that was never written: holes, and allocated but
/// unwritten extents. Reads of these do not reach the storage.
///
/// Uses `SEEK_DATA` and `SEEK_HOLE` (lseek(2)). On ext4, XFS and btrfs, unwritten extents count as
/// holes. `None` if the file system does not support this, for devices, and for an empty range. A
/// file system that always answers "all data" is believed.
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

/// Reason why fewer bytes are read from the device than from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Less {
    /// Parts of the file are the same blocks of the device (reflinks, deduplication).
    SharedExtents,
    /// The file system has compressed the data.
    Compressed,
}

/// The reason, if more than a tenth of a part of a file is in shared or compressed extents, by
/// `FS_IOC_FIEMAP`. `None` otherwise, and if the file system does not report extents.
pub fn less_below(file: impl AsFd, offset: u64, length: u64) -> Option<Less> {
    less_of(qdepth_linux::extents(file.as_fd(), offset, length)?)
}

/// The same for a part of a file whose file system is on the file `image`, from `start` on.
pub fn less_in_image(
    file: impl AsFd,
    offset: u64,
    length: u64,
    image: impl AsFd,
    start: u64,
) -> Option<Less> {
    let mut below = Vec::new();
    for Extent { physical, length, .. } in qdepth_linux::extents(file.as_fd(), offset, length)? {
        below.extend(qdepth_linux::extents(image.as_fd(), start.checked_add(physical)?, length)?);
    }
    less_of(below)
}

fn less_of(mut extents: Vec<Extent>) -> Option<Less> {
    let sum = |all: &[Extent]| all.iter().map(|extent| u128::from(extent.length)).sum::<u128>();
    let all = sum(&extents);
    extents.retain(|extent| !extent.is_encoded);
    if sum(&extents) * 10 < all * 9 {
        return Some(Less::Compressed);
    }
    extents.sort_unstable_by_key(|extent| extent.physical);
    let (mut own, mut end) = (0_u128, 0);
    for Extent { physical, length, .. } in &extents {
        let next = physical.saturating_add(*length);
        own += u128::from(next.saturating_sub(end.max(*physical)));
        end = end.max(next);
    }
    (own * 10 < sum(&extents) * 9).then_some(Less::SharedExtents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_and_compressed_extents_are_found() {
        let extents = |all: &[(u64, u64, bool)]| {
            let extent = |&(physical, length, is_encoded)| Extent { physical, length, is_encoded };
            less_of(all.iter().map(extent).collect())
        };
        assert_eq!(extents(&[]), None);
        assert_eq!(extents(&[(0, 8, false), (100, 8, false), (50, 8, false)]), None);
        assert_eq!(extents(&[(0, 8, false); 100]), Some(Less::SharedExtents));
        assert_eq!(extents(&[(0, 100, false), (50, 100, false)]), Some(Less::SharedExtents));
        assert_eq!(extents(&[(0, 95, false), (0, 5, true)]), None);
        assert_eq!(extents(&[(0, 50, false), (60, 50, true)]), Some(Less::Compressed));
        assert_eq!(extents(&[(u64::MAX - 1, 8, false)]), Some(Less::SharedExtents));
        assert_eq!(extents(&[(0, u64::MAX, false); 20]), Some(Less::SharedExtents));
    }
}
