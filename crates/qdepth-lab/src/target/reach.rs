//! Check that the targets support the chosen engine and that the requests fit, before anything is
//! claimed.

use anyhow::{Result, bail};
use qdepth_host::reach::{Commands, Unreachable, discard_max_bytes, poll_queues};
use qdepth_host::system::System;
use qdepth_host::target::Inspected;
use qdepth_linux::{Engine, EngineChoice, IoFlagError};
use qdepth_workload::{IoFlag, Plan, Point};

use crate::failure::{Missing, Usage};
use crate::target::memory;
use crate::target::prepare::ResolvedTarget;

/// Checks every target of the plan. Emulated ones have no engine.
pub(crate) fn reachable(
    system: &System,
    choice: EngineChoice,
    targets: &[ResolvedTarget],
    plan: &Plan,
) -> Result<()> {
    if targets.iter().any(|target| target.real().is_some()) {
        memory::is_enough(system, plan)?;
    }
    for (number, target) in targets.iter().enumerate() {
        if let ResolvedTarget::Real(target) = target {
            let all = plan.precondition.iter().chain(&plan.points);
            let points = all.filter(|point| point.target as usize == number);
            if points.clone().any(Point::trims) {
                discards(system, choice, target)?;
            }
            if let EngineChoice::Only(engine) = choice {
                check_target(system, engine, target, points)?;
                takes_load(engine, plan)?;
            }
        }
    }
    Ok(())
}

/// Checks that the target supports discards with this engine, as far as it reports that.
fn discards(system: &System, choice: EngineChoice, target: &Inspected) -> Result<()> {
    if let EngineChoice::Only(engine) = choice
        && !engine.trims()
    {
        bail!(Usage(format!(
            "--engine {}: this engine does not support trims; nothing was changed. Use --engine \
             io_uring, threads or sync",
            engine.name()
        )));
    }
    if let Some(0) = discard_max_bytes(system, target) {
        bail!(Missing(format!(
            "{} does not support discards (discard_max_bytes is 0); nothing was changed. Remove \
             the trims, or use another device",
            target.expression.display()
        )));
    }
    Ok(())
}

fn check_target<'p>(
    system: &System,
    engine: Engine,
    target: &Inspected,
    points: impl Iterator<Item = &'p Point> + Clone,
) -> Result<()> {
    let no = |why: Unreachable| {
        Missing(format!("--engine {} (nothing was changed): {why}", engine.name()))
    };
    if engine.polls_device() {
        poll_queues(system, target).map_err(no)?;
        if points.clone().any(|point| point.syncs() || point.fsync.at_end) {
            bail!(Usage(format!(
                "--engine {}: a polling ring supports only reads and writes, no syncs. Use another \
                 engine",
                engine.name()
            )));
        }
    }
    if engine == Engine::Mmap && points.clone().any(|point| point.direct || point.trims()) {
        bail!(Usage(
            "--engine mmap: a mapping always uses the page cache and has no trims, but the plan \
             has points with direct I/O or trims (nothing was changed). Add `direct = false` to \
             the profile, or use another engine"
                .to_owned()
        ));
    }
    if engine.sends_commands() {
        let commands = Commands::find(system, target).map_err(no)?;
        let most = commands.max_transfer_bytes.unwrap_or(u64::MAX);
        let largest = points.clone().map(|point| point.block_size.max()).max().unwrap_or(0);
        if u64::from(largest) > most {
            bail!(Missing(format!(
                "--engine {}: a block size of {largest} B exceeds the limit of one command to {}, \
                 {most} B; nothing was changed. Use a smaller --block-size, or another engine, \
                 which splits I/Os",
                engine.name(),
                target.expression.display()
            )));
        }
        if points.clone().any(|point| !point.direct) {
            bail!(Usage(format!(
                "--engine {}: this engine always bypasses the page cache, but the plan has `direct \
                 = false`. Use another engine",
                engine.name()
            )));
        }
    }
    Ok(())
}

/// Checks that the engine can hold the requests in flight, and pass on their flags.
fn takes_load(engine: Engine, plan: &Plan) -> Result<()> {
    let in_flight = |point: &Point| {
        point.streams.div_ceil(point.workers.max(1)).saturating_mul(point.queue_depth)
    };
    let most = |points: &[Point]| points.iter().map(in_flight).max().unwrap_or(0);
    let (named, before) = (most(&plan.points), most(&plan.precondition));
    let instead = match (named, plan.answer.is_empty(), before) {
        _ if !engine.blocks() => None,
        (2.., ..) => Some(format!(
            "the plan has points with {named} I/Os in flight per worker (nothing was changed). Add \
             --queue-depth 1"
        )),
        (_, false, _) => Some(
            "the search for a rate keeps more in flight (nothing was changed). Use the default \
             engine"
                .to_owned(),
        ),
        (.., 2..) => Some(format!(
            "preconditioning keeps {before} in flight (nothing was changed). Precondition in a run \
             of its own with the default engine"
        )),
        _ => None,
    };
    if let Some(instead) = instead {
        bail!(Usage(format!(
            "--engine {}: a worker makes one I/O at a time, but {instead}, or use --engine \
             threads, which makes blocking calls at any queue depth",
            engine.name()
        )));
    }
    if !engine.passes_flags() && plan.points.iter().any(|point| point.io_flag != IoFlag::None) {
        let why = IoFlagError::Engine(engine.name());
        bail!(Usage(format!("--engine {} (nothing was changed): {why}", engine.name())));
    }
    Ok(())
}
