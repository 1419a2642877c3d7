//! Counters of the disks under the jobs, read before the first job and after the last.

use std::cell::RefCell;
use std::path::Path;

use qdepth_foreign::fio::FioDisk;
use qdepth_host::monitor::{DiskActivity, DiskCounters, disks_of};
use qdepth_host::system::System;
use qdepth_host::target::Inspected;
use qdepth_lab::events::observer::Observer;
use qdepth_lab::target::prepare::{ResolvedTarget, find};
use qdepth_record::RunEvent;

use crate::screen::Screen;

/// Observer that forwards events to the screen and samples the disk counters.
pub(super) struct Watcher<'a> {
    screen: &'a Screen,
    system: System,
    disks: Vec<String>,
    first: RefCell<Vec<DiskCounters>>,
    last: RefCell<Vec<DiskCounters>>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(screen: &'a Screen, targets: &[String]) -> Self {
        let system = System::real();
        let found: Vec<ResolvedTarget> =
            targets.iter().filter_map(|target| find(&system, Path::new(target)).ok()).collect();
        let real: Vec<&Inspected> = found.iter().filter_map(ResolvedTarget::real).collect();
        let disks = disks_of(&system, real);
        Self { screen, system, disks, first: RefCell::default(), last: RefCell::default() }
    }

    fn read(&self) -> Vec<DiskCounters> {
        // A disk that is no longer readable is omitted.
        self.disks.iter().filter_map(|disk| DiskCounters::read(&self.system, disk).ok()).collect()
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
}
