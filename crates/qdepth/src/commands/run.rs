//! `qdepth run`: measure, keep, tell.

use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_host::system::System;
use qdepth_logbook::export_json;
use qdepth_logbook::record::{PointRecord, RunRecord, RunState};
use qdepth_measure::{Finding, Grade};
use rustix::io::Errno;

use crate::commands::plan::{counted, long};
use crate::commands::read::{print, print_table, write_report};
use crate::commands::variants;
use crate::ended::{Status, Usage};
use crate::flags::RunOptions;
use crate::lab::Lab;
use crate::lab::begin::begin;
use crate::lab::crew::{crew, follow};
use crate::lab::identity::Changed;
use crate::lab::points::points;
use crate::lab::preparation::Preparation;
use crate::lab::read_plan;
use crate::lab::signals::Signals;
use crate::screen::Screen;

pub(crate) fn run(options: &RunOptions) -> Result<Status> {
    let (screen, system) = (Screen::new(), System::real());
    let signals = Signals::watch()?;
    if !options.no_report {
        can_hold_a_report(&options.report)?;
    }
    let crew = crew()?;
    let lab =
        Lab { options, system: &system, screen: &screen, signals: &signals, crew: crew.as_ref() };
    let status = match lab.crew.filter(|crew| !crew.leads()) {
        Some(crew) => follow(lab, crew),
        None => lead(lab),
    };
    if let Some(crew) = crew {
        crew.end();
    }
    status
}

/// What this process does where it is the only one, or leads.
pub(crate) fn lead(lab: Lab<'_>) -> Result<Status> {
    let Lab { options, screen, signals, .. } = lab;
    let asked = if options.resume { None } else { Some(read_plan::read(&options.load)?) };
    if let Some(asked) = asked.as_ref().filter(|asked| !asked.file.variants.is_empty()) {
        return variants::measure(lab, asked);
    }
    // Dropped after everything that uses what it made.
    let _prepared = asked.as_ref().map(|asked| Preparation::of_plan(lab, asked)).transpose()?;
    let begun = begin(lab, asked);
    if let (Err(_), Some(signal)) = (&begun, signals.caught()) {
        screen.say("interrupted before the first point: nothing was measured");
        return Ok(Status::Interrupted(signal));
    }
    let (mut logbook, ready) = begun?;
    screen.say(&format!(
        "plan {} ({}), {}, {}{} in all, seed {}",
        ready.plan.name,
        &ready.run.plan_hash[..12],
        counted(ready.plan.points.len()),
        if ready.plan.may_end_early() { "at most " } else { "" },
        long(ready.plan.duration_ns()),
        ready.plan.seed
    ));
    let measured = points(lab, &ready, &mut logbook);
    // Should the logbook not answer, the run is not called whole, and what was made is put back.
    let done = logbook.points_done(&ready.run.id).map_or(0, |done| done.len());
    let beyond = *measured.as_ref().unwrap_or(&0);
    let left = ready.plan.points.len().saturating_sub(done + beyond);
    let state = match (&measured, signals.caught()) {
        (Err(_), _) => RunState::Failed,
        (Ok(_), Some(_)) => RunState::Interrupted,
        (Ok(_), None) if left > 0 => RunState::Failed,
        (Ok(_), None) => RunState::Sealed,
    };
    let changed = measured.as_ref().err().and_then(|error| error.downcast_ref::<Changed>());
    let changed = changed.map(Changed::finding);
    let findings: Vec<Finding> = options.remarks.iter().cloned().chain(changed).collect();
    let ended = logbook.end_run(&ready.run.id, state, &Timestamp::now().to_string(), &findings);
    for target in ready.targets {
        if let Err(error) = target.put_back() {
            screen.say(&format!("{error:#}"));
        }
    }
    measured?;
    ended?;
    let (run, points) = logbook.measured(&ready.run.id)?;
    tell(options, &run, &points, screen)?;
    if let Some(signal) = signals.caught() {
        screen.say("interrupted: what was measured is kept; `qdepth run --resume` continues");
        return Ok(Status::Interrupted(signal));
    }
    if left > 0 {
        screen.say(&format!(
            "{left} of {} points lost their target; `qdepth run --resume` measures them again",
            ready.plan.points.len()
        ));
    }
    let valid = |findings: &Vec<Finding>| Grade::of(findings) != Grade::C;
    let all_valid = points.iter().all(|p| valid(&p.findings)) && valid(&run.findings);
    Ok(if all_valid { Status::Valid } else { Status::Invalid })
}

/// A report that cannot be written must not show after minutes of measuring.
fn can_hold_a_report(report: &Path) -> Result<()> {
    let folder = report.parent().filter(|folder| !folder.as_os_str().is_empty());
    if report.is_dir() || !folder.unwrap_or(Path::new(".")).is_dir() {
        anyhow::bail!(Usage(format!(
            "the report cannot be written to {}: give a file in a directory that exists, or --no-report",
            report.display()
        )));
    }
    Ok(())
}

pub(crate) fn tell(
    options: &RunOptions,
    run: &RunRecord,
    points: &[PointRecord],
    screen: &Screen,
) -> Result<()> {
    if let Some(place) = &options.handed {
        // It is set once, since a command measures once.
        let _ = place.set(run.id.clone());
    } else if options.json {
        print(&export_json(run, points))?;
    } else {
        print_table(run, points, &options.telling.telling())?;
    }
    screen.say(&format!("logbook  {}  run {}", options.logbook.logbook.display(), &run.id[..13]));
    if !options.no_report {
        write_report(run, points, &options.telling.telling(), &options.report)
            .map_err(|error| full_disk(error, &options.report))?;
        screen.say(&format!("report   {}", options.report.display()));
    }
    Ok(())
}

fn full_disk(error: anyhow::Error, report: &Path) -> anyhow::Error {
    let full = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error)
        == Some(Errno::NOSPC.raw_os_error());
    if full {
        error.context(format!(
            "no room for the report {}; the run is kept in the logbook: free some space, then `qdepth report`",
            report.display()
        ))
    } else {
        error
    }
}
