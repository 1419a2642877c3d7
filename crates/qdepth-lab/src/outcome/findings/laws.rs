//! Inputs of the consistency checks of every point (`qdepth_measure::check_laws`).

use qdepth_engine::Outcome;
use qdepth_measure::{BelowFile, PointFacts};
use qdepth_workload::{Arrivals, Point};

use crate::outcome::measured::Measured;
use crate::target::prepare::Prepared;

use super::point_seen::PointSeen;

pub(super) fn facts(seen: &PointSeen<'_>) -> PointFacts {
    let &PointSeen { point, prepared, measured, .. } = seen;
    let outcome = &measured.outcome;
    // The queue depth is not constant if a closed loop ends with a sync, if streams that each move
    // their own bytes end one by one, or if the point ended early, which has other findings.
    let held = point.arrivals == Arrivals::Closed
        && point.flow.is_none()
        && point.stop.bytes_per_stream == 0
        && !point.fsync.at_end
        && outcome.failure.is_none()
        && !outcome.interrupted;
    let [transfers @ .., _] = &outcome.directions;
    let completed: u64 = transfers.iter().map(|direction| direction.completed).sum();
    // The kernel's counters are those of the target only on a device with direct I/O: a file system
    // adds I/O, a page cache hides some, and NVMe commands are not counted. Trims are counted
    // separately.
    let commands = measured.engine.as_ref().is_some_and(|used| used.engine.sends_commands());
    // The counters of a host cover only its own ranks.
    let one_host = !measured.others.on_other_hosts;
    let raw = prepared.is_device() && measured.direct && !commands && !point.trims() && one_host;
    PointFacts {
        duration_ns: outcome.duration.0 as f64,
        queue_depth_asked: held.then(|| f64::from(point.in_flight_max())),
        in_flight_integral_ns: outcome.in_flight_integral,
        latency_in_window_ns: outcome.latency_in_window,
        latency_completed_ns: latency_completed_ns(outcome).filter(|_| held),
        issued: outcome.issued,
        completed: outcome.completed(),
        failed: outcome.failed(),
        outside: outcome.completed_outside + outcome.failed_outside,
        abandoned: outcome.abandoned,
        histogram_sum: outcome.directions.iter().map(|d| d.latency.bucket_sum()).sum(),
        bytes: outcome.bytes(),
        bytes_expected: point.block_size.single().map(|size| completed * u64::from(size)),
        kernel_bytes: measured.seen.kernel.filter(|_| raw).map(|k| k.read_bytes + k.written_bytes),
        our_bytes_in_kernel_span: outcome.bytes() + outcome.bytes_outside,
        ios_in_kernel_span: ios_in_kernel_span(point, prepared, measured).filter(|_| raw),
        below_file: below_file(point, prepared, measured).filter(|_| one_host),
        // Discards transfer no data over the link.
        link_bytes_per_s: prepared.link().filter(|_| !point.trims() && one_host),
        ceiling_io_per_s: seen.ceiling.filter(|_| one_host),
    }
}

/// Kernel counts of the device below a file, if comparable.
fn below_file(point: &Point, prepared: &Prepared, measured: &Measured) -> Option<BelowFile> {
    let outcome = &measured.outcome;
    let is_comparable = !prepared.is_device()
        && measured.direct
        && point.operation.is_transfer()
        && !point.trims()
        && outcome.failed() + outcome.failed_outside + outcome.abandoned == 0;
    let kernel = measured.seen.kernel.filter(|_| is_comparable)?;
    let (read, written) = (kernel.read_bytes, kernel.written_bytes);
    Some(BelowFile { read, written, read_share: point.read_share })
}

/// Sum of the latencies of all completed I/Os; `None` if any failed.
fn latency_completed_ns(outcome: &Outcome) -> Option<f64> {
    let failed = outcome.failed() + outcome.failed_outside + outcome.abandoned;
    let sums = || outcome.directions.iter().map(|d| d.latency.sum() as f64);
    (failed == 0).then(|| sums().sum())
}

/// I/Os counted by the kernel and by qdepth; `None` unless the device takes each of qdepth's
/// requests whole.
fn ios_in_kernel_span(
    point: &Point,
    prepared: &Prepared,
    measured: &Measured,
) -> Option<(u64, u64)> {
    let most = prepared.real()?.inspected.block_device()?.max_request_bytes?;
    let kernel = measured.seen.kernel?;
    let outcome = &measured.outcome;
    let [reads, writes, ..] = &outcome.directions;
    // Requests outside the window could be flushes, which are counted separately, so loads with
    // flushes are excluded.
    let comparable = u64::from(point.block_size.max()) <= most
        && !measured.seen.shared
        && !point.syncs()
        && !point.fsync.at_end
        && outcome.failed() + outcome.failed_outside == 0;
    let ours = reads.completed + writes.completed + outcome.completed_outside;
    comparable.then_some((kernel.reads + kernel.writes, ours))
}
