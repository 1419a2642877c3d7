//! What the workers of one point found, as one outcome.

use qdepth_measure::{LatencyHistogram, Nanos};

use crate::ledger::{Interval, Series};
use crate::outcome::{DirectionOutcome, Ended, Outcome};

/// Joins the books of workers that shared a point and a start: counts, histograms and series are
/// exact sums. A gap of the whole is at most the shortest of the workers' gaps, which is what is
/// kept; gaps over the limits are counted where every worker had as many.
pub fn join(outcomes: Vec<Outcome>) -> Outcome {
    let mut outcomes = outcomes.into_iter();
    let Some(first) = outcomes.next() else { return Outcome::default() };
    outcomes.fold(first, two)
}

fn two(a: Outcome, b: Outcome) -> Outcome {
    let mut directions = a.directions;
    for (mine, theirs) in directions.iter_mut().zip(&b.directions) {
        add(mine, theirs);
    }
    let mut gaps = a.gaps;
    for (mine, theirs) in gaps.iter_mut().zip(b.gaps) {
        *mine = (*mine).min(theirs);
    }
    Outcome {
        duration: a.duration.max(b.duration),
        directions,
        issued: a.issued + b.issued,
        completed_outside: a.completed_outside + b.completed_outside,
        bytes_outside: a.bytes_outside + b.bytes_outside,
        failed_outside: a.failed_outside + b.failed_outside,
        abandoned: a.abandoned + b.abandoned,
        in_flight_integral: a.in_flight_integral + b.in_flight_integral,
        latency_in_window: a.latency_in_window + b.latency_in_window,
        longest_gap: a.longest_gap.min(b.longest_gap),
        gaps,
        backlog_max: a.backlog_max.max(b.backlog_max),
        cpu: crate::target::CpuTime {
            user: Nanos(a.cpu.user.0 + b.cpu.user.0),
            system: Nanos(a.cpu.system.0 + b.cpu.system.0),
        },
        series: series(&a.series, &b.series),
        ended: if a.ended == Ended::Duration { b.ended } else { a.ended },
        looks: a.looks.max(b.looks),
        interrupted: a.interrupted || b.interrupted,
        failure: a.failure.or(b.failure),
    }
}

fn add(mine: &mut DirectionOutcome, theirs: &DirectionOutcome) {
    mine.completed += theirs.completed;
    mine.bytes += theirs.bytes;
    mine.errors.add(&theirs.errors);
    mine.short += theirs.short;
    mine.service_time.merge(&theirs.service_time);
    match (&mut mine.response_time, &theirs.response_time) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
}

/// Slices of equal number are slices of equal time, since windows and slices are the point's.
fn series(a: &Series, b: &Series) -> Series {
    let mut joined = Series::default();
    joined.lost = a.lost + b.lost;
    let count = a.intervals().len().max(b.intervals().len());
    for index in 0..count {
        let parts = [a, b].map(|series| series.intervals().get(index).map(|i| (series, i)));
        let mut sum = Interval::default();
        let mut histograms: [LatencyHistogram; 2] = Default::default();
        for (series, interval) in parts.into_iter().flatten() {
            sum.start = interval.start;
            sum.length = sum.length.max(interval.length);
            sum.service_time_sum += interval.service_time_sum;
            for kind in 0..2 {
                sum.completed[kind] += interval.completed[kind];
                sum.bytes[kind] += interval.bytes[kind];
            }
            for (whole, part) in histograms.iter_mut().zip(series.histograms(index)) {
                // What was encoded a moment ago is read back.
                if let Ok(part) = part.decode() {
                    whole.merge(&part);
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
    fn errors_of_workers_add_up_by_kind() {
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
        let kinds = |of: &Outcome| of.directions[0].errors.kinds().collect::<Vec<_>>();
        let beyond = join(vec![outcome(&(1..=16).collect::<Vec<_>>()), outcome(&[40, 41])]);
        assert_eq!(kinds(&beyond).last(), Some(&(Errors::OTHERS, 2)));
        assert_eq!(kinds(&join(vec![beyond, outcome(&[40])])).last(), Some(&(Errors::OTHERS, 3)));
    }
}
