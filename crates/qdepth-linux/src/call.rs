//! System calls within the loop, as inline instructions.
//!
//! On its way back the kernel clears the return address predictor (mitigations of Spectre, Retbleed
//! and SRSO). Each function that was entered before a system call and returns after it is therefore
//! mispredicted: 150 ns for every I/O (design 0007). For that reason everything from the loop down
//! to this module is `#[inline(always)]`; `cargo xtask bench instructions` checks this.

use std::ffi::c_long;

use rustix::io::Errno;

/// Makes a system call. A negative result is the negated error number.
///
/// # Safety
/// The arguments must be valid for the call.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn call(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer: isize;
    // SAFETY: guaranteed by the caller; the kernel changes no registers but those named (System V
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

/// Makes a system call. A negative result is the negated error number.
///
/// # Safety
/// The arguments must be valid for the call.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn call(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: guaranteed by the caller.
    let answer = unsafe { libc::syscall(number, a, b, c, d, e, f) } as isize;
    if answer >= 0 {
        return answer;
    }
    let errno = std::io::Error::last_os_error().raw_os_error();
    -(errno.unwrap_or(libc::EIO) as isize)
}

/// The error number in a negative result.
#[cold]
pub(crate) fn error(answer: isize) -> Errno {
    Errno::from_raw_os_error(answer.unsigned_abs() as i32)
}
