//! Allocator settings, and the end of the process when memory is exhausted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{IoSlice, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, for a program that ends with a message when memory is exhausted. The
/// standard library would abort without one.
#[derive(Debug)]
pub struct Memory;

/// Freed bytes at the end of a heap that stay with the process.
#[cfg(target_env = "gnu")]
const KEPT: i32 = 256 << 20;
/// Bytes by which a heap grows at a time.
#[cfg(target_env = "gnu")]
const GROWS_BY: i32 = 16 << 20;
/// Blocks below this size come from a heap. This is the largest value that the allocator accepts.
#[cfg(target_env = "gnu")]
const FROM_HEAP: i32 = 32 << 20;

/// Keeps freed memory in the process while many short points are emulated. Each has histograms of
/// 0.7 MB, and returning them to the kernel took as long as the emulation (35 of 73 s for the
/// published arrays of the P3700, 2 of 38 s with this setting). Only affects the allocator of the
/// GNU C library.
pub fn keep_freed() {
    #[cfg(target_env = "gnu")]
    for (option, bytes) in [
        (libc::M_TRIM_THRESHOLD, KEPT),
        (libc::M_TOP_PAD, GROWS_BY),
        (libc::M_MMAP_THRESHOLD, FROM_HEAP),
    ] {
        // SAFETY: the call takes only numbers, which the allocator accepts at any time.
        unsafe { libc::mallopt(option, bytes) };
    }
}

/// Exit status of work that began and could not be completed.
const FAILED: i32 = 4;

// SAFETY: every call is passed on unchanged to the system's allocator, and so is its result, unless
// there is none: then this process ends.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what this call requires.
        or_exit(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { System.realloc(at, layout, size) }, size)
    }
}

fn or_exit(at: *mut u8, bytes: usize) -> *mut u8 {
    if at.is_null() { ended(bytes) } else { at }
}

/// Reports the failed allocation without allocating, and ends the process.
#[cold]
fn ended(bytes: usize) -> ! {
    // As many digits as the largest number has.
    let mut digits = [0_u8; 20];
    let mut rest = &mut digits[..];
    let _ = write!(rest, "{bytes}");
    let unused = rest.len();
    end_with(&[
        IoSlice::new(b"qdepth: there is no memory for another "),
        IoSlice::new(&digits[..digits.len() - unused]),
        IoSlice::new(
            b" bytes: a limit of this process (`ulimit -v`), of its control group or of the \
              machine. The finished points are in the logbook: raise the limit, or use a lower \
              --queue-depth or --block-size, then continue with `qdepth run --resume`\n",
        ),
    ])
}

/// Ends a process that its C library aborts with a message and the status of a failure. For
/// example, the library aborts a thread that finds no memory for its thread-local variables,
/// without a call of the allocator.
pub fn explain_aborts() {
    let handler: extern "C" fn(libc::c_int) = aborted;
    // SAFETY: the handler makes only system calls, and allocates nothing.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}

extern "C" fn aborted(_signal: libc::c_int) {
    end_with(&[IoSlice::new(
        b"qdepth: this process was aborted; a line above may explain why. Often memory has run \
        out: a limit of this process (`ulimit -v`), of its control group or of the machine. The \
        finished points are in the logbook: raise the limit, then `qdepth run --resume`\n",
    )])
}

/// Writes the message to standard error in one piece, and ends the process. If several threads run
/// out of memory at the same time, only one writes.
fn end_with(parts: &[IoSlice<'_>]) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        loop {
            std::thread::yield_now();
        }
    }
    let _ = rustix::io::writev(rustix::stdio::stderr(), parts);
    // SAFETY: exits without running code that needs memory.
    unsafe { libc::_exit(FAILED) }
}
