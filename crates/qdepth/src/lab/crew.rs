//! The ranks that MPI started, where it did: rank 0 leads and keeps the logbook, the others measure
//! their share of the streams of each point.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use qdepth_cluster::{Lost, Skew, Team, Wire};
use qdepth_host::target::Kind;
use qdepth_linux::{EngineChoice, Mpi};
use qdepth_measure::Instant;
use qdepth_media::is_emulated;
use qdepth_workload::{Plan, Point, Stop};
use rustix::thread::{Timespec, nanosleep};
use serde::{Deserialize, Serialize};

use crate::lab::Lab;
use crate::lab::execute::{Manner, execute};
use crate::lab::failure::{RemoteError, Usage, exit_status};
use crate::lab::placed::Place;
use crate::lab::prepare::{Found, Made, Order, prepare};
use crate::lab::shim;
use crate::lab::written::Written;

/// How launchers say how many ranks there are: Open MPI, MPICH and those after it, Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

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
    keep: bool,
    engine: String,
    stamp: u64,
}

/// What a rank answers to it.
#[derive(Serialize, Deserialize)]
enum Answer {
    /// Its guards let everything pass; the name of its node.
    Ready(String),
    /// What is in the way there, and its exit status.
    No(String, u8),
}

/// How many ranks a launcher of MPI started, where it started several.
pub(crate) fn ranks() -> Option<u32> {
    let size = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse::<u32>().ok());
    size.filter(|size| *size > 1)
}

/// The ranks, where a launcher of MPI started several.
pub(crate) fn crew() -> Result<Option<Crew>> {
    let Some(size) = ranks() else { return Ok(None) };
    let mpi = shim::load(size)?;
    Ok(Some(Crew { team: RefCell::new(Team::new(MpiWire(mpi))), shift: RefCell::new(1) }))
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
        let read_back = point.layout.makes_files() && !point.writes();
        let shift = if read_back { *self.shift.borrow() as usize } else { 0 };
        (stream + shift) % ranks == team.rank() as usize
    }

    /// Deals the streams of each point to as many workers as there are ranks.
    pub(crate) fn spread(&self, plan: &mut Plan) {
        let ranks = self.team.borrow().size();
        for point in &mut plan.points {
            point.workers = point.workers.max(ranks.min(point.streams));
        }
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

/// How far apart the clocks of the ranks are, and how well that is known; nothing where there is one.
pub(crate) fn clocks(skews: &[Skew]) -> Option<String> {
    let worst = skews.iter().max_by_key(|skew| skew.offset_ns.unsigned_abs());
    let error_ns = skews.iter().map(|skew| skew.error_ns).max();
    let (worst, error_ns) = worst.zip(error_ns)?;
    Some(format!(
        "clocks: that of rank {} is {:+.1} µs from that of rank 0; each is known to ±{:.1} µs",
        worst.rank,
        worst.offset_ns as f64 / 1e3,
        error_ns as f64 / 1e3
    ))
}

fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether several ranks can measure this together. Asked before anything is touched.
pub(crate) fn can_share(lab: Lab<'_>, plan: &Plan, found: &[Found]) -> Result<()> {
    let Some(crew) = lab.crew else { return Ok(()) };
    let makes_files = plan.points.iter().all(|point| point.layout.makes_files());
    let writes = plan.points.iter().any(Point::writes);
    let is_directory = |found: &Found| {
        found.real().is_some_and(|target| matches!(target.kind, Kind::Directory(_)))
    };
    let emulated = found.iter().any(|found| found.real().is_none());
    let ranks = crew.team.borrow().size();
    let no =
        |what: &str| bail!(Usage(format!("{ranks} ranks cannot measure this together: {what}")));
    if lab.request.pinning.named().is_some() {
        return no(
            "all would be on the CPUs of --cpus; its launcher keeps a rank in its place (mpirun --bind-to, srun --cpu-bind)",
        );
    }
    if emulated {
        lab.observer.say(&format!(
            "EMULATED: virtual time is one, so this rank emulates all and the other {} wait",
            ranks - 1
        ));
    } else if !makes_files && found.iter().any(is_directory) {
        return no(
            "a measurement file is made and filled by one process. Make it first (qdepth run --keep without mpirun), then give its path and --read-only; or let each rank make files of its own: qdepth run bandwidth DIR, qdepth ior",
        );
    } else if !makes_files && writes {
        return no(
            "a file or device that is written is locked by one process, which keeps every other one out, on this node and on others. Add --read-only; or let each rank write files of its own: qdepth run bandwidth DIR, qdepth ior",
        );
    }
    if !emulated && plan.wear().is_some() {
        return no(
            "a target is preconditioned by one process: do it in a run without mpirun before",
        );
    }
    if plan.points.iter().any(|point| point.flow.is_some()) {
        return no("loads that are tied to each other know of each other within one process alone");
    }
    if plan.points.iter().any(|point| point.stop.steady.is_some()) {
        return no(
            "a point that ends once it is steady is measured in rounds of one process. Leave `until` out",
        );
    }
    let known = |stop: &Stop| {
        stop.until.is_none() && stop.samples.is_none() && stop.bytes == 0 && !stop.ends_step
    };
    if !emulated && !plan.points.iter().all(|point| known(&point.stop)) {
        return no(
            "a point that ends by what all of them did is ended by none, who sees its own. Leave `until`, `until-credible` and `bytes` out",
        );
    }
    let streams = plan.points.iter().map(|point| point.streams).max().unwrap_or(1);
    if !emulated && streams < ranks {
        lab.observer.say(&format!(
            "no point has more than {streams} streams, so of {ranks} ranks {} have nothing to do (`streams` of a profile)",
            ranks - streams
        ));
    }
    Ok(())
}

/// The leader tells everyone what is measured; every rank asks the guards for its own view of the
/// targets before any begins.
pub(crate) fn enlist(
    lab: Lab<'_>,
    (run_id, stamp): (&str, u64),
    plan: &Plan,
    (targets, bytes): (&[PathBuf], u64),
) -> Result<()> {
    let Some(crew) = lab.crew else { return Ok(()) };
    if targets.iter().any(|target| target.to_str().is_some_and(is_emulated)) {
        // The others wait for a task, and none comes before the end.
        return Ok(());
    }
    let task = Task {
        run_id: run_id.to_owned(),
        plan: plan.text(),
        targets: targets.to_vec(),
        bytes,
        keep: lab.request.keep || plan.keep_files,
        engine: lab.request.engine.name().to_owned(),
        stamp,
    };
    let mut team = crew.team.borrow_mut();
    team.broadcast(&serde_json::to_vec(&task)?);
    let (mut together, mut in_the_way) = (1, Ok(()));
    for (rank, answer) in (1_u32..).zip(team.gather(&|| lab.signals.caught().is_some())) {
        match serde_json::from_slice(&answer?).context("the answer of a rank cannot be read")? {
            Answer::Ready(node) => together += u32::from(node == hostname()),
            Answer::No(why, status) => {
                let what = format!("rank {rank} of {}: {why}", team.size());
                in_the_way = in_the_way.and(Err(RemoteError { what, status }));
            }
        }
    }
    in_the_way?;
    *crew.shift.borrow_mut() = together;
    team.broadcast(&together.to_le_bytes());
    Ok(())
}

/// What every rank but the leader does.
pub(crate) fn follow(lab: Lab<'_>, crew: &Crew) -> Result<()> {
    let stop = lab.signals.stop();
    let stopping = || stop.load(Ordering::Relaxed);
    let receive = || crew.team.borrow_mut().receive(&stopping);
    let text = receive()?;
    if text.is_empty() {
        return Ok(());
    }
    let task: Task = serde_json::from_slice(&text).context("the leader's task")?;
    let plan = Plan::from_text(&task.plan).map_err(Usage)?;
    let order = Order {
        run_id: &task.run_id,
        results_dir: Path::new("."),
        writes: plan.points.iter().any(Point::writes),
        made: Made::of(&plan, task.bytes),
        keep: task.keep,
        consent: &lab.request.consent,
    };
    let prepared = prepare(lab.system, &task.targets, &order, lab.observer, &stopping);
    let answer = match &prepared {
        Ok(_) => Answer::Ready(hostname()),
        Err(why) => Answer::No(format!("{why:#}"), exit_status(why)),
    };
    crew.team.borrow_mut().give(&serde_json::to_vec(&answer)?);
    let targets = prepared?;
    let shapes: Vec<_> = targets.iter().map(|target| target.shape).collect();
    plan.fits(&shapes).map_err(Usage)?;
    // Nothing, where something is in the way of another rank.
    let Ok(together) = receive()?.try_into() else { return Ok(()) };
    *crew.shift.borrow_mut() = u32::from_le_bytes(together);
    let engine = EngineChoice::from_name(&task.engine)
        .with_context(|| format!("rank 0 measures with `{}`, unknown here", task.engine))?;
    let (place, stamp) = (Place::Anywhere, task.stamp);
    let written = Written::of(&plan);
    let manner = Manner {
        engine,
        stamp,
        written: &written,
        place,
        crew: Some(crew),
        observer: lab.observer,
    };
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
    Ok(())
}
