//! Backing of a loop device, as reported by the kernel: `struct loop_info64` of <linux/loop.h>.

use std::os::fd::BorrowedFd;

use rustix::ioctl::{Getter, Opcode, ioctl};

const LOOP_GET_STATUS64: Opcode = 0x4C05;

/// Backing of a loop device. Numbers are `dev_t`s, as in stat(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBacking {
    /// Device of the file system that the backing file or device node is on.
    pub device: u64,
    /// Inode of that file or node.
    pub inode: u64,
    /// The block device, if the backing is a device node; `None` for a regular file.
    pub block_device: Option<u64>,
}

#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    node: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

const _: () = assert!(size_of::<LoopInfo64>() == 232, "as <linux/loop.h> has it");

impl LoopBacking {
    /// Asks the loop driver, which asks the file system. The call takes as long as the file system
    /// does.
    ///
    /// # Errors
    /// `NXIO` if the device has no backing, `NOTTY` if it is not a loop device, or the error of the
    /// file system.
    pub fn of_device(loop_device: BorrowedFd<'_>) -> rustix::io::Result<Self> {
        // SAFETY: LOOP_GET_STATUS64 fills one `struct loop_info64`, whose size is checked above and
        // which has no invalid values.
        let info = unsafe { ioctl(loop_device, Getter::<LOOP_GET_STATUS64, LoopInfo64>::new())? };
        let LoopInfo64 { device, inode, node, .. } = info;
        // Older kernels report a file's own file system there; a node is never on its own device.
        let block_device = (node != 0 && node != device).then_some(node);
        Ok(Self { device, inode, block_device })
    }
}
