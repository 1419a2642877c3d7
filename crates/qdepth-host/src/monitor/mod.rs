//! Counters of devices and CPUs, sampled during a point.

mod clocks;
mod disk;
mod power;
mod processes;
mod sample;

use std::io;

use qdepth_record::KernelCounts;

use crate::sysfs::{self, SECTOR_BYTES};
use crate::system::System;

pub use clocks::{Clocks, Disagreement};
pub use disk::disks_of;
pub use power::Power;
pub use processes::Processes;
pub use sample::{Interference, Sample, between, dirtied_bytes, interference, series};

/// Counters of one block device since its attachment (`/sys/class/block/DEV/stat`,
/// Documentation/block/stat.rst).
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
    /// Time with at least one request in flight, milliseconds.
    pub busy_ms: u64,
    /// Sum over all requests of their time in flight, milliseconds.
    pub waited_ms: u64,
    /// Reads and writes that were merged into others.
    pub merged: [u64; 2],
    /// Sums of the times in flight of reads and of writes, milliseconds.
    pub in_flight_ms: [u64; 2],
}

impl KernelStat {
    /// Reads the counters of a disk or partition.
    ///
    /// # Errors
    /// The error of the system; `ENODATA` if the counters are switched off (`queue/iostats`), or
    /// [`io::ErrorKind::InvalidData`] for an unknown format.
    pub fn read(system: &System, kernel_name: &str) -> io::Result<Self> {
        let path = format!("/sys/class/block/{kernel_name}/stat");
        let disk = sysfs::whole_of(system, kernel_name).unwrap_or_else(|| kernel_name.to_owned());
        if sysfs::number_attribute(system, &disk, "queue/iostats") == Some(0) {
            // The counters are switched off, which does not mean that there was no I/O.
            return Err(rustix::io::Errno::NODATA.into());
        }
        Self::parse(&system.read_file(&path)?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, path))
    }

    /// Parses the text of a `stat` file; `None` if it has fewer than ten numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let fields: Option<Vec<u64>> = text.split_whitespace().map(|f| f.parse().ok()).collect();
        let fields = fields?;
        Some(Self {
            reads: *fields.first()?,
            read_sectors: *fields.get(2)?,
            writes: *fields.get(4)?,
            written_sectors: *fields.get(6)?,
            busy_ms: *fields.get(9)?,
            waited_ms: fields.get(10).copied().unwrap_or(0),
            merged: [*fields.get(1)?, *fields.get(5)?],
            in_flight_ms: [*fields.get(3)?, *fields.get(7)?],
        })
    }

    /// Counts from `earlier` to this reading. A counter that decreased (the device was reattached)
    /// counts as zero.
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
    /// Total time, idle time included.
    pub total: u64,
    /// Time idle, or waiting for I/O.
    pub idle: u64,
    /// Time taken by the hypervisor.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads the sum over all CPUs.
    ///
    /// # Errors
    /// The error of the system, or [`io::ErrorKind::InvalidData`] for an unknown format.
    pub fn read(system: &System) -> io::Result<Self> {
        Self::parse(&system.read_file("/proc/stat")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/stat"))
    }

    /// Parses the first line of `/proc/stat`; `None` for another format.
    pub fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let fields: Option<Vec<u64>> = line.split_whitespace().map(|f| f.parse().ok()).collect();
        let fields = fields?;
        let steal = *fields.get(7)?;
        // User time already includes guest time.
        let total = fields[..8].iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        Some(Self { total, idle: fields[3].saturating_add(fields[4]), steal })
    }

    /// The share (0..1) of CPU time stolen from `earlier` to this reading; `None` if no tick
    /// passed.
    pub fn steal_share_since(&self, earlier: &Self) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|ticks| *ticks > 0)?;
        Some(self.steal.saturating_sub(earlier.steal) as f64 / total as f64)
    }
}
