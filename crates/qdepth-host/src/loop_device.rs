//! Backing of a loop device. sysfs shows the path of the setup; the driver knows the file or device
//! itself.

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
    /// Unused.
    Nothing,
    /// A regular file.
    File {
        /// Device of the file system.
        device: DeviceNumber,
        /// Inode of the file.
        inode: u64,
    },
    /// A block device.
    Device(DeviceNumber),
    /// A file on a file system that does not answer, for example of a FUSE server that died. Device
    /// nodes are on file systems of the kernel, which always answer.
    Unanswered,
    /// Unknown, for example without the permission to open the loop device.
    Unknown,
}

/// Asks the driver of the loop device with this node and number.
pub(crate) fn holds(node: &Path, number: Option<DeviceNumber>) -> LoopHolds {
    let (sender, answer) = mpsc::channel();
    let node = node.to_owned();
    // The thread is left behind if it hangs in a file system or in the driver; the backing is
    // unknown then.
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
    // In a container's /dev the node may belong to another device.
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
