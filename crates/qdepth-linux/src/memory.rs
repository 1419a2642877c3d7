//! Behaviour at the end of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, for a program that ends in words where it has nothing left to give: the
/// standard library would abort without any.
#[derive(Debug)]
pub struct Memory;

/// So many bytes at the end of a heap stay with the process when they are freed.
#[cfg(target_env = "gnu")]
const KEPT: i32 = 256 << 20;
/// A heap grows by so many bytes at a time.
#[cfg(target_env = "gnu")]
const GROWS_BY: i32 = 16 << 20;
/// Smaller blocks come from a heap: as many bytes as the allocator takes for this limit.
#[cfg(target_env = "gnu")]
const FROM_HEAP: i32 = 32 << 20;

/// Freed memory stays in the process while many short points are emulated: each has histograms of
/// 0.7 MB, and returning them to the kernel took as long as the emulation (35 of 73 s for the
/// published arrays of the P3700, 2 of 38 s with this). Only the allocator of the GNU C library is
/// configured.
pub fn keep_freed() {
    #[cfg(target_env = "gnu")]
    for (option, bytes) in [
        (libc::M_TRIM_THRESHOLD, KEPT),
        (libc::M_TOP_PAD, GROWS_BY),
        (libc::M_MMAP_THRESHOLD, FROM_HEAP),
    ] {
        // SAFETY: numbers alone are handed over, which the allocator takes at any time.
        unsafe { libc::mallopt(option, bytes) };
    }
}

/// The exit status of what began and could not end.
const FAILED: i32 = 4;

// SAFETY: every call is passed on to the system's allocator as it came; what comes back is passed
// on, too, unless there is none: then this process has ended.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that this needs.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.realloc(at, layout, size) }, size)
    }
}

fn given(at: *mut u8, bytes: usize) -> *mut u8 {
    if at.is_null() { ended(bytes) } else { at }
}

/// Says so without allocating, and ends.
#[cold]
fn ended(bytes: usize) -> ! {
    let mut digits = [0; 20];
    end_with(&[
        IoSlice::new(b"qdepth: there is no memory for another "),
        IoSlice::new(decimal(bytes, &mut digits)),
        IoSlice::new(
            b" bytes: a limit of this process (`ulimit -v`), of its control group or of the \
              machine. What was finished before is kept in the logbook; raise the limit, or ask \
              for less at a time (--queue-depth, --block-size), then `qdepth run --resume`\n",
        ),
    ])
}

/// Lets a process that its C library aborts end with a message and the status of a failure. A
/// thread that finds no memory for its own variables is aborted without a call of the allocator.
pub fn explain_aborts() {
    let handler: extern "C" fn(libc::c_int) = aborted;
    // SAFETY: the handler calls system calls alone, and allocates nothing.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}

extern "C" fn aborted(_signal: libc::c_int) {
    end_with(&[IoSlice::new(
        b"qdepth: this process was aborted; a line above may say why. Often memory has run out: \
        a limit of this process (`ulimit -v`), of its control group or of the machine. What was \
        finished before is kept in the logbook; raise the limit, then `qdepth run --resume`\n",
    )])
}

/// Writes the message to standard error in one piece, and ends the process. Of threads that run out
/// of memory at the same time one speaks.
fn end_with(parts: &[IoSlice<'_>]) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        loop {
            std::thread::yield_now();
        }
    }
    let _ = rustix::io::writev(rustix::stdio::stderr(), parts);
    // SAFETY: nothing runs on the way out that would need memory.
    unsafe { libc::_exit(FAILED) }
}

fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[from..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_without_memory() {
        for number in [0, 7, 1 << 30, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
