//! The guards, and the only way to a descriptor of a target.
//!
//! [`clear_for_writing`] shows the order of the guards. First come those that open nothing, so that
//! a disk in use is never even opened; then the exclusive claim, which is held until the end of the
//! run; then contents and consent. The first byte is written last. For several targets,
//! [`clear_for_writing`] asks all guards of each before [`Cleared::claim`] writes to the first.

mod claim;
mod cleared;
mod device;
mod exclusive;
mod file;
mod in_use;
mod labels;
mod lower_claims;
mod opening;
mod others;
mod review;
pub(crate) mod signature;
mod system_disk;
#[cfg(test)]
mod tests;
mod writing;

use rustix::fs::OFlags;

use crate::consent::Consent;
use crate::identity::check_same;
use crate::label::LABEL_BYTES;
use crate::refusal::{Guard, Refusal};
use crate::stack::Stack;
use crate::system::System;
use crate::target::{Inspected, Kind};

pub use claim::{Claim, Usable};
pub use cleared::Cleared;
pub(crate) use exclusive::{Use, again, hold, lock_directory, lock_file};
pub use opening::Direct;
pub(crate) use others::{no_writers_of_file, nobody_uses_file};
pub(crate) use review::verdicts;
pub use review::{Verdict, Verdicts, review};
pub use writing::Writing;

pub(crate) use file::{
    check_location, check_unused, foreign_in_area, is_system_path, must_be_ours, not_as_left,
};
use labels::own_label;
use opening::{open_direct, size_of};

/// Opens a device or an existing file for reading only. Reading harms nothing, so a mounted device
/// is accepted, but not one that another run is writing to. The usable range of a measurement file
/// ends before its label.
///
/// # Errors
/// G1 for a directory, G2 if it cannot be opened or another run writes to it, G10 if it is not what
/// was inspected, G13 if it is empty.
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
        check_same(system, &device.identity)?;
    }
    let label = own_label(target, &file, size_bytes);
    let is_file = matches!(target.kind, Kind::RegularFile { .. });
    let trailer = if is_file && label.is_some() { LABEL_BYTES } else { 0 };
    let length = size_bytes.saturating_sub(trailer);
    if length == 0 {
        return Err(Refusal::new(
            Guard::G13Bounds,
            format!("{} contains no data to read", target.expression.display()),
            "Use a file with contents, or a plan that writes: it fills an empty file first",
        ));
    }
    Ok(Claim {
        file: file.into(),
        usable: Usable { offset: 0, length },
        identity: target.identity(),
        direct,
        writable: false,
        label,
        exclusive: None,
    })
}

/// Opens a device, or a complete measurement file of qdepth's, for writing, if all guards pass.
/// Writes nothing. A device needs the user's consent every time, and so does a file, unless qdepth
/// wrote everything in it. [`crate::measurement_file::clear`] clears an empty file or a directory.
///
/// # Errors
/// The refusal of a guard.
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
            Ok(Cleared { claim, device: None, consent: consent.cloned() })
        }
        Kind::BlockDevice(found) => device::clear(system, target, found, consent, writing),
    }
}

/// Checks that a device could be written to if the user consented, before a message explains how to
/// consent.
///
/// # Errors
/// The refusal of a guard that no consent overrides.
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

/// Checks that nothing uses a device, before a program changes it without a new consent.
///
/// # Errors
/// The refusal of one of the guards G2 to G6.
pub(crate) fn nothing_uses(system: &System, kernel_name: &str) -> Result<(), Refusal> {
    let stack = Stack::of_device(system, kernel_name);
    in_use::by_kernel(system, &stack)?;
    in_use::holders(system, &stack)?;
    lower_claims::nothing_claims(system, &stack)
}

fn is_directory(target: &Inspected) -> Refusal {
    Refusal::new(
        Guard::G1Resolve,
        format!("{} is a directory", target.expression.display()),
        "Use a file or device, or a plan that creates a measurement file in the directory",
    )
}
