//! Merges the results of several workers, or of several segments, into the outcome of one point.

use qdepth_measure::{LatencyHistogram, Nanos};

use crate::outcome::{DirectionOutcome, Ended, Outcome};
use crate::series::{Interval, Series};
use crate::target::CpuTime;

/// Merges the results of workers that shared a point and a start. Counts, histograms and series are
/// exact sums. The longest gap is the shortest of the workers' longest gaps, which bounds the true
/// one from above. The number of gaps over a limit is the smallest that any worker had.
pub fn join(outcomes: Vec<Outcome>) -> Outcome {
    let mut outcomes = outcomes.into_iter();
    let Some(first) = outcomes.next() else { return Outcome::default() };
    outcomes.fold(first, merge)
}

/// Names every field, so that a new field does not compile until it is merged.
fn merge(a: Outcome, b: Outcome) -> Outcome {
    let Outcome {
        mut directions,
        mut parts,
        mut gaps,
        duration,
        issued,
        completed_outside,
        bytes_outside,
        failed_outside,
        abandoned,
        in_flight_integral,
        latency_in_window,
        longest_gap,
        backlog_max,
        cpu,
        series,
        ended,
        caught_up_from,
        bytes_before,
        interim_checks,
        shortfall,
        interrupted,
        failure,
    } = a;
    for (mine, theirs) in directions.iter_mut().zip(b.directions) {
        add(mine, theirs);
    }
    match (&mut parts, b.parts) {
        (Some(mine), Some(theirs)) => mine.merge(&theirs),
        (mine, theirs) => *mine = mine.take().or(theirs),
    }
    for (mine, theirs) in gaps.iter_mut().zip(b.gaps) {
        *mine = (*mine).min(theirs);
    }
    Outcome {
        duration: duration.max(b.duration),
        directions,
        parts,
        issued: issued + b.issued,
        completed_outside: completed_outside + b.completed_outside,
        bytes_outside: bytes_outside + b.bytes_outside,
        failed_outside: failed_outside + b.failed_outside,
        abandoned: abandoned + b.abandoned,
        in_flight_integral: in_flight_integral + b.in_flight_integral,
        latency_in_window: latency_in_window + b.latency_in_window,
        longest_gap: longest_gap.min(b.longest_gap),
        gaps,
        backlog_max: backlog_max.max(b.backlog_max),
        cpu: CpuTime {
            user: Nanos(cpu.user.0 + b.cpu.user.0),
            system: Nanos(cpu.system.0 + b.cpu.system.0),
            switches: cpu.switches + b.cpu.switches,
            faults: [0, 1].map(|kind| cpu.faults[kind] + b.cpu.faults[kind]),
        },
        series: joined(&series, &b.series),
        ended: if ended == Ended::Duration { b.ended } else { ended },
        caught_up_from: caught_up_from.max(b.caught_up_from),
        bytes_before: bytes_before + b.bytes_before,
        interim_checks: interim_checks.max(b.interim_checks),
        shortfall: shortfall.or(b.shortfall),
        interrupted: interrupted || b.interrupted,
        failure: failure.or(b.failure),
    }
}

/// Results of a warm-up segment: everything that it counted becomes a count outside the window.
/// Failures are kept.
pub fn into_warm_up(outcome: Outcome) -> Outcome {
    let counted = (outcome.completed(), outcome.bytes(), outcome.failed());
    // Names every field, so that a new field does not compile until it is handled here.
    let Outcome {
        issued,
        completed_outside,
        bytes_outside,
        failed_outside,
        abandoned,
        ended,
        interrupted,
        failure,
        // These belong to a window, and a warm-up has none.
        duration: _,
        directions: _,
        parts: _,
        in_flight_integral: _,
        latency_in_window: _,
        longest_gap: _,
        gaps: _,
        backlog_max: _,
        cpu: _,
        series: _,
        caught_up_from: _,
        bytes_before: _,
        interim_checks: _,
        shortfall: _,
    } = outcome;
    Outcome {
        issued,
        completed_outside: completed_outside + counted.0,
        bytes_outside: bytes_outside + counted.1,
        failed_outside: failed_outside + counted.2,
        abandoned,
        ended,
        interrupted,
        failure,
        ..Outcome::default()
    }
}

/// Merges two consecutive segments of a point. `offset` is the time from the start of the first
/// segment to the start of the second. Counts, times, histograms and gaps are exact sums; the
/// intervals of the second segment keep their place in time.
pub fn append_segment(earlier: Outcome, later: Outcome, offset: Nanos) -> Outcome {
    let gaps = [0, 1, 2].map(|limit| earlier.gaps[limit] + later.gaps[limit]);
    let duration = earlier.duration + later.duration;
    let longest_gap = earlier.longest_gap.max(later.longest_gap);
    let interim_checks = earlier.interim_checks + later.interim_checks;
    let mut series = earlier.series.clone();
    series.lost += later.series.lost;
    for (index, interval) in later.series.intervals().iter().enumerate() {
        let histograms = later.series.histograms(index).map(|h| h.decode().unwrap_or_default());
        series.push(interval.moved(offset), &histograms);
    }
    let sums = merge(
        Outcome { series: Series::default(), ..earlier },
        Outcome { series: Series::default(), ..later },
    );
    Outcome { duration, gaps, longest_gap, interim_checks, series, ..sums }
}

fn add(mine: &mut DirectionOutcome, theirs: DirectionOutcome) {
    let DirectionOutcome { completed, bytes, errors, short, latency, response_time } = theirs;
    mine.completed += completed;
    mine.bytes += bytes;
    mine.errors.add(&errors);
    mine.short += short;
    mine.latency.merge(&latency);
    match (&mut mine.response_time, response_time) {
        (Some(mine), Some(theirs)) => mine.merge(&theirs),
        (mine @ None, theirs) => *mine = theirs,
        (Some(_), None) => {}
    }
}

/// Merges two series by index: intervals with the same index cover the same time, because windows
/// and interval lengths are those of the point.
fn joined(a: &Series, b: &Series) -> Series {
    let mut joined = Series { lost: a.lost + b.lost, ..Series::default() };
    let count = a.intervals().len().max(b.intervals().len());
    for index in 0..count {
        let shards = [a, b].map(|series| series.intervals().get(index).map(|i| (series, i)));
        let mut sum = Interval::default();
        let mut histograms: [LatencyHistogram; 3] = Default::default();
        for (series, interval) in shards.into_iter().flatten() {
            sum.add(interval);
            for (whole, shard) in histograms.iter_mut().zip(series.histograms(index)) {
                // Decoding cannot fail here except for an empty histogram of trims.
                if let Ok(shard) = shard.decode() {
                    whole.merge(&shard);
                }
            }
        }
        joined.push(sum, &histograms);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Errors;

    #[test]
    fn errors_of_workers_are_added_by_kind() {
        let outcome = |errnos: &[i32]| {
            let mut outcome = Outcome::default();
            for errno in errnos {
                outcome.directions[0].errors.count(*errno);
            }
            outcome
        };
        let joined = join(vec![outcome(&[5, 5, 28]), outcome(&[28, 110])]);
        let kinds: Vec<_> = joined.directions[0].errors.kinds().collect();
        assert_eq!(kinds, [(5, 2), (28, 2), (110, 1)]);
        assert_eq!(joined.directions[0].errors.total(), 5);
        let kinds = |outcome: &Outcome| outcome.directions[0].errors.kinds().collect::<Vec<_>>();
        let beyond = join(vec![outcome(&(1..=16).collect::<Vec<_>>()), outcome(&[40, 41])]);
        assert_eq!(kinds(&beyond).last(), Some(&(Errors::OTHERS, 2)));
        assert_eq!(kinds(&join(vec![beyond, outcome(&[40])])).last(), Some(&(Errors::OTHERS, 3)));
    }

    #[test]
    fn point_in_segments_is_sum_of_segments() {
        let segment = |gap: u64, reads: u64| {
            let mut outcome = Outcome {
                duration: Nanos::from_millis(200),
                longest_gap: Nanos::from_millis(gap),
                gaps: [u64::from(gap > 100), 0, 0],
                in_flight_integral: 3.0,
                latency_in_window: 3.0,
                issued: reads,
                ..Outcome::default()
            };
            outcome.directions[0].completed = reads;
            let mut histogram = LatencyHistogram::new();
            (0..reads).for_each(|_| histogram.record(Nanos(1000)));
            for slice in 0..2 {
                let mut interval = Interval::default().moved(Nanos::from_millis(slice * 100));
                interval.length = Nanos::from_millis(100);
                interval.completed = [reads / 2, 0, 0];
                let none = LatencyHistogram::new;
                outcome.series.push(interval, &[histogram.clone(), none(), none()]);
            }
            outcome
        };
        let both = append_segment(segment(150, 4), segment(120, 6), Nanos::from_secs(7));
        assert_eq!((both.duration, both.issued), (Nanos::from_millis(400), 10));
        assert_eq!((both.longest_gap, both.gaps), (Nanos::from_millis(150), [2, 0, 0]));
        assert_eq!(both.directions[0].completed, 10);
        assert!((both.in_flight_integral - 6.0).abs() < 1e-12);
        let starts: Vec<u64> =
            both.series.intervals().iter().map(|i| i.start.0 / 1_000_000).collect();
        assert_eq!(starts, [0, 100, 7000, 7100]);
        let counts = (0..4).map(|n| both.series.histograms(n)[0].decode().map_or(0, |h| h.count()));
        assert_eq!(counts.collect::<Vec<_>>(), [4, 4, 6, 6]);
    }
}
