//! Merges the results of several workers, or of several segments, into the outcome of one point.

use qdepth_measure::{LatencyHistogram, Nanos};

use crate::outcome::{DirectionOutcome, Ended, Outcome};
use crate::series::{Interval, Series};

/// Merges the results of workers that shared a point and a start. Counts, histograms and series are
/// exact sums. The longest gap is the shortest of the workers' longest gaps, which bounds the true
/// one from above. The number of gaps over a limit is the smallest that any worker had.
pub fn join(outcomes: Vec<Outcome>) -> Outcome {
    let mut outcomes = outcomes.into_iter();
    let Some(first) = outcomes.next() else { return Outcome::default() };
    outcomes.fold(first, merge)
}

fn merge(mut a: Outcome, b: Outcome) -> Outcome {
    for (mine, theirs) in a.directions.iter_mut().zip(b.directions) {
        add(mine, theirs);
    }
    match (&mut a.parts, b.parts) {
        (Some(mine), Some(theirs)) => mine.merge(&theirs),
        (mine, theirs) => *mine = mine.take().or(theirs),
    }
    for (mine, theirs) in a.gaps.iter_mut().zip(b.gaps) {
        *mine = (*mine).min(theirs);
    }
    a.duration = a.duration.max(b.duration);
    a.issued += b.issued;
    a.completed_outside += b.completed_outside;
    a.bytes_outside += b.bytes_outside;
    a.failed_outside += b.failed_outside;
    a.abandoned += b.abandoned;
    a.in_flight_integral += b.in_flight_integral;
    a.latency_in_window += b.latency_in_window;
    a.longest_gap = a.longest_gap.min(b.longest_gap);
    a.backlog_max = a.backlog_max.max(b.backlog_max);
    a.cpu += b.cpu;
    a.series = joined(&a.series, &b.series);
    a.ended = if a.ended == Ended::Duration { b.ended } else { a.ended };
    a.caught_up_from = a.caught_up_from.max(b.caught_up_from);
    a.bytes_before += b.bytes_before;
    a.interim_checks = a.interim_checks.max(b.interim_checks);
    a.shortfall = a.shortfall.or(b.shortfall);
    a.interrupted |= b.interrupted;
    a.failure = a.failure.or(b.failure);
    a
}

/// Results of a warm-up segment: everything that it counted becomes a count outside the window.
/// Failures are kept.
pub fn into_warm_up(outcome: Outcome) -> Outcome {
    Outcome {
        completed_outside: outcome.completed_outside + outcome.completed(),
        bytes_outside: outcome.bytes_outside + outcome.bytes(),
        failed_outside: outcome.failed_outside + outcome.failed(),
        issued: outcome.issued,
        abandoned: outcome.abandoned,
        ended: outcome.ended,
        interrupted: outcome.interrupted,
        failure: outcome.failure,
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
    mine.completed += theirs.completed;
    mine.bytes += theirs.bytes;
    mine.errors.add(&theirs.errors);
    mine.short += theirs.short;
    mine.latency.merge(&theirs.latency);
    match (&mut mine.response_time, theirs.response_time) {
        (Some(mine), Some(theirs)) => mine.merge(&theirs),
        (mine, theirs) => *mine = mine.take().or(theirs),
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
    use crate::durable::DurableParts;
    use crate::minimum_rate::Shortfall;
    use crate::outcome::Errors;
    use crate::target::{CpuTime, Fault};

    /// An outcome with `n` in every field. Names each of them, so that a new field does not compile
    /// until its rule is tested.
    fn full(n: u64) -> Outcome {
        let mut latency = LatencyHistogram::new();
        latency.record(Nanos(n));
        let direction = DirectionOutcome {
            completed: n,
            bytes: n,
            errors: Errors::default(),
            short: n,
            latency: latency.clone(),
            response_time: Some(latency.clone()),
        };
        Outcome {
            duration: Nanos(n),
            directions: [0; 4].map(|_| direction.clone()),
            parts: Some(DurableParts { write: latency.clone(), sync: latency }),
            issued: n,
            completed_outside: n,
            bytes_outside: n,
            failed_outside: n,
            abandoned: n,
            in_flight_integral: n as f64,
            latency_in_window: n as f64,
            longest_gap: Nanos(n),
            gaps: [n; 3],
            backlog_max: n,
            cpu: CpuTime { user: Nanos(n), system: Nanos(n), switches: n, faults: [n; 2] },
            series: Series { lost: n, ..Series::default() },
            ended: Ended::Bytes,
            caught_up_from: Nanos(n),
            bytes_before: n,
            interim_checks: n as u32,
            shortfall: Some(Shortfall { kind: 0, of_bytes: true, least: n as f64, reached: 0.0 }),
            interrupted: n > 1,
            failure: Some(Fault::Call { call: String::new(), errno: n as i32 }.into()),
        }
    }

    /// Sums are 3, maxima 2, minima 1; of other fields, the first is kept.
    #[test]
    fn every_field_of_outcomes_is_merged() {
        let mut latency = LatencyHistogram::new();
        [1, 2].into_iter().for_each(|n| latency.record(Nanos(n)));
        let direction = DirectionOutcome {
            latency: latency.clone(),
            response_time: Some(latency.clone()),
            ..full(3).directions[0].clone()
        };
        let expected = Outcome {
            duration: Nanos(2),
            directions: [0; 4].map(|_| direction.clone()),
            parts: Some(DurableParts { write: latency.clone(), sync: latency }),
            longest_gap: Nanos(1),
            gaps: [1; 3],
            backlog_max: 2,
            caught_up_from: Nanos(2),
            interim_checks: 2,
            shortfall: full(1).shortfall,
            failure: full(1).failure,
            ..full(3)
        };
        assert_eq!(merge(full(1), full(2)), expected);
        let warm_up = Outcome {
            issued: 2,
            completed_outside: 2 + 4 * 2,
            bytes_outside: 2 + 4 * 2,
            failed_outside: 2,
            abandoned: 2,
            ended: Ended::Bytes,
            interrupted: true,
            failure: full(2).failure,
            ..Outcome::default()
        };
        assert_eq!(into_warm_up(full(2)), warm_up);
    }

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
