//! Findings about pauses: the load generator's own are not attributed to the storage.

use qdepth_engine::Outcome;
use qdepth_measure::{Code, Finding, Nanos};

use crate::monitor::pauses::GeneratorPauses;

/// Share of the time that a worker may wait for a CPU while it is ready. Beyond it, the figures are
/// those of the machine's scheduler.
const WAITED: f64 = 0.2;
/// Uncertainty of the ends of a pause: a gap between completions may begin before the last beat and
/// end after the next.
const AROUND: Nanos = Nanos::from_millis(60);

/// Longest gap that does not count as a pause, in usual intervals between completions.
const USUAL: f64 = 3.0;
/// Completed I/Os from which their median is usual.
const TYPICAL: u64 = 10;

/// Longest gap that does not count as a pause, ns; 0 if unknown. Slow storage completes few I/Os at
/// long intervals: by Little's law, latency ÷ I/Os in flight. A pause does not change the median.
fn usual_gap_ns(outcome: &Outcome) -> f64 {
    let busiest = outcome.directions.iter().max_by_key(|direction| direction.completed);
    let known = busiest.filter(|direction| direction.completed >= TYPICAL);
    let median = known.and_then(|direction| direction.latency.quantile(0.5));
    let in_flight = (outcome.in_flight_integral / outcome.duration.0 as f64).max(1.0);
    median.map_or(0.0, |median| USUAL * median.0 as f64 / in_flight)
}

impl GeneratorPauses {
    /// True if completions stopped together with the beats. If they continued, the workers ran and
    /// only the beating thread had to wait.
    fn is_of_workers(&self, outcome: &Outcome) -> bool {
        self.over[0] > 0 && outcome.longest_gap.0.saturating_mul(2) >= self.longest.0
    }

    /// Finding if the generator paused or lacked CPU time.
    pub(super) fn finding(&self, outcome: &Outcome) -> Option<Finding> {
        let (stopped, starved) = (self.is_of_workers(outcome), self.waited > WAITED);
        let mut finding = Finding::invalid(Code::GeneratorStopped);
        if stopped {
            finding = finding
                .value("longest_ns", self.longest.0 as f64)
                .value("times", self.over[0] as f64);
        }
        if starved {
            finding = finding.value("waited_share", self.waited);
        }
        (stopped || starved).then_some(finding)
    }

    /// Finding about pauses of the storage: all gaps without those of the generator.
    pub(super) fn stall(&self, outcome: &Outcome) -> Option<Finding> {
        let ours = if self.is_of_workers(outcome) { self.over } else { [0; 3] };
        let mut left = [0; 3];
        for (left, (gaps, ours)) in left.iter_mut().zip(outcome.gaps.iter().zip(ours)) {
            *left = gaps.saturating_sub(ours);
        }
        // A worker that often waits for a CPU may have done so during the whole gap.
        let waited = self.waited * outcome.duration.0 as f64;
        let may_be_starved = self.waited > WAITED && outcome.longest_gap.0 as f64 <= waited;
        let usual = usual_gap_ns(outcome);
        if left[0] == 0 || may_be_starved || outcome.longest_gap.0 as f64 <= usual {
            return None;
        }
        let limits = [("over_100ms", 0.1e9), ("over_1s", 1e9), ("over_10s", 10e9)];
        let counted = limits.into_iter().zip(left).filter(|((_, limit), _)| *limit >= usual);
        let finding = counted.fold(Finding::remark(Code::Stall), |finding, ((name, _), gaps)| {
            finding.value(name, gaps as f64)
        });
        // If the longest gap may be the generator's, the length of the storage's is unknown.
        let is_storages = ours[0] == 0 || outcome.longest_gap > self.longest + AROUND;
        let longest = outcome.longest_gap.0 as f64;
        Some(if is_storages { finding.value("longest_ns", longest) } else { finding })
    }
}

#[cfg(test)]
mod tests {
    use qdepth_linux::Pause;
    use qdepth_measure::Instant;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    fn pauses(all: &[(u64, u64)], waited: f64) -> GeneratorPauses {
        let all: Vec<Pause> =
            all.iter().map(|(from, to)| Pause { from: at(*from), to: at(*to) }).collect();
        GeneratorPauses::within(&all, at(1000), at(7000), waited)
    }

    fn outcome(longest_ms: u64, gaps: [u64; 3]) -> Outcome {
        Outcome { longest_gap: Nanos::from_millis(longest_ms), gaps, ..Outcome::default() }
    }

    #[test]
    fn stopped_generator_is_reported_instead_of_storage() {
        let (pauses, outcome) = (pauses(&[(3000, 5010)], 0.0), outcome(2005, [1, 1, 0]));
        let finding = pauses.finding(&outcome).expect("it stood still");
        assert_eq!(
            finding,
            Finding::invalid(Code::GeneratorStopped)
                .value("longest_ns", 2.01e9)
                .value("times", 1.0)
        );
        assert_eq!(pauses.stall(&outcome), None);
    }

    #[test]
    fn storage_pause_is_a_stall() {
        let outcome = outcome(2005, [1, 1, 0]);
        let still = pauses(&[], 0.0);
        assert_eq!(still.finding(&outcome), None);
        let stall = still.stall(&outcome).expect("a stall");
        assert_eq!(stall.values.get("longest_ns"), Some(&2.005e9));
        // Pauses before and after the window do not count.
        let outside = pauses(&[(100, 900), (7100, 9000)], 0.0);
        assert_eq!((outside.finding(&outcome), outside.stall(&outcome)), (None, Some(stall)));
    }

    #[test]
    fn slow_storage_does_not_pause() {
        // 16 MiB at 128 MiB/s take 125 ms each.
        let mut slow = Outcome { duration: Nanos::from_secs(4), ..outcome(126, [32, 0, 0]) };
        slow.directions[1].completed = 32;
        (0..32).for_each(|_| slow.directions[1].latency.record(Nanos::from_millis(125)));
        assert_eq!(pauses(&[], 0.0).stall(&slow), None);
        let slow = Outcome { longest_gap: Nanos::from_millis(1500), gaps: [21, 1, 0], ..slow };
        let stall = pauses(&[], 0.0).stall(&slow).expect("a stall");
        assert_eq!(stall.values.get("over_1s"), Some(&1.0));
        assert!(!stall.values.contains_key("over_100ms"), "most of them are usual");
        // With 16 in flight, one should complete every 8 ms.
        let many = Outcome { in_flight_integral: 16.0 * 4e9, ..slow };
        let stall = pauses(&[], 0.0).stall(&many).expect("a stall");
        assert_eq!(stall.values.get("over_100ms"), Some(&21.0));
    }

    #[test]
    fn pauses_of_generator_and_storage_are_counted_separately() {
        let pauses = pauses(&[(3000, 3500)], 0.0);
        let longer = pauses.stall(&outcome(2000, [2, 1, 0])).expect("the storage's");
        assert_eq!((longer.values["over_100ms"], longer.values["longest_ns"]), (1.0, 2e9));
        let shorter = pauses.stall(&outcome(505, [2, 0, 0])).expect("the storage's");
        assert_eq!(shorter.values.get("over_100ms"), Some(&1.0));
        assert!(!shorter.values.contains_key("longest_ns"), "which was longer is not known");
    }

    /// The loop does not count a gap of exactly a limit, so such a pause must not be subtracted.
    #[test]
    fn pause_of_exactly_the_limit_hides_no_stall() {
        let pauses = pauses(&[(3000, 3100)], 0.0);
        assert_eq!(pauses.over, [0; 3]);
        let stall = pauses.stall(&outcome(150, [1, 0, 0])).expect("the storage's");
        assert_eq!(stall.values.get("over_100ms"), Some(&1.0));
    }

    #[test]
    fn late_beat_with_active_workers_is_ignored() {
        let pauses = pauses(&[(3000, 3300)], 0.0);
        assert_eq!(pauses.finding(&outcome(12, [0, 0, 0])), None);
    }

    #[test]
    fn worker_without_cpu_time_is_reported() {
        let quiet = outcome(12, [0; 3]);
        assert_eq!(pauses(&[], 0.2).finding(&quiet), None);
        let starved = pauses(&[], 0.6).finding(&quiet).expect("starved");
        assert_eq!(starved, Finding::invalid(Code::GeneratorStopped).value("waited_share", 0.6));
        // All gaps may be the scheduler's, unless one is longer than the total waiting time.
        let gaps = |ms| Outcome { duration: Nanos::from_secs(6), ..outcome(ms, [3, 0, 0]) };
        assert_eq!(pauses(&[], 0.6).stall(&gaps(400)), None);
        assert!(pauses(&[], 0.6).stall(&gaps(5000)).is_some());
        assert!(pauses(&[], 0.1).stall(&gaps(400)).is_some());
    }
}
