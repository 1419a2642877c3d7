//! Everything up to the first point: the plan, prepared targets, and a run in the logbook.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use qdepth_host::same_storage::{difference, identity_facts};
use qdepth_host::system::System;
use qdepth_host::{Guard, Refusal};
use qdepth_linux::EngineChoice;
use qdepth_logbook::{Logbook, RESERVE_BYTES};
use qdepth_measure::{Bytes, Finding, Seed};
use qdepth_media::TargetExpression;
use qdepth_record::figures::{Figures, PROOFS};
use qdepth_record::{CertificateRecord, Observation, ProofOutcome, RunRecord, TargetKind};
use qdepth_workload::{Plan, STANDARD_AREA, WrittenTargets, needs_writing};

use crate::Lab;
use crate::execute::cpu_placement::{can_be_used, far_drives, placement};
use crate::execute::measure_options::MeasureOptions;
use crate::execute::precondition::precondition;
use crate::execute::preconditioned::Done;
use crate::execute::written::Written;
use crate::failure::Usage;
use crate::instrument::certify::machine;
use crate::outcome::findings::of_run;
use crate::request::PlanRequest;
use crate::request::provision::{Provision, is_written};
use crate::run::events::Publisher;
use crate::run::expect::{check_emulated_device, expected};
use crate::run::follower;
use crate::run::record::{ceilings, command, record};
use crate::target::prepare::{
    PrepareOptions, Prepared, ResolvedTarget, clear_targets, find, prepare, target_expression,
};
use crate::target::preview::{Preview, preview};
use crate::target::reach::reachable;

/// Everything that a run needs for its first point.
pub(crate) struct PreparedRun {
    pub(crate) plan: Plan,
    pub(crate) targets: Vec<Prepared>,
    pub(crate) ceilings: BTreeMap<u32, f64>,
    pub(crate) engine: EngineChoice,
    pub(crate) run: RunRecord,
    pub(crate) done: Vec<u32>,
    pub(crate) written: Written,
    /// New findings about the run, in addition to the stored ones.
    pub(crate) remarks: Vec<Finding>,
}

impl PreparedRun {
    /// Options for the points of the run. The stamp of its writes comes from the plan or the run's
    /// id, so that it is the same after a resumption.
    pub(crate) fn options<'a>(&'a self, lab: Lab<'a>) -> MeasureOptions<'a> {
        let (stamp, written) = (stamp(&self.plan, &self.run.id), &self.written);
        MeasureOptions { lab, engine: self.engine, stamp, written, placement: placement(lab) }
    }
}

/// Stamp of a run's writes.
fn stamp(plan: &Plan, run_id: &str) -> u64 {
    plan.stamp.unwrap_or_else(|| Seed(0).derive(run_id).0)
}

/// Begins the requested run, or resumes the last one if none is requested. Wrong usage is reported
/// before anything is created or changed.
pub(crate) fn begin(lab: Lab<'_>, publisher: &Publisher<'_>) -> Result<(Logbook, PreparedRun)> {
    let (request, path) = (lab.request, &lab.request.logbook);
    let asked = request.plan.as_ref();
    if asked.is_none() && lab.all_ranks.is_some() {
        anyhow::bail!(Usage(
            "a run with several ranks cannot be resumed: start a new run".to_owned()
        ));
    }
    can_be_used(lab)?;
    let expect = request.expect.as_deref().map(target_expression).transpose()?;
    let seen = match asked {
        Some(asked) => {
            let seen = preview(lab.system, asked)?;
            reachable(lab.system, request.engine, &seen.found, &seen.plan)?;
            follower::can_share(lab, &seen.plan, &seen.found)?;
            expect.as_ref().map_or(Ok(()), |medium| check_emulated_device(medium, &seen.plan))?;
            Some((asked, seen))
        }
        None if path.exists() => None,
        None => return Err(nothing_to_resume().into()),
    };
    let open = || -> Result<Logbook> {
        let mut logbook =
            if request.is_kept { Logbook::open(path)? } else { Logbook::in_memory()? };
        if request.is_kept {
            qdepth_files::note_results_file(path);
        }
        logbook.reserve(RESERVE_BYTES)?;
        Ok(logbook)
    };
    // An existing logbook is opened before the user is asked for consent. A new one is created
    // after every guard was asked.
    let there = (!request.is_kept || path.exists()).then(open).transpose()?;
    let open = || there.map_or_else(open, Ok);
    match seen {
        Some((asked, seen)) => start_new(lab, publisher, asked, seen, expect.as_ref(), open),
        None => {
            let mut logbook = open()?;
            let ready = resume_last(lab, publisher, &mut logbook)?;
            Ok((logbook, ready))
        }
    }
}

fn nothing_to_resume() -> Usage {
    Usage(
        "there is nothing to resume: every run of the logbook has ended or was retracted"
            .to_owned(),
    )
}

/// Begins a new run. The logbook is opened after the guards, so that a refusal creates none.
fn start_new(
    lab: Lab<'_>,
    publisher: &Publisher<'_>,
    asked: &PlanRequest,
    seen: Preview,
    expect: Option<&TargetExpression>,
    open: impl FnOnce() -> Result<Logbook>,
) -> Result<(Logbook, PreparedRun)> {
    let provision = seen.provision.clone();
    let PlanRequest { file, choices, targets } = asked;
    let id = uuid::Uuid::now_v7().to_string();
    let writes = needs_writing(file, choices)?;
    let keep = lab.request.keep || file.keep_files;
    let options = prepare_options(lab, &id, &writes, &provision, keep);
    let cleared = clear_targets(targets, options)?;
    let mut logbook = open()?;
    logbook.hold(&id)?;
    publisher.follow(&logbook)?;
    let mut prepared = cleared.make_ready()?;
    let shapes: Vec<_> = prepared.iter().map(|target| target.shape).collect();
    let mut plan = seen.into_plan(asked, &shapes)?;
    let real = prepared.iter().all(|target| target.real().is_some());
    lab.all_ranks.iter().filter(|_| real).for_each(|all_ranks| all_ranks.spread(&mut plan));
    follower::distribute(lab, &id, stamp(&plan, &id), &plan, targets, provision.bytes())?;
    let engine = lab.request.engine;
    let done = precondition(lab, &plan, &mut prepared, engine)?;
    let engine = engine.for_plan(&plan);
    let ceilings = ceilings(&plan, &prepared, engine);
    let mut run = record(&id, &plan, &prepared, &ceilings, engine, lab)?;
    run.environment.extend(command(lab.request, plan.seed));
    run.environment.extend(lab.request.facts.iter().cloned());
    run.environment.extend(certified(&logbook, &run)?);
    note(&mut run, done);
    if let Some(medium) = expect {
        lab.observer.message(format!("EMULATED: emulating {} at the same points", medium.text()));
        run.expected = expected(medium, &plan, lab.signals.stop())?;
    }
    logbook.begin_run(&run)?;
    let written = written(lab, &plan);
    let (done, remarks) = (Vec::new(), Vec::new());
    let ready =
        PreparedRun { plan, targets: prepared, ceilings, engine, run, done, written, remarks };
    Ok((logbook, ready))
}

/// The newest certificate of this machine in the logbook, as a fact of the run.
fn certified(logbook: &Logbook, run: &RunRecord) -> Result<Option<Observation>> {
    if run.emulated {
        return Ok(None);
    }
    let [host, cpu] = machine(&run.environment);
    Ok(logbook.certificate(&host, &cpu)?.map(|certificate| {
        let CertificateRecord { at, version, kernel, id, proofs, .. } = &certificate;
        let count = |outcome| certificate.count(outcome) as f64;
        let value = Figures::new(PROOFS)
            .text("at", at)
            .text("version", version)
            .text("kernel", kernel)
            .text("id", id)
            .figure("passed", count(ProofOutcome::Passed))
            .figure("failed", count(ProofOutcome::Failed))
            .figure("proofs", proofs.len() as f64);
        Observation::new(("certificate", "latest"), Ok(value.stored()), "qdepth certify")
    }))
}

/// Adds the results of preconditioning to the facts of the targets, and to the findings.
fn note(run: &mut RunRecord, done: Done) {
    for (target, fact) in done.facts {
        run.targets[target].facts.push(fact);
    }
    run.findings.extend(done.findings);
}

/// Resumes the last unfinished run that no process is measuring, with its stored plan and engine.
fn resume_last(
    lab: Lab<'_>,
    publisher: &Publisher<'_>,
    logbook: &mut Logbook,
) -> Result<PreparedRun> {
    let run = logbook.hold_unfinished()?.ok_or_else(nothing_to_resume)?;
    publisher.follow(logbook)?;
    let (id, plan, begun) = (run.id.clone(), run.plan_name.clone(), run.started_at.clone());
    let targets: Vec<String> = run.targets.iter().map(|target| target.expression.clone()).collect();
    resume(lab, logbook, run).with_context(|| {
        format!(
            "run {id} ({plan} on {}, begun {begun}) cannot be resumed. To skip it, \
             type `qdepth retract {id} WHY`: --resume then continues the run before it",
            targets.join(", ")
        )
    })
}

/// Continues a run whose lock is held.
fn resume(lab: Lab<'_>, logbook: &mut Logbook, run: RunRecord) -> Result<PreparedRun> {
    let plan = Plan::stored(&run.plan_text, &run.plan_hash).map_err(Usage)?;
    let engine = EngineChoice::from_name(&run.engine_choice).ok_or_else(|| {
        Usage(format!("this version does not support the run's engine, {}", run.engine_choice))
    })?;
    if plan.prepares() {
        anyhow::bail!(Usage(
            "a run that prepared the machine cannot be resumed, because its preparation was \
             undone. Start a new run"
                .to_owned()
        ));
    }
    let targets: Vec<PathBuf> = run.targets.iter().map(|t| PathBuf::from(&t.expression)).collect();
    let found: Vec<ResolvedTarget> =
        targets.iter().map(|target| find(lab.system, target)).collect::<Result<_>>()?;
    same_storage(lab.system, &run, &plan, &found)?;
    reachable(lab.system, engine, &found, &plan)?;
    let ends = plan.points.iter().filter_map(|point| point.area.end_bytes());
    let bytes = ends.max().unwrap_or(STANDARD_AREA.0);
    let (provision, writes) = (Provision::from_plan(&plan, bytes), plan.written_targets());
    let keep = lab.request.keep || plan.keep_files;
    let options = prepare_options(lab, &run.id, &writes, &provision, keep);
    let mut prepared = prepare(&targets, options)?;
    let shapes: Vec<_> = prepared.iter().map(|target| target.shape).collect();
    plan.fits(&shapes).map_err(|why| {
        Usage(format!(
            "{why}: a target is smaller than when the run began, so it cannot be resumed; start a \
             new run"
        ))
    })?;
    // A device is as the run left it; a measurement file and an emulated device may be new.
    let mut remarks = Vec::new();
    if prepared.iter().any(|target| target.kind() != TargetKind::BlockDevice) {
        remarks = precondition(lab, &plan, &mut prepared, engine)?.findings;
    }
    // Machine and targets may have changed. Equal findings are not stored twice.
    remarks.extend(of_run(&plan, &prepared));
    remarks.extend(far_drives(lab, &plan, &prepared));
    let done = logbook.points_done(&run.id)?.into_iter().collect();
    logbook.reopen(&run.id)?;
    let engine = engine.for_plan(&plan);
    let ceilings = ceilings(&plan, &prepared, engine);
    let written = written(lab, &plan);
    Ok(PreparedRun { plan, targets: prepared, ceilings, engine, run, done, written, remarks })
}

/// Register of the run's writes, if reads are verified against them.
fn written(lab: Lab<'_>, plan: &Plan) -> Written {
    let written = Written::from_plan(plan);
    if let Some(end) = written.distinguishable_to() {
        let none = written.checked_to().map_or_else(String::new, |end| {
            format!(
                ". Beyond {}, it is not known what was written, and such reads are not checked",
                Bytes(end)
            )
        });
        lab.observer.message(format!(
            "verify: beyond {}, reads are checked for their position and run, but not for the last \
             of several writes, because the area has too many blocks{none}",
            Bytes(end)
        ));
    }
    written
}

/// Guard G10 for a resumption: each target must be the same storage as at the start of the run.
fn same_storage(
    system: &System,
    run: &RunRecord,
    plan: &Plan,
    found: &[ResolvedTarget],
) -> Result<()> {
    let writes = plan.written_targets();
    for (number, (target, found)) in run.targets.iter().zip(found).enumerate() {
        let Some(real) = found.real() else { continue };
        let now = identity_facts(system, real);
        let only_reads = !is_written(&writes, number, real);
        if let Some(changed) = difference(&target.facts, &now, only_reads) {
            anyhow::bail!(Refusal::new(
                Guard::G10Identity,
                format!(
                    "{} ({}) is not the storage that the run began on: {changed}",
                    target.expression,
                    real.path.display()
                ),
                "Resume it in the same directory on the same machine, with that storage attached \
                 and mounted there, or start a new run",
            ));
        }
    }
    Ok(())
}

fn prepare_options<'a>(
    lab: Lab<'a>,
    run_id: &'a str,
    writes: &'a WrittenTargets,
    provision: &'a Provision,
    keep: bool,
) -> PrepareOptions<'a> {
    let results = lab.request.logbook.parent().filter(|p| !p.as_os_str().is_empty());
    let results_dir = results.unwrap_or(Path::new("."));
    PrepareOptions { lab, run_id, results_dir, writes, provision, keep }
}
