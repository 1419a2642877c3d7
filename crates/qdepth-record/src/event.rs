//! What happens while a run is measured, as it is told to whoever looks on: a line of JSON each, in
//! `--events` and in the sign of a run beside its logbook. Described in `docs/events.md`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the form, in `schema_version` of [`RunEvent::RunStarted`]. The rule is that of a run's
/// document: new events and fields do not raise it.
pub const EVENTS_VERSION: u32 = 1;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The targets are ready, and the run is in the logbook.
    RunStarted {
        /// Version of this form, now 1.
        schema_version: u32,
        /// UUID of the run.
        run: String,
        /// RFC 3339, UTC.
        started_at: String,
        /// Name of the plan.
        plan: String,
        /// SHA-256 of the plan text, lower-case hexadecimal.
        plan_hash: String,
        /// Names of the targets, by index.
        targets: Vec<String>,
        /// Whether time is invented: then nothing of the run is measured on storage.
        emulated: bool,
        /// Points of the plan.
        points: u32,
        /// Points that an earlier part of the run has measured already.
        points_done: u32,
        /// Planned time of all points, warm-ups included, ns.
        planned_ns: u64,
        /// Whether points may end before their time is over.
        may_end_early: bool,
        /// Seed of every draw.
        seed: u64,
    },
    /// A point begins, with its warm-up; those of a group begin at the same time.
    PointStarted {
        /// Its place in the plan, from 0.
        point: u32,
        /// Points with the same number run at the same time.
        group: u32,
        /// Index of its target.
        target: u32,
        /// Name of the load profile.
        profile: String,
        /// Title of the load profile for people.
        profile_title: String,
        /// Name of the step; empty where the plan has none.
        step: String,
        /// Outstanding I/Os of each stream.
        outstanding: u32,
        /// Number of streams.
        streams: u32,
        /// Offered load of an open loop over all streams, I/Os per second; null in a closed loop.
        offered_io_per_s: Option<f64>,
        /// Unrecorded lead-in, ns.
        warm_up_ns: u64,
        /// Planned length of the measured window, ns; the longest that it may be where another rule
        /// ends it.
        duration_ns: u64,
        /// Planned time of the points before it, ns.
        planned_before_ns: u64,
    },
    /// A second of a point's measured window has passed, or what was left of it or of a visit to it.
    Interval {
        /// The point.
        point: u32,
        /// Its end, ns from the start of the window.
        end_ns: u64,
        /// Its length, ns.
        length_ns: u64,
        /// Reads completed in full.
        reads: u64,
        /// Writes completed in full.
        writes: u64,
        /// Bytes of the reads.
        read_bytes: u64,
        /// Bytes of the writes.
        written_bytes: u64,
        /// Mean of completed − issued, ns; null without I/Os. In an open loop the response time,
        /// which counts from when the request was due, may be far longer.
        service_time_mean_ns: Option<f64>,
    },
    /// A point is in the logbook.
    PointEnded {
        /// The point.
        point: u32,
        /// Transaction rate, I/Os per second.
        io_per_s: f64,
        /// 95 % interval of `io_per_s`, low and high; null where none can be given honestly.
        interval: Option<[f64; 2]>,
        /// Throughput, MiB/s (2^20 bytes).
        mib_per_s: f64,
        /// Mean service time (completed − issued), ns; null without I/Os.
        service_time_mean_ns: Option<f64>,
        /// Mean response time, ns; null without I/Os.
        response_time_mean_ns: Option<f64>,
        /// 99th percentile of the response time, ns; null where it is not known.
        response_time_p99_ns: Option<u64>,
        /// `A` (no findings), `B` (remarks) or `C` (not valid).
        grade: String,
    },
    /// Something is doubtful.
    FindingRaised {
        /// The point that it is about; null for the run as a whole.
        point: Option<u32>,
        /// What kind of doubt; a code never changes its meaning.
        code: String,
        /// `remark` or `invalid`.
        severity: String,
        /// Figures by name, the unit in the name; null for a figure that is not finite.
        values: BTreeMap<String, Option<f64>>,
    },
    /// The run has ended; nothing follows.
    RunEnded {
        /// `sealed`, `interrupted` or `failed`.
        state: String,
        /// Points that are measured in full.
        points_done: u32,
    },
}

impl RunEvent {
    /// As a line of JSON, without its end.
    pub fn line(&self) -> String {
        // Structs of numbers and texts cannot fail to become JSON; what is not finite is null.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The JSON Schema of a line.
pub fn events_json_schema() -> String {
    crate::document::pretty(&schemars::schema_for!(RunEvent))
}
