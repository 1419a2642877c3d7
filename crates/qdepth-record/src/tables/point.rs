//! The columns of a point.

use std::borrow::Cow;

use qdepth_measure::Finding;

use super::{EMULATED, Field, RUN, Value, maybe_real, owned, real, text, time, whole};
use crate::document::{directions, target_name};
use crate::record::{PointRecord, RunRecord};
use crate::step::shown_step;
use crate::summary::{ByDirection, LatencySummary, PointSummary, percentile_name};

/// Names of the percentiles that have columns.
pub(crate) const PERCENTILES: [&str; 7] = ["50", "90", "99", "99.9", "99.99", "99.999", "99.9999"];

/// Every figure of a point, with the names that CSV and JSON have for them.
pub(crate) fn point_fields<'a>(run: &'a RunRecord, point: &'a PointRecord) -> Vec<Field<'a>> {
    let summary = PointSummary::of(point);
    let mut fields = place(run, point);
    fields.extend(load(point));
    fields.extend(course(point));
    fields.extend(rates(point, &summary));
    for (kind, times) in
        [("service_time", &summary.service_time), ("response_time", &summary.response_time)]
    {
        fields.extend(times_of(kind, times));
    }
    fields.extend(expected(run, point, &summary));
    fields
}

fn place<'a>(run: &'a RunRecord, point: &'a PointRecord) -> Vec<Field<'a>> {
    let target = run.targets.iter().find(|target| target.index == point.target);
    vec![
        Field::new("run", RUN, text(&run.id)),
        Field::new("emulated", EMULATED, Value::Flag(Some(run.emulated))),
        Field::new("index", "Its place in the plan, from 0", whole(point.index)),
        Field::new("target", "Name of its target", owned(target_name(run, point))),
        Field::new(
            "target_kind",
            "`kind` of its target",
            text(target.map_or("", |of| of.kind.as_str())),
        ),
        Field::new(
            "area_bytes",
            "The area under load",
            Value::Whole(target.map(|of| of.area_bytes)),
        ),
        Field::new(
            "engine",
            "The engine that measured it",
            text(target.map_or("", |of| &of.engine)),
        ),
    ]
}

fn load(point: &PointRecord) -> Vec<Field<'_>> {
    let reported_as = if point.reported_as_throughput { "throughput" } else { "rate" };
    vec![
        Field::new("profile", "Name of the load profile", text(&point.profile)),
        Field::new(
            "profile_title",
            "Title of the load profile for people",
            text(&point.profile_title),
        ),
        Field::new("random_share", "Share of random accesses, 0..1", real(point.random_share)),
        Field::new("read_share", "Share of reads, 0..1", real(point.read_share)),
        Field::new("trim_share", "Share of trims, 0..1", real(point.trim_share)),
        Field::new(
            "request_size",
            "Request size or weighted mix, as written",
            text(&point.request_size),
        ),
        Field::new("request_size_bytes", "Mean request size", real(point.request_size_mean_bytes)),
        Field::new("arrivals", "How requests arrive", text(&point.arrivals)),
        Field::new(
            "reported_as",
            "`rate` or `throughput`: which figure the plan tells of it",
            text(reported_as),
        ),
        Field::new("outstanding", "Outstanding I/Os of each stream", whole(point.outstanding)),
        Field::new(
            "offered_io_per_s",
            "Offered load of an open loop; null in a closed loop",
            maybe_real(point.offered_io_per_s),
        ),
        Field::new("streams", "Number of streams", whole(point.streams)),
        Field::new("workers", "Threads that the streams were dealt to", whole(point.workers)),
        Field::new(
            "group",
            "Points of a run with the same number ran at the same time",
            whole(point.group),
        ),
        Field::new(
            "variant",
            "Index of its column in the run's comparison",
            Value::Whole(point.variant.map(u64::from)),
        ),
        Field::new("step", "Name of the step", owned(shown_step(&point.step))),
        Field::new("direct", "Whether direct I/O was in effect", Value::Flag(Some(point.direct))),
    ]
}

fn course(point: &PointRecord) -> Vec<Field<'_>> {
    vec![
        Field::new("started_at", "When it began", time(&point.started_at)),
        Field::new("warm_up_ns", "Unrecorded lead-in", whole(point.warm_up_ns)),
        Field::new("duration_ns", "Length of the measured window", whole(point.duration_ns)),
        Field::new(
            "ended_by",
            "`duration`, `precision`, `steady`, `bytes`, `interrupted` or `failure`",
            text(point.ended_by.as_str()),
        ),
        Field::new(
            "tolerance",
            "Half-width of the interval over `io_per_s` that was to end it",
            maybe_real(point.tolerance),
        ),
        Field::new("looks", "How often the precision was looked at", whole(point.looks)),
    ]
}

fn rates<'a>(point: &'a PointRecord, summary: &PointSummary) -> Vec<Field<'a>> {
    let interval = summary.io_per_s.interval;
    let short = directions(point).map(|(_, each)| each.short).fold(0, u64::saturating_add);
    vec![
        Field::new(
            "io_per_s",
            "Reads, writes and trims completed in full, per second",
            real(summary.io_per_s.value),
        ),
        Field::new(
            "io_per_s_low",
            "Low end of the 95 % interval of `io_per_s`; null where none can be given honestly",
            maybe_real(interval.map(|(low, _)| low)),
        ),
        Field::new("io_per_s_high", "High end of it", maybe_real(interval.map(|(_, high)| high))),
        Field::new("mib_per_s", "Throughput, MiB (2^20 bytes) per second", real(summary.mib_per_s)),
        Field::new("reads", "Reads completed in full", whole(point.reads.completed)),
        Field::new("writes", "Writes completed in full", whole(point.writes.completed)),
        Field::new("trims", "Trims completed in full", whole(point.trims.completed)),
        Field::new("syncs", "Flushes completed", whole(point.syncs.completed)),
        Field::new("read_bytes", "Bytes of the reads", whole(point.reads.bytes)),
        Field::new("written_bytes", "Bytes of the writes", whole(point.writes.bytes)),
        Field::new("trimmed_bytes", "Bytes of the trims", whole(point.trims.bytes)),
        Field::new("failed", "I/Os that failed within the window", whole(summary.failed)),
        Field::new(
            "short",
            "Transfers that came back short and were completed by further requests",
            whole(short),
        ),
        Field::new("abandoned", "Requests that never came back", whole(point.abandoned)),
        Field::new(
            "mean_in_flight",
            "Mean number of I/Os in flight",
            maybe_real(summary.mean_in_flight),
        ),
        Field::new(
            "longest_gap_ns",
            "Longest interval without a completion",
            whole(point.longest_gap_ns),
        ),
        Field::new(
            "cpu_user_ns_per_io",
            "CPU time of the workers in user mode by I/O",
            maybe_real(summary.cpu_user_ns_per_io),
        ),
        Field::new(
            "cpu_system_ns_per_io",
            "CPU time of the workers in the kernel by I/O",
            maybe_real(summary.cpu_system_ns_per_io),
        ),
        Field::new(
            "grade",
            "`A` (no findings), `B` (remarks) or `C` (not valid)",
            owned(summary.grade.to_string()),
        ),
        Field::new(
            "findings",
            "Codes of its findings, with spaces between them",
            owned(codes(&point.findings)),
        ),
    ]
}

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
            says: "",
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
