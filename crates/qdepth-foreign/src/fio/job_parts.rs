//! Parts of a job that are several values each.

use super::values::Amount;

/// Writes that hold what others hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicates {
    /// Their share, per cent.
    pub share: f64,
    /// Share of the area that as many contents would take, per cent; none: there is one content.
    pub working_set: Option<f64>,
    /// True if other jobs write the same contents.
    pub common: bool,
}

/// A rate that a job is to keep, a second: reads, writes, trims; 0 = any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// Bytes.
    pub bytes: [f64; 3],
    /// Requests.
    pub ios: [f64; 3],
    /// Over which it is taken, nanoseconds.
    pub cycle_ns: u64,
}

impl Least {
    /// Share of each of the files.
    pub(super) fn shared(self, files: usize) -> Self {
        let share = |rates: [f64; 3]| rates.map(|rate| rate / files as f64);
        Self { bytes: share(self.bytes), ios: share(self.ios), ..self }
    }
}

/// A latency that a share of the requests is to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// At most so long, nanoseconds.
    pub target_ns: u64,
    /// Duration of each depth, nanoseconds.
    pub window_ns: u64,
    /// Share of the requests that keep it, per cent.
    pub percentile: f64,
}

/// Jobs that end together with a job with `exitall`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The jobs of its reporting group.
    Group,
    /// The jobs beside it up to the next stonewall.
    Step,
    /// All jobs, also those that have not begun.
    Run,
}

/// The part of a target under load, and when the load ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Part of the target under load.
    pub size: Amount,
    /// Start offset.
    pub offset: Amount,
    /// To a multiple of this an offset that is a share is raised.
    pub offset_align: u64,
    /// Offset of each clone's area from that of the previous one.
    pub offset_increment: Amount,
    /// Bytes that one pass moves; as `size` where it is none.
    pub io_size: Option<Amount>,
    /// Requests that one pass makes.
    pub requests: Option<u64>,
    /// Passes.
    pub loops: u64,
    /// From the start of its step to its own, nanoseconds.
    pub delay_ns: u64,
    /// Longest time, nanoseconds.
    pub runtime_ns: Option<u64>,
    /// Passes go on until the time is over.
    pub time_based: bool,
    /// Lead-in that is not recorded, nanoseconds.
    pub ramp_ns: u64,
}

/// Reporting options of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// Percentiles to report, per cent.
    pub percentiles: Vec<f64>,
    /// Percentiles of completion latency, total latency, submission latency.
    pub percentiles_of: [bool; 3],
    /// Names of the logs of throughput, latency, transaction rate.
    pub logs: [Option<String>; 3],
    /// Length of a log's windows, ms; 0 where each request was asked for.
    pub log_window_ms: u64,
    /// True if each clone has its own logs.
    pub per_job_logs: bool,
    /// True if times of logs count from 1970, and not from the start of the job.
    pub logs_since_1970: bool,
    /// Name of the logs of histograms, their windows, ms, and how coarse their classes are.
    pub histogram_log: Option<(String, u64, u32)>,
    /// True if the disks below are reported.
    pub disks: bool,
    /// Reporting of reads and writes.
    pub unified: Unified,
    /// Options as written, for the report: name and value.
    pub written: Vec<(String, String)>,
}

/// Reporting of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Apart.
    #[default]
    Apart,
    /// Together.
    Mixed,
    /// Apart, and together besides.
    Both,
}
