//! Comparison of a plan: its variants, the columns of the comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prefix of a published drive.
const PUBLISHED: &str = "published:";

/// Kind of the variants of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// First target alone, all targets at the same time, and arrays of the targets.
    Drives,
    /// Each target, one after the other.
    Targets,
    /// Numbers of processes on a target, each on its own part.
    Processes,
    /// Sizes of the measurement area on a target.
    Areas,
    /// Frequencies and power settings of the CPUs, on a target.
    CpuSettings,
    /// Each target alone, then the first two at the same time, the first three, and so on.
    Saturation,
}

/// Role of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Single drive.
    Single,
    /// Several drives at the same time, each with its own load.
    Together,
    /// Array of these drives.
    Array,
    /// Prepared storage, number of processes, or area.
    Variant,
}

/// Variant of a comparison: a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Title; empty for the target's name.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Points per load and queue depth: one per drive or process.
    pub parts: u32,
    /// Factor from the nominal queue depth to the queue depth of a point: the number of drives of
    /// an array, otherwise 1.
    pub times: u32,
    /// First target.
    pub target: u32,
    /// Preparation steps of this variant alone, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<serde_json::Value>,
}

/// Comparison of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Kind of the variants.
    pub of: Compared,
    /// Variants, in order.
    pub variants: Vec<Variant>,
    /// Index of the baseline.
    pub base: u32,
    /// True if ratios are base ÷ variant instead of variant ÷ base.
    pub base_above: bool,
    /// True if increases over the base are shaded by class.
    pub shaded: bool,
    /// Profiles that are measured only at queue depth 1, for their latency.
    pub latency_profiles: Vec<String>,
    /// Published drives shown with the variants, by the names of their models.
    pub published: Vec<String>,
}

/// Comparison of a plan, in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComparisonSpec {
    /// Kind of the variants.
    pub of: Compared,
    /// Numbers of processes, one variant each.
    #[serde(default)]
    pub processes: Vec<u32>,
    /// Measurement areas, one variant each: `"32GiB"`, `"50%"`, `"full"`.
    #[serde(default)]
    pub areas: Vec<String>,
    /// True if ratios are base ÷ variant instead of variant ÷ base.
    #[serde(default)]
    pub base_above: bool,
    /// True if increases over the base are shaded: above 30, 60 and 120 %.
    #[serde(default)]
    pub shaded: bool,
}

/// Prepared form of storage, in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantSpec {
    /// Name of the variant, for example `"RAID 0, XFS"`.
    pub name: String,
    /// Target: a directory, file, device or emulated device, as on the command line. The
    /// preparation may create it.
    pub target: String,
    /// Preparation steps, executed after those of the plan; all are undone before the next variant.
    #[serde(default)]
    pub prepare: Vec<serde_json::Value>,
}

/// Name of the model if an argument denotes a published drive.
pub fn published_name(word: &str) -> Option<&str> {
    word.strip_prefix(PUBLISHED)
}
