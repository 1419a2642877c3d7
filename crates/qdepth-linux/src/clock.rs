//! The kernel's monotonic clock, read from the CPU's time stamp counter if that is reliable, and
//! CPU times.

use std::sync::OnceLock;

use qdepth_engine::CpuTime;
use qdepth_measure::{Instant, Nanos};
use rustix::time::{ClockId, clock_gettime};

/// Time for the calibration of the counter with the kernel's clock, before its first use. Each end
/// is known within about 50 ns, so the rate is within 5 ppm. Drift becomes a finding at 0.05 %, a
/// hundred times that.
const CALIBRATION: Nanos = Nanos::from_millis(20);
/// Time before a deadline that is spent polling the clock: the kernel wakes a thread 5 to 50 µs
/// late, while one poll takes 0.2 µs.
pub(crate) const SPIN: Nanos = Nanos::from_micros(60);
/// Up to this number of completions, the stamp of the completions is also the issue stamp of the
/// next requests. Recording two completions takes about 30 ns, so a latency is at most that much
/// too long, and never too short.
pub(crate) const FEW: usize = 2;
/// Number of readings, of which the one with the shortest interval between its two counter values
/// is used.
const TRIES: u32 = 9;

/// `CLOCK_MONOTONIC`, slewed by NTP by at most 500 ppm. A reading from the counter takes about 8
/// ns, from the vDSO 25 ns (measured); two are made per batch of completions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    counter: Option<Counter>,
}

/// Linear map from the counter to the kernel's clock.
#[derive(Clone, Copy, Debug)]
struct Counter {
    ticks: u64,
    nanos: u64,
    /// Nanoseconds per tick, times 2^32.
    rate: u64,
}

/// Source of stamps, and its accuracy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockCheck {
    /// `tsc` or `clock_gettime`.
    pub source: &'static str,
    /// Nanoseconds since the clock was calibrated.
    pub over: Nanos,
    /// Lead of the counter over `CLOCK_MONOTONIC` in that time, ns.
    pub ahead_ns: i64,
}

impl Clock {
    /// The process's clock; the first call calibrates it.
    pub(crate) fn get() -> Self {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(|| Self { counter: trusted().then(calibrate) })
    }

    #[inline]
    pub(crate) fn now(self) -> Instant {
        match self.counter {
            Some(counter) => counter.now(),
            None => kernel_clock(),
        }
    }

    /// Compares the counter with the kernel's clock.
    pub(crate) fn check(self) -> ClockCheck {
        let Some(counter) = self.counter else {
            return ClockCheck { source: "clock_gettime", over: Nanos::ZERO, ahead_ns: 0 };
        };
        let (ticks, nanos) = both();
        ClockCheck {
            source: "tsc",
            over: Nanos(nanos.saturating_sub(counter.nanos)),
            ahead_ns: counter.at(ticks).0 as i64 - nanos as i64,
        }
    }
}

impl Counter {
    #[inline]
    fn now(self) -> Instant {
        self.at(ticks())
    }

    #[inline]
    fn at(self, ticks: u64) -> Instant {
        // A counter value before the calibration, as another core may have, counts as the
        // calibration's.
        let passed = ticks.saturating_sub(self.ticks);
        let nanos = (u128::from(passed) * u128::from(self.rate)) >> 32;
        Instant(self.nanos + nanos as u64)
    }
}

/// Current time by the clock that stamps completions.
pub fn now() -> Instant {
    Clock::get().now()
}

#[cold]
fn kernel_clock() -> Instant {
    let at = clock_gettime(ClockId::Monotonic);
    Instant(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

fn calibrate() -> Counter {
    let (first_ticks, first_nanos) = both();
    loop {
        let (ticks, nanos) = both();
        let passed = nanos - first_nanos;
        if passed >= CALIBRATION.0 {
            let rate = (u128::from(passed) << 32) / u128::from((ticks - first_ticks).max(1));
            return Counter { ticks, nanos, rate: rate as u64 };
        }
    }
}

/// The counter and the kernel's clock at the same moment.
fn both() -> (u64, u64) {
    let sample = |_| {
        let before = ticks();
        let nanos = kernel_clock().0;
        let after = ticks();
        (after.saturating_sub(before), before + after.saturating_sub(before) / 2, nanos)
    };
    let best = (0..TRIES).map(sample).min_by_key(|reading| reading.0);
    best.map_or((0, 0), |(_, ticks, nanos)| (ticks, nanos))
}

/// True if the counter has a constant rate in every state of the CPU, and the kernel itself, or the
/// hypervisor below it, uses it as its clock.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::disallowed_methods, reason = "a file of sysfs, by its one name")]
fn trusted() -> bool {
    const INVARIANT: u32 = 1 << 8;
    let highest = core::arch::x86_64::__cpuid(0x8000_0000).eax;
    // AMD64 Architecture Programmer's Manual 3, E.4.7; Intel SDM 2A, CPUID: invariant TSC.
    let invariant =
        highest >= 0x8000_0007 && core::arch::x86_64::__cpuid(0x8000_0007).edx & INVARIANT != 0;
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source).unwrap_or_default();
    invariant && ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"].contains(&source.trim())
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction, and Linux permits it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn trusted() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

/// CPU time of the calling thread (`getrusage(RUSAGE_THREAD)`), or of the whole process for engines
/// whose threads do the I/O.
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
    let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
    CpuTime {
        user: nanos(usage.ru_utime),
        system: nanos(usage.ru_stime),
        switches: count(usage.ru_nvcsw) + count(usage.ru_nivcsw),
        faults: [count(usage.ru_majflt), count(usage.ru_minflt)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_follows_the_kernel_clock() {
        let clock = Clock::get();
        let (mut last, end) = (clock.now(), kernel_clock() + Nanos::from_millis(50));
        while kernel_clock() < end {
            let now = clock.now();
            assert!(now >= last, "time never goes back");
            last = now;
        }
        let check = clock.check();
        if check.source == "tsc" {
            let allowed = check.over.0 as i64 / 2000 + 100_000;
            assert!(check.ahead_ns.abs() < allowed, "{check:?}");
        }
    }
}
