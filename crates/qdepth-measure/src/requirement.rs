//! Requirements of applications on a load: a limit of a latency, or a least rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::percentile;
use crate::histogram::LatencyHistogram;
use crate::limit::{Limit, Statistic};

/// The part of an operation whose latency has a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The whole operation.
    #[default]
    Operation,
    /// The write without its sync.
    Write,
    /// The sync.
    Sync,
}

/// Requirement of an application on one load profile: `at_most` or `at_least`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Short name of the load profile.
    pub profile: String,
    /// Part of the operation whose latency is limited: `operation`, `write` or `sync`. Default: the
    /// whole operation.
    #[serde(default)]
    #[schemars(with = "String")]
    pub part: Part,
    /// Latency limit, for example `"p99=10ms"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Limit>,
    /// Least IOPS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Address of the document that states the limit. Default: none, the limit is our estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Answer to a requirement.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Met {
    /// The whole interval of the figure is within the limit.
    Pass,
    /// The limit lies within the interval, or no figure is valid.
    Inconclusive,
    /// The whole interval is beyond the limit.
    Fail,
}

impl Met {
    /// The answer for the ends of an interval; `beyond` is true for an end beyond the limit.
    fn from_ends(ends: (f64, f64), beyond: impl Fn(f64) -> bool) -> Self {
        match (beyond(ends.0), beyond(ends.1)) {
            (false, false) => Self::Pass,
            (true, true) => Self::Fail,
            _ => Self::Inconclusive,
        }
    }
}

impl Limit {
    /// Value of the statistic of these latencies, its 95 % interval and the answer, ns; `None` with
    /// too few latencies. The interval of a mean is the mean itself.
    pub fn answer(&self, latencies: &LatencyHistogram) -> Option<(f64, (f64, f64), Met)> {
        let (value, ends) = match self.statistic {
            Statistic::Mean => latencies.mean().map(|mean| (mean, (mean, mean)))?,
            Statistic::Quantile(quantile) => {
                let found = percentile(latencies, quantile)?;
                let (low, high) = found.interval;
                (found.value.0 as f64, (low.0 as f64, high.0 as f64))
            }
        };
        Some((value, ends, Met::from_ends(ends, |end| end > self.at_most.0 as f64)))
    }
}

impl Requirement {
    /// Answer for a rate with its interval, I/Os per second. Without an interval, only a rate of at
    /// least twice the limit or at most half of it decides.
    pub fn answer_of_rate(least: f64, rate: f64, ends: Option<(f64, f64)>) -> Met {
        let ends = ends.unwrap_or((rate / 2.0, rate * 2.0));
        Met::from_ends(ends, |end| end < least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn limit_within_the_interval_is_inconclusive() {
        let mut latencies = LatencyHistogram::new();
        (1..=10_000).for_each(|us| latencies.record(Nanos::from_micros(us)));
        let met = |limit: &str| limit.parse::<Limit>().unwrap().answer(&latencies).unwrap().2;
        assert_eq!(met("p99=12ms"), Met::Pass);
        assert_eq!(met("p99=9900us"), Met::Inconclusive);
        assert_eq!(met("p99=9ms"), Met::Fail);
        assert_eq!((met("mean=5ms"), met("mean=5001us")), (Met::Fail, Met::Pass));
        assert_eq!("p99.9999=1s".parse::<Limit>().unwrap().answer(&latencies), None);
        let of_rate = |rate, ends| Requirement::answer_of_rate(100.0, rate, ends);
        assert_eq!(of_rate(95.0, Some((90.0, 99.0))), Met::Fail);
        assert_eq!(of_rate(100.0, Some((90.0, 110.0))), Met::Inconclusive);
        assert_eq!(of_rate(105.0, Some((101.0, 110.0))), Met::Pass);
        assert_eq!(
            [49.0, 199.0, 200.0].map(|rate| of_rate(rate, None)),
            [Met::Fail, Met::Inconclusive, Met::Pass]
        );
    }
}
