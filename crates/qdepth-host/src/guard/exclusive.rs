//! Guard G2: nothing else holds the target.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, fcntl_lock, flock};
use rustix::io::Errno;

use super::opening::cannot_open;
use crate::refusal::{Guard, Refusal};
use crate::target::Inspected;

/// Claims a block device exclusively. The kernel grants only one such claim, and none if the
/// device, a partition of it or its disk is mounted, used as swap, part of a volume, or claimed.
/// The descriptor is read-only.
pub(crate) fn hold(target: &Inspected) -> Result<OwnedFd, Refusal> {
    // The system's device manager may hold a new device for a moment.
    let open = || target.open(OFlags::RDONLY | OFlags::EXCL);
    again(5, |error| *error == Errno::BUSY, open).map_err(|error| cannot_open(target, error))
}

/// Use of a target by qdepth, and the other uses that it permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Shared: others may read, too.
    Read,
    /// Exclusive.
    Write,
}

/// Number of attempts for a lock.
pub(super) const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(100);

/// Locks a device against other runs.
pub(super) fn lock_device(file: impl AsFd, name: &Path, how: Use) -> Result<(), Refusal> {
    judge(try_lock(file, how), name, how)
}

/// Tries for two seconds. udev briefly locks a device to inspect it, and the kernel may take some
/// time after the end of a killed run to finish its requests.
fn try_lock(file: impl AsFd, how: Use) -> rustix::io::Result<()> {
    again(TRIES, |error| *error == Errno::WOULDBLOCK, || flock(&file, operation(how)))
}

/// Makes up to `tries` attempts, a tenth of a second apart, while `may_pass` is true for the error.
pub(crate) fn again<T, E>(
    tries: u32,
    may_pass: impl Fn(&E) -> bool,
    attempt: impl Fn() -> Result<T, E>,
) -> Result<T, E> {
    for _ in 1..tries {
        match attempt() {
            Err(error) if may_pass(&error) => pause(BETWEEN),
            ended => return ended,
        }
    }
    attempt()
}

/// Locks a file against other runs. For writing, also refuses a file with a record lock of another
/// program (for example of a virtual machine's image, or a database).
pub(crate) fn lock_file(file: impl AsFd, name: &Path, how: Use) -> Result<(), Refusal> {
    if how == Use::Write {
        no_record_lock(&file, name)?;
    }
    judge(try_lock(&file, how), name, how)
}

/// Locks a directory against other runs.
pub(crate) fn lock_directory(directory: impl AsFd, name: &Path, how: Use) -> Result<(), Refusal> {
    judge(try_lock(&directory, how), name, how)
}

/// Refuses a file with a record lock of another program. The test lock is released at once: NFS and
/// SMB implement flock as a record lock, so it would conflict with qdepth's own lock (flock(2)).
fn no_record_lock(file: impl AsFd, name: &Path) -> Result<(), Refusal> {
    // Takes the lock instead of querying it: rustix's F_GETLK fails on locks without an owner.
    let take = || fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
    // On an NFS server the lock of a killed run remains for a moment.
    match again(TRIES, |error| matches!(*error, Errno::AGAIN | Errno::ACCESS), take) {
        Err(Errno::AGAIN | Errno::ACCESS) => {
            let found = format!("{} has a record lock of another program", name.display());
            Err(locked(found))
        }
        Ok(()) => judge(fcntl_lock(&file, FlockOperation::Unlock), name, Use::Write),
        failed => judge(failed, name, Use::Write),
    }
}

fn operation(how: Use) -> FlockOperation {
    match how {
        Use::Read => FlockOperation::NonBlockingLockShared,
        Use::Write => FlockOperation::NonBlockingLockExclusive,
    }
}

fn judge(result: rustix::io::Result<()>, name: &Path, how: Use) -> Result<(), Refusal> {
    let name = name.display();
    match result {
        Err(Errno::WOULDBLOCK) => Err(locked(format!("{name} is locked (flock)"))),
        // Parallel file systems may be mounted without locks. Then nothing is known.
        Err(Errno::NOSYS | Errno::NOTSUP | Errno::INVAL) => Ok(()),
        Err(error) if how == Use::Write => {
            Err(locked(format!("{name} could not be locked: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn locked(found: String) -> Refusal {
    Refusal::new(
        Guard::G2Exclusive,
        found,
        "Another program, perhaps another run, uses it: wait until it ends, or use another target",
    )
}

/// Waits for a fixed time without reading a clock.
fn pause(length: Duration) {
    let (_sender, receiver) = mpsc::channel::<()>();
    let _ = receiver.recv_timeout(length);
}
