//! A memory device of the kernel (zram), for measurements that no drive limits.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Unwritten zram device of 1 GiB, removed when the value is dropped.
pub(super) struct Zram(String);

impl Zram {
    /// # Errors
    /// If we are not root, or the kernel has no zram.
    pub(super) fn new() -> Result<Self> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add")
            .context("cannot make a zram device (root and the zram module are needed)")?;
        let made = Self(number.trim().to_owned());
        fs::write(format!("/sys/block/zram{}/disksize", made.0), "1G")?;
        Ok(made)
    }

    pub(super) fn path(&self) -> String {
        format!("/dev/zram{}", self.0)
    }
}

impl Drop for Zram {
    #[expect(clippy::disallowed_methods, reason = "nothing tells when the kernel lets go of zram")]
    fn drop(&mut self) {
        // Kernel threads release the device some milliseconds after the last I/O.
        std::thread::sleep(Duration::from_millis(500));
        let _ = fs::write(format!("/sys/block/zram{}/reset", self.0), "1");
        let _ = fs::write("/sys/class/zram-control/hot_remove", &self.0);
    }
}
