//! Space kept for the worst day: a file without a name beside the logbook, whose space is given up
//! when the disk is full, so that what was measured can still be brought to rest. It has no name,
//! so nothing that has one can be taken for it, and it goes with the process however that ends.

use std::fs::File;
use std::io::Write;

use qdepth_files::{FileError, Folder};
use qdepth_measure::pattern::Pattern;

/// Size of the reserve of an ordinary run, in bytes: 4 MiB.
pub const RESERVE_BYTES: u64 = 4 << 20;

const BLOCK: usize = 64 << 10;

/// The space is there as long as this value is.
#[derive(Debug)]
pub(crate) struct Reserve {
    _file: File,
}

impl Reserve {
    /// Takes the space in this directory.
    pub(crate) fn make(folder: &Folder, bytes: u64) -> Result<Self, FileError> {
        let mut file = folder.nameless()?;
        let block = incompressible();
        let mut fill = || -> std::io::Result<()> {
            let mut left = bytes;
            while left > 0 {
                let length = left.min(BLOCK as u64);
                file.write_all(&block[..length as usize])?;
                left -= length;
            }
            file.sync_all()
        };
        fill().map_err(|error| folder.failed("keep space free", &error))?;
        Ok(Self { _file: file })
    }
}

/// Bytes that no file system stores in less space.
fn incompressible() -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    Pattern::new(0x7164_6570_7468_0001).fill(&mut block, 0.0);
    block
}
