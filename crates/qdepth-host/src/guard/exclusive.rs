//! G2: nobody else holds the target.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, fcntl_lock, flock};
use rustix::io::Errno;

use super::opening::cannot_open;
use crate::refusal::{Guard, Refusal};
use crate::target::Inspected;

/// Claims a block device for ourselves alone, which the kernel grants once: not beside a mount,
/// swap, a volume or another claim, on it, its partitions or its disk. The descriptor reads only.
pub(crate) fn hold(target: &Inspected) -> Result<OwnedFd, Refusal> {
    // The device manager of the system may hold a new device for a moment.
    let open = || target.open(OFlags::RDONLY | OFlags::EXCL);
    again(5, |error| *error == Errno::BUSY, open).map_err(|error| cannot_open(target, error))
}

/// Use of a target by qdepth, and the other uses that it permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Others may read as well.
    Read,
    /// Nobody else.
    Write,
}

/// Number of attempts for a lock.
pub(super) const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(100);

/// Locks a device against other runs.
pub(super) fn lock_device(file: impl AsFd, name: &Path, how: Use) -> Result<(), Refusal> {
    judge(try_lock(file, how), name, how)
}

/// Tries for two seconds: udev locks a device for a moment to look at it, and the kernel takes the
/// requests of a run that was killed down some time after the process is gone.
fn try_lock(file: impl AsFd, how: Use) -> rustix::io::Result<()> {
    again(TRIES, |error| *error == Errno::WOULDBLOCK, || flock(&file, operation(how)))
}

/// Tries what another may keep busy for a moment, at most so often and a tenth of a second apart,
/// as long as the failure is one that may pass.
pub(super) fn again<T, E>(
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

/// Locks a file against other runs; record locks of other programs (a virtual machine's image, a
/// database) stand in the way of writing as well.
pub(crate) fn lock_file(file: impl AsFd, name: &Path, how: Use) -> Result<(), Refusal> {
    if how == Use::Write {
        no_record_lock(&file, name)?;
    }
    judge(try_lock(&file, how), name, how)
}

/// Refuses a file with a record lock of another program. Ours is given back at once: NFS and SMB
/// make a record lock of a flock, which would meet our own (flock(2)).
fn no_record_lock(file: impl AsFd, name: &Path) -> Result<(), Refusal> {
    // Taken, not asked for: rustix's F_GETLK fails on locks without an owner.
    let take = || fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
    // A run that was killed leaves its lock to an NFS server for a moment.
    match again(TRIES, |error| matches!(*error, Errno::AGAIN | Errno::ACCESS), take) {
        Err(Errno::AGAIN | Errno::ACCESS) => {
            let found = format!("{} carries a record lock of another program", name.display());
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
        // Parallel file systems may be mounted without locks; nothing is known then.
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
        "Another program, perhaps another run, uses it: wait for its end, or give another target",
    )
}

/// Waits, without a clock of our own.
fn pause(length: Duration) {
    let (_sender, receiver) = mpsc::channel::<()>();
    let _ = receiver.recv_timeout(length);
}
