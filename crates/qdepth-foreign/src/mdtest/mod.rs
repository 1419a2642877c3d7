//! Conversion of mdtest command lines (hpc/ior) to plans: the entries that each task creates,
//! queries, reads and removes. Written from its help text and its observed behaviour; no code of
//! mdtest was copied.

mod options;
mod plan;
mod result;
#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::remark::Remarked;

pub use options::MDTEST_HELP;
pub use plan::MDTEST_STEM;
pub use result::{MdtestPhase, MdtestRun, mdtest_text};

/// Invalid or unsupported command line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MdtestRefusal(pub(crate) String);

/// Parsed command line, with mdtest's defaults for missing options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mdtest {
    /// Command line.
    pub command_line: String,
    /// True for the help on options (`-h`).
    pub help: bool,
    /// Directory (`-d`).
    pub directory: String,
    /// Entries of each task (`-n`, `-I`).
    pub items: u64,
    /// True for files only (`-F`).
    pub files_only: bool,
    /// True for directories only (`-D`).
    pub directories_only: bool,
    /// True for a creation phase (`-C`).
    pub creates: bool,
    /// True for a phase that queries entries (`-T`).
    pub stats: bool,
    /// True for a phase that reads files (`-E`).
    pub reads: bool,
    /// True for a removal phase (`-r`). Without it the entries are kept.
    pub removes: bool,
    /// True for one directory per task (`-u`).
    pub unique: bool,
    /// Bytes to write to each file (`-w`).
    pub write_bytes: u64,
    /// Bytes to read from each file (`-e`).
    pub read_bytes: u64,
    /// True to verify the data read (`-X`).
    pub verify: bool,
    /// True for a random order of queries (`-R`).
    pub random: bool,
    /// Seed of that order (`--random-seed`).
    pub random_seed: u64,
    /// Distance between the tasks that use the same entries in successive phases (`-N`).
    pub stride: u64,
    /// Number of repetitions (`-i`).
    pub iterations: u64,
    /// Delay before each repetition (`-p`), s.
    pub delay_s: u64,
    /// True for a sync after each phase that changes entries (`-Y`).
    pub sync: bool,
    /// Deadline of the creation of files (`-W`), s; 0 for none. All tasks then create as many as
    /// the fastest.
    pub stonewall_s: u64,
    /// File with the number of entries that each task created (`-x`).
    pub status_file: Option<String>,
    /// True for rates and times in the summary (`-P`).
    pub rate_and_time: bool,
    /// True for times instead of rates (`-Z`).
    pub time: bool,
    /// Verbosity (`-v`, `-V`), which has no effect.
    pub(crate) verbose: u64,
    /// Differences from mdtest: option and remark.
    pub remarks: Vec<(String, Remarked)>,
}

impl Mdtest {
    /// True if the entries are kept for a later run.
    pub fn keeps(&self) -> bool {
        !self.removes
    }
}
