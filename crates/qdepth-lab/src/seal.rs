//! From an outcome to the record that is stored: written out by hand, so that a change inside the
//! engine never silently changes the stored form. The laws are checked here, on every point.

use qdepth_engine::{DirectionOutcome, Ended, Errors, Outcome, TargetFailure};
use qdepth_measure::{Code, Finding, PointFacts, check_laws};
use qdepth_record::{
    DirectionRecord, EndedBy, ErrorCount, IntervalRecord, PointRecord, PointSummary,
};
use qdepth_workload::{Arrivals, Point};

use crate::interference::disturbed;
use crate::measured::Measured;
use crate::prepare::Prepared;

/// The interval that ended a point and that of its whole series are the same to so much.
const PRECISION_SLACK: f64 = 1.01;
/// Below this median a transfer did not come from storage (docs/method/thresholds.md).
const IMPLAUSIBLE_NS: u64 = 2_000;
/// The percentile that a point must bear, or it says that it does not.
const TAIL: f64 = 0.99;
/// Share of the worker's time on the CPU that is a remark (docs/method/thresholds.md).
const WORKER_CPU: f64 = 0.8;

/// The record of a measured point, with every finding about it.
pub(crate) fn seal(
    point: &Point,
    prepared: &Prepared,
    measured: &Measured,
    ceiling: Option<f64>,
    started_at: &str,
) -> PointRecord {
    let mut record = record(point, measured, started_at);
    record.findings = check_laws(&facts(point, prepared, measured, ceiling));
    record.findings.extend(doubts(point, prepared, measured));
    record.findings.extend(disturbed(&measured.seen));
    record.findings.extend(statistics(&record, measured));
    record
}

fn record(point: &Point, measured: &Measured, started_at: &str) -> PointRecord {
    let outcome = &measured.outcome;
    let [reads, writes, trims, syncs] = outcome.directions.each_ref().map(direction);
    PointRecord {
        index: point.index,
        group: point.group,
        variant: point.variant,
        step: point.step.clone(),
        target: point.target,
        profile: point.profile.clone(),
        profile_title: point.profile_title.clone(),
        random_share: point.random_share,
        read_share: point.read_share,
        trim_share: point.trim_share,
        request_size: point.request_size.text(),
        request_size_mean_bytes: point.request_size.mean(),
        reported_as_throughput: point.reported_as_throughput,
        arrivals: point.arrivals_text(),
        outstanding: point.outstanding,
        offered_io_per_s: point.offered_io_per_s(),
        streams: point.streams,
        workers: point.workers,
        direct: measured.direct,
        started_at: started_at.to_owned(),
        warm_up_ns: point.warm_up_ns,
        duration_ns: outcome.duration.0,
        ended_by: ended_by(outcome.ended),
        tolerance: point.stop.until.map(|until| until.share),
        looks: outcome.looks,
        reads,
        writes,
        trims,
        syncs,
        issued: outcome.issued,
        completed_outside: outcome.completed_outside,
        failed_outside: outcome.failed_outside,
        abandoned: outcome.abandoned,
        in_flight_integral_ns: outcome.in_flight_integral,
        latency_in_window_ns: outcome.latency_in_window,
        longest_gap_ns: outcome.longest_gap.0,
        gaps: outcome.gaps,
        backlog_max: outcome.backlog_max,
        cpu_user_ns: outcome.cpu.user.0,
        cpu_system_ns: outcome.cpu.system.0,
        kernel: measured.seen.kernel,
        intervals: intervals(measured),
        witnesses: measured.seen.series.clone(),
        findings: Vec::new(),
    }
}

fn ended_by(ended: Ended) -> EndedBy {
    match ended {
        Ended::Duration => EndedBy::Duration,
        Ended::Precision => EndedBy::Precision,
        Ended::Steady => EndedBy::Steady,
        Ended::Bytes => EndedBy::Bytes,
        Ended::Interrupted => EndedBy::Interrupted,
        Ended::Failure => EndedBy::Failure,
    }
}

fn direction(outcome: &DirectionOutcome) -> DirectionRecord {
    DirectionRecord {
        completed: outcome.completed,
        bytes: outcome.bytes,
        errors: outcome.errors.kinds().map(|(errno, count)| ErrorCount { errno, count }).collect(),
        short: outcome.short,
        service_time: outcome.service_time.clone(),
        response_time: outcome.response_time.clone(),
        stated: None,
    }
}

fn intervals(measured: &Measured) -> Vec<IntervalRecord> {
    let series = &measured.outcome.series;
    let one = |(index, interval): (usize, &qdepth_engine::Interval)| {
        let [read_service_time, write_service_time, trim_service_time] = series.histograms(index);
        IntervalRecord {
            start_ns: interval.start.0,
            length_ns: interval.length.0,
            reads: interval.completed[0],
            writes: interval.completed[1],
            read_bytes: interval.bytes[0],
            written_bytes: interval.bytes[1],
            trims: interval.completed[2],
            trimmed_bytes: interval.bytes[2],
            read_service_time,
            write_service_time,
            trim_service_time,
        }
    };
    series.intervals().iter().enumerate().map(one).collect()
}

fn facts(
    point: &Point,
    prepared: &Prepared,
    measured: &Measured,
    ceiling: Option<f64>,
) -> PointFacts {
    let outcome = &measured.outcome;
    // A closed loop that forces its data out at the end runs dry there, streams that each move
    // their own bytes end one by one, and a point that ended early has other findings.
    let held = point.arrivals == Arrivals::Closed
        && point.flow.is_none()
        && point.stop.bytes_per_stream == 0
        && !point.fsync.at_end
        && outcome.failure.is_none()
        && !outcome.interrupted;
    let [transfers @ .., _] = &outcome.directions;
    let completed: u64 = transfers.iter().map(|direction| direction.completed).sum();
    // The kernel's counters are those of the target itself only on a raw device with direct I/O:
    // a file system adds its own, a page cache takes some away, and commands are not counted. Trims
    // are counted apart.
    let commands = measured.engine.as_ref().is_some_and(|used| used.engine.sends_commands());
    let raw = prepared.is_device() && measured.direct && !commands && !point.trims();
    PointFacts {
        duration_ns: outcome.duration.0 as f64,
        outstanding_asked: held.then(|| f64::from(point.in_flight_max())),
        in_flight_integral_ns: outcome.in_flight_integral,
        latency_in_window_ns: outcome.latency_in_window,
        latency_completed_ns: latency_completed_ns(outcome).filter(|_| held),
        issued: outcome.issued,
        completed: outcome.completed(),
        failed: outcome.failed(),
        outside: outcome.completed_outside + outcome.failed_outside,
        abandoned: outcome.abandoned,
        histogram_sum: outcome.directions.iter().map(|d| d.service_time.bucket_sum()).sum(),
        bytes: outcome.bytes(),
        bytes_expected: point.request_size.single().map(|size| completed * u64::from(size)),
        kernel_bytes: measured.seen.kernel.filter(|_| raw).map(|k| k.read_bytes + k.written_bytes),
        our_bytes_in_kernel_span: outcome.bytes() + outcome.bytes_outside,
        ios_in_kernel_span: ios_in_kernel_span(point, prepared, measured).filter(|_| raw),
        // What is discarded passes no link.
        link_bytes_per_s: prepared.link().filter(|_| !point.trims()),
        ceiling_io_per_s: ceiling,
    }
}

/// Sum of the latencies of what completed, where nothing failed.
fn latency_completed_ns(outcome: &Outcome) -> Option<f64> {
    let failed = outcome.failed() + outcome.failed_outside + outcome.abandoned;
    let sums = || outcome.directions.iter().map(|d| d.service_time.sum() as f64);
    (failed == 0).then(|| sums().sum())
}

/// The kernel's I/Os and ours, where the device takes each request of ours whole.
fn ios_in_kernel_span(
    point: &Point,
    prepared: &Prepared,
    measured: &Measured,
) -> Option<(u64, u64)> {
    let most = prepared.real()?.inspected.block_device()?.max_request_bytes?;
    let kernel = measured.seen.kernel?;
    let outcome = &measured.outcome;
    let [reads, writes, ..] = &outcome.directions;
    // What is outside the window may be a flush, which the kernel counts apart: only loads without.
    let comparable = u64::from(point.request_size.max()) <= most
        && !measured.seen.shared
        && point.fsync.every_writes == 0
        && !point.fsync.at_end
        && outcome.failed() + outcome.failed_outside == 0;
    let ours = reads.completed + writes.completed + outcome.completed_outside;
    comparable.then_some((kernel.reads + kernel.writes, ours))
}

fn doubts(point: &Point, prepared: &Prepared, measured: &Measured) -> Vec<Finding> {
    let outcome = &measured.outcome;
    let mut findings = Vec::new();
    let mut found = |condition: bool, finding: Finding| {
        if condition {
            findings.push(finding);
        }
    };
    let failed = outcome.failed() + outcome.failed_outside;
    found(
        failed > 0,
        Finding::invalid(Code::IoErrors)
            .value("failed", failed as f64)
            .label("errors", errors(&outcome.directions)),
    );
    match &outcome.failure {
        Some(TargetFailure::Gone(evidence)) => {
            found(true, Finding::invalid(Code::DeviceGone).label("evidence", evidence));
        }
        Some(TargetFailure::Broken(why)) => {
            found(true, Finding::invalid(Code::TargetFailed).label("why", why));
        }
        None => {}
    }
    found(
        outcome.abandoned > 0,
        Finding::invalid(Code::Hung)
            .value("abandoned", outcome.abandoned as f64)
            .value("waited_ns", outcome.longest_gap.0 as f64),
    );
    found(
        outcome.backlog_max > u64::from(point.outstanding),
        Finding::invalid(Code::Saturated)
            .value("backlog_max", outcome.backlog_max as f64)
            .value("limit", f64::from(point.outstanding)),
    );
    let short: u64 = outcome.directions.iter().map(|d| d.short).sum();
    found(short > 0, Finding::remark(Code::ShortTransfers).value("short", short as f64));
    found(outcome.interrupted, Finding::invalid(Code::Interrupted));
    found(
        point.direct && !measured.direct,
        Finding::invalid(Code::NotDirect).label(
            "why",
            prepared.not_direct().unwrap_or_else(|| "the kernel ignored it".to_owned()),
        ),
    );
    found(!point.direct, Finding::remark(Code::Buffered));
    let compressible = point.payload.compressible_share;
    let repeats = point.payload.duplicates.is_some_and(|duplicates| duplicates.share > 0.0);
    found(
        point.write_share() > 0.0 && (compressible > 0.0 || repeats),
        compressible_payload(compressible),
    );
    found(
        outcome.series.lost > 0,
        Finding::remark(Code::SeriesTruncated).value("lost_intervals", outcome.series.lost as f64),
    );
    if let Some(changed) = &measured.changed {
        found(true, changed.finding());
    }
    let stood = measured.seen.stood;
    for finding in [stood.stall(outcome), stood.finding(outcome)].into_iter().flatten() {
        found(true, finding);
    }
    let cpu = (outcome.cpu.user + outcome.cpu.system).as_secs_f64();
    let share = cpu / outcome.duration.as_secs_f64().max(1e-9);
    found(share > WORKER_CPU, Finding::remark(Code::GeneratorCpu).value("share", share));
    findings
}

/// How much less space the payload may take by compression: none at all where all of it is zeros.
fn compressible_payload(share: f64) -> Finding {
    let finding = Finding::remark(Code::CompressiblePayload);
    if share > 0.0 && share < 1.0 { finding.value("ratio", 1.0 / (1.0 - share)) } else { finding }
}

fn errors(directions: &[DirectionOutcome; 4]) -> String {
    let mut parts = Vec::new();
    for (name, direction) in ["read", "write", "trim", "sync"].iter().zip(directions) {
        for (errno, count) in direction.errors.kinds() {
            let text = match errno {
                Errors::OTHERS => "errors of other kinds".to_owned(),
                errno => std::io::Error::from_raw_os_error(errno).to_string(),
            };
            parts.push(format!("{name}: {count} × {text}"));
        }
    }
    if parts.is_empty() { "outside the measured window".to_owned() } else { parts.join("; ") }
}

fn statistics(record: &PointRecord, measured: &Measured) -> Vec<Finding> {
    let summary = PointSummary::of(record);
    let mut findings = Vec::new();
    if summary.io_per_s.interval.is_none() && !measured.outcome.interrupted {
        findings.push(
            Finding::remark(Code::IntervalNotAvailable)
                .value("samples", record.intervals.len() as f64)
                .value("autocorrelation", summary.io_per_s.autocorrelation),
        );
    }
    let reached = summary.io_per_s.half_width_share();
    // One that went on for others that it runs with may have become less precise again.
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
    let all = &summary.service_time.all;
    let tail = all.percentiles.iter().any(|p| p.quantile >= TAIL);
    if all.count > 0 && !tail {
        findings.push(Finding::remark(Code::TooFewSamples).value("samples", all.count as f64));
    }
    let median = record.reads.service_time.quantile(0.5);
    if let Some(median) =
        median.filter(|m| m.0 < IMPLAUSIBLE_NS && record.request_size_mean_bytes >= 4096.0)
        && measured.engine.is_some()
    {
        findings.push(Finding::remark(Code::ImplausiblyFast).value("median_ns", median.0 as f64));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_of_nothing_has_no_ratio() {
        assert!((compressible_payload(0.75).values["ratio"] - 4.0).abs() < 1e-9);
        assert!(compressible_payload(1.0).values.is_empty());
    }
}
