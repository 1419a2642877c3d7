//! Observer of fio's jobs: counters of the disks below them, and the I/Os for its logs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use qdepth_foreign::fio::{FioDisk, FioIo};
use qdepth_host::monitor::{DiskActivity, DiskCounters, disks_of};
use qdepth_host::system::System;
use qdepth_host::target::Inspected;
use qdepth_lab::events::observer::{Observer, RecordedIo};
use qdepth_lab::target::prepare::{ResolvedTarget, find};
use qdepth_record::RunEvent;
use qdepth_workload::{Direction, Point};

use crate::screen::Screen;

/// Observer that forwards events to the screen and samples the disk counters.
pub(super) struct Watcher<'a> {
    screen: &'a Screen,
    system: System,
    disks: Vec<String>,
    first: RefCell<Vec<DiskCounters>>,
    last: RefCell<Vec<DiskCounters>>,
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

    fn read(&self) -> Vec<DiskCounters> {
        // A disk that is no longer readable is omitted.
        self.disks.iter().filter_map(|disk| DiskCounters::read(&self.system, disk).ok()).collect()
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
        let pairs =
            last.iter().filter_map(|last| Some((last, first.iter().find(|f| f.is_of_disk(last))?)));
        pairs.map(|(last, first)| as_fio(last.since(first))).collect()
    }
}

fn as_fio(disk: DiskActivity) -> FioDisk {
    let [read_ios, write_ios] = disk.completed;
    let [read_sectors, write_sectors] = disk.sectors;
    let [read_merges, write_merges] = disk.merged;
    let [read_ticks, write_ticks] = disk.in_flight_ms;
    FioDisk {
        name: disk.name,
        read_ios,
        write_ios,
        read_sectors,
        write_sectors,
        read_merges,
        write_merges,
        read_ticks,
        write_ticks,
        in_queue: disk.waited_ms,
        util: disk.busy_percent,
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
