//! All that the kernel counts of a disk, as `iostat` and fio tell it.

use std::io;

use super::Clocks;
use crate::sysfs::{number_of, whole_of};
use crate::system::System;
use crate::target::Inspected;

/// Numbers of `/sys/class/block/DEV/stat` up to the time of all requests.
const FIELDS: usize = 11;

/// Counters of a disk since it came up (Documentation/block/stat.rst), and when they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCounters {
    name: String,
    fields: [u64; FIELDS],
    /// By the monotonic clock.
    at_ns: u64,
}

/// What a disk did from one reading to another: reads, then writes.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskActivity {
    /// The kernel's name of it.
    pub name: String,
    /// Requests completed.
    pub completed: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Requests that were merged into others.
    pub merged: [u64; 2],
    /// Time in flight, ms.
    pub in_flight_ms: [u64; 2],
    /// The same of all requests together, ms.
    pub waited_ms: u64,
    /// Share of the time with a request in flight, per cent.
    pub busy_percent: f64,
}

/// The disks whose counters show the I/O of these targets, each once; of a partition its disk.
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
    /// Reads them now.
    ///
    /// # Errors
    /// What the system answered, or [`io::ErrorKind::InvalidData`] for a text of another form.
    pub fn read(system: &System, name: &str) -> io::Result<Self> {
        let path = format!("/sys/class/block/{name}/stat");
        let text = system.read_file(&path)?;
        let numbers = text.split_whitespace().map_while(|field| field.parse().ok());
        let fields: Vec<u64> = numbers.take(FIELDS).collect();
        let fields = fields
            .try_into()
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, path.clone()))?;
        Ok(Self { name: name.to_owned(), fields, at_ns: Clocks::read().monotonic })
    }

    /// Whether both are of one disk.
    pub fn is_of_disk(&self, other: &Self) -> bool {
        self.name == other.name
    }

    /// What the disk did since `earlier`. A counter that went back counts as nothing.
    pub fn since(&self, earlier: &Self) -> DiskActivity {
        let passed = |place: usize| self.fields[place].saturating_sub(earlier.fields[place]);
        let both = |place: usize| [passed(place), passed(place + 4)];
        let over_ms = self.at_ns.saturating_sub(earlier.at_ns).max(1) as f64 / 1e6;
        DiskActivity {
            name: self.name.clone(),
            completed: both(0),
            merged: both(1),
            sectors: both(2),
            in_flight_ms: both(3),
            waited_ms: passed(10),
            busy_percent: (passed(9) as f64 / over_ms * 100.0).min(100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_between_two_readings_is_told_and_a_counter_that_went_back_is_not() {
        let read = |fields: [u64; FIELDS], at_ms: u64| DiskCounters {
            name: "sda".to_owned(),
            fields,
            at_ns: at_ms * 1_000_000,
        };
        let earlier = read([100, 5, 800, 40, 10, 1, 80, 9, 0, 60, 70], 1_000);
        let later = read([350, 6, 2800, 90, 7, 4, 280, 19, 3, 560, 130], 2_000);
        let told = later.since(&earlier);
        assert_eq!((told.completed, told.merged), ([250, 0], [1, 3]));
        assert_eq!((told.sectors, told.in_flight_ms), ([2000, 200], [50, 10]));
        assert_eq!((told.waited_ms, told.busy_percent), (60, 50.0));
    }
}
