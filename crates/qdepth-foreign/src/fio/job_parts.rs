//! Compound settings of a job.

use qdepth_workload::Way;

use super::values::Amount;

/// Writes with duplicate contents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicates {
    /// Share of writes with duplicate contents, per cent.
    pub share: f64,
    /// Size of all distinct contents as a share of the area, per cent; `None` for a single content.
    pub working_set: Option<f64>,
    /// True if other jobs write the same contents.
    pub common: bool,
}

/// Verification of a job's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Checksum and pattern, which all runs that verify the same data share.
    pub by: String,
    /// True if the job reads its data back after it has written.
    pub reads_back: bool,
    /// True if it only verifies data that an earlier job or run wrote.
    pub only: bool,
    /// True if the run that wrote the data may have ended early.
    pub loads_state: bool,
}

/// Minimum rate of a job, per second: reads, writes, trims; 0 for no minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimumRate {
    /// Minimum throughput, bytes per second.
    pub bytes: [f64; 3],
    /// Minimum requests per second.
    pub ios: [f64; 3],
    /// Period over which rates are averaged, ns.
    pub cycle_ns: u64,
}

impl MinimumRate {
    /// Minimum of a direction alone.
    pub(super) fn only(self, way: Way) -> Self {
        let kept = |[reads, writes, _]: [f64; 3]| match way {
            Way::Reads => [reads, 0.0, 0.0],
            Way::Writes => [0.0, writes, 0.0],
        };
        Self { bytes: kept(self.bytes), ios: kept(self.ios), ..self }
    }

    /// Share of the minimum for each file.
    pub(super) fn shared(self, files: usize) -> Self {
        let share = |rates: [f64; 3]| rates.map(|rate| rate / files as f64);
        Self { bytes: share(self.bytes), ios: share(self.ios), ..self }
    }
}

/// Latency goal of a queue depth search: a share of the requests must meet a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyGoal {
    /// Latency limit, ns.
    pub target_ns: u64,
    /// Duration of the measurement of each depth, ns.
    pub window_ns: u64,
    /// Share of the requests that must meet the limit, per cent.
    pub percentile: f64,
}

/// Jobs that `exitall` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitScope {
    /// The jobs of its reporting group.
    Group,
    /// The concurrent jobs up to the next stonewall.
    Step,
    /// All jobs, including those that have not started.
    Run,
}

/// The part of a target under load, and when the load ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Part of the target under load.
    pub size: Amount,
    /// True if missing files are created.
    pub creates_files: bool,
    /// Start offset.
    pub offset: Amount,
    /// Alignment of an offset that is given as a share; it is rounded up.
    pub offset_align: u64,
    /// Offset of each clone's area from that of the previous one.
    pub offset_increment: Amount,
    /// Bytes per pass; `None` for `size`.
    pub io_size: Option<Amount>,
    /// Requests per pass.
    pub requests: Option<u64>,
    /// Number of passes.
    pub loops: u64,
    /// Delay of the start within its step, ns.
    pub delay_ns: u64,
    /// Time limit, ns.
    pub runtime_ns: Option<u64>,
    /// True if passes repeat until the time is over.
    pub time_based: bool,
    /// Warm-up, ns.
    pub ramp_ns: u64,
}

/// Value of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowValue {
    /// Mean.
    #[default]
    Mean,
    /// Maximum.
    Max,
    /// Mean and maximum.
    Both,
}

/// Columns of a log beyond time, value, direction and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioLogColumns {
    /// True if rows have an offset, which is 0 for windows.
    pub offsets: bool,
    /// True if rows have the priority of their I/O, which is 0 for windows.
    pub priorities: bool,
    /// True if rows have a time of issue.
    pub issued: bool,
    /// Value of a window.
    pub value: WindowValue,
}

/// Reporting options of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// Percentiles to report, per cent.
    pub percentiles: Vec<f64>,
    /// True for each latency with percentiles: completion, total, submission.
    pub percentiles_of: [bool; 3],
    /// Names of the logs of throughput, latency, IOPS.
    pub logs: [Option<String>; 3],
    /// File for a trace of the I/Os.
    pub trace: Option<String>,
    /// True if logs are compressed.
    pub compresses_logs: bool,
    /// Length of a log's windows, ms; 0 for one row per request.
    pub log_window_ms: u64,
    /// Columns of the logs' rows.
    pub log_columns: FioLogColumns,
    /// True if each clone has its own logs.
    pub per_job_logs: bool,
    /// True if log times are Unix times instead of times since the start of the job.
    pub logs_since_1970: bool,
    /// Name of the histogram logs, their window in ms, and their coarseness.
    pub histogram_log: Option<(String, u64, u32)>,
    /// True if disk statistics are reported.
    pub disks: bool,
    /// Reporting of reads and writes.
    pub unified: Unified,
    /// Errors after which success is reported: of reads, of writes, and of data that differs.
    pub continues_on: [bool; 3],
    /// Options as written, for the report: name and value.
    pub written: Vec<(String, String)>,
    /// Options of the global sections before the job.
    pub inherited: Vec<(String, String)>,
}

/// Reporting of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Separately.
    #[default]
    Apart,
    /// Combined into one mixed entry.
    Mixed,
    /// Separately, and also as one mixed entry.
    Both,
}
