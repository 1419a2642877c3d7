//! A device that is looked up once and held until the work on it is done, and its identity for a
//! later undo.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use serde::{Deserialize, Serialize};

use crate::guard::hold;
use crate::identity::{DeviceIdentity, check_same};
use crate::refusal::{Guard, Refusal};
use crate::sysfs;
use crate::system::System;
use crate::target::{Inspected, inspect_handle};

/// A device, looked up once by the name that the user gave. From then on the name is not used
/// again: all work is done on the held device, by its kernel name.
#[derive(Debug)]
pub struct DeviceHandle {
    identity: DeviceIdentity,
    /// The inspected target; `None` on a simulated machine.
    target: Option<Inspected>,
    /// Open descriptor. While it is open, the kernel gives the device number to no other device and
    /// does not detach what is attached to it.
    open: Option<OwnedFd>,
}

impl DeviceHandle {
    /// Looks up a device. Follows links of file systems, but no magic links of the kernel.
    ///
    /// # Errors
    /// [`Guard::G1Resolve`] if it is not a block device.
    pub fn find(system: &System, path: &Path) -> Result<Self, Refusal> {
        let no = |found: String| {
            Refusal::new(
                Guard::G1Resolve,
                found,
                "Use the path of an existing block device; `lsblk` lists them",
            )
        };
        if !system.is_real() {
            let number = system.block_node(path);
            let identity = number.and_then(|number| DeviceIdentity::read(system, number));
            let identity =
                identity.ok_or_else(|| no(format!("{} is not a block device", path.display())))?;
            return Ok(Self { identity, target: None, open: None });
        }
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let handle = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
            .map_err(|error| no(format!("{} could not be found: {error}", path.display())))?;
        let target = inspect_handle(system, path, handle)?;
        let identity = target.block_device().map(|device| device.identity.clone());
        let identity =
            identity.ok_or_else(|| no(format!("{} is not a block device", path.display())))?;
        Ok(Self { identity, target: Some(target), open: None })
    }

    /// Inspected target, for the guards; `None` on a simulated machine.
    pub fn target(&self) -> Option<&Inspected> {
        self.target.as_ref()
    }

    /// Identity of the device.
    pub fn identity(&self) -> &DeviceIdentity {
        &self.identity
    }

    /// Keeps the device open for reading, so that it remains the same device.
    ///
    /// # Errors
    /// [`Guard::G2Exclusive`] if it cannot be opened, [`Guard::G10Identity`] if it has changed.
    pub fn keep(&mut self, system: &System) -> Result<(), Refusal> {
        if let Some(target) = &self.target {
            let open = target.open(OFlags::RDONLY | OFlags::NONBLOCK);
            let open = open.map_err(|error| {
                let found = format!("{} could not be opened: {error}", target.expression.display());
                Refusal::new(Guard::G2Exclusive, found, "Check that the storage responds")
            })?;
            self.open = Some(open);
        }
        check_same(system, &self.identity)
    }

    /// The kernel's device node, after a check of the identity.
    ///
    /// # Errors
    /// [`Guard::G10Identity`] if it is another device, or the node belongs to another device.
    pub fn node(&self, system: &System) -> Result<String, Refusal> {
        check_same(system, &self.identity)?;
        node_of(system, &self.identity)
    }

    /// Claims the device exclusively, for programs that do not do that themselves; `None` on a
    /// simulated machine.
    ///
    /// # Errors
    /// [`Guard::G2Exclusive`] if anything else holds the device.
    pub fn exclusive(&self) -> Result<Option<OwnedFd>, Refusal> {
        self.target.as_ref().map(hold).transpose()
    }

    /// Identity for the undo journal.
    pub fn bound(&self, system: &System) -> DeviceReference {
        DeviceReference::Device(DeviceSnapshot {
            partition: partition(system, &self.identity.kernel_name),
            identity: self.identity.clone(),
            boot: system.boot(),
        })
    }
}

/// Number and first sector of a partition.
fn partition(system: &System, name: &str) -> Option<String> {
    let read = |key: &str| system.read_trimmed(format!("/sys/class/block/{name}/{key}"));
    Some(format!("{}@{}", read("partition")?, read("start")?))
}

/// The node that the kernel made for a device.
fn node_of(system: &System, identity: &DeviceIdentity) -> Result<String, Refusal> {
    let node = sysfs::node_path(&identity.kernel_name);
    if system.block_node(&node) == Some(identity.number) {
        return Ok(node);
    }
    Err(Refusal::new(
        Guard::G10Identity,
        format!("{node} is not block device {}", identity.number),
        "Recreate the node (`udevadm trigger`), or find out who changed it",
    ))
}

/// Description of a device by which another process can identify it, even after a reboot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceReference {
    /// A device that existed before.
    Device(DeviceSnapshot),
    /// A device that a step created: identified by its node, and by the devices that it is built
    /// on.
    Made {
        /// Its node.
        node: String,
        /// Devices that it is built on.
        on: Vec<DeviceReference>,
    },
}

/// Identity of a device when it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSnapshot {
    #[serde(flatten)]
    identity: DeviceIdentity,
    partition: Option<String>,
    boot: Option<String>,
}

/// Presence of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DevicePresence {
    /// Present.
    Here {
        /// The kernel's node.
        node: String,
        /// The kernel's name.
        name: String,
    },
    /// Absent.
    Gone,
    /// Unknown, or replaced by another device; holds the reason.
    Replaced(String),
}

impl DevicePresence {
    /// The reason, if the device is unknown or was replaced.
    pub(crate) fn replaced(self) -> Option<String> {
        if let Self::Replaced(why) = self { Some(why) } else { None }
    }
}

impl DeviceReference {
    /// Looks for the device.
    pub fn find(&self, system: &System) -> DevicePresence {
        match self {
            Self::Device(known) => known.find(system),
            Self::Made { node, on } => stacked_presence(system, node, on),
        }
    }

    /// Current kernel name of the device, or the last one that it had.
    fn last_name(&self, system: &System) -> Option<String> {
        match (self.find(system), self) {
            (DevicePresence::Here { name, .. }, _) => Some(name),
            (DevicePresence::Gone, Self::Device(known)) => Some(known.identity.kernel_name.clone()),
            _ => None,
        }
    }
}

impl DeviceSnapshot {
    fn find(&self, system: &System) -> DevicePresence {
        let then = &self.identity;
        let name = &then.kernel_name;
        if self.boot == system.boot() {
            return match DeviceIdentity::read(system, then.number) {
                None => DevicePresence::Gone,
                Some(now) if now.size_bytes == 0 && then.size_bytes > 0 => DevicePresence::Gone,
                Some(now) => match then.difference(&now) {
                    None => here(system, &now),
                    Some(why) => {
                        DevicePresence::Replaced(format!("{name} is another device: {why}"))
                    }
                },
            };
        }
        if then.serial.is_none() && then.wwid.is_none() {
            return DevicePresence::Replaced(format!(
                "the machine was rebooted since, and {name} has no serial that identifies it"
            ));
        }
        let names = system.list_dir("/sys/class/block").unwrap_or_default();
        let same = |name: &String| {
            let now = DeviceIdentity::read_names(system, sysfs::number_of(system, name)?)?;
            let same = now.serial == then.serial
                && now.wwid == then.wwid
                && now.size_bytes == then.size_bytes
                && partition(system, name) == self.partition;
            same.then_some(now)
        };
        let all: Vec<DeviceIdentity> = names.iter().filter_map(same).collect();
        match all.as_slice() {
            [] => DevicePresence::Gone,
            [identity] => here(system, identity),
            _ => DevicePresence::Replaced(format!("several devices look like {name}")),
        }
    }
}

fn here(system: &System, now: &DeviceIdentity) -> DevicePresence {
    match node_of(system, now) {
        Ok(node) => DevicePresence::Here { node, name: now.kernel_name.clone() },
        Err(no) => DevicePresence::Replaced(no.found),
    }
}

/// True if a device with this node cannot be created, because something is there.
pub(crate) fn is_taken(system: &System, node: &str) -> bool {
    let name = system.block_node(node).and_then(|number| sysfs::kernel_name(system, number));
    system.exists(node) && !name.is_some_and(|name| sysfs::is_without_array(system, &name))
}

fn stacked_presence(system: &System, node: &str, on: &[DeviceReference]) -> DevicePresence {
    let Some(number) = system.block_node(node) else { return DevicePresence::Gone };
    let Some(now) = DeviceIdentity::read_names(system, number) else { return DevicePresence::Gone };
    if sysfs::is_without_array(system, &now.kernel_name) {
        return DevicePresence::Gone;
    }
    let ours: Vec<String> = on.iter().filter_map(|below| below.last_name(system)).collect();
    let name = &now.kernel_name;
    let below = sysfs::whole_of(system, name)
        .map_or_else(|| sysfs::slaves_of(system, name), |whole| vec![whole]);
    if below.is_empty() || below.iter().any(|name| !ours.contains(name)) {
        return DevicePresence::Replaced(format!(
            "{node} is on {} and not on the devices that it was built on ({})",
            if below.is_empty() { "nothing".to_owned() } else { below.join(", ") },
            ours.join(", ")
        ));
    }
    here(system, &now)
}
