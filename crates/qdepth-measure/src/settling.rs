//! Rule that ends a load once the samples of a moving window hardly differ from their mean. Several
//! programs have such a criterion; it says less than [`SteadyRule`](crate::SteadyRule).

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::steady::Line;

/// Maximum number of samples of a window.
const SAMPLES_MAX: u64 = 100_000;
/// Longest window, and latest start of the first sample, nanoseconds.
const LONGEST_NS: u64 = 7 * 86_400_000_000_000;

/// Figure that the samples contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettlingFigure {
    /// I/Os per second.
    Requests,
    /// Bytes per second.
    Bytes,
    /// Mean latency from submission to completion, ns.
    Latency,
}

/// Rule that decides when a load has settled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settling {
    /// Figure.
    pub figure: SettlingFigure,
    /// True if the slope of the samples' line is small (from one sample to the next), and not the
    /// largest distance of a sample from their mean.
    pub slope: bool,
    /// Below this.
    pub limit: f64,
    /// True if the value is in per cent of the mean.
    pub percent: bool,
    /// Length of the window of samples, ns.
    pub over_ns: u64,
    /// Length of a sample, ns.
    pub every_ns: u64,
    /// Start of the first sample, ns.
    pub from_ns: u64,
}

/// One sample, usually of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// I/Os per second.
    pub ios: f64,
    /// Bytes per second.
    pub bytes: f64,
    /// Mean latency from submission to completion, ns.
    pub latency_ns: f64,
}

/// Statistics of the figure over the window of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settled {
    /// Largest distance of a sample from the mean.
    pub deviation: f64,
    /// Slope of the regression line, per sample.
    pub slope: f64,
    /// The statistic that is compared with the limit, in per cent of the mean if the limit is.
    pub criterion: f64,
    /// True if the statistic is below the limit.
    pub attained: bool,
}

/// Counts of one sample of the series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Requests completed.
    pub ios: u64,
    /// Bytes of the completed requests.
    pub bytes: u64,
    /// Sum of their latencies, ns.
    pub latency_ns: u64,
    /// Length.
    pub length: Nanos,
}

/// Samples of a running load.
#[derive(Clone, Debug)]
pub struct SettlingSamples {
    rule: Settling,
    /// Number of samples in a full window.
    full: usize,
    samples: VecDeque<Sample>,
    passed: u64,
    current: Slice,
}

impl Settling {
    /// Checks the lengths and the limit.
    ///
    /// # Errors
    /// The problem, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        let Self { limit, over_ns, every_ns, from_ns, .. } = *self;
        let fits = every_ns > 0 && over_ns >= every_ns && over_ns / every_ns <= SAMPLES_MAX;
        let is_limit = (0.0..=f64::MAX).contains(&limit);
        if !fits || over_ns > LONGEST_NS || from_ns > LONGEST_NS || !is_limit {
            return Err(format!(
                "steady over {} in samples of {}: needs at least one sample and a limit of at \
                 least 0",
                Nanos(over_ns),
                Nanos(every_ns)
            ));
        }
        Ok(())
    }
}

impl SettlingSamples {
    /// No samples yet. Nothing is allocated after this.
    pub fn new(rule: Settling) -> Self {
        let full = (rule.over_ns / rule.every_ns.max(1)).clamp(1, SAMPLES_MAX) as usize;
        let samples = VecDeque::with_capacity(full);
        Self { rule, full, samples, passed: 0, current: Slice::default() }
    }

    /// Adds an interval, and returns true if the load has settled.
    pub fn closed(&mut self, slice: Slice) -> bool {
        self.passed += slice.length.0;
        if self.passed <= self.rule.from_ns {
            return false;
        }
        let current = &mut self.current;
        current.ios += slice.ios;
        current.bytes += slice.bytes;
        current.latency_ns += slice.latency_ns;
        current.length += slice.length;
        if current.length.0 < self.rule.every_ns {
            return false;
        }
        let seconds = current.length.as_secs_f64();
        let sample = Sample {
            ios: current.ios as f64 / seconds,
            bytes: current.bytes as f64 / seconds,
            latency_ns: current.latency_ns as f64 / current.ios.max(1) as f64,
        };
        self.current = Slice::default();
        if self.samples.len() == self.full {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        self.settled().attained
    }

    /// The samples in the window so far.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples.iter()
    }

    /// Statistics of a full window; all zero before it is full.
    pub fn settled(&self) -> Settled {
        if self.samples.len() < self.full {
            return Settled::default();
        }
        let values: Vec<f64> = self.samples.iter().map(|sample| self.value(sample)).collect();
        let mean = values.iter().sum::<f64>() / self.full as f64;
        let deviation = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let slope = Line::through(&values, 0).slope;
        let figure = if self.rule.slope { slope.abs() } else { deviation };
        let criterion = if self.rule.percent { figure / mean * 100.0 } else { figure };
        // A load that does nothing has no relative deviation.
        let is_known = self.full > 1 || !self.rule.slope;
        let attained = is_known && criterion < self.rule.limit;
        Settled { deviation, slope, criterion, attained }
    }

    fn value(&self, sample: &Sample) -> f64 {
        match self.rule.figure {
            SettlingFigure::Requests => sample.ios,
            SettlingFigure::Bytes => sample.bytes,
            SettlingFigure::Latency => sample.latency_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(slope: bool, limit: f64, percent: bool) -> Settling {
        Settling {
            figure: SettlingFigure::Requests,
            slope,
            limit,
            percent,
            over_ns: 3_000_000_000,
            every_ns: 1_000_000_000,
            from_ns: 1_000_000_000,
        }
    }

    /// Tenths of a second until the load settled, and the statistics at that time.
    fn after(rule: Settling, ios: impl Fn(u64) -> u64) -> (u64, Settled) {
        let mut samples = SettlingSamples::new(rule);
        for tenth in 0..1000 {
            let ios = ios(tenth);
            let slice = Slice {
                ios,
                bytes: 4096 * ios,
                latency_ns: 100 * ios,
                length: Nanos::from_millis(100),
            };
            if samples.closed(slice) {
                return (tenth + 1, samples.settled());
            }
        }
        (1000, samples.settled())
    }

    #[test]
    fn load_is_settled_when_samples_are_near_mean() {
        let steady = |_| 5;
        let (tenths, settled) = after(rule(false, 1.0, true), steady);
        assert_eq!((tenths, settled.attained, settled.criterion), (40, true, 0.0));
        // The samples rise by ten a second up to the tenth second.
        let rising = |tenth: u64| (tenth / 10).min(10);
        assert_eq!(after(rule(false, 5.0, true), rising).0, 130);
        assert_eq!(after(rule(true, 1.0, false), rising).0, 130);
        let (tenths, settled) = after(rule(true, 10.0, true), rising);
        assert!(tenths == 120 && (settled.slope - 5.0).abs() < 1e-9, "{tenths} {settled:?}");
        assert_eq!(after(rule(false, 0.0, true), |tenth| tenth % 20).0, 1000);
        assert_eq!(after(rule(false, 1.0, true), |_| 0).0, 1000);
    }

    #[test]
    fn invalid_settling_rule_is_refused() {
        let bad = |change: fn(&mut Settling)| {
            let mut rule = rule(false, 1.0, true);
            change(&mut rule);
            rule.check().is_err()
        };
        assert!(rule(false, 1.0, true).check().is_ok());
        assert!(bad(|rule| rule.every_ns = 0));
        assert!(bad(|rule| rule.every_ns = 4_000_000_000));
        assert!(bad(|rule| rule.limit = f64::NAN));
    }
}
