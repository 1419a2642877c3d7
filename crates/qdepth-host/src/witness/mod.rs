//! What else happened: the kernel's counters of a device and of the CPUs, before and after.

use std::io;

use qdepth_logbook::record::KernelCounts;

use crate::sysfs::SECTOR_BYTES;
use crate::system::System;

/// The counters of one block device (`/sys/class/block/DEV/stat`, Documentation/block/stat.rst),
/// since the device came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelStat {
    /// Reads completed.
    pub reads: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Writes completed.
    pub writes: u64,
    /// Sectors of 512 bytes written.
    pub written_sectors: u64,
    /// Requests in flight now.
    pub in_flight: u64,
    /// Time with at least one request in flight, milliseconds.
    pub busy_ms: u64,
}

impl KernelStat {
    /// Reads the counters of a disk or partition.
    ///
    /// # Errors
    /// What the system answered, or [`io::ErrorKind::InvalidData`] for a text of another form.
    pub fn read(system: &System, kernel_name: &str) -> io::Result<Self> {
        let path = format!("/sys/class/block/{kernel_name}/stat");
        Self::parse(&system.read_file(&path)?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, path))
    }

    /// Reads the text of a `stat` file; none where it has fewer than ten numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let fields: Option<Vec<u64>> = text.split_whitespace().map(|f| f.parse().ok()).collect();
        let fields = fields?;
        Some(Self {
            reads: *fields.first()?,
            read_sectors: *fields.get(2)?,
            writes: *fields.get(4)?,
            written_sectors: *fields.get(6)?,
            in_flight: *fields.get(8)?,
            busy_ms: *fields.get(9)?,
        })
    }

    /// What was counted from `earlier` to this reading. A counter that went back (the device was
    /// attached anew) counts as nothing.
    pub fn since(&self, earlier: &Self) -> KernelCounts {
        let bytes = |now: u64, then: u64| now.saturating_sub(then).saturating_mul(SECTOR_BYTES);
        KernelCounts {
            reads: self.reads.saturating_sub(earlier.reads),
            read_bytes: bytes(self.read_sectors, earlier.read_sectors),
            writes: self.writes.saturating_sub(earlier.writes),
            written_bytes: bytes(self.written_sectors, earlier.written_sectors),
        }
    }
}

/// Time of all CPUs together since boot (`/proc/stat`), in clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All of it, idle included.
    pub total: u64,
    /// Idle, or waiting for I/O.
    pub idle: u64,
    /// Taken by the hypervisor for others.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads the sum over all CPUs.
    ///
    /// # Errors
    /// What the system answered, or [`io::ErrorKind::InvalidData`] for a text of another form.
    pub fn read(system: &System) -> io::Result<Self> {
        Self::parse(&system.read_file("/proc/stat")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/stat"))
    }

    /// Reads the first line of `/proc/stat`; none where it is not of that form.
    pub fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let fields: Option<Vec<u64>> = line.split_whitespace().map(|f| f.parse().ok()).collect();
        let fields = fields?;
        let steal = *fields.get(7)?;
        // Guest time is contained in user time already.
        let total = fields[..8].iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        Some(Self { total, idle: fields[3].saturating_add(fields[4]), steal })
    }

    /// The share (0..1) of CPU time stolen from `earlier` to this reading; none where no tick
    /// passed.
    pub fn steal_share_since(&self, earlier: &Self) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|ticks| *ticks > 0)?;
        Some(self.steal.saturating_sub(earlier.steal) as f64 / total as f64)
    }
}

/// One moment on three of the kernel's clocks (clock_gettime(2)), ns. Nothing is measured with
/// them: they tell whether the clock that measures can be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// `CLOCK_MONOTONIC`, which measures, and which NTP may slew by 0.05 %.
    pub monotonic: u64,
    /// `CLOCK_MONOTONIC_RAW`, which nobody slews.
    pub raw: u64,
    /// `CLOCK_BOOTTIME`, which goes on while the machine is suspended.
    pub boot: u64,
    /// How long the three readings took: they agree no better than that.
    pub spread: u64,
}

/// How the clocks came apart between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disagreement {
    /// Difference between the measuring clock and the raw one, as a share (0..) of the time.
    pub drift: f64,
    /// Whether the machine was suspended for over 1 ms.
    pub suspended: bool,
}

impl Clocks {
    /// Reads them close together: of some tries the closest, since the thread may be stopped
    /// between two readings.
    pub fn read() -> Self {
        use rustix::time::{ClockId, Timespec, clock_gettime};
        let ns = |id| {
            let Timespec { tv_sec, tv_nsec } = clock_gettime(id);
            u64::try_from(tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(tv_nsec).unwrap_or(0)
        };
        let once = |_| {
            let monotonic = ns(ClockId::Monotonic);
            let (raw, boot) = (ns(ClockId::MonotonicRaw), ns(ClockId::Boottime));
            Self { monotonic, raw, boot, spread: ns(ClockId::Monotonic).saturating_sub(monotonic) }
        };
        (0..5).map(once).min_by_key(|clocks| clocks.spread).unwrap_or_default()
    }

    /// What came apart from `earlier` to this moment, beyond what the readings are unsure of.
    pub fn disagreement_since(&self, earlier: &Self) -> Disagreement {
        let unsure = self.spread + earlier.spread;
        let passed = |now: u64, then: u64| now.saturating_sub(then);
        let monotonic = passed(self.monotonic, earlier.monotonic);
        let raw = passed(self.raw, earlier.raw);
        let boot = passed(self.boot, earlier.boot);
        let apart = monotonic.abs_diff(raw).saturating_sub(unsure);
        Disagreement {
            drift: apart as f64 / raw.max(1) as f64,
            suspended: boot.saturating_sub(monotonic).saturating_sub(unsure) > 1_000_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Clocks = Clocks { monotonic: 5, raw: 7, boot: 9, spread: 100 };

    fn after(monotonic: u64, raw: u64, boot: u64) -> Disagreement {
        let later = Clocks {
            monotonic: START.monotonic + monotonic,
            raw: START.raw + raw,
            boot: START.boot + boot,
            spread: 100,
        };
        later.disagreement_since(&START)
    }

    #[test]
    fn drift_and_suspension_are_told_apart() {
        let second = 1_000_000_000;
        assert_eq!(after(second, second + 200, second), Disagreement::default());
        let slewed = after(second, second + 2_000_200, second);
        assert!((slewed.drift - 0.002).abs() < 1e-5 && !slewed.suspended, "{slewed:?}");
        assert!(after(second, second, 3 * second).suspended);
        assert!(!after(second, second, second + 900_000).suspended);
    }

    #[test]
    fn clocks_of_this_machine_agree_over_no_time() {
        let first = Clocks::read();
        assert!(!Clocks::read().disagreement_since(&first).suspended);
        assert!(first.monotonic > 0 && first.boot >= first.monotonic);
    }
}
