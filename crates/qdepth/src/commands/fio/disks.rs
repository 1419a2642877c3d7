//! Observer of fio's jobs: counters of the disks below them, and the I/Os for its logs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use qdepth_foreign::fio::{FioDisk, FioIo};
use qdepth_host::monitor::{Clocks, KernelStat, disks_of};
use qdepth_host::system::System;
use qdepth_host::target::Inspected;
use qdepth_lab::events::observer::{Observer, RecordedIo};
use qdepth_lab::target::prepare::{ResolvedTarget, find};
use qdepth_record::RunEvent;
use qdepth_workload::{Direction, Point};

use crate::screen::Screen;

/// Kernel counters of a disk, like those of `iostat`, and the time of their reading.
struct DiskReading {
    name: String,
    stat: KernelStat,
    /// Time by the monotonic clock.
    at_ns: u64,
}

/// Observer that forwards events to the screen and samples the disk counters.
pub(super) struct Watcher<'a> {
    screen: &'a Screen,
    system: System,
    disks: Vec<String>,
    first: RefCell<Vec<DiskReading>>,
    last: RefCell<Vec<DiskReading>>,
    /// True if single I/Os are logged.
    logs_ios: bool,
    /// I/Os of each point, with offsets from the start of its area.
    ios: RefCell<BTreeMap<u32, Vec<FioIo>>>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(screen: &'a Screen, targets: &[String], logs_ios: bool) -> Self {
        let system = System::real();
        let found: Vec<ResolvedTarget> =
            targets.iter().filter_map(|target| find(&system, Path::new(target)).ok()).collect();
        let real: Vec<&Inspected> = found.iter().filter_map(ResolvedTarget::real).collect();
        let disks = disks_of(&system, real);
        let (first, last, ios) = Default::default();
        Self { screen, system, disks, first, last, logs_ios, ios }
    }

    fn read(&self) -> Vec<DiskReading> {
        // A disk that is no longer readable is omitted.
        let reading = |name: &String| {
            let stat = KernelStat::read(&self.system, name).ok()?;
            Some(DiskReading { name: name.clone(), stat, at_ns: Clocks::read().monotonic })
        };
        self.disks.iter().filter_map(reading).collect()
    }

    /// Calls `export` with the I/Os of a point, in the order of completion.
    pub(super) fn with_ios<T>(&self, point: u32, export: impl FnOnce(&[FioIo]) -> T) -> T {
        let mut all = self.ios.borrow_mut();
        let ios = all.entry(point).or_default();
        ios.sort_by_key(|io| io.completed_ns);
        export(ios)
    }

    /// Difference between the last and the first counters of each disk.
    pub(super) fn counters(&self) -> Vec<FioDisk> {
        let (first, last) = (self.first.borrow(), self.last.borrow());
        let of_disk = |last: &DiskReading| {
            Some(activity(first.iter().find(|first| first.name == last.name)?, last))
        };
        last.iter().filter_map(of_disk).collect()
    }
}

/// Activity of a disk between two readings. A counter that decreased counts as zero.
fn activity(then: &DiskReading, now: &DiskReading) -> FioDisk {
    let risen =
        |counter: fn(&KernelStat) -> u64| counter(&now.stat).saturating_sub(counter(&then.stat));
    let over_ms = now.at_ns.saturating_sub(then.at_ns).max(1) as f64 / 1e6;
    FioDisk {
        name: now.name.clone(),
        read_ios: risen(|stat| stat.reads),
        write_ios: risen(|stat| stat.writes),
        read_sectors: risen(|stat| stat.read_sectors),
        write_sectors: risen(|stat| stat.written_sectors),
        read_merges: risen(|stat| stat.merged[0]),
        write_merges: risen(|stat| stat.merged[1]),
        read_ticks: risen(|stat| stat.in_flight_ms[0]),
        write_ticks: risen(|stat| stat.in_flight_ms[1]),
        in_queue: risen(|stat| stat.waited_ms),
        util: (risen(|stat| stat.busy_ms) as f64 / over_ms * 100.0).min(100.0),
    }
}

fn as_logged(io: &RecordedIo, first: u64) -> FioIo {
    FioIo {
        completed_ns: io.completed.0,
        latency_ns: io.latency.0,
        direction: match io.request.direction {
            Direction::Read => 0,
            Direction::Write | Direction::Sync => 1,
            Direction::Trim => 2,
        },
        offset: io.request.offset.saturating_sub(first),
        size: io.request.size,
        priority: io.priority,
    }
}

impl Observer for Watcher<'_> {
    fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::PointStarted(_) if self.first.borrow().is_empty() => {
                self.first.replace(self.read());
            }
            RunEvent::PointEnded(_) => {
                self.last.replace(self.read());
            }
            _ => {}
        }
        self.screen.event(event);
    }

    fn ask(&self, question: &str) -> Option<String> {
        self.screen.ask(question)
    }

    fn wants_ios(&self) -> bool {
        self.logs_ios
    }

    fn ios(&self, point: &Point, ios: Vec<RecordedIo>) {
        let first = point.area.offset_bytes;
        let mut all = self.ios.borrow_mut();
        let all = all.entry(point.index).or_default();
        all.extend(ios.iter().map(|io| as_logged(io, first)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_counters_are_subtracted_without_negative_results() {
        let read = |fields: [u64; 11], at_ms: u64| DiskReading {
            name: "sda".to_owned(),
            stat: KernelStat::parse(&fields.map(|field| field.to_string()).join(" ")).unwrap(),
            at_ns: at_ms * 1_000_000,
        };
        let earlier = read([100, 5, 800, 40, 10, 1, 80, 9, 0, 60, 70], 1_000);
        let later = read([350, 6, 2800, 90, 7, 4, 280, 19, 3, 560, 130], 2_000);
        let disk = activity(&earlier, &later);
        assert_eq!([disk.read_ios, disk.write_ios], [250, 0]);
        assert_eq!([disk.read_merges, disk.write_merges], [1, 3]);
        assert_eq!([disk.read_sectors, disk.write_sectors], [2000, 200]);
        assert_eq!([disk.read_ticks, disk.write_ticks], [50, 10]);
        assert_eq!((disk.in_queue, disk.util), (60, 50.0));
    }
}
