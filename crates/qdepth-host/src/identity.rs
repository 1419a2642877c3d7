//! Identity of a target, by which a run detects a change.

use std::fmt;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, StatxFlags, statx};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::device_names::{serial, wwid};
use crate::refusal::{Guard, Refusal};
use crate::stack::Stack;
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;

/// Identity of a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// A block device.
    Device(DeviceIdentity),
    /// A file or directory: the file system's device and the inode.
    File {
        /// Device of the file system (`st_dev`).
        device: DeviceNumber,
        /// Inode number.
        inode: u64,
        /// Length in bytes.
        size_bytes: u64,
        /// Time of creation; `None` if the file system does not keep it.
        created: Option<String>,
    },
}

/// Identity of a block device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// The kernel's name.
    pub kernel_name: String,
    /// Major and minor number.
    pub number: DeviceNumber,
    /// Serial number from the maker; UUID of device mapper and MD devices.
    pub serial: Option<String>,
    /// World-wide name, unique to the namespace or logical unit.
    pub wwid: Option<String>,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The kernel's sequence number of attached devices, unique to one attachment (Linux 5.15 and
    /// later).
    pub diskseq: Option<u64>,
    /// Start of the device on the devices and files directly below it: the disk of a partition, the
    /// backing of a loop device. `None` if there are none.
    pub place: Option<String>,
}

impl DeviceIdentity {
    /// Reads the identity from sysfs, the udev database and the loop driver; `None` if sysfs does
    /// not know the device or its size.
    pub fn read(system: &System, number: DeviceNumber) -> Option<Self> {
        let found = Self::read_names(system, number)?;
        Some(Self { place: Stack::of_device(system, &found.kernel_name).position_below(), ..found })
    }

    /// [`Self::read`] without the place, which may ask a file system.
    pub(crate) fn read_names(system: &System, number: DeviceNumber) -> Option<Self> {
        let kernel_name = sysfs::kernel_name(system, number)?;
        Some(Self {
            place: None,
            serial: serial(system, &kernel_name, number),
            wwid: wwid(system, &kernel_name, number),
            size_bytes: sysfs::own_bytes(system, &kernel_name, "size")?,
            diskseq: sysfs::number_attribute(system, &kernel_name, "diskseq"),
            kernel_name,
            number,
        })
    }

    /// Difference between two identities as text; `None` if they are the same device.
    pub fn difference(&self, now: &Self) -> Option<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let size = |device: &Self| format!("{} B", device.size_bytes);
        let count = |device: &Self| text(&device.diskseq.map(|count| count.to_string()));
        let name = |device: &Self| device.kernel_name.clone();
        let rows = [
            ("the serial", self.serial != now.serial, text(&self.serial), text(&now.serial)),
            ("the WWID", self.wwid != now.wwid, text(&self.wwid), text(&now.wwid)),
            ("the size", self.size_bytes != now.size_bytes, size(self), size(now)),
            ("diskseq", self.diskseq != now.diskseq, count(self), count(now)),
            ("its place", self.place != now.place, text(&self.place), text(&now.place)),
            ("the name", self.kernel_name != now.kernel_name, name(self), name(now)),
        ];
        let changed = rows.into_iter().filter(|(_, is_other, ..)| *is_other);
        let changed: Vec<String> =
            changed.map(|(what, _, was, is)| format!("{what} was {was} and is now {is}")).collect();
        (!changed.is_empty()).then(|| changed.join("; "))
    }
}

/// Guard G10: checks that the device is still the same one.
pub(crate) fn check_same(system: &System, then: &DeviceIdentity) -> Result<(), Refusal> {
    let name = &then.kernel_name;
    let refuse = |found, remedy| Err(Refusal::new(Guard::G10Identity, found, remedy));
    match DeviceIdentity::read(system, then.number).map(|now| then.difference(&now)) {
        Some(None) => Ok(()),
        Some(Some(changed)) => refuse(
            format!("/dev/{name} is no longer the same device: {changed}"),
            "The device was changed or replaced: check it, then start again",
        ),
        None => {
            refuse(format!("/dev/{name} is gone"), "Attach the device again and start a new run")
        }
    }
}

impl Identity {
    /// Language-neutral text for a finding: `name=sda size_bytes=800166076416 serial=…`.
    pub fn stored(&self) -> String {
        match self {
            Self::Device(device) => {
                let DeviceIdentity {
                    kernel_name,
                    number: _,
                    serial,
                    wwid,
                    size_bytes,
                    diskseq,
                    place,
                } = device;
                let diskseq = diskseq.map(|diskseq| diskseq.to_string());
                let known =
                    [("serial", serial), ("wwid", wwid), ("diskseq", &diskseq), ("place", place)];
                let known =
                    known.iter().filter_map(|(name, value)| Some((name, (*value).as_ref()?)));
                known.fold(format!("name={kernel_name} size_bytes={size_bytes}"), |all, (n, v)| {
                    format!("{all} {n}={v}")
                })
            }
            Self::File { device, inode, size_bytes, created: _ } => {
                format!("inode={inode} device={device} size_bytes={size_bytes}")
            }
        }
    }

    /// Length in bytes.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Device(device) => device.size_bytes,
            Self::File { size_bytes, .. } => *size_bytes,
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(device) => {
                write!(f, "/dev/{} ({} B", device.kernel_name, device.size_bytes)?;
                if let Some(serial) = &device.serial {
                    write!(f, ", serial {serial}")?;
                }
                f.write_str(")")
            }
            Self::File { device, inode, size_bytes, created } => {
                write!(f, "inode {inode} on {device} ({size_bytes} B")?;
                if let Some(created) = created {
                    write!(f, ", created {created}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Time of creation of a file; `None` if the file system does not keep it.
pub(crate) fn created(file: impl AsFd) -> Option<String> {
    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let is_kept = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    let time = found.stx_btime;
    is_kept.then(|| format!("{}.{:09}", time.tv_sec, time.tv_nsec))
}

/// Digest of a text, in 16 characters.
pub(crate) fn short_digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
