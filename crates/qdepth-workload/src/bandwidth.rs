//! Bandwidth by IOR's method, as written (docs/method/checklist.md, items 123-142).

use qdepth_measure::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Short names of the loads of all targets together: what writes, what reads.
pub const BANDWIDTH: [&str; 2] = ["bandwidth-write", "bandwidth-read"];
/// Short names of the loads of the first target alone, which scaling is held against.
pub const BASELINE: [&str; 2] = ["baseline-write", "baseline-read"];

/// Bandwidth: transfer sizes × numbers of threads × passes, each written and read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BandwidthSpec {
    /// Transfer sizes, as `["1MiB", "16MiB"]`. The first is that of the baseline.
    pub transfers: Vec<String>,
    /// Numbers of threads over all targets. Left out: 1, 2, 4 … to twice the processors, at least
    /// 16.
    #[serde(default)]
    pub threads: Vec<u32>,
    /// What each thread writes and reads back.
    pub bytes_per_thread: Bytes,
    /// How often each is measured; the last counts. Left out: 2.
    pub passes: Option<u32>,
}
