//! A device that is found once and held until what is done to it is done; and how it is found again
//! when that is taken back.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use serde::{Deserialize, Serialize};

use crate::guard::{check_same, hold};
use crate::identity::DeviceIdentity;
use crate::refusal::{Guard, Refusal};
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;
use crate::target::{Inspected, inspect_handle};

/// A device, looked up once by the name that somebody gave it. From then on that name counts for
/// nothing: what is done is done to the device that is held, by the kernel's name for it.
#[derive(Debug)]
pub struct DeviceHandle {
    identity: DeviceIdentity,
    /// None on a made-up machine.
    target: Option<Inspected>,
    /// Open descriptor: while it is open, the kernel gives the device number to no other device and
    /// detaches nothing from it.
    open: Option<OwnedFd>,
}

impl DeviceHandle {
    /// Looks it up, following links of file systems but none of the kernel's magic ones.
    ///
    /// # Errors
    /// [`Guard::G1Resolve`] when it is no block device.
    pub fn find(system: &System, path: &Path) -> Result<Self, Refusal> {
        let no = |found: String| {
            Refusal::new(Guard::G1Resolve, found, "Give the path of a block device that is there")
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

    /// Keeps it open for reading, so that it stays the device that it is.
    ///
    /// # Errors
    /// [`Guard::G2Exclusive`] where it cannot be opened, [`Guard::G10Identity`] where it changed.
    pub fn keep(&mut self, system: &System) -> Result<(), Refusal> {
        if let Some(target) = &self.target {
            let open = target.open(OFlags::RDONLY | OFlags::NONBLOCK);
            let open = open.map_err(|error| {
                let found = format!("{} could not be opened: {error}", target.expression.display());
                Refusal::new(Guard::G2Exclusive, found, "Check that the storage answers")
            })?;
            self.open = Some(open);
        }
        check_same(system, &self.identity)
    }

    /// The kernel's node of it, after its identity was compared.
    ///
    /// # Errors
    /// [`Guard::G10Identity`] where it is another device, or the node leads elsewhere.
    pub fn node(&self, system: &System) -> Result<String, Refusal> {
        check_same(system, &self.identity)?;
        node_of(system, &self.identity)
    }

    /// Holds it for ourselves alone while a program works on it that does not do so; none on a
    /// made-up machine.
    ///
    /// # Errors
    /// [`Guard::G2Exclusive`] while somebody else holds it.
    pub fn exclusive(&self) -> Result<Option<OwnedFd>, Refusal> {
        self.target.as_ref().map(hold).transpose()
    }

    /// Identity for the undo journal.
    pub fn bound(&self, system: &System) -> Bound {
        let DeviceIdentity { kernel_name, number, serial, wwid, size_bytes, diskseq } =
            self.identity.clone();
        Bound::Device(Known {
            partition: partition(system, &kernel_name),
            kernel_name,
            number: number.to_string(),
            serial,
            wwid,
            size_bytes,
            diskseq,
            boot: system.boot(),
        })
    }
}

fn partition(system: &System, name: &str) -> Option<String> {
    system.read_trimmed(format!("/sys/class/block/{name}/partition"))
}

/// The node that the kernel made for a device.
fn node_of(system: &System, identity: &DeviceIdentity) -> Result<String, Refusal> {
    // sysfs writes `!` for the `/` of a name as cciss/c0d0.
    let node = format!("/dev/{}", identity.kernel_name.replace('!', "/"));
    if system.block_node(&node) == Some(identity.number) {
        return Ok(node);
    }
    Err(Refusal::new(
        Guard::G10Identity,
        format!("{node} is not block device {}", identity.number),
        "Recreate the node (`udevadm trigger`), or find out who changed it",
    ))
}

/// A device, so described that it is known again by another process, perhaps after a boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// One that was there.
    Device(Known),
    /// One that was made of others: known by its node, as long as it lies on none but these.
    Made {
        /// Its node.
        node: String,
        /// Devices that it is built on.
        on: Vec<Bound>,
    },
}

/// Identity of a device when it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    kernel_name: String,
    number: String,
    partition: Option<String>,
    serial: Option<String>,
    wwid: Option<String>,
    size_bytes: u64,
    diskseq: Option<u64>,
    boot: Option<String>,
}

/// Presence of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DevicePresence {
    /// Here.
    Here {
        /// The kernel's node.
        node: String,
        /// The kernel's name.
        name: String,
    },
    /// Nowhere.
    Gone,
    /// It cannot be told, or another is in its place: why.
    Strange(String),
}

impl Bound {
    /// Looks for it.
    pub fn find(&self, system: &System) -> DevicePresence {
        match self {
            Self::Device(known) => known.find(system),
            Self::Made { node, on } => stacked_presence(system, node, on),
        }
    }

    /// The name that it has, or had while it was there.
    fn last_name(&self, system: &System) -> Option<String> {
        match (self.find(system), self) {
            (DevicePresence::Here { name, .. }, _) => Some(name),
            (DevicePresence::Gone, Self::Device(known)) => Some(known.kernel_name.clone()),
            _ => None,
        }
    }
}

impl Known {
    fn find(&self, system: &System) -> DevicePresence {
        if self.boot == system.boot() {
            let Ok(number) = self.number.parse::<DeviceNumber>() else {
                return DevicePresence::Strange(format!(
                    "`{}` is not a number of a device",
                    self.number
                ));
            };
            return match DeviceIdentity::read(system, number) {
                None => DevicePresence::Gone,
                Some(now) if now.size_bytes == 0 && self.size_bytes > 0 => DevicePresence::Gone,
                Some(now) => match self.difference(&now) {
                    None => here(system, &now),
                    Some(why) => DevicePresence::Strange(why),
                },
            };
        }
        if self.serial.is_none() && self.wwid.is_none() {
            return DevicePresence::Strange(format!(
                "the machine was booted since, and {} has no serial by which it would be known",
                self.kernel_name
            ));
        }
        let names = system.list_dir("/sys/class/block").unwrap_or_default();
        let same = |name: &String| {
            let now = DeviceIdentity::read(system, sysfs::number_of(system, name)?)?;
            let same = now.serial == self.serial
                && now.wwid == self.wwid
                && now.size_bytes == self.size_bytes
                && partition(system, name) == self.partition;
            same.then_some(now)
        };
        let all: Vec<DeviceIdentity> = names.iter().filter_map(same).collect();
        match all.as_slice() {
            [] => DevicePresence::Gone,
            [identity] => here(system, identity),
            _ => DevicePresence::Strange(format!("several devices look like {}", self.kernel_name)),
        }
    }

    fn difference(&self, now: &DeviceIdentity) -> Option<String> {
        let then = DeviceIdentity {
            kernel_name: self.kernel_name.clone(),
            number: now.number,
            serial: self.serial.clone(),
            wwid: self.wwid.clone(),
            size_bytes: self.size_bytes,
            diskseq: self.diskseq,
        };
        Some(format!("{} is another device: {}", self.kernel_name, then.difference(now)?))
    }
}

fn here(system: &System, now: &DeviceIdentity) -> DevicePresence {
    match node_of(system, now) {
        Ok(node) => DevicePresence::Here { node, name: now.kernel_name.clone() },
        Err(no) => DevicePresence::Strange(no.found),
    }
}

fn stacked_presence(system: &System, node: &str, on: &[Bound]) -> DevicePresence {
    let Some(number) = system.block_node(node) else { return DevicePresence::Gone };
    let Some(now) = DeviceIdentity::read(system, number) else { return DevicePresence::Gone };
    let ours: Vec<String> = on.iter().filter_map(|below| below.last_name(system)).collect();
    let name = &now.kernel_name;
    let below = sysfs::whole_of(system, name)
        .map_or_else(|| sysfs::slaves_of(system, name), |whole| vec![whole]);
    if below.is_empty() || below.iter().any(|name| !ours.contains(name)) {
        return DevicePresence::Strange(format!(
            "{node} lies on {} and not on what it was made of ({})",
            if below.is_empty() { "nothing".to_owned() } else { below.join(", ") },
            ours.join(", ")
        ));
    }
    here(system, &now)
}
