//! The right to use a target.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::Stat;

use super::opening::Direct;
use crate::identity::{DeviceIdentity, Identity, check_same};
use crate::label::Label;
use crate::refusal::{Guard, Refusal};
use crate::system::System;
use crate::target::file_identity;

/// Byte range of a target that may be accessed.
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
    /// True if the target may be written.
    pub writable: bool,
    /// Label that was found, or written, on a device or file of qdepth's.
    pub label: Option<Label>,
    pub(crate) exclusive: Option<OwnedFd>,
}

impl Claim {
    /// The right to write to the first `length` bytes of a file.
    pub(crate) fn of_file(
        file: File,
        stat: &Stat,
        length: u64,
        direct: Direct,
        label: Option<Label>,
    ) -> Self {
        Self {
            identity: file_identity(&file, stat),
            file: file.into(),
            usable: Usable { offset: 0, length },
            direct,
            writable: true,
            label,
            exclusive: None,
        }
    }

    /// Guard G10: checks that the target is still the one that was claimed. Compares serial, WWID,
    /// size, disk sequence number and place of a device as currently shown by the kernel; device,
    /// inode, time of creation and length of a file.
    ///
    /// # Errors
    /// [`Guard::G10Identity`] with the difference.
    pub fn check_identity(&self, system: &System) -> Result<(), Refusal> {
        match &self.identity {
            Identity::Device(then) => check_same(system, then),
            Identity::File { .. } => {
                let now = self.identity_now(system);
                if now.as_ref() == Some(&self.identity) {
                    return Ok(());
                }
                let now = now.map_or_else(|| "no longer accessible".to_owned(), |n| n.to_string());
                Err(Refusal::new(
                    Guard::G10Identity,
                    format!("the file was {}, and is now {now}", self.identity),
                    "Do not change a file while it is measured, and start again",
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
                let stat = rustix::fs::fstat(&self.file).ok()?;
                Some(file_identity(&self.file, &stat))
            }
        }
    }

    /// True if the device was removed or detached: sysfs does not show it any more, or it has no
    /// bytes left.
    pub fn is_gone(&self, system: &System) -> bool {
        match &self.identity {
            Identity::Device(then) => DeviceIdentity::read_names(system, then.number)
                .is_none_or(|now| now.size_bytes == 0),
            Identity::File { .. } => false,
        }
    }

    /// True if the device is claimed exclusively, so that nothing else can mount or claim it.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive.is_some()
    }
}
