//! Drives under load at the same time on one host.

use std::sync::atomic::AtomicBool;

use crate::common::{measured, point};
use qdepth_engine::{Shard, Target, measure_together};
use qdepth_media::{OpenMedia, TargetExpression, several};
use qdepth_workload::Point;

const DATABASE: &str = "random = 100\nread = 67\nblock_size = \"8KiB\"";

/// Point that is long enough for a share of reads within 0.5 %.
#[cfg(test)]
fn point_of(expression: &str, queue_depth: u32) -> Point {
    point(expression, queue_depth, if queue_depth == 1 { 2000 } else { 200 }, DATABASE)
}

/// Rates of drives that run at the same time, each with its own load.
#[cfg(test)]
fn together(drives: &[&str], queue_depth: u32) -> Vec<f64> {
    let media: Vec<TargetExpression> =
        drives.iter().map(|d| TargetExpression::read(d).unwrap()).collect();
    let point = |(seed, drive): (u64, &&str)| Point { seed, ..point_of(drive, queue_depth) };
    let points: Vec<Point> = (1..).zip(drives).map(point).collect();
    let options: Vec<OpenMedia> = points.iter().map(OpenMedia::for_point).collect();
    let others: Vec<_> = media[1..].iter().zip(&options[1..]).collect();
    let mut target = media[0].open_together(&options[0], &others).unwrap();
    let shards: Vec<Shard<'_>> = points.iter().map(Shard::whole).collect();
    let start = target.now();
    let stop = AtomicBool::new(false);
    let outcomes = measure_together(&mut target, &shards, start, &stop, &mut |_, _| {});
    assert_eq!(target.wear().len(), drives.len(), "the wear of each target apart");
    outcomes.iter().map(|o| o.completed() as f64 / o.duration.as_secs_f64()).collect()
}

#[test]
fn separately_opened_drives_match_independent_drives() {
    for queue_depth in [1, 128] {
        let independent = "independent(media:p3700-800gb*4)";
        let outcome = measured(independent, &point_of(independent, queue_depth));
        let whole = outcome.completed() as f64 / outcome.duration.as_secs_f64();
        let sum: f64 = together(&["media:p3700-800gb"; 4], queue_depth).iter().sum();
        assert!((sum / whole - 1.0).abs() < 0.01, "{queue_depth}: {sum} and {whole}");
    }
}

#[test]
fn total_rate_of_fixed_drives_is_proportional() {
    let host = "media:fixed @host=none";
    let alone = together(&[host], 4)[0];
    let sum: f64 = together(&[host; 16], 4).iter().sum();
    assert!((sum / alone - 16.0).abs() < 0.01, "{}", sum / alone);
}

#[test]
fn sixty_four_drives_run_at_queue_depth_512() {
    let rates = together(&["media:p3700-800gb"; 64], 512);
    assert!(rates.iter().all(|rate| *rate > 0.0), "{rates:?}");
    // The host is shared by all.
    let alone = together(&["media:p3700-800gb"], 512)[0];
    let sum: f64 = rates.iter().sum();
    assert!(sum > alone && sum < 64.0 * alone, "{sum} and {alone}");
}

#[test]
fn equal_host_models_are_shared() {
    let read = |text: &str| TargetExpression::read(text).unwrap();
    let drive = read("media:p3700-800gb");
    assert!(drive.shares_host(&read("media:p3700-2tb")));
    for other in ["media:iodrive-320gb/advertised", "media:p3700-800gb @cpu=1.6GHz", "media:null"] {
        assert!(!drive.shares_host(&read(other)), "{other}");
    }
    assert!(!read("media:null").shares_host(&read("media:null")), "without a host none is shared");
}

#[test]
fn target_count_follows_an_asterisk() {
    assert_eq!(several("media:p3700-800gb*3").unwrap().unwrap(), ["media:p3700-800gb"; 3]);
    let arrays = several("raid0(media:fixed*2)*2").unwrap().unwrap();
    assert_eq!(arrays, ["raid0(media:fixed*2)"; 2]);
    for word in ["media:p3700-800gb", "raid0(media:fixed*2)", "a*4", "media:fixed @die_read_us=1*2"]
    {
        let said = several(word);
        assert!(matches!(said, Ok(None)), "{word}: {said:?}");
    }
    assert!(several("media:fixed*65").unwrap_err().to_string().contains("between 1 and 64"));
}

/// Sequential reads that start inside a stripe access two members each, which disables their
/// read-ahead.
#[test]
fn file_start_offset_affects_stripe_alignment() {
    let streaming = "random = 0\nread = 100\nblock_size = \"64KiB\"";
    let rate = |start: &str| {
        let expression = format!("raid0(media:p3700-800gb*2) @file_start_bytes={start}");
        let point = point(&expression, 2, 100, streaming);
        let outcome = measured(&expression, &point);
        outcome.completed() as f64 / outcome.duration.as_secs_f64()
    };
    assert!(rate("0") > 2.0 * rate("4096"), "{} and {}", rate("0"), rate("4096"));
}
