//! Stored facts of a run. Statistics are derived on reading (`crate::summary`), so a better formula
//! also applies to old runs.
//!
//! These types are not the domain types of engine or workload: the lab converts by hand, so a
//! change inside the engine cannot silently change the stored form.

mod direction;
mod expected;
mod interval;
mod monitor;
mod run;
mod target;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::field::IntoCell;
use crate::fields::{Stored, Stores};
use crate::reason::{Reason, ReasonEntry};

pub use direction::DirectionRecord;
pub use expected::{ExpectedEntry, ExpectedRecord};
pub(crate) use expected::{cells as expected_cells, entry as expected_entry};
pub use interval::IntervalRecord;
pub(crate) use monitor::entry as monitor_entry;
pub use monitor::{MonitorEntry, MonitorRecord};
pub(crate) use run::entry as run_entry;
pub use run::{RunEntry, RunRecord};
pub(crate) use target::entry as target_entry;
pub use target::{TargetEntry, TargetRecord};

/// The version of the meaning of stored figures. It rises with every change that makes the same
/// plan give other numbers (CHANGELOG, *Changed results*).
pub const MEASUREMENT_VERSION: u32 = 1;

/// State of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Still measuring, or killed while it was.
    #[default]
    Running,
    /// All points are there; nothing is added any more.
    Complete,
    /// Stopped by the user; can be resumed.
    Interrupted,
    /// Ended by a failure; what was measured before is kept.
    Failed,
    /// Running, but no process measures it; only in lists of runs, and never stored.
    Killed,
}

/// A fact read from the machine, with where it was read. A fact that could not be read is kept
/// with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Subject: `host`, `cpu`, `memory`, `kernel`, or a device name such as `nvme0n1`.
    pub subject: String,
    /// Name of the fact, for example `model`, `scheduler`, `logical_block_size`; units last
    /// (`size_bytes`).
    pub key: String,
    /// The value, or why it is unknown.
    pub value: Result<String, Reason>,
    /// The file or command that it was read from, or a code of [`source`](crate::source).
    pub source: String,
}

impl Observation {
    /// A fact, named by its subject and key.
    pub fn new(
        name: (&str, &str),
        value: Result<String, Reason>,
        source: impl Into<String>,
    ) -> Self {
        let (subject, key) = name;
        Self { subject: subject.to_owned(), key: key.to_owned(), value, source: source.into() }
    }

    /// True if it has this subject and key.
    pub fn is(&self, name: (&str, &str)) -> bool {
        (&*self.subject, &*self.key) == name
    }

    /// Value of the first of these facts with this subject and key; `None` if it is not known.
    pub fn value_in<'f>(facts: &'f [Self], name: (&str, &str)) -> Option<&'f str> {
        facts.iter().find(|fact| fact.is(name))?.value.as_deref().ok()
    }
}

/// A fact read from the machine, with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationEntry {
    /// Subject.
    pub subject: String,
    /// Name of the fact.
    pub key: String,
    /// Value; null if it could not be read.
    pub value: Option<String>,
    /// Reason why it could not be read; null if it was read.
    #[schemars(with = "Option<ReasonEntry>")]
    pub unknown_because: Option<ReasonEntry>,
    /// File or command that it was read from; `run:` or `EMULATED:` with a code if it comes from
    /// the run itself or from a device model.
    pub source: String,
}

pub(crate) fn observation(fact: &Observation) -> ObservationEntry {
    ObservationEntry {
        subject: fact.subject.clone(),
        key: fact.key.clone(),
        value: fact.value.clone().ok(),
        unknown_because: fact.value.as_ref().err().map(ReasonEntry::from),
        source: fact.source.clone(),
    }
}

/// Kind of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory, in which a measurement file was made.
    Directory,
    /// A regular file that was there before.
    #[default]
    File,
    /// A block device.
    BlockDevice,
    /// An emulated device in virtual time: results are EMULATED.
    Emulated,
}

/// Variant of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariantRecord {
    /// Name given by the plan or the user; empty if there is none.
    pub name: String,
    /// `single` (one drive), `together` (several at the same time), `array`, or `variant`.
    pub role: String,
    /// Index of its first target.
    pub target: u32,
    /// Points per load and queue depth: one per drive or process.
    pub parts: u32,
    /// Factor from the nominal queue depth to that of a point: the number of drives of an array,
    /// otherwise 1.
    pub times: u32,
}

/// Comparison of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRecord {
    /// Kind of the variants: `drives`, `targets`, `processes`, `areas` or `saturation`.
    pub of: String,
    /// Variants, in order.
    pub variants: Vec<VariantRecord>,
    /// Index of the variant that the others are divided by.
    pub base: u32,
    /// True if ratios are base ÷ variant instead of variant ÷ base.
    pub base_above: bool,
    /// True if increases over the base are shaded by class.
    pub shaded: bool,
    /// Profiles that were measured only at queue depth 1, for their latency.
    pub latency_profiles: Vec<String>,
    /// Published drives shown with the variants, by the names of their models.
    pub published: Vec<String>,
}

/// Failed I/Os of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorCount {
    /// Linux error number, positive; 0 for all kinds beyond the sixteenth, taken together.
    pub errno: i32,
    /// Count.
    pub count: u64,
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

/// Kernel counters of the device during a point (`/sys/block/DEV/stat`).
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

/// Reason why the window of a point ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndedBy {
    /// Its time was over.
    #[default]
    Duration,
    /// Its rate was known with the requested precision.
    Precision,
    /// Its rate was steady.
    Steady,
    /// The requested number of bytes was moved.
    Bytes,
    /// Its rate was below the required minimum.
    Rate,
    /// The user.
    Interrupted,
    /// The target failed.
    Failure,
}

/// The names that kinds are stored by, and have in machine output.
macro_rules! named {
    ($kind:ident: $($one:ident = $name:literal),*) => {
        impl $kind {
            /// Every one there is.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$one),*];

            /// Name as stored and in machine output.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$one => $name,)*
                }
            }
        }

        impl Stores for $kind {
            fn stored(&self) -> Stored<'_> {
                Stored::Text(Cow::Borrowed(self.as_str()))
            }
            fn restored(value: Stored<'_>) -> Result<Self, String> {
                let text = String::restored(value)?;
                let named = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
                named.ok_or_else(|| format!("`{text}` is not a valid {}", stringify!($kind)))
            }
        }
    };
}

named!(RunState: Running = "running", Complete = "complete", Interrupted = "interrupted",
    Failed = "failed", Killed = "killed");
named!(TargetKind: Directory = "directory", File = "file", BlockDevice = "block-device",
    Emulated = "emulated");
named!(EndedBy: Duration = "duration", Precision = "precision", Steady = "steady",
    Bytes = "bytes", Rate = "rate", Interrupted = "interrupted", Failure = "failure");

/// Types that are stored as JSON.
macro_rules! as_json {
    ($($kind:ty),+) => {$(
        impl Stores for $kind {
            fn stored(&self) -> Stored<'_> {
                // Strings, numbers and flags always serialise.
                Stored::Text(Cow::Owned(serde_json::to_string(self).unwrap_or_default()))
            }
            fn restored(value: Stored<'_>) -> Result<Self, String> {
                serde_json::from_str(&String::restored(value)?).map_err(|error| error.to_string())
            }
        }
    )+};
}

as_json!(ComparisonRecord, StatedLatency);

impl IntoCell for Option<ComparisonRecord> {}
impl IntoCell for Vec<ObservationEntry> {}
