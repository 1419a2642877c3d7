//! Every parser of qdepth under inputs that nobody would write. No input may make one panic, or
//! take longer than a second.
//!
//! `cargo xtask fuzz` lets libFuzzer search for inputs that reach new code. Inputs that once failed
//! are kept in `corpus/TARGET/` and tried again by each test run, with a short round of blind
//! alterations.

#![expect(clippy::disallowed_methods, reason = "altered inputs lie in folders of their own")]

mod alter;
mod nbd;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub use alter::Alterations;
pub use targets::{TARGETS, Target};

/// A parser may take so long for one input.
const SLOW_NS: u64 = 1_000_000_000;

/// Failure of a parser on an input.
#[derive(Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It panicked; what it said.
    Panic(String),
    /// Time that it took, ns.
    Slow(u64),
}

/// Gives an input to a parser.
///
/// # Errors
/// If it panics, or takes too long.
pub fn give(target: &Target, input: &[u8]) -> Result<(), Wrong> {
    let before = qdepth_nanoseconds();
    let answer = catch_unwind(AssertUnwindSafe(|| (target.take)(input)));
    let took = qdepth_nanoseconds() - before;
    if let Err(payload) = answer {
        let text = payload.downcast_ref::<String>().cloned();
        let word = || payload.downcast_ref::<&str>().map_or("a panic", |text| text).to_owned();
        return Err(Wrong::Panic(text.unwrap_or_else(word)));
    }
    if took > SLOW_NS { Err(Wrong::Slow(took)) } else { Ok(()) }
}

/// CPU time of this thread, so that a busy machine makes no parser slow.
fn qdepth_nanoseconds() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

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

/// CPU time of the process, nanoseconds.
pub fn cpu_nanoseconds() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The folder of inputs that once went wrong.
pub fn corpus(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// The inputs that once went wrong.
pub fn kept(target: &Target) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(corpus(target)).into_iter().flatten().flatten();
    entries.filter_map(|entry| std::fs::read(entry.path()).ok()).collect()
}
