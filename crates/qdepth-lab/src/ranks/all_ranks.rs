//! The ranks of an MPI launch: rank 0 leads and keeps the logbook; the others measure their share
//! of the streams of each point.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::ranks::{ClockOffset, Lost, RankGroup, Transport};
use anyhow::Result;
use qdepth_linux::Mpi;
use qdepth_measure::Instant;
use qdepth_workload::{Plan, Point};
use rustix::thread::{Timespec, nanosleep};

use crate::monitor::progress::RankProgress;
use crate::ranks::shim;

/// Environment variables in which launchers give the number of ranks: Open MPI, MPICH and its
/// successors, Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Interval of heartbeats while this rank waits for nothing else.
const HEARTBEAT_EVERY: Duration = Duration::from_millis(200);

/// MPI as a transport.
pub(crate) struct MpiTransport(Mpi);

impl Transport for MpiTransport {
    fn rank(&self) -> u32 {
        self.0.rank()
    }
    fn size(&self) -> u32 {
        self.0.size()
    }
    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), String> {
        self.0.send(to, bytes)
    }
    fn poll(&mut self, from: u32) -> Result<Option<Vec<u8>>, String> {
        self.0.poll(from)
    }
    fn now_ns(&self) -> u64 {
        qdepth_linux::now().0
    }
    fn pause(&mut self, ns: u64) {
        let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: ns as i64 });
    }
}

/// All ranks, as this process sees them.
pub(crate) struct AllRanks {
    pub(crate) group: RefCell<RankGroup<MpiTransport>>,
    /// Distance from a rank that writes to the rank that reads the data back, which is on another
    /// node if there are several.
    pub(crate) shift: RefCell<u32>,
    /// Progress for the leader, sent with the next heartbeat.
    pub(crate) seen: RefCell<RankProgress>,
    /// True if this leader has asked the others to stop.
    has_halted: Cell<bool>,
}

/// Number of ranks that an MPI launcher started, if there are several.
pub fn launched() -> Option<u32> {
    let size = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse::<u32>().ok());
    size.filter(|size| *size > 1)
}

/// Joins the ranks; `None` if no MPI launcher started several.
pub(crate) fn join() -> Result<Option<AllRanks>> {
    let Some(size) = launched() else { return Ok(None) };
    let mpi = shim::load(size)?;
    Ok(Some(AllRanks {
        group: RefCell::new(RankGroup::new(MpiTransport(mpi))),
        shift: RefCell::new(1),
        seen: RefCell::default(),
        has_halted: Cell::new(false),
    }))
}

impl AllRanks {
    pub(crate) fn is_leader(&self) -> bool {
        self.group.borrow().is_leader()
    }

    /// True if any rank is on another host than the leader.
    pub(crate) fn are_on_other_hosts(&self) -> bool {
        *self.shift.borrow() < self.group.borrow().size()
    }

    pub(crate) fn lost(&self) -> Option<Lost> {
        self.group.borrow().lost().cloned()
    }

    /// True if this rank has this stream of a point.
    pub(crate) fn has(&self, point: &Point, stream: usize) -> bool {
        let group = self.group.borrow();
        let ranks = group.size().min(point.streams).max(1) as usize;
        // Data is read back by another rank, so that no cache of the writing node answers.
        let read_back = point.layout.makes_files() && !point.writes();
        let shift = match point.rank_shift {
            Some(shift) => ranks - shift as usize % ranks,
            None if read_back => *self.shift.borrow() as usize,
            None => 0,
        };
        (stream + shift) % ranks == group.rank() as usize
    }

    /// Gives each point as many workers as there are ranks.
    pub(crate) fn spread(&self, plan: &mut Plan) {
        let ranks = self.group.borrow().size();
        for point in &mut plan.points {
            point.workers = point.workers.max(ranks.min(point.streams));
        }
    }

    /// Sends the heartbeat. Stops the workers if another rank is lost or the leader asks to stop. A
    /// leader that stops, for any reason, asks the others once; if it alone were interrupted, it
    /// would lose the others.
    pub(crate) fn heartbeat(&self, stop: &AtomicBool) {
        let mut group = self.group.borrow_mut();
        group.heartbeat_with(&mut || self.seen.borrow_mut().taken());
        let must_stop = group.lost().is_some() || group.is_halted();
        let stops_for_others = must_stop && !stop.swap(true, Ordering::Relaxed);
        let leader_stops = group.is_leader() && stop.load(Ordering::Relaxed);
        if (stops_for_others || leader_stops) && !self.has_halted.replace(true) {
            group.halt();
        }
    }

    /// Runs something that may take long, while heartbeats continue: a rank is lost after 5 s of
    /// silence, and a drive may take longer to report its health.
    pub(crate) fn alive_during<T: Send>(
        all_ranks: Option<&Self>,
        stop: &AtomicBool,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        let Some(all_ranks) = all_ranks else { return work() };
        std::thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let worker = scope.spawn(move || {
                let _ended = ended;
                work()
            });
            while end.recv_timeout(HEARTBEAT_EVERY) == Err(RecvTimeoutError::Timeout) {
                all_ranks.heartbeat(stop);
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Next progress message of another rank, with its number.
    pub(crate) fn news(&self) -> Option<(u32, Vec<u8>)> {
        self.group.borrow_mut().news()
    }

    /// Tells all ranks to begin a group of points (leader only).
    pub(crate) fn begin(&self, group: u32) {
        self.group.borrow_mut().broadcast(&group.to_le_bytes());
    }

    /// The common start, by this rank's clock.
    pub(crate) fn start(&self, stop: &AtomicBool) -> Result<(Instant, Vec<ClockOffset>), Lost> {
        let stopping = || stop.load(Ordering::Relaxed);
        let (start, offsets) = self.group.borrow_mut().start(&stopping)?;
        Ok((Instant(start), offsets))
    }

    /// Sends this rank's results to the leader; the leader returns those of all others.
    pub(crate) fn results(&self, own: &[u8], stop: &AtomicBool) -> Vec<Result<Vec<u8>, Lost>> {
        let mut group = self.group.borrow_mut();
        if group.is_leader() {
            return group.gather(&|| stop.load(Ordering::Relaxed));
        }
        group.send_news(&self.seen.borrow_mut().taken());
        group.give(own);
        Vec::new()
    }

    /// Finalises MPI, which waits for all ranks. If one is lost, the launcher ends the others.
    pub(crate) fn end(self) {
        let mut group = self.group.into_inner();
        if group.is_leader() {
            group.broadcast(&[]);
        }
        if group.lost().is_none() {
            group.into_transport().0.finalize();
        }
    }
}

/// Offsets of the ranks' clocks and their uncertainty; `None` for a single rank.
pub(crate) fn clocks(offsets: &[ClockOffset]) -> Option<String> {
    let worst = offsets.iter().max_by_key(|skew| skew.offset_ns.unsigned_abs());
    let error_ns = offsets.iter().map(|skew| skew.error_ns).max();
    let (worst, error_ns) = worst.zip(error_ns)?;
    Some(format!(
        "clocks: the clock of rank {} differs most from that of rank 0, by {:+.1} µs; the \
         uncertainty is ±{:.1} µs",
        worst.rank,
        worst.offset_ns as f64 / 1e3,
        error_ns as f64 / 1e3
    ))
}
