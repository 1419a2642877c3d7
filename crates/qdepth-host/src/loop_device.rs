//! Backing of a loop device. The name in sysfs is that of the setup; the driver knows the file or
//! device itself.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use qdepth_linux::LoopBacking;
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;

use crate::device_number::DeviceNumber;

/// Time limit for a file system to identify a file.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Backing of a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopHolds {
    /// Nothing, or nothing any more.
    Nothing,
    /// A regular file.
    File {
        /// The file system.
        device: DeviceNumber,
        /// Its inode there.
        inode: u64,
    },
    /// A block device.
    Device(DeviceNumber),
    /// A file whose file system does not answer, as that of a FUSE server that died. Device nodes
    /// are on file systems of the kernel's own, which do.
    Unanswered,
    /// Nobody could be asked, as without the right to open the loop device.
    Unknown,
}

/// Asks the loop device of this node and number.
pub(crate) fn holds(node: &Path, number: Option<DeviceNumber>) -> LoopHolds {
    let (sender, answer) = mpsc::channel();
    let node = node.to_owned();
    // Left behind where it hangs, in a file system or in the driver: then nothing is known.
    std::thread::spawn(move || sender.send(asked(&node, number)));
    answer.recv_timeout(ANSWER_LIMIT).unwrap_or(LoopHolds::Unknown)
}

fn asked(node: &Path, number: Option<DeviceNumber>) -> LoopHolds {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(node, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NXIO) => return LoopHolds::Nothing,
        Err(_) => return LoopHolds::Unknown,
    };
    // In a container's /dev the name may be another device's.
    let found = fstat(&file).map(|found| DeviceNumber::from_raw(found.st_rdev)).ok();
    if found != number {
        return LoopHolds::Unknown;
    }
    match LoopBacking::of_device(file.as_fd()) {
        Ok(LoopBacking { block_device: Some(number), .. }) => {
            LoopHolds::Device(DeviceNumber::from_raw(number))
        }
        Ok(LoopBacking { device, inode, block_device: None }) => {
            LoopHolds::File { device: DeviceNumber::from_raw(device), inode }
        }
        Err(Errno::NXIO) => LoopHolds::Nothing,
        Err(Errno::NOTTY | Errno::INVAL | Errno::PERM | Errno::ACCESS) => LoopHolds::Unknown,
        Err(_) => LoopHolds::Unanswered,
    }
}
