//! Every parser of qdepth under inputs that nobody would write. No input may make one panic, or
//! take longer than a second.
//!
//! `cargo xtask fuzz` lets libFuzzer search for inputs that reach new code. Inputs that once failed
//! are kept in `corpus/TARGET/` and tried again by each test run, with a short round of blind
//! alterations.

#![expect(clippy::disallowed_methods, reason = "altered inputs lie in folders of their own")]

mod nbd;
mod targets;

use std::path::{Path, PathBuf};

pub use targets::{TARGETS, Target};

/// Writes the inputs that a target accepts, and those that once went wrong, into a folder.
///
/// # Errors
/// If the folder cannot be written.
pub fn write_inputs(target: &Target, folder: &Path) -> std::io::Result<()> {
    let inputs = (target.inputs)().into_iter().chain(kept(target));
    for (index, input) in inputs.enumerate() {
        std::fs::write(folder.join(format!("input-{index}")), input)?;
    }
    Ok(())
}

/// The folder of inputs that once went wrong.
fn corpus(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// The inputs that once went wrong.
pub fn kept(target: &Target) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(corpus(target)).into_iter().flatten().flatten();
    entries.filter_map(|entry| std::fs::read(entry.path()).ok()).collect()
}
