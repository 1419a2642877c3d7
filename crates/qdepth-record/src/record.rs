//! What is written to disk: the facts of a run, as seen. Statistics are derived on reading
//! (`crate::summary`), so a better formula later applies to old runs too.
//!
//! These types are not the domain types of engine or workload: the lab converts by hand, so a
//! change inside the engine cannot silently change the stored form.

use qdepth_measure::{Code, EncodedHistogram, Finding, LatencyHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reason::Reason;

/// The version of the meaning of stored figures. It rises with every change that makes the same
/// plan give other numbers (CHANGELOG, *Changed results*).
pub const MEASUREMENT_VERSION: u32 = 1;

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Still measuring, or killed while it was.
    Running,
    /// All points are there; nothing is added any more.
    Sealed,
    /// Stopped by the user; can be resumed.
    Interrupted,
    /// Ended by a failure; what was measured before is kept.
    Failed,
}

impl RunState {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Sealed => "sealed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// A fact read from the machine, with where it was read. A fact that could not be read is kept
/// with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What it is about: `host`, `cpu`, `memory`, `kernel`, or a device name such as `nvme0n1`.
    pub subject: String,
    /// Which fact, as `model`, `scheduler`, `logical_block_size`; units last (`size_bytes`).
    pub key: String,
    /// The value, or why it is unknown.
    pub value: Result<String, Reason>,
    /// The file or command that it was read from, or a code of [`source`](crate::source).
    pub source: String,
}

/// What kind of thing a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory, in which a measurement file was made.
    Directory,
    /// A regular file that was there before.
    File,
    /// A block device.
    BlockDevice,
    /// A medium in virtual time: results are EMULATED.
    Emulated,
}

impl TargetKind {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::BlockDevice => "block-device",
            Self::Emulated => "emulated",
        }
    }
}

/// One target of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetRecord {
    /// Its place in the run, from 0.
    pub index: u32,
    /// As the user spelled it.
    pub expression: String,
    /// A name for tables and legends, unique within the run.
    pub name: String,
    /// What kind of thing.
    pub kind: TargetKind,
    /// The area that may be touched, in bytes.
    pub area_bytes: u64,
    /// The engine that measured it, as `io_uring`.
    pub engine: String,
    /// Calibrated ceiling of generator and engine without storage, by outstanding I/Os, in I/Os
    /// per second; ascending outstanding.
    pub ceiling: Vec<(u32, f64)>,
    /// What is known of the storage below.
    pub facts: Vec<Observation>,
}

/// A column of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariantRecord {
    /// Name that the plan or its user gave; empty: none.
    pub name: String,
    /// `single` (one drive), `together` (several at the same time), `array`, or `variant`.
    pub role: String,
    /// Index of its first target.
    pub target: u32,
    /// Points of each load and intensity: one for each drive or process.
    pub parts: u32,
    /// Outstanding I/Os of a point by the intensity that it stands at: the number of drives of an
    /// array, else 1.
    pub times: u32,
}

/// What a run compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRecord {
    /// What its columns are: `drives`, `targets`, `processes` or `areas`.
    pub of: String,
    /// The columns, in order.
    pub variants: Vec<VariantRecord>,
    /// Index of the column that the others are divided by.
    pub base: u32,
    /// Whether the quotients are base ÷ column, in place of column ÷ base.
    pub base_above: bool,
    /// Whether increases over the base are shaded by class.
    pub shaded: bool,
    /// Profiles that were measured at one outstanding I/O alone, for their latency.
    pub latency_profiles: Vec<String>,
    /// Published drives beside the columns, by the names of their media.
    pub published: Vec<String>,
}

/// What an emulated medium of a target's kind does at a point of the plan, to stand beside what is
/// measured there. EMULATED.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectedRecord {
    /// The point's place in the plan.
    pub point: u32,
    /// The medium, as the user spelled it.
    pub medium: String,
    /// Reads and writes completed per second.
    pub io_per_s: f64,
    /// Bytes of them per second.
    pub bytes_per_s: f64,
    /// Mean service time of them, nanoseconds.
    pub mean_ns: f64,
    /// Of a medium whose own error is known: the rate under which, with all its interval, a
    /// measured one is below what is expected, I/Os per second.
    pub below_io_per_s: Option<f64>,
}

impl ExpectedRecord {
    /// A measured rate over the expected one; none where nothing was expected to move.
    pub fn share_reached(&self, io_per_s: f64) -> Option<f64> {
        Some(io_per_s / self.io_per_s).filter(|share| share.is_finite())
    }
}

/// One plan executed once.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// UUID version 7, in its usual text form.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; none while running.
    pub ended_at: Option<String>,
    /// How far it came.
    pub state: RunState,
    /// Version of the program.
    pub qdepth_version: String,
    /// See [`MEASUREMENT_VERSION`].
    pub measurement_version: u32,
    /// `standard`, `quick`, …
    pub plan_name: String,
    /// SHA-256 of the plan text, lower-case hexadecimal.
    pub plan_hash: String,
    /// The resolved plan, byte for byte as hashed.
    pub plan_text: String,
    /// Seed of every draw.
    pub seed: u64,
    /// Whether time was invented.
    pub emulated: bool,
    /// How many points the plan has.
    pub points_planned: u32,
    /// How requests were to reach the kernel, as asked: `auto`, or the name of an engine.
    pub engine_choice: String,
    /// What it compares.
    pub comparison: Option<ComparisonRecord>,
    /// The machine.
    pub environment: Vec<Observation>,
    /// The targets, by index.
    pub targets: Vec<TargetRecord>,
    /// What was expected of its points, by place in the plan; of none, or of each.
    pub expected: Vec<ExpectedRecord>,
    /// Doubts about the run as a whole.
    pub findings: Vec<Finding>,
}

impl RunRecord {
    /// Subject and key of the fact that holds the command which asks for the plan again.
    pub const COMMAND: (&str, &str) = ("run", "command_again");
    /// Subject and key of the fact that takes the run's campaign up again.
    pub const CAMPAIGN_REQUEST: (&str, &str) = ("run", "campaign_request");

    /// The command that asks for the plan again, quoted for a shell; none where no words of a
    /// command line asked for it, or an earlier version measured.
    pub fn command_again(&self) -> Option<&str> {
        let is_it = |seen: &&Observation| (&*seen.subject, &*seen.key) == Self::COMMAND;
        self.environment.iter().find(is_it).and_then(|seen| seen.value.as_deref().ok())
    }

    /// Subject and key of the facts that hold what a person noted.
    pub const NOTE: (&str, &str) = ("run", "note");
    /// Subject and key of the facts that hold why the run is not to be relied on.
    pub const RETRACTED: (&str, &str) = ("run", "retracted");

    fn facts_of<'a>(&'a self, which: (&'a str, &'a str)) -> impl Iterator<Item = &'a str> {
        let is_it = move |seen: &&Observation| (&*seen.subject, &*seen.key) == which;
        self.environment.iter().filter(is_it).filter_map(|seen| seen.value.as_deref().ok())
    }

    /// What persons noted of it, in the order of noting.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.facts_of(Self::NOTE)
    }

    /// Whether something of it is not what was written, as far as it was read.
    pub fn is_damaged(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == Code::RecordDamaged)
    }

    /// Why it is not to be relied on; none where nobody retracted it.
    pub fn retracted(&self) -> Option<&str> {
        self.facts_of(Self::RETRACTED).last()
    }

    /// Name of the machine; none where it could not be read.
    pub fn host(&self) -> Option<&str> {
        let is_it = |seen: &&Observation| (&*seen.subject, &*seen.key) == ("host", "name");
        self.environment.iter().find(is_it).and_then(|seen| seen.value.as_deref().ok())
    }

    /// What was expected of the point at this place.
    pub fn expected_at(&self, point: u32) -> Option<&ExpectedRecord> {
        self.expected.iter().find(|expected| expected.point == point)
    }
}

/// Failed I/Os of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorCount {
    /// Linux error number, positive; 0 for all kinds beyond the sixteenth together.
    pub errno: i32,
    /// How often.
    pub count: u64,
}

/// What one direction (reads, writes, trims or syncs) of a point did within the measured window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionRecord {
    /// I/Os completed in full.
    pub completed: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// I/Os that failed; in no rate and no latency.
    pub errors: Vec<ErrorCount>,
    /// Transfers that came back short and were completed by further requests.
    pub short: u64,
    /// completed − issued.
    pub service_time: LatencyHistogram,
    /// completed − intended. None in a closed loop, where it equals the service time.
    pub response_time: Option<LatencyHistogram>,
    /// What another program said of the service time, where it was imported without a histogram.
    pub stated: Option<StatedLatency>,
}

/// Latencies as another program said them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatedLatency {
    /// Number of I/Os.
    pub count: u64,
    /// Smallest, nanoseconds.
    pub min_ns: Option<u64>,
    /// Mean, nanoseconds.
    pub mean_ns: Option<f64>,
    /// Largest, nanoseconds.
    pub max_ns: Option<u64>,
    /// Quantile (0..=1) and value in nanoseconds, ascending.
    pub percentiles: Vec<(f64, u64)>,
}

/// One slice of a point's series (100 ms unless the point is shorter).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalRecord {
    /// Nanoseconds from the start of the measured window.
    pub start_ns: u64,
    /// Length in nanoseconds.
    pub length_ns: u64,
    /// Reads completed.
    pub reads: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Trims completed.
    pub trims: u64,
    /// Bytes discarded.
    pub trimmed_bytes: u64,
    /// Service times of the reads.
    pub read_service_time: EncodedHistogram,
    /// Service times of the writes.
    pub write_service_time: EncodedHistogram,
    /// Service times of the trims; empty where the point does not trim.
    pub trim_service_time: EncodedHistogram,
}

impl IntervalRecord {
    /// Reads, writes and trims completed.
    pub fn completed(&self) -> u64 {
        self.reads.saturating_add(self.writes).saturating_add(self.trims)
    }

    /// Bytes of those.
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.written_bytes).saturating_add(self.trimmed_bytes)
    }
}

/// What the kernel counted on the device while a point ran (`/sys/block/DEV/stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Read requests completed by the device.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed by the device.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// What a monitor said at one moment of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonitorRecord {
    /// Nanoseconds from the first look, which is just before the load begins (warm-up included), to
    /// the end of the second that this is of.
    pub at_ns: u64,
    /// Of what and which, the unit last: `nvme0n1 celsius`, `cpu steal_share`.
    pub name: String,
    /// The value: a rate or share over the second, or the level at its end.
    pub value: f64,
}

/// What ended the window of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndedBy {
    /// Its time was over.
    #[default]
    Duration,
    /// Its rate was known as well as asked.
    Precision,
    /// Its rate was steady.
    Steady,
    /// So many bytes had been moved.
    Bytes,
    /// Its rate was below what it was to keep.
    Rate,
    /// The user.
    Interrupted,
    /// The target failed.
    Failure,
}

impl EndedBy {
    /// Every one there is.
    pub const ALL: [Self; 7] = [
        Self::Duration,
        Self::Precision,
        Self::Steady,
        Self::Bytes,
        Self::Rate,
        Self::Interrupted,
        Self::Failure,
    ];

    /// As stored and in machine output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Duration => "duration",
            Self::Precision => "precision",
            Self::Steady => "steady",
            Self::Bytes => "bytes",
            Self::Rate => "rate",
            Self::Interrupted => "interrupted",
            Self::Failure => "failure",
        }
    }
}
