//! Machine output: one JSON document, described field by field in `docs/json.md`.

use std::collections::BTreeMap;

use qdepth_measure::{Finding, Percentile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compared::{ComparedEntry, entries};
use crate::record::{
    ComparisonRecord, DirectionRecord, ExpectedRecord, Observation, PointRecord, RunRecord,
    TargetRecord, WitnessRecord,
};
use crate::step::shown_step;
use crate::summary::{ByDirection, LatencySummary, PointSummary, percentile_name};

/// Name of the form, in `schema.name`.
const NAME: &str = "qdepth-run";
/// Version of the form, in `schema.version`. Rises when a field goes away or changes its meaning;
/// new fields do not raise it.
const VERSION: u32 = 1;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Which form of document this is.
    pub schema: DocumentSchema,
    /// The run.
    pub run: RunEntry,
    /// What was read from the machine.
    pub environment: Vec<ObservationEntry>,
    /// The targets, by index.
    pub targets: Vec<TargetEntry>,
    /// The points in the order of the plan.
    pub points: Vec<PointEntry>,
    /// The columns of the comparison at every load and intensity; empty where nothing is compared.
    pub compared: Vec<ComparedEntry>,
    /// Doubts about the run as a whole.
    pub findings: Vec<FindingEntry>,
}

/// Name and version of the form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentSchema {
    /// `qdepth-run`; of a machine `qdepth-host`.
    pub name: String,
    /// Version of the form, now 1; see the rule above.
    pub version: u32,
}

/// One plan executed once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEntry {
    /// UUID version 7.
    pub id: String,
    /// Name of the plan.
    pub plan: String,
    /// SHA-256 of the plan text, lower-case hexadecimal.
    pub plan_hash: String,
    /// Decimal digits of the 64-bit seed, as text: a JSON number is not exact beyond 2^53.
    pub seed: String,
    /// Version of the program.
    pub version: String,
    /// Version of the meaning of the figures.
    pub measurement_version: u32,
    /// Whether time was invented.
    pub emulated: bool,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; null while running, or where it was killed.
    pub ended_at: Option<String>,
    /// `running`, `sealed`, `interrupted` or `failed`.
    pub state: String,
    /// Points of the plan.
    pub points_planned: u32,
    /// How requests were to reach the kernel, as asked: `auto`, or the name of an engine; empty in
    /// documents of versions that did not say so.
    #[serde(default)]
    pub engine_choice: String,
    /// What it compares; null where it compares nothing.
    pub comparison: Option<ComparisonRecord>,
}

/// A fact read from the machine, with where it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationEntry {
    /// What it is about.
    pub subject: String,
    /// Which fact.
    pub key: String,
    /// The value; null where it could not be read.
    pub value: Option<String>,
    /// Why it could not be read; null where it could.
    pub unknown_because: Option<String>,
    /// The file or command.
    pub source: String,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetEntry {
    /// Its place in the run, from 0.
    pub index: u32,
    /// Its name, unique within the run.
    pub name: String,
    /// As the user spelled it.
    pub spelling: String,
    /// `directory`, `file`, `block-device` or `emulated`.
    pub kind: String,
    /// The area under load, bytes.
    pub area_bytes: u64,
    /// The engine that measured it.
    pub engine: String,
    /// What is known of the storage below.
    pub facts: Vec<ObservationEntry>,
}

/// A measured point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointEntry {
    /// Its place in the plan, from 0.
    pub index: u32,
    /// Name of its target.
    pub target: String,
    /// Whether time was invented: then nothing here was measured on storage.
    pub emulated: bool,
    /// Name of the load profile.
    pub profile: String,
    /// Title of the load profile for people.
    pub profile_title: String,
    /// Share of random accesses, 0..1.
    pub random_share: f64,
    /// Share of reads, 0..1.
    pub read_share: f64,
    /// Share of trims, 0..1: requests that discard what is stored.
    #[serde(default)]
    pub trim_share: f64,
    /// Request size or weighted mix, as written.
    pub request_size: String,
    /// Mean request size in bytes; of one size that size.
    pub request_size_bytes: Option<f64>,
    /// How requests arrive.
    pub arrivals: String,
    /// Which figure the plan tells of it: `rate` or `throughput`; empty in documents of versions that
    /// did not say so.
    #[serde(default)]
    pub reported_as: String,
    /// Outstanding I/Os of each stream.
    pub outstanding: u32,
    /// Offered load of an open loop over all streams, I/Os per second; null in a closed loop.
    pub offered_io_per_s: Option<f64>,
    /// Number of streams.
    pub streams: u32,
    /// Threads that the streams were dealt to.
    pub workers: u32,
    /// Points with the same number ran at the same time.
    pub group: u32,
    /// Index of the column of `run.comparison` that it belongs to, with the others of its group;
    /// null where nothing is compared.
    pub variant: Option<u32>,
    /// Name of the step; empty where the plan has none.
    pub step: String,
    /// Whether direct I/O was in effect.
    pub direct: bool,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Unrecorded lead-in, ns.
    pub warm_up_ns: u64,
    /// Length of the measured window, ns.
    pub duration_ns: u64,
    /// What ended it: `duration`, `precision`, `steady`, `bytes`, `interrupted` or `failure`.
    pub ended_by: String,
    /// Half-width of `interval` over `io_per_s` that was to end it; null where none was asked.
    pub tolerance: Option<f64>,
    /// How often the precision was looked at.
    pub looks: u32,
    /// Transaction rate, I/Os per second: reads, writes and trims completed in full.
    pub io_per_s: f64,
    /// 95 % interval of `io_per_s`, low and high; null where none can be given honestly.
    pub interval: Option<[f64; 2]>,
    /// Throughput, MiB/s (2^20 bytes).
    pub mib_per_s: f64,
    /// Reads completed in full.
    pub reads: u64,
    /// Writes completed in full.
    pub writes: u64,
    /// Trims completed in full.
    #[serde(default)]
    pub trims: u64,
    /// Flushes completed.
    pub syncs: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Bytes of the trims.
    #[serde(default)]
    pub trimmed_bytes: u64,
    /// Completed − issued, ns.
    pub service_time_ns: LatencyByDirection,
    /// Completed − intended, ns; in a closed loop the same as the service time.
    pub response_time_ns: LatencyByDirection,
    /// CPU time of the worker by I/O, ns; null without I/Os.
    pub cpu_ns_per_io: Option<CpuPerIo>,
    /// I/Os that failed within the window; in no rate and no latency.
    pub errors: Vec<ErrorEntry>,
    /// Transfers that came back short and were completed by further requests.
    pub short: u64,
    /// Requests that never came back.
    pub abandoned: u64,
    /// Mean number of I/Os in flight; null for a window without length.
    pub mean_in_flight: Option<f64>,
    /// Longest interval without a completion, ns.
    pub longest_gap_ns: u64,
    /// What the witnesses said of the machine, by the second.
    pub witnesses: Vec<WitnessEntry>,
    /// What was expected of it; null where nothing was.
    pub expected: Option<ExpectedEntry>,
    /// `A` (no findings), `B` (remarks) or `C` (not valid).
    pub grade: String,
    /// Doubts.
    pub findings: Vec<FindingEntry>,
}

/// What an emulated medium does at a point: EMULATED, beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedEntry {
    /// Always true.
    pub emulated: bool,
    /// The medium, as the user spelled it.
    pub medium: String,
    /// Its transaction rate, I/Os per second.
    pub io_per_s: f64,
    /// Its throughput, MiB/s (2^20 bytes).
    pub mib_per_s: f64,
    /// Its mean service time, ns.
    pub mean_ns: f64,
    /// The point's transaction rate over the medium's; null where the medium's is 0.
    pub share_reached: Option<f64>,
    /// The rate under which a point is below what is expected, by the medium's own error, I/Os per
    /// second; null where nobody knows that error.
    #[serde(default)]
    pub below_io_per_s: Option<f64>,
}

/// Latencies of a point by direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyByDirection {
    /// Reads.
    pub reads: Latency,
    /// Writes.
    pub writes: Latency,
    /// Trims.
    #[serde(default)]
    pub trims: Latency,
    /// Reads, writes and trims together.
    pub all: Latency,
    /// Flushes, which are in none of the others.
    pub syncs: Latency,
}

/// A latency distribution.
#[derive(Default, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Number of I/Os.
    pub count: u64,
    /// Exact smallest value, ns; null without I/Os.
    pub min: Option<u64>,
    /// Exact mean, ns; null without I/Os.
    pub mean: Option<f64>,
    /// Exact largest value, ns; null without I/Os.
    pub max: Option<u64>,
    /// Value by percentile (`50`, `90`, `99`, `99.9` … `99.9999`), ns, off by at most 0.2 %; those
    /// with fewer than ten samples beyond them are left out.
    pub percentiles: BTreeMap<String, u64>,
    /// 95 % interval (low, high) of each of the percentiles, ns.
    pub percentile_intervals: BTreeMap<String, [u64; 2]>,
}

/// CPU time of the worker by I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuPerIo {
    /// In user mode, ns.
    pub user: f64,
    /// In the kernel, ns.
    pub system: f64,
}

/// Failed I/Os of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEntry {
    /// `read`, `write` or `sync`.
    pub direction: String,
    /// Linux error number, positive; 0 for all kinds beyond the sixteenth together.
    pub errno: i32,
    /// How often.
    pub count: u64,
}

/// What a witness said at one moment of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessEntry {
    /// End of the second, ns from the first look, just before the load (warm-up included).
    pub at_ns: u64,
    /// Of what and which, the unit last: `nvme0n1 celsius`, `cpu steal_share`.
    pub name: String,
    /// A rate or share over the second, or the level at its end.
    pub value: Option<f64>,
}

/// A recorded doubt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingEntry {
    /// What kind of doubt; a code never changes its meaning.
    pub code: String,
    /// `remark` or `invalid`.
    pub severity: String,
    /// Figures by name, the unit in the name; null for a figure that is not finite.
    pub values: BTreeMap<String, Option<f64>>,
    /// Texts by name, never translated.
    pub labels: BTreeMap<String, String>,
}

impl Document {
    /// Reads what [`export_json`] wrote, of this version or an older one of the same form.
    ///
    /// # Errors
    /// Why the text is no such document, or is none that figures can be taken from.
    pub fn read(text: &str) -> Result<Self, String> {
        let form: Form = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let DocumentSchema { name, version } = form.schema;
        if name != NAME {
            return Err(format!("it is a `{name}`, and no `{NAME}`"));
        }
        if version > VERSION {
            return Err(format!("its form is {version}; this program knows {VERSION}"));
        }
        let document: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let unknown = |point: &&PointEntry| document.target_of(point).is_none();
        match document.points.iter().find(unknown) {
            Some(point) => {
                Err(format!("point {} is of a target that it does not list", point.index))
            }
            None => Ok(document),
        }
    }

    /// The target of a point.
    pub fn target_of(&self, point: &PointEntry) -> Option<&TargetEntry> {
        self.targets.iter().find(|target| target.name == point.target)
    }

    /// The newest value of a fact of the machine or the run, by subject and key.
    pub fn fact(&self, wanted: (&str, &str)) -> Option<&str> {
        let is_it = |seen: &&ObservationEntry| (&*seen.subject, &*seen.key) == wanted;
        self.environment.iter().rev().find(is_it).and_then(|seen| seen.value.as_deref())
    }
}

/// Which form a text is of, whatever else it has.
#[derive(Deserialize)]
struct Form {
    schema: DocumentSchema,
}

/// The run and its points as one JSON document, ended by a line feed. Infinite and undefined
/// figures become null, so the text is valid JSON whatever was measured.
pub fn export_json(run: &RunRecord, points: &[PointRecord]) -> String {
    pretty(&document(run, points))
}

/// The JSON Schema of [`export_json`]'s document.
pub fn json_schema() -> String {
    pretty(&schemars::schema_for!(Document))
}

pub(crate) fn pretty(value: &impl Serialize) -> String {
    // Structs, vectors and maps with text keys cannot fail to become JSON.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The run and its points in the form of machine output.
pub fn document(run: &RunRecord, points: &[PointRecord]) -> Document {
    Document {
        schema: DocumentSchema { name: NAME.to_owned(), version: VERSION },
        run: RunEntry {
            id: run.id.clone(),
            plan: run.plan_name.clone(),
            plan_hash: run.plan_hash.clone(),
            seed: run.seed.to_string(),
            version: run.qdepth_version.clone(),
            measurement_version: run.measurement_version,
            emulated: run.emulated,
            started_at: run.started_at.clone(),
            ended_at: run.ended_at.clone(),
            state: run.state.as_str().to_owned(),
            points_planned: run.points_planned,
            engine_choice: run.engine_choice.clone(),
            comparison: run.comparison.clone(),
        },
        environment: run.environment.iter().map(observation).collect(),
        targets: run.targets.iter().map(target).collect(),
        points: points.iter().map(|point| entry(run, point)).collect(),
        compared: entries(run, points),
        findings: run.findings.iter().map(finding).collect(),
    }
}

/// Name of a point's target; its number where the run has no such target.
pub(crate) fn target_name(run: &RunRecord, point: &PointRecord) -> String {
    run.targets
        .iter()
        .find(|target| target.index == point.target)
        .map_or_else(|| point.target.to_string(), |target| target.name.clone())
}

pub(crate) fn observation(fact: &Observation) -> ObservationEntry {
    ObservationEntry {
        subject: fact.subject.clone(),
        key: fact.key.clone(),
        value: fact.value.clone().ok(),
        unknown_because: fact.value.clone().err(),
        source: fact.source.clone(),
    }
}

fn target(target: &TargetRecord) -> TargetEntry {
    TargetEntry {
        index: target.index,
        name: target.name.clone(),
        spelling: target.spelling.clone(),
        kind: target.kind.as_str().to_owned(),
        area_bytes: target.area_bytes,
        engine: target.engine.clone(),
        facts: target.facts.iter().map(observation).collect(),
    }
}

fn finding(finding: &Finding) -> FindingEntry {
    let values = finding.values.iter();
    FindingEntry {
        code: finding.code_text().to_owned(),
        severity: finding.severity.as_str().to_owned(),
        values: values.map(|(name, v)| (name.clone(), v.is_finite().then_some(*v))).collect(),
        labels: finding.labels.clone(),
    }
}

fn witness(record: &WitnessRecord) -> WitnessEntry {
    let value = record.value.is_finite().then_some(record.value);
    WitnessEntry { at_ns: record.at_ns, name: record.name.clone(), value }
}

fn entry(run: &RunRecord, point: &PointRecord) -> PointEntry {
    let summary = PointSummary::of(point);
    PointEntry {
        index: point.index,
        target: target_name(run, point),
        emulated: run.emulated,
        profile: point.profile.clone(),
        profile_title: point.profile_title.clone(),
        random_share: finite(point.random_share),
        read_share: finite(point.read_share),
        trim_share: finite(point.trim_share),
        request_size: point.request_size.clone(),
        request_size_bytes: Some(point.request_size_mean_bytes).filter(|size| size.is_finite()),
        arrivals: point.arrivals.clone(),
        reported_as: if point.reported_as_throughput { "throughput" } else { "rate" }.to_owned(),
        outstanding: point.outstanding,
        offered_io_per_s: point.offered_io_per_s,
        streams: point.streams,
        workers: point.workers,
        group: point.group,
        variant: point.variant,
        step: shown_step(&point.step),
        direct: point.direct,
        started_at: point.started_at.clone(),
        warm_up_ns: point.warm_up_ns,
        duration_ns: point.duration_ns,
        ended_by: point.ended_by.as_str().to_owned(),
        tolerance: point.tolerance.map(finite),
        looks: point.looks,
        io_per_s: summary.io_per_s.value,
        interval: summary.io_per_s.interval.map(|(low, high)| [low, high]),
        mib_per_s: summary.mib_per_s,
        reads: point.reads.completed,
        writes: point.writes.completed,
        trims: point.trims.completed,
        syncs: point.syncs.completed,
        read_bytes: point.reads.bytes,
        written_bytes: point.writes.bytes,
        trimmed_bytes: point.trims.bytes,
        service_time_ns: by_direction(&summary.service_time),
        response_time_ns: by_direction(&summary.response_time),
        cpu_ns_per_io: summary
            .cpu_user_ns_per_io
            .zip(summary.cpu_system_ns_per_io)
            .map(|(user, system)| CpuPerIo { user, system }),
        errors: errors(point),
        short: directions(point).map(|(_, each)| each.short).fold(0, u64::saturating_add),
        abandoned: point.abandoned,
        mean_in_flight: summary.mean_in_flight,
        longest_gap_ns: point.longest_gap_ns,
        witnesses: point.witnesses.iter().map(witness).collect(),
        expected: run.expected_at(point.index).map(|e| expected(e, &summary)),
        grade: summary.grade.to_string(),
        findings: point.findings.iter().map(finding).collect(),
    }
}

fn expected(expected: &ExpectedRecord, measured: &PointSummary) -> ExpectedEntry {
    ExpectedEntry {
        emulated: true,
        medium: expected.medium.clone(),
        io_per_s: expected.io_per_s,
        mib_per_s: expected.bytes_per_s / f64::from(1 << 20),
        mean_ns: expected.mean_ns,
        share_reached: expected.share_reached(measured.io_per_s.value),
        below_io_per_s: expected.below_io_per_s,
    }
}

/// The plan's own shares are finite; a damaged record must still give valid JSON.
fn finite(share: f64) -> f64 {
    if share.is_finite() { share } else { 0.0 }
}

pub(crate) fn directions(
    point: &PointRecord,
) -> impl Iterator<Item = (&'static str, &DirectionRecord)> {
    let [reads, writes, trims] = point.transfers();
    [("read", reads), ("write", writes), ("trim", trims), ("sync", &point.syncs)].into_iter()
}

fn errors(point: &PointRecord) -> Vec<ErrorEntry> {
    directions(point)
        .flat_map(|(direction, each)| each.errors.iter().map(move |error| (direction, error)))
        .map(|(direction, error)| ErrorEntry {
            direction: direction.to_owned(),
            errno: error.errno,
            count: error.count,
        })
        .collect()
}

fn by_direction(summary: &ByDirection) -> LatencyByDirection {
    LatencyByDirection {
        reads: latency(&summary.reads),
        writes: latency(&summary.writes),
        trims: latency(&summary.trims),
        all: latency(&summary.all),
        syncs: latency(&summary.syncs),
    }
}

fn latency(summary: &LatencySummary) -> Latency {
    let name = |percentile: &Percentile| percentile_name(percentile.quantile);
    let percentiles = &summary.percentiles;
    Latency {
        count: summary.count,
        min: summary.min_ns,
        mean: summary.mean_ns,
        max: summary.max_ns,
        percentiles: percentiles.iter().map(|p| (name(p), p.value.0)).collect(),
        percentile_intervals: percentiles
            .iter()
            .map(|p| (name(p), [p.interval.0.0, p.interval.1.0]))
            .collect(),
    }
}
