//! Conversion of IOR command lines (hpc/ior) to plans: the data and files that each rank writes and
//! reads. Written from its user guide and its observed behaviour; no code of IOR was copied.

mod directives;
mod json;
pub(crate) mod options;
mod plan;
pub(crate) mod result;
#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::remark::{Remark, Remarked};

pub use json::ior_json;
pub use options::IOR_HELP;
pub use result::{
    FileSystem, IorPhase, IorRank, IorRun, IorTest, ior_csv, ior_outliers, ior_ranks_csv, ior_text,
};

/// Invalid or unsupported command line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IorRefusal {
    /// Unknown option.
    #[error("unknown option of IOR: {0}")]
    Unknown(String),
    /// Option without a value.
    #[error("IOR's option {0} needs a value")]
    NoValue(String),
    /// Invalid value: option, value.
    #[error("IOR's option {0}: `{1}` is not a valid value")]
    Value(String, String),
    /// Unsupported option: option, reason and alternative.
    #[error("IOR's option {0} is not supported: {1}")]
    Unsupported(String, &'static str),
    /// Conflicting options.
    #[error("{0}")]
    Together(String),
    /// Error in a script: file, line, error.
    #[error("{0}, line {1}: {2}")]
    Script(String, usize, Box<Self>),
}

/// Format of the summary (`-O summaryFormat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summary {
    /// The table for people.
    #[default]
    Default,
    /// One JSON document.
    Json,
    /// Comma-separated values.
    Csv,
}

/// Contents of a transfer (`-l`, `--dataPacketType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// Not specified; IOR's default is time stamp and offset.
    #[default]
    Unsaid,
    /// Time stamp and offset.
    Timestamp,
    /// Offset.
    Offset,
    /// Incompressible data, the same in each transfer.
    Incompressible,
    /// Random data, which is incompressible.
    Random,
}

/// Memory to occupy, so that less remains for the page cache (`-M`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hog {
    /// Bytes per task.
    Task(u64),
    /// Bytes per node.
    Node(u64),
    /// Share of the node's memory, 0 to 1.
    Share(f64),
}

/// Parsed command line, with IOR's defaults for missing options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ior {
    /// Command line.
    pub command_line: String,
    /// True for the help on options (`-h`).
    pub help: bool,
    /// Reference number in the summary (`-A`).
    pub reference: i64,
    /// Transfer size (`-t`), bytes.
    pub transfer: u64,
    /// Contiguous bytes per task and segment (`-b`).
    pub block: u64,
    /// Number of segments (`-s`).
    pub segments: u32,
    /// Number of repetitions (`-i`).
    pub repetitions: u32,
    /// Number of the first repetition, if `-m` gives each its own files.
    pub repetition: u32,
    /// True for separate files in each repetition (`-m`).
    pub multi_file: bool,
    /// Delay between repetitions (`-d`), s.
    pub delay_s: u32,
    /// Time limit of a test (`-T`), minutes; 0 for none.
    pub most_minutes: u32,
    /// Number of tasks (`-N`); `None` for all available ones.
    pub tasks: Option<u32>,
    /// Test files (`-o`), split at `@`.
    pub files: Vec<String>,
    /// True for one file per process (`-F`).
    pub file_per_process: bool,
    /// True for one directory per process (`-u`).
    pub unique_dir: bool,
    /// True to use existing files (`-E`).
    pub use_existing: bool,
    /// Number of `-C`: read the data of another task (constant offset).
    pub reorder: u32,
    /// Number of `-Z`: read the data of a random task.
    pub reorder_random: u32,
    /// Distance between the writing and the reading task (`-Q`).
    pub task_offset: u32,
    /// Seed for `-Z` (`-X`).
    pub reorder_seed: i64,
    /// True for direct I/O (`-B`, `--posix.odirect`, `-O useO_DIRECT=1`).
    pub direct: bool,
    /// True for an fsync after writing (`-e`).
    pub fsync: bool,
    /// True for an fsync after each write (`-Y`).
    pub fsync_each: bool,
    /// True for barriers within a test (`-g`); qdepth always separates phases.
    pub barriers: bool,
    /// True to keep the files (`-k`).
    pub keep: bool,
    /// True to keep files with errors (`-K`).
    pub keep_with_error: bool,
    /// True for a write phase (`-w`).
    pub writes: bool,
    /// True for a read phase (`-r`).
    pub reads: bool,
    /// True to verify data in the read phase (`-R`).
    pub check_read: bool,
    /// True for a verification after the write phase (`-W`).
    pub check_write: bool,
    /// True to attempt each transfer only once (`-x`).
    pub single_attempt: bool,
    /// Number of `-z`: with one, each offset once in random order; with two, random existing
    /// offsets, some repeatedly.
    pub random: u32,
    /// Seed of random offsets (`--random-offset-seed`).
    pub random_seed: Option<i64>,
    /// Deadline of a phase (`-D`), s; 0 for none.
    pub deadline_s: u32,
    /// True if tasks catch up with the fastest one after the deadline (`-O stoneWallingWearOut`).
    pub wear_out: bool,
    /// File with the number of transfers per task (`-O stoneWallingStatusFile`).
    pub status_file: Option<String>,
    /// Number of transfers per task, if limited by `-O stoneWallingWearOutIterations` or the status
    /// file.
    pub pairs: Option<u64>,
    /// Existing bytes per task, for reads with `-z -z`.
    pub existing_bytes: Option<u64>,
    /// Threshold for reporting outliers (`-j`), s; 0 for none.
    pub outlier_s: u32,
    /// Memory to occupy (`-M`).
    pub hog: Option<Hog>,
    /// Contents of a transfer (`-l`, `--dataPacketType`).
    pub packet: Packet,
    /// Verbosity: number of `-v`.
    pub verbose: u32,
    /// Signature of written data (`-G`); `None` for that of the run.
    pub signature: Option<u32>,
    /// Script (`-f`).
    pub script: Option<String>,
    /// Format of the summary (`-O summaryFormat`).
    pub summary: Summary,
    /// File for the summary (`-O summaryFile`).
    pub summary_file: Option<String>,
    /// File for the results of each rank (`-O saveRankPerformanceDetailsCSV`).
    pub ranks_file: Option<String>,
    /// Differences from IOR: option and remark.
    pub remarks: Vec<(String, Remarked)>,
}

/// Maximum number of repetitions (`-i`): each takes about 30 KiB as steps of a plan.
pub(crate) const REPETITIONS_MAX: u32 = 1_000;

impl Ior {
    /// Default of each option.
    fn without_options() -> Self {
        Self {
            transfer: 256 << 10,
            block: 1 << 20,
            segments: 1,
            repetitions: 1,
            files: vec!["testFile".to_owned()],
            task_offset: 1,
            ..Self::default()
        }
    }

    /// File names in use: only the first one without a file for each process.
    pub fn names(&self) -> &[String] {
        if self.file_per_process { &self.files } else { &self.files[..1] }
    }

    /// Bytes that each task transfers per phase.
    pub fn bytes_per_task(&self) -> u64 {
        let all = self.block.saturating_mul(u64::from(self.segments));
        self.pairs.map_or(all, |pairs| all.min(pairs.saturating_mul(self.transfer)))
    }

    /// Bytes of the files for each task: more than it transfers if the transfers end within a
    /// segment, and all existing ones if it draws random offsets among them.
    pub fn room_per_task(&self) -> u64 {
        match self.existing_bytes {
            Some(existing_bytes) => existing_bytes,
            None if self.file_per_process => self.bytes_per_task(),
            None => self.block.saturating_mul(u64::from(self.segments_used())),
        }
    }

    /// Number of segments in use, including an incomplete one.
    pub(crate) fn segments_used(&self) -> u32 {
        let begun = self.bytes_per_task().div_ceil(self.block.max(1));
        u32::try_from(begun).unwrap_or(u32::MAX).clamp(1, self.segments.max(1))
    }

    /// Limits the transfers of each task to the available bytes if there is a deadline (`-D`),
    /// which is expected to end the phase before.
    pub fn fit(&mut self, bytes_per_task: u64) {
        if self.deadline_s == 0 || self.bytes_per_task() <= bytes_per_task {
            return;
        }
        let whole = if self.file_per_process { self.transfer } else { self.block };
        let pairs = (bytes_per_task / whole * whole / self.transfer).max(1);
        self.pairs = Some(pairs);
        self.remark("-b", Remarked::counted(Remark::RoomEndsPhase, "transfers", pairs));
    }

    /// Directories of tasks that have separate ones (`-u`), and the file in each.
    pub fn own_directories(&mut self, tasks: u32) -> Vec<String> {
        if !self.unique_dir || !self.file_per_process {
            return Vec::new();
        }
        let name = self.files.first().cloned().unwrap_or_default();
        let (folder, stem) = name.rsplit_once('/').unwrap_or((".", &name));
        let folders: Vec<String> = (0..tasks).map(|task| format!("{folder}/{task}")).collect();
        self.files = folders.iter().map(|folder| format!("{folder}/{stem}")).collect();
        self.unique_dir = false;
        folders
    }

    /// Consecutive parts: the whole test, or one part per repetition if it has separate files
    /// (`-m`) or a time limit (`-T`).
    pub fn parts(&self) -> Vec<Self> {
        if !self.multi_file && self.most_minutes == 0 {
            return vec![self.clone()];
        }
        let part = |repetition| Self { repetition, repetitions: 1, ..self.clone() };
        (0..self.repetitions).map(part).collect()
    }

    /// Name of a test file, by the number of its task.
    pub fn file_name(&self, stem: &str, task: u32) -> String {
        let number = if self.file_per_process { format!(".{task:08}") } else { String::new() };
        format!("{stem}{number}{}", self.suffix())
    }

    pub(crate) fn suffix(&self) -> String {
        if self.multi_file { format!(".{}", self.repetition) } else { String::new() }
    }

    pub(crate) fn remark(&mut self, option: &str, what: impl Into<Remarked>) {
        self.remarks.push((option.to_owned(), what.into()));
    }

    fn complete(mut self) -> Result<Self, IorRefusal> {
        if self.help || self.script.is_some() {
            return Ok(self);
        }
        if !self.writes && !self.reads && !self.check_read && !self.check_write {
            (self.writes, self.reads) = (true, true);
        }
        self.reads |= self.check_read;
        if let Some(why) = self.conflict() {
            return Err(IorRefusal::Together(why.to_owned()));
        }
        self.remarks_of_all();
        Ok(self)
    }

    /// Explanation of the first conflict between options, if any.
    fn conflict(&self) -> Option<&'static str> {
        let checks = self.check_read || self.check_write;
        let drawn = self.random > 1;
        [
            (
                checks && !self.writes && self.signature.is_none(),
                "-R and -W check data that the same run writes: add -w. To check the data of an \
                 earlier run, use the same number with -G in both",
            ),
            (
                checks && self.deadline_s > 0 && (self.writes || self.status_file.is_none()),
                "-R and -W need all data to be written: remove -D, or write with -k, -D and -O \
                 stoneWallingWearOut=1,stoneWallingStatusFile=FILE, and read in a separate run",
            ),
            (
                self.status_file.is_some() && !self.keep,
                "stoneWallingStatusFile is for a later run, which needs the file: add -k",
            ),
            (
                self.status_file.is_some() && self.writes && !self.wear_out,
                "stoneWallingStatusFile needs the same amount of data from each task: add \
                 stoneWallingWearOut=1",
            ),
            (
                self.wear_out && self.deadline_s == 0,
                "stoneWallingWearOut needs a deadline: add -D SECONDS",
            ),
            (!self.block.is_multiple_of(self.transfer), "-b must be a multiple of -t"),
            (
                self.random == 1 && self.block == self.transfer,
                "-z needs a block (-b) of several transfers (-t)",
            ),
            (
                self.segments == 0 || self.repetitions == 0 || self.tasks == Some(0),
                "-s, -i and -N must be at least 1",
            ),
            (
                self.repetitions > REPETITIONS_MAX,
                "-i must be at most 1000, because each repetition is a separate step: for more, \
                 start IOR again",
            ),
            (self.files.iter().any(String::is_empty), "-o has an empty name between its @"),
            (
                self.random == 1 && self.segments > 1 && !self.file_per_process,
                "-z with several segments needs one file per process (-F)",
            ),
            (
                drawn && (self.writes || self.check_write),
                "-z -z reads random positions of an existing file: use it with -r in a separate \
                 run",
            ),
            (
                self.random > 0 && checks && !self.writes && self.pairs.is_some(),
                "-z with -R cannot check part of a file, because the positions that an earlier run \
                 wrote are unknown: remove -z",
            ),
            (
                self.unique_dir && self.files.len() > 1,
                "-u creates a directory per process for a single name: use only one name with -o",
            ),
            (
                self.reorder > 0 && self.reorder_random > 0,
                "-C and -Z are different orders: use one of them",
            ),
        ]
        .into_iter()
        .find_map(|(wrong, why)| wrong.then_some(why))
    }

    fn remarks_of_all(&mut self) {
        if self.reorder_random > 0 && self.reads {
            self.remark("-Z", Remark::ReadsOfNextNode);
        }
        if self.random == 1 && !self.file_per_process {
            self.remark("-z", Remark::RandomWithinOwnBlocks);
        }
        if self.random > 1 {
            self.remark("-z -z", Remark::RandomWithinOwnPart);
        }
        if matches!(self.packet, Packet::Timestamp | Packet::Offset) && self.writes {
            self.remark("--dataPacketType", Remark::PayloadIncompressible);
        }
        if self.use_existing && self.writes {
            self.remark("-E", Remark::KeptFileMadeAnew);
        }
    }
}
