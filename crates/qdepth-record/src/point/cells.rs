//! A point as a row of tables.

use std::borrow::Cow;

use qdepth_measure::{Finding, percentile_name};

use super::entries::{
    CpuPerIo, ErrorEntry, FindingEntry, Latency, LatencyByDirection, by_direction, errors,
    finding_entry, finite, latency, reported_as, target_name,
};
use super::entry::Shown;
use super::fields::rows;
use super::record::PointRecord;
use super::summary::{ByDirection, LatencySummary};
use crate::field::{Field, IntoCell, Value, maybe_real, owned, text, time, whole};
use crate::fields::cells;
use crate::record::{
    ExpectedEntry, ExpectedRecord, MonitorEntry, RunRecord, TargetRecord, expected_cells,
    expected_entry, monitor_entry,
};
use crate::step::shown_step;

/// Names of the percentiles that have columns.
const PERCENTILES: [&str; 7] = ["50", "90", "99", "99.9", "99.99", "99.999", "99.9999"];

/// All figures of a point, with the names of their columns in CSV.
pub(crate) fn point_fields<'a>(run: &'a RunRecord, point: &'a PointRecord) -> Vec<Field<'a>> {
    let shown = Shown::new(run, point);
    let mut fields = cells(&shown);
    let summary = &shown.summary;
    for (kind, times) in [("latency", &summary.latency), ("response_time", &summary.response_time)]
    {
        fields.extend(times_of(kind, times));
    }
    fields.extend(expected(run, point, summary.io_per_s.value));
    fields
}

rows!(cells);

/// The target of a point; `None` if its run has no such target.
fn target_of<'a>(shown: &Shown<'a>) -> Option<&'a TargetRecord> {
    shown.run.target(shown.point.target)
}

impl IntoCell for Option<[f64; 2]> {}
impl IntoCell for Option<CpuPerIo> {}
impl IntoCell for Option<ExpectedEntry> {}
impl IntoCell for LatencyByDirection {}
impl IntoCell for Option<Latency> {}
impl IntoCell for Vec<ErrorEntry> {}
impl IntoCell for Vec<FindingEntry> {}
impl IntoCell for Vec<MonitorEntry> {}

fn codes(findings: &[Finding]) -> String {
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

/// Expected results; empty columns if the run expects none.
fn expected<'a>(run: &'a RunRecord, point: &PointRecord, io_per_s: f64) -> Vec<Field<'a>> {
    let nothing = ExpectedRecord::default();
    let cells = match run.expected_at(point.index) {
        Some(expected) => expected_cells(&(expected, io_per_s)),
        None => {
            let cells = expected_cells(&(&nothing, io_per_s)).into_iter();
            cells.map(Field::without_value).collect()
        }
    };
    let named = |cell: Field<'a>| Field { name: format!("expected_{}", cell.name).into(), ..cell };
    cells.into_iter().map(named).collect()
}
