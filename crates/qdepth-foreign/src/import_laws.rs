//! Figures of a result of fio that contradict each other, or count failures.

use qdepth_measure::{Code, Finding, label};
use qdepth_record::{DirectionRecord, StatedLatency};
use serde_json::{Map, Value};

/// Relative difference between figures that is attributed to rounding and to the width of fio's
/// latency buckets.
const ROUNDING: f64 = 0.05;
/// I/Os and milliseconds below which a count says nothing about a rate.
const FEW: f64 = 100.0;
/// Factor by which the I/Os in flight may exceed the queue depth: fio's latencies include the time
/// before and after an I/O is in the queue.
const AROUND_QUEUE: f64 = 1.5;

/// First contradiction between the figures of one direction. `in_flight_max` is the queue depth of
/// all jobs together, if known.
pub(crate) fn contradiction(
    side: &Map<String, Value>,
    direction: &DirectionRecord,
    in_flight_max: Option<f64>,
) -> Option<Finding> {
    let figure = |key: &str| side.get(key).and_then(Value::as_f64);
    let [counted, bytes] = [direction.completed as f64, direction.bytes as f64];
    let runtime_ms = figure("runtime").filter(|ms| *ms >= FEW)?;
    if counted < FEW {
        return None;
    }
    let [of_counts, of_bytes, of_latencies, of_queue] = label::IMPORTED;
    let rate = figure("iops");
    let expected = rate.map(|rate| rate * runtime_ms / 1e3);
    // The first versions truncate the rate to a whole number.
    let whole = side.get("iops").is_some_and(Value::is_u64);
    let truncated = if whole { runtime_ms / 1e3 } else { 0.0 };
    let is_other =
        |expected: &f64| differs(*expected, counted) && (counted - expected).abs() > truncated;
    if let Some(expected) = expected.filter(is_other) {
        return Some(finding(of_counts, expected, counted));
    }
    // Before fio 3, the rate has KiB/s only.
    let kib = figure("bw").map(|kib| kib * 1024.0).filter(|_| bytes / runtime_ms > FEW * 1024.0);
    let expected = figure("bw_bytes").or(kib).map(|rate| rate * runtime_ms / 1e3);
    if let Some(expected) = expected.filter(|expected| bytes > 0.0 && differs(*expected, bytes)) {
        return Some(finding(of_bytes, expected, bytes));
    }
    let stated = direction.stated.as_ref()?;
    if let Some((low, high)) = descending(stated) {
        return Some(finding(of_latencies, low, high));
    }
    let in_flight = stated.mean_ns? * rate? / 1e9;
    let most = in_flight_max.filter(|most| in_flight > most * AROUND_QUEUE)?;
    Some(finding(of_queue, most, in_flight))
}

/// Findings about failed and short I/Os, as of a run of our own.
pub(crate) fn failures(sides: [&DirectionRecord; 3]) -> impl Iterator<Item = Finding> {
    let sum = |count: fn(&DirectionRecord) -> u64| {
        sides.iter().fold(0_u64, |sum, side| sum.saturating_add(count(side)))
    };
    let failed = sum(|side| side.errors.iter().map(|error| error.count).sum());
    let short = sum(|side| side.short);
    let errors =
        (failed > 0).then(|| Finding::invalid(Code::IoErrors).value("failed", failed as f64));
    let shortened =
        (short > 0).then(|| Finding::remark(Code::ShortTransfers).value("short", short as f64));
    errors.into_iter().chain(shortened)
}

fn finding(law: &str, expected: f64, counted: f64) -> Finding {
    let finding = Finding::invalid(Code::ImportContradiction).label("law", law);
    finding.value("expected", expected).value("counted", counted)
}

fn differs(a: f64, b: f64) -> bool {
    (a - b).abs() > ROUNDING * a.max(b)
}

/// The first two latencies, ns, of which the first must not be larger but is.
fn descending(stated: &StatedLatency) -> Option<(f64, f64)> {
    let [min, max] = [stated.min_ns, stated.max_ns].map(|ns| ns.map(|ns| ns as f64));
    let percentiles = stated.percentiles.iter().map(|(_, ns)| Some(*ns as f64));
    let in_order: Vec<f64> = [min].into_iter().chain(percentiles).chain([max]).flatten().collect();
    let around_mean: Vec<f64> = [min, stated.mean_ns, max].into_iter().flatten().collect();
    // Older versions round to whole microseconds.
    let descends = |pair: &&[f64]| pair[0] > pair[1] * (1.0 + ROUNDING) + 1e3;
    let first = in_order.windows(2).find(descends);
    first.or_else(|| around_mean.windows(2).find(descends)).map(|pair| (pair[0], pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(min: u64, mean: f64, max: u64, percentiles: &[u64]) -> StatedLatency {
        StatedLatency {
            count: 1000,
            min_ns: Some(min),
            mean_ns: Some(mean),
            max_ns: Some(max),
            percentiles: (1_u32..).zip(percentiles).map(|(n, ns)| (f64::from(n), *ns)).collect(),
        }
    }

    #[test]
    fn contradictions_between_imported_figures_are_found() {
        let good = stated(10_000, 50_000.0, 90_000, &[20_000, 40_000, 91_000]);
        let law = |iops: f64, bw: f64, stated: StatedLatency, most: Option<f64>| {
            let side = serde_json::json!({"runtime": 10_000, "iops": iops, "bw_bytes": bw});
            let (completed, bytes, stated) = (10_000, 40_960_000, Some(stated));
            let direction = DirectionRecord { completed, bytes, stated, ..Default::default() };
            let found = contradiction(side.as_object().unwrap(), &direction, most)?;
            Some(found.labels["law"].clone())
        };
        let [counts, bytes, latencies, queue] = label::IMPORTED.map(|law| Some(law.to_owned()));
        assert_eq!(law(1000.0, 4_096_000.0, good.clone(), Some(1.0)), None);
        assert_eq!(law(2000.0, 4_096_000.0, good.clone(), None), counts);
        assert_eq!(law(1000.0, 8_192_000.0, good.clone(), None), bytes);
        for wrong in [
            stated(95_000, 50_000.0, 90_000, &[]),
            stated(10_000, 99_000.0, 90_000, &[]),
            stated(10_000, 50_000.0, 90_000, &[40_000, 20_000]),
            stated(10_000, 50_000.0, 90_000, &[20_000, 99_000]),
        ] {
            assert_eq!(law(1000.0, 4_096_000.0, wrong, None), latencies);
        }
        let slow = stated(10_000, 8e6, 90_000_000, &[]);
        assert_eq!(law(1000.0, 4_096_000.0, slow.clone(), Some(8.0)), None);
        assert_eq!(law(1000.0, 4_096_000.0, slow, Some(4.0)), queue);
    }
}
