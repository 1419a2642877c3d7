//! Codes of findings: one table of code, allowed severities, subject, rule, figures and texts.
//! Tests compare the texts of the catalogues and the documentation page with this table.

use std::fmt;
use std::str::FromStr;

/// Severity of a finding (grade A: none, B: warnings, C: invalid).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The figure is valid, with a warning.
    Remark,
    /// The figure must not be used.
    Invalid,
}

impl Severity {
    /// Text as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Remark => "remark",
            Self::Invalid => "invalid",
        }
    }
}

/// Subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A point.
    Point,
    /// The run as a whole.
    Run,
    /// A point or a run.
    Both,
}

/// Fixed properties of a finding's code.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    /// Allowed severities.
    pub severities: &'static [Severity],
    /// Subject.
    pub subject: Subject,
    /// Names of the figures that it may have.
    pub values: &'static [&'static str],
    /// Names of the texts that it may have.
    pub labels: &'static [&'static str],
    /// The rule that is broken, with its limits (docs/method/thresholds.md gives the reasons).
    pub law: &'static str,
}

const REMARK: &[Severity] = &[Severity::Remark];
const INVALID: &[Severity] = &[Severity::Invalid];
const EITHER: &[Severity] = &[Severity::Remark, Severity::Invalid];

macro_rules! codes {
    ($($variant:ident = $text:literal, $severities:ident, $subject:ident,
        [$($value:literal),*], [$($label:literal),*], $law:literal;)+) => {
        /// Code of a finding. Its text form is stored in the logbook and in JSON and never changes
        /// its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $law] $variant),+
        }

        impl Code {
            /// All codes, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The text form, as stored.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Its row of the table.
            pub const fn meaning(self) -> Meaning {
                match self {
                    $(Self::$variant => Meaning {
                        severities: $severities,
                        subject: Subject::$subject,
                        values: &[$($value),*],
                        labels: &[$($label),*],
                        law: $law,
                    }),+
                }
            }
        }
    };
}

// Code as stored, possible severities, subject, figures, texts, and law.
codes! {
    LittlesLaw = "littles-law", INVALID, Point, ["integral_ns", "latency_sum_ns", "difference"], [],
        "I/Os in flight and the sum of latencies disagree by more than 1 %";
    DepthNotReached = "depth-not-reached", INVALID, Point, ["asked", "mean"], [],
        "on average, fewer than 99 % of the requested I/Os were in flight";
    QueueUnsettled = "queue-unsettled", EITHER, Point, ["mean_ns", "settled_ns", "share"], [],
        "in a closed loop, the mean latency is more than 5 % (B) or 20 % (C) below the one that \
         Little's law requires for the I/Os in flight, beyond chance: the window began while the \
         queue was filling, or is short compared with a latency";
    Conservation = "conservation", INVALID, Point, ["expected", "counted"], ["law"],
        "the numbers of submissions, completions and histogram entries differ";
    BytesLaw = "bytes-law", INVALID, Point, ["expected_bytes", "counted_bytes"], [],
        "the number of bytes is not the number of I/Os times their size";
    ForeignIo = "foreign-io", EITHER, Point,
        ["kernel_bytes", "our_bytes", "share"],
        ["processes"],
        "the kernel counted more I/O on the device than qdepth issued: more than 0.5 % (B) or 2 % \
         (C); for a file, more than 5 % (B) or 25 % (C) that its file system cannot have caused, \
         or 30 % in total (B)";
    KernelSawLess = "kernel-saw-less", EITHER, Point, ["kernel_bytes", "our_bytes", "share"], [],
        "the kernel counted fewer bytes on the device than qdepth moved, by more than 0.5 % (B) \
         or 2 % (C)";
    ImportContradiction = "import-contradiction", INVALID, Point, ["expected", "counted"], ["law"],
        "imported figures contradict each other by more than 5 %: number of I/Os, rate and time; \
         bytes, throughput and time; the order of latencies; or Little's law, by a factor of 1.5";
    AboveLinkLimit = "above-link-limit", INVALID, Point, ["mib_per_s", "link_mib_per_s"], [],
        "the throughput exceeds that of the link";
    ImplausiblyFast = "implausibly-fast", REMARK, Point, ["median_ns"], [],
        "half of the reads of 4 KiB or more took less than 2 µs: memory answered";
    NotDirect = "not-direct", INVALID, Point, [], ["why"],
        "direct I/O was requested, but is not in effect";
    Buffered = "buffered", REMARK, Point, [], [],
        "buffered I/O, as requested: the page cache is part of the result, and write errors may \
         be hidden";
    CachedBelow = "cached-below", INVALID, Point, [], ["why", "device"],
        "the storage is memory or a loop device without direct I/O, or the file is compressed or \
         shares blocks";
    ServedBelow = "served-below", REMARK, Point, [], ["file_system"],
        "a FUSE program or another host serves the file system, and its caches cannot be seen";
    ControlGroupLimit = "control-group-limit", INVALID, Point,
        ["limit_per_s", "reached_per_s"],
        ["direction", "unit", "file"],
        "the rate reached 80 % of a limit that a control group of qdepth sets for the device";
    UnwrittenRead = "unwritten-read", INVALID, Point, ["unwritten_share"], [],
        "part of the file, or of the backing file of a loop device, was never written: reads \
         there cost nothing, and first writes differ from those of a used device";
    GeneratorCeiling = "generator-ceiling", EITHER, Point,
        ["ceiling_io_per_s", "io_per_s", "ratio"],
        [],
        "the ceiling of the load generator is less than ten times (B) or twice (C) the rate";
    IoErrors = "io-errors", INVALID, Point, ["failed", "outside"], ["errors"],
        "some I/Os failed; they are counted by direction and error";
    ShortTransfers = "short-transfers", REMARK, Point, ["short"], [],
        "the kernel returned less than requested; further I/Os completed the transfers";
    DeviceGone = "device-gone", INVALID, Point,
        ["size_bytes", "offset_bytes"],
        ["evidence", "direction", "device"],
        "a transfer within the area returned 0 bytes: the device shrank or disappeared";
    Hung = "hung", INVALID, Point, ["abandoned", "waited_ns"], [],
        "I/Os did not complete within the time limit";
    Stall = "stall", REMARK, Point, ["longest_ns", "over_100ms", "over_1s", "over_10s"], [],
        "no I/O completed for more than 100 ms";
    SyncsApart = "syncs-apart", REMARK, Point, ["write_ns", "sync_ns", "operation_ns"], [],
        "syncs take more than 10 % of the time of a durable write: its latency is not that of the \
         write alone";
    Saturated = "saturated", EITHER, Point, ["backlog_max", "limit"], [],
        "the load of an open loop could not be issued on time (C); on a staircase this is expected \
         (B)";
    Interrupted = "interrupted", INVALID, Point, [], [],
        "the user stopped the point early";
    RateNotKept = "rate-not-kept", INVALID, Point,
        ["least_per_s", "reached_per_s"],
        ["direction", "unit"],
        "the rate fell below the minimum of the load, which ended it";
    IntervalNotAvailable = "interval-not-available", REMARK, Point,
        ["samples", "autocorrelation"],
        [],
        "no 95 % confidence interval: too few samples, or too much correlation";
    PrecisionNotReached = "precision-not-reached", REMARK, Point,
        ["asked_share", "reached_share"],
        [],
        "the time limit was reached before the precision of `--until`";
    TooFewSamples = "too-few-samples", REMARK, Point, ["samples"], [],
        "fewer than 1,000 I/Os: even the 99th percentile has fewer than ten samples beyond it";
    EngineFallback = "engine-fallback", REMARK, Point, [],
        ["engine", "refused", "operation", "why"],
        "the preferred engine, `io_uring`, could not be used, and another engine was used instead";
    EngineFeature = "engine-feature", REMARK, Point, [], ["feature", "why"],
        "a feature of the engine is missing on this machine";
    Steal = "steal", EITHER, Point, ["share"], [],
        "steal time: CPU time lost to the hypervisor (B above 0.5 %, C above 2 %)";
    GeneratorCpu = "generator-cpu", REMARK, Point, ["share"], [],
        "a worker used more than 80 % of its CPU: the load generator may be the limit";
    GeneratorStopped = "generator-stopped", INVALID, Point,
        ["longest_ns", "times", "waited_share"],
        [],
        "the load generator paused for more than 100 ms (stopped, starved), a worker waited for a \
         CPU for more than 20 % of the time, or the machine was suspended; such pauses are not a \
         `stall`";
    ClockDrift = "clock-drift", EITHER, Point, ["drift"], ["why"],
        "`CLOCK_MONOTONIC` and `CLOCK_MONOTONIC_RAW` diverged during the point by more than 0.05 \
         % (B) or 1 % (C), time stamps diverged from the kernel's clock by more than 0.1 % (C), \
         or the machine was suspended (C)";
    SmallArea = "small-area", REMARK, Run, ["bytes", "standard_bytes"], [],
        "the area is smaller than that of the shipped plan or, in any other plan, than the \
         standard 32 GiB";
    CompressiblePayload = "compressible-payload", REMARK, Point, ["ratio"], [],
        "part of the written data is compressible or duplicate, as the profile requests";
    MediumStateUnknown = "medium-state-unknown", REMARK, Run, [], [],
        "the state of the device (fresh, preconditioned or steady) is unknown, because the run \
         did not precondition its targets";
    NotSteady = "not-steady", REMARK, Both,
        ["rounds", "times_written", "io_per_s", "range_share", "slope_share", "period_ns"],
        ["target", "state", "rule"],
        "preconditioning, or a point with `--until steady`, ended without steady state: cyclic \
         (with its period), drifting, never steady, or too short ([rules](../method/steady.md))";
    DeviceChanged = "device-changed", INVALID, Both, [], ["was", "is"],
        "the target's identity changed during a point (finding of the point) or between points \
         (finding of the run, which then ends)";
    SeriesTruncated = "series-truncated", REMARK, Point, ["lost_intervals"], [],
        "part of the samples could not be stored; totals are complete";
    TargetFailed = "target-failed", INVALID, Point, [],
        ["why", "call", "error", "lost_rank", "message"],
        "the engine reported an error, or a rank did not respond";
    Resumed = "resumed", REMARK, Point, [], [],
        "the point was measured after an interruption of the run";
    Imported = "imported", REMARK, Both, [], ["program", "version", "file", "remarks"],
        "another program measured this; qdepth imported it";
    NotLiteral = "not-literal", REMARK, Run, ["bytes", "transfers"], ["option", "what", "name"],
        "an option of another program is handled differently ([codes](remarks.md))";
    BelowExpected = "below-expected", REMARK, Point,
        ["share", "io_per_s", "expected_io_per_s"],
        ["medium"],
        "the rate is below that of the device model of `--expect`: by more than the model's \
         error, or below three quarters if the error is unknown";
    MonitorMissing = "monitor-missing", REMARK, Point, [], ["monitor", "why"],
        "a monitor (CPU times, counters of the device) could not be read";
    Throttled = "throttled", EITHER, Point,
        ["transitions", "celsius", "warning_celsius"],
        ["device"],
        "heat: a drive was within 5 K of its warning limit (B), or its thermal counters or those \
         of the CPUs increased (C)";
    HealthChanged = "health-changed", EITHER, Point, ["rise"], ["device", "counter"],
        "a health counter of the drive increased: entries of its error log (B), media errors, \
         warnings (C)";
    Pressure = "pressure", REMARK, Point,
        ["cpu_share", "memory_share"],
        ["processes"],
        "tasks of the machine, including the load generator, waited for a CPU for more than 10 % \
         of the time, or for memory for more than 2 %";
    FrequencyChanged = "frequency-changed", REMARK, Point, ["share"], [],
        "the mean CPU frequency changed by more than 5 %";
    Swapping = "swapping", REMARK, Point, ["pages"], [],
        "pages were swapped in or out";
    BackgroundWork = "background-work", INVALID, Point, [], ["device"],
        "an array below the target was rebuilt, scrubbed or checked";
    FarDrive = "far-drive", REMARK, Run, [], ["device", "node", "cpus"],
        "a pinned worker has a CPU on another NUMA node than its drive; without pinning: all \
         CPUs that the workers may use are on other nodes";
    RecordDamaged = "record-damaged", INVALID, Run, ["point", "row"], ["record", "parts"],
        "a record of the logbook does not match its checksum: a damaged point is omitted, a \
         damaged record of the run is unreliable";
    Unknown = "unknown", EITHER, Both, [], ["code"],
        "the finding is of a newer version; JSON and CSV keep its code";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Code {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a known finding"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_round_trips() {
        for code in Code::ALL {
            assert_eq!(code.as_str().parse(), Ok(*code));
        }
    }
}
