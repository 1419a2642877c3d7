//! `qdepth run`: measure, keep, tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use jiff::Timestamp;
use qdepth_host::environment;
use qdepth_host::extents::unwritten_share;
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, Kind, inspect};
use qdepth_host::{Guard, Refusal};
use qdepth_linux::EngineChoice;
use qdepth_logbook::record::{
    MEASUREMENT_VERSION, Observation, PointRecord, RunRecord, RunState, TargetKind, TargetRecord,
};
use qdepth_logbook::{Logbook, PointSummary, RESERVE_BYTES, export_json, follows};
use qdepth_measure::{Code, Finding, Grade, Nanos, Severity};
use qdepth_workload::{Choices, Plan, needs_writing, resolve};
use rustix::io::Errno;

use crate::commands::media;
use crate::commands::plan::{counted, foresee, long};
use crate::commands::read::{print, print_table, write_report};
use crate::ended::{Status, Usage};
use crate::flags::{EngineFlag, RunOptions};
use crate::lab::calibrate;
use crate::lab::execute::{Changed, Signals, execute};
use crate::lab::prepare::{Order, Prepared, What, prepare};
use crate::lab::read_plan::{self, Asked};
use crate::lab::seal::seal;
use crate::screen::Screen;

/// Size of a measurement file where plan and command line name none: the standard area.
const FILE_BYTES: u64 = 32 << 30;
/// Stands beside everything that was measured in virtual time.
const EMULATED: &str = "EMULATED";
/// Share by which stamps may run ahead of the kernel's clock or behind it. Its own slewing is at
/// most 0.05 %.
const CLOCK_DRIFT: f64 = 0.001;
/// The standard measurement area.
const STANDARD_AREA: u64 = 32 << 30;

/// Everything that a run needs, before its first point.
struct Ready {
    plan: Plan,
    targets: Vec<Prepared>,
    ceilings: BTreeMap<u32, f64>,
    engine: EngineChoice,
    run: RunRecord,
    done: Vec<u32>,
}

pub(crate) fn run(options: &RunOptions) -> Result<Status> {
    let (screen, system) = (Screen::new(), System::real());
    let signals = Signals::watch()?;
    let begun = begin(options, &system, &screen, &signals);
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
    let measured = points(options, &ready, &system, &screen, &signals, &mut logbook);
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
    let (run, points) = (logbook.run(&ready.run.id)?, logbook.points(&ready.run.id)?);
    tell(options, &run, &points, &screen)?;
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
    let all_valid = points.iter().all(|p| valid(&p.findings)) && valid(&ready.run.findings);
    Ok(if all_valid { Status::Valid } else { Status::Invalid })
}

/// Everything up to the first point. Wrong usage is said before anything is made or touched.
fn begin(
    options: &RunOptions,
    system: &System,
    screen: &Screen,
    signals: &Signals,
) -> Result<(Logbook, Ready)> {
    let path = &options.logbook.logbook;
    if !options.no_report {
        can_hold_a_report(&options.report)?;
    }
    let asked = if options.resume { None } else { Some(read_plan::read(&options.load)?) };
    match &asked {
        Some(asked) => drop(foresee(system, asked, file_bytes(options, asked))?),
        None if path.exists() => {}
        None => return Err(nothing_to_resume().into()),
    }
    let mut logbook = Logbook::open(path)?;
    logbook.reserve(RESERVE_BYTES)?;
    let ready = match asked {
        Some(asked) => fresh(options, system, screen, signals, &mut logbook, asked)?,
        None => again(options, system, screen, signals, &mut logbook)?,
    };
    Ok((logbook, ready))
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

fn nothing_to_resume() -> Usage {
    Usage("there is nothing to resume: every run of the logbook has ended".to_owned())
}

fn file_bytes(options: &RunOptions, asked: &Asked) -> u64 {
    let size = options.load.area_bytes().or(asked.file.file_size.map(|b| b.0));
    size.unwrap_or(FILE_BYTES)
}

fn fresh(
    options: &RunOptions,
    system: &System,
    screen: &Screen,
    signals: &Signals,
    logbook: &mut Logbook,
    asked: Asked,
) -> Result<Ready> {
    let file_bytes = file_bytes(options, &asked);
    let Asked { file, choices, targets } = asked;
    let id = uuid::Uuid::now_v7().to_string();
    logbook.hold(&id)?;
    let writes = needs_writing(&file, &choices)?;
    let prepared =
        ready_targets(options, system, screen, signals, &id, &targets, writes, file_bytes)?;
    let plan = resolve_for(&file, &choices, &prepared)?;
    let engine = options.engine.choice();
    let ceilings = ceilings(&plan, &prepared, engine);
    let run = record(&id, &plan, &prepared, &ceilings, system, options.engine);
    logbook.begin_run(&run)?;
    Ok(Ready { plan, targets: prepared, ceilings, engine, run, done: Vec::new() })
}

/// Takes up the last run that has not ended and that nobody is measuring, with its stored plan and
/// engine.
fn again(
    options: &RunOptions,
    system: &System,
    screen: &Screen,
    signals: &Signals,
    logbook: &mut Logbook,
) -> Result<Ready> {
    let run = logbook.hold_unfinished()?.ok_or_else(nothing_to_resume)?;
    let plan = Plan::from_text(&run.plan_text).map_err(Usage)?;
    let engine = EngineFlag::from_str(&run.engine_choice, false).map_err(|_| {
        Usage(format!(
            "the run's engine, {}, is not one that this version knows",
            run.engine_choice
        ))
    })?;
    same_devices(system, &run)?;
    let targets: Vec<PathBuf> = run.targets.iter().map(|t| PathBuf::from(&t.spelling)).collect();
    let writes = plan.points.iter().any(|p| p.writes());
    let ends = plan.points.iter().map(|p| p.area.offset_bytes + p.area.length_bytes);
    let file_bytes = ends.max().unwrap_or(FILE_BYTES);
    let prepared =
        ready_targets(options, system, screen, signals, &run.id, &targets, writes, file_bytes)?;
    for point in &plan.points {
        let usable = prepared[point.target as usize].shape.usable;
        let end = point.area.offset_bytes + point.area.length_bytes;
        if end > usable.offset_bytes + usable.length_bytes {
            anyhow::bail!(Usage(format!(
                "{} is smaller than when the run began, so it cannot be resumed",
                prepared[point.target as usize].spelling.display()
            )));
        }
    }
    let done = logbook.points_done(&run.id)?.into_iter().collect();
    logbook.reopen(&run.id)?;
    let ceilings = ceilings(&plan, &prepared, engine.choice());
    Ok(Ready { plan, targets: prepared, ceilings, engine: engine.choice(), run, done })
}

/// G10 over the time between a run and its resumption: serial, WWID and size as they were stored.
fn same_devices(system: &System, run: &RunRecord) -> Result<()> {
    for target in run.targets.iter().filter(|target| target.kind == TargetKind::BlockDevice) {
        let now = environment::target_facts(system, &inspect(system, Path::new(&target.spelling))?);
        let value = |facts: &[Observation], key: &str| {
            let fact = facts.iter().find(|fact| fact.key == key);
            fact.and_then(|fact| fact.value.clone().ok())
        };
        for key in ["serial", "wwid", "size_bytes"] {
            let (was, is) = (value(&target.facts, key), value(&now, key));
            if was.is_some() && was != is {
                let text = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
                anyhow::bail!(Refusal::new(
                    Guard::G10Identity,
                    format!(
                        "{} is not the device that the run began on: its {key} was {}, is {}",
                        target.spelling,
                        text(was),
                        text(is)
                    ),
                    "Attach that device again, or start a new run",
                ));
            }
        }
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the two ways to begin a run share it")]
fn ready_targets(
    options: &RunOptions,
    system: &System,
    screen: &Screen,
    signals: &Signals,
    id: &str,
    targets: &[PathBuf],
    writes: bool,
    file_bytes: u64,
) -> Result<Vec<Prepared>> {
    let results = options.logbook.logbook.parent().filter(|p| !p.as_os_str().is_empty());
    let order = Order {
        run_id: id,
        results_dir: results.unwrap_or(Path::new(".")),
        writes,
        file_bytes,
        keep: options.keep,
        destroy: &options.destroy,
        consent: options.consent.as_deref(),
        overwrite: &options.overwrite_signature,
    };
    prepare(system, targets, &order, screen, &|| signals.caught().is_some())
}

pub(crate) fn resolve_for(
    file: &qdepth_workload::PlanFile,
    choices: &Choices,
    prepared: &[Prepared],
) -> Result<Plan> {
    let shapes: Vec<_> = prepared.iter().map(|target| target.shape).collect();
    Ok(resolve(file, choices, &shapes)?)
}

/// The generator's rates where storage costs nothing; none in virtual time, where it costs nothing.
fn ceilings(plan: &Plan, prepared: &[Prepared], engine: EngineChoice) -> BTreeMap<u32, f64> {
    let real = plan.points.iter().filter(|p| prepared[p.target as usize].real().is_some());
    calibrate::ceilings(real, engine.first())
}

/// The machine, and where storage is real what the generator costs on it.
fn surroundings(system: &System, prepared: &[Prepared], engine: EngineChoice) -> Vec<Observation> {
    let mut facts = environment::observe(system);
    if prepared.iter().any(|target| target.real().is_some()) {
        let all = calibrate::cpus();
        let more = if all > 1 { vec![all] } else { Vec::new() };
        facts.extend(calibrate::facts(engine.first(), &more));
    }
    facts
}

fn record(
    id: &str,
    plan: &Plan,
    prepared: &[Prepared],
    ceilings: &BTreeMap<u32, f64>,
    system: &System,
    engine: EngineFlag,
) -> RunRecord {
    let target = |(index, target): (usize, &Prepared)| TargetRecord {
        index: index as u32,
        spelling: target.spelling.display().to_string(),
        name: name(prepared, index),
        kind: target.kind(),
        area_bytes: target.shape.usable.length_bytes,
        engine: match target.real() {
            Some(_) => engine.choice().first().name().to_owned(),
            None => EMULATED.to_owned(),
        },
        ceiling: ceilings.iter().map(|(depth, rate)| (*depth, *rate)).collect(),
        facts: match &target.what {
            What::Real(real) => environment::target_facts(system, &real.inspected),
            What::Emulated(emulation) => media::facts(&emulation.spelled),
        },
    };
    RunRecord {
        id: id.to_owned(),
        started_at: Timestamp::now().to_string(),
        ended_at: None,
        state: RunState::Running,
        qdepth_version: env!("CARGO_PKG_VERSION").to_owned(),
        measurement_version: MEASUREMENT_VERSION,
        plan_name: plan.name.clone(),
        plan_hash: plan.hash(),
        plan_text: plan.text(),
        seed: plan.seed,
        emulated: prepared.iter().any(|target| target.real().is_none()),
        points_planned: plan.points.len() as u32,
        engine_choice: engine.name(),
        environment: surroundings(system, prepared, engine.choice()),
        targets: prepared.iter().enumerate().map(target).collect(),
        findings: run_findings(plan, prepared),
    }
}

/// A name for tables and legends: the spelling, with what is below where that is known.
fn name(prepared: &[Prepared], index: usize) -> String {
    let real = |target: &Prepared, inspected: &Inspected| match &inspected.kind {
        Kind::BlockDevice(device) => match &device.model {
            Some(model) => format!("{} ({model})", target.spelling.display()),
            None => target.spelling.display().to_string(),
        },
        Kind::Directory(fs) | Kind::RegularFile { file_system: fs, .. } => {
            let path = inspected.path.file_name().unwrap_or(inspected.path.as_os_str());
            format!("{} ({} on {})", path.display(), fs.kind, fs.devices.join(", "))
        }
    };
    let of = |target: &Prepared| match target.real() {
        Some(found) => real(target, &found.inspected),
        None => format!("{} ({EMULATED})", target.spelling.display()),
    };
    let name = of(&prepared[index]);
    let alike = prepared.iter().filter(|other| of(other) == name).count() > 1;
    if alike { format!("{name} #{}", index + 1) } else { name }
}

fn run_findings(plan: &Plan, prepared: &[Prepared]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if prepared.iter().any(|target| target.real().is_some()) {
        findings.push(Finding::remark(Code::MediumStateUnknown));
    }
    let smallest = plan.points.iter().map(|p| p.area.length_bytes).min().unwrap_or(0);
    if smallest < STANDARD_AREA {
        findings.push(
            Finding::remark(Code::SmallArea)
                .value("bytes", smallest as f64)
                .value("standard_bytes", STANDARD_AREA as f64),
        );
    }
    for target in prepared {
        let Some(real) = target.real() else { continue };
        let usable = target.shape.usable;
        let share = unwritten_share(&real.claim().file, usable.offset_bytes, usable.length_bytes);
        if let Some(share) = share.filter(|share| *share > 0.0) {
            findings.push(
                Finding::invalid(Code::UnwrittenRead)
                    .value("unwritten_share", share)
                    .label("target", target.spelling.display().to_string()),
            );
        }
    }
    findings
}

/// Measures what is not yet done, and says how many points lie beyond the end of the steps.
fn points(
    options: &RunOptions,
    ready: &Ready,
    system: &System,
    screen: &Screen,
    signals: &Signals,
    logbook: &mut Logbook,
) -> Result<usize> {
    let running = screen.running(&ready.plan, ready.done.len());
    let mut before = Nanos::ZERO;
    let (mut ended, mut beyond) = (steps_ended(ready, logbook)?, 0);
    for group in ready.plan.groups() {
        if signals.caught().is_some() {
            break;
        }
        if group.iter().any(|point| ended.contains(&point.target)) {
            beyond += group.iter().filter(|point| !ready.done.contains(&point.index)).count();
            continue;
        }
        // Loads that run together are measured together, again too where one of them is missing.
        if !group.iter().all(|point| ready.done.contains(&point.index)) {
            running.group(group, |target| &ready.run.targets[target as usize].name, before);
            let started_at = Timestamp::now().to_string();
            let mut seen = |place: usize, interval: &_| {
                running.interval(place, interval, before, Nanos(group[place].warm_up_ns));
            };
            let measured =
                execute(system, &ready.targets, group, ready.engine, signals.stop(), &mut seen)?;
            for (point, measured) in group.iter().zip(&measured) {
                if ready.done.contains(&point.index) {
                    continue;
                }
                let prepared = &ready.targets[point.target as usize];
                let rate = ready.ceilings.get(&point.in_flight_max()).copied();
                let mut sealed = seal(point, prepared, measured, rate, &started_at);
                sealed.findings.extend(engine_findings(measured));
                if options.resume {
                    sealed.findings.push(Finding::remark(Code::Resumed));
                }
                if ready.plan.ends_when_not_followed {
                    expected(&mut sealed.findings);
                    let whole = measured.outcome.failure.is_none() && measured.changed.is_none();
                    ended.extend((whole && !follows(&sealed)).then_some(point.target));
                }
                let kept = logbook.add_point(&ready.run.id, &sealed);
                running.ended(&line(&sealed, ready.run.emulated));
                kept?;
            }
        }
        let length = group.iter().map(|p| p.warm_up_ns + p.stop.duration_ns).max();
        before += Nanos(length.unwrap_or(0));
    }
    running.finish();
    if beyond > 0 {
        let all = ready.plan.points.len() - beyond;
        logbook.plan_points(&ready.run.id, all as u32)?;
    }
    Ok(beyond)
}

/// Targets whose steps ended before this run was taken up again.
fn steps_ended(ready: &Ready, logbook: &Logbook) -> Result<BTreeSet<u32>> {
    if !ready.plan.ends_when_not_followed || ready.done.is_empty() {
        return Ok(BTreeSet::new());
    }
    let points = logbook.points(&ready.run.id)?;
    // One that lost its target is measured again, and says nothing of what it can follow.
    let whole = points.iter().filter(|point| ready.done.contains(&point.index));
    Ok(whole.filter(|point| !follows(point)).map(|point| point.target).collect())
}

/// On a staircase a backlog is what is looked for: the step that the target cannot follow is its
/// result and no fault of the measurement, and one that it follows may fall behind for a moment.
fn expected(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|f| f.code == Code::Saturated) {
        finding.severity = Severity::Remark;
    }
}

fn engine_findings(measured: &crate::lab::execute::Measured) -> Vec<Finding> {
    let Some(used) = &measured.engine else { return Vec::new() };
    let refused = used.probe.refused.iter().map(|(engine, why)| {
        Finding::remark(Code::EngineFallback)
            .label("engine", used.engine.name())
            .label("why", format!("{}: {why}", engine.name()))
    });
    let missing = used.probe.missing.iter().map(|(feature, why)| {
        Finding::remark(Code::EngineFeature).label("feature", feature).label("why", why)
    });
    let drift = used.clock.ahead_ns as f64 / used.clock.over.0.max(1) as f64;
    let drifted = (drift.abs() > CLOCK_DRIFT)
        .then(|| Finding::invalid(Code::ClockDrift).value("drift", drift));
    refused.chain(missing).chain(drifted).collect()
}

fn line(point: &PointRecord, emulated: bool) -> String {
    let summary = PointSummary::of(point);
    format!(
        "{:<12} × {:<4} {:>10.0} IO/s {:>9.1} MB/s {:>9.3} ms  {}{}",
        point.profile_title,
        point.outstanding,
        summary.io_per_s.value,
        summary.mib_per_s,
        summary.service_time.all.mean_ns.unwrap_or(0.0) / 1e6,
        summary.grade,
        if emulated { "  EMULATED" } else { "" }
    )
}

fn tell(
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
