//! Doubts as data: what was found wrong or questionable about a point or a run, stored, worded by
//! the report, never only printed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// How much a finding weighs (`notes` on trust: grade A = none, B = remarks, C = not valid).
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

/// What a point's findings make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing was found.
    A,
    /// Remarks only.
    B,
    /// Not valid.
    C,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
        })
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal),+ $(,)?) => {
        /// What kind of doubt a finding is. The text form is what logbook and JSON hold; it never
        /// changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant),+
        }

        impl Code {
            /// Every code there is, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The text form, as stored.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

codes! {
    /// Time-integral of in-flight I/Os and the sum of latencies differ. Values: `integral_ns`,
    /// `latency_sum_ns`, `difference` (share).
    LittlesLaw = "littles-law",
    /// Fewer I/Os were in flight than asked. Values: `asked`, `mean`.
    DepthNotReached = "depth-not-reached",
    /// The window is too near to the start of the load, or too short, for its queue: the latencies of
    /// what completed are shorter than Little's law asks for with what was in flight. Values:
    /// `mean_ns`, `settled_ns`, `share`.
    QueueUnsettled = "queue-unsettled",
    /// Issued is not completed + failed + abandoned, or a histogram's sum is not the number of
    /// completions. Values: `expected`, `counted`. Label: `law`.
    Conservation = "conservation",
    /// Bytes are not I/Os times size. Values: `expected_bytes`, `counted_bytes`.
    BytesLaw = "bytes-law",
    /// The kernel counted more I/O on the device than we did. Values: `kernel_bytes`,
    /// `our_bytes`, `share`.
    ForeignIo = "foreign-io",
    /// The kernel counted less I/O on the device than we did: a cache answered, or requests were
    /// merged. Values: `kernel_bytes`, `our_bytes`, `share`.
    KernelSawLess = "kernel-saw-less",
    /// The throughput is above what the link can carry. Values: `mib_per_s`, `link_mib_per_s`.
    AboveLinkLimit = "above-link-limit",
    /// The latency is below what any storage can do: memory answered. Values: `median_ns`.
    ImplausiblyFast = "implausibly-fast",
    /// Direct I/O was asked and is not in effect. Label: `why`.
    NotDirect = "not-direct",
    /// Buffered I/O as asked: the page cache answers, errors of writes may be hidden.
    Buffered = "buffered",
    /// Blocks were read that were never written, or read as holes. Values: `unwritten_share`.
    UnwrittenRead = "unwritten-read",
    /// The generator's ceiling is less than twice (invalid) or ten times (remark) the rate.
    /// Values: `ceiling_io_per_s`, `io_per_s`, `ratio`.
    GeneratorCeiling = "generator-ceiling",
    /// I/Os failed. Values: `failed`. Label: `errors` (direction, errno, count).
    IoErrors = "io-errors",
    /// Transfers came back shorter than asked and were completed by further requests. Values:
    /// `short`.
    ShortTransfers = "short-transfers",
    /// The device answered with no data inside its area, or vanished. Label: `evidence`.
    DeviceGone = "device-gone",
    /// I/Os never came back within the time allowed. Values: `abandoned`, `waited_ns`.
    Hung = "hung",
    /// The longest interval without a completion. Values: `longest_ns`, `over_100ms`, `over_1s`,
    /// `over_10s`.
    Stall = "stall",
    /// The offered load of an open loop could not be issued: backlog beyond the in-flight limit.
    /// Values: `backlog_max`, `limit`.
    Saturated = "saturated",
    /// Stopped before its time by the user.
    Interrupted = "interrupted",
    /// No 95 % interval could be given. Values: `samples`, `autocorrelation`.
    IntervalNotAvailable = "interval-not-available",
    /// The time allowed was over before the rate was known as well as asked. Values:
    /// `asked_share`, `reached_share` (absent without an interval).
    PrecisionNotReached = "precision-not-reached",
    /// The 99th percentile has fewer than ten samples beyond it. Values: `samples`.
    TooFewSamples = "too-few-samples",
    /// `io_uring` could not be used; another engine was. Label: `engine`, `why`.
    EngineFallback = "engine-fallback",
    /// A feature of the engine is missing here. Label: `feature`, `why`.
    EngineFeature = "engine-feature",
    /// CPU time was stolen by the hypervisor. Values: `share`.
    Steal = "steal",
    /// The worker used nearly all of its CPU: the generator may be the limit. Values: `share`.
    GeneratorCpu = "generator-cpu",
    /// The generator itself stood still: stopped, starved of CPU time, or suspended with its machine.
    /// The storage is not blamed for those pauses. Values: `longest_ns`, `times` (over 100 ms),
    /// `waited_share` (ready, and without a CPU).
    GeneratorStopped = "generator-stopped",
    /// The measuring clock came apart from the kernel's raw clock, or the machine was suspended.
    /// Values: `drift`. Label: `why`.
    ClockDrift = "clock-drift",
    /// The measured area is smaller than the standard area. Values: `bytes`, `standard_bytes`.
    SmallArea = "small-area",
    /// Part of the payload compresses away, as the profile asks: a store that compresses has less to
    /// do. Values: `ratio` (size over compressed size).
    CompressiblePayload = "compressible-payload",
    /// The state of the medium (fresh, preconditioned, steady) is not known.
    MediumStateUnknown = "medium-state-unknown",
    /// Preconditioning, or a point, went on in rounds until steady, and ended without that, or with a
    /// rate that goes up and down. Values: `rounds`, `times_written` (the area, where it was written), `io_per_s`, `range_share`,
    /// `slope_share`, `period_ns` (cyclic). Labels: `target`, `course` (`cyclic`, `drifting`,
    /// `never-steady`, `too-short`), `rule`.
    NotSteady = "not-steady",
    /// Identity of the target changed while the run went on. Label: `was`, `is`.
    DeviceChanged = "device-changed",
    /// Part of the series could not be kept. Values: `lost_intervals`.
    SeriesTruncated = "series-truncated",
    /// The target failed as a whole. Label: `why`.
    TargetFailed = "target-failed",
    /// The point was measured again after an interruption of the run.
    Resumed = "resumed",
    /// The run was measured by another program and imported. Labels: `program`, `version`, `file`,
    /// `remarks`.
    Imported = "imported",
    /// An option of another program's job file was not done literally. Labels: `option` (with its
    /// place), `what` is done instead.
    NotLiteral = "not-literal",
    /// The rate is clearly below what an emulated medium of its kind does. Values: `share`,
    /// `io_per_s`, `expected_io_per_s`. Label: `medium`.
    BelowExpected = "below-expected",
    /// A witness could not be read. Label: `witness`, `why`.
    WitnessMissing = "witness-missing",
    /// Heat slowed something down, or was near to: a drive (its counters, or its temperature against
    /// its warning limit) or the CPUs. Values: `transitions`, `celsius`, `warning_celsius`. Label:
    /// `device`.
    Throttled = "throttled",
    /// A counter of the drive's health rose while the point ran. Values: `rise`. Labels: `device`,
    /// `counter`.
    HealthChanged = "health-changed",
    /// Tasks of the machine, the generator's own among them, waited for a CPU or for memory. Values:
    /// `cpu_share`, `memory_share`.
    Pressure = "pressure",
    /// The CPUs' frequency changed. Values: `share`.
    FrequencyChanged = "frequency-changed",
    /// Memory was swapped. Values: `pages`.
    Swapping = "swapping",
    /// An array below was rebuilt, scrubbed or checked. Label: `device`.
    BackgroundWork = "background-work",
    /// A drive is on another NUMA node than CPUs of the workers that load it. Labels: `device`, `node`
    /// (the drive's), `cpus` (those on another).
    FarDrive = "far-drive",
    /// A record of the logbook is not what was written: it is left out, or is not to be relied on.
    /// Labels: `record`, `parts`.
    RecordDamaged = "record-damaged",
    /// A finding that a newer version stored. Label: `code`, as stored.
    Unknown = "unknown",
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
            .ok_or_else(|| format!("`{text}` is no code of a finding that this version knows"))
    }
}

/// A recorded doubt: what kind, how heavy, and the figures that it was drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What kind of doubt.
    pub code: Code,
    /// How much it weighs.
    pub severity: Severity,
    /// Figures by name; each name carries its unit (`_ns`, `_bytes`), a bare share is 0..1.
    pub values: BTreeMap<String, f64>,
    /// Texts by name, as found (never translated).
    pub labels: BTreeMap<String, String>,
}

impl Finding {
    /// The finding that a newer version stored under a code that this one does not know.
    pub fn unknown(code: &str, severity: Severity) -> Self {
        Self { severity, ..Self::remark(Code::Unknown) }.label("code", code)
    }
    /// The code's text as stored, also where this version does not know it.
    pub fn code_text(&self) -> &str {
        match (self.code, self.labels.get("code")) {
            (Code::Unknown, Some(stored)) => stored,
            (code, _) => code.as_str(),
        }
    }
    /// A remark without figures yet.
    pub fn remark(code: Code) -> Self {
        Self { code, severity: Severity::Remark, values: BTreeMap::new(), labels: BTreeMap::new() }
    }
    /// A finding that makes the point invalid, without figures yet.
    pub fn invalid(code: Code) -> Self {
        Self { severity: Severity::Invalid, ..Self::remark(code) }
    }
    /// The same finding with one more figure.
    #[must_use]
    pub fn value(mut self, name: &str, value: f64) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }
    /// The same finding with one more text.
    #[must_use]
    pub fn label(mut self, name: &str, text: impl Into<String>) -> Self {
        self.labels.insert(name.to_owned(), text.into());
        self
    }
}

impl Grade {
    /// The grade that these findings leave.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        findings.into_iter().fold(Self::A, |grade, finding| {
            grade.max(match finding.severity {
                Severity::Remark => Self::B,
                Severity::Invalid => Self::C,
            })
        })
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

    #[test]
    fn the_worst_finding_sets_the_grade() {
        let remark = Finding::remark(Code::Buffered);
        let invalid = Finding::invalid(Code::IoErrors);
        assert_eq!(Grade::of([]), Grade::A);
        assert_eq!(Grade::of([&remark]), Grade::B);
        assert_eq!(Grade::of([&invalid, &remark]), Grade::C);
    }
}
