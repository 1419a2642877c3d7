//! Profiles and plans as a person writes them, in TOML. Anything may be left out; what a name
//! means when it is left out is said here and decided in `resolve`.

use std::collections::BTreeMap;

use crate::arrival::Arrivals;
use crate::bandwidth::BandwidthSpec;
use crate::comparison::{ComparisonSpec, VariantSpec};
use crate::distribution::Distribution;
use crate::operation::Operation;
use crate::plan::Durability;
use crate::priority::Priorities;
use crate::steps::{StaircaseSpec, StepSpec, SweepSpec};
use crate::target_spec::TargetSpec;
use qdepth_measure::{Bytes, EarlyEnd, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One size of a weighted mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// The size, as `"8KiB"`.
    pub size: Bytes,
    /// Its weight; shares are weights over their sum.
    pub weight: u32,
}

/// Request size: one size, or a weighted mix of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SizeSpec {
    /// One size, as `"8KiB"`.
    One(String),
    /// A weighted mix.
    Mix(Vec<WeightedSize>),
}

impl SizeSpec {
    /// One size where there is one alone, whatever its weight.
    pub fn weighted(sizes: impl IntoIterator<Item = (Bytes, u32)>) -> Self {
        let weighted = |(size, weight)| WeightedSize { size, weight };
        let mix: Vec<WeightedSize> = sizes.into_iter().map(weighted).collect();
        match mix.as_slice() {
            [alone] => Self::One(alone.size.to_string()),
            _ => Self::Mix(mix),
        }
    }
}

/// The part of a target under load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AreaSpec {
    /// `"32GiB"`, `"50%"` of the target, or `"full"`. Left out: 32 GiB, the standard area, or the
    /// whole target where that is smaller.
    pub size: Option<String>,
    /// Where it begins, as `"0"`, `"4GiB"`. Left out: at the beginning.
    pub offset: Option<Bytes>,
}

/// Parts of an area that are used, and what lies between them and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StridesSpec {
    /// Bytes that are used in one go, in whole requests.
    pub zone: Bytes,
    /// Bytes that are left out behind them.
    pub skip: Bytes,
}

/// How much of what is written is written more than once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicatesSpec {
    /// Share of the writes that hold one of a number of contents, in per cent; each of the others
    /// holds what no other does.
    pub share: f64,
    /// That number. Left out: 1.
    pub contents: Option<u32>,
    /// Whether the contents are those of every load that says so. Left out: no.
    pub common: Option<bool>,
}

/// When data is forced to stable storage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum FsyncSpec {
    /// Never by us.
    Never,
    /// Once after the last write, inside the measured time.
    End,
    /// After every so many writes of a stream.
    Every {
        /// Writes between two flushes.
        writes: u32,
    },
}

/// Which figure is the main result (docs/method/checklist.md, item 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReportedAs {
    /// IO/s, for random profiles.
    TransactionRate,
    /// MB/s (2^20), for sequential profiles.
    Throughput,
}

/// What a profile is called in another language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileTranslation {
    /// Name for people. Left out: that of the profile.
    pub title: Option<String>,
    /// What applications load storage like this.
    pub application: Option<String>,
}

/// A load profile as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Short name, as `database`; lower case, digits and hyphens.
    pub name: String,
    /// Name for people. Left out: the short name.
    pub title: Option<String>,
    /// What applications load storage like this.
    pub application: Option<String>,
    /// Title and application of a shipped profile in other languages of reports, by BCP 47 tag, as
    /// `ja`. Reports of your own profile have its `title` in every language.
    #[serde(default)]
    pub translations: BTreeMap<String, ProfileTranslation>,
    /// Share of random accesses in per cent; the others follow the former request.
    pub random: f64,
    /// Where random accesses fall. Left out: each place alike.
    pub distribution: Option<Distribution>,
    /// Share of reads in per cent.
    pub read: f64,
    /// Share of requests that discard what is stored at their place (trim), in per cent; what is
    /// neither this nor a read is a write. It is allowed like a write, and refused like one. Left
    /// out: 0.
    pub trim: Option<f64>,
    /// Whether each place is trimmed first and then written, by the next request in the same place
    /// of the queue: half of the requests are trims then, and none reads. Left out: no.
    pub trim_first: Option<bool>,
    /// What requests do, where that is no transfer of data: `"reserve"`, `"truncate"`, and, in a
    /// plan with `files = "entries"`, `"make-files"`, `"stat-files"`, `"remove-files"`,
    /// `"make-directories"` and so on. They are done one at a time. Left out: they move data.
    pub operation: Option<Operation>,
    /// Recorded requests that are made again, a line each: the time in nanoseconds, `r`, `w`, `t`
    /// (trim) or `s` (force out), the first byte within the area, the number of bytes. They keep to
    /// their times with `arrivals = { kind = "recorded", speed = 1.0 }`, and follow completions
    /// without. Left out: requests are drawn.
    pub trace: Option<String>,
    /// Request size.
    pub request_size: SizeSpec,
    /// Request size of the writes of a mix, where that is another. Left out: as reads.
    pub write_size: Option<SizeSpec>,
    /// Writes with sizes of their own begin at whole multiples of this. Left out: as reads.
    pub write_alignment: Option<Bytes>,
    /// Share of random accesses among writes with sizes of their own, in per cent. Left out: as
    /// reads.
    pub write_random: Option<f64>,
    /// Accesses begin at whole multiples of this within the area. Left out: 4096
    /// (docs/method/checklist.md, item 11), or the request size where that is smaller.
    pub alignment: Option<Bytes>,
    /// The part of the target under load.
    #[serde(default)]
    pub area: AreaSpec,
    /// Sources of requests (the papers' processes), each on an equal part of the area. Left out: 1,
    /// or one for each part of a target that has several (independent drives, partitions).
    pub streams: Option<u32>,
    /// Threads that the streams are dealt to. Left out: 1, which drives hundreds of outstanding
    /// I/Os.
    pub workers: Option<u32>,
    /// Equal pieces that a stream's part of the area is in, which lie between those of the other
    /// streams: first piece of each stream, second piece of each … Left out: 1.
    pub segments: Option<u32>,
    /// Zones of the area that are used, and what is left out behind each. Left out: all of it is
    /// used.
    pub strides: Option<StridesSpec>,
    /// Whether accesses that follow another are before it and not behind it. Left out: behind it.
    pub backwards: Option<bool>,
    /// When requests arrive. Left out: closed loop, the next request follows a completion.
    pub arrivals: Option<Arrivals>,
    /// Share of the payload that compresses away, in per cent. Left out: 0, incompressible.
    pub compressible: Option<f64>,
    /// Writes that hold what others hold, for stores that deduplicate. Left out: what a request in
    /// flight writes is drawn once, and written again and again.
    pub duplicates: Option<DuplicatesSpec>,
    /// Whether writes are stamped with their place, and reads held against what the same run wrote
    /// there: a read that differs is an error. Left out: no.
    pub verify: Option<bool>,
    /// Whether reads of a place that the run has not written are held against it too, and are then
    /// errors. Left out: yes.
    pub verify_unwritten: Option<bool>,
    /// Priorities of its requests in the kernel. Left out: that of the process.
    pub priorities: Option<Priorities>,
    /// When a write is complete. Left out: when the kernel or device has taken it.
    pub durability: Option<Durability>,
    /// Whether the page cache is bypassed. Left out: yes.
    pub direct: Option<bool>,
    /// When data is forced to stable storage. Left out: never for direct, at the end for buffered
    /// writes.
    pub fsync: Option<FsyncSpec>,
    /// Which figure is the main result. Left out: throughput when sequential.
    pub reported_as: Option<ReportedAs>,
}

impl Profile {
    /// Shares of random accesses and of reads in per cent, and the request size; all that may be
    /// left out is, and there is no name yet.
    pub fn new(random: f64, read: f64, request_size: SizeSpec) -> Self {
        Self {
            name: String::new(),
            title: None,
            application: None,
            translations: BTreeMap::new(),
            random,
            distribution: None,
            read,
            trim: None,
            trim_first: None,
            operation: None,
            trace: None,
            request_size,
            write_size: None,
            write_alignment: None,
            write_random: None,
            alignment: None,
            area: AreaSpec::default(),
            streams: None,
            workers: None,
            segments: None,
            strides: None,
            backwards: None,
            arrivals: None,
            compressible: None,
            duplicates: None,
            verify: None,
            verify_unwritten: None,
            priorities: None,
            durability: None,
            direct: None,
            fsync: None,
            reported_as: None,
        }
    }

    /// Whether it changes what is stored.
    pub(crate) fn writes(&self) -> bool {
        self.read < 100.0 || self.operation.is_some_and(Operation::changes)
    }
}

/// How several targets are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetsSpec {
    /// One after the other.
    #[default]
    InTurn,
    /// All at the same time, each under the same load of its own.
    Together,
}

/// Files that the streams of a point make anew and move once, where the target is a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilesSpec {
    /// Each stream has a file of its own.
    PerStream,
    /// All streams share one file, each with a part of its own.
    Shared,
    /// Each point has a directory of its own, and its requests are of the entries there.
    Entries,
}

/// What a plan asks in another language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanTranslation {
    /// The question that the plan answers.
    pub question: String,
}

/// A plan as written: profiles × outstanding I/Os, steps, or a staircase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Short name, as `standard`.
    pub name: String,
    /// What it measures, for people.
    pub title: Option<String>,
    /// The question of a shipped plan in other languages of reports, by BCP 47 tag, as `ja`. In
    /// English it is what the plan's file begins with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub translations: BTreeMap<String, PlanTranslation>,
    /// Profiles by name, shipped ones and those that are written here. Left out: those that are
    /// written here.
    #[serde(default)]
    pub profiles: Vec<String>,
    /// Profiles in place of `profiles` where only reading is allowed. Left out: those of `profiles`
    /// that write nothing.
    #[serde(default)]
    pub reading: Vec<String>,
    /// Profiles written here. Those that `profiles` does not name come behind those that it does.
    #[serde(default, rename = "profile")]
    pub own_profiles: Vec<Profile>,
    /// Outstanding I/Os per stream, one point each. Left out: the plan has steps only.
    #[serde(default)]
    pub outstanding: Vec<u32>,
    /// Profiles that are each measured at outstanding I/Os of their own.
    #[serde(default, rename = "sweep")]
    pub sweeps: Vec<SweepSpec>,
    /// Shipped profiles that are measured at one outstanding I/O alone, for their latency.
    #[serde(default)]
    pub latency_profiles: Vec<String>,
    /// Loads that run at the same time, step by step.
    #[serde(default, rename = "step")]
    pub steps: Vec<StepSpec>,
    /// Steps on which one load rises; they end with the first that is not reached.
    pub staircase: Option<StaircaseSpec>,
    /// Bandwidth of many threads, each with bytes of its own.
    pub bandwidth: Option<BandwidthSpec>,
    /// Files that points make in a directory. Left out: they share one measurement file, which is
    /// filled before.
    pub files: Option<FilesSpec>,
    /// With `files`: what they are called in the directory of each target; those of single streams
    /// have a number behind it. Left out: `qdepth-bandwidth`.
    #[serde(default)]
    pub file_names: Vec<String>,
    /// With `files`: what stands behind their names, and behind the numbers. Left out: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file_suffix: String,
    /// With `files`: leave them there after the last point. Left out: they are removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
    /// The targets where the command line names none.
    #[serde(default, rename = "target")]
    pub own_targets: Vec<TargetSpec>,
    /// How several targets are measured. Left out: one after the other.
    #[serde(default)]
    pub targets: TargetsSpec,
    /// Prepared forms of storage, each a column of a comparison: prepared, measured and taken back
    /// one after the other.
    #[serde(default, rename = "variant")]
    pub variants: Vec<VariantSpec>,
    /// What is compared with what. Left out: the targets are measured as `targets` says.
    pub comparison: Option<ComparisonSpec>,
    /// Unrecorded lead-in of each point. Left out: a tenth of the duration, at least 200 ms.
    pub warm_up: Option<Nanos>,
    /// Measured window of each point.
    pub duration: Option<Nanos>,
    /// Measures each point in so many parts, 4 to 20, in turn with the other points of its sweep
    /// over intensities, or the other columns of a comparison: its interval then comes from how the
    /// visits differ. A visit lasts 500 ms at least, of shorter points there are fewer; with fewer
    /// than four a point is measured in one go, as is one that may end early, an emulated medium,
    /// and storage shared by ranks. Where a queue needs longer to be turned over, visits are
    /// longer. Left out: in one go.
    pub visits: Option<u32>,
    /// Unrecorded lead-in of each visit, 20 ms to 60 s: a visit then lasts two and a half times
    /// that at least, and all points of a target take turns. For plans of seconds: where fewer than
    /// six requests follow one another on each place in the queue within a visit, the interval is
    /// wider, and there is none where not one does. Left out: 200 ms.
    pub visit_lead_in: Option<Nanos>,
    /// Ends a point before the duration is over, after 5 s at least, once the 95 % interval of its
    /// rate is as narrow as this: `"±2%"`; or once its rate is steady, `"steady"` (by our own rule)
    /// or `"steady-snia"`: then it is measured in 25 rounds at most, of which those of the steady
    /// state are told. Left out: every point lasts the duration.
    pub until: Option<EarlyEnd>,
    /// Ends a point after so many bytes, if they come before the duration's end.
    pub bytes: Option<Bytes>,
    /// Bytes that each stream moves, in whole requests: it issues nothing after them, and the point
    /// ends with its last completion. Left out: no limit.
    pub bytes_per_stream: Option<Bytes>,
    /// Size of the measurement file where the target is a directory. Left out: the standard area.
    pub file_size: Option<Bytes>,
    /// Seed of all draws. Left out: 1.
    pub seed: Option<u64>,
    /// What writes are stamped with where they are verified: a later run with the same number holds
    /// reads against them, of what this run kept. Left out: another in each run.
    pub stamp: Option<u64>,
    /// Steps that prepare the machine before the first point (purge, partition, array, volume, file
    /// system, mount, setting) and are taken back after the last, and then those that precondition
    /// the targets; docs/preparation.md lists them.
    #[serde(default)]
    pub prepare: Vec<serde_json::Value>,
}

/// JSON Schema of plan files, for completion in editors.
pub fn plan_schema() -> String {
    serde_json::to_string_pretty(&schemars::schema_for!(PlanFile)).unwrap_or_default()
}
