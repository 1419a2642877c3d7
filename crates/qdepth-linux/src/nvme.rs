//! NVMe commands as the driver takes them from an `io_uring` (linux/nvme_ioctl.h, `struct
//! nvme_uring_cmd`), and the meaning of their results.

use std::mem::offset_of;

use rustix::io::Errno;
use rustix::io_uring::io_uring_ptr;

/// Offset of the command in a submission entry of 128 bytes (linux/io_uring.h, `cmd`).
pub(crate) const COMMAND_AT: usize = 48;

/// `struct nvme_uring_cmd`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Command {
    opcode: u8,
    flags: u8,
    reserved_1: u16,
    namespace: u32,
    dwords_2_3: [u32; 2],
    metadata: u64,
    memory: io_uring_ptr,
    metadata_bytes: u32,
    bytes: u32,
    /// Dwords 10 and 11 hold the first block, 12 the number of blocks minus one.
    dwords_10_15: [u32; 6],
    timeout_ms: u32,
    reserved_2: u32,
}

// Same layout as in the kernel; fits after its offset in an entry, and is aligned.
const _: () = assert!(
    size_of::<Command>() == 72
        && offset_of!(Command, memory) == 24
        && offset_of!(Command, dwords_10_15) == 40
        && offset_of!(Command, timeout_ms) == 64
        && COMMAND_AT.is_multiple_of(align_of::<Command>())
        && COMMAND_AT + size_of::<Command>() <= 128
);

impl Command {
    pub(crate) const WRITE: u8 = 1;
    pub(crate) const READ: u8 = 2;
    const FLUSH: u8 = 0;

    /// An empty command for a namespace.
    pub(crate) fn new(namespace: u32) -> Self {
        Self { opcode: Self::FLUSH, namespace, ..Self::default() }
    }

    /// Makes it a read or write of `blocks` blocks, at least one.
    #[inline]
    pub(crate) fn transfer(&mut self, opcode: u8, first: u64, blocks: u32) {
        self.opcode = opcode;
        self.dwords_10_15[0] = first as u32;
        self.dwords_10_15[1] = (first >> 32) as u32;
        self.dwords_10_15[2] = blocks - 1;
    }

    #[inline]
    pub(crate) fn flush(&mut self) {
        self.opcode = Self::FLUSH;
        self.dwords_10_15 = [0; 6];
    }

    /// Sets the memory of the data.
    #[inline]
    pub(crate) fn memory(&mut self, memory: io_uring_ptr, bytes: u32) {
        self.memory = memory;
        self.bytes = bytes;
    }
}

/// Result of a command in the form of any request: the number of bytes, or a negative error number.
/// `answer` is zero, an error of the kernel, or the status of the drive.
#[inline]
pub(crate) fn result(answer: i32, bytes: u32) -> i32 {
    match answer {
        0 => bytes as i32,
        // The driver cancelled the command: the drive did not answer, or is gone.
        error if error == -Errno::INTR.raw_os_error() => -Errno::IO.raw_os_error(),
        ..0 => answer,
        status => -error_of(status).raw_os_error(),
    }
}

/// The error number that the block layer reports for the same status, so that errors of both paths
/// can be compared. Type and code of the status are its lowest 11 bits (NVM Express Base
/// Specification 2.0, figure 93).
#[cold]
fn error_of(status: i32) -> Errno {
    match status & 0x7ff {
        // Invalid opcode, field, namespace; conflicting attributes.
        0x001 | 0x002 | 0x00b | 0x180 => Errno::OPNOTSUPP,
        // Block out of range, namespace not ready, command interrupted.
        0x080 | 0x082 | 0x021 => Errno::REMOTEIO,
        0x081 => Errno::NOSPC,
        // Reservation conflict.
        0x083 => Errno::BADE,
        // Write to a read-only range, write fault, unrecovered read, compare, denied, deallocated.
        0x182 | 0x280 | 0x281 | 0x285..=0x287 => Errno::NODATA,
        // Protection information.
        0x181 | 0x282..=0x284 => Errno::ILSEQ,
        // The way to the drive.
        0x370 => Errno::NOLINK,
        _ => Errno::IO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvme_status_becomes_bytes_or_errno() {
        const DO_NOT_RETRY: i32 = 1 << 14;
        for (answer, wanted) in [
            (0, 4096),
            (-22, -22),
            (-4, -5),
            (0x281, -61),
            (0x281 | DO_NOT_RETRY, -61),
            (0x002, -95),
            (0x006, -5),
            (0x7ff, -5),
        ] {
            assert_eq!(result(answer, 4096), wanted, "{answer:#x}");
        }
    }

    #[test]
    fn nvme_transfer_encodes_first_block_and_count() {
        let mut command = Command::new(7);
        command.transfer(Command::READ, 0x1_2345_6789, 8);
        command.memory(io_uring_ptr::null(), 4096);
        assert_eq!((command.opcode, command.namespace, command.bytes), (2, 7, 4096));
        assert_eq!(command.dwords_10_15, [0x2345_6789, 1, 7, 0, 0, 0]);
        command.flush();
        assert_eq!((command.opcode, command.dwords_10_15), (0, [0; 6]));
    }
}
