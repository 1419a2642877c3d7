//! Buffers of requests: one memory mapping, with a page-aligned piece for each slot.

use std::io;
use std::ptr::NonNull;

/// Size of a huge page on x86-64; on other CPUs only an alignment.
const HUGE: usize = 2 << 20;

/// Owner of the buffers.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    stride: usize,
    length: usize,
    /// Address and length of the mapping, for `munmap`.
    mapped: (*mut libc::c_void, usize),
}

/// Addresses of the buffers, for engines. Valid as long as the buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    base: NonNull<u8>,
    stride: usize,
}

impl Pieces {
    /// Address of a slot's buffer.
    #[inline(always)]
    pub(crate) fn piece_ptr(self, slot: u32) -> *mut u8 {
        self.base.as_ptr().wrapping_add(slot as usize * self.stride)
    }
}

// SAFETY: only an address; code that writes through it must justify that itself.
unsafe impl Send for Pieces {}

// SAFETY: this value owns the mapping alone; the kernel and the threads that get pieces use each
// piece for one request at a time.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Allocates `count` pieces of `size` bytes, each starting at a page boundary.
    pub(crate) fn new(count: u32, size: u32) -> io::Result<Self> {
        let stride = (size.max(1) as usize).next_multiple_of(4096);
        let length = stride
            .checked_mul(count as usize)
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
        Ok(Self { base, stride, length, mapped: (start, room) })
    }

    /// Addresses of the buffers.
    pub(crate) fn pieces(&self) -> Pieces {
        Pieces { base: self.base, stride: self.stride }
    }

    /// The buffer of a slot. The kernel must not be using it.
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
