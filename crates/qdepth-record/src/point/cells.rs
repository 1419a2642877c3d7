//! A point as a row of tables.

use std::borrow::Cow;

use qdepth_measure::Finding;

use super::entries::{
    CpuPerIo, ErrorEntry, ExpectedEntry, FindingEntry, LatencyByDirection, MonitorEntry,
};
use super::fields::{self, PointRecord, Shown};
use super::summary::{ByDirection, LatencySummary, PointSummary, percentile_name};
use crate::field::{Field, Value, flag, maybe_real, owned, real, text, whole};
use crate::record::{RunRecord, TargetRecord};

/// Names of the percentiles that have columns.
pub(crate) const PERCENTILES: [&str; 7] = ["50", "90", "99", "99.9", "99.99", "99.999", "99.9999"];

/// Every figure of a point, with the names that CSV and JSON have for them.
pub(crate) fn point_fields<'a>(run: &'a RunRecord, point: &'a PointRecord) -> Vec<Field<'a>> {
    let shown = Shown::new(run, point);
    let mut fields = fields::cells(&shown);
    let summary = &shown.summary;
    for (kind, times) in
        [("service_time", &summary.service_time), ("response_time", &summary.response_time)]
    {
        fields.extend(times_of(kind, times));
    }
    fields.extend(expected(run, point, summary));
    fields
}

/// The target of a point; none where its run has no such target.
pub(super) fn target_of<'a>(shown: &Shown<'a>) -> Option<&'a TargetRecord> {
    shown.run.targets.iter().find(|target| target.index == shown.point.target)
}

/// What of an entry is one value of a table, too.
pub(super) trait IntoCell: Sized {
    /// The value; none of what has columns of its own, or is no part of tables.
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        None
    }
}

impl IntoCell for String {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(owned(self))
    }
}

impl IntoCell for bool {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(flag(self))
    }
}

impl IntoCell for u32 {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(whole(self))
    }
}

impl IntoCell for u64 {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(whole(self))
    }
}

impl IntoCell for f64 {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(real(self))
    }
}

impl IntoCell for Option<u32> {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(Value::Whole(self.map(u64::from)))
    }
}

impl IntoCell for Option<u64> {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(Value::Whole(self))
    }
}
impl IntoCell for Option<f64> {
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        Some(maybe_real(self))
    }
}

impl IntoCell for Option<[f64; 2]> {}
impl IntoCell for Option<CpuPerIo> {}
impl IntoCell for Option<ExpectedEntry> {}
impl IntoCell for LatencyByDirection {}
impl IntoCell for Vec<ErrorEntry> {}
impl IntoCell for Vec<FindingEntry> {}
impl IntoCell for Vec<MonitorEntry> {}

pub(super) fn codes(findings: &[Finding]) -> String {
    findings.iter().map(|finding| finding.code_text()).collect::<Vec<_>>().join(" ")
}

fn times_of<'a>(kind: &'static str, times: &ByDirection) -> impl Iterator<Item = Field<'a>> {
    let each = [
        ("reads", &times.reads),
        ("writes", &times.writes),
        ("trims", &times.trims),
        ("all", &times.all),
        ("syncs", &times.syncs),
    ];
    let fields = each.map(|(direction, latency)| {
        let field = move |(figure, value): (Cow<'static, str>, Value<'a>)| Field {
            name: Cow::Owned(format!("{kind}_ns_{direction}_{figure}")),
            description: "",
            value,
        };
        figures(latency).into_iter().map(field).collect::<Vec<_>>()
    });
    fields.into_iter().flatten()
}

fn figures<'a>(latency: &LatencySummary) -> Vec<(Cow<'static, str>, Value<'a>)> {
    let mut figures: Vec<(Cow<'static, str>, Value<'a>)> = vec![
        ("count".into(), whole(latency.count)),
        ("min".into(), Value::Whole(latency.min_ns)),
        ("mean".into(), maybe_real(latency.mean_ns)),
        ("max".into(), Value::Whole(latency.max_ns)),
    ];
    figures.extend(PERCENTILES.map(|wanted| {
        let found = latency.percentiles.iter().find(|p| percentile_name(p.quantile) == wanted);
        let value = found.map(|percentile| percentile.value.0);
        (Cow::Owned(format!("p{wanted}")), Value::Whole(value))
    }));
    figures
}

fn expected<'a>(run: &'a RunRecord, point: &PointRecord, summary: &PointSummary) -> [Field<'a>; 6] {
    let expected = run.expected_at(point.index);
    let medium = expected.map_or("", |expected| expected.medium.as_str());
    let mib_per_s = expected.map(|expected| expected.bytes_per_s / f64::from(1 << 20));
    let share = expected.and_then(|expected| expected.share_reached(summary.io_per_s.value));
    let below = expected.and_then(|expected| expected.below_io_per_s);
    [
        Field::new(
            "expected_medium",
            "Emulated medium whose figures stand beside it: these are EMULATED",
            text(medium),
        ),
        Field::new(
            "expected_io_per_s",
            "Its transaction rate",
            maybe_real(expected.map(|e| e.io_per_s)),
        ),
        Field::new("expected_mib_per_s", "Its throughput, MiB/s", maybe_real(mib_per_s)),
        Field::new(
            "expected_mean_ns",
            "Its mean service time",
            maybe_real(expected.map(|e| e.mean_ns)),
        ),
        Field::new(
            "expected_share_reached",
            "`io_per_s` over that of the medium",
            maybe_real(share),
        ),
        Field::new(
            "expected_below_io_per_s",
            "The rate under which the point is below what is expected",
            maybe_real(below),
        ),
    ]
}
