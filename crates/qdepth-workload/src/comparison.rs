//! What a plan compares: its variants, the columns of the comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a published drive is spelled with.
const PUBLISHED: &str = "published:";

/// What the variants of a comparison are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// The first target alone, all at the same time, and arrays of them.
    Drives,
    /// Each target, one after the other.
    Targets,
    /// Numbers of processes on a target, each on a part of its own.
    Processes,
    /// Sizes of the measurement area on a target.
    Areas,
}

/// What a variant is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// One drive.
    Single,
    /// Several drives at the same time, each under a load of its own.
    Together,
    /// An array of those drives.
    Array,
    /// A prepared form of the storage, a number of processes, an area.
    Variant,
}

/// A column of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Name for people; empty: the target's name.
    pub name: String,
    /// What it is to the others.
    pub role: Role,
    /// Points of each load and intensity: one for each drive or process.
    pub parts: u32,
    /// Outstanding I/Os of a point by the intensity that it stands at: the number of drives of an
    /// array, else 1.
    pub times: u32,
    /// Its first target.
    pub target: u32,
    /// The steps that prepared it alone, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<serde_json::Value>,
}

/// What a plan compares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What the variants are.
    pub of: Compared,
    /// The columns, in order.
    pub variants: Vec<Variant>,
    /// Which of them the others are divided by.
    pub base: u32,
    /// Whether the quotients are base ÷ variant, in place of variant ÷ base.
    pub base_above: bool,
    /// Whether increases over the base are shaded by class.
    pub shaded: bool,
    /// Profiles that are measured at one outstanding I/O alone, for their latency.
    pub latency_profiles: Vec<String>,
    /// Published drives beside the variants, by the names of their media.
    pub published: Vec<String>,
}

/// What a plan compares, as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComparisonSpec {
    /// What the columns are.
    pub of: Compared,
    /// Numbers of processes, a column each.
    #[serde(default)]
    pub processes: Vec<u32>,
    /// Measurement areas, a column each: `"32GiB"`, `"50%"`, `"full"`.
    #[serde(default)]
    pub areas: Vec<String>,
    /// Whether quotients are base ÷ column, in place of column ÷ base.
    #[serde(default)]
    pub base_above: bool,
    /// Whether increases over the base are shaded: above 30, 60 and 120 %.
    #[serde(default)]
    pub shaded: bool,
}

/// A prepared form of storage, as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantSpec {
    /// Name of its column, as `"RAID 0, XFS"`.
    pub name: String,
    /// What is measured: a directory, file, device or emulated medium, as on the command line. It
    /// may be what the preparation makes.
    pub target: String,
    /// Steps that prepare it, after those of the plan; all are taken back before the next variant.
    #[serde(default)]
    pub prepare: Vec<serde_json::Value>,
}

/// Whether a word of the command line stands for a published drive; the medium's name.
pub fn published_name(word: &str) -> Option<&str> {
    word.strip_prefix(PUBLISHED)
}
