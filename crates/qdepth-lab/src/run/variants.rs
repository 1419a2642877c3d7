//! Runs of variants: each is prepared, measured as a separate run, and undone. Their points are
//! then merged into one more run that compares them.

use anyhow::{Context, Result};
use qdepth_logbook::Logbook;
use qdepth_record::event::{RunEvent, VariantStarted};
use qdepth_record::{PointRecord, RunRecord, RunState};
use qdepth_workload::{Plan, side_by_side};

use crate::Lab;
use crate::failure::Usage;
use crate::request::words::run_location;
use crate::request::{FinishedRun, PlanRequest, RunRequest};
use crate::run::events::{Events, Publisher};
use crate::run::one_run::run_single;
use crate::run::record::{command, comparison};
use crate::target::preparation::may_be_prepared;
use crate::target::prepare::refusal_to_failure;

/// Measures all variants, one after the other, and compares them. After a failure or an
/// interruption, completed variants remain in the logbook as separate runs.
pub(crate) fn measure(
    lab: Lab<'_>,
    publisher: &Publisher<'_>,
    asked: &PlanRequest,
) -> Result<Option<FinishedRun>> {
    if lab.all_ranks.is_some() {
        anyhow::bail!(Usage("several ranks cannot prepare variants: use one rank".to_owned()));
    }
    let each = asked.variants()?;
    may_be_prepared(lab, &each)?;
    let mut logbook = Logbook::open(&lab.request.logbook)?;
    let mut runs = Vec::new();
    for (variant, plan) in asked.file.variants.iter().zip(each) {
        let (name, target) = (variant.name.clone(), variant.target.clone());
        lab.observer.event(&RunEvent::VariantStarted(VariantStarted { name, target }));
        let none = Vec::new();
        let request =
            RunRequest { plan: Some(plan), command: None, facts: none, ..lab.request.clone() };
        let ran = run_single(Lab { request: &request, ..lab }, publisher)
            .map_err(|error| refusal_to_failure(error, !runs.is_empty()))
            .with_context(|| format!("variant `{}`", variant.name))?;
        let Some(ran) = ran else { return Ok(None) };
        lab.observer.message(run_location(&request.logbook, &ran.run.id));
        if ran.signal.is_some() {
            return Ok(Some(ran));
        }
        runs.push((ran.run, ran.points));
    }
    let (plan, mut run, points) = together(asked, runs)?;
    run.environment.extend(command(lab.request, run.seed));
    run.environment.extend(lab.request.facts.iter().cloned());
    logbook.hold(&run.id)?;
    publisher.follow(&logbook)?;
    logbook.begin_run(&RunRecord { state: RunState::Running, ended_at: None, ..run.clone() })?;
    let events = Events::started(publisher, &run, &plan, points.len());
    for point in &points {
        logbook.add_point(&run.id, point)?;
    }
    logbook.end_run(&run.id, run.state, run.ended_at.as_deref().unwrap_or_default(), &[])?;
    events.run_ended(run.state, points.len() as u32, &[]);
    let (run, points) = logbook.measured(&run.id)?;
    let planned = run.points_planned as usize;
    let lost = planned.saturating_sub(points.len());
    Ok(Some(FinishedRun { run, points, signal: None, lost, planned, ranks: Vec::new() }))
}

/// Merges the runs of all variants into one run with its plan. Points and targets are renumbered.
fn together(
    asked: &PlanRequest,
    runs: Vec<(RunRecord, Vec<PointRecord>)>,
) -> Result<(Plan, RunRecord, Vec<PointRecord>)> {
    let read = |run: &RunRecord| Plan::stored(&run.plan_text, &run.plan_hash).map_err(Usage);
    let plans = runs.iter().map(|(run, _)| read(run)).collect::<Result<Vec<_>, _>>()?;
    let lengths: Vec<u32> = plans.iter().map(|plan| plan.points.len() as u32).collect();
    let plan = side_by_side(&asked.file, &asked.choices, plans)?;
    let mut all = runs.into_iter();
    let (mut run, mut points) = all.next().context("the plan has no variants (internal error)")?;
    let mut begin = lengths[0];
    name(&mut run, &asked.file.variants[0].name);
    for ((number, (other, theirs)), length) in (1..).zip(all).zip(&lengths[1..]) {
        join(&mut run, other, number, &asked.file.variants[number as usize].name, begin);
        points.extend(theirs.into_iter().map(|mut point| {
            point.index += begin;
            point
        }));
        begin += length;
    }
    for point in &mut points {
        let planned = &plan.points[point.index as usize];
        (point.group, point.target, point.variant) =
            (planned.group, planned.target, planned.variant);
    }
    run.id = uuid::Uuid::now_v7().to_string();
    run.plan_name.clone_from(&plan.name);
    (run.plan_hash, run.plan_text) = (plan.hash(), plan.text());
    run.points_planned = plan.points.len() as u32;
    run.comparison = plan.comparison.as_ref().map(comparison).transpose()?;
    Ok((plan, run, points))
}

/// Prefixes target names with the variant: several variants may use the same directory.
fn name(run: &mut RunRecord, variant: &str) {
    for target in &mut run.targets {
        target.name = format!("{variant}: {}", target.name);
    }
}

/// Adds the run of another variant to the first. Only facts of the machine that differ are added,
/// because a setting may be what is compared. Points are numbered from `begin`.
fn join(run: &mut RunRecord, mut other: RunRecord, number: u32, variant: &str, begin: u32) {
    name(&mut other, variant);
    run.join(&other);
    for mut target in other.targets {
        target.index = number;
        run.targets.push(target);
    }
    for mut expected in other.expected {
        expected.point += begin;
        run.expected.push(expected);
    }
    for mut fact in other.environment {
        let same = run.environment.iter().any(|known| {
            (&known.subject, &known.key, &known.value) == (&fact.subject, &fact.key, &fact.value)
        });
        if !same && fact.subject != "generator" {
            fact.subject = format!("{variant}: {}", fact.subject);
            run.environment.push(fact);
        }
    }
}
