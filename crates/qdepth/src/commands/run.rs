//! `qdepth run`: measure, keep, tell.

use anyhow::{Context, Result};
use jiff::Timestamp;
use qdepth_files::Privacy;
use qdepth_host::system::System;
use qdepth_logbook::export_json;
use qdepth_logbook::record::{PointRecord, RunRecord, RunState};
use qdepth_measure::{Finding, Grade};

use crate::commands::plan::{counted, long};
use crate::commands::read::print_table;
use crate::commands::variants;
use crate::ended::Status;
use crate::flags::RunOptions;
use crate::lab::Lab;
use crate::lab::begin::begin;
use crate::lab::crew::{crew, follow};
use crate::lab::identity::Changed;
use crate::lab::points::points;
use crate::lab::preparation::Preparation;
use crate::lab::read_plan;
use crate::lab::signals::Signals;
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::print_document;

pub(crate) fn run(options: &RunOptions) -> Result<Status> {
    let (screen, system) = (Screen::new(), System::real());
    let signals = Signals::watch()?;
    let report = report_file(options)?;
    let crew = crew()?;
    let lab = Lab {
        options,
        system: &system,
        screen: &screen,
        signals: &signals,
        crew: crew.as_ref(),
        report: report.as_ref(),
    };
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
    tell(lab, &run, &points)?;
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

/// Where the report goes, if there is to be one: what it holds of the machine is its owner's.
fn report_file(options: &RunOptions) -> Result<Option<ResultFile>> {
    let report = (!options.no_report).then_some(&options.report);
    report
        .map(|path| ResultFile::file(path, Privacy::Private))
        .transpose()
        .context("the report cannot be written (another name for --report, or --no-report)")
}

pub(crate) fn tell(lab: Lab<'_>, run: &RunRecord, points: &[PointRecord]) -> Result<()> {
    let Lab { options, screen, report, .. } = lab;
    if let Some(place) = &options.handed {
        // It is set once, since a command measures once.
        let _ = place.set(run.id.clone());
    } else if options.json {
        print_document(&export_json(run, points))?;
    } else {
        print_table(run, points, &options.telling.telling())?;
    }
    screen.say(&format!("logbook  {}  run {}", options.logbook.logbook.display(), &run.id[..13]));
    if let Some(report) = report {
        let document = qdepth_report::compose(run, points, options.telling.telling());
        report.write(qdepth_report::html(&document)?).with_context(|| {
            format!("no report {}; the run is kept: then `qdepth report`", report.path().display())
        })?;
        screen.say(&format!("report   {}", report.path().display()));
    }
    Ok(())
}
