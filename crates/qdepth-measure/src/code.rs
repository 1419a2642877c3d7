//! The kinds of doubt that there are: one table of code, weight, law, figures and texts. The words
//! of reports and the page of documentation are held against it by tests.

use std::fmt;
use std::str::FromStr;

/// How much a finding weighs (grade A: none, B: remarks, C: not valid).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The number stands, with a remark.
    Remark,
    /// The number must not be used.
    Invalid,
}

impl Severity {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Remark => "remark",
            Self::Invalid => "invalid",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A point.
    Point,
    /// The run as a whole.
    Run,
    /// One or the other.
    Both,
}

/// What is fixed of a kind of doubt.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    /// How much it may weigh.
    pub severities: &'static [Severity],
    /// What it is about.
    pub subject: Subject,
    /// Names of the figures that it may have.
    pub values: &'static [&'static str],
    /// Names of the texts that it may have.
    pub labels: &'static [&'static str],
    /// The law that does not hold, with its limits (docs/method/thresholds.md says why those).
    pub law: &'static str,
}

const REMARK: &[Severity] = &[Severity::Remark];
const INVALID: &[Severity] = &[Severity::Invalid];
const EITHER: &[Severity] = &[Severity::Remark, Severity::Invalid];

macro_rules! codes {
    ($($variant:ident = $text:literal, $severities:ident, $subject:ident,
        [$($value:literal),*], [$($label:literal),*], $law:literal;)+) => {
        /// What kind of doubt a finding is. The text form is what logbook and JSON hold; it never
        /// changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $law] $variant),+
        }

        impl Code {
            /// Every code there is, in the order of declaration.
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

// The code as stored, how much it may weigh, what it is about, its figures, its texts, and the law.
codes! {
    LittlesLaw = "littles-law", INVALID, Point, ["integral_ns", "latency_sum_ns", "difference"], [],
        "requests in flight and the sum of latencies disagree by over 1 %";
    DepthNotReached = "depth-not-reached", INVALID, Point, ["asked", "mean"], [],
        "under 99 % of the requests that were asked were in flight";
    QueueUnsettled = "queue-unsettled", EITHER, Point, ["mean_ns", "settled_ns", "share"], [],
        "latencies of a closed loop are too short for what was in flight: the queue was still \
         filling, or the window is short beside a latency (B above 5 %, C above 20 % beyond \
         chance)";
    Conservation = "conservation", INVALID, Point, ["expected", "counted"], ["law"],
        "requests and completions, or histogram and completions, do not balance";
    BytesLaw = "bytes-law", INVALID, Point, ["expected_bytes", "counted_bytes"], [],
        "bytes are not I/Os times size";
    ForeignIo = "foreign-io", EITHER, Point, ["kernel_bytes", "our_bytes", "share"], [],
        "the kernel counted more I/O on the device than we issued (B above 0.5 %, C above 2 %)";
    KernelSawLess = "kernel-saw-less", EITHER, Point, ["kernel_bytes", "our_bytes", "share"], [],
        "the kernel counted less: a cache answered, or requests were merged (B above 0.5 %, C \
         above 2 %)";
    AboveLinkLimit = "above-link-limit", INVALID, Point, ["mib_per_s", "link_mib_per_s"], [],
        "faster than the link can carry";
    ImplausiblyFast = "implausibly-fast", REMARK, Point, ["median_ns"], [],
        "half of the reads of 4 KiB or more took under 2 µs: memory answered";
    NotDirect = "not-direct", INVALID, Point, [], ["why"],
        "direct I/O was asked for and is not in effect";
    Buffered = "buffered", REMARK, Point, [], [],
        "buffered I/O, as asked: the page cache takes part, and errors of writes may be hidden";
    CachedBelow = "cached-below", INVALID, Point, [], ["why", "device"],
        "the storage is memory, or lies on a loop device without direct I/O";
    ControlGroupLimit = "control-group-limit", INVALID, Point,
        ["limit_per_s", "reached_per_s"],
        ["direction", "unit", "file"],
        "the rate came up to 80 % of a limit that a control group of qdepth sets to the device";
    UnwrittenRead = "unwritten-read", INVALID, Point, ["unwritten_share"], [],
        "part of the area was never written, in the file or in the one below a loop device: reads \
         there cost nothing, and the first write there is none of a used medium";
    GeneratorCeiling = "generator-ceiling", EITHER, Point,
        ["ceiling_io_per_s", "io_per_s", "ratio"],
        [],
        "the generator's own limit is under ten times (B) or twice (C) the rate";
    IoErrors = "io-errors", INVALID, Point, ["failed"], ["errors"],
        "requests failed; counts by direction and error";
    ShortTransfers = "short-transfers", REMARK, Point, ["short"], [],
        "transfers came back short and were completed by further requests";
    DeviceGone = "device-gone", INVALID, Point,
        ["size_bytes", "offset_bytes"],
        ["evidence", "direction", "device"],
        "a transfer of nothing inside the area: the device shrank or vanished";
    Hung = "hung", INVALID, Point, ["abandoned", "waited_ns"], [],
        "requests never came back in the time allowed";
    Stall = "stall", REMARK, Point, ["longest_ns", "over_100ms", "over_1s", "over_10s"], [],
        "no completion for over 100 ms";
    Saturated = "saturated", EITHER, Point, ["backlog_max", "limit"], [],
        "an open loop's load could not be issued (C); on a staircase that is what is looked for \
         (B)";
    Interrupted = "interrupted", INVALID, Point, [], [],
        "stopped by the user before its time";
    RateNotKept = "rate-not-kept", INVALID, Point,
        ["least_per_s", "reached_per_s"],
        ["direction", "unit"],
        "the rate was below what the load was to keep, which ended it";
    IntervalNotAvailable = "interval-not-available", REMARK, Point,
        ["samples", "autocorrelation"],
        [],
        "no honest 95 % interval: too short, or too correlated";
    PrecisionNotReached = "precision-not-reached", REMARK, Point,
        ["asked_share", "reached_share"],
        [],
        "the time allowed was over before the rate was known to what `--until` asked";
    TooFewSamples = "too-few-samples", REMARK, Point, ["samples"], [],
        "under 1 000 I/Os: not even the 99th percentile has ten samples beyond it";
    EngineFallback = "engine-fallback", REMARK, Point, [],
        ["engine", "refused", "operation", "why"],
        "`io_uring` could not be used; another engine was";
    EngineFeature = "engine-feature", REMARK, Point, [], ["feature", "why"],
        "a feature of the engine is missing here";
    Steal = "steal", EITHER, Point, ["share"], [],
        "the hypervisor took CPU time away (B above 0.5 %, C above 2 %)";
    GeneratorCpu = "generator-cpu", REMARK, Point, ["share"], [],
        "the worker used over 80 % of its CPU: the generator may be the limit";
    GeneratorStopped = "generator-stopped", INVALID, Point,
        ["longest_ns", "times", "waited_share"],
        [],
        "the generator stood still for over 100 ms (stopped, starved), a worker waited for a CPU \
         over 20 % of the time, or the machine was suspended; those pauses are no `stall`";
    ClockDrift = "clock-drift", EITHER, Point, ["drift"], ["why"],
        "`CLOCK_MONOTONIC` and `CLOCK_MONOTONIC_RAW` came apart over the point by more than 0.05 \
         % (B) or 1 % (C), stamps by more than 0.1 % from the kernel's clock (C), or the machine \
         was suspended (C)";
    SmallArea = "small-area", REMARK, Run, ["bytes", "standard_bytes"], [],
        "the area is smaller than the shipped plan's own; in any other plan, than the standard 32 \
         GiB";
    CompressiblePayload = "compressible-payload", REMARK, Point, ["ratio"], [],
        "part of what is written compresses away or repeats, as the profile asks";
    MediumStateUnknown = "medium-state-unknown", REMARK, Run, [], [],
        "fresh, preconditioned or steady: not known. On every run that did not precondition its \
         targets itself";
    NotSteady = "not-steady", REMARK, Both,
        ["rounds", "times_written", "io_per_s", "range_share", "slope_share", "period_ns"],
        ["target", "state", "rule"],
        "preconditioning, or a point with `--until steady`, ended without that: cyclic (with its \
         period), drifting, never steady, or too short ([steady.md](../method/steady.md))";
    DeviceChanged = "device-changed", INVALID, Both, [], ["was", "is"],
        "the target's identity changed during a point (of the point) or between points (of the \
         run, which then ends)";
    SeriesTruncated = "series-truncated", REMARK, Point, ["lost_intervals"], [],
        "part of the series found no room; totals are whole";
    TargetFailed = "target-failed", INVALID, Point, [],
        ["why", "call", "error", "lost_rank", "message"],
        "the engine failed as a whole";
    Resumed = "resumed", REMARK, Point, [], [],
        "measured after an interruption of the run";
    Imported = "imported", REMARK, Both, [], ["program", "version", "file", "remarks"],
        "measured by another program, and read from its results";
    NotLiteral = "not-literal", REMARK, Run, ["bytes", "transfers"], ["option", "what", "name"],
        "an option of another program's job that was done in another way, which the finding says";
    BelowExpected = "below-expected", REMARK, Point,
        ["share", "io_per_s", "expected_io_per_s"],
        ["medium"],
        "the rate is below what the emulated medium of `--expect` does: by more than its own \
         error, or under three quarters where that is not known";
    MonitorMissing = "monitor-missing", REMARK, Point, [], ["monitor", "why"],
        "a monitor (CPU times, counters of the device) could not be read";
    Throttled = "throttled", EITHER, Point,
        ["transitions", "celsius", "warning_celsius"],
        ["device"],
        "heat: a drive within 5 K of its warning limit (B); its thermal counters, or the CPUs', \
         rose (C)";
    HealthChanged = "health-changed", EITHER, Point, ["rise"], ["device", "counter"],
        "a counter of the drive's health rose: entries of its error log (B), media errors, \
         warnings (C)";
    Pressure = "pressure", REMARK, Point, ["cpu_share", "memory_share"], [],
        "tasks of the machine, the generator's own among them, waited for a CPU over 10 % of the \
         time, or for memory over 2 %";
    FrequencyChanged = "frequency-changed", REMARK, Point, ["share"], [],
        "the CPUs' mean frequency changed by over 5 %";
    Swapping = "swapping", REMARK, Point, ["pages"], [],
        "memory was swapped";
    BackgroundWork = "background-work", INVALID, Point, [], ["device"],
        "an array below was rebuilt, scrubbed or checked";
    FarDrive = "far-drive", REMARK, Run, [], ["device", "node", "cpus"],
        "a drive is on another NUMA node than CPUs of its workers: all that they are kept on \
         (`--cpus`, or near the drive), or all that they may run on";
    RecordDamaged = "record-damaged", INVALID, Run, ["point", "row"], ["record", "parts"],
        "a record of the logbook is not what was written: a damaged point is left out, a damaged \
         record of the run is not to be relied on";
    Unknown = "unknown", EITHER, Both, [], ["code"],
        "a finding of a newer version; machine output keeps its own code";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Code {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        // As it was stored before logbooks of schema 14.
        let text = if text == "witness-missing" { Self::MonitorMissing.as_str() } else { text };
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a finding that this version knows"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back() {
        for code in Code::ALL {
            assert_eq!(code.as_str().parse(), Ok(*code));
        }
    }
}
