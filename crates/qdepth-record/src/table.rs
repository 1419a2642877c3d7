//! Machine output as a table: CSV, a row a point.

use qdepth_measure::Finding;

use crate::document::target_name;
use crate::record::{PointRecord, RunRecord};
use crate::summary::{LatencySummary, PointSummary, percentile_name};

const PERCENTILES: [&str; 7] = ["50", "90", "99", "99.9", "99.99", "99.999", "99.9999"];

/// The points as CSV (RFC 4180, a header, a row a point, empty cells for what does not exist).
/// Texts that a spreadsheet would take for a formula get a `'` before them.
pub fn export_csv(run: &RunRecord, points: &[PointRecord]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = std::iter::once(header()).chain(points.iter().map(|point| row(run, point)));
    for row in rows {
        // Writing to memory, rows of equal length: neither can fail.
        let _ = writer.write_record(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn header() -> Vec<String> {
    let mut names: Vec<String> = [
        "run",
        "emulated",
        "index",
        "target",
        "profile",
        "random_share",
        "read_share",
        "request_size",
        "request_size_bytes",
        "arrivals",
        "outstanding",
        "offered_io_per_s",
        "streams",
        "workers",
        "group",
        "variant",
        "step",
        "direct",
        "started_at",
        "duration_ns",
        "ended_by",
        "tolerance",
        "looks",
        "io_per_s",
        "io_per_s_low",
        "io_per_s_high",
        "mib_per_s",
        "reads",
        "writes",
        "syncs",
        "read_bytes",
        "written_bytes",
        "failed",
        "short",
        "abandoned",
        "mean_in_flight",
        "cpu_user_ns_per_io",
        "cpu_system_ns_per_io",
        "grade",
        "findings",
    ]
    .map(str::to_owned)
    .into();
    for kind in ["service_time", "response_time"] {
        for direction in ["reads", "writes", "trims", "all"] {
            let column = |figure: &str| format!("{kind}_ns_{direction}_{figure}");
            names.extend(["min", "mean", "max"].map(column));
            names.extend(PERCENTILES.map(|name| column(&format!("p{name}"))));
        }
    }
    names.extend(["trim_share", "trims", "trimmed_bytes"].map(str::to_owned));
    names.extend(["expected_medium", "expected_io_per_s", "expected_mean_ns"].map(str::to_owned));
    names
}

fn row(run: &RunRecord, point: &PointRecord) -> Vec<String> {
    let summary = PointSummary::of(point);
    let interval = summary.io_per_s.interval;
    let short = point.transfers().map(|each| each.short);
    let short = short.into_iter().fold(point.syncs.short, u64::saturating_add);
    let mut cells = vec![
        text(&run.id),
        run.emulated.to_string(),
        point.index.to_string(),
        text(&target_name(run, point)),
        text(&point.profile),
        real(Some(point.random_share)),
        real(Some(point.read_share)),
        text(&point.request_size),
        real(Some(point.request_size_mean_bytes)),
        text(&point.arrivals),
        point.outstanding.to_string(),
        real(point.offered_io_per_s),
        point.streams.to_string(),
        point.workers.to_string(),
        point.group.to_string(),
        point.variant.map_or_else(String::new, |variant| variant.to_string()),
        text(&point.step),
        point.direct.to_string(),
        text(&point.started_at),
        point.duration_ns.to_string(),
        point.ended_by.as_str().to_owned(),
        real(point.tolerance),
        point.looks.to_string(),
        real(Some(summary.io_per_s.value)),
        real(interval.map(|(low, _)| low)),
        real(interval.map(|(_, high)| high)),
        real(Some(summary.mib_per_s)),
        point.reads.completed.to_string(),
        point.writes.completed.to_string(),
        point.syncs.completed.to_string(),
        point.reads.bytes.to_string(),
        point.writes.bytes.to_string(),
        summary.failed.to_string(),
        short.to_string(),
        point.abandoned.to_string(),
        real(summary.mean_in_flight),
        real(summary.cpu_user_ns_per_io),
        real(summary.cpu_system_ns_per_io),
        summary.grade.to_string(),
        text(&codes(&point.findings)),
    ];
    for times in [&summary.service_time, &summary.response_time] {
        for latency in [&times.reads, &times.writes, &times.trims, &times.all] {
            cells.extend(figures(latency));
        }
    }
    cells.push(real(Some(point.trim_share)));
    cells.extend([point.trims.completed, point.trims.bytes].map(|figure| figure.to_string()));
    let expected = run.expected_at(point.index);
    cells.push(text(expected.map_or("", |expected| &expected.medium)));
    cells.push(real(expected.map(|expected| expected.io_per_s)));
    cells.push(real(expected.map(|expected| expected.mean_ns)));
    cells
}

fn codes(findings: &[Finding]) -> String {
    findings.iter().map(|finding| finding.code_text()).collect::<Vec<_>>().join(" ")
}

fn figures(latency: &LatencySummary) -> Vec<String> {
    let whole = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut cells = vec![whole(latency.min_ns), real(latency.mean_ns), whole(latency.max_ns)];
    cells.extend(PERCENTILES.map(|wanted| {
        let found = latency.percentiles.iter().find(|p| percentile_name(p.quantile) == wanted);
        whole(found.map(|percentile| percentile.value.0))
    }));
    cells
}

fn real(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}

/// Spreadsheets run what begins so (OWASP, *CSV Injection*).
fn text(cell: &str) -> String {
    match cell.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{cell}"),
        _ => cell.to_owned(),
    }
}
