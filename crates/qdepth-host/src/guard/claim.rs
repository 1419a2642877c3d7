//! The right to use a target.

use std::os::fd::OwnedFd;

use super::opening::Direct;
use super::same_device::check_same;
use crate::identity::{DeviceIdentity, Identity};
use crate::label::Label;
use crate::refusal::{Guard, Refusal};
use crate::system::System;

/// The bytes of a target that may be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usable {
    /// First byte.
    pub offset: u64,
    /// Length.
    pub length: u64,
}

/// The right to use a target, for as long as this value lives.
#[derive(Debug)]
pub struct Claim {
    /// The descriptor to measure with.
    pub file: OwnedFd,
    /// Byte range that may be accessed.
    pub usable: Usable,
    /// Identity.
    pub identity: Identity,
    /// State of direct I/O.
    pub direct: Direct,
    /// True if it can be written.
    pub writable: bool,
    /// The label found or written on a device or file of ours.
    pub label: Option<Label>,
    pub(crate) exclusive: Option<OwnedFd>,
}

impl Claim {
    /// G10: checks that the target is still the one that was claimed. For a device: serial, WWID,
    /// size and diskseq as sysfs says them now; for a file: device, inode and length.
    ///
    /// # Errors
    /// [`Guard::G10Identity`] with what changed.
    pub fn check_identity(&self, system: &System) -> Result<(), Refusal> {
        match &self.identity {
            Identity::Device(then) => check_same(system, then),
            Identity::File { .. } => {
                let now = self.identity_now(system);
                if now.as_ref() == Some(&self.identity) {
                    return Ok(());
                }
                let now = now.map_or_else(|| "nothing that answers".to_owned(), |n| n.to_string());
                Err(Refusal::new(
                    Guard::G10Identity,
                    format!("the file was {}, is {now}", self.identity),
                    "Leave a file alone while it is measured, and start again",
                ))
            }
        }
    }

    /// Current identity at the target's path; `None` if it cannot be read.
    pub fn identity_now(&self, system: &System) -> Option<Identity> {
        match &self.identity {
            Identity::Device(then) => {
                DeviceIdentity::read(system, then.number).map(Identity::Device)
            }
            Identity::File { .. } => {
                let stat = rustix::fs::fstat(&self.file);
                stat.as_ref().ok().map(crate::target::file_identity)
            }
        }
    }

    /// True if the device was pulled or detached: it is unknown now, or has no byte left.
    pub fn is_gone(&self, system: &System) -> bool {
        match &self.identity {
            Identity::Device(then) => {
                DeviceIdentity::read(system, then.number).is_none_or(|now| now.size_bytes == 0)
            }
            Identity::File { .. } => false,
        }
    }

    /// True if the device is held so that no one else can mount or claim it.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive.is_some()
    }
}
