//! Findings from a point's own counts, in addition to the consistency checks.

use qdepth_engine::{DirectionOutcome, Errors, Outcome, Shortfall};
use qdepth_host::target::{FileSystem, Kind};
use qdepth_linux::errno_name;
use qdepth_measure::{Code, Finding, Nanos, Severity, label};
use qdepth_record::{EndedBy, ExpectedRecord, PointRecord, PointSummary};
use qdepth_workload::{Arrivals, Point};

use crate::outcome::measured::Measured;
use crate::request::worker_result::WorkerResult;
use crate::target::prepare::Prepared;

use super::failure::failure;
use super::point_seen::PointSeen;
use super::run::device_changed;

/// Tolerated ratio between the interval of the whole series and the one that ended the point.
const PRECISION_SLACK: f64 = 1.01;
/// Median latency below which data did not come from storage (docs/method/thresholds.md).
const IMPLAUSIBLE_NS: u64 = 2_000;
/// The percentile that needs enough samples; without it there is a finding.
const TAIL: f64 = 0.99;
/// CPU utilisation of a worker for a warning (docs/method/thresholds.md).
const WORKER_CPU: f64 = 0.8;

/// Share by which stamps may deviate from the kernel's clock, whose own slewing is at most 0.05 %.
const CLOCK_DRIFT: f64 = 0.001;

/// Ratio of bytes written to the page cache to bytes written directly, from which btrfs has
/// buffered the writes, as it is known to do; and the least number of bytes for that conclusion.
const CACHED_BY_BTRFS: f64 = 0.8;
const CACHED_BY_BTRFS_MIN: u64 = 1 << 20;
/// The same for other file systems. The two must be about equal, because other programs write
/// through the page cache, too.
const CACHED_BY_OTHERS: std::ops::RangeInclusive<f64> = 0.9..=1.2;
const CACHED_BY_OTHERS_MIN: u64 = 8 << 20;

/// Ratio of the time of a durable write to that of the write alone from which it is reported.
const DURABLE_SHARE: f64 = 1.1;

/// Share of the expected rate below which a rate is clearly lower: a deviation of twice the mean
/// error that the least exact predictions of the emulation may have (`reference/goals.toml`: 12 %).
const CLEARLY: f64 = 0.75;

/// Findings about the point.
pub(super) fn findings(seen: &PointSeen<'_>) -> Vec<Finding> {
    let &PointSeen { point, prepared, measured, .. } = seen;
    let outcome = &measured.outcome;
    let is_saturated =
        outcome.backlog_max > u64::from(point.queue_depth) && !only_bursts(point, outcome);
    let compressible = point.payload.compressible_share;
    let repeats = point.payload.duplicates.is_some_and(|duplicates| duplicates.share > 0.0);
    let is_compressed = point.write_share() > 0.0 && (compressible > 0.0 || repeats);
    let pauses = measured.seen.pauses;
    let all = [
        io_errors(outcome),
        outcome.failure.as_ref().map(failure),
        (outcome.abandoned > 0).then(|| {
            Finding::invalid(Code::Hung)
                .value("abandoned", outcome.abandoned as f64)
                .value("waited_ns", outcome.longest_gap.0 as f64)
        }),
        is_saturated.then(|| {
            Finding::invalid(Code::Saturated)
                .value("backlog_max", outcome.backlog_max as f64)
                .value("limit", f64::from(point.queue_depth))
        }),
        short_transfers(outcome),
        outcome.interrupted.then(|| Finding::invalid(Code::Interrupted)),
        not_direct(point, prepared, measured),
        (!point.direct).then(|| Finding::remark(Code::Buffered)),
        is_compressed.then(|| compressible_payload(compressible)),
        (outcome.series.lost > 0).then(|| {
            let lost = outcome.series.lost as f64;
            Finding::remark(Code::SeriesTruncated).value("lost_intervals", lost)
        }),
        measured.changed.as_ref().map(device_changed),
        syncs_apart(point, outcome),
        outcome.shortfall.map(rate_not_kept),
        pauses.stall(outcome),
        pauses.finding(outcome),
        busy_generator(measured),
    ];
    all.into_iter().flatten().collect()
}

/// True if the backlog comes from random arrivals alone: less than half of the queue depth was used
/// on average, so the queue is stable and empties again, and it was never longer than such a queue
/// can be. One of an M/M/1 queue at half load reaches 40 with a probability of 2^-40 per arrival; a
/// device that pauses leaves a longer one.
fn only_bursts(point: &Point, outcome: &Outcome) -> bool {
    const BURST: u64 = 40;
    let slots = u64::from(point.queue_depth) * u64::from(point.streams);
    let used =
        outcome.in_flight_integral / (outcome.duration.0.max(1) as f64 * (slots as f64).max(1.0));
    matches!(point.arrivals, Arrivals::Poisson { .. })
        && used < 0.5
        && outcome.backlog_max <= slots + BURST
}

/// Failed I/Os by direction and error. Those outside the window are counted without a kind, so
/// their number is stated if there are others.
fn io_errors(outcome: &Outcome) -> Option<Finding> {
    let (within, outside) = (outcome.failed(), outcome.failed_outside);
    let mut finding = Finding::invalid(Code::IoErrors).value("failed", (within + outside) as f64);
    if within > 0 && outside > 0 {
        finding = finding.value("outside", outside as f64);
    }
    (within + outside > 0).then(|| finding.label("errors", errors(&outcome.directions)))
}

fn short_transfers(outcome: &Outcome) -> Option<Finding> {
    let short: u64 = outcome.directions.iter().map(|direction| direction.short).sum();
    (short > 0).then(|| Finding::remark(Code::ShortTransfers).value("short", short as f64))
}

fn busy_generator(measured: &Measured) -> Option<Finding> {
    let share = busiest(&measured.ranks).unwrap_or_else(|| cpu_share(&measured.outcome));
    (share > WORKER_CPU).then(|| Finding::remark(Code::GeneratorCpu).value("share", share))
}

/// CPU utilisation of the worker with the most; `None` without results of single workers.
fn busiest(workers: &[WorkerResult]) -> Option<f64> {
    let shares = workers.iter().filter(|worker| worker.duration > Nanos::ZERO);
    let share = |worker: &WorkerResult| worker.cpu.as_secs_f64() / worker.duration.as_secs_f64();
    shares.map(share).reduce(f64::max)
}

/// CPU utilisation of one worker.
fn cpu_share(outcome: &Outcome) -> f64 {
    let cpu = (outcome.cpu.user + outcome.cpu.system).as_secs_f64();
    cpu / outcome.duration.as_secs_f64().max(1e-9)
}

/// Finding about the time of syncs: a sync makes a write durable, but its time is in no latency of
/// writes.
fn syncs_apart(point: &Point, outcome: &Outcome) -> Option<Finding> {
    let [_, writes, _, syncs] = &outcome.directions;
    let mean = |direction: &DirectionOutcome| {
        let histogram = &direction.latency;
        (histogram.count() > 0).then(|| histogram.sum() as f64 / histogram.count() as f64)
    };
    let every = point.fsync.every_writes;
    let (write, sync) = (mean(writes)?, mean(syncs).filter(|_| every > 0)?);
    // Includes only the share of a sync that makes this write durable.
    let operation = write + sync * syncs.completed as f64 / writes.completed as f64;
    let finding = Finding::remark(Code::SyncsApart)
        .value("write_ns", write)
        .value("sync_ns", sync)
        .value("operation_ns", operation);
    (operation > DURABLE_SHARE * write).then_some(finding)
}

/// Finding if direct I/O was requested but is not in effect.
pub(super) fn not_direct(
    point: &Point,
    prepared: &Prepared,
    measured: &Measured,
) -> Option<Finding> {
    let why = if !point.direct {
        return None;
    } else if !measured.direct {
        prepared.not_direct().unwrap_or_else(|| label::IGNORED.to_owned())
    } else if writes_were_cached(point, prepared, measured) {
        label::DIRECT_WRITES_CACHED.to_owned()
    } else {
        return None;
    };
    Some(Finding::invalid(Code::NotDirect).label("why", why))
}

/// True if this file system may write through the page cache although direct I/O was requested.
/// For one that never does, other programs that write as much must not be taken for the load.
fn may_fall_back(file_system: &FileSystem) -> bool {
    let options = &file_system.options;
    match file_system.storing.as_str() {
        "xfs" => false,
        "ext2" | "ext3" | "ext4" => options.split(',').any(|option| option == "data=journal"),
        "btrfs" => !file_system.without_checksums,
        _ => true,
    }
}

/// True if about as many bytes went to the page cache as the load wrote to a file directly. File
/// systems that must not see data change during a write (checksums, a data journal) silently fall
/// back to the page cache and then drop the pages, so that only this count shows it.
fn writes_were_cached(point: &Point, prepared: &Prepared, measured: &Measured) -> bool {
    let [_, writes, ..] = &measured.outcome.directions;
    let dirtied = measured.seen.dirtied_bytes.unwrap_or(0);
    let kind = prepared.real().map(|real| &real.inspected.kind);
    let Some(Kind::RegularFile { file_system, .. } | Kind::Directory(file_system)) = kind else {
        return false;
    };
    // The kernel's count includes the warm-up.
    let outside = measured.outcome.bytes_outside as f64 * point.write_share();
    let share = dirtied as f64 / (writes.bytes as f64 + outside).max(1.0);
    let cached = match file_system.storing.as_str() {
        _ if !may_fall_back(file_system) => false,
        "btrfs" => writes.bytes >= CACHED_BY_BTRFS_MIN && share >= CACHED_BY_BTRFS,
        _ => writes.bytes >= CACHED_BY_OTHERS_MIN && CACHED_BY_OTHERS.contains(&share),
    };
    cached && point.operation.is_transfer()
}

fn rate_not_kept(short: Shortfall) -> Finding {
    Finding::invalid(Code::RateNotKept)
        .value("least_per_s", short.least)
        .value("reached_per_s", short.reached)
        .label("direction", label::DIRECTIONS[short.kind.min(2)])
        .label("unit", if short.of_bytes { "B" } else { "IO" })
}

/// Finding about a compressible payload, with its compression ratio, unless it is all zeros.
fn compressible_payload(share: f64) -> Finding {
    let finding = Finding::remark(Code::CompressiblePayload);
    if share > 0.0 && share < 1.0 { finding.value("ratio", 1.0 / (1.0 - share)) } else { finding }
}

/// Errors as text, for example `write EIO 3; sync ENOSPC 1`: direction, kernel name, count.
fn errors(directions: &[DirectionOutcome; 4]) -> String {
    let mut parts = Vec::new();
    for (name, direction) in ["read", "write", "trim", "sync"].iter().zip(directions) {
        for (errno, count) in direction.errors.kinds() {
            let kind = match errno {
                Errors::OTHERS => "other".to_owned(),
                errno => errno_name(errno),
            };
            parts.push(format!("{name} {kind} {count}"));
        }
    }
    if parts.is_empty() { label::OUTSIDE.to_owned() } else { parts.join("; ") }
}

/// Findings about statistics with too little data.
pub(super) fn statistics(record: &PointRecord, measured: &Measured) -> Vec<Finding> {
    let summary = PointSummary::from_point(record);
    let mut findings = Vec::new();
    if summary.io_per_s.interval.is_none() && !measured.outcome.interrupted {
        findings.push(
            Finding::remark(Code::IntervalNotAvailable)
                .value("samples", record.intervals.len() as f64)
                .value("autocorrelation", summary.io_per_s.autocorrelation),
        );
    }
    let reached = summary.io_per_s.half_width_share();
    // A point that continued for others may have become less precise again.
    let ended_so = match record.ended_by {
        EndedBy::Duration => Some(1.0),
        EndedBy::Precision => Some(PRECISION_SLACK),
        _ => None,
    };
    if let (Some(asked), Some(slack)) = (record.tolerance, ended_so)
        && reached.is_none_or(|reached| reached > asked * slack)
    {
        let finding = Finding::remark(Code::PrecisionNotReached).value("asked_share", asked);
        findings.push(match reached {
            Some(reached) => finding.value("reached_share", reached),
            None => finding,
        });
    }
    let all = &summary.latency.all;
    let tail = all.percentiles.iter().any(|p| p.quantile >= TAIL);
    if all.count > 0 && !tail {
        findings.push(Finding::remark(Code::TooFewSamples).value("samples", all.count as f64));
    }
    let median = record.reads.latency.quantile(0.5);
    if let Some(median) =
        median.filter(|m| m.0 < IMPLAUSIBLE_NS && record.block_size_mean_bytes >= 4096.0)
        && measured.engine.is_some()
    {
        findings.push(Finding::remark(Code::ImplausiblyFast).value("median_ns", median.0 as f64));
    }
    findings
}

/// Finding if the rate, with its whole interval, is below the expected one: by more than the known
/// error of the device model, or else clearly.
pub(super) fn below_expected(expected: &ExpectedRecord, point: &PointRecord) -> Option<Finding> {
    let rate = PointSummary::from_point(point).io_per_s;
    let highest = rate.interval.map_or(rate.value, |(_, high)| high);
    let share = expected.share_reached(rate.value)?;
    let is_below = match expected.below_io_per_s {
        Some(below) => highest < below,
        None => expected.share_reached(highest)? < CLEARLY,
    };
    is_below.then(|| {
        Finding::remark(Code::BelowExpected)
            .value("share", share)
            .value("io_per_s", rate.value)
            .value("expected_io_per_s", expected.io_per_s)
            .label("medium", &expected.medium)
    })
}

/// Reduces the severity of a backlog in staircases, which look for it: a step that the target
/// cannot follow is a result, and a step that it follows may fall behind for a moment.
pub(super) fn staircase(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|f| f.code == Code::Saturated) {
        finding.severity = Severity::Remark;
    }
}

/// Findings about the engine and its clock.
pub(super) fn engine(measured: &Measured) -> Vec<Finding> {
    let Some(used) = &measured.engine else { return Vec::new() };
    let refused = used.probe.refused.iter().map(|refused| {
        let finding = Finding::remark(Code::EngineFallback)
            .label("engine", used.engine.name())
            .label("refused", refused.engine.name())
            .label("why", &refused.why);
        match refused.operation {
            Some(operation) => finding.label("operation", operation),
            None => finding,
        }
    });
    let missing = used.probe.missing.iter().map(|(feature, why)| {
        Finding::remark(Code::EngineFeature).label("feature", *feature).label("why", why)
    });
    let drift = used.clock.ahead_ns as f64 / used.clock.over.0.max(1) as f64;
    let drifted = (drift.abs() > CLOCK_DRIFT)
        .then(|| Finding::invalid(Code::ClockDrift).value("drift", drift));
    refused.chain(missing).chain(drifted).collect()
}

#[cfg(test)]
mod tests {
    use qdepth_engine::Absence;
    use qdepth_linux::{ClockCheck, Engine, Probe, RefusedEngine};

    use super::*;
    use crate::instrument::calibrate::null_point;
    use crate::outcome::measured::Used;

    /// On a busy machine, other programs write as much through the page cache as the load directly.
    #[test]
    fn cached_writes_need_a_falling_back_file_system() {
        for (kind, options, may) in [
            ("btrfs", "rw", true),
            ("zfs", "rw", true),
            ("ext4", "rw,relatime,data=journal", true),
            ("ext4", "rw,relatime,data=ordered", false),
            ("xfs", "rw,attr2", false),
        ] {
            let (kind, options) = (kind.to_owned(), options.to_owned());
            let mut found = FileSystem { storing: kind, options, ..FileSystem::default() };
            assert_eq!(may_fall_back(&found), may, "{found:?}");
            found.without_checksums = found.storing == "btrfs";
            assert_eq!(may_fall_back(&found), may && found.storing != "btrfs", "{found:?}");
        }
    }

    #[test]
    fn errors_have_errno_names_without_sentences() {
        let mut directions: [DirectionOutcome; 4] = Default::default();
        assert_eq!(errors(&directions), label::OUTSIDE);
        directions[1].errors.count_many(5, 3);
        directions[3].errors.count_many(28, 1);
        directions[3].errors.count_many(Errors::OTHERS, 2);
        assert_eq!(errors(&directions), "write EIO 3; sync ENOSPC 1; sync other 2");
    }

    #[test]
    fn error_counts_add_up_with_failures_outside() {
        let mut outcome = Outcome::default();
        outcome.directions[0].errors.count_many(5, 30);
        let counted = |outcome: &Outcome| io_errors(outcome).map(|found| found.values);
        let values = counted(&outcome).unwrap();
        assert_eq!((values["failed"], values.get("outside")), (30.0, None));
        outcome.failed_outside = 16;
        let values = counted(&outcome).unwrap();
        assert_eq!((values["failed"], values["outside"]), (46.0, 16.0));
        assert_eq!(counted(&Outcome::default()), None);
    }

    #[test]
    fn missing_engine_is_reported_by_codes() {
        let refused = RefusedEngine {
            engine: Engine::IoUring,
            why: label::NO_OPERATION.to_owned(),
            operation: Some("IORING_OP_FSYNC"),
        };
        let used = Used {
            engine: Engine::LinuxAio,
            probe: Probe { refused: vec![refused], ..Probe::default() },
            clock: ClockCheck { source: "none", over: Nanos::ZERO, ahead_ns: 0 },
            waited: 0.0,
        };
        let gone = Measured::nothing(&null_point().unwrap(), Absence::NotThere(String::new()));
        let found = engine(&Measured { engine: Some(used), ..gone });
        let [finding] = &found[..] else { panic!("{found:?}") };
        assert_eq!(finding.check(false), Ok(()));
        let labels = ["engine", "refused", "operation", "why"].map(|name| &*finding.labels[name]);
        assert_eq!(labels, ["linux-aio", "io_uring", "IORING_OP_FSYNC", "no-operation"]);
    }

    #[test]
    fn short_transfers_and_implausible_latencies_are_findings() {
        let codes = |found: &[Finding]| found.iter().map(|f| f.code).collect::<Vec<_>>();
        let gone = || Measured::nothing(&null_point().unwrap(), Absence::NotThere(String::new()));
        let mut measured = gone();
        assert_eq!((short_transfers(&measured.outcome), busy_generator(&measured)), (None, None));
        measured.outcome.directions[1].short = 2;
        let short = short_transfers(&measured.outcome).unwrap();
        assert_eq!((short.code, short.values["short"]), (Code::ShortTransfers, 2.0));
        let second = Nanos::from_millis(1000);
        measured.ranks =
            vec![WorkerResult { duration: second, cpu: second, ..WorkerResult::default() }];
        assert_eq!(busy_generator(&measured).unwrap().code, Code::GeneratorCpu);
        // Reads of 4 KiB in 200 ns, which no storage reaches.
        let mut record = PointRecord { block_size_mean_bytes: 4096.0, ..PointRecord::default() };
        (0..2000).for_each(|_| record.reads.latency.record(Nanos(200)));
        let of_memory = statistics(&record, &gone());
        assert_eq!(codes(&of_memory), [Code::IntervalNotAvailable]);
        let used = Used {
            engine: Engine::IoUring,
            probe: Probe::default(),
            clock: ClockCheck { source: "none", over: Nanos::ZERO, ahead_ns: 0 },
            waited: 0.0,
        };
        let too_fast = statistics(&record, &Measured { engine: Some(used), ..gone() });
        assert_eq!(codes(&too_fast), [Code::IntervalNotAvailable, Code::ImplausiblyFast]);
    }

    #[test]
    fn zero_payload_has_no_compression_ratio() {
        assert!((compressible_payload(0.75).values["ratio"] - 4.0).abs() < 1e-9);
        assert!(compressible_payload(1.0).values.is_empty());
    }

    /// Eight workers at 12 % were once reported as one worker at 96 %.
    #[test]
    fn generator_load_is_the_busiest_workers_load() {
        let worker = |ms: u64| WorkerResult {
            duration: Nanos::from_millis(1000),
            cpu: Nanos::from_millis(ms),
            ..WorkerResult::default()
        };
        assert_eq!(busiest(&vec![worker(120); 8]), Some(0.12));
        assert_eq!(busiest(&[worker(120), worker(900), worker(5)]), Some(0.9));
        let none = WorkerResult { duration: Nanos::ZERO, ..worker(5) };
        assert_eq!((busiest(&[]), busiest(&[none])), (None, None));
    }
}
