//! Preconditioning: writes the targets before the first point, with the measuring loop itself. An
//! emulated device is set to the resulting state of wear instead.

use anyhow::{Context, Result, bail};
use qdepth_linux::EngineChoice;
use qdepth_measure::{Bytes, Nanos};
use qdepth_record::event::Phase;
use qdepth_record::figures::{Figures, PASSES};
use qdepth_record::{Observation, PhaseStep, phase_step, source};
use qdepth_workload::{Plan, Point, Wear};

use crate::Lab;
use crate::events::observer::Progress;
use crate::execute::execute;
use crate::execute::measure_options::MeasureOptions;
use crate::execute::preconditioned::{Done, fact, is_there};
use crate::execute::until_steady::{rounds, rounds_text};
use crate::execute::written::Written;
use crate::outcome::measured::Measured;
use crate::request::Pinning;
use crate::target::prepare::{Prepared, PreparedStorage};

/// Executes the plan's preconditioning, and returns the facts and findings about it.
pub(crate) fn precondition(
    lab: Lab<'_>,
    plan: &Plan,
    targets: &mut [Prepared],
    engine: EngineChoice,
) -> Result<Done> {
    let Some(wear) = plan.wear() else { return Ok(Done::default()) };
    let mut done = Done::default();
    for (index, target) in targets.iter_mut().enumerate() {
        if let PreparedStorage::Emulated(emulation) = &mut target.storage {
            emulation.medium.set_wear(match wear {
                Wear::Preconditioned => qdepth_media::Wear::PRECONDITIONED,
                Wear::Steady => qdepth_media::Wear::STEADY,
            });
            done.facts.push((index, fact(target, wear.name().to_owned(), source::STATE)));
        }
    }
    let unread = Written::default();
    let options = MeasureOptions {
        lab: Lab { all_ranks: None, ..lab },
        engine,
        stamp: 0,
        written: &unread,
        placement: &Pinning::Scheduler,
    };
    // All targets are real or all are emulated.
    let put = !done.facts.is_empty();
    for group in plan.precondition_groups() {
        if let Some(asked) = group.iter().find_map(|point| point.stop.until_steady) {
            let Done { facts, findings } = rounds(targets, group, options, asked, put)?;
            done.facts.extend(facts);
            done.findings.extend(findings);
        } else if !put {
            done.facts.extend(written(targets, group, options)?);
        }
    }
    Ok(done)
}

/// Writes the loads of one step on all targets at the same time.
fn written(
    targets: &[Prepared],
    group: &[Point],
    options: MeasureOptions<'_>,
) -> Result<Vec<(usize, Observation)>> {
    let bytes = Point::bytes_together(group);
    let step = group.first().map(passes_step).unwrap_or_default();
    let mut progress =
        Progress::begin(options.lab.observer, Phase::Preconditioning, step, Some(bytes));
    let measured = execute(targets, group, options, &mut |event| {
        progress.add(event.written());
    });
    drop(progress);
    let mut done = Vec::new();
    for (point, measured) in group.iter().zip(&measured?) {
        let index = point.target as usize;
        let target = &targets[index];
        ended(point, measured).with_context(|| {
            format!("{} could not be preconditioned", target.expression.display())
        })?;
        let value = done_in(point, measured.outcome.duration);
        done.push((index, fact(target, value.stored(), source::WRITTEN)));
    }
    Ok(done)
}

/// Fact about a target: its passes, and how long they took.
fn done_in(point: &Point, took: Nanos) -> Figures {
    Figures::new(PASSES)
        .text("load", &point.profile)
        .text("block_size", &point.block_size.text())
        .figure("passes", passes(point) as f64)
        .figure("area_bytes", point.area.length_bytes as f64)
        .figure("took_ns", took.0 as f64)
}

/// The same as a step, before the passes begin.
fn passes_step(point: &Point) -> PhaseStep {
    PhaseStep::new(phase_step::PASSES)
        .label("load", &point.profile)
        .label("block_size", point.block_size.text())
        .value("passes", passes(point) as f64)
        .value("area_bytes", point.area.length_bytes as f64)
}

/// Number of passes over the area.
fn passes(point: &Point) -> u64 {
    (point.bytes_of_streams() / point.area.length_bytes).max(1)
}

/// Fails if a step did not complete, because that leaves the target in an undefined state of wear.
fn ended(point: &Point, measured: &Measured) -> Result<()> {
    is_there(measured)?;
    let outcome = &measured.outcome;
    let written = outcome.bytes() + outcome.bytes_outside;
    if outcome.interrupted || outcome.failed() > 0 || outcome.failed_outside > 0 {
        bail!(
            "{} of {} were written{}",
            Bytes(written),
            Bytes(point.bytes_of_streams()),
            if outcome.interrupted {
                "before the interruption"
            } else {
                "; the other writes failed"
            }
        );
    }
    Ok(())
}

/// Description of a step, for example `sequential 128KiB, 2 passes of 64GiB`.
pub fn describe(point: &Point) -> String {
    if let Some(asked) = point.stop.until_steady {
        return rounds_text(point, asked);
    }
    let passes = passes(point);
    format!(
        "{} {}, {passes} {} of {}",
        point.profile,
        point.block_size.text(),
        if passes == 1 { "pass" } else { "passes" },
        Bytes(point.area.length_bytes)
    )
}
