//! The way of a file through the guards.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::claim::{Claim, Usable};
use super::exclusive::{Use, lock_file};
use super::in_use;
use super::labels::own_label;
use super::opening::{cannot_open, open_direct, size_of};
use super::stack::Stack;
use super::writing::Writing;
use crate::consent::{self, Consent};
use crate::label::Label;
use crate::refusal::{Guard, Refusal};
use crate::room::check_room;
use crate::seal::Seal;
use crate::system::System;
use crate::target::{FileSystem, Inspected, Kind};

const SYSTEM_PATHS: [&str; 12] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin",
    "/sys", "/usr",
];

const KERNEL_FILE_SYSTEMS: [&str; 14] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "proc",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// Whether the path itself, its links aside, is a place of the system.
pub(crate) fn is_system_path(path: &Path) -> bool {
    path == Path::new("/") || SYSTEM_PATHS.iter().any(|system| path.starts_with(system))
}

/// G14: not a place of the system, and a file system that holds files.
pub(crate) fn check_location(path: &Path, file_system: &FileSystem) -> Result<(), Refusal> {
    let refuse = |found: String| {
        let remedy = "Give a directory of your own, on the storage that you want to measure";
        Err(Refusal::new(Guard::G14Place, found, remedy))
    };
    let names = std::iter::once(path).chain(file_system.aliases.iter().map(PathBuf::as_path));
    for name in names {
        if is_system_path(name) {
            let given = path.display();
            return refuse(format!("{given} is a place of the system ({})", name.display()));
        }
    }
    if KERNEL_FILE_SYSTEMS.contains(&file_system.kind.as_str()) {
        return refuse(format!("{} is on {}, not on storage", path.display(), file_system.kind));
    }
    Ok(())
}

/// G1, G5, G6, G8, G14 for a file that is there: regular, with one name, in no system place, and
/// neither swap space nor the back of a loop device.
pub(crate) fn check_unused(system: &System, target: &Inspected) -> Result<(), Refusal> {
    let Kind::RegularFile { sole_name, file_system, .. } = &target.kind else {
        let found = format!("{} is no regular file", target.expression.display());
        return Err(Refusal::new(Guard::G1Resolve, found, "Give a file, or a device"));
    };
    check_location(&target.path, file_system)?;
    let (device, inode) = target.inode();
    let name = target.expression.display().to_string();
    let stack = Stack::of_file(name.clone(), device, inode);
    in_use::by_kernel(system, &stack)?;
    if !sole_name {
        return Err(Refusal::new(
            Guard::G8Ownership,
            format!("{name} has more than one name: it may be part of something else"),
            "Give a file with one name, or a directory",
        ));
    }
    super::others::no_writers_by_lease(system, target, &stack)
}

pub(super) fn claim(
    system: &System,
    target: &Inspected,
    consent: Option<&Consent>,
    writing: &Writing<'_>,
) -> Result<Claim, Refusal> {
    check_unused(system, target)?;
    if let Some(consent) = consent {
        return by_consent(system, target, consent, writing);
    }
    // Read first: a file that is not ours is never opened for writing.
    let reading = target.open(OFlags::RDONLY).map_err(|e| cannot_open(target, e))?;
    let (reading, size_bytes) = size_of(target, reading)?;
    let label = own_label(target, &reading, size_bytes).filter(|label| label.complete);
    let Some(label) = label else {
        return Err(consent::missing_for_file(system, target, writing.now));
    };
    must_be_as_left(&reading, target, &label)?;
    let (file, direct) = open_direct(target, OFlags::RDWR, writing.direct)?;
    lock_file(&file, &target.expression, Use::Write)?;
    let (file, now_bytes) = size_of(target, file)?;
    system.switch("lock");
    super::others::no_writers_of_file(system, &file, &target.expression)?;
    if own_label(target, &reading, now_bytes).as_ref() != Some(&label) {
        let found = format!("{} changed while it was looked at", target.expression.display());
        return Err(Refusal::new(Guard::G10Identity, found, "Leave it alone and start again"));
    }
    let identity = crate::target::file_identity(&stat_of(&file, target)?);
    let seal = take_up(&file, &target.path, &label).map_err(|e| cannot_open(target, e))?;
    Ok(Claim {
        identity,
        file: File::into(file),
        usable: Usable { offset: 0, length: label.size_bytes },
        direct,
        writable: true,
        label: Some(label),
        seal: Some(seal),
        exclusive: None,
    })
}

/// A file that is not ours, to the loss of whose contents the user consented. It gets no label, so
/// that each run asks again.
fn by_consent(
    system: &System,
    target: &Inspected,
    consent: &Consent,
    writing: &Writing<'_>,
) -> Result<Claim, Refusal> {
    consent.check_file(target, &target.identity(), writing.now)?;
    has_room_for_holes(target)?;
    let (file, direct) = open_direct(target, OFlags::RDWR, writing.direct)?;
    lock_file(&file, &target.expression, Use::Write)?;
    let (file, size_bytes) = size_of(target, file)?;
    system.switch("lock");
    super::others::no_writers_of_file(system, &file, &target.expression)?;
    let identity = crate::target::file_identity(&stat_of(&file, target)?);
    consent.check_file(target, &identity, writing.now)?;
    Ok(Claim {
        identity,
        file: File::into(file),
        usable: Usable { offset: 0, length: size_bytes },
        direct,
        writable: true,
        label: None,
        seal: None,
        exclusive: None,
    })
}

/// G13: what a sparse file lacks must be there to be had.
fn has_room_for_holes(target: &Inspected) -> Result<(), Refusal> {
    let holes = target.identity().size_bytes().saturating_sub(target.allocated_bytes());
    if holes == 0 {
        return Ok(());
    }
    check_room(target, holes, 0, 0)
}

fn stat_of(file: &File, target: &Inspected) -> Result<rustix::fs::Stat, Refusal> {
    rustix::fs::fstat(file).map_err(|error| cannot_open(target, error))
}

/// A file that somebody else wrote, copied or renamed is not ours any more, whatever its label
/// says.
pub(crate) fn must_be_as_left(
    file: &File,
    target: &Inspected,
    label: &Label,
) -> Result<(), Refusal> {
    let mut names = vec![target.path.clone()];
    if let Kind::RegularFile { file_system, .. } = &target.kind {
        names.extend(file_system.aliases.iter().cloned());
    }
    let Some(why) = crate::seal::why_file_stale(file, &names, label) else { return Ok(()) };
    let name = target.path.display();
    Err(Refusal::new(
        Guard::G8Ownership,
        format!("{name} was made by qdepth and is not as it left it: {why}"),
        "Look whether somebody needs it; if nobody does, remove it and start again",
    ))
}

/// Marks a file of ours as written to until it is let go.
pub(crate) fn take_up(file: &File, path: &Path, label: &Label) -> Result<Seal, rustix::io::Errno> {
    let mut label = label.clone();
    crate::seal::begin(file, path, &mut label);
    Ok(Seal::of_file(rustix::io::dup(file)?, label))
}
