//! The guards, and the only way past them to a descriptor.
//!
//! [`claim_for_writing`] reads from the top as the order of the guards: first those that look
//! without opening anything, so that a disk in use is never even opened; then exclusiveness, held
//! from there to the end of the run; then contents and consent; the first byte is written last.
//! Where several targets are asked for, [`clear_for_writing`] asks all guards of each before
//! [`Cleared::claim`] writes to the first.

mod device;
mod exclusive;
mod file;
mod in_use;
#[cfg(test)]
mod model;
mod others;
mod review;
mod signature;
mod system_disk;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::consent::Consent;
use crate::identity::{DeviceIdentity, Identity};
use crate::label::{LABEL_BYTES, Label};
use crate::refusal::{Failure, Guard, Problem, Refusal};
use crate::seal::{DeviceSeal, Seal};
use crate::system::System;
use crate::target::{Inspected, Kind};

pub(crate) use device::check_same;
pub(crate) use exclusive::{Use, hold, lock_file};
pub(crate) use others::{no_writers_of_file, nobody_uses_file};
pub(crate) use review::in_order;
pub use review::{Verdict, Verdicts, review};

pub(crate) use file::{check_location, check_unused, is_system_path, must_be_as_left, take_up};

/// The bytes of a target that may be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usable {
    /// First byte.
    pub offset: u64,
    /// How many from there.
    pub length: u64,
}

/// Whether I/O bypasses the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direct {
    /// `O_DIRECT` is set.
    Yes,
    /// It was not asked for.
    NotAsked,
    /// It was asked for and the file system refused, with the reason.
    Refused(String),
}

/// The right to use a target, for as long as this value lives.
#[derive(Debug)]
pub struct Claim {
    /// The descriptor to measure with.
    pub file: OwnedFd,
    /// What may be touched through it.
    pub usable: Usable,
    /// Which thing it is.
    pub identity: Identity,
    /// Whether direct I/O is in effect.
    pub direct: Direct,
    /// Whether it can be written.
    pub writable: bool,
    /// The label found or written on a device or file of ours.
    pub label: Option<Label>,
    /// Before `exclusive`: it writes when it is dropped.
    pub(crate) seal: Option<Seal>,
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
            Identity::Device(then) => device::check_same(system, then),
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

    /// What is in the target's place now; none where that cannot be read.
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

    /// Whether the device was pulled or detached: it is unknown now, or has no byte left.
    pub fn is_gone(&self, system: &System) -> bool {
        match &self.identity {
            Identity::Device(then) => {
                DeviceIdentity::read(system, then.number).is_none_or(|now| now.size_bytes == 0)
            }
            Identity::File { .. } => false,
        }
    }

    /// Notes in its label how the target is left. Dropping does the same and is silent about
    /// failure.
    ///
    /// # Errors
    /// When the label could not be written: it does not count then.
    pub fn let_go(&mut self) -> Result<(), Failure> {
        let Some(mut seal) = self.seal.take() else { return Ok(()) };
        seal.write().map_err(|source| Failure {
            doing: "write the label to",
            thing: self.identity.to_string(),
            source,
            remedy: "The next run that writes to it asks for your consent again",
        })
    }

    /// Whether the device is held so that no one else can mount or claim it.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive.is_some()
    }
}

/// What a run that writes says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Now.
    pub now: Timestamp,
    /// Where results are kept: its disk is never written to as a device.
    pub results_dir: &'a Path,
    /// Whether to bypass the page cache.
    pub direct: bool,
}

/// Opens a device or an existing file for reading only. Reading harms nobody, so a mounted device
/// is accepted; one that another run is writing to is not. The usable bytes of a measurement file
/// end before its label.
///
/// # Errors
/// G1 for a directory, G2 when it cannot be opened or another run writes to it, G10 when it is
/// not what was inspected, G13 when it holds no byte.
pub fn claim_read_only(
    system: &System,
    target: &Inspected,
    direct: bool,
) -> Result<Claim, Refusal> {
    if matches!(target.kind, Kind::Directory(_)) {
        return Err(is_directory(target));
    }
    let (file, direct) = open_direct(target, OFlags::RDONLY, direct)?;
    match &target.kind {
        Kind::BlockDevice(_) => exclusive::lock_device(&file, &target.expression, Use::Read)?,
        Kind::RegularFile { .. } | Kind::Directory(_) => {
            lock_file(&file, &target.expression, Use::Read)?;
        }
    }
    let (file, size_bytes) = size_of(target, file)?;
    if let Kind::BlockDevice(device) = &target.kind {
        device::check_same(system, &device.identity)?;
    }
    let label = own_label(target, &file, size_bytes);
    let is_file = matches!(target.kind, Kind::RegularFile { .. });
    let trailer = if is_file && label.is_some() { LABEL_BYTES } else { 0 };
    let length = size_bytes.saturating_sub(trailer);
    if length == 0 {
        return Err(Refusal::new(
            Guard::G13Bounds,
            format!("{} holds no byte to read", target.expression.display()),
            "Give a file with contents, or a plan that writes, which fills an empty file",
        ));
    }
    Ok(Claim {
        file: file.into(),
        usable: Usable { offset: 0, length },
        identity: target.identity(),
        direct,
        writable: false,
        label,
        seal: None,
        exclusive: None,
    })
}

/// A target that every guard has let pass, held, with nothing written to it yet.
#[derive(Debug)]
pub struct Cleared {
    claim: Claim,
    system: System,
    unlabelled: Option<Unlabelled>,
}

/// A device that was consented to and bears no label yet.
#[derive(Debug)]
struct Unlabelled {
    kernel_name: String,
    size_bytes: u64,
}

impl Cleared {
    /// Takes it: a device that bears no label of ours gets one, which is the first thing written.
    ///
    /// # Errors
    /// The failure to write the label.
    pub fn claim(mut self, writing: &Writing<'_>) -> Result<Claim, Failure> {
        if let Some(device) = &self.unlabelled {
            let file = File::from(self.claim.file);
            self.claim.label = Some(device::put_label(&file, device, writing)?);
            self.claim.file = file.into();
        }
        if let (Identity::Device(device), Some(label)) = (&self.claim.identity, &self.claim.label) {
            let (device, label) = (device.clone(), label.clone());
            let file = self.claim.file.try_clone().map_err(|source| Failure {
                doing: "hold",
                thing: format!("/dev/{}", device.kernel_name),
                source,
                remedy: "Raise the limit of open files (`ulimit -n`)",
            })?;
            let seal = DeviceSeal { system: self.system, device, file, label };
            self.claim.seal = Some(Seal::of_device(seal));
        }
        Ok(self.claim)
    }
}

/// Opens a device, or a complete measurement file of ours, for writing, if every guard lets it,
/// and writes nothing. Without a label of ours, a device or file needs the user's consent; with one
/// it does not. An empty file or a directory is cleared by [`crate::measurement_file::clear`].
///
/// # Errors
/// A refusal of any guard.
pub fn clear_for_writing(
    system: &System,
    target: &Inspected,
    consent: Option<&Consent>,
    writing: &Writing<'_>,
) -> Result<Cleared, Refusal> {
    match &target.kind {
        Kind::Directory(_) => Err(is_directory(target)),
        Kind::RegularFile { .. } => {
            let claim = file::claim(system, target, consent, writing)?;
            Ok(Cleared { claim, system: system.clone(), unlabelled: None })
        }
        Kind::BlockDevice(found) => device::clear(system, target, found, consent, writing),
    }
}

/// Whether a device could be written to if the user consented: asked before anybody is told how to.
///
/// # Errors
/// A refusal of a guard that no consent overrides.
pub fn open_to_consent(
    system: &System,
    target: &Inspected,
    writing: &Writing<'_>,
) -> Result<(), Refusal> {
    match &target.kind {
        Kind::BlockDevice(found) => device::CheckContext::new(system, found, writing).all(),
        Kind::RegularFile { .. } => file::check_unused(system, target),
        Kind::Directory(_) => Ok(()),
    }
}

/// [`clear_for_writing`] and [`Cleared::claim`] at once, for a single target.
///
/// # Errors
/// A refusal of any guard, before anything was written; or the failure to write the label.
pub fn claim_for_writing(
    system: &System,
    target: &Inspected,
    consent: Option<&Consent>,
    writing: &Writing<'_>,
) -> Result<Claim, Problem> {
    Ok(clear_for_writing(system, target, consent, writing)?.claim(writing)?)
}

fn is_directory(target: &Inspected) -> Refusal {
    Refusal::new(
        Guard::G1Resolve,
        format!("{} is a directory", target.expression.display()),
        "Have a measurement file made in it, or give a file or device",
    )
}

/// Opens the inspected thing, with `O_DIRECT` where that is asked and possible.
fn open_direct(
    target: &Inspected,
    flags: OFlags,
    direct: bool,
) -> Result<(OwnedFd, Direct), Refusal> {
    let open = |flags| target.open(flags).map_err(|error| cannot_open(target, error));
    if !direct {
        return Ok((open(flags)?, Direct::NotAsked));
    }
    match target.open(flags | OFlags::DIRECT) {
        Ok(file) => Ok((file, Direct::Yes)),
        Err(error @ (Errno::INVAL | Errno::NOTSUP)) => {
            let why = format!("open with O_DIRECT: {error}");
            Ok((open(flags)?, Direct::Refused(why)))
        }
        Err(error) => Err(cannot_open(target, error)),
    }
}

fn cannot_open(target: &Inspected, error: Errno) -> Refusal {
    let remedy = match error {
        Errno::ACCESS => "Ask for the right to open it (for devices: be root)",
        Errno::PERM => {
            "The kernel forbids it even to root: in a container the device must be allowed \
             (`docker run --device`), elsewhere look at `lsattr` and at security modules"
        }
        Errno::BUSY => "End whatever holds it: see `lsblk`, `fuser` and `dmsetup ls`",
        Errno::ROFS => "It is read-only: give a plan that only reads",
        _ => "Check that the storage answers",
    };
    let found = format!("{} could not be opened: {error}", target.expression.display());
    Refusal::new(Guard::G2Exclusive, found, remedy)
}

/// The length in bytes as the open descriptor says, which no name or cache can be wrong about.
fn size_of(target: &Inspected, file: OwnedFd) -> Result<(File, u64), Refusal> {
    let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).map_err(|error| {
        Refusal::new(
            Guard::G13Bounds,
            format!("the size of {} could not be read: {error}", target.expression.display()),
            "Check that the storage answers",
        )
    })?;
    Ok((File::from(file), size))
}

/// The label of a device (both ends alike, made for this size) or file, whole and ours.
fn own_label(target: &Inspected, file: &File, size_bytes: u64) -> Option<Label> {
    match &target.kind {
        Kind::Directory(_) => None,
        Kind::RegularFile { .. } => {
            let label = Label::read_at(file, size_bytes.checked_sub(LABEL_BYTES)?).ok()??;
            (label.size_bytes.checked_add(LABEL_BYTES) == Some(size_bytes)).then_some(label)
        }
        Kind::BlockDevice(_) => device::label(file, size_bytes),
    }
}

/// The identity of a device now, or the refusal that it is gone.
fn identity_now(system: &System, then: &DeviceIdentity) -> Result<DeviceIdentity, Refusal> {
    DeviceIdentity::read(system, then.number).ok_or_else(|| {
        Refusal::new(
            Guard::G10Identity,
            format!("/dev/{} is gone", then.kernel_name),
            "Attach the device again and start a new run",
        )
    })
}
