//! The measurement file that a load uses in a directory: qdepth creates it, fills it to its last
//! byte, and removes it.
//!
//! Layout: the measurement area from offset 0, then one label of 4 KiB. The area is filled
//! completely with incompressible data, so that no read is answered from a hole.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{Access, AtFlags, FileType, OFlags, Stat, XattrFlags};
use rustix::io::Errno;

use crate::entry::{self, Inode, inode_of, version_of};
use crate::extents::unwritten_share;
use crate::guard::{self, Claim, Direct, Use, Verdicts};
use crate::label::{LABEL_BYTES, Label, LabelledFile};
use crate::noise::{self, Progress};
use crate::refusal::{Failure, Guard, Problem, Refusal, not_ours};
use crate::room::check_room;
use crate::system::System;
use crate::target::{self, Inspected, Kind};

pub use crate::room::spare_bytes;

/// Name of the file in its directory.
pub const NAME: &str = "qdepth-measurement-file";

pub(crate) const XATTR: &str = "user.qdepth";

/// File to create or use.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Length of the measurement area in bytes; rounded down to a multiple of 4096.
    pub size_bytes: u64,
    /// UUID of the run.
    pub run_id: &'a str,
    /// Current time.
    pub now: Timestamp,
    /// True to keep it for later runs, which then need not fill it again.
    pub keep: bool,
    /// True to bypass the page cache.
    pub direct: bool,
}

/// A measurement file, claimed for writing. Dropping it removes the file, unless it must be kept.
#[derive(Debug)]
pub struct MeasurementFile {
    /// The claim on the file.
    pub claim: Claim,
    /// Path.
    pub path: PathBuf,
    /// True if a complete measurement file existed already, so that nothing had to be filled.
    pub reused: bool,
    directory: Option<OwnedFd>,
    inode: Inode,
}

impl MeasurementFile {
    /// Removes the file, if it is still the one that was created and is not to be kept. Dropping
    /// does the same, but ignores failures.
    ///
    /// # Errors
    /// If it could not be removed, or another file has its name now.
    pub fn remove(mut self) -> Result<(), Failure> {
        self.unlink().map_err(|error| failure("remove", &self.path, error))
    }

    /// Keeps the file, whatever was requested before.
    pub fn leave(&mut self) {
        self.directory = None;
    }

    fn unlink(&mut self) -> io::Result<()> {
        let Some(directory) = self.directory.take() else { return Ok(()) };
        entry::remove(&directory, name_in(&self.path), self.inode, AtFlags::empty())
    }
}

impl Drop for MeasurementFile {
    fn drop(&mut self) {
        let _ = self.unlink();
    }
}

/// A place for a measurement file that has passed all guards. An existing file is held, and nothing
/// is written yet.
#[derive(Debug)]
pub struct Cleared {
    system: System,
    path: PathBuf,
    directory: Option<OwnedFd>,
    held: Option<Existing>,
    size_bytes: u64,
}

/// An existing measurement file, or an empty one, open and locked.
#[derive(Debug)]
struct Existing {
    file: File,
    stat: Stat,
    label: Option<Label>,
}

impl Existing {
    fn hold(
        system: &System,
        file: File,
        path: &Path,
        there: Option<&Inspected>,
    ) -> Result<Self, Problem> {
        let stat = stat_of(&file, path)?;
        check_regular(&stat, path)?;
        guard::lock_file(&file, path, Use::Write)?;
        guard::no_writers_of_file(system, &file, path)?;
        let label = own_or_empty(&file, path)?;
        if let (Some(label), Some(there)) = (&label, there) {
            guard::must_be_ours(&file, there, label)?;
        }
        Ok(Self { file, stat, label })
    }

    /// True if the file was completely filled for this size, and no part of it was removed since.
    fn is_filled(&self, size_bytes: u64) -> bool {
        self.label.as_ref().is_some_and(|label| {
            label.complete
                && label.size_bytes == size_bytes
                && unwritten_share(&self.file, 0, label.size_bytes).is_none_or(|share| share <= 0.0)
        })
    }
}

impl Cleared {
    /// Bytes that filling will write; 0 if a complete measurement file exists.
    pub fn bytes_to_fill(&self) -> u64 {
        let filled = self.held.as_ref().is_some_and(|held| held.is_filled(self.size_bytes));
        if filled { 0 } else { self.size_bytes + LABEL_BYTES }
    }

    /// Creates the file if it does not exist, and fills it if it is not filled.
    ///
    /// # Errors
    /// Refused if somebody has created a file of that name since. Failed if it could not be filled;
    /// then it is removed.
    pub fn make(
        self,
        wanted: &Wanted<'_>,
        progress: Progress<'_>,
    ) -> Result<MeasurementFile, Problem> {
        let held = match (self.held, &self.directory) {
            (Some(held), _) => held,
            (None, Some(directory)) => {
                let file = open_in(directory, &self.path, OFlags::CREATE | OFlags::EXCL)
                    .map_err(|error| cannot_make(&self.path, error))?;
                Existing::hold(&self.system, File::from(file), &self.path, None)?
            }
            (None, None) => return Err(cannot_make(&self.path, Errno::NOENT).into()),
        };
        let wanted = Wanted { size_bytes: self.size_bytes, ..*wanted };
        // While other targets were checked, somebody may have opened the file or written to it.
        self.system.before_action("fill");
        guard::no_writers_of_file(&self.system, &held.file, &self.path)?;
        let is_same = version_of(&stat_of(&held.file, &self.path)?) == version_of(&held.stat)
            && own_or_empty(&held.file, &self.path)? == held.label;
        if !is_same {
            return Err(changed(&self.path).into());
        }
        finish(held, self.path, self.directory, &wanted, progress)
    }
}

/// Asks all guards about the measurement file that a plan needs: in a directory a new one, or one
/// that an earlier run left there; else an empty file, which is never removed. `promised_bytes` is
/// the space that other targets of the run will take on the same file system.
///
/// # Errors
/// Refused: G14 for a system directory or one without write permission, G13 without room (twice the
/// size must be free, and 5 % of the file system must stay free), G8 for a foreign file, G2 if
/// another run uses it, G5 and G6 if it is swap space or behind a loop device. Failed: if it could
/// not be read.
pub fn clear(
    system: &System,
    target: &Inspected,
    wanted: &Wanted<'_>,
    promised_bytes: u64,
) -> Result<Cleared, Problem> {
    clear_named(system, target, NAME, wanted, promised_bytes)
}

/// Like [`clear`], with another name for the file in a directory.
///
/// # Errors
/// Those of [`clear`].
pub fn clear_named(
    system: &System,
    target: &Inspected,
    name: &str,
    wanted: &Wanted<'_>,
    promised_bytes: u64,
) -> Result<Cleared, Problem> {
    let size_bytes = wanted.size_bytes / LABEL_BYTES * LABEL_BYTES;
    let Kind::Directory(file_system) = &target.kind else {
        guard::check_unused(system, target)?;
        check_room(target, size_bytes, target.allocated_bytes(), promised_bytes)?;
        let open = target.open(OFlags::RDWR).map_err(|error| cannot_make(&target.path, error))?;
        let held = Some(Existing::hold(system, File::from(open), &target.path, Some(target))?);
        let path = target.path.clone();
        return Ok(Cleared { system: system.clone(), path, directory: None, held, size_bytes });
    };
    guard::check_location(&target.path, file_system)?;
    let path = target.path.join(name);
    let directory = target.handle().try_clone_to_owned();
    let directory = directory.map_err(|error| failure("open", &target.path, error))?;
    let held = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => {
            may_make(&directory).map_err(|error| cannot_make(&path, error))?;
            check_room(target, size_bytes, 0, promised_bytes)?;
            None
        }
        Err(error) => return Err(cannot_make(&path, error).into()),
        Ok(_) => {
            let existing = target::inspect(system, &path)?;
            guard::check_unused(system, &existing)?;
            check_room(target, size_bytes, existing.allocated_bytes(), promised_bytes)?;
            let open = open_in(&directory, &path, OFlags::empty());
            let open = open.map_err(|error| cannot_make(&path, error))?;
            Some(Existing::hold(system, File::from(open), &path, Some(&existing))?)
        }
    };
    Ok(Cleared { system: system.clone(), path, directory: Some(directory), held, size_bytes })
}

/// Verdicts of the guards that [`clear`] asks, and the bytes that filling will write.
///
/// # Errors
/// If an existing file could not be read.
pub fn review(
    system: &System,
    target: &Inspected,
    wanted: &Wanted<'_>,
    promised_bytes: u64,
) -> Result<(Verdicts, u64), Failure> {
    let order = [
        Guard::G14Place,
        Guard::G5Swap,
        Guard::G6Backing,
        Guard::G8Ownership,
        Guard::G13Bounds,
        Guard::G2Exclusive,
    ];
    let cleared = clear(system, target, wanted, promised_bytes);
    let (verdicts, cleared) = guard::verdicts(&order, cleared)?;
    Ok((verdicts, cleared.map_or(wanted.size_bytes, |cleared| cleared.bytes_to_fill())))
}

/// Checks that a file can be created in the directory, as far as possible without creating one.
pub(crate) fn may_make(directory: &OwnedFd) -> rustix::io::Result<()> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    match rustix::fs::accessat(directory, ".", access, AtFlags::EACCESS) {
        Err(error @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(error),
        // Kernels before 5.8 cannot answer for the effective user; creating the file will show it.
        _ => Ok(()),
    }
}

/// Name of a measurement file in its directory.
fn name_in(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or(NAME)
}

fn open_in(directory: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    entry::open(directory, name_in(path), flags | OFlags::RDWR | OFlags::NONBLOCK)
}

fn changed(path: &Path) -> Refusal {
    let found = format!("{} was written to while qdepth checked it", path.display());
    Refusal::new(Guard::G10Identity, found, "Stop the program that writes to it, and start again")
}

fn finish(
    held: Existing,
    path: PathBuf,
    directory: Option<OwnedFd>,
    wanted: &Wanted<'_>,
    progress: Progress<'_>,
) -> Result<MeasurementFile, Problem> {
    let direct = set_direct(&held.file, wanted.direct);
    let usable = held.is_filled(wanted.size_bytes);
    let Existing { file, stat, label: old } = held;
    let keep = wanted.keep || old.as_ref().is_some_and(|label| label.keep);
    let mut made = MeasurementFile {
        claim: Claim::of_file(file, &stat, wanted.size_bytes, direct, old),
        path,
        reused: usable,
        directory,
        inode: inode_of(&stat),
    };
    if !usable {
        let label = Label::new(wanted.run_id, &wanted.now.to_string(), wanted.size_bytes);
        let name = LabelledFile::new(stat.st_ino, &made.path);
        let label = Label { keep: wanted.keep, file: Some(name), ..label };
        let file = &made.claim.file;
        if made.claim.label.is_none()
            && !begin_empty(file, &label).map_err(|e| failure("fill", &made.path, e))?
        {
            made.leave();
            return Err(changed(&made.path).into());
        }
        fill(file, &label, progress).map_err(|error| failure("fill", &made.path, error))?;
        made.claim.label = Some(label);
        made.claim.identity = target::file_identity(file, &stat_of(file, &made.path)?);
    }
    if wanted.keep {
        mark_kept(&mut made)?;
    }
    if keep {
        made.leave();
    }
    Ok(made)
}

/// Marks a file as kept, because a later run would remove it otherwise.
fn mark_kept(made: &mut MeasurementFile) -> Result<(), Failure> {
    let Some(label) = made.claim.label.as_mut().filter(|label| !label.keep) else { return Ok(()) };
    label.keep = true;
    let write = || {
        let file = File::from(made.claim.file.try_clone()?);
        label.write_at(&file, label.size_bytes)?;
        file.sync_all()
    };
    write().map_err(|error| failure("label", &made.path, error))
}

fn stat_of(file: impl std::os::fd::AsFd, path: &Path) -> Result<Stat, Failure> {
    rustix::fs::fstat(file).map_err(|error| failure("look at", path, error.into()))
}

fn check_regular(stat: &Stat, path: &Path) -> Result<(), Refusal> {
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1 {
        return Ok(());
    }
    let found = format!("{} is not a regular file with one name", path.display());
    Err(Refusal::new(Guard::G8Ownership, found, "Remove or rename it, or use another directory"))
}

/// Label of a measurement file; `None` for an empty file.
fn own_or_empty(file: &File, path: &Path) -> Result<Option<Label>, Problem> {
    let length = file.metadata().map_err(|error| failure("look at", path, error))?.len();
    if length == 0 {
        return Ok(None);
    }
    let label = own_label(file, length).map_err(|error| failure("read", path, error))?;
    Ok(Some(label.ok_or_else(|| not_ours(path))?))
}

/// Label at the end of a measurement file of this length; `None` if the file has none.
pub(crate) fn own_label(file: &File, length: u64) -> io::Result<Option<Label>> {
    let Some(at) = length.checked_sub(LABEL_BYTES) else { return Ok(None) };
    Ok(Label::read_at(file, at)?.filter(|label| {
        // Left by a run that was killed when the file had only its label.
        let has_only_label = !label.complete && length == LABEL_BYTES;
        has_only_label || label.size_bytes.checked_add(LABEL_BYTES) == Some(length)
    }))
}

/// Sets direct I/O after opening, because a file system without direct I/O creates the file before
/// it refuses.
pub(crate) fn set_direct(file: impl AsFd, wanted: bool) -> Direct {
    if !wanted {
        // Clears O_NONBLOCK, with which asynchronous engines return "try again" for files.
        let _ = rustix::fs::fcntl_setfl(&file, OFlags::RDWR);
        return Direct::NotAsked;
    }
    let flags = OFlags::RDWR | OFlags::DIRECT;
    match rustix::fs::fcntl_setfl(&file, flags) {
        Ok(()) => Direct::Yes,
        Err(error) => {
            let _ = rustix::fs::fcntl_setfl(&file, OFlags::RDWR);
            Direct::Refused(error)
        }
    }
}

/// Writes the label after the area of an empty file. Returns false if somebody wrote into the file
/// at the same moment: their data is kept, and the label is removed.
///
/// Appending detects this on every file system, because the kernel appends a block after all
/// existing data. Looking for holes would not: a file system without holes reports the whole file
/// as data.
fn begin_empty(file: &OwnedFd, label: &Label) -> io::Result<bool> {
    let data = File::from(file.try_clone()?);
    let label = Label { complete: false, ..label.clone() };
    let appended = label.append(&data);
    let length = data.metadata()?.len();
    let is_ours = |at: u64| -> io::Result<bool> {
        Ok(Label::read_at(&data, at)?.is_some_and(|found| found.uuid == label.uuid))
    };
    if length == LABEL_BYTES && appended.is_ok() && is_ours(0)? {
        label.write_at(&data, label.size_bytes)?;
        return Ok(data.metadata()?.len() == label.size_bytes + LABEL_BYTES);
    }
    if length == 0 {
        return appended.map(|()| false);
    }
    if appended.is_ok() && is_ours(length.saturating_sub(LABEL_BYTES))? {
        data.set_len(length - LABEL_BYTES)?;
    }
    Ok(false)
}

/// Fills the file. The label is written first, so that a file left by a crash is recognised; then
/// every byte of the area; then the label again, marked complete.
fn fill(file: &OwnedFd, label: &Label, progress: Progress<'_>) -> io::Result<()> {
    let file = File::from(file.try_clone()?);
    // An empty file has its label by now, so that no foreign data is truncated.
    if Label::read_at(&file, label.size_bytes)?.is_none_or(|found| found.uuid != label.uuid) {
        file.set_len(0)?;
    }
    Label { complete: false, ..label.clone() }.write_at(&file, label.size_bytes)?;
    noise::write(&file, label.size_bytes, progress)?;
    file.sync_all()?;
    label.write_at(&file, label.size_bytes)?;
    // Not every file system has extended attributes; only the label is required.
    let _ = rustix::fs::fsetxattr(&file, XATTR, label.uuid.as_bytes(), XattrFlags::empty());
    file.sync_all()
}

pub(crate) fn cannot_make(path: &Path, error: Errno) -> Refusal {
    Refusal::new(
        Guard::G14Place,
        format!("{} could not be created or opened: {error}", path.display()),
        "Use a directory that you may write to",
    )
}

pub(crate) fn failure(doing: &'static str, path: &Path, error: io::Error) -> Failure {
    let remedy = match error.kind() {
        io::ErrorKind::Interrupted => "Run the command again",
        _ if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            "Raise the limit of open files (`ulimit -n`)"
        }
        _ => "Check the free space (`df`) and the kernel's log (`dmesg`)",
    };
    Failure { doing, thing: path.display().to_string(), error, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_descriptors_are_not_missing_space() {
        let remedy = |errno: Errno| failure("fill", Path::new("f"), errno.into()).remedy;
        assert!(remedy(Errno::MFILE).contains("ulimit -n"));
        assert!(remedy(Errno::NOSPC).contains("df"));
    }
}
