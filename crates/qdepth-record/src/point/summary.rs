//! Statistics of a point, derived when the record is read, so that a better formula also applies to
//! old runs.

use qdepth_measure::{
    EncodedHistogram, Estimate, Grade, LatencyHistogram, Nanos, Percentile, reported_percentiles,
    rounds_mean, segments_mean, series_mean,
};

use super::record::PointRecord;
use crate::record::{DirectionRecord, EndedBy, IntervalRecord, StatedLatency};

const MIB: f64 = 1_048_576.0;
/// The quantiles of a report, in the order of `reported_percentiles`.
const REPORTED: [f64; 7] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];
/// Share of the offered load from which the target counts as following it.
const FOLLOWED: f64 = 0.99;
/// Length below which a segment may be affected by its start.
const SHORT_SEGMENT_NS: u64 = 500_000_000;

/// Statistics of a latency distribution, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencySummary {
    /// Number of I/Os.
    pub count: u64,
    /// Exact smallest value; `None` without I/Os.
    pub min_ns: Option<u64>,
    /// Exact mean; `None` without I/Os.
    pub mean_ns: Option<f64>,
    /// Exact largest value; `None` without I/Os.
    pub max_ns: Option<u64>,
    /// Percentiles 50, 90, 99, 99.9 … 99.9999, as far as ten samples are beyond them; ascending.
    pub percentiles: Vec<Percentile>,
}

/// Latency statistics of each direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByDirection {
    /// Reads.
    pub reads: LatencySummary,
    /// Writes.
    pub writes: LatencySummary,
    /// Trims.
    pub trims: LatencySummary,
    /// Reads, writes and trims together.
    pub all: LatencySummary,
    /// Flushes, which are not included in `all`.
    pub syncs: LatencySummary,
}

/// Statistics of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSummary {
    /// IOPS: reads, writes and trims completed in full, divided by the length of the window. The 95
    /// % interval comes from the series (`qdepth_measure::series_mean`).
    pub io_per_s: Estimate,
    /// Throughput of the same I/Os, MiB/s (2^20 bytes).
    pub mib_per_s: f64,
    /// Latency from submission to completion.
    pub latency: ByDirection,
    /// Latency from the intended time to completion; in a closed loop the latency.
    pub response_time: ByDirection,
    /// Durable writes without their syncs; `None` if no sync belongs to a write.
    pub write_part: Option<LatencySummary>,
    /// Syncs of durable writes; `None` if no sync belongs to a write.
    pub sync_part: Option<LatencySummary>,
    /// CPU time of the worker in user mode per I/O, nanoseconds; `None` without I/Os.
    pub cpu_user_ns_per_io: Option<f64>,
    /// CPU time of the worker in the kernel per I/O, nanoseconds; `None` without I/Os.
    pub cpu_system_ns_per_io: Option<f64>,
    /// Mean number of I/Os in flight; `None` if the window has no length.
    pub mean_in_flight: Option<f64>,
    /// I/Os that failed within the window, all directions.
    pub failed: u64,
    /// Grade that results from the findings.
    pub grade: Grade,
}

impl PointSummary {
    /// Statistics of `point`. Never NaN or infinite, whatever the record holds.
    pub fn from_point(point: &PointRecord) -> Self {
        let completed = point.completed();
        let bytes = point.bytes();
        let seconds = point.duration_ns as f64 / 1e9;
        let io_per_s = ratio(completed as f64, seconds).unwrap_or(0.0);
        Self {
            io_per_s: estimate(io_per_s, point),
            mib_per_s: ratio(bytes as f64 / MIB, seconds).unwrap_or(0.0),
            latency: by_direction(point, |direction| &direction.latency),
            response_time: by_direction(point, |direction| {
                direction.response_time.as_ref().unwrap_or(&direction.latency)
            }),
            write_part: part(point.write_part.as_ref()),
            sync_part: part(point.sync_part.as_ref()),
            cpu_user_ns_per_io: ratio(point.cpu_user_ns as f64, completed as f64),
            cpu_system_ns_per_io: ratio(point.cpu_system_ns as f64, completed as f64),
            mean_in_flight: ratio(point.in_flight_integral_ns, point.duration_ns as f64),
            failed: point
                .directions()
                .map(|(_, each)| failed(each))
                .into_iter()
                .fold(0, u64::saturating_add),
            grade: Grade::from_findings(&point.findings),
        }
    }
}

/// True if a point reached 99 % of its offered load; always true for a closed loop.
pub fn follows(point: &PointRecord) -> bool {
    let Some(offered) = point.offered_io_per_s else { return true };
    let completed = point.completed() as f64;
    completed / (point.duration_ns.max(1) as f64 / 1e9) >= offered * FOLLOWED
}

fn failed(direction: &DirectionRecord) -> u64 {
    direction.errors.iter().map(|error| error.count).fold(0, u64::saturating_add)
}

fn ratio(above: f64, below: f64) -> Option<f64> {
    let ratio = above / below;
    ratio.is_finite().then_some(ratio)
}

/// The mean over the window, with the relative interval of the series. The series may lack the
/// last, shorter sample, so its own mean differs slightly.
fn estimate(io_per_s: f64, point: &PointRecord) -> Estimate {
    let intervals = &point.intervals;
    let nominal = intervals.iter().map(|slice| slice.length_ns).max().unwrap_or(0);
    let series: Vec<f64> = intervals
        .iter()
        .filter(|slice| nominal > 0 && slice.length_ns >= nominal - nominal / 10)
        .map(|slice| slice.completed() as f64 / (slice.length_ns as f64 / 1e9))
        .collect();
    let segments = rates_of_segments(point);
    let estimate = match segments.as_slice() {
        [] | [_] => series_mean(&series),
        rounds if point.ended_by == EndedBy::Steady => rounds_mean(rounds, &series),
        segments => match turnovers_of_short(point, segments.len() as f64) {
            Some(turnovers) => segments_mean(segments).widened_for_short_segments(turnovers),
            None => segments_mean(segments),
        },
    };
    let scale = ratio(io_per_s, estimate.value).unwrap_or(0.0);
    let interval = estimate
        .interval
        .filter(|_| scale > 0.0)
        .map(|(low, high)| (low * scale, high * scale))
        .filter(|(low, high)| low.is_finite() && high.is_finite());
    let estimate = Estimate { value: io_per_s, interval, ..estimate };
    if point.ended_by == EndedBy::Precision { estimate.interim() } else { estimate }
}

/// Number of turnovers of the queue in each segment; `None` if the segments are long enough for it
/// not to matter.
fn turnovers_of_short(point: &PointRecord, segments: f64) -> Option<f64> {
    let completed = point.completed() as f64;
    let in_flight = point.in_flight_integral_ns / point.duration_ns.max(1) as f64;
    let is_short = (point.duration_ns as f64) < segments * SHORT_SEGMENT_NS as f64;
    // If nothing was in flight, nothing can be in step.
    is_short.then(|| ratio(completed, in_flight * segments).unwrap_or(f64::INFINITY))
}

/// Rate of each segment, I/Os per second.
fn rates_of_segments(point: &PointRecord) -> Vec<f64> {
    let rate = |segment: &[IntervalRecord]| {
        let ios: u64 = segment.iter().map(IntervalRecord::completed).fold(0, u64::saturating_add);
        let ns: u64 = segment.iter().map(|s| s.length_ns).fold(0, u64::saturating_add);
        ratio(ios as f64, ns as f64 / 1e9)
    };
    point.segments().into_iter().filter_map(rate).collect()
}

fn by_direction(
    point: &PointRecord,
    latency: impl Fn(&DirectionRecord) -> &LatencyHistogram,
) -> ByDirection {
    let mut all = latency(&point.reads).clone();
    all.merge(latency(&point.writes));
    all.merge(latency(&point.trims));
    let times = |direction: &DirectionRecord| match &direction.stated {
        Some(stated) if direction.latency.count() == 0 => stated_summary(stated),
        _ => latency_summary(latency(direction)),
    };
    let [reads, writes, trims] = point.transfers().map(times);
    let all = match all.count() {
        0 => both(&both(&reads, &writes), &trims),
        _ => latency_summary(&all),
    };
    ByDirection { reads, writes, trims, all, syncs: times(&point.syncs) }
}

/// Summary of another program's statistics: the reported percentiles with at least ten samples
/// beyond them. Another program gives no interval, so both ends are the value itself.
fn stated_summary(stated: &StatedLatency) -> LatencySummary {
    let percentile = |(quantile, value): &(f64, u64)| {
        let value = Nanos(*value);
        Percentile { quantile: *quantile, value, interval: (value, value) }
    };
    let reported = |(quantile, _): &&(f64, u64)| {
        let beyond = (1.0 - quantile) * stated.count as f64;
        let wanted = REPORTED.iter().any(|wanted| (wanted - quantile).abs() < 1e-9);
        wanted && beyond >= 9.999_999
    };
    LatencySummary {
        count: stated.count,
        min_ns: stated.min_ns,
        mean_ns: stated.mean_ns,
        max_ns: stated.max_ns,
        percentiles: stated.percentiles.iter().filter(reported).map(percentile).collect(),
    }
}

/// Both directions together, as far as statistics can be merged: percentiles only if there is one
/// direction.
fn both(a: &LatencySummary, b: &LatencySummary) -> LatencySummary {
    match (a.count, b.count) {
        (0, _) => return b.clone(),
        (_, 0) => return a.clone(),
        _ => {}
    }
    let (first, second) = (a.count as f64, b.count as f64);
    let mean = |(x, y): (f64, f64)| (x * first + y * second) / (first + second);
    LatencySummary {
        count: a.count.saturating_add(b.count),
        min_ns: a.min_ns.zip(b.min_ns).map(|(x, y)| x.min(y)),
        mean_ns: a.mean_ns.zip(b.mean_ns).map(mean),
        max_ns: a.max_ns.zip(b.max_ns).map(|(x, y)| x.max(y)),
        percentiles: Vec::new(),
    }
}

fn part(latencies: Option<&EncodedHistogram>) -> Option<LatencySummary> {
    Some(latency_summary(&latencies?.decode().ok()?))
}

fn latency_summary(histogram: &LatencyHistogram) -> LatencySummary {
    LatencySummary {
        count: histogram.count(),
        min_ns: histogram.min().map(|value| value.0),
        mean_ns: histogram.mean(),
        max_ns: histogram.max().map(|value| value.0),
        percentiles: reported_percentiles(histogram),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: u64 = 100_000_000;

    /// A point of four segments of this many tenths of a second, with these reads in each, `gap_ns`
    /// apart.
    fn interleaved(tenths: u64, reads: [u64; 4], gap_ns: u64, in_flight: f64) -> PointRecord {
        let segment = |(n, reads): (u64, u64)| {
            let begin = n * (tenths * TENTH + gap_ns);
            (0..tenths).map(move |slice| IntervalRecord {
                start_ns: begin + slice * TENTH,
                length_ns: TENTH,
                reads,
                ..IntervalRecord::default()
            })
        };
        let duration_ns = 4 * tenths * TENTH;
        PointRecord {
            duration_ns,
            in_flight_integral_ns: in_flight * duration_ns as f64,
            reads: DirectionRecord {
                completed: tenths * reads.iter().sum::<u64>(),
                ..DirectionRecord::default()
            },
            intervals: (0..4).zip(reads).flat_map(segment).collect(),
            ..PointRecord::default()
        }
    }

    #[test]
    fn separate_segments_are_found_by_their_gaps() {
        let estimate =
            PointSummary::from_point(&interleaved(2, [10, 11, 9, 10], 40_000_000, 1.0)).io_per_s;
        assert_eq!((estimate.degrees, estimate.value), (3, 100.0));
        // Student's t for three degrees of freedom, 3.18, times the standard error of the mean.
        let half = 3.182_446 * (200.0_f64 / 3.0 / 4.0).sqrt();
        let (low, high) = estimate.interval.unwrap_or_default();
        assert!((low - (100.0 - half)).abs() < 1e-3 && (high - (100.0 + half)).abs() < 1e-3);
        // Samples without a gap are one segment.
        assert_eq!(
            PointSummary::from_point(&interleaved(2, [10; 4], 0, 1.0)).io_per_s.interval,
            None
        );
    }

    #[test]
    fn short_segments_with_few_ios_widen_the_interval() {
        let half = |tenths, in_flight| {
            let point = interleaved(tenths, [100; 4], 50_000_000, in_flight);
            PointSummary::from_point(&point).io_per_s.half_width_share()
        };
        let is = |share: Option<f64>, wanted: f64| {
            assert!(share.is_some_and(|share| (share - wanted).abs() < 1e-9), "{share:?}");
        };
        // 200 requests per segment: 6.25, 4 and 0.5 times the number in flight.
        is(half(2, 32.0), 0.0);
        is(half(2, 50.0), 0.125);
        assert_eq!(half(2, 400.0), None);
        // A segment of half a second or more is not short.
        is(half(5, 400.0), 0.0);
    }
}
