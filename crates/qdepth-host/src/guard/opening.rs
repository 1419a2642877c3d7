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
    /// It was asked for and the file system refused, with this answer.
    Refused(Errno),
}

/// Opens the inspected thing, with `O_DIRECT` where that is asked and possible.
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
pub(super) fn size_of(target: &Inspected, file: OwnedFd) -> Result<(File, u64), Refusal> {
    let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).map_err(|error| {
        Refusal::new(
            Guard::G13Bounds,
            format!("the size of {} could not be read: {error}", target.expression.display()),
            "Check that the storage answers",
        )
    })?;
    Ok((File::from(file), size))
}
