//! Profiles and plans as a person writes them, in TOML. Anything may be left out; what a name
//! means when it is left out is said here and decided in `resolve`.

use std::collections::BTreeMap;

use crate::arrival::Arrivals;
use crate::bandwidth::BandwidthSpec;
use crate::comparison::{ComparisonSpec, VariantSpec};
use crate::distribution::Distribution;
use crate::durability::Durability;
use crate::io_flag::{CacheAdvice, IoFlag};
use crate::operation::Operation;
use crate::priority::Priorities;
use crate::steps::{StaircaseSpec, StepSpec, SweepSpec};
use crate::target_spec::TargetSpec;
use qdepth_measure::{Bytes, EarlyEnd, Limit, Nanos, Requirement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One size of a weighted mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// Size, for example `"8KiB"`.
    pub size: Bytes,
    /// Weight; the share of a size is its weight over the sum of weights.
    pub weight: u32,
}

/// Block size: one size, or a weighted mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a size, such as \"8KiB\", or a list of { size, weight }")]
pub enum SizeSpec {
    /// One size, for example `"8KiB"`.
    One(String),
    /// A weighted mix.
    Mix(Vec<WeightedSize>),
}

impl Default for SizeSpec {
    fn default() -> Self {
        Self::Mix(Vec::new())
    }
}

impl SizeSpec {
    /// A single size is not a mix, whatever its weight.
    pub fn weighted(sizes: impl IntoIterator<Item = (Bytes, u32)>) -> Self {
        let weighted = |(size, weight)| WeightedSize { size, weight };
        let mix: Vec<WeightedSize> = sizes.into_iter().map(weighted).collect();
        match mix.as_slice() {
            [alone] => Self::One(alone.size.to_string()),
            _ => Self::Mix(mix),
        }
    }
}

/// Measurement area of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AreaSpec {
    /// Size: `"32GiB"`, `"50%"` of the target, or `"full"`. Default: 32 GiB, or the whole target if
    /// smaller.
    pub size: Option<String>,
    /// Start offset, for example `"4GiB"`.
    pub offset: Option<Bytes>,
}

/// Zones of an area that are used, and the gaps between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StridesSpec {
    /// Bytes of a zone, a multiple of the block size.
    pub zone: Bytes,
    /// Bytes of the gap after each zone.
    pub skip: Bytes,
    /// For random requests: length of a zone. `zone` is then the number of bytes that are accessed
    /// in each; the next zone begins `skip` after its end.
    pub range: Option<Bytes>,
}

/// Share of duplicates in the written data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicatesSpec {
    /// Share of the writes with one of the shared contents, in per cent; all others have unique
    /// content.
    pub share: f64,
    /// Number of shared contents. Default: 1.
    pub contents: Option<u32>,
    /// True if all loads with this setting share the contents.
    pub common: Option<bool>,
}

/// Flushes of data to stable storage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum FsyncSpec {
    /// Never.
    Never,
    /// After the last write, inside the measured time.
    End,
    /// After this number of writes of a stream.
    Every {
        /// Writes between two flushes.
        writes: u32,
        /// True for `fdatasync` instead of `fsync`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        data_only: bool,
        /// True if a flush also follows the last write, inside the measured time. Default: yes.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        at_end: bool,
    },
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// Main figure of a profile (docs/method/checklist.md, item 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReportedAs {
    /// IOPS, for random profiles.
    TransactionRate,
    /// Throughput in MiB/s, for sequential profiles.
    Throughput,
}

/// Translation of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileTranslation {
    /// Title. Default: the title of the profile.
    pub title: Option<String>,
    /// Applications with similar loads.
    pub application: Option<String>,
}

/// Load profile in a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Short name, for example `database`; lower case, digits and hyphens.
    pub name: String,
    /// Title. Default: the short name.
    pub title: Option<String>,
    /// Applications with similar loads.
    pub application: Option<String>,
    /// Title and application of a shipped profile in other languages of reports, by BCP 47 tag, for
    /// example `ja`. Reports on your own profiles use `title` in every language.
    #[serde(default)]
    pub translations: BTreeMap<String, ProfileTranslation>,
    /// Share of random accesses in per cent; the others follow the previous I/O.
    pub random: f64,
    /// Distribution of random accesses. Default: uniform.
    pub distribution: Option<Distribution>,
    /// Share of reads in per cent.
    pub read: f64,
    /// Share of trims in per cent; they need the same consent as writes. I/Os that are neither
    /// reads nor trims are writes.
    pub trim: Option<f64>,
    /// True if each place is trimmed, then written; there are no reads.
    pub trim_first: Option<bool>,
    /// Operation instead of a data transfer. Operations on files and directories need
    /// `files = "entries"` in the plan.
    pub operation: Option<Operation>,
    /// Recorded I/Os to replay, one per line: time in nanoseconds, `r`, `w`, `t` (trim) or `s`
    /// (flush), first byte within the area, number of bytes. Only `recorded` arrivals use the
    /// times.
    pub trace: Option<String>,
    /// Block size in bytes.
    pub block_size: SizeSpec,
    /// Block size of writes, if different.
    pub write_size: Option<SizeSpec>,
    /// Alignment of writes that have their own block size. Default: as for reads.
    pub write_alignment: Option<Bytes>,
    /// Share of random accesses of writes that have their own block size, in per cent. Default: as
    /// for reads.
    pub write_random: Option<f64>,
    /// Alignment of accesses. Default: 4096, or the block size if it is smaller
    /// (docs/method/checklist.md, item 11).
    pub alignment: Option<Bytes>,
    /// Measurement area.
    #[serde(default)]
    pub area: AreaSpec,
    /// Number of I/O streams, each on an equal part of the area. Default: 1, or one per part of the
    /// target (independent drives, partitions).
    pub streams: Option<u32>,
    /// Number of threads that drive the streams. Default: 1, enough for hundreds of I/Os in flight.
    pub workers: Option<u32>,
    /// Number of equal segments of each stream's part, interleaved with those of other streams.
    /// Default: 1.
    pub segments: Option<u32>,
    /// Zones of the area that are used, and the gaps after them.
    pub strides: Option<StridesSpec>,
    /// True if sequential accesses go backwards.
    pub backwards: Option<bool>,
    /// Arrivals of I/Os. Default: closed loop.
    pub arrivals: Option<Arrivals>,
    /// Compressible share of the payload, in per cent.
    pub compressible: Option<f64>,
    /// Duplicate contents, for storage that deduplicates. Default: none; each 4 KiB differs from
    /// all others in its last 16 bytes.
    pub duplicates: Option<DuplicatesSpec>,
    /// True if writes are stamped with their position and reads are checked: a difference is an
    /// error.
    pub verify: Option<bool>,
    /// With `verify`: true if reads of positions that the run has not written are errors. Default:
    /// yes.
    pub verify_unwritten: Option<bool>,
    /// With `verify_unwritten`: true if reads may also find the data that fills new files, because
    /// an earlier run wrote only part of the area. Default: no.
    pub verify_laid_out: Option<bool>,
    /// Kernel priorities of the I/Os.
    pub priorities: Option<Priorities>,
    /// Durability that a write waits for. Default: `none`.
    pub durability: Option<Durability>,
    /// Number of writers per stream that share syncs (group commit), instead of the plan's queue
    /// depth. Only with durability `fsync` or `fdatasync`.
    pub writers: Option<u32>,
    /// True if the page cache is bypassed. Default: yes.
    pub direct: Option<bool>,
    /// True if the area's pages are dropped from the page cache before each point or segment and
    /// after each pass over the area, only with `direct = false`. Default: no.
    pub drop_cache: Option<bool>,
    /// Advice to the kernel about buffered requests. Default: `none`.
    pub advice: Option<CacheAdvice>,
    /// Flag of transfers: `dontcache` for buffered I/O whose pages leave the page cache, or
    /// `atomic` for direct writes that a crash leaves whole or undone, at multiples of the largest
    /// block size. Default: `none`.
    pub io_flag: Option<IoFlag>,
    /// Flushes to stable storage. Default: never for direct writes, at the end for buffered ones.
    pub fsync: Option<FsyncSpec>,
    /// Main figure. Default: throughput for sequential profiles.
    pub reported_as: Option<ReportedAs>,
}

impl Profile {
    /// Profile with shares of random accesses and of reads in per cent, and the block size; every
    /// optional setting is unset, and the name is empty.
    pub fn new(random: f64, read: f64, block_size: SizeSpec) -> Self {
        Self { random, read, block_size, ..Self::default() }
    }

    /// True if it changes stored data.
    pub(crate) fn writes(&self) -> bool {
        self.read < 100.0 || self.operation.is_some_and(Operation::changes)
    }
}

/// Order of several targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetsSpec {
    /// One after the other.
    #[default]
    InTurn,
    /// All at the same time, each with the same load.
    Together,
}

/// Files that the streams of a point create and transfer once, if the target is a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilesSpec {
    /// One file per stream.
    PerStream,
    /// One file for all streams, each with its own part.
    Shared,
    /// One directory per point; its operations are on the entries.
    Entries,
    /// One directory for all streams and points; its operations are on the entries.
    SharedEntries,
    /// One directory per stream for all points; its operations are on the entries.
    EntriesPerStream,
}

/// Translation of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanTranslation {
    /// Question that the plan answers.
    pub question: String,
}

/// Plan in a file: profiles × queue depths, steps, or a staircase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Short name, for example `standard`.
    pub name: String,
    /// Title.
    pub title: Option<String>,
    /// Question of a shipped plan in other languages of reports, by BCP 47 tag, for example `ja`.
    /// The English question is the first comment of the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub translations: BTreeMap<String, PlanTranslation>,
    /// Names of profiles: shipped ones, or those of this file. Default: those of this file.
    #[serde(default)]
    pub profiles: Vec<String>,
    /// Profiles used instead of `profiles` on read-only targets. Default: those that do not write.
    #[serde(default)]
    pub reading: Vec<String>,
    /// Profiles defined in this file. Those that `profiles` does not name come last.
    #[serde(default, rename = "profile")]
    pub own_profiles: Vec<Profile>,
    /// Queue depths per stream, one point each.
    #[serde(default)]
    pub queue_depth: Vec<u32>,
    /// Profiles with their own queue depths.
    #[serde(default, rename = "sweep")]
    pub sweeps: Vec<SweepSpec>,
    /// Shipped profiles that are measured only at queue depth 1.
    #[serde(default)]
    pub latency_profiles: Vec<String>,
    /// Loads that run at the same time, step by step.
    #[serde(default, rename = "step")]
    pub steps: Vec<StepSpec>,
    /// Steps of a rising load; they end with the first step that the target cannot sustain.
    pub staircase: Option<StaircaseSpec>,
    /// Bandwidth of many threads that each move their own bytes.
    pub bandwidth: Option<BandwidthSpec>,
    /// Files that points create in a directory. Default: one shared measurement file, filled before
    /// the measurement.
    pub files: Option<FilesSpec>,
    /// With `files`: file names in the directory of each target; a number follows if each stream
    /// has its own. Default: `qdepth-bandwidth`.
    #[serde(default)]
    pub file_names: Vec<String>,
    /// With `files`: suffix of the file names, after the number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file_suffix: String,
    /// With `files`: keep the files after the last point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_files: bool,
    /// Targets used if the command line names none.
    #[serde(default, rename = "target")]
    pub own_targets: Vec<TargetSpec>,
    /// Order of several targets. Default: one after the other.
    #[serde(default)]
    pub targets: TargetsSpec,
    /// Variants of storage to compare, prepared, measured and undone one after the other.
    #[serde(default, rename = "variant")]
    pub variants: Vec<VariantSpec>,
    /// Latency limits, for example `["p99.9=1ms"]`: the run searches for the highest rate of an
    /// open loop that keeps all of them. The plan has one profile and its queue depths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<Limit>,
    /// Maximum measured time of that search. Default: 30 minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_within: Option<Nanos>,
    /// Requirements of an application. The run answers PASS, FAIL or INCONCLUSIVE (exit status 0, 1
    /// or 5).
    #[serde(default, rename = "requirement")]
    pub requirements: Vec<Requirement>,
    /// Comparison of drives, targets, numbers of processes, areas, or CPU settings.
    pub comparison: Option<ComparisonSpec>,
    /// Warm-up of each point. Default: a tenth of the duration, at least 200 ms.
    pub warm_up: Option<Nanos>,
    /// Measured time of each point. Default: 30 s.
    pub duration: Option<Nanos>,
    /// Number of segments per point, 4 to 20, interleaved with other points
    /// (docs/method/measuring.md). A segment lasts at least 500 ms; a point too short for four has
    /// none.
    pub interleaved_segments: Option<u32>,
    /// Warm-up of each segment, 20 ms to 60 s, for plans that take seconds. A segment then lasts at
    /// least 2.5 times as long, and all points of a target alternate. Default: 200 ms.
    pub segment_warm_up: Option<Nanos>,
    /// Ends a point early: at a 95 % confidence interval of this half-width (`"±2%"`, after at
    /// least 5 s), or when it is `"steady"` or `"steady-snia"` (docs/method/steady.md).
    pub until: Option<EarlyEnd>,
    /// Ends a point early, after this number of bytes.
    pub bytes: Option<Bytes>,
    /// Bytes that each stream moves, a multiple of the block size; the point ends with the last
    /// completion.
    pub bytes_per_stream: Option<Bytes>,
    /// Size of the measurement file if the target is a directory. Default: the standard area.
    pub file_size: Option<Bytes>,
    /// Seed of all random numbers. Default: 1.
    pub seed: Option<u64>,
    /// Stamp of verified writes: a later run with the same number verifies the data that this run
    /// kept. Default: new in each run.
    pub stamp: Option<u64>,
    /// Steps that prepare the machine and are undone after the last point, then steps that
    /// precondition the targets (docs/preparation.md).
    #[serde(default)]
    pub prepare: Vec<serde_json::Value>,
}
