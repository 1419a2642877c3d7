//! The one place that acts.

use std::io;

use super::journal::Journal;
use super::purge::{Patience, wait_for_sanitize};
use super::setting::Setting;
use super::word::Word;
use super::{Action, Condition, Step, Tool, Undo, Watch};
use crate::mounts;
use crate::refusal::Failure;
use crate::system::System;

/// Applies a step: its way back is on disk before its first action. `watch` is told how far an
/// action is that takes long, and may end it.
///
/// # Errors
/// The action that failed. What was done before it is in the journal.
pub fn apply(
    system: &System,
    step: &Step,
    journal: &mut Journal,
    watch: Watch<'_>,
) -> Result<(), Failure> {
    let mut step = step.clone();
    let mut make_directory = false;
    match &mut step {
        Step::Setting(wanted) => wanted.before = Some(now(system, &wanted.setting)?),
        Step::Mount { at, .. } => make_directory = !system.exists(at.as_str()),
        _ => {}
    }
    let thing = step.describe();
    // The way back is walked from its end: what is to be undone first is written last.
    let last = reset_with(system, &step);
    for undo in last.iter().chain(step.undo(make_directory).iter().rev()) {
        journal.intend(undo).map_err(|source| Failure {
            doing: "write to the undo journal the way back of",
            thing: thing.clone(),
            source,
            remedy: "Nothing of this step was done; make room for the journal",
        })?;
    }
    for action in step.actions() {
        act(system, &action, watch).map_err(|source| Failure {
            doing: "prepare",
            thing: format!("{thing} (`{}`)", action.text()),
            source,
            remedy: "`qdepth host undo` takes back what was done before",
        })?;
    }
    Ok(())
}

/// What a setting is now, without which there would be no way back.
fn now(system: &System, wanted: &Setting) -> Result<Setting, Failure> {
    let path = wanted.path();
    let before = system
        .read_setting(path)
        .and_then(|text| Setting::put_back(path, &chosen(&text)).map_err(io::Error::other));
    before.map_err(|source| Failure {
        doing: "read, so that it could be put back,",
        thing: format!("{} ({path})", wanted.name()),
        source,
        remedy: "Nothing of this step was done; `qdepth host undo` takes back what was done before",
    })
}

/// Another scheduler brings its own number of requests: the former number is put back after the
/// former scheduler.
fn reset_with(system: &System, step: &Step) -> Option<Undo> {
    let Step::Setting(wanted) = step else { return None };
    let path = format!("{}/nr_requests", wanted.setting.path().strip_suffix("/scheduler")?);
    let before = Setting::put_back(&path, &chosen(&system.read_setting(&path).ok()?)).ok()?;
    Some(Undo::new(Condition::Readable(before.clone()), Action::Set(before)))
}

/// What became of one action of the way back.
#[derive(Debug)]
pub enum Undone {
    /// It was done.
    Done(String),
    /// There was nothing to do.
    Nothing(String),
    /// Somebody else changed it since: it is left as it is.
    Left(String),
    /// It failed, and stays in the journal.
    Failed(String, io::Error),
}

/// Takes back everything in the journal, the last first. What fails stays there, and what comes
/// before it is still tried.
///
/// # Errors
/// When the journal itself cannot be read or written.
pub fn undo_all(system: &System, journal: &mut Journal) -> io::Result<Vec<Undone>> {
    let mut told = Vec::new();
    for (id, undo) in journal.open_entries()? {
        let text = undo.action.text();
        let outcome = match holds(system, &undo.only_if) {
            false if matches!(undo.only_if, Condition::Holds { .. }) => {
                if is_back(system, &undo.action) {
                    Undone::Nothing(text)
                } else {
                    Undone::Left(text)
                }
            }
            false => Undone::Nothing(text),
            true => match act_patiently(system, &undo.action) {
                Ok(()) => Undone::Done(text),
                Err(error) => Undone::Failed(text, error),
            },
        };
        if !matches!(outcome, Undone::Failed(..)) {
            journal.undone(id)?;
        }
        told.push(outcome);
    }
    Ok(told)
}

fn is_back(system: &System, action: &Action) -> bool {
    match action {
        Action::Set(setting) => shows(system, setting),
        _ => false,
    }
}

fn holds(system: &System, condition: &Condition) -> bool {
    match condition {
        Condition::Exists(node) => system.exists(node.as_str()),
        Condition::Place(place) => system.exists(place.as_str()),
        Condition::Readable(setting) => system.read_setting(setting.path()).is_ok(),
        Condition::Mounted { at, .. } => {
            let mounts = mounts::own(system);
            mounts.iter().any(|mount| mount.mount_point.as_os_str() == at.as_str())
        }
        Condition::Group { group, .. } => succeeds(system, Tool::Vgs, &[group.text().into()]),
        Condition::Succeeds { tool, words } => succeeds(system, *tool, words),
        Condition::Holds(setting) => shows(system, setting),
    }
}

fn succeeds(system: &System, tool: Tool, words: &[Word]) -> bool {
    let words: Vec<&str> = words.iter().map(Word::text).collect();
    system.run(tool.name(), &words).is_ok_and(|output| output.status == Some(0))
}

fn shows(system: &System, setting: &Setting) -> bool {
    system.read_setting(setting.path()).is_ok_and(|text| chosen(&text) == setting.value())
}

/// The value that a setting shows: of a choice the one in brackets.
pub(super) fn chosen(text: &str) -> String {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(chosen, _)| chosen).to_owned()
}

/// A ring gives its files back some time after its process ended, and so long a mount is busy.
fn act_patiently(system: &System, action: &Action) -> io::Result<()> {
    for _ in 1..TRIES {
        match act(system, action, Watch::NOBODY) {
            Err(error) if error.to_string().contains("busy") => std::thread::park_timeout(PAUSE),
            other => return other,
        }
    }
    act(system, action, Watch::NOBODY)
}

fn act(system: &System, action: &Action, watch: Watch<'_>) -> io::Result<()> {
    match action {
        Action::Set(setting) => system.write_setting(setting.path(), setting.value()),
        Action::AwaitSanitize { device } => {
            wait_for_sanitize(system, device.as_str(), Patience::REAL, watch)
        }
        Action::MakeDirectory(path) => std::fs::create_dir_all(system.path(path.as_str())),
        Action::RemoveDirectory(path) => std::fs::remove_dir(system.path(path.as_str())),
        Action::Run { tool, words } => {
            let words: Vec<&str> = words.iter().map(Word::text).collect();
            let output = system.run_for(tool.name(), &words, LONGEST).map_err(io::Error::other)?;
            match output.status {
                Some(0) => Ok(()),
                _ => Err(io::Error::other(crate::environment::complaint(tool.name(), &output))),
            }
        }
    }
}

/// Five seconds in all for what is busy.
const TRIES: u32 = 25;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
/// Making a file system or erasing a drive may take this long.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(4 * 3600);
