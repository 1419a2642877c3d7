//! Rule of a load that must keep a minimum rate. It is evaluated a few times a second, independent
//! of the intervals, so that it costs no time per request.

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{LeastRate, Point};
use serde::{Deserialize, Serialize};

/// A minimum rate that was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    /// Direction: reads (0), writes (1) or trims (2).
    pub kind: usize,
    /// True if the rate counts bytes, false if it counts requests.
    pub of_bytes: bool,
    /// Required rate per second.
    pub least: f64,
    /// Reached rate per second.
    pub reached: f64,
}

/// Compares the completed requests and bytes of a driver with the required minimum.
#[derive(Debug)]
pub(crate) struct MinimumRateRule {
    least: LeastRate,
    streams: f64,
    /// Time of the next check.
    next: Instant,
    /// Start of the time over which the rate is taken, and the counts at that start.
    from: Option<(Instant, Counts)>,
}

/// Requests and bytes, each of reads, writes and trims.
pub(crate) type Counts = [[u64; 3]; 2];

impl MinimumRateRule {
    pub(crate) fn new(point: &Point, streams: usize, window_start: Instant) -> Option<Self> {
        let least = point.stop.least_rate?;
        let next = window_start + Nanos(least.from_ns);
        Some(Self { least, streams: streams as f64, next, from: None })
    }

    /// Time of the next check.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Returns the shortfall if the rate is too low at `now`.
    pub(crate) fn check(&mut self, now: Instant, counts: Counts) -> Option<Shortfall> {
        if now < self.next {
            return None;
        }
        self.next = now + Nanos(self.least.over_ns);
        let (since, before) = self.from.replace((now, counts))?;
        let seconds = now.since(since).as_secs_f64();
        let asked = [self.least.io_per_s, self.least.bytes_per_s];
        for (of_bytes, unit) in [(true, 1), (false, 0)] {
            for kind in 0..3 {
                let least = asked[unit][kind] * self.streams;
                let reached = (counts[unit][kind] - before[unit][kind]) as f64 / seconds;
                if reached < least {
                    return Some(Shortfall { kind, of_bytes, least, reached });
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use qdepth_workload::{Choices, Extent, PlanFile, TargetShape, resolve};

    use super::*;
    use crate::scripted::{Fault, ScriptedTarget, Service};
    use crate::{Ended, Outcome, measure};

    fn measured(text: &str, target: ScriptedTarget) -> Outcome {
        let text = format!(
            "name = \"t\"\n[[profile]]\nname = \"p\"\ntitle = \"p\"\nrandom = 100\nread = 67\n\
             block_size = \"8KiB\"\n[[step]]\ntitle = \"s\"\n[[step.load]]\nprofile = \"p\"\n\
             queue_depth = 1\nwarm_up = \"0ms\"\n{text}"
        );
        let file: PlanFile = text.parse().unwrap();
        let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);
        let plan = resolve(&file, &Choices::default(), &[shape]).unwrap();
        let mut target = target;
        measure(&mut target, &plan.points[0], &AtomicBool::new(false), &mut |_| {})
    }

    /// 1,000 requests per second, two thirds of them reads.
    fn steady() -> ScriptedTarget {
        ScriptedTarget::new(1, Service::Fixed(Nanos::from_millis(1)), 1)
    }

    #[test]
    fn load_below_its_minimum_rate_ends_with_shortfall() {
        let kept = "duration = \"20s\"\nleast_rate = { io_per_s = [500.0, 200.0, 0.0] }";
        let outcome = measured(kept, steady());
        assert_eq!((outcome.ended, outcome.duration), (Ended::Duration, Nanos::from_secs(20)));
        let asked = "duration = \"20s\"\nleast_rate = { io_per_s = [900.0, 0.0, 0.0] }";
        let outcome = measured(asked, steady());
        assert_eq!(outcome.ended, Ended::Rate);
        let short = outcome.shortfall.unwrap();
        assert_eq!((short.kind, short.of_bytes), (0, false));
        assert!((600.0..750.0).contains(&short.reached), "{short:?}");
        // The first two seconds do not count, and the rate is taken over one second.
        let within = Nanos::from_millis(3_000)..Nanos::from_millis(3_300);
        assert!(within.contains(&outcome.duration), "{:?}", outcome.duration);
        let bytes = "duration = \"20s\"\nleast_rate = { bytes_per_s = [0.0, 4e6, 0.0], \
                     over = \"200ms\", from = \"100ms\" }";
        let outcome = measured(bytes, steady());
        let short = outcome.shortfall.unwrap();
        assert_eq!((short.kind, short.of_bytes), (1, true));
        assert!(outcome.duration < Nanos::from_millis(500), "{:?}", outcome.duration);
    }

    #[test]
    fn stopped_target_is_found_without_completions() {
        let at = Instant(5_000_000_000);
        let stalls = steady().with_fault(Fault::Stall { at, length: Nanos::from_secs(3) });
        // The intervals of a load of a week are longer than the time over which the rate is taken.
        let text = "duration = \"160h\"\nleast_rate = { io_per_s = [10.0, 0.0, 0.0] }";
        let outcome = measured(text, stalls);
        assert_eq!((outcome.ended, outcome.shortfall.unwrap().kind), (Ended::Rate, 0));
        assert!(outcome.duration < Nanos::from_secs(9), "{:?}", outcome.duration);
    }
}
