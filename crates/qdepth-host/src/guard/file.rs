//! Guards of a file, in their order.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::claim::Claim;
use super::exclusive::{Use, lock_file};
use super::in_use;
use super::labels::own_label;
use super::opening::{Direct, cannot_open, open_direct, size_of};
use super::writing::Writing;
use crate::consent::{self, Consent};
use crate::entry::version_of;
use crate::label::{LABEL_BYTES, Label, LabelledFile};
use crate::mounts;
use crate::own_content::foreign_offset;
use crate::refusal::{Guard, Refusal};
use crate::room::check_room;
use crate::stack::Stack;
use crate::system::System;
use crate::target::{FileSystem, Inspected, Kind, file_identity};

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

/// True if the path itself, without following links, is in a system directory.
pub(crate) fn is_system_path(path: &Path) -> bool {
    path == Path::new("/") || SYSTEM_PATHS.iter().any(|system| path.starts_with(system))
}

/// Guard G14: not in a system directory, and on a file system that stores files.
pub(crate) fn check_location(path: &Path, file_system: &FileSystem) -> Result<(), Refusal> {
    let refuse = |found: String| {
        let remedy = "Use a directory of your own on the storage that you want to measure";
        Err(Refusal::new(Guard::G14Place, found, remedy))
    };
    let names = std::iter::once(path).chain(file_system.aliases.iter().map(PathBuf::as_path));
    for name in names {
        if is_system_path(name) {
            let given = path.display();
            return refuse(format!("{given} is in a system directory ({})", name.display()));
        }
    }
    if KERNEL_FILE_SYSTEMS.contains(&file_system.kind.as_str()) {
        return refuse(format!("{} is on {}, not on storage", path.display(), file_system.kind));
    }
    Ok(())
}

/// Guards G1, G5, G6, G8 and G14 for an existing file: a regular file with one name, not in a
/// system directory, neither swap space nor behind a loop device.
pub(crate) fn check_unused(system: &System, target: &Inspected) -> Result<(), Refusal> {
    let Kind::RegularFile { sole_name, file_system, .. } = &target.kind else {
        let found = format!("{} is not a regular file", target.expression.display());
        return Err(Refusal::new(Guard::G1Resolve, found, "Use a regular file or a block device"));
    };
    check_location(&target.path, file_system)?;
    let (device, inode) = target.inode();
    let name = target.expression.display().to_string();
    let mounts = mounts::own(system);
    let stack = Stack::of_file(system, &mounts, &target.path, device, inode).named(&name);
    in_use::by_kernel(system, &stack)?;
    if !sole_name {
        return Err(Refusal::new(
            Guard::G8Ownership,
            format!("{name} has more than one name (hard links), so other programs may use it"),
            "Use a file with one name, or a directory",
        ));
    }
    super::others::no_users_by_lease(system, target, &stack)
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
    // Opened for reading first: a foreign file is never opened for writing.
    let reading = target.open(OFlags::RDONLY).map_err(|e| cannot_open(target, e))?;
    let (reading, size_bytes) = size_of(target, reading)?;
    let label = own_label(target, &reading, size_bytes).filter(|label| label.complete);
    let Some(label) = label else {
        return Err(consent::missing_for_file(system, target, writing.now));
    };
    let (file, now_bytes, direct) = open_locked(system, target, writing)?;
    let before = stat_of(&file, target)?;
    let is_same = own_label(target, &reading, now_bytes).as_ref() == Some(&label);
    if is_same {
        must_be_ours(&reading, target, &label)?;
    }
    let stat = stat_of(&file, target)?;
    if !is_same || version_of(&stat) != version_of(&before) {
        let found = format!("{} changed while qdepth checked it", target.expression.display());
        return Err(Refusal::new(
            Guard::G10Identity,
            found,
            "Stop the program that changes it, and start again",
        ));
    }
    Ok(Claim::of_file(file, &stat, label.size_bytes, direct, Some(label)))
}

/// Opens a file for writing, if no other run and no other program uses it. Returns its length, too.
fn open_locked(
    system: &System,
    target: &Inspected,
    writing: &Writing<'_>,
) -> Result<(File, u64, Direct), Refusal> {
    let (file, direct) = open_direct(target, OFlags::RDWR, writing.direct)?;
    lock_file(&file, &target.expression, Use::Write)?;
    let (file, size_bytes) = size_of(target, file)?;
    system.before_action("lock");
    super::others::no_writers_of_file(system, &file, &target.expression)?;
    Ok((file, size_bytes, direct))
}

/// Claims a foreign file to the loss of whose contents the user consented. It gets no label, so
/// that each run asks again.
fn by_consent(
    system: &System,
    target: &Inspected,
    consent: &Consent,
    writing: &Writing<'_>,
) -> Result<Claim, Refusal> {
    consent.check_file(target, &target.identity(), writing.now)?;
    has_room_for_holes(target)?;
    let (file, size_bytes, direct) = open_locked(system, target, writing)?;
    let stat = stat_of(&file, target)?;
    consent.check_file(target, &file_identity(&file, &stat), writing.now)?;
    Ok(Claim::of_file(file, &stat, size_bytes, direct, None))
}

/// Guard G13: there is room to fill the holes of a sparse file.
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

/// Checks that a file of qdepth's is the one that its label names, and holds only data that qdepth
/// wrote. Reads the whole file.
pub(crate) fn must_be_ours(file: &File, target: &Inspected, label: &Label) -> Result<(), Refusal> {
    let Some(why) = why_not_ours(file, target, label) else { return Ok(()) };
    Err(not_as_left(&target.path, &why))
}

/// Refusal of a file that qdepth created and that holds, or may hold, foreign data.
pub(crate) fn not_as_left(path: &Path, why: &str) -> Refusal {
    let name = path.display();
    let quoted = path.to_string_lossy().replace('\'', "'\\''");
    Refusal::new(
        Guard::G8Ownership,
        format!("{name} was created by qdepth, but was changed since: {why}"),
        format!("If it is no longer needed, remove it (`rm -- '{quoted}'`) and start again"),
    )
}

fn why_not_ours(file: &File, target: &Inspected, label: &Label) -> Option<String> {
    let mut names = vec![&target.path];
    if let Kind::RegularFile { file_system, .. } = &target.kind {
        names.extend(&file_system.aliases);
    }
    let (_, inode) = target.inode();
    let is_named = |path: &&PathBuf| label.file == Some(LabelledFile::new(inode, path));
    if !names.iter().any(is_named) {
        return Some("it was copied or renamed since".to_owned());
    }
    match foreign_in_area(file, label) {
        Ok(None) => None,
        Ok(Some(offset)) => Some(format!("the data at byte {offset} is not qdepth's")),
        Err(error) => Some(format!("it cannot be read: {error}")),
    }
}

/// Offset of the first foreign sector before the label of a measurement file. Reads the whole file.
pub(crate) fn foreign_in_area(file: &File, label: &Label) -> io::Result<Option<u64>> {
    // A run that was killed before its file was filled leaves a second label at the beginning.
    let first = Label::read_at(file, 0).ok().flatten();
    let begin = if first.is_some_and(|first| first.uuid == label.uuid) { LABEL_BYTES } else { 0 };
    foreign_offset(file, begin, label.size_bytes)
}
