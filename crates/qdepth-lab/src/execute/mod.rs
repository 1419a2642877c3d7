//! Runs the points of a group at the same time, each on its own workers with a common start, and
//! passes samples to the observer. In virtual time one worker runs all of them.

pub(crate) mod cpu_placement;
pub mod drive_tree;
mod dropping;
pub mod emulated;
pub(crate) mod measure_options;
pub mod precondition;
pub(crate) mod preconditioned;
pub(crate) mod storage;
pub(crate) mod until_steady;
pub(crate) mod virtual_time;
pub(crate) mod written;

use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, ScopedJoinHandle};

use crate::ranks::{Loss, Lost};
use anyhow::{Context, Result, anyhow, bail};
use qdepth_engine::{
    Ended, Fault, Interval, Outcome, RECORDED_MAX, RecordedIo, Shard, StopGroup, Target, join,
    measure_any, measure_recorded,
};
use qdepth_host::environment::with_all_below;
use qdepth_linux::{
    EngineChoice, Gate, KernelTarget, Namespace, OpenOptions, Pulse, Repeating, Verifying, pin,
    take_priority, waited_for_cpu,
};
use qdepth_measure::{Finding, Instant, Nanos, Seed, label};
use qdepth_workload::{Contents, Duplicates, Point};

use crate::Lab;
use crate::events::observer::Observer;
use crate::execute::cpu_placement::{devices_of_workers, worker_cpus};
use crate::execute::dropping::{Dropping, drops_again};
use crate::execute::measure_options::MeasureOptions;
use crate::execute::storage::{Storage, after_delay};
use crate::execute::written::Written;
use crate::failure::THREAD_LIMIT;
use crate::monitor::monitors::{Monitors, Sampler, Seen};
use crate::monitor::pauses::GeneratorPauses;
use crate::monitor::progress::{MachineSample, ProgressEvent};
use crate::monitor::watch::{SCREEN_LAG, bug, watch};
use crate::outcome::findings;
use crate::outcome::measured::{Measured, Used};
use crate::ranks::all_ranks::{AllRanks, clocks};
use crate::ranks::other_ranks;
use crate::ranks::shard_results::{self, ShardResults};
use crate::request::worker_result::WorkerResult;
use crate::target::identity::Identity;
use crate::target::left_behind;
use crate::target::prepare::{Prepared, PreparedStorage};

/// Time from the moment when every worker is ready to the common start. It is longer than waking
/// the last of them takes.
const START_DELAY: Nanos = Nanos::from_millis(5);

/// State shared by the workers of a group.
struct Common<'a> {
    engine: EngineChoice,
    /// Stamp of this run's writes, for verification.
    stamp: u64,
    written: &'a Written,
    stop: &'a AtomicBool,
    /// Number of I/Os that each worker records, if any.
    records: Option<usize>,
    ready: Gate,
    start: OnceLock<Instant>,
}

impl Common<'_> {
    /// Waits for the workers, agrees on a start with the other ranks, and releases the workers.
    fn begin(&self, all_ranks: Option<&AllRanks>, observer: &dyn Observer) {
        self.ready.wait();
        let alone = qdepth_linux::now() + START_DELAY;
        let start = match all_ranks.map(|all_ranks| all_ranks.start(self.stop)) {
            None => alone,
            Some(Ok((start, offsets))) => {
                clocks(&offsets).iter().for_each(|line| observer.message(line));
                start
            }
            // If any rank is lost, no I/O is issued.
            Some(Err(_)) => {
                self.stop.store(true, Ordering::Relaxed);
                alone
            }
        };
        let _ = self.start.set(start);
        self.ready.wait();
    }
}

/// Measures the points of a group at the same time. `seen` receives the progress.
pub(crate) fn execute(
    targets: &[Prepared],
    group: &[Point],
    options: MeasureOptions<'_>,
    seen: &mut dyn FnMut(ProgressEvent<'_>),
) -> Result<Vec<Measured>> {
    let target = |point: &Point| &targets[point.target as usize];
    match group.first().map(|point| &target(point).storage) {
        Some(PreparedStorage::Emulated(_)) => {
            let Lab { all_ranks, observer, signals, .. } = options.lab;
            virtual_time::measure(targets, group, all_ranks, Some(observer), signals.stop(), seen)
        }
        Some(PreparedStorage::Real(_)) => real(targets, group, options, seen),
        None => Ok(Vec::new()),
    }
}

/// Measures the points whose targets exist. Points with a missing target fail.
fn real(
    targets: &[Prepared],
    group: &[Point],
    options: MeasureOptions<'_>,
    seen: &mut dyn FnMut(ProgressEvent<'_>),
) -> Result<Vec<Measured>> {
    let (mut there, mut gone) = (Vec::new(), Vec::new());
    for (index, point) in group.iter().enumerate() {
        let real = targets[point.target as usize]
            .real()
            .context("an emulated device among real storage (internal error)")?;
        let _limit = left_behind::unless_it_answers();
        match Identity::check(options.lab.system, real) {
            Identity::Same => there.push(index),
            Identity::Gone(why) => gone.push((index, Measured::nothing(point, why))),
            // During a run this is a failure and not a refusal: earlier points may have written.
            Identity::Changed(changed) => return Err(changed.into()),
        }
    }
    let points: Vec<Point> = there.iter().map(|index| group[*index].clone()).collect();
    let mut see = |event: ProgressEvent<'_>| match event {
        ProgressEvent::Slice(index, slice) => seen(ProgressEvent::Slice(there[index], slice)),
        other => seen(other),
    };
    let measured = match points.as_slice() {
        [] => Vec::new(),
        points => measure_storage(targets, points, options, &mut see)?,
    };
    let mut all: Vec<(usize, Measured)> = there.iter().copied().zip(measured).chain(gone).collect();
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, measured)| measured).collect())
}

fn measure_storage(
    targets: &[Prepared],
    group: &[Point],
    options: MeasureOptions<'_>,
    seen: &mut dyn FnMut(ProgressEvent<'_>),
) -> Result<Vec<Measured>> {
    let Lab { system, all_ranks, signals, .. } = options.lab;
    let (stop, mut storage) = (signals.stop(), Vec::new());
    let group = &after_delay(targets, group, options.lab)[..];
    for point in group {
        let real = targets[point.target as usize]
            .real()
            .context("an emulated device among real storage (internal error)")?;
        storage.push(Storage::ready(real, point, options)?);
    }
    if let Some(all_ranks) = all_ranks.filter(|all_ranks| all_ranks.is_leader()) {
        all_ranks.begin(group[0].group);
    }
    let before: Vec<Monitors> =
        storage.iter().map(|s| Monitors::sample(system, s.real.device().as_deref())).collect();
    let devices = group.iter().zip(storage.iter().map(|s| s.real.device()));
    let cpus = worker_cpus(system, &devices_of_workers(devices), options.placement);
    let below = ask_below(&storage, options.lab);
    let sampler = Sampler::start(system, &below);
    let mut see = |event: ProgressEvent<'_>| {
        seen(event);
        sampler.news().iter().for_each(|news| seen(ProgressEvent::Machine(news)));
    };
    let mut all = in_real_time(group, &storage, options, &cpus, &mut see)?;
    let samples = sampler.stop();
    MachineSample::last_of(&samples).iter().for_each(|news| seen(ProgressEvent::Machine(news)));
    let counted: Vec<(u64, u64)> = all.iter().map(|measured| all_of(&measured.outcome)).collect();
    for (index, (measured, storage)) in all.iter_mut().zip(storage).enumerate() {
        let real = storage.real;
        let unanswering = closed(storage, &measured.outcome, &mut measured.ranks);
        let mut monitored =
            before[index].until(&Monitors::sample(system, real.device().as_deref()));
        for other in (0..group.len()).filter(|other| *other != index) {
            if group[other].target == group[index].target {
                let (read, written) = counted[other];
                monitored.without(read, written);
            }
        }
        monitored.summarize(&samples, &below[index]);
        // Once per group and target: several loads of a group may share the drives.
        if group[..index].iter().all(|earlier| earlier.target != group[index].target) {
            let health = &mut *real.health.borrow_mut();
            monitored.troubles =
                AllRanks::alive_during(all_ranks, stop, || health.ask_again(system));
        }
        measured.seen = Seen { pauses: measured.seen.pauses, ..monitored };
        measured.note(unanswering.unwrap_or_else(|| Identity::check(system, real)));
    }
    if let Some(all_ranks) = all_ranks {
        share_findings(all_ranks, targets, group, &mut all, stop)?;
    }
    Ok(all)
}

/// Closes the files of a point and notes the time. Closing asks the server. If the server does not
/// answer, the files stay open, unless a length must be restored, and the target counts as gone.
fn closed(storage: Storage<'_>, outcome: &Outcome, ranks: &mut [WorkerResult]) -> Option<Identity> {
    let unanswering = match outcome.abandoned {
        0 => None,
        _ => left_behind::unanswering(storage.real),
    };
    if unanswering.is_some() && !storage.restores_length() {
        std::mem::forget(storage);
        return unanswering;
    }
    let _limit = left_behind::unless_it_answers();
    // Results of other ranks follow this rank's own.
    for (rank, (opened, closed)) in ranks.iter_mut().zip(storage.close()) {
        (rank.opened, rank.closed) = (opened, closed);
    }
    unanswering
}

/// Sends this rank's findings about its machine to the leader; the leader collects the findings of
/// the others. Waits for nothing if a rank is lost, because the points have failed then, or if the
/// leader was asked to stop, because they are interrupted. Other ranks have done their work, and
/// must not be lost because of a stop request at this moment.
fn share_findings(
    all_ranks: &AllRanks,
    targets: &[Prepared],
    group: &[Point],
    measured: &mut [Measured],
    stop: &AtomicBool,
) -> Result<()> {
    let is_stopping = all_ranks.is_leader() && stop.load(Ordering::Relaxed);
    if all_ranks.lost().is_some() || is_stopping {
        return Ok(());
    }
    let never = AtomicBool::new(false);
    let found = |(point, measured): (&Point, &Measured)| {
        findings::of_rank(point, &targets[point.target as usize], measured)
    };
    let own: Vec<Vec<Finding>> = group.iter().zip(&*measured).map(found).collect();
    for (rank, theirs) in (1_u32..).zip(all_ranks.results(&other_ranks::write(&own)?, &never)) {
        let Ok(bytes) = theirs else { continue };
        for (mine, theirs) in measured.iter_mut().zip(other_ranks::read(rank, &bytes)?) {
            mine.others.findings.extend(theirs);
        }
    }
    let on_other_hosts = all_ranks.are_on_other_hosts();
    measured.iter_mut().for_each(|mine| mine.others.on_other_hosts = on_other_hosts);
    Ok(())
}

/// The devices below each target, down to the drives. Also reads the health of the drives for the
/// first time.
fn ask_below(storage: &[Storage<'_>], lab: Lab<'_>) -> Vec<Vec<String>> {
    let Lab { system, all_ranks, signals, .. } = lab;
    let ask = |storage: &Storage<'_>| {
        let below = with_all_below(system, storage.real.inspected.devices());
        let health = &mut *storage.real.health.borrow_mut();
        AllRanks::alive_during(all_ranks, signals.stop(), || health.ask_first(system, &below));
        below
    };
    storage.iter().map(ask).collect()
}

/// Thread of a worker.
type Worker<'scope> = ScopedJoinHandle<'scope, Result<(Outcome, Used, Vec<RecordedIo>)>>;

/// Bytes that a load read and wrote, including those outside its window, which are split in the
/// same proportion as those inside.
fn all_of(outcome: &Outcome) -> (u64, u64) {
    let inside = u128::from(outcome.bytes().max(1));
    let [reads, writes, ..] = outcome.directions.each_ref().map(|direction| {
        let outside = u128::from(outcome.bytes_outside) * u128::from(direction.bytes) / inside;
        direction.bytes + outside as u64
    });
    (reads, writes)
}

fn in_real_time(
    group: &[Point],
    storage: &[Storage<'_>],
    options: MeasureOptions<'_>,
    cpus: &[Vec<u32>],
    seen: &mut dyn FnMut(ProgressEvent<'_>),
) -> Result<Vec<Measured>> {
    let MeasureOptions { lab, engine, stamp, written, .. } = options;
    let (all_ranks, stop) = (lab.all_ranks, lab.signals.stop());
    let own: Vec<Vec<Point>> = group.iter().map(Point::by_file).collect();
    let (show, shown) = sync_channel(SCREEN_LAG);
    let shards: Vec<Vec<(usize, Shard<'_>)>> =
        own.iter().zip(group).map(|(own, point)| shares(own, point, all_ranks)).collect();
    // All workers, and this thread, which gives the start.
    let ready = Gate::new(shards.iter().map(Vec::len).sum::<usize>() + 1);
    let stop_group = StopGroup::from_shards(shards.iter().flatten().map(|(_, shard)| shard));
    let workers = shards.iter().map(Vec::len).sum::<usize>();
    let records = lab.observer.wants_ios().then(|| RECORDED_MAX / workers.max(1));
    let start = OnceLock::new();
    let common = Common { engine, stamp, written, stop, records, ready, start };
    let pulse = Pulse::start();
    std::thread::scope(|scope| {
        let (mut running, mut cpus) = (Vec::new(), cpus.iter());
        for (index, shards) in shards.into_iter().enumerate() {
            let mut of_point = Vec::new();
            for (number, shard) in shards {
                let shard = Shard { stop_group: stop_group.as_ref(), ..shard };
                let file = storage[index].file(number);
                let (common, show) = (&common, show.clone());
                let mut see = move |interval: &Interval| {
                    let _ = show.try_send((index, *interval));
                };
                let cpu = cpus.next();
                let work = move || {
                    // Without the requested CPUs a worker measures nevertheless.
                    let _ = cpu.map(|cpus| pin(cpus));
                    work(common, &shard, file, &mut see)
                };
                match Builder::new().spawn_scoped(scope, work) {
                    Ok(worker) => of_point.push(worker),
                    Err(why) => {
                        common.ready.give_up();
                        return Err(no_thread(&why));
                    }
                }
            }
            running.push(of_point);
        }
        // Only the workers still hold senders.
        drop(show);
        common.begin(all_ranks, lab.observer);
        // From here on only the target is waited for. Other ranks are waited for before and after.
        let limit = left_behind::unless_workers_end(group);
        watch(&shown, seen, &|| all_ranks.iter().for_each(|all_ranks| all_ranks.heartbeat(stop)));
        let (mut results, used, waited) = joined(running, &mut |index, ios| {
            lab.observer.ios(&group[index], ios);
        })?;
        drop(limit);
        let still = pulse.stop();
        let lost = all_ranks.map_or(Ok(None), |all_ranks| share(all_ranks, &mut results, stop))?;
        let start = common.start.get().copied().unwrap_or_default();
        let mut all = Vec::new();
        for (index, (outcomes, waited)) in results.into_iter().zip(waited).enumerate() {
            let mut result = combined(outcomes, lost.as_ref(), used.clone(), storage[index].direct);
            let from = start + Nanos(group[index].delay_ns + group[index].warm_up_ns);
            let to = from + result.outcome.duration;
            result.seen.pauses = GeneratorPauses::within(&still, from, to, waited);
            all.push(result);
        }
        Ok(all)
    })
}

fn no_thread(why: &std::io::Error) -> anyhow::Error {
    anyhow!("a worker cannot be started ({why}): {THREAD_LIMIT}")
}

/// Outcomes of the workers of each point; the engine, which a rank without a stream does not have;
/// and for each point the largest share of time
/// that a worker waited for a CPU.
fn joined(
    running: Vec<Vec<Worker<'_>>>,
    recorded: &mut dyn FnMut(usize, Vec<RecordedIo>),
) -> Result<(ShardResults, Option<Used>, Vec<f64>)> {
    let (mut results, mut used, mut waited) = (Vec::new(), None, Vec::new());
    for (index, of_point) in running.into_iter().enumerate() {
        let (mut of_workers, mut waited_most) = (Vec::new(), 0.0_f64);
        for worker in of_point {
            let (outcome, by, ios) = worker.join().map_err(|_| bug())??;
            recorded(index, ios);
            of_workers.push(outcome);
            waited_most = waited_most.max(by.waited);
            used = Some(by);
        }
        results.push(of_workers);
        waited.push(waited_most);
    }
    Ok((results, used, waited))
}

/// Sends this rank's results to the leader. The leader adds those of the others, and learns which
/// rank is lost.
fn share(
    all_ranks: &AllRanks,
    results: &mut ShardResults,
    stop: &AtomicBool,
) -> Result<Option<Lost>> {
    let mut lost = None;
    for theirs in all_ranks.results(&shard_results::write(results)?, stop) {
        match theirs {
            Ok(bytes) => {
                let theirs = shard_results::read(&bytes)?;
                for (mine, theirs) in results.iter_mut().zip(theirs) {
                    mine.extend(theirs);
                }
            }
            Err(who) => lost = lost.or(Some(who)),
        }
    }
    Ok(lost)
}

/// Combined results of the workers of a point.
fn combined(
    outcomes: Vec<Outcome>,
    lost: Option<&Lost>,
    engine: Option<Used>,
    direct: bool,
) -> Measured {
    let ranks = outcomes.iter().map(WorkerResult::from_outcome).collect();
    let mut outcome = join(outcomes);
    if let Some(lost) = lost {
        outcome.ended = Ended::Failure;
        outcome.failure = Some(fault(lost).into());
    }
    Measured { ranks, engine, ..Measured::new(outcome, direct) }
}

/// Failure of the points of a group when a rank is lost.
fn fault(Lost { rank, host, why, .. }: &Lost) -> Fault {
    let (cause, message) = match why {
        Loss::Silent(_) => (label::RANK_SILENT, ""),
        Loss::NoAnswer => (label::RANK_NOT_ENDING, ""),
        Loss::Unreachable(_) => (label::RANK_UNREACHABLE, ""),
        Loss::Failed(message) => (label::RANK_FAILED, &**message),
    };
    let known = [&**host, message].into_iter().filter(|text| !text.is_empty());
    let message = known.collect::<Vec<_>>().join(": ");
    Fault::RankLost { rank: *rank, cause: cause.to_owned(), message }
}

/// Shards of a point that this rank's workers measure, each with its number among all workers.
fn shares<'p>(
    own: &'p [Point],
    point: &Point,
    all_ranks: Option<&AllRanks>,
) -> Vec<(usize, Shard<'p>)> {
    let all = own.iter().flat_map(shards).enumerate();
    all.filter(|(number, _)| all_ranks.is_none_or(|all_ranks| all_ranks.has(point, *number)))
        .collect()
}

/// Distributes the streams of a point to its workers.
fn shards(point: &Point) -> Vec<Shard<'_>> {
    let (streams, workers) = (u64::from(point.streams), u64::from(point.workers));
    let from = |worker: u64| (worker * streams / workers) as u32;
    let shard = |worker| Shard { streams: from(worker)..from(worker + 1), ..Shard::whole(point) };
    (0..workers).map(shard).collect()
}

/// Main function of a worker. It has its own engine, because a ring belongs to the thread that
/// created it.
fn work(
    common: &Common<'_>,
    shard: &Shard<'_>,
    file: std::io::Result<(OwnedFd, Option<Namespace>)>,
    see: &mut impl FnMut(&Interval),
) -> Result<(Outcome, Used, Vec<RecordedIo>)> {
    let verify = |file: &(OwnedFd, _)| common.written.of_file(&file.0);
    let writes = file.as_ref().ok().filter(|_| shard.point.verify).map(verify).transpose();
    let dropped = file.as_ref().ok().filter(|_| drops_again(shard.point));
    let dropped = dropped.map(|(file, _)| file.try_clone()).transpose();
    let opened = open(shard, file, common.engine);
    // Every worker gets here even if its engine failed, because the others wait for it.
    if !(common.ready.wait() && common.ready.wait()) {
        bail!("another worker could not be started");
    }
    let mut target = opened?;
    let (began, before) = (qdepth_linux::now(), waited_for_cpu());
    let start = common.start.get().copied().unwrap_or_default();
    let mut dropped = dropped.context("cannot duplicate the target's descriptor")?;
    let drops = dropped.is_some();
    let mut ios = Vec::new();
    let mut run = |target: &mut dyn Target| {
        let mut dropping;
        let target = match dropped.take() {
            Some(file) => {
                dropping = Dropping::new(target, file, shard);
                &mut dropping
            }
            None => target,
        };
        match common.records {
            None => measure_any(target, shard, start, common.stop, see),
            Some(most) => {
                let shards = std::slice::from_ref(shard);
                let mut see = |_, interval: &Interval| see(interval);
                let mut all = measure_recorded(target, shards, most, start, common.stop, &mut see)
                    .into_iter();
                let outcome;
                (outcome, ios) = all.next().unwrap_or_default();
                outcome
            }
        }
    };
    let outcome = if let Some(writes) = writes.context("cannot get the status of the file")? {
        let verifying = Verifying::new(&mut target, shard.slots(), common.stamp, writes);
        let point = shard.point;
        let unwritten = if point.verify_unwritten { verifying } else { verifying.only_written() };
        let mut verifying = if point.verify_laid_out { unwritten.or_laid_out() } else { unwritten };
        run(&mut verifying)
    } else if shard.point.write_share() > 0.0 && shard.point.operation.is_transfer() {
        let payload = shard.point.payload;
        let (seed, worker) = (shard.point.seed, shard.streams.start);
        let mut repeating = match payload.duplicates {
            Some(duplicates) => {
                let contents = Contents::new(duplicates, seed, worker);
                Repeating::new(&mut target, shard.slots(), payload, contents)
            }
            None => {
                // No other target, run or segment may have written the same.
                let place = format!("{} {}", shard.point.index, start.0);
                let seed = Seed(common.stamp).derive(&place).0;
                Repeating::never(&mut target, Contents::new(Duplicates::NONE, seed, worker))
            }
        };
        run(&mut repeating)
    } else if common.records.is_some() || drops {
        run(target.as_target())
    } else {
        target.measure_shard(shard, start, common.stop, see)
    };
    let used = Used {
        engine: target.engine(),
        probe: target.probe().clone(),
        clock: target.clock_check(),
        waited: share_waited(began, before, qdepth_linux::now()),
    };
    Ok((outcome, used, ios))
}

/// Share of the time since `began` in which this thread was ready and had no CPU. `before` is its
/// waiting time until then. 0 if the kernel does not report it.
fn share_waited(began: Instant, before: Option<Nanos>, now: Instant) -> f64 {
    let waited =
        waited_for_cpu().zip(before).map(|(after, before)| Nanos(after.0.saturating_sub(before.0)));
    waited.map_or(0.0, |waited| waited.as_secs_f64() / now.since(began).as_secs_f64().max(1e-9))
}

fn open(
    shard: &Shard<'_>,
    file: std::io::Result<(OwnedFd, Option<Namespace>)>,
    engine: EngineChoice,
) -> Result<KernelTarget> {
    let point = shard.point;
    let (file, namespace) = file.context("cannot duplicate the target's descriptor")?;
    let seed = shard.seed();
    let slots = shard.slots();
    let options = OpenOptions { slots, seed, namespace, ..OpenOptions::from_point(point, engine) };
    // Before the engine starts threads, because they inherit the priority.
    let usual = point.priorities.as_ref().and_then(|priorities| priorities.usual);
    usual.map_or(Ok(()), take_priority).context("the kernel refused the priority")?;
    let mut target = KernelTarget::open(file, &options)?;
    if let Some(priorities) = &point.priorities {
        target.prioritise(priorities, seed)?;
    }
    target.advise(point.advice)?;
    target.set_io_flag(point.io_flag, point.block_size.max())?;
    Ok(target)
}
