//! Data written by clients: a sparse file, so that a drive of 2 TB uses only the written bytes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};

pub(crate) const EINVAL: i32 = 22;
const EIO: i32 = 5;
/// Size of a piece, the unit in which written ranges are tracked, bytes.
const PIECE: u64 = 1 << 20;

/// Data by offset; unwritten ranges read as zeros.
#[derive(Debug)]
pub(crate) struct Store {
    file: File,
    capacity: u64,
    /// Written pieces; others are zeros and need no read of the file.
    written: BTreeSet<u64>,
}

fn pieces(offset: u64, length: usize) -> std::ops::Range<u64> {
    offset / PIECE..(offset + length as u64).div_ceil(PIECE)
}

impl Store {
    /// Creates a store on an empty file, which it extends to this size.
    pub(crate) fn new(file: File, bytes: u64) -> io::Result<Self> {
        file.set_len(bytes)?;
        Ok(Self { file, capacity: bytes, written: BTreeSet::new() })
    }

    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if self.written.range(pieces(offset, data.len())).next().is_some() {
            return self.file.read_exact_at(data, offset);
        }
        data.fill(0);
        Ok(())
    }

    /// Writes data. Returns the error number, 0 on success.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> i32 {
        self.written.extend(pieces(offset, data.len()));
        errno(self.file.write_all_at(data, offset))
    }

    /// Discards a range and frees its space. Returns the error number, 0 on success.
    pub(crate) fn trim(&mut self, offset: u64, length: u64) -> i32 {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        errno(fallocate(&self.file, flags, offset, length).map_err(io::Error::from))
    }

    /// True if the range is within the device.
    pub(crate) fn holds(&self, offset: u64, length: u64) -> bool {
        offset.checked_add(length).is_some_and(|end| end <= self.capacity)
    }
}

fn errno(answer: io::Result<()>) -> i32 {
    answer.map_or_else(|error| error.raw_os_error().unwrap_or(EIO), |()| 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn store_matches_a_plain_array(
            steps in prop::collection::vec((0_u64..3 << 20, 1_usize..70_000, 0_u8..3), 1..20)
        ) {
            const BYTES: usize = 4 << 20;
            let mut store = Store::new(tempfile::tempfile().unwrap(), BYTES as u64).unwrap();
            let mut plain = vec![0_u8; BYTES];
            for (number, (offset, length, what)) in steps.into_iter().enumerate() {
                let at = offset as usize;
                match what {
                    0 => {
                        plain[at..at + length].fill(number as u8 + 1);
                        assert_eq!(store.write(offset, &plain[at..at + length]), 0);
                    }
                    1 => {
                        plain[at..at + length].fill(0);
                        assert_eq!(store.trim(offset, length as u64), 0);
                    }
                    _ => {
                        let mut data = vec![9; length];
                        store.read(offset, &mut data).unwrap();
                        prop_assert!(data == plain[at..at + length]);
                    }
                }
            }
        }
    }
}
