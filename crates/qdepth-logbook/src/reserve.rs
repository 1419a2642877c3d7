//! Reserved disk space: an unnamed file next to the logbook, released when the disk is full so that
//! measured data can still be stored. Without a name it cannot be confused with another file, and
//! it disappears with the process in any case.

use std::fs::File;
use std::io::Write;

use qdepth_files::{FileError, Folder};
use qdepth_measure::pattern::Pattern;

/// Usual size of the reserve, bytes: 4 MiB.
pub const RESERVE_BYTES: u64 = 4 << 20;

const BLOCK: usize = 64 << 10;

/// Reserved space, released on drop.
#[derive(Debug)]
pub(crate) struct Reserve {
    _file: File,
}

impl Reserve {
    /// Reserves the space in this directory.
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
        fill().map_err(|error| folder.failed("reserve space", &error))?;
        Ok(Self { _file: file })
    }
}

/// Incompressible data, so that the reserve takes its full size on any file system.
fn incompressible() -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    Pattern::new(0x7164_6570_7468_0001).fill(&mut block, 0.0);
    block
}
