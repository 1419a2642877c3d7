//! Records with every field set.

use proptest::prelude::*;
use qdepth_measure::{Code, Finding, LatencyHistogram, Nanos};
use qdepth_record::{
    CertificateRecord, Column, ComparisonRecord, DirectionRecord, EndedBy, ErrorCount,
    ExpectedRecord, IntervalRecord, KernelCounts, MonitorRecord, Observation, PointRecord,
    ProofOutcome, ProofRecord, Reason, Record, RunRecord, StatedLatency, Stored, TargetKind,
    TargetRecord, VariantRecord,
};

pub(crate) fn histogram(values: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    for value in values {
        histogram.record(Nanos(*value));
    }
    histogram
}

fn fact(key: &str, value: Result<&str, &str>) -> Observation {
    Observation {
        subject: "nvme0n1".into(),
        key: key.into(),
        value: value.map(Into::into).map_err(Reason::read),
        source: "/sys/block/nvme0n1/queue".into(),
    }
}

pub(crate) fn target(index: u32, name: &str, kind: TargetKind) -> TargetRecord {
    TargetRecord {
        index,
        expression: format!("/mnt/{name}"),
        name: name.into(),
        kind,
        area_bytes: 32 << 30,
        ceiling: vec![(1, 1.0 / 3.0), (32, 2e6)],
        facts: vec![
            fact("scheduler", Ok("none")),
            fact("size_bytes", Err("{\"code\":\"no-such-file\",\"path\":\"/sys/a\"}")),
        ],
        ..TargetRecord::default()
    }
}

pub(crate) fn run(id: &str) -> RunRecord {
    RunRecord {
        id: id.into(),
        started_at: "2025-03-01T10:00:00Z".into(),
        qdepth_version: "0.1.0".into(),
        measurement_version: 1,
        plan_name: "standard".into(),
        plan_hash: "c28aa3c6d25cb4f0e735f8412d3ccd5ad2f73aa2d42d9c6f2181cdd887844035".into(),
        plan_text: "[plan]\nname = \"standard\" # 標準\n".into(),
        seed: u64::MAX - 1,
        emulated: true,
        points_planned: 4,
        engine_choice: "auto".into(),
        comparison: Some(ComparisonRecord {
            of: "drives".into(),
            variants: vec![VariantRecord {
                name: "ein Laufwerk".into(),
                role: "single".into(),
                target: 1,
                parts: 1,
                times: 1,
            }],
            base: 0,
            base_above: false,
            shaded: true,
            latency_profiles: vec!["latency-read".into()],
            published: vec!["p3700-800gb".into()],
        }),
        environment: vec![fact("model", Ok("=cmd()")), fact("cores", Err("not permitted"))],
        targets: vec![
            target(0, "a", TargetKind::Directory),
            target(1, "b", TargetKind::BlockDevice),
            target(2, "c", TargetKind::File),
            target(3, "d", TargetKind::Emulated),
        ],
        expected: vec![ExpectedRecord {
            point: 0,
            medium: "media:p3700-800gb".into(),
            io_per_s: 30.0,
            bytes_per_s: 1e6 / 3.0,
            mean_ns: 2.5e5,
            below_io_per_s: None,
        }],
        findings: vec![Finding::remark(Code::EngineFallback).label("why", "it's forbidden")],
        ..RunRecord::default()
    }
}

fn direction(seed: u64, open_loop: bool) -> DirectionRecord {
    let values: Vec<u64> = (1..=50).map(|n| n * 1000 + seed).collect();
    DirectionRecord {
        completed: 50,
        bytes: 50 * 8192,
        errors: vec![ErrorCount { errno: 5, count: 3 }, ErrorCount { errno: 28, count: seed }],
        short: seed,
        latency: histogram(&values),
        response_time: open_loop.then(|| histogram(&[seed, seed + 7])),
        stated: None,
    }
}

fn monitor(name: &str, value: f64) -> MonitorRecord {
    MonitorRecord { at_ns: 1_000_000_001, name: name.to_owned(), value }
}

pub(crate) fn point(index: u32) -> PointRecord {
    PointRecord {
        index,
        target: index % 4,
        profile: "database".into(),
        profile_title: "Database".into(),
        random_share: 1.0,
        read_share: 0.67,
        block_size: "4KiB:60,64KiB:40".into(),
        block_size_mean_bytes: 28672.1,
        reported_as_throughput: true,
        arrivals: "poisson 1000/s".into(),
        queue_depth: 32,
        group: 2,
        variant: Some(1),
        step: "300 MB/s".into(),
        workers: 1,
        offered_io_per_s: Some(1600.5),
        streams: 2,
        direct: true,
        started_at: "2025-03-01T10:00:03Z".into(),
        warm_up_ns: 1_000_000_000,
        duration_ns: 3_000_000_000,
        ended_by: EndedBy::Precision,
        tolerance: Some(0.02),
        interim_checks: 4,
        reads: direction(1, true),
        writes: direction(2, false),
        syncs: direction(3, true),
        issued: 170,
        completed_outside: 11,
        failed_outside: 12,
        abandoned: 13,
        in_flight_integral_ns: 9.6e10 + 1.0 / 3.0,
        latency_in_window_ns: 9.6e10,
        longest_gap_ns: u64::MAX,
        gaps: [3, 2, 1],
        backlog_max: 14,
        cpu_user_ns: 15,
        cpu_system_ns: 16,
        kernel: Some(KernelCounts { reads: 1, read_bytes: 2, writes: 3, written_bytes: 4 }),
        intervals: (0..30).map(interval).collect(),
        monitors: vec![monitor("cpu steal_share", 0.25), monitor("nvme0n1 celsius", 41.0)],
        findings: vec![
            Finding::invalid(Code::Hung).value("abandoned", 13.0).value("ratio", f64::INFINITY),
            Finding::remark(Code::Buffered).label("why", "日本語 \"quoted\""),
        ],
        ..PointRecord::default()
    }
}

/// Like [`point`], with trims.
pub(crate) fn trimming(index: u32) -> PointRecord {
    let trimming = |(n, interval): (u64, IntervalRecord)| IntervalRecord {
        trims: 7,
        trimmed_bytes: 7 * 8192,
        trim_latency: (&histogram(&[n])).into(),
        ..interval
    };
    let point = point(index);
    PointRecord {
        trim_share: 0.1,
        trims: direction(4, true),
        intervals: (0..).zip(point.intervals.clone()).map(trimming).collect(),
        ..point
    }
}

pub(crate) fn interval(n: u64) -> IntervalRecord {
    IntervalRecord {
        start_ns: n * 100_000_000,
        length_ns: 100_000_000,
        reads: 100 + n % 2,
        writes: 50,
        read_bytes: 100 * 8192,
        written_bytes: 50 * 8192,
        read_latency: (&histogram(&[n + 1, 2 * n + 2])).into(),
        write_latency: (&histogram(&[])).into(),
        ..IntervalRecord::default()
    }
}

prop_compose! {
    fn any_direction()(
        completed in any::<u64>(),
        bytes in any::<u64>(),
        short in any::<u64>(),
        errors in prop::collection::vec((any::<i32>(), any::<u64>()), 0..3),
        service in prop::collection::vec(any::<u64>(), 0..20),
        response in prop::option::of(prop::collection::vec(any::<u64>(), 0..20)),
        stated in prop::option::of((any::<u64>(), prop::option::of(any::<u64>()), 0.0f64..1e12)),
    ) -> DirectionRecord {
        DirectionRecord {
            completed,
            bytes,
            short,
            errors: errors.into_iter().map(|(errno, count)| ErrorCount { errno, count }).collect(),
            latency: histogram(&service),
            response_time: response.map(|values| histogram(&values)),
            stated: stated.map(|(count, max_ns, mean)| StatedLatency {
                count,
                min_ns: None,
                mean_ns: Some(mean.trunc()),
                max_ns,
                percentiles: vec![(0.5, count)],
            }),
        }
    }
}

/// Random integer, real number and text for a column.
type Drawn = (u64, f64, String);

/// Sets a column to the value of its type, or leaves it empty if it may be.
fn draw<R: Record>(record: &mut R, column: &Column<R>, (whole, real, text): &Drawn) {
    if (column.get)(record) == Stored::Null && whole % 3 == 0 {
        return;
    }
    let number = whole.cast_signed();
    let values =
        [number, number & 0xffff_ffff].map(Stored::Whole).into_iter().chain([Stored::Real(*real)]);
    let text = Stored::Text(text.into());
    let _ = values.chain([text]).any(|value| (column.set)(record, value).is_ok());
}

/// Record with a value in every column that takes a number or a text.
pub(crate) fn filled<R: Record>() -> R {
    let mut record = R::default();
    let columns = R::columns().zip(1..);
    columns.for_each(|(column, n)| draw(&mut record, column, &(3 * n + 1, 0.5, format!("{n}"))));
    record
}

prop_compose! {
    /// Any record of a run's point: no NaN (which equals nothing, itself included).
    pub(crate) fn any_point()(
        drawn in prop::collection::vec(
            (
                any::<u64>(),
                prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::INFINITE,
                any::<String>(),
            ),
            PointRecord::columns().count(),
        ),
        directions in prop::array::uniform4(any_direction()),
        trims_too in any::<bool>(),
        figures in prop::collection::btree_map(
            "[a-z]{1,9}",
            prop::num::f64::NORMAL | prop::num::f64::INFINITE,
            0..3,
        ),
        labels in prop::collection::btree_map(any::<String>(), any::<String>(), 0..3),
        code in 0..Code::ALL.len(),
    ) -> PointRecord {
        let [reads, writes, trims, syncs] = directions;
        let trims = if trims_too { trims } else { DirectionRecord::default() };
        // An interrupted point would be superseded, which other tests cover.
        let code = if Code::ALL[code] == Code::Interrupted { Code::Stall } else { Code::ALL[code] };
        let mut point = PointRecord::default();
        let columns = PointRecord::columns().zip(&drawn);
        columns.for_each(|(column, drawn)| draw(&mut point, column, drawn));
        let whole = |n: usize| drawn[n].0;
        PointRecord {
            index: 0,
            target: 1,
            // Non-finite values become null in JSON.
            offered_io_per_s: Some(1600.5),
            trim_share: if trims_too { 0.25 } else { 0.0 },
            ended_by: EndedBy::ALL[(whole(1) % 5) as usize],
            intervals: vec![IntervalRecord {
                start_ns: whole(1),
                length_ns: whole(2),
                reads: whole(3),
                writes: whole(4),
                read_bytes: whole(5),
                written_bytes: whole(6),
                trims: if trims_too { whole(7) } else { 0 },
                trimmed_bytes: if trims_too { whole(8) } else { 0 },
                read_latency: (&reads.latency).into(),
                write_latency: (&writes.latency).into(),
                trim_latency: match trims_too {
                    true => (&trims.latency).into(),
                    false => Default::default(),
                },
            }],
            monitors: vec![monitor("cpu steal_share", drawn[4].1)],
            findings: vec![Finding { values: figures, labels, ..Finding::remark(code) }],
            reads,
            writes,
            trims,
            syncs,
            ..point
        }
    }
}

/// A certificate of one proof.
pub(crate) fn certificate(id: &str, at: &str, host: &str) -> CertificateRecord {
    let proof = ProofRecord {
        code: "clock".to_owned(),
        subject: String::new(),
        outcome: ProofOutcome::Passed,
        values: [("share".to_owned(), 0.000_012_345_678_9), ("bar".to_owned(), 0.000_5)].into(),
        why: None,
    };
    CertificateRecord {
        schema: CertificateRecord::form(),
        id: id.to_owned(),
        at: at.to_owned(),
        version: "0.2.0".to_owned(),
        host: host.to_owned(),
        kernel: "6.18.5".to_owned(),
        cpu: String::new(),
        outcome: ProofOutcome::Passed,
        proofs: vec![proof],
    }
}
