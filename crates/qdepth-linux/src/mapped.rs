//! Reads and writes through a mapping of the file (mmap(2)), by the worker itself, one at a time.
//! A transfer copies between the mapping and the request's buffer; the kernel reads and writes
//! pages when they are touched.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::null_mut;

use qdepth_workload::{CacheAdvice, Direction, Request};
use rustix::fs::{OFlags, SeekFrom, fcntl_getfl, fstatfs, seek};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::param::page_size;

use crate::buffers::Pieces;
use crate::discard::Discard;
use crate::inline::Perform;
use crate::lost_page::{is_lost_during, outlive_lost_pages};
use crate::op_flags::{O_DSYNC, OpFlags};
use crate::threads::transfer;

/// Type of hugetlbfs in statfs(2): its pages cannot be replaced one by one.
const HUGE_PAGES: rustix::fs::FsWord = 0x9584_58f6;

/// A file, mapped whole.
pub(crate) struct Mapped {
    file: RawFd,
    discard: Discard,
    op_flags: OpFlags,
    pieces: Pieces,
    start: *mut u8,
    length: usize,
    access: ProtFlags,
    /// The sync after each write, if it waits until it is durable (`O_SYNC`, `O_DSYNC`).
    syncs_each: Option<OpFlags>,
    /// True if pages could not be mapped again.
    is_broken: Cell<bool>,
}

impl Mapped {
    pub(crate) fn new(file: BorrowedFd<'_>, op_flags: OpFlags, pieces: Pieces) -> io::Result<Self> {
        let flags = fcntl_getfl(file)?;
        if flags.contains(OFlags::DIRECT) {
            return Err(io::Error::other(
                "a mapping always uses the page cache: set `direct = false` in the profile",
            ));
        }
        // The flags have no effect on writes through a mapping.
        let is_data = !flags.contains(OFlags::SYNC);
        let syncs_each = flags.contains(O_DSYNC).then(|| OpFlags::new(is_data));
        if fstatfs(file)?.f_type == HUGE_PAGES {
            return Err(io::Error::other("a file of huge pages cannot be mapped by this engine"));
        }
        let reads_only = flags & OFlags::ACCMODE == OFlags::RDONLY;
        let write = if reads_only { ProtFlags::empty() } else { ProtFlags::WRITE };
        let access = ProtFlags::READ | write;
        let length = usize::try_from(seek(file, SeekFrom::End(0))?).unwrap_or(usize::MAX);
        if length == 0 {
            return Err(io::Error::other("a mapping cannot extend a file, and this one is empty"));
        }
        // SAFETY: a new mapping at an address that the kernel chooses. Its memory is only accessed
        // through raw pointers, because others may change the file.
        let start = unsafe { mmap(null_mut(), length, access, MapFlags::SHARED, file, 0)? };
        outlive_lost_pages();
        let discard = Discard::for_file(file)?;
        let (file, start, is_broken) = (file.as_raw_fd(), start.cast(), Cell::new(false));
        Ok(Self { file, discard, op_flags, pieces, start, length, access, syncs_each, is_broken })
    }

    /// Copies the request's data, and returns the number of bytes or a negative error number.
    fn copy(&self, slot: u32, request: Request) -> i32 {
        let Request { direction, offset, size } = request;
        let end = offset.checked_add(u64::from(size));
        let is_inside = end.is_some_and(|end| end <= self.length as u64);
        let is_write = direction == Direction::Write;
        if !is_inside || (is_write && !self.access.contains(ProtFlags::WRITE)) {
            return -libc::EFAULT;
        }
        if self.is_broken.get() {
            return -libc::EIO;
        }
        let (piece, size) = (self.pieces.piece_ptr(slot, direction), size as usize);
        // SAFETY: the range is within the mapping.
        let place = unsafe { self.start.add(offset as usize) };
        let (from, to) = if is_write { (piece, place) } else { (place, piece) };
        let is_lost = is_lost_during(self.start.addr(), self.length, || {
            // SAFETY: both ranges have `size` bytes: the place lies within the mapping, and the
            // piece belongs to the request. A page that the kernel cannot provide is replaced by
            // the handler of SIGBUS.
            unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), to, size) };
        });
        if is_lost {
            self.restore(place, size);
            return -libc::EIO;
        }
        size as i32
    }

    /// A call on the file; a sync includes what was written through the mapping.
    fn call(&self, request: Request, op_flags: OpFlags) -> i32 {
        transfer(self.file, self.discard, op_flags, request, null_mut())
    }

    /// Maps the file again where pages were replaced, so that the next access fails like this one.
    #[cold]
    fn restore(&self, place: *mut u8, size: usize) {
        let before = place.addr() % page_size();
        let offset = (place.addr() - before - self.start.addr()) as u64;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: replaces pages within this mapping by the same pages of the file.
        let again = unsafe {
            libc::mmap(
                place.sub(before).cast(),
                before + size,
                self.access.bits() as libc::c_int,
                flags,
                self.file,
                offset as libc::off_t,
            )
        };
        self.is_broken.set(again == libc::MAP_FAILED);
    }

    pub(crate) fn advise(&self, advice: CacheAdvice) -> io::Result<()> {
        let advice = match advice {
            CacheAdvice::None => return Ok(()),
            CacheAdvice::Sequential => Advice::Sequential,
            CacheAdvice::Random => Advice::Random,
        };
        // SAFETY: advice about reading ahead, for the whole mapping.
        unsafe { madvise(self.start.cast(), self.length, advice)? };
        Ok(())
    }
}

impl Perform for Mapped {
    #[inline(always)]
    fn perform(&self, slot: u32, request: Request) -> i32 {
        match request.direction {
            Direction::Read => self.copy(slot, request),
            Direction::Write => {
                let written = self.copy(slot, request);
                let sync = Request { direction: Direction::Sync, ..request };
                let synced = self.syncs_each.map_or(0, |op_flags| self.call(sync, op_flags));
                if synced < 0 { synced } else { written }
            }
            Direction::Trim | Direction::Sync => self.call(request, self.op_flags),
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and nothing copies from or to it any more.
        let _ = unsafe { munmap(self.start.cast(), self.length) };
    }
}
