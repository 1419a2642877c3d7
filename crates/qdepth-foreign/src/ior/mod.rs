//! Command lines of IOR (hpc/ior) as plans: what each rank writes and reads, in which files. Written
//! from the options that its user guide documents; none of its code is here.

mod options;
mod result;
#[cfg(test)]
mod tests;

use thiserror::Error;

pub use result::{IorPhase, IorRank, IorTest, ior_csv, ior_json, ior_text};

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
    #[error("IOR's option {0}: `{1}` is no value for it")]
    Value(String, String),
    /// An option that is known and cannot be followed.
    #[error("IOR's option {0} is not supported: {1}")]
    Unsupported(String, &'static str),
    /// Options that do not go together.
    #[error("{0}")]
    Together(String),
}

/// How the summary is written (`-O summaryFormat`).
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

/// A command line, with IOR's defaults for what it leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ior {
    /// As given.
    pub command_line: String,
    /// `-t`, bytes.
    pub transfer: u64,
    /// `-b`, bytes that a task moves in one go.
    pub block: u64,
    /// `-s`.
    pub segments: u32,
    /// `-i`.
    pub repetitions: u32,
    /// `-N`; none: as many as there are.
    pub tasks: Option<u32>,
    /// `-o`, split at `@`.
    pub files: Vec<String>,
    /// `-F`.
    pub file_per_process: bool,
    /// `-C`.
    pub reorder: bool,
    /// `-Z`.
    pub reorder_random: bool,
    /// `-Q`, tasks between one that writes and one that reads the same.
    pub task_offset: u32,
    /// `-B`, `--posix.odirect`, `-O useO_DIRECT=1`.
    pub direct: bool,
    /// `-e`.
    pub fsync: bool,
    /// `-Y`.
    pub fsync_each: bool,
    /// `-g`; phases are apart in any case.
    pub barriers: bool,
    /// `-k`, `-K`.
    pub keep: bool,
    /// `-w`.
    pub writes: bool,
    /// `-r`.
    pub reads: bool,
    /// `-R`.
    pub check_read: bool,
    /// `-W`.
    pub check_write: bool,
    /// `-z`.
    pub random: bool,
    /// `-D`, s; 0 = no deadline.
    pub deadline_s: u32,
    /// `-v`, how often.
    pub verbose: u32,
    /// `-G`, `-X`.
    pub seed: u64,
    /// `-O summaryFormat`.
    pub summary: Summary,
    /// `-O summaryFile`.
    pub summary_file: Option<String>,
}

impl Default for Ior {
    fn default() -> Self {
        Self {
            command_line: String::new(),
            transfer: 256 << 10,
            block: 1 << 20,
            segments: 1,
            repetitions: 1,
            tasks: None,
            files: vec!["testFile".to_owned()],
            file_per_process: false,
            reorder: false,
            reorder_random: false,
            task_offset: 1,
            direct: false,
            fsync: false,
            fsync_each: false,
            barriers: false,
            keep: false,
            writes: false,
            reads: false,
            check_read: false,
            check_write: false,
            random: false,
            deadline_s: 0,
            verbose: 0,
            seed: 1,
            summary: Summary::Default,
            summary_file: None,
        }
    }
}

impl Ior {
    /// The names that are used: without a file for each process, only the first.
    pub fn names(&self) -> &[String] {
        if self.file_per_process { &self.files } else { &self.files[..1] }
    }

    /// Bytes that each task moves in a phase.
    pub fn bytes_per_task(&self) -> u64 {
        self.block.saturating_mul(u64::from(self.segments))
    }

    fn complete(mut self) -> Result<Self, IorRefusal> {
        let together = |what: &str| Err(IorRefusal::Together(what.to_owned()));
        if !self.writes && !self.reads && !self.check_read && !self.check_write {
            (self.writes, self.reads) = (true, true);
        }
        self.reads |= self.check_read;
        if (self.check_read || self.check_write) && !self.writes {
            return together("-R and -W hold reads against what the same run writes: add -w");
        }
        if (self.check_read || self.check_write) && self.deadline_s > 0 {
            return together("-R and -W need all that is read to be written: leave -D out");
        }
        if !self.block.is_multiple_of(self.transfer) {
            return together("-b must be a whole multiple of -t");
        }
        if self.random && self.block == self.transfer {
            return together("-z needs a block (-b) of several transfers (-t)");
        }
        if self.segments == 0 || self.repetitions == 0 || self.tasks == Some(0) {
            return together("-s, -i and -N are at least 1");
        }
        if self.files.iter().any(String::is_empty) {
            return together("-o has an empty name between its @");
        }
        if self.random && self.segments > 1 && !self.file_per_process {
            return together("-z with several segments needs a file for each process (-F)");
        }
        Ok(self)
    }

    /// The plan in TOML, on as many targets as there are [`names`](Self::names), for so many tasks.
    pub fn plan(&self, tasks: u32) -> String {
        let files = if self.file_per_process { "per-stream" } else { "shared" };
        let duration = if self.deadline_s > 0 { self.deadline_s } else { 86_400 };
        let mut text = format!(
            "name = \"ior\"\ntitle = \"IOR\"\ntargets = \"together\"\nfiles = \"{files}\"\nseed = {}\n\
             warm_up = \"0s\"\nduration = \"{duration}s\"\nbytes_per_stream = \"{}B\"\n",
            self.seed >> 1,
            self.bytes_per_task()
        );
        let targets = self.names().len() as u32;
        let name = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned().into();
        let names = toml::Value::Array(self.names().iter().map(name).collect());
        let keep = self.keep || !self.writes;
        text.push_str(&format!("file_names = {names}\nkeep_files = {keep}\n"));
        let share = |target: u32| tasks / targets + u32::from(target < tasks % targets);
        let on: Vec<u32> = (0..targets).filter(|target| share(*target) > 0).collect();
        let all = [("write", self.writes), ("check", self.check_write), ("read", self.reads)];
        let phases: Vec<&str> =
            all.into_iter().filter_map(|(phase, asked)| asked.then_some(phase)).collect();
        for phase in &phases {
            for target in &on {
                text.push_str(&self.profile(phase, *target + 1, share(*target)));
            }
        }
        for repetition in 1..=self.repetitions {
            for phase in &phases {
                let load = |target: &u32| {
                    let target = target + 1;
                    format!(
                        "{{ profile = \"ior-{phase}-{target}\", outstanding = 1, target = {target} }}"
                    )
                };
                let loads: Vec<String> = on.iter().map(load).collect();
                text.push_str(&format!(
                    "\n[[step]]\ntitle = \"{phase}, repetition {repetition}\"\nload = [{}]\n",
                    loads.join(", ")
                ));
            }
        }
        text
    }

    fn profile(&self, phase: &str, target: u32, tasks: u32) -> String {
        let read = if phase == "write" { 0 } else { 100 };
        let checked = self.check_read || self.check_write;
        let verify = checked && (phase != "read" || self.check_read);
        let order = if self.random {
            "random = 100\ndistribution = { kind = \"each-once\" }"
        } else {
            "random = 0"
        };
        let fsync = match (phase, self.fsync_each, self.fsync) {
            ("write", true, _) => "{ kind = \"every\", writes = 1 }",
            ("write", false, true) => "{ kind = \"end\" }",
            _ => "{ kind = \"never\" }",
        };
        let segments = if self.file_per_process { 1 } else { self.segments };
        format!(
            "\n[[profile]]\nname = \"ior-{phase}-{target}\"\ntitle = \"{phase}\"\n{order}\nread = {read}\n\
             request_size = \"{0}B\"\nalignment = \"{0}B\"\narea = {{ size = \"{1}B\" }}\n\
             streams = {tasks}\nworkers = {tasks}\nsegments = {segments}\ndirect = {2}\n\
             fsync = {fsync}\nverify = {verify}\nreported_as = \"throughput\"\n",
            self.transfer,
            self.bytes_per_task().saturating_mul(u64::from(tasks)),
            self.direct,
        )
    }
}
