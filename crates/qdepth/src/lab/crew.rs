//! The ranks that MPI started, where it did: rank 0 leads and keeps the logbook, the others measure
//! their share of the streams of each point.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use qdepth_cluster::{Lost, Skew, Team, Wire};
use qdepth_linux::Mpi;
use qdepth_measure::Instant;
use qdepth_workload::{Plan, Point};
use rustix::thread::{Timespec, nanosleep};
use serde::{Deserialize, Serialize};

use crate::ended::{Status, Usage};
use crate::flags::EngineFlag;
use crate::lab::Lab;
use crate::lab::execute::{Manner, execute};
use crate::lab::prepare::{FilesMade, Made, Order, prepare};
use clap::ValueEnum;

/// How launchers say how many ranks there are: Open MPI, MPICH and those after it, Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];
/// Where the shim is, if not beside the program.
const SHIM: &str = "QDEPTH_MPI";
/// The name of the shim.
pub(crate) const SHIM_NAME: &str = "libqdepth-mpi.so";

/// MPI as a wire.
pub(crate) struct MpiWire(Mpi);

impl Wire for MpiWire {
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
pub(crate) struct Crew {
    team: RefCell<Team<MpiWire>>,
    /// Ranks from one that writes to the one that reads it back: on another node, where there are
    /// several.
    shift: RefCell<u32>,
}

/// What the leader tells everyone before the first point.
#[derive(Serialize, Deserialize)]
struct Task {
    run_id: String,
    plan: String,
    targets: Vec<PathBuf>,
    bytes: u64,
    stems: Vec<String>,
    keep: bool,
    engine: String,
    stamp: u64,
}

/// How many ranks a launcher of MPI started, where it started several.
pub(crate) fn ranks() -> Option<u32> {
    let size = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse::<u32>().ok());
    size.filter(|size| *size > 1)
}

/// The ranks, where a launcher of MPI started several.
pub(crate) fn crew() -> Result<Option<Crew>> {
    let Some(size) = ranks() else { return Ok(None) };
    let shim = match std::env::var_os(SHIM) {
        Some(path) => PathBuf::from(path),
        None => beside().context("cannot find the program")?,
    };
    let mpi = Mpi::open(&shim).map_err(|why| {
        Usage(format!(
            "this is one of {size} ranks, and MPI cannot be used: {why}. Compile the shim once with the site's mpicc: qdepth host mpi"
        ))
    })?;
    Ok(Some(Crew { team: RefCell::new(Team::new(MpiWire(mpi))), shift: RefCell::new(1) }))
}

/// Where the shim is looked for: beside the program.
pub(crate) fn beside() -> std::io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(SHIM_NAME))
}

impl Crew {
    pub(crate) fn leads(&self) -> bool {
        self.team.borrow().leads()
    }

    pub(crate) fn lost(&self) -> Option<Lost> {
        self.team.borrow().lost().cloned()
    }

    /// Whether a stream of a point is this rank's.
    pub(crate) fn has(&self, point: &Point, stream: usize) -> bool {
        let team = self.team.borrow();
        let ranks = team.size().min(point.streams).max(1) as usize;
        // Read back by another rank, so that no cache of its node answers.
        let shift = if point.writes() { 0 } else { *self.shift.borrow() as usize };
        (stream + shift) % ranks == team.rank() as usize
    }

    /// Says that this rank lives; stops the workers where another does not, or where the leader
    /// asks.
    pub(crate) fn tend(&self, stop: &AtomicBool) {
        let mut team = self.team.borrow_mut();
        team.tend();
        if (team.lost().is_some() || team.is_halted()) && !stop.swap(true, Ordering::Relaxed) {
            team.halt();
        }
    }

    /// The leader begins a group of points everywhere.
    pub(crate) fn begin(&self, group: u32) {
        self.team.borrow_mut().broadcast(&group.to_le_bytes());
    }

    /// The common start by this rank's clock.
    pub(crate) fn start(&self, stop: &AtomicBool) -> Result<(Instant, Vec<Skew>), Lost> {
        let stopping = || stop.load(Ordering::Relaxed);
        let (start, skews) = self.team.borrow_mut().start(&stopping)?;
        Ok((Instant(start), skews))
    }

    /// Everyone's books at the leader; the others give theirs.
    pub(crate) fn books(&self, own: &[u8], stop: &AtomicBool) -> Vec<Result<Vec<u8>, Lost>> {
        let mut team = self.team.borrow_mut();
        if team.leads() {
            return team.gather(&|| stop.load(Ordering::Relaxed));
        }
        team.give(own);
        Vec::new()
    }

    /// Ends MPI, which waits for all; where one is lost, the launcher ends the others.
    pub(crate) fn end(self) {
        let mut team = self.team.into_inner();
        if team.leads() {
            team.broadcast(&[]);
        }
        if team.lost().is_none() {
            team.into_wire().0.finalize();
        }
    }
}

/// Says how far apart the clocks of the ranks are, and how well that is known.
#[expect(clippy::print_stderr, reason = "for the person who started the ranks")]
pub(crate) fn clocks(skews: &[Skew]) {
    let worst = skews.iter().max_by_key(|skew| skew.offset_ns.unsigned_abs());
    let error_ns = skews.iter().map(|skew| skew.error_ns).max();
    if let (Some(worst), Some(error_ns)) = (worst, error_ns) {
        eprintln!(
            "clocks: that of rank {} is {:+.1} µs from that of rank 0; each is known to ±{:.1} µs",
            worst.rank,
            worst.offset_ns as f64 / 1e3,
            error_ns as f64 / 1e3
        );
    }
}

fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The leader tells everyone what is measured; every rank asks the guards for its own view of the
/// targets before any begins.
pub(crate) fn enlist(
    lab: Lab<'_>,
    (run_id, stamp): (&str, u64),
    plan: &Plan,
    (targets, made): (&[PathBuf], &Made),
) -> Result<()> {
    let Some(crew) = lab.crew else { return Ok(()) };
    let Made::OwnFiles(files) = made else { bail!(only_files()) };
    if !plan.points.iter().all(|point| point.layout.makes_files()) {
        bail!(only_files());
    }
    let task = Task {
        run_id: run_id.to_owned(),
        plan: plan.text(),
        targets: targets.to_vec(),
        bytes: files.bytes,
        stems: files.stems.clone(),
        keep: lab.options.keep,
        engine: lab.options.engine.name(),
        stamp,
    };
    let mut team = crew.team.borrow_mut();
    team.broadcast(&serde_json::to_vec(&task)?);
    let mut together = 1;
    for answer in team.gather(&|| lab.signals.caught().is_some()) {
        together += u32::from(answer? == hostname().as_bytes());
    }
    *crew.shift.borrow_mut() = together;
    team.broadcast(&together.to_le_bytes());
    Ok(())
}

fn only_files() -> Usage {
    Usage(
        "several ranks measure files of their own in directories: qdepth run bandwidth DIR, or qdepth ior"
            .to_owned(),
    )
}

/// What every rank but the leader does.
pub(crate) fn follow(lab: Lab<'_>, crew: &Crew) -> Result<Status> {
    let stop = lab.signals.stop();
    let stopping = || stop.load(Ordering::Relaxed);
    let receive = || crew.team.borrow_mut().receive(&stopping);
    let text = receive()?;
    if text.is_empty() {
        return Ok(Status::Valid);
    }
    let task: Task = serde_json::from_slice(&text).context("the leader's task")?;
    let plan = Plan::from_text(&task.plan).map_err(Usage)?;
    let order = Order {
        run_id: &task.run_id,
        results_dir: Path::new("."),
        writes: plan.points.iter().any(Point::writes),
        made: Made::OwnFiles(FilesMade { bytes: task.bytes, stems: task.stems }),
        keep: task.keep,
        consent: &lab.options.consent,
    };
    let prepared = prepare(lab.system, &task.targets, &order, lab.screen, &stopping);
    let targets = prepared.inspect_err(|why| crew.team.borrow_mut().fail(&format!("{why:#}")))?;
    crew.team.borrow_mut().give(hostname().as_bytes());
    *crew.shift.borrow_mut() = u32::from_le_bytes(receive()?.try_into().unwrap_or([1, 0, 0, 0]));
    let engine = EngineFlag::from_str(&task.engine, false).map_err(Usage)?.choice();
    let manner = Manner { engine, stamp: task.stamp, pin: false, crew: Some(crew) };
    while let Ok(number) = receive()?.try_into().map(u32::from_le_bytes) {
        let Some(group) = plan.groups().find(|group| group[0].group == number) else { break };
        let measured = execute(lab.system, &targets, group, manner, stop, &mut |_, _| {});
        if let Err(why) = measured {
            crew.team.borrow_mut().fail(&format!("{why:#}"));
        }
    }
    for target in targets {
        target.put_back()?;
    }
    Ok(Status::Valid)
}
