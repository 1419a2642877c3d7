//! Combining points that ran at the same time: sums are exact, and an incomplete group gives no
//! column.

use qdepth_measure::{LatencyHistogram, Nanos};
use qdepth_record::{
    ComparisonRecord, DirectionRecord, IntervalRecord, PointRecord, VariantRecord, cells,
};

const SECOND: u64 = 1_000_000_000;

fn comparison(parts: u32) -> ComparisonRecord {
    let variant = |role: &str, parts, times| VariantRecord {
        name: String::new(),
        role: role.into(),
        target: 0,
        parts,
        times,
    };
    ComparisonRecord {
        of: "drives".into(),
        variants: vec![
            variant("single", 1, 1),
            variant("together", parts, 1),
            variant("array", 1, parts),
        ],
        base: 0,
        base_above: false,
        shaded: false,
        latency_profiles: Vec::new(),
        published: Vec::new(),
    }
}

/// Point of a drive that reads `rate` I/Os in each of these seconds.
fn point(index: u32, group: u32, variant: u32, rate: u64, seconds: u64) -> PointRecord {
    let mut latency = LatencyHistogram::new();
    for _ in 0..rate * seconds {
        latency.record(Nanos(SECOND / rate));
    }
    let reads = DirectionRecord {
        completed: rate * seconds,
        bytes: rate * seconds * 4096,
        latency,
        ..DirectionRecord::default()
    };
    let slice = |second| IntervalRecord {
        start_ns: second * SECOND,
        length_ns: SECOND,
        reads: rate,
        read_bytes: rate * 4096,
        ..IntervalRecord::default()
    };
    PointRecord {
        index,
        group,
        variant: Some(variant),
        target: index,
        queue_depth: 8,
        duration_ns: seconds * SECOND,
        reads,
        issued: rate * seconds,
        intervals: (0..seconds).map(slice).collect(),
        ..PointRecord::default()
    }
}

#[test]
fn combined_cell_sums_are_exact() {
    let points = [point(0, 1, 1, 100, 3), point(1, 1, 1, 40, 3), point(2, 1, 1, 60, 3)];
    let cells = cells(&comparison(3), &points);
    let [cell] = cells.as_slice() else { panic!("{cells:?}") };
    assert_eq!((cell.variant, cell.whole.queue_depth, cell.whole.duration_ns), (1, 8, 3 * SECOND));
    assert_eq!(cell.whole.reads.completed, 600);
    assert_eq!(cell.whole.reads.bytes, 600 * 4096);
    assert_eq!(cell.whole.reads.latency.count(), 600);
    let sum: u128 = points.iter().map(|p| u128::from(p.reads.latency.sum() as u64)).sum();
    assert_eq!(u128::from(cell.whole.reads.latency.sum() as u64), sum);
    let series: Vec<u64> = cell.whole.intervals.iter().map(|slice| slice.reads).collect();
    assert_eq!(series, [200, 200, 200]);
    assert_eq!(cell.done_ns(), (3 * SECOND, 3 * SECOND));
}

#[test]
fn slow_drive_delays_the_last_completion() {
    // The same work, 300 I/Os: one drive needs 3 s, the slow one 6 s.
    let points = [point(0, 0, 1, 100, 3), point(1, 0, 1, 50, 6)];
    let cell = &cells(&comparison(2), &points)[0];
    assert_eq!(cell.done_ns(), (3 * SECOND, 6 * SECOND));
    assert_eq!(cell.io_per_s_until_first_done(), Some(150.0));
    assert_eq!(cell.whole.reads.completed, 600);
    assert_eq!(cell.whole.duration_ns, 6 * SECOND);
}

#[test]
fn array_is_compared_at_depth_per_drive() {
    let array = PointRecord { queue_depth: 32, ..point(0, 0, 2, 10, 1) };
    assert_eq!(cells(&comparison(4), &[array])[0].whole.queue_depth, 8);
}

#[test]
fn incomplete_groups_and_unknown_variants_have_no_cell() {
    let alone = PointRecord { variant: None, ..point(3, 2, 0, 10, 1) };
    let strange = point(4, 3, 9, 10, 1);
    let points = [point(0, 1, 1, 10, 1), point(1, 1, 1, 10, 1), alone, strange];
    assert_eq!(cells(&comparison(3), &points), []);
}
