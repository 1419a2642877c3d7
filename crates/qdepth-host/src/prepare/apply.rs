//! Execution and undo of preparation steps. Only this module changes the machine.

use std::collections::BTreeMap;
use std::io;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use super::devices::{Act, Devices, undo_argument};
use super::journal::{Entry, Journal};
use super::made::{self, LeftDevices, UndoResult, UndoState};
use super::setting::Setting;
use super::word::{MountPoint, Node, Word};
use super::{Action, Condition, Name, Step, Tool, Undo, Watch};
use crate::device_handle::{DevicePresence, DeviceReference};
use crate::guard;
use crate::mounts;
use crate::refusal::Failure;
use crate::system::System;

const GO_BACK: &str = "`qdepth host undo` undoes the steps before it";

/// Applies a step. Its undo is on disk before its first action, and each action checks its devices
/// just before it starts. `watch` receives the progress of long actions, and may end them.
///
/// # Errors
/// The action that failed. The journal contains everything done before it.
pub fn apply(
    system: &System,
    step: &Step,
    devices: &mut Devices,
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
    let failed = |doing: &'static str, thing: String, error: io::Error| Failure {
        doing,
        thing,
        error,
        remedy: GO_BACK,
    };
    devices
        .must_be_new(system, &step)
        .map_err(|source| failed("prepare", thing.clone(), source))?;
    let bounds = devices.bounds(system, &step);
    let (mut mount, mut wipes) = (None, Vec::new());
    // The journal is undone from its end, so what must be undone first is written last.
    let last = reset_with(system, &step);
    for undo in last.iter().chain(step.undo(make_directory).iter().rev()) {
        let mut entry = Entry::new(undo.clone(), bounds.clone(), system.boot());
        let wiped = made::wiped(&undo.action).and_then(|node| bounds.get(node));
        // Contents that a step did not make which fails before it changes anything.
        let before = wiped.and_then(|device| made::contents(system, device));
        entry.makes = before.iter().flat_map(|before| made::possible(&step, before)).collect();
        let id = journal.intend(&entry).map_err(|source| {
            failed("record in the undo journal how to undo", thing.clone(), source)
        })?;
        if matches!(undo.only_if, Condition::Mounted { .. }) {
            mount = Some(id);
        }
        wipes.extend(wiped.map(|device| (id, device, before)));
    }
    let actions = step.actions();
    for (number, action) in actions.iter().enumerate() {
        is_unlinked_mount_point(system, &step)
            .and_then(|()| is_empty_mount_point(system, &step))
            .map_err(|source| failed("prepare", thing.clone(), source))?;
        let act = Act::new(action, |tool, node| devices.ready(system, &step, tool, node));
        let done = act.and_then(|act| act.run(system, journal, watch));
        // A record without the partition would not explain what the next action makes.
        let is_whole =
            done.is_err() || number + 1 == actions.len() || !matches!(step, Step::Partition { .. });
        for (id, device, before) in wipes.iter().filter(|_| is_whole) {
            let Some(mut now) = made::contents(system, device) else { continue };
            if done.is_err() {
                let Some(before) = before else { continue };
                now.retain(|found| !before.contains(found));
            }
            journal
                .made(*id, now)
                .map_err(|source| failed("record in the undo journal", thing.clone(), source))?;
        }
        done.map_err(|source| failed("prepare", format!("{thing} (`{}`)", action.text()), source))?;
        devices.learn(system, &step, &bounds);
    }
    if let (Some(id), Step::Mount { at, .. }) = (mount, &step)
        && let Some(top) = on_top(system, at)
    {
        let number = mount_number(system, at, &top);
        journal
            .mounted(id, number)
            .map_err(|source| failed("record in the undo journal", thing, source))?;
    }
    Ok(())
}

/// Checks that no link leads from a mount point to another place.
fn is_unlinked_mount_point(system: &System, step: &Step) -> io::Result<()> {
    let Step::Mount { at, .. } = step else { return Ok(()) };
    // The nearest existing directory; directories below it will be created.
    let mut above = std::path::Path::new(at.as_str()).ancestors();
    let there = above.find_map(|path| Some((path, system.canonical(path)?)));
    match there {
        Some((path, real)) if real != path => {
            let (path, real) = (path.display(), real.display());
            Err(io::Error::other(format!("{path} is a link to {real}: use that path")))
        }
        _ => Ok(()),
    }
}

/// Checks that a mount hides no files.
fn is_empty_mount_point(system: &System, step: &Step) -> io::Result<()> {
    let Step::Mount { at, .. } = step else { return Ok(()) };
    let at = at.as_str();
    match system.list_dir(at) {
        Ok(names) if !names.is_empty() => Err(io::Error::other(format!(
            "{at} is not empty, and a mount would hide its contents: use an empty or new directory"
        ))),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Current value of a setting, needed to undo the change.
fn now(system: &System, wanted: &Setting) -> Result<Setting, Failure> {
    let path = wanted.path();
    let before = system
        .read_setting(path)
        .and_then(|text| Setting::put_back(path, &chosen(&text)).map_err(io::Error::other));
    before.map_err(|error| Failure {
        doing: "read the current value of",
        thing: format!("{} ({path})", wanted.name()),
        error,
        remedy: "Nothing of this step was done; `qdepth host undo` undoes the steps before it",
    })
}

/// Undo of a number of requests: a new scheduler sets its own number, so the old number is restored
/// after the old scheduler.
fn reset_with(system: &System, step: &Step) -> Option<Undo> {
    let Step::Setting(wanted) = step else { return None };
    let path = format!("{}/nr_requests", wanted.setting.path().strip_suffix("/scheduler")?);
    let before = Setting::put_back(&path, &chosen(&system.read_setting(&path).ok()?)).ok()?;
    Some(Undo::new(Condition::Readable(before.clone()), Action::Set(before)))
}

/// Undoes everything in the journal, in reverse order. A failed action remains in the journal, and
/// earlier ones are still tried.
///
/// # Errors
/// If the journal itself cannot be read or written.
pub fn undo_all(system: &System, journal: &mut Journal) -> io::Result<Vec<UndoResult>> {
    let (mut outcomes, mut left) = (Vec::new(), LeftDevices::default());
    for (id, entry) in journal.open_entries()? {
        let outcome = left.undo(system, &entry, || take_back(system, journal, &entry));
        if !matches!(outcome, UndoResult::Failed(..)) {
            journal.undone(id)?;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn take_back(system: &System, journal: &Journal, entry: &Entry) -> UndoResult {
    let action = &entry.undo.action;
    let text = action.text();
    match current_state(system, entry) {
        UndoState::Unchanged => UndoResult::Nothing(text),
        UndoState::ChangedByOther(why) => UndoResult::Left(text, why),
        UndoState::Unknown(error) => UndoResult::Failed(text, error),
        UndoState::Ours => match apply_with_retry(system, journal, entry) {
            Ok(()) => UndoResult::Done(text),
            Err(error) => UndoResult::Failed(text, error),
        },
    }
}

fn current_state(system: &System, entry: &Entry) -> UndoState {
    let found = |node: &Node| entry.devices.get(node).map(|bound| bound.find(system));
    let is = |there: bool| if there { UndoState::Ours } else { UndoState::Unchanged };
    match &entry.undo.only_if {
        Condition::Exists(node) => match found(node) {
            Some(DevicePresence::Here { .. }) => removable(system, entry),
            Some(DevicePresence::Gone) => UndoState::Unchanged,
            Some(DevicePresence::Replaced(why)) => UndoState::ChangedByOther(why),
            None => {
                UndoState::ChangedByOther("the journal does not identify the device".to_owned())
            }
        },
        Condition::Place(path) => is(system.exists(path.as_str())),
        Condition::Readable(setting) => is(system.read_setting(setting.path()).is_ok()),
        Condition::Mounted { at, device } => mounted(system, entry, at, found(device)),
        Condition::Group { group, on } => {
            let devices: Vec<Option<DevicePresence>> = on.iter().map(found).collect();
            match foreign_volume(system, entry, group) {
                Some(why) => UndoState::ChangedByOther(why),
                None => lies_on(system, group, &devices),
            }
        }
        Condition::Succeeds { tool, words } => {
            let strange = words.iter().find_map(|word| match word {
                Word::Device(node) => found(node).and_then(DevicePresence::replaced),
                _ => None,
            });
            if let Some(why) = strange {
                return UndoState::ChangedByOther(why);
            }
            let question = Action::Run { tool: *tool, words: words.clone() };
            match act_of(system, &entry.devices, &question) {
                Ok(act) if act.succeeds(system) => removable(system, entry),
                _ => UndoState::Unchanged,
            }
        }
        Condition::Holds(setting) if shows(system, setting) => UndoState::Ours,
        Condition::Holds(_) => match &entry.undo.action {
            Action::Set(before) if shows(system, before) => UndoState::Unchanged,
            _ => UndoState::ChangedByOther("it was changed since by something else".to_owned()),
        },
    }
}

/// State of a device that is present. Only contents that the step made may be removed.
fn removable(system: &System, entry: &Entry) -> UndoState {
    let device = made::wiped(&entry.undo.action).and_then(|node| entry.devices.get(node));
    let Some(device) = device else { return UndoState::Ours };
    made::state(system, device, entry)
}

/// The topmost mount at a place.
fn on_top(system: &System, at: &MountPoint) -> Option<mounts::Mount> {
    let all = mounts::own(system);
    all.into_iter().rfind(|mount| mount.mount_point.as_os_str() == at.as_str())
}

/// Number of the topmost mount at a place. It is never reused since Linux 6.8
/// (`STATX_MNT_ID_UNIQUE`), before that only among the current mounts.
fn mount_number(system: &System, at: &MountPoint, top: &mounts::Mount) -> u64 {
    let unique = StatxFlags::from_bits_retain(0x4000);
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let asked = system.is_real().then(|| statx(CWD, at.as_str(), flags, unique));
    match asked {
        Some(Ok(status)) if status.stx_mask & unique.bits() != 0 => status.stx_mnt_id,
        _ => top.id,
    }
}

/// Compares the mount there with the recorded one: the same mount of the same device.
fn mounted(
    system: &System,
    entry: &Entry,
    at: &MountPoint,
    device: Option<DevicePresence>,
) -> UndoState {
    let Some(top) = on_top(system, at) else { return UndoState::Unchanged };
    let there = at.as_str();
    let is_other = entry.boot == system.boot()
        && entry.mount.is_some_and(|number| number != mount_number(system, at, &top));
    if is_other {
        return UndoState::ChangedByOther(format!(
            "the file system at {there} was mounted by something else"
        ));
    }
    match device {
        Some(DevicePresence::Here { name, .. })
            if mounts::devices_below(system, &top).contains(&name) =>
        {
            UndoState::Ours
        }
        // The mount of a removed drive remains.
        Some(DevicePresence::Gone) if entry.mount.is_some() && entry.boot == system.boot() => {
            UndoState::Ours
        }
        Some(DevicePresence::Replaced(why)) => UndoState::ChangedByOther(why),
        _ => UndoState::ChangedByOther(format!(
            "{} was mounted at {there} by something else",
            top.source
        )),
    }
}

/// A volume of a group that the preparation did not make.
fn foreign_volume(system: &System, entry: &Entry, group: &Name) -> Option<String> {
    let words = ["--noheadings", "-o", "lv_name", group.as_str()];
    let volumes = system.run(&Tool::Vgs.name(), &words).ok()?.stdout;
    let is_ours = |name: &str| {
        let path = format!("/dev/{}/{name}", group.as_str());
        entry.devices.keys().any(|node| node.as_str() == path)
    };
    let other = volumes.lines().map(str::trim).find(|name| !name.is_empty() && !is_ours(name))?;
    Some(format!("the volume group {} also has the volume {other}", group.as_str()))
}

/// Checks that a volume group exists and uses no other devices than these.
fn lies_on(system: &System, group: &Name, devices: &[Option<DevicePresence>]) -> UndoState {
    let words = ["--noheadings", "-o", "pv_name", group.as_str()];
    let Ok(output) = system.run(&Tool::Vgs.name(), &words) else { return UndoState::Unchanged };
    if output.status != Some(0) {
        return UndoState::Unchanged;
    }
    let ours = |path: &str| {
        let number = system.block_node(path);
        devices.iter().flatten().any(|found| {
            matches!(found, DevicePresence::Here { node, .. } if system.block_node(node) == number)
        })
    };
    let mut others = output.stdout.lines().map(str::trim).filter(|path| !path.is_empty());
    match others.find(|path| !ours(path)) {
        None => UndoState::Ours,
        Some(other) => UndoState::ChangedByOther(format!(
            "the volume group {} also uses {other}",
            group.as_str()
        )),
    }
}

fn shows(system: &System, setting: &Setting) -> bool {
    system.read_setting(setting.path()).is_ok_and(|text| chosen(&text) == setting.value())
}

/// Current value of a setting; for a choice, the one in brackets.
pub(super) fn chosen(text: &str) -> String {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(chosen, _)| chosen).to_owned()
}

fn act_of<'a>(
    system: &System,
    devices: &BTreeMap<Node, DeviceReference>,
    action: &'a Action,
) -> io::Result<Act<'a>> {
    Act::new(action, |tool, node| undo_argument(system, devices, tool, node))
}

/// Executes an undo action, and retries while a device or mount is busy: a ring releases its files
/// some time after its process has ended.
fn apply_with_retry(system: &System, journal: &Journal, entry: &Entry) -> io::Result<()> {
    guard::again(
        TRIES,
        |error: &io::Error| error.to_string().contains("busy"),
        || act_of(system, &entry.devices, &entry.undo.action)?.run(system, journal, Watch::SILENT),
    )
}

/// Retries for five seconds in all while something is busy.
const TRIES: u32 = 50;
