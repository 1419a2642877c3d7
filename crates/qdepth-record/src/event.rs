//! Events of a run for observers: one line of JSON each, in `--events` and in the file that marks a
//! run in progress. Described in `docs/events.md`.

use std::collections::BTreeMap;

use qdepth_measure::{Finding, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::phase_step::PhaseStep;

/// Version of the form, in `schema_version` of [`RunStarted`]. The rule is that of a run's
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
    /// A second of it has passed.
    PhaseProgress(PhaseProgress),
    /// It has ended, well or not.
    PhaseEnded(PhaseEnded),
    /// A line for people, of what no other event tells.
    Message(Message),
    /// The targets are ready, and the run is in the logbook.
    RunStarted(RunStarted),
    /// A point begins, with its warm-up; those of a group begin at the same time.
    PointStarted(PointStarted),
    /// A second of a point's measured window has passed, or what was left of it or of a visit to
    /// it.
    Interval(Interval),
    /// A second of a machine that measures has passed.
    Machine(Machine),
    /// A point is in the logbook.
    PointEnded(PointEnded),
    /// The points of a group are measured, in one go or for one of their visits or rounds.
    VisitStarted(VisitStarted),
    /// Something is doubtful.
    FindingRaised(FindingRaised),
    /// The run has ended; of it only messages follow, as of what is taken back.
    RunEnded(RunEnded),
}

/// A variant of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct VariantStarted {
    /// Its name.
    pub name: String,
    /// The target as it is written.
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
    /// Step: a code that never changes its meaning.
    pub step: String,
    /// Figures of the step by name, the unit in the name.
    #[serde(default)]
    pub values: BTreeMap<String, f64>,
    /// Texts of the step by name: names, and codes.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Bytes that are written in all; null where that is not known before.
    pub bytes: Option<u64>,
}

/// Progress of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PhaseProgress {
    /// Bytes written since it began.
    pub bytes_done: u64,
}

/// A phase as it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PhaseEnded {
    /// Bytes written since it began.
    pub bytes_done: u64,
}

/// A line for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Message {
    /// The line, in English.
    pub text: String,
    /// True if it must reach a person: something is left behind, or missing.
    pub is_warning: bool,
}

/// Start or resumption of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RunStarted {
    /// Version of this form, now 1.
    pub schema_version: u32,
    /// UUID of the run.
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Name of the plan.
    pub plan: String,
    /// SHA-256 of the plan text, lower-case hexadecimal.
    pub plan_hash: String,
    /// Names of the targets, by index.
    pub targets: Vec<String>,
    /// True if time is invented: then nothing of the run is measured on storage.
    pub emulated: bool,
    /// Points of the plan.
    pub points: u32,
    /// Points that an earlier part of the run has measured already.
    pub points_done: u32,
    /// Planned time of all points, warm-ups included, ns.
    pub planned_ns: u64,
    /// True if points may end before their time is over.
    pub may_end_early: bool,
    /// Seed of every draw.
    pub seed: u64,
}

/// A point as it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PointStarted {
    /// Its place in the plan, from 0.
    pub point: u32,
    /// Points with the same number run at the same time.
    pub group: u32,
    /// Index of its target.
    pub target: u32,
    /// Name of the load profile.
    pub profile: String,
    /// Title of the load profile for people.
    pub profile_title: String,
    /// Name of the step; empty where the plan has none.
    pub step: String,
    /// The column of the comparison that it belongs to, where its target does not say it; null
    /// where nothing is compared.
    #[serde(default)]
    pub column: Option<PointColumn>,
    /// Outstanding I/Os of each stream.
    pub outstanding: u32,
    /// Number of streams.
    pub streams: u32,
    /// Offered load of an open loop over all streams, I/Os per second; null in a closed loop.
    pub offered_io_per_s: Option<f64>,
    /// Unrecorded lead-in, ns.
    pub warm_up_ns: u64,
    /// Planned length of the measured window, ns; the longest that it may be where another rule
    /// ends it.
    pub duration_ns: u64,
    /// Planned time of the points before it, ns.
    pub planned_before_ns: u64,
}

/// A column of a comparison, as a point of it is told from its like in the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PointColumn {
    /// Subject of the comparison: `drives`, `targets`, `processes` or `areas`.
    pub of: String,
    /// Name that the plan or its user gave; of an area as it was asked for.
    pub name: String,
    /// Number of the column's drive or process, from 1.
    pub part: u32,
    /// Number of parts.
    pub parts: u32,
    /// Its measurement area, bytes.
    pub area_bytes: u64,
}

/// A piece of the measured window of a point, a second as a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Interval {
    /// The point.
    pub point: u32,
    /// Its end, ns from the start of the window.
    pub end_ns: u64,
    /// Its length, ns.
    pub length_ns: u64,
    /// Reads completed in full.
    pub reads: u64,
    /// Writes completed in full.
    pub writes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Trims completed in full.
    #[serde(default)]
    pub trims: u64,
    /// Bytes of the trims.
    #[serde(default)]
    pub trimmed_bytes: u64,
    /// Mean of completed − issued, ns; null without I/Os.
    pub service_time_mean_ns: Option<f64>,
    /// Mean response time, ns: in an open loop it counts from when the request was due; null
    /// without I/Os.
    pub response_time_mean_ns: Option<f64>,
    /// 95 % interval of the rate since the window began, I/Os per second, low and high; null where
    /// none can be given honestly yet.
    pub io_per_s_interval: Option<[f64; 2]>,
}

/// The points of a group as they are measured, in one go or for one of their visits or rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct VisitStarted {
    /// The group.
    pub group: u32,
    /// Unrecorded lead-in, ns.
    pub warm_up_ns: u64,
    /// Planned length of the measured window, ns; the longest that it may be where another rule
    /// ends it.
    pub window_ns: u64,
    /// Planned time of what was measured before, ns.
    pub planned_before_ns: u64,
}

/// A second of a machine that measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Machine {
    /// Its name.
    pub host: String,
    /// I/Os that its ranks completed within measured windows, a second.
    pub io_per_s: f64,
    /// Bytes that they moved, a second.
    pub bytes_per_s: f64,
    /// Values of the monitors by name, with the unit in the name: `cpu busy_share`, `nvme0n1
    /// celsius`.
    pub values: BTreeMap<String, f64>,
}

/// Results of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PointEnded {
    /// The point.
    pub point: u32,
    /// Transaction rate, I/Os per second.
    pub io_per_s: f64,
    /// 95 % interval of `io_per_s`, low and high; null where none can be given honestly.
    pub interval: Option<[f64; 2]>,
    /// Throughput, MiB/s (2^20 bytes).
    pub mib_per_s: f64,
    /// Mean service time (completed − issued), ns; null without I/Os.
    pub service_time_mean_ns: Option<f64>,
    /// Mean response time, ns; null without I/Os.
    pub response_time_mean_ns: Option<f64>,
    /// 99th percentile of the response time, ns; null where it is not known.
    pub response_time_p99_ns: Option<u64>,
    /// `A` (no findings), `B` (remarks) or `C` (not valid).
    pub grade: String,
}

/// A doubt about a point or about the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FindingRaised {
    /// The point that it is about; null for the run as a whole.
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
    /// `sealed`, `interrupted` or `failed`.
    pub state: String,
    /// Points that are measured in full.
    pub points_done: u32,
}

impl PhaseStarted {
    /// A phase that begins with this step; `bytes` are written in all, where that is known.
    pub fn new(phase: Phase, step: PhaseStep, bytes: Option<u64>) -> Self {
        let PhaseStep { code, labels, values } = step;
        Self { phase, step: code, values, labels, bytes }
    }
}

impl From<&FindingRaised> for Finding {
    /// Without the figures that are not finite.
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
    /// Completed reads, writes and trims a second.
    pub fn io_per_s(&self) -> [f64; 3] {
        self.per_second([self.reads, self.writes, self.trims])
    }

    /// Bytes of reads, writes and trims a second.
    pub fn bytes_per_s(&self) -> [f64; 3] {
        self.per_second([self.read_bytes, self.written_bytes, self.trimmed_bytes])
    }

    fn per_second(&self, counts: [u64; 3]) -> [f64; 3] {
        let seconds = self.length_ns.max(1) as f64 / 1e9;
        counts.map(|count| count as f64 / seconds)
    }
}

impl RunEvent {
    /// Line of JSON without its newline.
    pub fn line(&self) -> String {
        // Structs of numbers and texts cannot fail to become JSON; what is not finite is null.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The JSON Schema of a line.
pub fn events_json_schema() -> String {
    crate::document::pretty(&schemars::schema_for!(RunEvent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_event_and_has_the_fields_in_their_order() {
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
            service_time_mean_ns: Some(250.5),
            response_time_mean_ns: Some(1000.0),
            io_per_s_interval: Some([7.5, 8.5]),
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
        let ended = RunEnded { state: "sealed".to_owned(), points_done: 3 };
        for (event, line) in [
            (
                RunEvent::Interval(interval),
                r#"{"event":"interval","point":2,"end_ns":3000000000,"length_ns":500000000,"reads":3,"writes":1,"read_bytes":12288,"written_bytes":4096,"trims":0,"trimmed_bytes":0,"service_time_mean_ns":250.5,"response_time_mean_ns":1000.0,"io_per_s_interval":[7.5,8.5]}"#,
            ),
            (
                RunEvent::FindingRaised(finding),
                r#"{"event":"finding-raised","point":null,"code":"resumed","severity":"remark","values":{"share":null},"labels":{"device":"sda"}}"#,
            ),
            (
                RunEvent::RunEnded(ended),
                r#"{"event":"run-ended","state":"sealed","points_done":3}"#,
            ),
        ] {
            assert_eq!(event.line(), line);
            assert_eq!(serde_json::from_str::<RunEvent>(line).ok(), Some(event));
        }
    }
}
