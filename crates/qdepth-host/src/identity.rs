//! Identity of a target, by which a run detects a change.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::refusal::{Guard, Refusal};
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
}

impl DeviceIdentity {
    /// Reads the identity from sysfs and the udev database; `None` if sysfs does not know the
    /// device or its size.
    pub fn read(system: &System, number: DeviceNumber) -> Option<Self> {
        let kernel_name = sysfs::kernel_name(system, number)?;
        Some(Self {
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
        let count = |device: &Self| format!("{:?}", device.diskseq);
        let name = |device: &Self| device.kernel_name.clone();
        let rows = [
            ("the serial", self.serial != now.serial, text(&self.serial), text(&now.serial)),
            ("the WWID", self.wwid != now.wwid, text(&self.wwid), text(&now.wwid)),
            ("the size", self.size_bytes != now.size_bytes, size(self), size(now)),
            ("diskseq", self.diskseq != now.diskseq, count(self), count(now)),
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
                let DeviceIdentity { kernel_name, number: _, serial, wwid, size_bytes, diskseq } =
                    device;
                let diskseq = diskseq.map(|diskseq| diskseq.to_string());
                let known = [("serial", serial), ("wwid", wwid), ("diskseq", &diskseq)];
                let known =
                    known.iter().filter_map(|(name, value)| Some((name, (*value).as_ref()?)));
                known.fold(format!("name={kernel_name} size_bytes={size_bytes}"), |all, (n, v)| {
                    format!("{all} {n}={v}")
                })
            }
            Self::File { device, inode, size_bytes } => {
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
            Self::File { device, inode, size_bytes } => {
                write!(f, "inode {inode} on {device} ({size_bytes} B)")
            }
        }
    }
}

fn serial(system: &System, name: &str, number: DeviceNumber) -> Option<String> {
    ["device/serial", "serial", "dm/uuid", "md/uuid"]
        .iter()
        .find_map(|key| sysfs::attribute(system, name, key))
        .or_else(|| vital_product_serial(system, name))
        .or_else(|| udev_property(system, number, "ID_SERIAL_SHORT"))
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join("_"))
        .filter(|text| text.chars().any(|c| c.is_alphanumeric() && c != '0'))
}

/// SCSI's page 80h: four bytes of header, then the serial.
fn vital_product_serial(system: &System, name: &str) -> Option<String> {
    let whole = sysfs::whole_of(system, name).unwrap_or_else(|| name.to_owned());
    let page = system.read_file(format!("/sys/class/block/{whole}/device/vpd_pg80")).ok()?;
    let text = page.chars().skip(4).collect::<String>().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn wwid(system: &System, name: &str, number: DeviceNumber) -> Option<String> {
    ["wwid", "device/wwid", "device/wwn", "nguid"]
        .iter()
        .find_map(|key| sysfs::attribute(system, name, key))
        .or_else(|| udev_property(system, number, "ID_WWN_WITH_EXTENSION"))
        .or_else(|| udev_property(system, number, "ID_WWN"))
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join("_"))
}

/// One property of a block device from the udev database.
pub fn udev_property(system: &System, number: DeviceNumber, key: &str) -> Option<String> {
    let text = system.read_file(format!("/run/udev/data/b{number}")).ok()?;
    text.lines()
        .filter_map(|line| line.strip_prefix("E:")?.split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value.to_owned())
}
