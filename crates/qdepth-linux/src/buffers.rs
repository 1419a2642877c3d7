//! Buffers of requests: one memory mapping, with a page-aligned piece for each slot, or two: a load
//! that reads and writes must not write the data that a slot's last read returned.

use std::io;
use std::ptr::NonNull;

use qdepth_workload::Direction;

/// Size of a huge page on x86-64; on other CPUs only an alignment.
const HUGE: usize = 2 << 20;

/// Owner of the buffers.
#[derive(Debug)]
pub(crate) struct Buffers {
    pieces: Pieces,
    length: usize,
    /// Address and length of the mapping, for `munmap`.
    mapped: (*mut libc::c_void, usize),
}

/// Addresses of the buffers, for engines. Valid as long as the buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    base: NonNull<u8>,
    stride: usize,
    /// Number of the first piece for writes; 0 if each slot has one piece for all requests.
    first_write: u32,
}

impl Pieces {
    /// Number of a slot's piece for requests of this direction.
    #[inline(always)]
    pub(crate) fn number(self, slot: u32, direction: Direction) -> u32 {
        slot + self.first_write * u32::from(direction == Direction::Write)
    }

    /// Address of a slot's buffer for requests of this direction.
    #[inline(always)]
    pub(crate) fn piece_ptr(self, slot: u32, direction: Direction) -> *mut u8 {
        let number = self.number(slot, direction);
        self.base.as_ptr().wrapping_add(number as usize * self.stride)
    }
}

// SAFETY: only an address; code that writes through it must justify that itself.
unsafe impl Send for Pieces {}

// SAFETY: this value owns the mapping alone; the kernel and the threads that get pieces use each
// piece for one request at a time.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Allocates a piece of `size` bytes for each of `slots`, or two if writes have their own, each
    /// starting at a page boundary.
    pub(crate) fn new(slots: u32, size: u32, own_writes: bool) -> io::Result<Self> {
        let first_write = if own_writes { slots } else { 0 };
        let stride = (size.max(1) as usize).next_multiple_of(4096);
        let length = stride
            .checked_mul(slots as usize + first_write as usize)
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?
            .next_multiple_of(HUGE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // Room to start at a huge page: the kernel then pins and maps 512 pages as one.
        let room = length + HUGE;
        // SAFETY: a new anonymous mapping aliases nothing.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), room, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = start.cast::<u8>().wrapping_add(start.addr().wrapping_neg() & (HUGE - 1));
        // SAFETY: inside the mapping. Without huge pages the call fails, and small pages are used.
        unsafe { libc::madvise(base.cast(), length, libc::MADV_HUGEPAGE) };
        // SAFETY: inside the mapping; creates the pages now, so that no request causes a page
        // fault.
        unsafe { libc::madvise(base.cast(), length, libc::MADV_POPULATE_WRITE) };
        let base = NonNull::new(base).ok_or_else(io::Error::last_os_error)?;
        let pieces = Pieces { base, stride, first_write };
        Ok(Self { pieces, length, mapped: (start, room) })
    }

    /// Addresses of the buffers.
    pub(crate) fn pieces(&self) -> Pieces {
        self.pieces
    }

    /// The buffer of a slot for requests of this direction. The kernel must not be using it.
    pub(crate) fn piece(&mut self, slot: u32, direction: Direction) -> &mut [u8] {
        let Pieces { stride, .. } = self.pieces;
        let number = self.pieces.number(slot, direction);
        assert!((number as usize + 1) * stride <= self.length, "a piece for each slot");
        let start = self.pieces.piece_ptr(slot, direction);
        // SAFETY: inside the mapping, initialised, and borrowed mutably with the whole.
        unsafe { std::slice::from_raw_parts_mut(start, stride) }
    }

    /// The whole mapping, to be filled or registered.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is `length` bytes long, initialised to zero, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.pieces.base.as_ptr(), self.length) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: start and length are those of the mapping that `new` made.
        unsafe { libc::munmap(self.mapped.0, self.mapped.1) };
    }
}
