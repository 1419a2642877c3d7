//! Conversion of an outcome to the stored record. It names every field, so that a change inside the
//! engine never silently changes the stored form.

use qdepth_engine::DirectionOutcome;
use qdepth_record::{DirectionRecord, EndedBy, ErrorCount, IntervalRecord, PointRecord};
use qdepth_workload::{Durability, Point};

use crate::outcome::measured::Measured;

/// The record of a measured point, without findings.
pub(crate) fn seal(point: &Point, measured: &Measured, started_at: &str) -> PointRecord {
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
        block_size: point.block_size.text(),
        block_size_mean_bytes: point.block_size.mean(),
        reported_as_throughput: point.reported_as_throughput,
        arrivals: point.arrivals_text(),
        queue_depth: point.queue_depth,
        offered_io_per_s: point.offered_io_per_s(),
        streams: point.streams,
        workers: point.workers,
        direct: measured.direct,
        started_at: started_at.to_owned(),
        delay_ns: Some(point.delay_ns).filter(|delay| *delay > 0),
        warm_up_ns: point.warm_up_ns,
        duration_ns: outcome.duration.0,
        // Both list the same reasons in the same order.
        ended_by: EndedBy::ALL[outcome.ended as usize],
        tolerance: point.stop.until.map(|until| until.share),
        interim_checks: outcome.interim_checks,
        reads,
        writes,
        trims,
        syncs,
        durability: durability(point.durability).map(str::to_owned),
        write_part: outcome.parts.as_ref().map(|parts| (&parts.write).into()),
        sync_part: outcome.parts.as_ref().map(|parts| (&parts.sync).into()),
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
        monitors: measured.seen.series.clone(),
        findings: Vec::new(),
    }
}

fn durability(durability: Durability) -> Option<&'static str> {
    match durability {
        Durability::None => None,
        Durability::Sync => Some("sync"),
        Durability::Dsync => Some("dsync"),
        Durability::Fsync => Some("fsync"),
        Durability::Fdatasync => Some("fdatasync"),
    }
}

fn direction(outcome: &DirectionOutcome) -> DirectionRecord {
    DirectionRecord {
        completed: outcome.completed,
        bytes: outcome.bytes,
        errors: outcome.errors.kinds().map(|(errno, count)| ErrorCount { errno, count }).collect(),
        short: outcome.short,
        latency: outcome.latency.clone(),
        response_time: outcome.response_time.clone(),
        stated: None,
    }
}

fn intervals(measured: &Measured) -> Vec<IntervalRecord> {
    let series = &measured.outcome.series;
    let record = |(index, interval): (usize, &qdepth_engine::Interval)| {
        let [read_latency, write_latency, trim_latency] = series.histograms(index);
        IntervalRecord {
            start_ns: interval.start.0,
            length_ns: interval.length.0,
            reads: interval.completed[0],
            writes: interval.completed[1],
            read_bytes: interval.bytes[0],
            written_bytes: interval.bytes[1],
            trims: interval.completed[2],
            trimmed_bytes: interval.bytes[2],
            read_latency,
            write_latency,
            trim_latency,
        }
    };
    series.intervals().iter().enumerate().map(record).collect()
}

#[cfg(test)]
mod tests {
    use qdepth_engine::Ended;
    use qdepth_record::EndedBy;

    #[test]
    fn reasons_of_loop_and_record_agree() {
        let all = [
            Ended::Duration,
            Ended::Precision,
            Ended::Steady,
            Ended::Bytes,
            Ended::Rate,
            Ended::Interrupted,
            Ended::Failure,
        ];
        for (index, ended) in all.into_iter().enumerate() {
            assert_eq!(ended as usize, index);
            let stored = EndedBy::ALL[index];
            assert_eq!(format!("{ended:?}"), format!("{stored:?}"));
        }
        assert_eq!(all.len(), EndedBy::ALL.len());
    }
}
