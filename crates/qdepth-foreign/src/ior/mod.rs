//! Command lines of IOR (hpc/ior) as plans: what each rank writes and reads, in which files.
//! Written from the options that its user guide documents, and from what it does; none of its code
//! is here.

mod directives;
mod json;
mod options;
mod plan;
mod result;
#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::remark::{Remark, Remarked};

pub use json::ior_json;
pub use options::IOR_HELP;
pub use result::{
    FileSystem, IorPhase, IorRank, IorRun, IorTest, ior_csv, ior_outliers, ior_ranks_csv, ior_text,
};

/// Why a command line cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IorRefusal {
    /// No option of that name.
    #[error("IOR's option {0} is not known")]
    Unknown(String),
    /// An option without its value.
    #[error("IOR's option {0} needs a value")]
    NoValue(String),
    /// A value that cannot be meant.
    #[error("IOR's option {0}: `{1}` is not a value for it")]
    Value(String, String),
    /// An option that is known and cannot be followed.
    #[error("IOR's option {0} is not supported: {1}")]
    Unsupported(String, &'static str),
    /// Options that do not go together.
    #[error("{0}")]
    Together(String),
    /// A line of a script.
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
    /// Not said: IOR's is the time and the place.
    #[default]
    Unsaid,
    /// The time and the place.
    Timestamp,
    /// The place.
    Offset,
    /// Bytes that do not compress, the same in each transfer.
    Incompressible,
    /// Bytes that do not compress.
    Random,
}

/// Memory that is taken from the page cache (`-M`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hog {
    /// Bytes of each task.
    Task(u64),
    /// Bytes of the node.
    Node(u64),
    /// Share of the node's memory, 0..1.
    Share(f64),
}

/// A command line, with IOR's defaults for what it leaves out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ior {
    /// Command line.
    pub command_line: String,
    /// True if its options are asked for (`-h`).
    pub help: bool,
    /// `-A`.
    pub reference: i64,
    /// `-t`, bytes.
    pub transfer: u64,
    /// `-b`, bytes that a task moves in one go.
    pub block: u64,
    /// `-s`.
    pub segments: u32,
    /// `-i`.
    pub repetitions: u32,
    /// The first of them, where `-m` gives each files of its own.
    pub repetition: u32,
    /// `-m`.
    pub multi_file: bool,
    /// `-d`, s.
    pub delay_s: u32,
    /// `-T`, minutes; 0: none.
    pub most_minutes: u32,
    /// `-N`; none: as many as there are.
    pub tasks: Option<u32>,
    /// `-o`, split at `@`.
    pub files: Vec<String>,
    /// `-F`.
    pub file_per_process: bool,
    /// `-u`.
    pub unique_dir: bool,
    /// `-E`.
    pub use_existing: bool,
    /// `-C`, how often.
    pub reorder: u32,
    /// `-Z`, how often.
    pub reorder_random: u32,
    /// `-Q`, tasks between one that writes and one that reads the same.
    pub task_offset: u32,
    /// `-X`.
    pub reorder_seed: i64,
    /// `-B`, `--posix.odirect`, `-O useO_DIRECT=1`.
    pub direct: bool,
    /// `-e`.
    pub fsync: bool,
    /// `-Y`.
    pub fsync_each: bool,
    /// `-g`; phases are apart in any case.
    pub barriers: bool,
    /// `-k`.
    pub keep: bool,
    /// `-K`: what holds errors is kept.
    pub keep_with_error: bool,
    /// `-w`.
    pub writes: bool,
    /// `-r`.
    pub reads: bool,
    /// `-R`.
    pub check_read: bool,
    /// `-W`.
    pub check_write: bool,
    /// `-x`.
    pub single_attempt: bool,
    /// `-z`, how often: once, each place once; twice, places of what is there, some more than once.
    pub random: u32,
    /// `--random-offset-seed`.
    pub random_seed: Option<i64>,
    /// `-D`, s; 0 = no deadline.
    pub deadline_s: u32,
    /// `-O stoneWallingWearOut`.
    pub wear_out: bool,
    /// `-O stoneWallingStatusFile`.
    pub status_file: Option<String>,
    /// Transfers of each task, where not all: `-O stoneWallingWearOutIterations`, or the status
    /// file's.
    pub pairs: Option<u64>,
    /// Bytes that are there for each task, where `-z -z` reads them.
    pub there: Option<u64>,
    /// `-j`, s; 0: none.
    pub outlier_s: u32,
    /// `-M`.
    pub hog: Option<Hog>,
    /// `-l`, `--dataPacketType`.
    pub packet: Packet,
    /// `-v`, how often.
    pub verbose: u32,
    /// `-G`, which stamps what is written; none: the run's own.
    pub signature: Option<u32>,
    /// `-f`.
    pub script: Option<String>,
    /// `-O summaryFormat`.
    pub summary: Summary,
    /// `-O summaryFile`.
    pub summary_file: Option<String>,
    /// `-O saveRankPerformanceDetailsCSV`.
    pub ranks_file: Option<String>,
    /// Differences from IOR: the option, and the behaviour.
    pub remarks: Vec<(String, Remarked)>,
}

/// Most repetitions (`-i`): each takes some 30 KiB as steps of a plan.
const REPETITIONS_MAX: u32 = 1_000;

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

    /// The names that are used: without a file for each process, only the first.
    pub fn names(&self) -> &[String] {
        if self.file_per_process { &self.files } else { &self.files[..1] }
    }

    /// Bytes that each task moves in a phase.
    pub fn bytes_per_task(&self) -> u64 {
        let all = self.block.saturating_mul(u64::from(self.segments));
        self.pairs.map_or(all, |pairs| all.min(pairs.saturating_mul(self.transfer)))
    }

    /// Bytes that each task has of the files: more than it moves where that ends within a segment,
    /// and as many as are there where it draws among them.
    pub fn room_per_task(&self) -> u64 {
        match self.there {
            Some(there) => there,
            None if self.file_per_process => self.bytes_per_task(),
            None => self.block.saturating_mul(u64::from(self.segments_used())),
        }
    }

    /// Segments that are begun.
    pub(crate) fn segments_used(&self) -> u32 {
        let begun = self.bytes_per_task().div_ceil(self.block.max(1));
        u32::try_from(begun).unwrap_or(u32::MAX).clamp(1, self.segments.max(1))
    }

    /// Takes for each task, out of what a file system has room for, as much as it will write at
    /// most: a deadline (`-D`) ends it before.
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

    /// Parts measured one after the other: everything at once, or one per repetition with its own
    /// files (`-m`) or a deadline (`-T`).
    pub fn parts(&self) -> Vec<Self> {
        if !self.multi_file && self.most_minutes == 0 {
            return vec![self.clone()];
        }
        let part = |repetition| Self { repetition, repetitions: 1, ..self.clone() };
        (0..self.repetitions).map(part).collect()
    }

    /// Name of a file of the test, by the number of the task that it is of.
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

    /// Options that do not go together.
    fn conflict(&self) -> Option<&'static str> {
        let checks = self.check_read || self.check_write;
        let drawn = self.random > 1;
        [
            (
                checks && !self.writes && self.signature.is_none(),
                "-R and -W hold reads against what the same run writes: add -w; or against what an \
                 earlier run wrote: give both the same number with -G",
            ),
            (
                checks && self.deadline_s > 0 && (self.writes || self.status_file.is_none()),
                "-R and -W need all that is read to be written: leave -D out, or write with -k, -D \
                 and -O stoneWallingWearOut=1,stoneWallingStatusFile=FILE and read in a run of its \
                 own",
            ),
            (
                self.status_file.is_some() && !self.keep,
                "stoneWallingStatusFile is for a later run, which finds nothing: add -k",
            ),
            (
                self.status_file.is_some() && self.writes && !self.wear_out,
                "stoneWallingStatusFile says what each task wrote, which is the same with \
                 stoneWallingWearOut=1 only: add it",
            ),
            (
                self.wear_out && self.deadline_s == 0,
                "stoneWallingWearOut is of a deadline: add -D SECONDS",
            ),
            (!self.block.is_multiple_of(self.transfer), "-b must be a whole multiple of -t"),
            (
                self.random == 1 && self.block == self.transfer,
                "-z needs a block (-b) of several transfers (-t)",
            ),
            (
                self.segments == 0 || self.repetitions == 0 || self.tasks == Some(0),
                "-s, -i and -N are at least 1",
            ),
            (
                self.repetitions > REPETITIONS_MAX,
                "-i is at most 1000, since each repetition is a step of its own: start IOR again \
                 for more",
            ),
            (self.files.iter().any(String::is_empty), "-o has an empty name between its @"),
            (
                self.random == 1 && self.segments > 1 && !self.file_per_process,
                "-z with several segments needs a file for each process (-F)",
            ),
            (
                drawn && (self.writes || self.check_write),
                "-z twice draws among what is there already: read it (-r) in a run of its own",
            ),
            (
                self.random > 0 && checks && !self.writes && self.pairs.is_some(),
                "-z with -R of a part: which places an earlier run wrote is not known. Leave \
                 -z out",
            ),
            (
                self.unique_dir && self.files.len() > 1,
                "-u creates a directory per process next to one name: give -o only one",
            ),
            (self.reorder > 0 && self.reorder_random > 0, "-C and -Z are two orders: choose one"),
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
