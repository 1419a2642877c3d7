//! Variants: each is prepared, measured as a run of its own, and taken back; then their points
//! stand side by side in one run more.

use std::cell::OnceCell;
use std::rc::Rc;

use anyhow::{Context, Result};
use qdepth_logbook::Logbook;
use qdepth_logbook::record::{PointRecord, RunRecord, RunState};
use qdepth_workload::{Plan, side_by_side};

use crate::commands::run::{lead, tell};
use crate::ended::{Status, Usage};
use crate::lab::Lab;
use crate::lab::again;
use crate::lab::preparation::may_be_prepared;
use crate::lab::prepare::after_all;
use crate::lab::read_plan::Asked;
use crate::lab::record::comparison;

/// Measures one after the other, and compares. What was finished before a failure or an
/// interruption stays in the logbook, as runs of its own.
pub(crate) fn measure(lab: Lab<'_>, asked: &Asked) -> Result<Status> {
    if lab.crew.is_some() {
        anyhow::bail!(Usage("several ranks cannot prepare variants: run one".to_owned()));
    }
    let alone = asked.variants()?;
    may_be_prepared(lab, &alone)?;
    let mut logbook = Logbook::open(&lab.options.logbook.logbook)?;
    let (mut runs, mut worst) = (Vec::new(), Status::Valid);
    for (variant, alone) in asked.file.variants.iter().zip(alone) {
        lab.screen.say(&format!("variant    {}, on {}", variant.name, variant.target));
        let handed = Rc::new(OnceCell::new());
        let mut options = lab.options.clone();
        options.load.given = Some(alone);
        options.handed = Some(Rc::clone(&handed));
        let ended = lead(Lab { options: &options, report: None, ..lab })
            .map_err(|error| after_all(error, !runs.is_empty()))
            .with_context(|| format!("variant `{}`", variant.name));
        match ended? {
            interrupted @ Status::Interrupted(_) => return Ok(interrupted),
            Status::Invalid => worst = Status::Invalid,
            Status::Valid | Status::CannotTell => {}
        }
        let id = handed.get().context("a variant without a run")?;
        runs.push(logbook.measured(id)?);
    }
    let (mut run, points) = together(asked, runs)?;
    run.environment.extend(again::command(lab.options, &asked.file, run.seed));
    logbook.hold(&run.id)?;
    logbook.begin_run(&RunRecord { state: RunState::Running, ended_at: None, ..run.clone() })?;
    for point in &points {
        logbook.add_point(&run.id, point)?;
    }
    logbook.end_run(&run.id, run.state, run.ended_at.as_deref().unwrap_or_default(), &[])?;
    let (run, points) = logbook.measured(&run.id)?;
    tell(lab, &run, &points)?;
    Ok(worst)
}

/// One run of the runs of all variants: their points and targets, numbered anew.
fn together(
    asked: &Asked,
    runs: Vec<(RunRecord, Vec<PointRecord>)>,
) -> Result<(RunRecord, Vec<PointRecord>)> {
    let read = |run: &RunRecord| Plan::stored(&run.plan_text, &run.plan_hash).map_err(Usage);
    let plans = runs.iter().map(|(run, _)| read(run)).collect::<Result<Vec<_>, _>>()?;
    let lengths: Vec<u32> = plans.iter().map(|plan| plan.points.len() as u32).collect();
    let plan = side_by_side(&asked.file, &asked.choices, plans)?;
    let mut all = runs.into_iter();
    let (mut run, mut points) = all.next().context("a plan without variants")?;
    let mut begin = lengths[0];
    name(&mut run, &asked.file.variants[0].name);
    for ((number, (other, theirs)), length) in (1..).zip(all).zip(&lengths[1..]) {
        join(&mut run, other, number, (&asked.file.variants[number as usize].name, begin));
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
    run.comparison = plan.comparison.as_ref().map(comparison);
    Ok((run, points))
}

/// A target is called by its variant too: the same directory may be several of them.
fn name(run: &mut RunRecord, variant: &str) {
    for target in &mut run.targets {
        target.name = format!("{variant}: {}", target.name);
    }
}

/// Adds the run of another variant to that of the first. Of the machine what is different is added:
/// a setting may be what is compared.
fn join(run: &mut RunRecord, mut other: RunRecord, number: u32, (variant, begin): (&str, u32)) {
    name(&mut other, variant);
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
    for finding in other.findings {
        if !run.findings.contains(&finding) {
            run.findings.push(finding);
        }
    }
    if other.state != RunState::Sealed {
        run.state = other.state;
    }
    run.ended_at = other.ended_at;
}
