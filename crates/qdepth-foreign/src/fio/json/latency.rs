//! Latency sections of fio's JSON.

use qdepth_measure::{LatencyHistogram, Nanos};
use serde::Serialize;

use super::parts::Pairs;

/// fio's latency classes of one unit.
pub(super) struct Classes {
    /// Upper bound of each class, exclusive.
    edges: &'static [u64],
    /// Unit, ns.
    unit: u64,
}

pub(super) const NS: Classes = Classes { edges: US.edges, unit: 1 };
pub(super) const US: Classes =
    Classes { edges: &[2, 4, 10, 20, 50, 100, 250, 500, 750, 1000], unit: 1_000 };
pub(super) const MS: Classes = Classes {
    edges: &[2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000, u64::MAX],
    unit: 1_000_000,
};

/// Minimum share of a non-empty class, per cent.
const SHARE_LEAST: f64 = 0.01;

#[derive(Default, Serialize)]
pub(in crate::fio) struct FioLatency {
    pub(in crate::fio) min: u64,
    pub(in crate::fio) max: u64,
    pub(in crate::fio) mean: f64,
    pub(in crate::fio) stddev: f64,
    #[serde(rename = "N")]
    pub(in crate::fio) count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::fio) percentile: Option<Pairs<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Pairs<u64>>,
}

impl FioLatency {
    /// Latency section; with percentiles and bins if `detailed`.
    pub(super) fn new(
        times: &LatencyHistogram,
        percentiles: &[f64],
        detailed: bool,
        plus: bool,
    ) -> Self {
        let detailed = detailed && times.count() > 0;
        let percentile = detailed.then(|| {
            let pair = |percent: &f64| {
                let value = times.quantile(percent / 100.0).map_or(0, |value| value.0);
                (format!("{percent:.6}"), value)
            };
            let mut pairs: Vec<(String, u64)> = percentiles.iter().map(pair).collect();
            // Percentiles that are equal in six digits would produce a duplicate key.
            pairs.dedup_by(|later, former| later.0 == former.0);
            Pairs(pairs)
        });
        let bins = (detailed && plus).then(|| {
            let bin = |(low, high, count): (Nanos, Nanos, u64)| {
                (low.0.midpoint(high.0).to_string(), count)
            };
            Pairs(times.occupied().map(bin).collect())
        });
        let mean = times.mean().unwrap_or(0.0);
        Self {
            min: times.min().map_or(0, |value| value.0),
            max: times.max().map_or(0, |value| value.0),
            mean,
            stddev: deviation(times, mean),
            count: times.count(),
            percentile,
            bins,
        }
    }

    /// Latency section of `count` I/Os that took no time.
    pub(super) fn zeros(count: u64, percentiles: &[f64], plus: bool) -> Self {
        let mut zero = LatencyHistogram::default();
        zero.record(Nanos(0));
        let single = Self::new(&zero, percentiles, count > 0, plus);
        let bins = single.bins.map(|_| Pairs(vec![("0".to_owned(), count)]));
        Self { count, bins, ..single }
    }
}

/// Standard deviation from the bucket centres, which deviate by less than 0.2 % from the values.
fn deviation(times: &LatencyHistogram, mean: f64) -> f64 {
    if times.count() < 2 {
        return 0.0;
    }
    let sum: f64 = times
        .occupied()
        .map(|(low, high, count)| {
            let middle = low.0.midpoint(high.0) as f64;
            (middle - mean) * (middle - mean) * count as f64
        })
        .sum();
    (sum / (times.count() - 1) as f64).sqrt()
}

/// Share of all requests in each class of a unit, per cent. The first class of µs starts where
/// those of ns end.
pub(super) fn shares(times: &LatencyHistogram, classes: &Classes) -> Pairs<f64> {
    let &Classes { edges, unit } = classes;
    let mut counts = vec![0_u64; edges.len()];
    let begin = if unit == 1 { 0 } else { unit };
    for (low, high, count) in times.occupied() {
        let value = low.0.midpoint(high.0);
        let class = edges.iter().position(|edge| value < edge.saturating_mul(unit));
        if let Some(class) = class.filter(|_| value >= begin) {
            counts[class] += count;
        }
    }
    let total = times.count().max(1) as f64;
    let name = |edge: &u64| if *edge == u64::MAX { ">=2000".to_owned() } else { edge.to_string() };
    // As in fio, a non-empty class is never reported as 0.
    let least = |count: u64| if count > 0 { SHARE_LEAST } else { 0.0 };
    let shares = counts.iter().map(|count| (*count as f64 / total * 100.0).max(least(*count)));
    Pairs(edges.iter().map(name).zip(shares).collect())
}
