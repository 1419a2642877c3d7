//! Flags of the kernel for each direction of request.

use std::os::fd::BorrowedFd;

use qdepth_workload::{Direction, IoFlag};
use rustix::fs::{AtFlags, OFlags, Statx, StatxFlags, statx};
use rustix::io::{Errno, IoSliceMut, ReadWriteFlags, preadv2};
use thiserror::Error;

/// Writes wait until their data is on stable storage. `OFlags::DSYNC` of rustix 1.1 is `O_SYNC`,
/// which also waits for the metadata.
pub const O_DSYNC: OFlags = OFlags::from_bits_retain(libc::O_DSYNC as u32);

/// `IORING_FSYNC_DATASYNC` of <linux/io_uring.h>.
const DATA_SYNC: u32 = 1;
/// `RWF_ATOMIC` and `RWF_DONTCACHE` of <linux/fs.h>.
const ATOMIC: u32 = 0x40;
const DONTCACHE: u32 = 0x80;
/// `STATX_WRITE_ATOMIC` of <linux/stat.h>.
const WRITE_ATOMIC: u32 = 0x1_0000;

/// Reason why transfers of a file cannot have a flag.
#[derive(Debug, Error)]
pub enum IoFlagError {
    /// The engine passes no flags to the kernel.
    #[error("the engine {0} passes no io_flag to the kernel: use io_uring, linux-aio or sync")]
    Engine(&'static str),
    /// The kernel does not drop pages of this file after a transfer.
    #[error(
        "the file system does not support RWF_DONTCACHE ({0}), which needs Linux 6.14 and ext4, \
         XFS or btrfs. Remove io_flag from the profile (in a job of fio: uncached), or use another \
         directory"
    )]
    Dontcache(Errno),
    /// The storage does not write blocks of this size atomically.
    #[error(
        "atomic writes: {}. Remove io_flag from the profile (in a job of fio: atomic)",
        match most {
            0 => "the storage reports none".to_owned(),
            _ => format!(
                "the storage writes at most {most} B atomically, and the largest block has \
                 {size_max} B; use smaller blocks"
            ),
        }
    )]
    Atomic {
        /// Size of the largest request, bytes.
        size_max: u32,
        /// Largest size that is written atomically, bytes; 0 for none.
        most: u32,
    },
}

/// Flags by direction, as in the field `rw_flags` or `fsync_flags` of a ring's entry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpFlags([u32; 4]);

impl OpFlags {
    pub(crate) fn new(data_sync: bool) -> Self {
        let mut flags = Self::default();
        flags.0[Direction::Sync as usize] = if data_sync { DATA_SYNC } else { 0 };
        flags
    }

    /// With the flag of transfers.
    pub(crate) fn with(mut self, flag: IoFlag) -> Self {
        let [read, write] = match flag {
            IoFlag::None => [0, 0],
            IoFlag::Dontcache => [DONTCACHE; 2],
            IoFlag::Atomic => [0, ATOMIC],
        };
        self.0[Direction::Read as usize] = read;
        self.0[Direction::Write as usize] = write;
        self
    }

    #[inline(always)]
    pub(crate) fn word(self, direction: Direction) -> u32 {
        self.0[direction as usize]
    }

    pub(crate) fn data_sync(self) -> bool {
        self.word(Direction::Sync) != 0
    }
}

/// Asks the kernel, without access to the storage, if transfers of this file can have the flag.
pub(crate) fn check(file: BorrowedFd<'_>, flag: IoFlag, size_max: u32) -> Result<(), IoFlagError> {
    match flag {
        IoFlag::None => Ok(()),
        IoFlag::Dontcache => {
            let flags = ReadWriteFlags::from_bits_retain(DONTCACHE);
            match preadv2_beyond(file, flags) {
                Err(why @ (Errno::OPNOTSUPP | Errno::INVAL)) => Err(IoFlagError::Dontcache(why)),
                _ => Ok(()),
            }
        }
        IoFlag::Atomic => {
            let wanted = StatxFlags::from_bits_retain(WRITE_ATOMIC);
            let found = statx(file, "", AtFlags::EMPTY_PATH, wanted).ok();
            let is_told = |found: &Statx| found.stx_mask & WRITE_ATOMIC != 0;
            let most = found.filter(is_told).map_or(0, |found| found.stx_atomic_write_unit_max);
            if size_max <= most { Ok(()) } else { Err(IoFlagError::Atomic { size_max, most }) }
        }
    }
}

/// Reads a page far beyond the end of any file: the kernel answers without accessing the storage.
pub(crate) fn preadv2_beyond(file: BorrowedFd<'_>, flags: ReadWriteFlags) -> Result<(), Errno> {
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    const BEYOND: u64 = 1 << 60;
    let mut page = Page([0; 4096]);
    preadv2(file, &mut [IoSliceMut::new(&mut page.0)], BEYOND, flags).map(drop)
}
