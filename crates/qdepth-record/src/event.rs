//! Events of a run for observers: one line of JSON each, in `--events` and in the file that marks a
//! run in progress. Described in `docs/events.md`.

use std::collections::BTreeMap;

use qdepth_measure::{Finding, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::phase_step::PhaseStep;

/// Version of the format, in `schema_version` of [`RunStarted`]. It follows the rule of a run's
/// document: new events and fields do not raise it.
pub const EVENTS_VERSION: u32 = 1;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The next variant of a comparison is prepared and measured, as a run of its own.
    VariantStarted(VariantStarted),
    /// A phase before the points has started.
    PhaseStarted(PhaseStarted),
    /// A second of the phase has passed.
    PhaseProgress(PhaseProgress),
    /// The phase has ended, successfully or not.
    PhaseEnded(PhaseEnded),
    /// A message for people about something that no other event reports.
    Message(Message),
    /// The targets are ready, and the run is in the logbook.
    RunStarted(RunStarted),
    /// A point begins with its warm-up. The points of a group begin at the same time.
    PointStarted(PointStarted),
    /// A second of a point's measured window has passed, or the rest of the window or of a segment.
    Sample(Interval),
    /// A second has passed on a machine that measures.
    Machine(Machine),
    /// A point is in the logbook.
    PointEnded(PointEnded),
    /// The points of a group are measured: in one go, or in one of their segments or rounds.
    SegmentStarted(SegmentStarted),
    /// A finding was made.
    FindingRaised(FindingRaised),
    /// The run has ended. Only messages about it may follow, for example about undone settings.
    RunEnded(RunEnded),
}

/// A variant of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct VariantStarted {
    /// Name of the variant.
    pub name: String,
    /// The target as given on the command line.
    pub target: String,
}

/// Phase before the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The machine is prepared.
    Preparation,
    /// A measurement file is filled.
    Provisioning,
    /// Targets are written so that their state of wear is known.
    Preconditioning,
}

/// A phase as it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PhaseStarted {
    /// `preparation` (of the machine), `provisioning` (a measurement file is filled) or
    /// `preconditioning` (of the targets).
    pub phase: Phase,
    /// Code of the step; its meaning never changes.
    pub step: String,
    /// Figures of the step by name; the name includes the unit.
    #[serde(default)]
    pub values: BTreeMap<String, f64>,
    /// Texts of the step by name: names and codes.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Total bytes to write; null if not known in advance.
    pub bytes: Option<u64>,
}

/// Progress of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PhaseProgress {
    /// Bytes written since the phase started.
    pub bytes_done: u64,
}

/// A phase as it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PhaseEnded {
    /// Bytes written since the phase started.
    pub bytes_done: u64,
}

/// A line for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Message {
    /// The line, in English.
    pub text: String,
    /// True if the user must see it: something was left behind, or is missing.
    pub is_warning: bool,
}

/// Start or resumption of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RunStarted {
    /// Version of this format, currently 1.
    pub schema_version: u32,
    /// UUID of the run.
    pub run: String,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Name of the plan.
    pub plan: String,
    /// SHA-256 of the plan text, hexadecimal.
    pub plan_hash: String,
    /// Names of the targets, by index.
    pub targets: Vec<String>,
    /// True if time was virtual: nothing was measured on storage.
    pub emulated: bool,
    /// Number of points in the plan.
    pub points: u32,
    /// Number of points that an earlier part of the run has already measured.
    pub points_done: u32,
    /// Planned time of all points, warm-ups included, ns.
    pub planned_ns: u64,
    /// True if points, or the steps of the plan, may end before their planned time.
    pub may_end_early: bool,
    /// Maximum measured time of the search for the highest rate, which follows these points and
    /// adds its own, ns; null without a search.
    pub search_ns: Option<u64>,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// A point as it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PointStarted {
    /// Index in the plan, from 0.
    pub point: u32,
    /// Group; points with the same number ran at the same time.
    pub group: u32,
    /// Index of the target.
    pub target: u32,
    /// Name of the load profile.
    pub profile: String,
    /// Title of the load profile.
    pub profile_title: String,
    /// Name of the step; empty if the plan has no steps.
    pub step: String,
    /// Variant of the comparison, unless the target identifies it; null without a comparison. `of`
    /// is the kind of comparison (`drives`, `targets`, `processes`, `areas`), `name` the variant's
    /// name, `part` the number of the drive or process (from 1), `parts` their count, and
    /// `area_bytes` the measurement area.
    #[serde(default)]
    pub variant: Option<PointVariant>,
    /// Queue depth of each stream.
    pub queue_depth: u32,
    /// Number of streams, each on its own area.
    pub streams: u32,
    /// Offered load of an open loop over all streams, I/Os per second; null in a closed loop.
    pub offered_io_per_s: Option<f64>,
    /// Warm-up, ns.
    pub warm_up_ns: u64,
    /// Planned length of the measured window, ns; the maximum if another rule ends it.
    pub duration_ns: u64,
    /// Planned time of the preceding points, ns.
    pub planned_before_ns: u64,
}

/// A variant of a comparison, which distinguishes a point from its like in the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PointVariant {
    /// Subject of the comparison: `drives`, `targets`, `processes`, `areas` or `saturation`.
    pub of: String,
    /// Name given by the plan or the user; for an area, the area as requested.
    pub name: String,
    /// Number of the variant's drive or process, from 1.
    pub part: u32,
    /// Number of parts.
    pub parts: u32,
    /// Measurement area, bytes.
    pub area_bytes: u64,
}

/// A piece of the measured window of a point, a second as a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Interval {
    /// The point.
    pub point: u32,
    /// End of the sample, ns from the start of the window. In a point of interleaved segments, the
    /// first sample may later count as warm-up if it was too short for its queue.
    pub end_ns: u64,
    /// Length of the sample, ns.
    pub length_ns: u64,
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Completed trims.
    #[serde(default)]
    pub trims: u64,
    /// Bytes of the trims.
    #[serde(default)]
    pub trimmed_bytes: u64,
    /// Mean latency from submission to completion, ns; null without I/Os.
    pub latency_mean_ns: Option<f64>,
    /// Mean response time, ns; in an open loop it counts from the scheduled time. Null without
    /// I/Os.
    pub response_time_mean_ns: Option<f64>,
    /// 95 % confidence interval of the IOPS since the start of the window, low and high; null while
    /// it cannot be determined.
    pub io_per_s_confidence_interval: Option<[f64; 2]>,
}

/// The points of a group as they are measured, in one go or for one of their segments or rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SegmentStarted {
    /// The group.
    pub group: u32,
    /// Warm-up, ns.
    pub warm_up_ns: u64,
    /// Planned length of the measured window, ns; the maximum if another rule ends it.
    pub window_ns: u64,
    /// Planned time of all preceding points, ns.
    pub planned_before_ns: u64,
}

/// A second of a machine that measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// IOPS of its ranks within measured windows.
    pub io_per_s: f64,
    /// Throughput, bytes per second.
    pub bytes_per_s: f64,
    /// Monitored values by name; the name includes the unit. Names are those of a point's
    /// `monitors`, for example `cpu busy_share`, `nvme0n1 celsius`.
    pub values: BTreeMap<String, f64>,
}

/// Results of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PointEnded {
    /// The point.
    pub point: u32,
    /// IOPS: completed reads, writes and trims per second.
    pub io_per_s: f64,
    /// 95 % confidence interval of `io_per_s`, low and high; null if it cannot be determined.
    pub confidence_interval: Option<[f64; 2]>,
    /// Throughput, MiB/s (2^20 bytes).
    pub mib_per_s: f64,
    /// Mean latency from submission to completion, ns; null without I/Os.
    pub latency_mean_ns: Option<f64>,
    /// Mean response time, ns; null without I/Os.
    pub response_time_mean_ns: Option<f64>,
    /// 99th percentile of the response time, ns; null if unknown.
    pub response_time_p99_ns: Option<u64>,
    /// `A` (valid), `B` (valid with warnings) or `C` (invalid).
    pub grade: String,
}

/// A doubt about a point or about the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FindingRaised {
    /// Affected point; null for the whole run.
    pub point: Option<u32>,
    /// Code of the finding; it never changes its meaning.
    pub code: String,
    /// `remark` or `invalid`.
    pub severity: String,
    /// Figures by name, the unit in the name; null for a figure that is not finite.
    pub values: BTreeMap<String, Option<f64>>,
    /// Texts by name, never translated.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RunEnded {
    /// `complete`, `interrupted` or `failed`.
    pub state: String,
    /// Number of points measured completely.
    pub points_done: u32,
}

impl PhaseStarted {
    /// A phase that begins with this step; `bytes` is the total to write, if known.
    pub fn new(phase: Phase, step: PhaseStep, bytes: Option<u64>) -> Self {
        let PhaseStep { code, labels, values } = step;
        Self { phase, step: code, values, labels, bytes }
    }
}

impl From<&FindingRaised> for Finding {
    /// Drops the figures that are not finite.
    fn from(raised: &FindingRaised) -> Self {
        let remark = raised.severity == Severity::Remark.as_str();
        let severity = if remark { Severity::Remark } else { Severity::Invalid };
        let mut finding = raised.code.parse().map_or_else(
            |_| Self::unknown(&raised.code, severity),
            |code| Self::new(code, severity),
        );
        let known =
            raised.values.iter().filter_map(|(name, value)| Some((name.clone(), (*value)?)));
        finding.values.extend(known);
        finding.labels.extend(raised.labels.clone());
        finding
    }
}

impl Interval {
    /// Completed reads, writes and trims per second.
    pub fn io_per_s(&self) -> [f64; 3] {
        self.per_second([self.reads, self.writes, self.trims])
    }

    /// Bytes of reads, writes and trims per second.
    pub fn bytes_per_s(&self) -> [f64; 3] {
        self.per_second([self.read_bytes, self.written_bytes, self.trimmed_bytes])
    }

    fn per_second(&self, counts: [u64; 3]) -> [f64; 3] {
        let seconds = self.length_ns.max(1) as f64 / 1e9;
        counts.map(|count| count as f64 / seconds)
    }
}

impl RunEvent {
    /// The event as one line of JSON, without newline.
    pub fn line(&self) -> String {
        // Structs of numbers and strings always serialise; a number that is not finite becomes
        // null.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_line_starts_with_its_name() {
        let interval = Interval {
            point: 2,
            end_ns: 3_000_000_000,
            length_ns: 500_000_000,
            reads: 3,
            writes: 1,
            read_bytes: 12_288,
            written_bytes: 4096,
            trims: 0,
            trimmed_bytes: 0,
            latency_mean_ns: Some(250.5),
            response_time_mean_ns: Some(1000.0),
            io_per_s_confidence_interval: Some([7.5, 8.5]),
        };
        let whole = |rates: [f64; 3]| rates.map(|rate| rate as u64);
        assert_eq!(whole(interval.io_per_s()), [6, 2, 0]);
        assert_eq!(whole(interval.bytes_per_s()), [24_576, 8192, 0]);
        let finding = FindingRaised {
            point: None,
            code: "resumed".to_owned(),
            severity: "remark".to_owned(),
            values: BTreeMap::from([("share".to_owned(), None)]),
            labels: BTreeMap::from([("device".to_owned(), "sda".to_owned())]),
        };
        let ended = RunEnded { state: "complete".to_owned(), points_done: 3 };
        for (event, line) in [
            (
                RunEvent::Sample(interval),
                r#"{"event":"sample","point":2,"end_ns":3000000000,"length_ns":500000000,"reads":3,"writes":1,"read_bytes":12288,"written_bytes":4096,"trims":0,"trimmed_bytes":0,"latency_mean_ns":250.5,"response_time_mean_ns":1000.0,"io_per_s_confidence_interval":[7.5,8.5]}"#,
            ),
            (
                RunEvent::FindingRaised(finding),
                r#"{"event":"finding-raised","point":null,"code":"resumed","severity":"remark","values":{"share":null},"labels":{"device":"sda"}}"#,
            ),
            (
                RunEvent::RunEnded(ended),
                r#"{"event":"run-ended","state":"complete","points_done":3}"#,
            ),
        ] {
            assert_eq!(event.line(), line);
            assert_eq!(serde_json::from_str::<RunEvent>(line).ok(), Some(event));
        }
    }
}
