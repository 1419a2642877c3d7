//! Opening of targets, and its errors.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::refusal::{Guard, Refusal};
use crate::target::Inspected;

/// State of direct I/O, which bypasses the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direct {
    /// `O_DIRECT` is set.
    Yes,
    /// It was not asked for.
    NotAsked,
    /// It was requested, and the file system refused it with this error.
    Refused(Errno),
}

/// Opens the inspected target, with `O_DIRECT` if requested and possible.
pub(super) fn open_direct(
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
        Err(error @ (Errno::INVAL | Errno::NOTSUP)) => Ok((open(flags)?, Direct::Refused(error))),
        Err(error) => Err(cannot_open(target, error)),
    }
}

pub(super) fn cannot_open(target: &Inspected, error: Errno) -> Refusal {
    let remedy = match error {
        Errno::ACCESS => "Run qdepth as a user who may open it (for devices: as root)",
        Errno::PERM => {
            "The kernel forbids it even for root: in a container, allow the device (`docker run \
             --device`); otherwise check `lsattr` and the security modules"
        }
        Errno::BUSY => {
            "Stop the program or device that holds it: `lsblk`, `fuser` and `dmsetup ls` show it"
        }
        Errno::ROFS => "It is read-only: use a plan that only reads",
        _ => "Check that the storage responds",
    };
    let found = format!("{} could not be opened: {error}", target.expression.display());
    Refusal::new(Guard::G2Exclusive, found, remedy)
}

/// Length in bytes according to the open descriptor, which does not depend on names or caches.
pub(super) fn size_of(target: &Inspected, file: OwnedFd) -> Result<(File, u64), Refusal> {
    let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).map_err(|error| {
        Refusal::new(
            Guard::G13Bounds,
            format!("the size of {} could not be read: {error}", target.expression.display()),
            "Check that the storage responds",
        )
    })?;
    Ok((File::from(file), size))
}
