//! System calls within the loop, as the instruction itself.
//!
//! The kernel empties the predictor of return addresses on its way back (mitigations of Spectre,
//! Retbleed, SRSO), so each function that was entered before a call and returns after it is
//! mispredicted: 150 ns for every I/O (design 0007). All from the loop down to here is therefore
//! `#[inline(always)]`, and `cargo xtask bench instructions` holds the program to it.

use std::ffi::c_long;

use rustix::io::Errno;

/// A system call; negative where the kernel refused it: the error number.
///
/// # Safety
/// The arguments must be what the call asks for.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn call(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer: isize;
    // SAFETY: as the caller promises; the kernel changes no registers but those named (System V
    // ABI, AMD64 supplement, A.2.1), and does not touch the stack.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

/// A system call; negative where the kernel refused it: the error number.
///
/// # Safety
/// The arguments must be what the call asks for.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn call(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: as the caller promises.
    let answer = unsafe { libc::syscall(number, a, b, c, d, e, f) } as isize;
    if answer >= 0 {
        return answer;
    }
    let errno = std::io::Error::last_os_error().raw_os_error();
    -(errno.unwrap_or(libc::EIO) as isize)
}

/// The error that a negative answer stands for.
#[cold]
pub(crate) fn error(answer: isize) -> Errno {
    Errno::from_raw_os_error(answer.unsigned_abs() as i32)
}
