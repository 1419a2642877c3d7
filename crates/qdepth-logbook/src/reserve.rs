//! Space kept for the worst day: a file beside the logbook that is given up when the disk is full,
//! so that what was measured can still be brought to rest.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Size of the reserve of an ordinary run, in bytes: 4 MiB.
pub const RESERVE_BYTES: u64 = 4 << 20;

const BLOCK: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    file: File,
}

impl Reserve {
    /// Makes the file, or joins that of another process.
    pub(crate) fn make(path: &Path, bytes: u64) -> io::Result<Self> {
        let options = || OpenOptions::new().create(true).append(true).clone();
        let mut file = options().open(path)?;
        // The lock only tells others that the reserve is in use; where the file system has no
        // locks, the worst is that the first to end takes the reserve away from the others.
        let _ = file.lock_shared();
        let mut left = bytes.saturating_sub(file.metadata()?.len());
        let block = incompressible();
        while left > 0 {
            let length = left.min(BLOCK as u64);
            if let Err(error) = file.write_all(&block[..length as usize]) {
                // Half a reserve would fill the very disk that it is to protect.
                let _ = std::fs::remove_file(path);
                return Err(error);
            }
            left -= length;
        }
        file.sync_all()?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Gives the space back now, whoever else counts on it.
    pub(crate) fn release(self) {
        let _ = self.file.set_len(0);
        let _ = std::fs::remove_file(&self.path);
    }

    /// Takes the file away at the end of a run, unless another process still uses it.
    pub(crate) fn put_back(self) {
        let _ = self.file.unlock();
        if !matches!(self.file.try_lock(), Err(TryLockError::WouldBlock)) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Bytes that no file system stores in less space (SplitMix64).
fn incompressible() -> Vec<u8> {
    let mut state = 0x7164_6570_7468_0001_u64;
    let mut block = Vec::with_capacity(BLOCK);
    while block.len() < BLOCK {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        block.extend_from_slice(&(z ^ (z >> 31)).to_le_bytes());
    }
    block
}
