//! Bandwidth by IOR's method, as written (docs/method/checklist.md, items 123-142).

use qdepth_measure::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Short names of the loads of all targets together: the writer, the reader.
pub const BANDWIDTH: [&str; 2] = ["bandwidth-write", "bandwidth-read"];
/// Short names of the loads of the first target alone, the baseline of scaling.
pub const BASELINE: [&str; 2] = ["baseline-write", "baseline-read"];

/// Bandwidth: transfer sizes × numbers of threads × passes, each written and read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BandwidthSpec {
    /// Transfer sizes, for example `["1MiB", "16MiB"]`. The first is used for the baseline.
    pub transfers: Vec<String>,
    /// Total numbers of threads. Default: 1, 2, 4 … to twice the CPUs, at least 16.
    #[serde(default)]
    pub threads: Vec<u32>,
    /// Bytes that each thread writes and reads back.
    pub bytes_per_thread: Bytes,
    /// Number of passes; the last one counts. Default: 2.
    pub passes: Option<u32>,
}
