//! Preparation: shown, let through the guards, done, and taken back.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use qdepth_host::device_handle::DeviceHandle;
use qdepth_host::guard::{Writing, clear_for_writing, open_to_consent};
use qdepth_host::prepare::journal::{self, Journal};
use qdepth_host::prepare::{
    Devices, Node, Step, Undone, Watch, apply, base_devices, can_purge, steps_of, undo_all,
};
use qdepth_host::system::System;
use qdepth_host::target::Inspected;
use qdepth_record::event::Phase;

use crate::Lab;
use crate::events::observer::{Observer, Progress};
use crate::failure::Usage;
use crate::request::{ConsentWords, PlanRequest};
use crate::target::consent::consent_for;
use crate::target::prepare::all_different;

/// Asks whether the drives can do these steps, every guard of the devices whose contents they
/// destroy, and the user. The claims on them are for the steps.
pub fn may_be_done(
    system: &System,
    steps: &[Step],
    consent: &ConsentWords,
    observer: &dyn Observer,
) -> Result<Devices> {
    can_purge(system, steps)?;
    may_be_destroyed(system, &base_devices(steps), consent, observer)
}

/// Asks every guard of every device whose contents a preparation destroys, and the user. Each is
/// held for ourselves alone while the others are asked; at the end that is given up, since the
/// programs that prepare claim them for themselves, and they stay open, so that they stay what they
/// are.
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
    let found: Vec<&Inspected> = devices.given().filter_map(DeviceHandle::target).collect();
    all_different(&found)?;
    let mut held = Vec::new();
    for target in found {
        let device = target
            .block_device()
            .ok_or_else(|| Usage(format!("{} is no block device", target.expression.display())))?;
        open_to_consent(system, target, &writing)?;
        let consent = consent_for(system, device, consent, observer)?;
        held.push(clear_for_writing(system, target, consent.as_ref(), &writing)?);
    }
    devices.keep(system)?;
    drop(held);
    Ok(devices)
}

/// Finds what is wrong with the preparation of any variant, and asks the guards of all their
/// devices, before the first is prepared.
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

/// Commands of these steps, and those that undo them, for the user.
pub fn shown(steps: &[Step]) -> Vec<String> {
    let mut lines = Vec::new();
    for step in steps {
        lines.push(step.describe());
        lines.extend(step.actions().iter().map(|action| format!("    {}", action.text())));
        let undo = step.undo(true);
        lines.extend(undo.iter().map(|back| format!("    back: {}", back.action.text())));
        if undo.is_empty() {
            lines.push("    back: there is no way back".to_owned());
        }
    }
    lines.extend(
        base_devices(steps)
            .iter()
            .map(|device| format!("destroys everything on {}", device.as_str())),
    );
    lines
}

/// The steps of a plan.
pub fn steps(asked: &PlanRequest) -> Result<Vec<Step>> {
    Ok(steps_of(&asked.file.host_steps())
        .map_err(|error| Usage(format!("plan {}: {error}", asked.file.name)))?)
}

/// A journal for this process alone.
pub fn open_journal(path: &Path) -> Result<Journal> {
    Ok(Journal::open(path)?)
}

/// Takes back what is in the journal; what became of each action, and how many failed.
pub fn take_back(system: &System, path: &Path) -> Result<(Vec<String>, usize)> {
    let mut failed = 0;
    let mut journal = open_journal(path)?;
    let outcomes = undo_all(system, &mut journal)?;
    journal.close()?;
    let lines = outcomes.into_iter().map(|undone| match undone {
        Undone::Done(text) => format!("done       {text}"),
        Undone::Nothing(text) => format!("not needed {text}"),
        Undone::Left(text, why) => format!("left       {text}: {why}"),
        Undone::Failed(text, error) => {
            failed += 1;
            format!("failed     {text}: {error}")
        }
    });
    let lines = lines.collect();
    Ok((lines, failed))
}

/// A machine that was prepared for a run; dropping it takes everything back.
pub(crate) struct Preparation<'a> {
    lab: Lab<'a>,
    journal: PathBuf,
}

impl<'a> Preparation<'a> {
    /// Prepares the machine as the plan says, if it says so; none where it does not.
    pub(crate) fn of_plan(lab: Lab<'a>, asked: &PlanRequest) -> Result<Option<Self>> {
        let steps = steps(asked)?;
        if steps.is_empty() {
            return Ok(None);
        }
        let path = PathBuf::from(journal::PATH);
        if journal::is_open(&path) {
            anyhow::bail!(Usage(format!(
                "an earlier preparation was not taken back (journal {}): `qdepth host undo` first",
                path.display()
            )));
        }
        let mut devices = may_be_done(lab.system, &steps, &lab.request.consent, lab.observer)?;
        // From here on whatever happens is taken back.
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
                "the preparation was not taken back: {error:#}; `qdepth host undo` tries again"
            )),
        }
    }
}
