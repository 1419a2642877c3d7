//! Preparation of a machine: preview, guards, execution and undo.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use qdepth_host::device_handle::DeviceHandle;
use qdepth_host::guard::{Writing, clear_for_writing, open_to_consent};
use qdepth_host::prepare::journal::{self, Journal};
use qdepth_host::prepare::{
    Devices, Node, PrepareError, Step, UndoResult, Watch, apply, base_devices, can_purge, steps_of,
    undo_all,
};
use qdepth_host::system::System;
use qdepth_host::target::Inspected;
use qdepth_record::event::Phase;
use qdepth_workload::problem_in_plain_words;

use crate::Lab;
use crate::events::observer::{Observer, Progress};
use crate::failure::Usage;
use crate::request::{ConsentWords, PlanRequest};
use crate::target::consent::consent_for;
use crate::target::prepare::all_different;

/// Checks that the drives support these steps, and asks the guards and the user about the devices
/// whose contents they destroy.
pub fn may_be_done(
    system: &System,
    steps: &[Step],
    consent: &ConsentWords,
    observer: &dyn Observer,
) -> Result<Devices> {
    can_purge(system, steps)?;
    may_be_destroyed(system, &base_devices(steps), consent, observer)
}

/// Asks the guards and the user about all devices whose contents a preparation destroys. Each
/// device is held exclusively while the others are asked. At the end the exclusive claims are
/// released, because the programs of the preparation make their own. The devices stay open, so that
/// they remain the same devices.
fn may_be_destroyed(
    system: &System,
    nodes: &[Node],
    consent: &ConsentWords,
    observer: &dyn Observer,
) -> Result<Devices> {
    let writing = Writing {
        run_id: "preparation",
        now: Timestamp::now(),
        results_dir: Path::new("."),
        direct: false,
    };
    let mut devices = Devices::find(system, nodes)?;
    let found: Vec<&Inspected> = devices.named().filter_map(DeviceHandle::target).collect();
    all_different(&found)?;
    let mut held = Vec::new();
    for target in found {
        let device = target.block_device().ok_or_else(|| {
            Usage(format!("{} is not a block device", target.expression.display()))
        })?;
        open_to_consent(system, target, &writing)?;
        let consent = consent_for(system, device, consent, observer)?;
        held.push(clear_for_writing(system, target, consent.as_ref(), &writing)?);
    }
    devices.keep(system)?;
    drop(held);
    Ok(devices)
}

/// Checks the preparation of all variants, and asks the guards of all their devices, before the
/// first variant is prepared.
pub(crate) fn may_be_prepared(lab: Lab<'_>, variants: &[PlanRequest]) -> Result<()> {
    let mut devices = Vec::new();
    for asked in variants {
        let steps = steps(asked)?;
        can_purge(lab.system, &steps)?;
        devices.extend(base_devices(&steps));
    }
    devices.sort();
    devices.dedup();
    may_be_destroyed(lab.system, &devices, &lab.request.consent, lab.observer).map(drop)
}

/// Commands of these steps, and the commands that undo them, for the user.
pub fn shown(steps: &[Step]) -> Vec<String> {
    let mut lines = Vec::new();
    for step in steps {
        lines.push(step.describe());
        lines.extend(step.actions().iter().map(|action| format!("    {}", action.text())));
        let undo = step.undo(true);
        lines.extend(undo.iter().map(|back| format!("    undo: {}", back.action.text())));
        if undo.is_empty() {
            lines.push("    undo: not possible".to_owned());
        }
    }
    lines.extend(
        base_devices(steps)
            .iter()
            .map(|device| format!("destroys all data on {}", device.as_str())),
    );
    lines
}

/// Sentence that leads to all fields of a preparation.
pub const STEPS_LISTED: &str = "docs/preparation.md lists the steps and their fields";

/// The steps of a plan.
pub fn steps(asked: &PlanRequest) -> Result<Vec<Step>> {
    let in_words = |error| match error {
        PrepareError::Unreadable { number, message } => PrepareError::Unreadable {
            number,
            message: problem_in_plain_words(&message, STEPS_LISTED),
        },
        error => error,
    };
    Ok(steps_of(&asked.file.host_steps())
        .map_err(|error| Usage(format!("plan {}: {}", asked.file.name, in_words(error))))?)
}

/// Opens the journal exclusively.
pub fn open_journal(path: &Path) -> Result<Journal> {
    Ok(Journal::open(path)?)
}

/// Undoes everything in the journal. Returns the result of each action, and the number of failures.
pub fn take_back(system: &System, path: &Path) -> Result<(Vec<String>, usize)> {
    let mut failed = 0;
    let mut journal = open_journal(path)?;
    let outcomes = undo_all(system, &mut journal)?;
    journal.close()?;
    let lines = outcomes.into_iter().map(|undone| match undone {
        UndoResult::Done(text) => format!("done       {text}"),
        UndoResult::Nothing(text) => format!("not needed {text}"),
        UndoResult::Left(text, why) => format!("left       {text}: {why}"),
        UndoResult::Failed(text, error) => {
            failed += 1;
            format!("failed     {text}: {error}")
        }
    });
    let lines = lines.collect();
    Ok((lines, failed))
}

/// A machine that is prepared for a run. Dropping it undoes everything.
pub(crate) struct Preparation<'a> {
    lab: Lab<'a>,
    journal: PathBuf,
}

impl<'a> Preparation<'a> {
    /// Prepares the machine as the plan requires; `None` if the plan has no preparation.
    pub(crate) fn of_plan(lab: Lab<'a>, asked: &PlanRequest) -> Result<Option<Self>> {
        let steps = steps(asked)?;
        if steps.is_empty() {
            return Ok(None);
        }
        let path = PathBuf::from(journal::PATH);
        if journal::is_open(&path) {
            anyhow::bail!(Usage(format!(
                "an earlier preparation was not undone (journal {}). Run `qdepth host undo` first",
                path.display()
            )));
        }
        let mut devices = may_be_done(lab.system, &steps, &lab.request.consent, lab.observer)?;
        // From here on, any exit undoes the preparation.
        let prepared = Self { lab, journal: path };
        let mut journal = open_journal(&prepared.journal)?;
        let watch = Watch {
            print_line: &|line| lab.observer.message(line),
            stop: &|| lab.signals.caught().is_some(),
        };
        for step in &steps {
            let _phase = Progress::begin(lab.observer, Phase::Preparation, step.phase_step(), None);
            apply(lab.system, step, &mut devices, &mut journal, watch)?;
        }
        drop(journal);
        Ok(Some(prepared))
    }
}

impl Drop for Preparation<'_> {
    fn drop(&mut self) {
        match take_back(self.lab.system, &self.journal) {
            Ok((lines, _)) => lines.iter().for_each(|line| self.lab.observer.message(line)),
            Err(error) => self.lab.observer.warn(format!(
                "the preparation was not undone: {error:#}. Try again with `qdepth host undo`"
            )),
        }
    }
}
