//! Comparison of the kernel's clocks.

/// Readings of three clocks of the kernel at the same moment (clock_gettime(2)), ns. They show if
/// the measuring clock is reliable; nothing is measured with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// `CLOCK_MONOTONIC`, the measuring clock, which NTP may slew by 0.05 %.
    pub monotonic: u64,
    /// `CLOCK_MONOTONIC_RAW`, which is never slewed.
    pub raw: u64,
    /// `CLOCK_BOOTTIME`, which continues while the machine is suspended.
    pub boot: u64,
    /// Duration of the three readings, which limits the accuracy of a comparison.
    pub spread: u64,
}

/// Divergence of the clocks between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disagreement {
    /// Relative drift between the measuring clock and the raw one (0..).
    pub drift: f64,
    /// True if the machine was suspended for over 1 ms.
    pub suspended: bool,
}

impl Clocks {
    /// Reads the clocks. Uses the fastest of several attempts, because the thread may be
    /// interrupted between two readings.
    pub fn read() -> Self {
        use rustix::time::{ClockId, Timespec, clock_gettime};
        let ns = |id| {
            let Timespec { tv_sec, tv_nsec } = clock_gettime(id);
            u64::try_from(tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(tv_nsec).unwrap_or(0)
        };
        let once = |_| {
            let monotonic = ns(ClockId::Monotonic);
            let (raw, boot) = (ns(ClockId::MonotonicRaw), ns(ClockId::Boottime));
            Self { monotonic, raw, boot, spread: ns(ClockId::Monotonic).saturating_sub(monotonic) }
        };
        (0..5).map(once).min_by_key(|clocks| clocks.spread).unwrap_or_default()
    }

    /// Divergence of the clocks since `earlier`, beyond the uncertainty of the readings.
    pub fn disagreement_since(&self, earlier: &Self) -> Disagreement {
        let unsure = self.spread + earlier.spread;
        let passed = |now: u64, then: u64| now.saturating_sub(then);
        let monotonic = passed(self.monotonic, earlier.monotonic);
        let raw = passed(self.raw, earlier.raw);
        let boot = passed(self.boot, earlier.boot);
        let apart = monotonic.abs_diff(raw).saturating_sub(unsure);
        Disagreement {
            drift: apart as f64 / raw.max(1) as f64,
            suspended: boot.saturating_sub(monotonic).saturating_sub(unsure) > 1_000_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Clocks = Clocks { monotonic: 5, raw: 7, boot: 9, spread: 100 };

    fn after(monotonic: u64, raw: u64, boot: u64) -> Disagreement {
        let later = Clocks {
            monotonic: START.monotonic + monotonic,
            raw: START.raw + raw,
            boot: START.boot + boot,
            spread: 100,
        };
        later.disagreement_since(&START)
    }

    #[test]
    fn clock_drift_and_suspend_are_distinguished() {
        let second = 1_000_000_000;
        assert_eq!(after(second, second + 200, second), Disagreement::default());
        let slewed = after(second, second + 2_000_200, second);
        assert!((slewed.drift - 0.002).abs() < 1e-5 && !slewed.suspended, "{slewed:?}");
        assert!(after(second, second, 3 * second).suspended);
        assert!(!after(second, second, second + 900_000).suspended);
    }

    #[test]
    fn machine_clocks_agree_without_delay() {
        let first = Clocks::read();
        assert!(!Clocks::read().disagreement_since(&first).suspended);
        assert!(first.monotonic > 0 && first.boot >= first.monotonic);
    }
}
