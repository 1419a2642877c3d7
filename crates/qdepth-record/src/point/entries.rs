//! Parts of a point's entry in documents.

use std::collections::BTreeMap;

use qdepth_measure::{Code, Finding, Percentile, Severity, percentile_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::PointRecord;
use super::summary::{ByDirection, LatencySummary, PointSummary};
use crate::record::RunRecord;

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
    /// Flushes, which are not included in the others.
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
    /// Value by percentile (`50`, `90`, `99`, `99.9` … `99.9999`), ns, with an error of at
    /// most 0.2 %; percentiles with fewer than ten samples beyond them are omitted.
    pub percentiles: BTreeMap<String, u64>,
    /// 95 % confidence interval (low, high) of each percentile, ns.
    pub percentile_intervals: BTreeMap<String, [u64; 2]>,
}

/// CPU time of the worker per I/O.
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
    /// `read`, `write`, `trim` or `sync`.
    pub direction: String,
    /// Linux error number, positive; 0 for all kinds beyond the sixteenth, taken together.
    pub errno: i32,
    /// Count.
    pub count: u64,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingEntry {
    /// Code of the finding; it never changes its meaning.
    pub code: String,
    /// `remark` or `invalid`.
    pub severity: String,
    /// Figures by name, the unit in the name; null for a figure that is not finite.
    pub values: BTreeMap<String, Option<f64>>,
    /// Texts by name, never translated.
    pub labels: BTreeMap<String, String>,
}

/// Name of a point's target, or its index if the run does not describe it.
pub(super) fn target_name(run: &RunRecord, point: &PointRecord) -> String {
    let target = run.target(point.target);
    target.map_or_else(|| point.target.to_string(), |target| target.name.clone())
}

impl CpuPerIo {
    pub(super) fn from_summary(summary: &PointSummary) -> Option<Self> {
        let both = summary.cpu_user_ns_per_io.zip(summary.cpu_system_ns_per_io);
        both.map(|(user, system)| Self { user, system })
    }
}

impl From<&FindingEntry> for Finding {
    /// Reads the result of [`finding_entry`]; a value that was not finite becomes NaN.
    fn from(entry: &FindingEntry) -> Self {
        let severity = if entry.severity == Severity::Invalid.as_str() {
            Severity::Invalid
        } else {
            Severity::Remark
        };
        let mut found = match entry.code.parse::<Code>() {
            Ok(code) => Self::new(code, severity),
            Err(_) => Self::unknown(&entry.code, severity),
        };
        let values = entry.values.iter();
        found.values = values.map(|(name, v)| (name.clone(), v.unwrap_or(f64::NAN))).collect();
        found.labels.extend(entry.labels.clone());
        found
    }
}

/// Form of a finding in documents and in messages between ranks.
pub fn finding_entry(finding: &Finding) -> FindingEntry {
    let values = finding.values.iter();
    FindingEntry {
        code: finding.code_text().to_owned(),
        severity: finding.severity.as_str().to_owned(),
        values: values.map(|(name, v)| (name.clone(), v.is_finite().then_some(*v))).collect(),
        labels: finding.labels.clone(),
    }
}

pub(super) fn errors(point: &PointRecord) -> Vec<ErrorEntry> {
    point
        .directions()
        .into_iter()
        .flat_map(|(direction, each)| each.errors.iter().map(move |error| (direction, error)))
        .map(|(direction, error)| ErrorEntry {
            direction: direction.to_owned(),
            errno: error.errno,
            count: error.count,
        })
        .collect()
}

pub(super) fn by_direction(summary: &ByDirection) -> LatencyByDirection {
    LatencyByDirection {
        reads: latency(&summary.reads),
        writes: latency(&summary.writes),
        trims: latency(&summary.trims),
        all: latency(&summary.all),
        syncs: latency(&summary.syncs),
    }
}

pub(super) fn latency(summary: &LatencySummary) -> Latency {
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

pub(super) fn reported_as(point: &PointRecord) -> &'static str {
    if point.reported_as_throughput { "throughput" } else { "rate" }
}

/// Replaces a share that is not finite: a plan's shares are finite, but a damaged record must still
/// give valid JSON.
pub(super) fn finite(share: f64) -> f64 {
    if share.is_finite() { share } else { 0.0 }
}
