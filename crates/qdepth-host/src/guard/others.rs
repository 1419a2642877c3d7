//! G2: which other processes have a target open for writing. The kernel's exclusive claim does not
//! see who opened a device without one, and a file has none. Of processes of other users only root
//! is told; of the rest nothing is known.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use super::in_use::{self, Subject};
use crate::refusal::{Guard, Refusal};
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;

/// Refuses what another process has open for writing.
pub(super) fn no_writers(system: &System, subject: &Subject, name: &Path) -> Result<(), Refusal> {
    no_writers_but(system, subject, name, |_| false)
}

/// The same, but for processes that the lock keeps apart.
fn no_writers_but(
    system: &System,
    subject: &Subject,
    name: &Path,
    is_kept_apart: impl Fn(&str) -> bool,
) -> Result<(), Refusal> {
    if !system.is_real() {
        return Ok(());
    }
    let own = std::process::id().to_string();
    let processes = system.list_dir("/proc").unwrap_or_default();
    let others =
        processes.iter().filter(|id| **id != own && id.bytes().all(|b| b.is_ascii_digit()));
    for process in others {
        // Not through the recording: a process's descriptors are gone at the next look.
        let Ok(files) = std::fs::read_dir(format!("/proc/{process}/fd")) else { continue };
        for file in files.flatten() {
            if is_it(system, subject, &file.path())
                && writes(process, &file.file_name())
                && !is_kept_apart(process)
            {
                let by = system.read_trimmed(format!("/proc/{process}/comm"));
                let by = by.unwrap_or_else(|| "?".to_owned());
                return Err(Refusal::new(
                    Guard::G2Exclusive,
                    format!("{} is open for writing in process {process} ({by})", name.display()),
                    format!("Wait for its end, or end it (`kill {process}`)"),
                ));
            }
        }
    }
    Ok(())
}

fn is_it(system: &System, subject: &Subject, path: &Path) -> bool {
    // Never asks a server that may not answer.
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let Ok(found) = statx(CWD, path, flags, StatxFlags::TYPE | StatxFlags::INO) else {
        return false;
    };
    let kind = FileType::from_raw_mode(found.stx_mode.into());
    match subject {
        Subject::Devices(names) => {
            let number = DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor };
            kind == FileType::BlockDevice
                && names.iter().any(|name| sysfs::number_of(system, name) == Some(number))
        }
        Subject::File { device, inode, .. } => {
            let number = DeviceNumber { major: found.stx_dev_major, minor: found.stx_dev_minor };
            kind == FileType::RegularFile && number == *device && found.stx_ino == *inode
        }
    }
}

/// Whether a descriptor can write: the flags in `fdinfo` are octal, and their last two bits say how
/// it was opened (open(2)).
#[expect(clippy::disallowed_methods, reason = "a file of procfs, by its one name")]
fn writes(process: &str, file: &std::ffi::OsStr) -> bool {
    let path = Path::new("/proc").join(process).join("fdinfo").join(file);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // Opened as a path only (O_PATH), it can do nothing.
    flags.is_some_and(|flags| flags & 0o3 != 0 && flags & 0o10_000_000 == 0)
}

/// Whether a process runs the program that this one runs.
fn runs_this_program(process: &str) -> bool {
    let program = |process: &str| {
        let path = Path::new("/proc").join(process).join("exe");
        let found = rustix::fs::stat(&path).ok()?;
        Some((found.st_dev, found.st_ino))
    };
    program("self").is_some_and(|own| program(process) == Some(own))
}

/// G2, G5, G6 of a file that is open: neither swap space nor the back of a loop device, and no
/// other program writes to it. The ranks of a run look at the same files at the same time, and runs
/// of qdepth are kept apart by the lock.
pub(crate) fn nobody_uses_file(
    system: &System,
    file: &std::fs::File,
    path: &Path,
) -> Result<(), Refusal> {
    let Some(subject) = subject_of(file, path) else { return Ok(()) };
    in_use::by_kernel(system, &subject)?;
    no_writers_but(system, &subject, path, runs_this_program)
}

fn subject_of(file: &std::fs::File, path: &Path) -> Option<Subject> {
    let found = file.metadata().ok()?;
    Some(Subject::File {
        device: DeviceNumber::from_raw(found.dev()),
        inode: found.ino(),
        name: path.display().to_string(),
    })
}

/// A file as a subject.
pub(crate) fn no_writers_of_file(
    system: &System,
    file: &std::fs::File,
    path: &Path,
) -> Result<(), Refusal> {
    let Some(subject) = subject_of(file, path) else { return Ok(()) };
    no_writers(system, &subject, path)
}
