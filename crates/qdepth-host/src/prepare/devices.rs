//! Devices of a preparation, and the only way from an action to a started program.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::journal::{Journal, LONGEST};
use super::purge::{Patience, wait_for_sanitize};
use super::word::{Node, Word};
use super::{Action, Step, Tool, Watch};
use crate::device_handle::{DeviceHandle, DevicePresence, DeviceReference, is_taken};
use crate::refusal::Refusal;
use crate::system::System;

/// Devices that are held, and devices that the steps created. A program of a preparation gets no
/// other devices.
#[derive(Debug, Default)]
pub struct Devices {
    named: BTreeMap<Node, DeviceHandle>,
    created: BTreeMap<Node, DeviceReference>,
}

/// Device argument of a program.
pub(super) struct DeviceArgument {
    node: String,
    held: Option<OwnedFd>,
}

impl Devices {
    /// Looks up the devices that these steps name, each once.
    ///
    /// # Errors
    /// [`crate::Guard::G1Resolve`] for anything that is not a block device.
    pub fn find(system: &System, nodes: &[Node]) -> Result<Self, Refusal> {
        let mut named = BTreeMap::new();
        for node in nodes {
            let handle = DeviceHandle::find(system, std::path::Path::new(node.as_str()))?;
            named.insert(node.clone(), handle);
        }
        Ok(Self { named, created: BTreeMap::new() })
    }

    /// The devices that the steps name.
    pub fn named(&self) -> impl Iterator<Item = &DeviceHandle> {
        self.named.values()
    }

    /// Keeps the devices open from now on, after they have passed the guards.
    ///
    /// # Errors
    /// If a device has changed.
    pub fn keep(&mut self, system: &System) -> Result<(), Refusal> {
        self.named.values_mut().try_for_each(|handle| handle.keep(system))
    }

    /// Identities of the devices of a step: inputs and outputs.
    pub(super) fn bounds(&self, system: &System, step: &Step) -> BTreeMap<Node, DeviceReference> {
        let mut all: BTreeMap<Node, DeviceReference> =
            self.named.iter().map(|(node, handle)| (node.clone(), handle.bound(system))).collect();
        all.extend(self.created.clone());
        let below: Vec<DeviceReference> =
            step.destroys().iter().filter_map(|node| all.get(node).cloned()).collect();
        all.extend(step.makes().into_iter().map(|node| {
            let path = node.as_str().to_owned();
            (node, DeviceReference::Made { node: path, on: below.clone() })
        }));
        let named = step.names();
        all.retain(|node, _| named.contains(node));
        all
    }

    /// Refuses a step if something that it would create already exists, because its undo would
    /// remove it.
    pub(super) fn must_be_new(&self, system: &System, step: &Step) -> io::Result<()> {
        for node in step.makes() {
            let is_partition = matches!(step, Step::Partition { .. });
            if !is_partition && is_taken(system, node.as_str()) {
                let node = node.as_str();
                let found = format!("{node} exists already, and this step would create it");
                return Err(io::Error::other(found));
            }
        }
        let Step::Volume { group, .. } = step else { return Ok(()) };
        let known = system.run(&Tool::Vgs.name(), &[group.as_str()]);
        if known.is_ok_and(|output| output.status == Some(0)) {
            let group = group.as_str();
            let found =
                format!("the volume group {group} exists already, and this step would create it");
            return Err(io::Error::other(found));
        }
        Ok(())
    }

    /// Records the devices that a step has created so far.
    pub(super) fn learn(
        &mut self,
        system: &System,
        step: &Step,
        bounds: &BTreeMap<Node, DeviceReference>,
    ) {
        for node in step.makes() {
            let bound = bounds.get(&node).cloned();
            let bound =
                bound.filter(|bound| matches!(bound.find(system), DevicePresence::Here { .. }));
            self.created.extend(bound.map(|bound| (node, bound)));
        }
    }

    /// Device argument of a program of this step: the kernel's node, checked just now.
    pub(super) fn ready(
        &self,
        system: &System,
        step: &Step,
        tool: Tool,
        node: &Node,
    ) -> io::Result<DeviceArgument> {
        if let Some(handle) = self.named.get(node) {
            let path = handle.node(system).map_err(|no| io::Error::other(no.found))?;
            let exclusive =
                if tool.opens_exclusively() { None } else { handle.exclusive().map_err(other)? };
            return Ok(DeviceArgument { node: path, held: exclusive });
        }
        if let Some(bound) = self.created.get(node) {
            return ready(bound.find(system), node, &tool);
        }
        if step.makes().contains(node) && !is_taken(system, node.as_str()) {
            return Ok(DeviceArgument { node: node.as_str().to_owned(), held: None });
        }
        let found = format!("{} has no consent, and no step created it", node.as_str());
        Err(io::Error::other(found))
    }
}

fn other(no: Refusal) -> io::Error {
    io::Error::other(format!("{}. {}", no.found, no.remedy))
}

fn ready(found: DevicePresence, node: &Node, tool: &Tool) -> io::Result<DeviceArgument> {
    match found {
        DevicePresence::Here { node, .. } => Ok(DeviceArgument { node, held: None }),
        DevicePresence::Gone => {
            let (node, tool) = (node.as_str(), tool.name());
            Err(io::Error::other(format!("{node} does not exist, and {tool} needs it")))
        }
        DevicePresence::Replaced(why) => Err(io::Error::other(why)),
    }
}

/// Device argument of an undo action, for a device of the journal.
pub(super) fn undo_argument(
    system: &System,
    bounds: &BTreeMap<Node, DeviceReference>,
    tool: Tool,
    node: &Node,
) -> io::Result<DeviceArgument> {
    let Some(bound) = bounds.get(node) else {
        let found = format!("the journal does not identify the device {}", node.as_str());
        return Err(io::Error::other(found));
    };
    ready(bound.find(system), node, &tool)
}

/// An action whose devices were checked just now. Programs are started only through this type.
pub(super) struct Act<'a> {
    action: &'a Action,
    words: Vec<String>,
    _held: Vec<OwnedFd>,
}

impl<'a> Act<'a> {
    /// Checks all devices of the action.
    pub(super) fn new(
        action: &'a Action,
        get_ready: impl Fn(Tool, &Node) -> io::Result<DeviceArgument>,
    ) -> io::Result<Self> {
        let mut held = Vec::new();
        let mut checked = |tool, node: &Node| -> io::Result<String> {
            let ready = get_ready(tool, node)?;
            held.extend(ready.held);
            Ok(ready.node)
        };
        let words = match action {
            Action::Run { tool, words } => {
                let word = |word: &Word| match word {
                    Word::Device(node) => checked(*tool, node),
                    other => Ok(other.text().to_owned()),
                };
                words.iter().map(word).collect::<io::Result<_>>()?
            }
            Action::AwaitSanitize { device } => vec![checked(Tool::Nvme, device)?],
            Action::Set(_) | Action::MakeDirectory(_) | Action::RemoveDirectory(_) => Vec::new(),
        };
        Ok(Self { action, words, _held: held })
    }

    /// Runs the action, during which the journal stays locked.
    pub(super) fn run(
        &self,
        system: &System,
        journal: &Journal,
        watch: Watch<'_>,
    ) -> io::Result<()> {
        let path = |mount_point: &super::MountPoint| system.path(mount_point.as_str());
        match self.action {
            Action::Set(setting) => {
                system.before_action("set");
                system.write_setting(setting.path(), setting.value())
            }
            Action::AwaitSanitize { .. } => {
                let device = self.words.first().map_or("", String::as_str);
                wait_for_sanitize(system, device, Patience::REAL, watch)
            }
            Action::MakeDirectory(mount_point) => make_directory(&path(mount_point)),
            Action::RemoveDirectory(mount_point) => remove_directory(&path(mount_point)),
            Action::Run { tool, .. } => {
                let tool = tool.name();
                system.before_action(&tool);
                let output = journal.run(system, &tool, &self.words).map_err(io::Error::other)?;
                match output.status {
                    Some(0) => Ok(()),
                    _ => Err(io::Error::other(crate::environment::error_output(&tool, &output))),
                }
            }
        }
    }

    /// True if a command that tests a condition succeeds.
    pub(super) fn succeeds(&self, system: &System) -> bool {
        let Action::Run { tool, .. } = self.action else { return false };
        let answer = system.run_for(&tool.name(), &self.words, LONGEST);
        answer.is_ok_and(|output| output.status == Some(0))
    }
}

#[expect(clippy::disallowed_methods, reason = "the place of a mount is not a file")]
fn make_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

#[expect(clippy::disallowed_methods, reason = "removes only an empty directory")]
fn remove_directory(path: &Path) -> io::Result<()> {
    std::fs::remove_dir(path)
}
