//! The kernel's monotonic clock and the thread's CPU time.

use qdepth_engine::CpuTime;
use qdepth_measure::{Instant, Nanos};
use rustix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC`, read through the vDSO (about 25 ns). Slewed by NTP by at most 500 ppm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

impl Clock {
    #[inline]
    pub(crate) fn now(self) -> Instant {
        let at = clock_gettime(ClockId::Monotonic);
        Instant(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
    }
}

/// CPU time of the calling thread (`getrusage(RUSAGE_THREAD)`), or of the whole process where
/// threads of ours do the I/O.
pub(crate) fn cpu_time(whole_process: bool) -> CpuTime {
    let who = if whole_process { libc::RUSAGE_SELF } else { libc::RUSAGE_THREAD };
    // SAFETY: an all-zero rusage is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage, which the call fills.
    let answer = unsafe { libc::getrusage(who, &raw mut usage) };
    if answer != 0 {
        return CpuTime::default();
    }
    let nanos =
        |t: libc::timeval| Nanos(t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1_000);
    CpuTime { user: nanos(usage.ru_utime), system: nanos(usage.ru_stime) }
}
