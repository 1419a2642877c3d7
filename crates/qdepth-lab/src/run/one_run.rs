//! A single run, not a comparison of variants: preparation, measurement and storage.

use anyhow::Result;
use jiff::Timestamp;
use qdepth_measure::Finding;
use qdepth_record::RunState;

use crate::Lab;
use crate::outcome::findings::device_changed;
use crate::request::FinishedRun;
use crate::run::begin::begin;
use crate::run::events::{Events, Publisher};
use crate::run::points::points;
use crate::target::identity::Changed;
use crate::target::left_behind::unless_it_answers;
use crate::target::preparation::Preparation;

/// Executes a single run.
pub(crate) fn run_single(lab: Lab<'_>, publisher: &Publisher<'_>) -> Result<Option<FinishedRun>> {
    let Lab { request, observer, signals, .. } = lab;
    // Dropped last, after everything that uses the prepared machine.
    let plan = request.plan.as_ref();
    let _prepared = plan.map(|plan| Preparation::of_plan(lab, plan)).transpose()?;
    let begun = begin(lab, publisher);
    if begun.is_err() && signals.caught().is_some() {
        return Ok(None);
    }
    let (mut logbook, ready) = begun?;
    let mut ranks = Vec::new();
    let mut events = Events::started(observer, &ready.run, &ready.plan, ready.done.len());
    let measured = points(lab, &ready, &mut logbook, &mut ranks, &mut events);
    // If the logbook cannot be read, the run does not count as complete, and the targets are still
    // restored.
    let done = logbook.points_done(&ready.run.id).map_or(0, |done| done.len());
    let beyond = *measured.as_ref().unwrap_or(&0);
    let planned = ready.plan.points.len();
    let lost = planned.saturating_sub(done + beyond);
    let state = match (&measured, signals.caught()) {
        (Err(_), _) => RunState::Failed,
        (Ok(_), Some(_)) => RunState::Interrupted,
        (Ok(_), None) if lost > 0 => RunState::Failed,
        (Ok(_), None) => RunState::Complete,
    };
    let changed = measured.as_ref().err().and_then(|error| error.downcast_ref::<Changed>());
    let changed = changed.map(device_changed);
    let remarks = request.remarks.iter().chain(&ready.remarks).cloned();
    let findings: Vec<Finding> = remarks.chain(changed).collect();
    let id = ready.run.id;
    let ended = logbook.end_run(&id, state, &Timestamp::now().to_string(), &findings);
    events.run_ended(state, done as u32, &findings);
    for target in ready.targets {
        let _limit = unless_it_answers();
        if let Err(error) = target.put_back() {
            observer.warn(format!("{error:#}"));
        }
    }
    measured?;
    ended?;
    let (run, points) = logbook.measured(&id)?;
    Ok(Some(FinishedRun { run, points, signal: signals.caught(), lost, planned, ranks }))
}
