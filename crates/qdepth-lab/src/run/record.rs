//! Record of a run before its first point: plan, targets, machine, and first findings.

use std::collections::BTreeMap;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_files::shell_word;
use qdepth_host::environment;
use qdepth_host::same_storage::identity_facts;
use qdepth_host::target::{Inspected, Kind};
use qdepth_linux::EngineChoice;
use qdepth_media::TargetExpression;
use qdepth_record::{
    ComparisonRecord, MEASUREMENT_VERSION, Observation, RunRecord, RunState, TargetRecord, source,
};
use qdepth_workload::{Comparison, Plan};

use crate::Lab;
use crate::execute::{cpu_placement, drive_tree};
use crate::instrument::calibrate;
use crate::outcome::findings::of_run;
use crate::request::RunRequest;
use crate::target::prepare::{Prepared, PreparedStorage};

/// Mark of everything that was measured in virtual time.
const EMULATED: &str = "EMULATED";

/// Ceilings of the generator by number of requests in flight; empty in virtual time.
pub(crate) fn ceilings(
    plan: &Plan,
    prepared: &[Prepared],
    engine: EngineChoice,
) -> BTreeMap<u32, f64> {
    let real = plan.points.iter().filter(|p| prepared[p.target as usize].real().is_some());
    calibrate::ceilings(real, engine.first())
}

/// Length of the part of a target that the plan's points access, up to the end of the last area.
fn touched(plan: &Plan, target: usize) -> Option<u64> {
    let own = plan.points.iter().filter(|point| point.target as usize == target);
    own.map(|point| point.area.offset_bytes.saturating_add(point.area.length_bytes)).max()
}

pub(crate) fn record(
    id: &str,
    plan: &Plan,
    prepared: &[Prepared],
    ceilings: &BTreeMap<u32, f64>,
    engine: EngineChoice,
    lab: Lab<'_>,
) -> Result<RunRecord> {
    let system = lab.system;
    let target = |(index, target): (usize, &Prepared)| TargetRecord {
        index: index as u32,
        expression: target.expression.display().to_string(),
        name: name(prepared, index),
        kind: target.kind(),
        area_bytes: touched(plan, index).unwrap_or(target.shape.usable.length_bytes),
        engine: match target.real() {
            Some(_) => engine.first().name().to_owned(),
            None => EMULATED.to_owned(),
        },
        ceiling: ceilings.iter().map(|(depth, rate)| (*depth, *rate)).collect(),
        facts: match &target.storage {
            PreparedStorage::Real(real) => {
                let mut facts = identity_facts(system, &real.inspected);
                facts.extend(environment::target_facts(system, &real.inspected));
                facts
            }
            PreparedStorage::Emulated(emulation) => emulated_facts(&emulation.medium),
        },
    };
    Ok(RunRecord {
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
        engine_choice: lab.request.engine.name().to_owned(),
        comparison: plan.comparison.as_ref().map(comparison).transpose()?,
        environment: surroundings(lab, plan, prepared, engine),
        targets: prepared.iter().enumerate().map(target).collect(),
        expected: Vec::new(),
        findings: of_run(plan, prepared)
            .into_iter()
            .chain(cpu_placement::far_drives(lab, plan, prepared))
            .collect(),
    })
}

/// A comparison as stored: it has the same fields and names, except for the preparations.
pub(crate) fn comparison(comparison: &Comparison) -> Result<ComparisonRecord> {
    Ok(serde_json::from_value(serde_json::to_value(comparison)?)?)
}

/// Facts about the machine, and the cost of the generator unless all targets are emulated.
fn surroundings(
    lab: Lab<'_>,
    plan: &Plan,
    prepared: &[Prepared],
    engine: EngineChoice,
) -> Vec<Observation> {
    let mut facts = environment::observe(lab.system);
    facts.extend(cpu_placement::facts(lab, plan, prepared));
    facts.extend(drive_tree::facts(lab.system, plan, prepared));
    // A run that is not stored needs no calibration for other loads.
    if lab.request.is_kept && prepared.iter().any(|target| target.real().is_some()) {
        let all = calibrate::cpus();
        let more = if all > 1 { vec![all] } else { Vec::new() };
        facts.extend(calibrate::facts(engine.first(), &more));
    }
    facts
}

/// Name of a target for tables and legends: its expression, and what is below it if known.
fn name(prepared: &[Prepared], index: usize) -> String {
    let real = |target: &Prepared, inspected: &Inspected| match &inspected.kind {
        Kind::BlockDevice(device) => match &device.model {
            Some(model) => format!("{} ({model})", target.expression.display()),
            None => target.expression.display().to_string(),
        },
        Kind::Directory(fs) | Kind::RegularFile { file_system: fs, .. } => {
            let path = inspected.path.file_name().unwrap_or(inspected.path.as_os_str());
            let on = if fs.devices.is_empty() { "" } else { " on " };
            format!("{} ({}{on}{})", path.display(), fs.kind, fs.devices.join(", "))
        }
    };
    let display_name = |target: &Prepared| match target.real() {
        Some(found) => real(target, &found.inspected),
        None => format!("{} ({EMULATED})", target.expression.display()),
    };
    let name = display_name(&prepared[index]);
    let alike = prepared.iter().filter(|other| display_name(other) == name).count() > 1;
    if alike { format!("{name} #{}", index + 1) } else { name }
}

/// Facts of an emulated target: all parameters of its device model.
fn emulated_facts(medium: &TargetExpression) -> Vec<Observation> {
    let fact = |(subject, key, value): (String, String, String)| {
        Observation::new((&subject, &key), Ok(value), source::DESCRIPTION)
    };
    medium.facts().into_iter().map(fact).collect()
}

/// Command stored with the run; `None` if no words requested it.
pub fn command(request: &RunRequest, seed: u64) -> Option<Observation> {
    let seed = ["--seed".to_owned(), seed.to_string()];
    let words = request.command.as_ref()?.iter().chain(&seed);
    let line = words.map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    Some(Observation::new(RunRecord::COMMAND, Ok(line), source::COMMAND_LINE))
}
