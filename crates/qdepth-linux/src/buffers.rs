//! Memory that requests transfer to and from: one mapping, a page-aligned piece for each slot.

use std::io;
use std::ptr::NonNull;

/// A huge page of x86-64; elsewhere merely an alignment.
const HUGE: usize = 2 << 20;

/// Pieces of memory, one for each slot.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    stride: usize,
    length: usize,
    /// Mapped memory, to be unmapped.
    mapped: (*mut libc::c_void, usize),
}

/// Addresses of the slots' buffers, for requests. Valid as long as the buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    base: NonNull<u8>,
    stride: usize,
}

impl Pieces {
    /// The piece of a slot.
    #[inline(always)]
    pub(crate) fn piece_ptr(self, slot: u32) -> *mut u8 {
        self.base.as_ptr().wrapping_add(slot as usize * self.stride)
    }
}

// SAFETY: an address; whoever writes through it must say why it may.
unsafe impl Send for Pieces {}

// SAFETY: the mapping belongs to this value alone; the kernel and the threads that are handed
// pieces use each piece for one request at a time.
unsafe impl Send for Buffers {}

impl Buffers {
    /// `count` pieces of `size` bytes, each beginning on a page.
    pub(crate) fn new(count: u32, size: u32) -> io::Result<Self> {
        let stride = (size.max(1) as usize).next_multiple_of(4096);
        let length = stride
            .checked_mul(count as usize)
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?
            .next_multiple_of(HUGE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // Room to begin on a huge page: the kernel then pins and maps 512 pages as one.
        let room = length + HUGE;
        // SAFETY: a new anonymous mapping aliases nothing.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), room, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = start.cast::<u8>().wrapping_add(start.addr().wrapping_neg() & (HUGE - 1));
        // SAFETY: inside the mapping. Where the kernel has no huge pages it says so, and small
        // ones do.
        unsafe { libc::madvise(base.cast(), length, libc::MADV_HUGEPAGE) };
        // SAFETY: inside the mapping; makes the pages now, so that no request meets a fault.
        unsafe { libc::madvise(base.cast(), length, libc::MADV_POPULATE_WRITE) };
        let base = NonNull::new(base).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { base, stride, length, mapped: (start, room) })
    }

    /// Addresses of the buffers.
    pub(crate) fn pieces(&self) -> Pieces {
        Pieces { base: self.base, stride: self.stride }
    }

    /// The piece of a slot, which the kernel must not be using.
    pub(crate) fn piece(&mut self, slot: u32) -> &mut [u8] {
        assert!((slot as usize + 1) * self.stride <= self.length, "a piece for each slot");
        let start = self.pieces().piece_ptr(slot);
        // SAFETY: inside the mapping, initialised, and borrowed mutably with the whole.
        unsafe { std::slice::from_raw_parts_mut(start, self.stride) }
    }

    /// The whole mapping, to be filled or registered.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is `length` bytes long, initialised to zero, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.length) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: start and length are those of the mapping that `new` made.
        unsafe { libc::munmap(self.mapped.0, self.mapped.1) };
    }
}
