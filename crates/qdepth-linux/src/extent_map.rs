//! The extents of a file: `struct fiemap` of <linux/fiemap.h>.

use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl};

const FS_IOC_FIEMAP: Opcode = 0xC020_660B;
/// Number of extents per system call.
const EXTENTS: usize = 256;
/// Largest number of extents that are read; a file with more is not examined.
const EXTENTS_MAX: usize = 1 << 16;
const LAST: u32 = 1;
const UNKNOWN: u32 = 2;
const DELAYED: u32 = 4;
const ENCODED: u32 = 8;
const INLINE: u32 = 0x200;

/// A contiguous range of a file on its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Position on the device, bytes.
    pub physical: u64,
    /// Length in the file, bytes.
    pub length: u64,
    /// True if it is compressed, encrypted or otherwise encoded.
    pub is_encoded: bool,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved32: [u32; 3],
}

#[repr(C)]
struct ExtentMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [RawExtent; EXTENTS],
}

const _: () = assert!(size_of::<RawExtent>() == 56, "as <linux/fiemap.h> has it");

/// The extents of a part of a file that are placed on its device, in order. `None` if the file
/// system does not report extents, or the part has more than 65,536.
pub fn extents(file: BorrowedFd<'_>, offset: u64, length: u64) -> Option<Vec<Extent>> {
    let (mut found, end) = (Vec::new(), offset.checked_add(length)?);
    let mut start = offset;
    while start < end {
        let mut map = ExtentMap {
            start,
            length: end - start,
            flags: 0,
            mapped: 0,
            room: EXTENTS as u32,
            reserved: 0,
            extents: [RawExtent::default(); EXTENTS],
        };
        // SAFETY: FS_IOC_FIEMAP reads the head, and fills at most as many extents as the head has
        // room for; neither has invalid values.
        unsafe { ioctl(file, Updater::<FS_IOC_FIEMAP, ExtentMap>::new(&mut map)) }.ok()?;
        let these = map.extents.get(..map.mapped as usize)?;
        let placed = these.iter().filter(|e| e.flags & (UNKNOWN | DELAYED | INLINE) == 0);
        found.extend(placed.map(|e| Extent {
            physical: e.physical,
            length: e.length,
            is_encoded: e.flags & ENCODED != 0,
        }));
        match these.last() {
            Some(last) if last.flags & LAST == 0 => {
                let next = last.logical.checked_add(last.length)?;
                if next <= start || found.len() > EXTENTS_MAX {
                    return None;
                }
                start = next;
            }
            _ => break,
        }
    }
    Some(found)
}
