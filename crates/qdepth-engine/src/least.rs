//! The rule of a load that is to keep a rate. It is asked a few times a second, beside the
//! intervals, and costs no request anything.

use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{LeastRate, Point};
use serde::{Deserialize, Serialize};

/// A rate that was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    /// Direction: reads (0), writes (1) or trims (2).
    pub kind: usize,
    /// True if bytes were counted, and not requests.
    pub of_bytes: bool,
    /// Required rate per second.
    pub least: f64,
    /// Reached rate per second.
    pub reached: f64,
}

/// Holds what a driver completed against what it is to complete.
#[derive(Debug)]
pub(crate) struct Rule {
    least: LeastRate,
    streams: f64,
    /// Time of the next check.
    next: Instant,
    /// Since when it counts, and from which counts on.
    from: Option<(Instant, Counts)>,
}

/// Requests and bytes of reads, writes and trims.
pub(crate) type Counts = [[u64; 3]; 2];

impl Rule {
    pub(crate) fn new(point: &Point, streams: usize, window_start: Instant) -> Option<Self> {
        let least = point.stop.least_rate?;
        let next = window_start + Nanos(least.from_ns);
        Some(Self { least, streams: streams as f64, next, from: None })
    }

    /// Returns the time of the next check.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Returns the rate that is too low now.
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
             request_size = \"8KiB\"\n[[step]]\ntitle = \"s\"\n[[step.load]]\nprofile = \"p\"\n\
             outstanding = 1\nwarm_up = \"0ms\"\n{text}"
        );
        let file: PlanFile = text.parse().unwrap();
        let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);
        let plan = resolve(&file, &Choices::default(), &[shape]).unwrap();
        let mut target = target;
        measure(&mut target, &plan.points[0], &AtomicBool::new(false), &mut |_| {})
    }

    /// A thousand requests a second, of which two thirds read.
    fn steady() -> ScriptedTarget {
        ScriptedTarget::new(1, Service::Fixed(Nanos::from_millis(1)), 1)
    }

    #[test]
    fn a_load_that_keeps_its_rate_goes_on_and_one_that_does_not_ends_with_what_it_lacks() {
        let kept = "duration = \"20s\"\nleast_rate = { io_per_s = [500.0, 200.0, 0.0] }";
        let outcome = measured(kept, steady());
        assert_eq!((outcome.ended, outcome.duration), (Ended::Duration, Nanos::from_secs(20)));
        let asked = "duration = \"20s\"\nleast_rate = { io_per_s = [900.0, 0.0, 0.0] }";
        let outcome = measured(asked, steady());
        assert_eq!(outcome.ended, Ended::Rate);
        let short = outcome.shortfall.unwrap();
        assert_eq!((short.kind, short.of_bytes), (0, false));
        assert!((600.0..750.0).contains(&short.reached), "{short:?}");
        // Two seconds count for nothing, and a rate is taken over one.
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
    fn a_target_that_stops_is_found_though_nothing_completes() {
        let at = Instant(5_000_000_000);
        let stalls = steady().with_fault(Fault::Stall { at, length: Nanos::from_secs(3) });
        // Slices of a load that may last a week are longer than what it is asked to keep.
        let text = "duration = \"160h\"\nleast_rate = { io_per_s = [10.0, 0.0, 0.0] }";
        let outcome = measured(text, stalls);
        assert_eq!((outcome.ended, outcome.shortfall.unwrap().kind), (Ended::Rate, 0));
        assert!(outcome.duration < Nanos::from_secs(9), "{:?}", outcome.duration);
    }
}
