//! All kernel counters of a disk, like those of `iostat` and fio.

use std::io;

use super::{Clocks, KernelStat};
use crate::sysfs::{number_of, whole_of};
use crate::system::System;
use crate::target::Inspected;

/// Counters of a disk since its attachment, and the time of their reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCounters {
    name: String,
    stat: KernelStat,
    /// Time of the reading by the monotonic clock.
    at_ns: u64,
}

/// Activity of a disk between two readings: reads, then writes.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskActivity {
    /// Kernel name of the disk.
    pub name: String,
    /// Requests completed.
    pub completed: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Requests that were merged into others.
    pub merged: [u64; 2],
    /// Time in flight, ms.
    pub in_flight_ms: [u64; 2],
    /// Time in flight of all requests together, ms.
    pub waited_ms: u64,
    /// Share of the time with a request in flight, per cent.
    pub busy_percent: f64,
}

/// Disks whose counters include the I/O of these targets, each once; for a partition its disk.
pub fn disks_of<'a>(
    system: &System,
    targets: impl IntoIterator<Item = &'a Inspected>,
) -> Vec<String> {
    let mut names = Vec::new();
    for device in targets.into_iter().flat_map(Inspected::devices) {
        let disk = whole_of(system, &device).unwrap_or(device);
        if !names.contains(&disk) && number_of(system, &disk).is_some() {
            names.push(disk);
        }
    }
    names
}

impl DiskCounters {
    /// Reads the counters.
    ///
    /// # Errors
    /// Like [`KernelStat::read`].
    pub fn read(system: &System, name: &str) -> io::Result<Self> {
        let stat = KernelStat::read(system, name)?;
        Ok(Self { name: name.to_owned(), stat, at_ns: Clocks::read().monotonic })
    }

    /// True if both readings are of the same disk.
    pub fn is_of_disk(&self, other: &Self) -> bool {
        self.name == other.name
    }

    /// Activity of the disk since `earlier`. A counter that decreased counts as zero.
    pub fn since(&self, earlier: &Self) -> DiskActivity {
        let (now, then) = (&self.stat, &earlier.stat);
        let both = |now: [u64; 2], then: [u64; 2]| [0, 1].map(|k| now[k].saturating_sub(then[k]));
        let over_ms = self.at_ns.saturating_sub(earlier.at_ns).max(1) as f64 / 1e6;
        let busy_ms = now.busy_ms.saturating_sub(then.busy_ms);
        let sectors = |stat: &KernelStat| [stat.read_sectors, stat.written_sectors];
        DiskActivity {
            name: self.name.clone(),
            completed: both([now.reads, now.writes], [then.reads, then.writes]),
            merged: both(now.merged, then.merged),
            sectors: both(sectors(now), sectors(then)),
            in_flight_ms: both(now.in_flight_ms, then.in_flight_ms),
            waited_ms: now.waited_ms.saturating_sub(then.waited_ms),
            busy_percent: (busy_ms as f64 / over_ms * 100.0).min(100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_counters_are_subtracted_without_negative_results() {
        let read = |fields: [u64; 11], at_ms: u64| DiskCounters {
            name: "sda".to_owned(),
            stat: KernelStat::parse(&fields.map(|field| field.to_string()).join(" ")).unwrap(),
            at_ns: at_ms * 1_000_000,
        };
        let earlier = read([100, 5, 800, 40, 10, 1, 80, 9, 0, 60, 70], 1_000);
        let later = read([350, 6, 2800, 90, 7, 4, 280, 19, 3, 560, 130], 2_000);
        let activity = later.since(&earlier);
        assert_eq!((activity.completed, activity.merged), ([250, 0], [1, 3]));
        assert_eq!((activity.sectors, activity.in_flight_ms), ([2000, 200], [50, 10]));
        assert_eq!((activity.waited_ms, activity.busy_percent), (60, 50.0));
    }
}
