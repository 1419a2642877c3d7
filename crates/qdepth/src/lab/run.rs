//! A run: what is asked for is made ready, measured and kept.

use anyhow::Result;
use jiff::Timestamp;
use qdepth_host::system::System;
use qdepth_logbook::record::RunState;
use qdepth_measure::Finding;

use crate::lab::begin::begin;
use crate::lab::crew::{crew, follow};
use crate::lab::events::{Events, events_file};
use crate::lab::identity::Changed;
use crate::lab::observer::Observer;
use crate::lab::points::points;
use crate::lab::preparation::Preparation;
use crate::lab::request::{Ran, RunRequest};
use crate::lab::signals::Signals;
use crate::lab::{Lab, variants};

/// Measures what is asked for. None where nothing was: this is a rank that followed another, or a
/// signal came before the first point.
///
/// # Errors
/// Where it is refused or fails; what was finished is in the logbook.
pub(crate) fn run(
    request: &RunRequest,
    observer: &dyn Observer,
    signals: &Signals,
) -> Result<Option<Ran>> {
    let (system, crew) = (System::real(), crew()?);
    let lab = Lab { request, system: &system, observer, signals, crew: crew.as_ref() };
    let ran = match lab.crew.filter(|crew| !crew.leads()) {
        Some(crew) => follow(lab, crew).map(|()| None),
        None => lead(lab),
    };
    if let Some(crew) = crew {
        crew.end();
    }
    ran
}

/// What this process does where it is the only one, or leads.
fn lead(lab: Lab<'_>) -> Result<Option<Ran>> {
    match lab.request.plan.as_ref().filter(|plan| !plan.file.variants.is_empty()) {
        Some(plan) => variants::measure(lab, plan),
        None => alone(lab),
    }
}

/// One run, which is no comparison of variants.
pub(crate) fn alone(lab: Lab<'_>) -> Result<Option<Ran>> {
    let Lab { request, observer, signals, .. } = lab;
    let file = request.events.as_deref().map(events_file).transpose()?;
    let mut events = Events::new(observer, file.as_ref());
    // Dropped after everything that uses what it made.
    let plan = request.plan.as_ref();
    let _prepared = plan.map(|plan| Preparation::of_plan(lab, plan)).transpose()?;
    let begun = begin(lab);
    if begun.is_err() && signals.caught().is_some() {
        return Ok(None);
    }
    let (mut logbook, ready) = begun?;
    let mut ranks = Vec::new();
    events.started(&logbook, &ready);
    let measured = points(lab, &ready, &mut logbook, (&mut ranks, &mut events));
    // Should the logbook not answer, the run is not called whole, and what was made is put back.
    let done = logbook.points_done(&ready.run.id).map_or(0, |done| done.len());
    let beyond = *measured.as_ref().unwrap_or(&0);
    let planned = ready.plan.points.len();
    let lost = planned.saturating_sub(done + beyond);
    let state = match (&measured, signals.caught()) {
        (Err(_), _) => RunState::Failed,
        (Ok(_), Some(_)) => RunState::Interrupted,
        (Ok(_), None) if lost > 0 => RunState::Failed,
        (Ok(_), None) => RunState::Sealed,
    };
    let changed = measured.as_ref().err().and_then(|error| error.downcast_ref::<Changed>());
    let changed = changed.map(Changed::finding);
    let remarks = request.remarks.iter().chain(&ready.remarks).cloned();
    let findings: Vec<Finding> = remarks.chain(changed).collect();
    let id = ready.run.id;
    let ended = logbook.end_run(&id, state, &Timestamp::now().to_string(), &findings);
    events.run_ended(&logbook, state, done as u32);
    for target in ready.targets {
        if let Err(error) = target.put_back() {
            observer.warn(&format!("{error:#}"));
        }
    }
    measured?;
    ended?;
    let (run, points) = logbook.measured(&id)?;
    Ok(Some(Ran { run, points, signal: signals.caught(), lost, planned, ranks }))
}
