//! Reads and writes through a mapping of the file (mmap(2)), by the worker itself, one at a time.
//! A transfer copies between the mapping and the request's buffer; the kernel reads and writes
//! pages when they are touched.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

use qdepth_workload::{Direction, Request};
use rustix::fs::{OFlags, SeekFrom, fcntl_getfl, seek};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use crate::buffers::Pieces;
use crate::discard::Discard;
use crate::inline::Perform;
use crate::op_flags::OpFlags;
use crate::threads::transfer;

/// A file, mapped whole.
pub(crate) struct Mapped {
    file: RawFd,
    discard: Discard,
    op_flags: OpFlags,
    pieces: Pieces,
    start: *mut u8,
    length: usize,
    access: ProtFlags,
    /// True if each write waits until it is durable (`O_SYNC`, `O_DSYNC`).
    syncs_each: bool,
}

thread_local! {
    /// Mapping that this thread copies from or to: address and length.
    static MAPPED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// True if a page of it could not be read or written.
    static FAULTED: Cell<bool> = const { Cell::new(false) };
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
        let syncs_each = flags.intersects(OFlags::SYNC | OFlags::DSYNC);
        let op_flags = if flags.contains(OFlags::SYNC) { OpFlags::default() } else { op_flags };
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
        let (file, start) = (file.as_raw_fd(), start.cast());
        Ok(Self { file, discard, op_flags, pieces, start, length, access, syncs_each })
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
        let (piece, size) = (self.pieces.piece_ptr(slot), size as usize);
        // SAFETY: the range is within the mapping.
        let place = unsafe { self.start.add(offset as usize) };
        let (from, to) = if is_write { (piece, place) } else { (place, piece) };
        MAPPED.set((self.start.addr(), self.length));
        compiler_fence(Ordering::SeqCst);
        // SAFETY: both ranges have `size` bytes: the place lies within the mapping, and the piece
        // belongs to the request. A page that the kernel cannot provide is replaced by the handler
        // of SIGBUS.
        unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), to, size) };
        compiler_fence(Ordering::SeqCst);
        MAPPED.set((0, 0));
        if FAULTED.replace(false) {
            self.restore(place, size);
            return -libc::EIO;
        }
        size as i32
    }

    /// A call on the file; a sync includes what was written through the mapping.
    fn call(&self, request: Request) -> i32 {
        transfer(self.file, self.discard, self.op_flags, request, null_mut())
    }

    /// Maps the file again where pages were replaced, so that the next access fails like this one.
    #[cold]
    fn restore(&self, place: *mut u8, size: usize) {
        let before = place.addr() % page_size();
        let offset = (place.addr() - before - self.start.addr()) as u64;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: replaces pages within this mapping by the same pages of the file.
        unsafe {
            libc::mmap(
                place.sub(before).cast(),
                before + size,
                self.access.bits() as libc::c_int,
                flags,
                self.file,
                offset as libc::off_t,
            );
        }
    }
}

impl Perform for Mapped {
    #[inline(always)]
    fn perform(&self, slot: u32, request: Request) -> i32 {
        match request.direction {
            Direction::Write if self.syncs_each => {
                let written = self.copy(slot, request);
                let synced = self.call(Request { direction: Direction::Sync, ..request });
                if synced < 0 { synced } else { written }
            }
            Direction::Read | Direction::Write => self.copy(slot, request),
            Direction::Trim | Direction::Sync => self.call(request),
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and nothing copies from or to it any more.
        let _ = unsafe { munmap(self.start.cast(), self.length) };
    }
}

/// Handler of SIGBUS before this module's.
static FORMER: OnceLock<libc::sigaction> = OnceLock::new();

/// Without a handler, a page that cannot be read (an error of the storage, a file cut short by
/// another program) would end the process.
fn outlive_lost_pages() {
    // The first call reads it from the kernel, which a handler should not do.
    let _ = page_size();
    FORMER.get_or_init(|| {
        // SAFETY: all-zero is a valid `sigaction`; the handler has the type that SA_SIGINFO needs
        // and calls nothing but mmap(2) and sigaction(2).
        unsafe {
            let mut former: libc::sigaction = std::mem::zeroed();
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = replace_page as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, &raw mut former);
            former
        }
    });
}

/// Puts an empty page in the place of one that the kernel could not provide. For any other address,
/// gives the signal back to the former handler.
extern "C" fn replace_page(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid `siginfo_t` of SIGBUS.
    let at = unsafe { (*info).si_addr() };
    let (start, length) = MAPPED.get();
    let is_ours = length > 0 && at.addr() >= start && at.addr() - start < length;
    if is_ours {
        FAULTED.set(true);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let size = page_size();
        let page = at.map_addr(|at| at - at % size);
        // SAFETY: replaces a page within the mapping that this thread is copying from or to.
        if unsafe { libc::mmap(page, size, access, flags, -1, 0) } == page {
            return;
        }
    }
    if let Some(former) = FORMER.get() {
        // SAFETY: the former action is valid; the access is repeated and reaches it.
        unsafe { libc::sigaction(signal, &raw const *former, null_mut()) };
    }
}
