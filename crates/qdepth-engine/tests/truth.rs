//! The loop compared with known truth: closed-form results of queueing theory on a scripted target
//! in virtual time, conservation under faults, and equal results for equal seeds.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use qdepth_engine::scripted::{Fault, ScriptedTarget, Service};
use qdepth_engine::{
    Ended, Outcome, Shard, StopGroup, Target, conformance, join, measure, measure_recorded,
    measure_shard, measure_together,
};
use qdepth_measure::{Code, Instant, Nanos, PointFacts, check_laws, series_mean};
use qdepth_workload::{
    Arrivals, CacheAdvice, Durability, Extent, Flow, Fsync, IoFlag, Layout, Payload, Point,
    Samples, SizeMix, Stop, Until,
};

fn point(queue_depth: u32, arrivals: Arrivals, duration: Nanos) -> Point {
    Point {
        index: 0,
        group: 0,
        variant: None,
        step: String::new(),
        target: 0,
        profile: "test".to_owned(),
        profile_title: "Test".to_owned(),
        application: String::new(),
        distribution: qdepth_workload::Distribution::Uniform,
        random_share: 1.0,
        read_share: 0.67,
        trim_share: 0.0,
        trims_first: false,
        operation: qdepth_workload::Operation::Transfer,
        trace: None,
        block_size: SizeMix::fixed(4096),
        own_writes: None,
        alignment_bytes: 4096,
        area: Extent { offset_bytes: 0, length_bytes: 1 << 30 },
        layout: Layout::Area,
        segments: 1,
        strides: None,
        backwards: false,
        streams: 1,
        workers: 1,
        rank_shift: None,
        queue_depth,
        arrivals,
        flow: None,
        payload: Payload::default(),
        verify: false,
        verify_unwritten: true,
        verify_laid_out: false,
        priorities: None,
        durability: Durability::None,
        direct: true,
        advice: CacheAdvice::None,
        drop_cache: false,
        io_flag: IoFlag::None,
        fsync: Fsync { every_writes: 0, at_end: false, data_only: false },
        reported_as_throughput: false,
        delay_ns: 0,
        warm_up_ns: duration.0 / 20,
        stop: Stop {
            duration_ns: duration.0,
            bytes: 0,
            bytes_per_stream: 0,
            until: None,
            samples: None,
            ends_step: false,
            catches_up: false,
            least_rate: None,
            settling: None,
            until_steady: None,
            steady: None,
            interleaved_segments: 1,
            segment_warm_up_ns: 0,
        },
        seed: 7,
    }
}

fn run(target: &mut ScriptedTarget, point: &Point) -> Outcome {
    measure(target, point, &AtomicBool::new(false), &mut |_| {})
}

fn facts(outcome: &Outcome, asked: Option<f64>) -> PointFacts {
    PointFacts {
        duration_ns: outcome.duration.0 as f64,
        queue_depth_asked: asked,
        in_flight_integral_ns: outcome.in_flight_integral,
        latency_in_window_ns: outcome.latency_in_window,
        latency_completed_ns: asked
            .filter(|_| outcome.failed() + outcome.failed_outside + outcome.abandoned == 0)
            .map(|_| outcome.directions.iter().map(|d| d.latency.sum() as f64).sum()),
        issued: outcome.issued,
        completed: outcome.completed(),
        failed: outcome.failed(),
        outside: outcome.completed_outside + outcome.failed_outside,
        abandoned: outcome.abandoned,
        histogram_sum: outcome.directions.iter().map(|d| d.latency.bucket_sum()).sum(),
        bytes: outcome.bytes(),
        bytes_expected: Some(4096 * outcome.completed()),
        ..PointFacts::default()
    }
}

fn near(got: f64, truth: f64, error: f64, what: &str) {
    assert!((got / truth - 1.0).abs() <= error, "{what}: {got} against {truth}");
}

fn mean(outcome: &Outcome, response: bool) -> f64 {
    let [reads, writes, ..] = &outcome.directions;
    let pick = |d: &qdepth_engine::DirectionOutcome| match (&d.response_time, response) {
        (Some(histogram), true) => histogram.clone(),
        _ => d.latency.clone(),
    };
    let mut all = pick(reads);
    all.merge(&pick(writes));
    all.mean().expect("completions")
}

#[test]
fn closed_loop_rate_is_servers_over_service_time() {
    let service = Nanos::from_micros(100);
    for servers in [1usize, 8, 32] {
        for depth in [1u32, 2, 3, 8, 16, 64, 512] {
            let mut target = ScriptedTarget::new(servers, Service::Fixed(service), 1);
            let outcome = run(&mut target, &point(depth, Arrivals::Closed, Nanos::from_secs(2)));
            let busy = f64::from(depth).min(servers as f64);
            let rate = outcome.completed() as f64 / outcome.duration.as_secs_f64();
            near(rate, busy / service.as_secs_f64(), 0.001, "rate");
            let latency = service.0 as f64 * f64::from(depth) / busy;
            near(mean(&outcome, false), latency, 0.001, "latency");
            assert_eq!(check_laws(&facts(&outcome, Some(f64::from(depth)))), []);
        }
    }
}

/// A stream with think time alternates between its requests and a pause.
#[test]
fn think_time_stream_issues_ios_once_per_cycle() {
    let (service, think) = (Nanos::from_millis(1), Nanos::from_millis(4));
    // Queue depth, requests between two pauses, and their duration.
    for (depth, requests, busy_ms) in [(1, 1, 1), (2, 4, 2), (8, 3, 1), (4, 6, 2)] {
        let arrivals = Arrivals::ThinkTime { time_ns: think.0, requests };
        let mut target = ScriptedTarget::new(64, Service::Fixed(service), 1);
        let outcome = run(&mut target, &point(depth, arrivals, Nanos::from_secs(20)));
        let cycle = f64::from(busy_ms + 4) / 1e3;
        let rate = outcome.completed() as f64 / outcome.duration.as_secs_f64();
        near(rate, f64::from(requests) / cycle, 0.001, "rate");
        near(mean(&outcome, false), service.0 as f64, 0.001, "thinking is in no latency");
        assert_eq!(check_laws(&facts(&outcome, None)), []);
    }
}

#[test]
fn delayed_load_starts_and_ends_later() {
    let service = Nanos::from_millis(1);
    let now = point(4, Arrivals::Closed, Nanos::from_secs(2));
    let later = Point { delay_ns: 1_000_000_000, ..now.clone() };
    let mut target = ScriptedTarget::new(64, Service::Fixed(service), 1);
    let stop = AtomicBool::new(false);
    let shards = [Shard::whole(&now), Shard::whole(&later)];
    let start = target.now();
    let outcomes = measure_together(&mut target, &shards, start, &stop, &mut |_, _| {});
    assert_eq!(outcomes[0].completed(), outcomes[1].completed());
    // 100 ms of warm-up, the window, the I/Os in flight, and the delay.
    assert_eq!(target.now().since(start), Nanos::from_millis(3100));
}

/// Mean response time of M/M/1 is S / (1 − ρ), of M/D/1 S · (1 + ρ / (2 (1 − ρ)))
/// (Pollaczek–Khinchine; Kleinrock, *Queueing Systems* I, 5.6).
#[test]
fn open_loop_response_times_match_queueing_theory() {
    let service = Nanos::from_micros(100);
    let (s, rho) = (service.0 as f64, 0.5);
    let arrivals = Arrivals::Poisson { rate: rho / service.as_secs_f64() };
    let long = point(4096, arrivals, Nanos::from_secs(2000));
    for (what, law, truth) in [
        ("M/D/1", Service::Fixed(service), s * (1.0 + rho / (2.0 * (1.0 - rho)))),
        ("M/M/1", Service::Exponential(service), s / (1.0 - rho)),
    ] {
        let outcome = run(&mut ScriptedTarget::new(1, law, 3), &long);
        assert!(outcome.completed() > 9_900_000);
        near(mean(&outcome, true), truth, 0.001, what);
        assert_eq!(outcome.backlog_max, 0);
    }
}

#[test]
fn exponential_percentiles_are_exact_within_half_a_percent() {
    let service = Nanos::from_micros(100);
    let arrivals = Arrivals::Poisson { rate: 5_000.0 };
    let mut target = ScriptedTarget::new(1, Service::Exponential(service), 3);
    let outcome = run(&mut target, &point(4096, arrivals, Nanos::from_secs(2000)));
    let [reads, writes, ..] = outcome.directions;
    let mut all = reads.response_time.expect("open loop");
    all.merge(&writes.response_time.expect("open loop"));
    for q in [0.5, 0.9, 0.99f64] {
        // The response of M/M/1 is exponential with mean S / (1 − ρ).
        let truth = -(1.0 - q).ln() * 200_000.0;
        near(all.quantile(q).expect("values").0 as f64, truth, 0.005, "percentile");
    }
}

#[test]
fn saturated_open_loop_shows_growing_response_time() {
    // 4 slots before one server of 10 k/s, offered 11.1 k/s: the service time stays at 4 × 100 µs,
    // the response time grows with the backlog.
    let mut target = ScriptedTarget::new(1, Service::Fixed(Nanos::from_micros(100)), 1);
    let arrivals = Arrivals::Fixed { rate: 11_111.0 };
    let outcome = run(&mut target, &point(4, arrivals, Nanos::from_secs(1)));
    near(mean(&outcome, false), 400_000.0, 0.01, "service time");
    assert!(mean(&outcome, true) > 40_000_000.0, "response time {}", mean(&outcome, true));
    assert!(outcome.backlog_max > 4, "saturated");
}

#[test]
fn one_second_stall_appears_in_open_loop_response() {
    // 1000 requests a second for ten seconds, with a stall of one second from the third second on.
    // The backlog of 1000 is gone after 1000 / (100,000 − 1000) s. All requests that arrive in the
    // stall wait between one second and nothing: a tenth of all, evenly distributed.
    let service = Nanos::from_micros(10);
    let stall = Fault::Stall { at: Instant(3_000_000_000), length: Nanos::from_secs(1) };
    let mut target = ScriptedTarget::new(1, Service::Fixed(service), 1).with_fault(stall);
    let mut point = point(4, Arrivals::Fixed { rate: 1000.0 }, Nanos::from_secs(10));
    (point.warm_up_ns, point.read_share) = (0, 1.0);
    let outcome = run(&mut target, &point);
    let response = outcome.directions[0].response_time.as_ref().expect("open loop");
    let drained = 1e9 * (1000.0 / 99_000.0);
    for quantile in [0.91, 0.95, 0.99, 0.999] {
        // The wait falls linearly from 1 s at the begin of the stall to zero when the backlog is
        // gone.
        let share = (1.0 - quantile) * 10e9 / (1e9 + drained);
        let truth = 1e9 * (1.0 - share);
        near(response.quantile(quantile).expect("values").0 as f64, truth, 0.02, "percentile");
    }
    let longest = outcome.directions[0].latency.max().expect("values").0 as f64;
    near(longest, 1e9, 0.02, "the requests that were in flight");
    near(outcome.longest_gap.0 as f64, 1e9, 0.02, "the gap");
}

#[test]
fn idle_open_loop_has_no_gap() {
    let service = Service::Fixed(Nanos::from_millis(30));
    let arrivals = Arrivals::Fixed { rate: 2.0 };
    let outcome =
        run(&mut ScriptedTarget::new(1, service, 1), &point(4, arrivals, Nanos::from_secs(20)));
    assert!(outcome.completed() >= 38, "{}", outcome.completed());
    near(outcome.longest_gap.0 as f64, 30e6, 0.02, "the gap");
    assert_eq!(outcome.gaps, [0; 3]);
}

#[test]
fn failures_end_no_gap_of_an_open_loop() {
    let service = Service::Fixed(Nanos::from_millis(1));
    let mut target =
        ScriptedTarget::new(1, service, 1).with_fault(Fault::Error { every: 1, errno: 5 });
    let arrivals = Arrivals::Fixed { rate: 10.0 };
    let outcome = run(&mut target, &point(4, arrivals, Nanos::from_secs(5)));
    assert_eq!(outcome.completed(), 0);
    near(outcome.longest_gap.0 as f64, 5e9, 0.05, "the gap");
}

#[test]
fn failed_ios_are_counted_but_not_in_rates() {
    let service = Service::Fixed(Nanos::from_micros(50));
    let point = point(8, Arrivals::Closed, Nanos::from_millis(500));
    let whole = run(&mut ScriptedTarget::new(4, service, 1), &point);
    let mut target =
        ScriptedTarget::new(4, service, 1).with_fault(Fault::Error { every: 10, errno: 5 });
    let outcome = run(&mut target, &point);
    let failed = outcome.failed() + outcome.failed_outside;
    assert_eq!(failed, outcome.issued / 10);
    assert_eq!(outcome.issued, whole.issued);
    assert!(outcome.directions.iter().all(|d| d.errors.kinds().all(|(errno, _)| errno == 5)));
    assert_eq!(check_laws(&facts(&outcome, Some(8.0))), []);
}

#[test]
fn io_over_two_gib_completes_in_pieces() {
    let service = Service::Fixed(Nanos::from_micros(50));
    let size = 3 << 30;
    let point = Point {
        block_size: SizeMix::fixed(size),
        area: Extent { offset_bytes: 0, length_bytes: 16 << 30 },
        ..point(2, Arrivals::Closed, Nanos::from_millis(50))
    };
    let outcome = run(&mut ScriptedTarget::new(4, service, 1), &point);
    assert!(outcome.completed() > 100, "{}", outcome.completed());
    assert_eq!(outcome.bytes(), outcome.completed() * u64::from(size));
    assert!(outcome.directions.iter().all(|d| d.short == 0 && d.errors.total() == 0));
}

#[test]
fn short_transfers_are_continued_and_counted() {
    let service = Service::Fixed(Nanos::from_micros(50));
    let mut target = ScriptedTarget::new(4, service, 1).with_fault(Fault::Short { every: 100 });
    let outcome = run(&mut target, &point(8, Arrivals::Closed, Nanos::from_millis(500)));
    assert!(outcome.directions.iter().map(|d| d.short).sum::<u64>() > 100);
    assert_eq!(outcome.bytes(), outcome.completed() * 4096);
    assert_eq!(check_laws(&facts(&outcome, Some(8.0))), []);
}

#[test]
fn recorded_ios_are_those_that_the_outcome_counts() {
    let service = Service::Exponential(Nanos::from_micros(50));
    let mut first = point(8, Arrivals::Closed, Nanos::from_millis(200));
    first.warm_up_ns = 20_000_000;
    let second = point(2, Arrivals::Fixed { rate: 1000.0 }, Nanos::from_millis(100));
    let shards = [Shard::whole(&first), Shard::whole(&second)];
    let target = || ScriptedTarget::new(4, service, 1).with_fault(Fault::Short { every: 100 });
    let stop = AtomicBool::new(false);
    let start = Instant(0);
    let plain = measure_together(&mut target(), &shards, start, &stop, &mut |_, _| {});
    let recorded = measure_recorded(&mut target(), &shards, 1 << 20, start, &stop, &mut |_, _| {});
    for ((outcome, ios), plain) in recorded.iter().zip(&plain) {
        assert_eq!(outcome.completed(), plain.completed(), "recording changes no result");
        assert_eq!(ios.len() as u64, outcome.completed());
        for (kind, direction) in outcome.directions.iter().enumerate() {
            let own = || ios.iter().filter(|io| io.request.direction as usize == kind);
            let bytes: u64 = own().map(|io| u64::from(io.request.size)).sum();
            assert_eq!(bytes, direction.bytes);
            let latencies: u128 = own().map(|io| u128::from(io.latency.0)).sum();
            assert_eq!(latencies, direction.latency.sum());
        }
        assert!(ios.is_sorted_by_key(|io| io.completed) && ios.len() > 50);
        assert!(ios.iter().all(|io| io.completed <= outcome.duration));
    }
}

#[test]
fn zero_byte_transfer_means_device_is_gone() {
    let service = Service::Fixed(Nanos::from_micros(50));
    let mut target = ScriptedTarget::new(4, service, 1).with_fault(Fault::Gone { from: 1000 });
    let outcome = run(&mut target, &point(8, Arrivals::Closed, Nanos::from_secs(1)));
    let cause = outcome.failure.as_ref().map(qdepth_engine::TargetFailure::cause);
    assert!(matches!(cause, Some(qdepth_engine::Cause::Gone(_))), "{cause:?}");
    assert!(outcome.issued < 1100, "stopped soon: {}", outcome.issued);
    assert_eq!(check_laws(&facts(&outcome, None)), []);
}

#[test]
fn lost_io_is_abandoned_and_duration_is_kept() {
    let service = Service::Fixed(Nanos::from_micros(50));
    let mut target = ScriptedTarget::new(4, service, 1).with_fault(Fault::Hang { at: 500 });
    let outcome = run(&mut target, &point(8, Arrivals::Closed, Nanos::from_secs(1)));
    assert_eq!(outcome.abandoned, 1);
    assert_eq!(outcome.duration, Nanos::from_secs(1));
    assert_eq!(check_laws(&facts(&outcome, None)), []);
}

#[test]
fn scripted_target_passes_the_conformance_check() {
    for servers in [1, 4] {
        for law in
            [Service::Fixed(Nanos::from_micros(80)), Service::Exponential(Nanos::from_micros(80))]
        {
            conformance::check(&mut ScriptedTarget::new(servers, law, 5), 64, 1 << 20)
                .expect("lawful");
        }
    }
}

#[test]
fn final_sync_is_part_of_duration() {
    let mut point = point(4, Arrivals::Closed, Nanos::from_millis(100));
    point.fsync = Fsync { every_writes: 16, at_end: true, data_only: false };
    point.read_share = 0.0;
    let service = Nanos::from_millis(1);
    let outcome = run(&mut ScriptedTarget::new(1, Service::Fixed(service), 1), &point);
    // Four requests are drained and one sync follows.
    assert!(outcome.duration >= Nanos::from_millis(104), "{:?}", outcome.duration);
    let [_, writes, _, syncs] = &outcome.directions;
    assert!(syncs.completed > writes.completed / 20, "{} {}", syncs.completed, writes.completed);
    let facts = facts(&outcome, None);
    let expected = Some(4096 * writes.completed);
    assert_eq!(check_laws(&PointFacts { bytes_expected: expected, ..facts }), []);
}

/// Result of writers that share a log for 100 ms; each request takes 100 µs.
fn durable(writers: u32, arrivals: Arrivals, fault: Option<Fault>) -> Outcome {
    let mut point = point(writers, arrivals, Nanos::from_millis(100));
    (point.read_share, point.durability) = (0.0, Durability::Fsync);
    let target = ScriptedTarget::new(64, Service::Fixed(Nanos::from_micros(100)), 1);
    let outcome = match fault {
        Some(fault) => run(&mut target.with_fault(fault), &point),
        None => run(&mut { target }, &point),
    };
    let held = (arrivals == Arrivals::Closed).then_some(f64::from(writers));
    assert_eq!(check_laws(&facts(&outcome, held)), []);
    outcome
}

#[test]
fn durable_write_lasts_until_its_sync_ends() {
    for writers in [1, 8] {
        let outcome = durable(writers, Arrivals::Closed, None);
        let service = &outcome.directions[1].latency;
        assert_eq!((service.min(), service.max()), (Some(Nanos(200_000)), Some(Nanos(200_000))));
        // All writers of the log share each sync.
        assert_eq!(outcome.completed(), 500 * u64::from(writers));
        let parts = outcome.parts.unwrap();
        assert_eq!((parts.write.count(), parts.sync.count()), (500 * u64::from(writers), 500));
        let longest = Some(Nanos(100_000));
        assert_eq!((parts.write.max(), parts.sync.max()), (longest, longest));
    }
}

#[test]
fn writes_during_a_sync_share_the_next() {
    let outcome = durable(64, Arrivals::Poisson { rate: 50_000.0 }, None);
    near(outcome.completed() as f64, 5000.0, 0.05, "durable writes");
    let response = outcome.directions[1].response_time.as_ref().unwrap();
    // A write, at most one complete sync of others, and its own sync.
    let (least, most) = (response.min().unwrap(), response.max().unwrap());
    assert!(least >= Nanos(200_000) && most <= Nanos(300_000), "{least:?} to {most:?}");
    near(response.mean().unwrap(), 250_000.0, 0.02, "half a sync is waited for in the mean");
    let syncs = outcome.parts.unwrap().sync.count();
    assert!((980..=1000).contains(&syncs), "{syncs} syncs of 100 µs in 100 ms");
}

#[test]
fn failed_sync_fails_the_preceding_writes() {
    // One writer: every second request is a sync.
    let outcome = durable(1, Arrivals::Closed, Some(Fault::Error { every: 2, errno: 5 }));
    assert_eq!((outcome.completed(), outcome.failed()), (0, 500));
    assert_eq!(outcome.directions[1].errors.kinds().collect::<Vec<_>>(), [(5, 500)]);
}

#[test]
fn byte_limit_ends_the_point() {
    let mut point = point(8, Arrivals::Closed, Nanos::from_secs(100));
    point.stop.bytes = 1 << 20;
    let service = Service::Fixed(Nanos::from_micros(100));
    let outcome = run(&mut ScriptedTarget::new(8, service, 1), &point);
    assert!(outcome.bytes() >= 1 << 20 && outcome.bytes() <= (1 << 20) + 8 * 4096);
    assert!(outcome.duration < Nanos::from_secs(1));
}

#[test]
fn stream_byte_limit_includes_the_tail_in_duration() {
    let mut point = point(4, Arrivals::Closed, Nanos::from_secs(100));
    (point.streams, point.stop.bytes_per_stream) = (3, 10 * 4096);
    point.warm_up_ns = 0;
    let service = Nanos::from_millis(1);
    // Three streams share three servers: 30 requests take ten services one after the other.
    let outcome = run(&mut ScriptedTarget::new(3, Service::Fixed(service), 1), &point);
    assert_eq!((outcome.bytes(), outcome.completed()), (30 * 4096, 30));
    assert_eq!(outcome.duration, Nanos(10 * service.0));
    assert_eq!(outcome.ended, Ended::Bytes);
    let laws = check_laws(&PointFacts { bytes_expected: Some(30 * 4096), ..facts(&outcome, None) });
    assert_eq!(laws, []);
    // The same with a schedule, and after a warm-up that does not count.
    (point.arrivals, point.warm_up_ns) = (Arrivals::Fixed { rate: 100.0 }, 500_000_000);
    let outcome = run(&mut ScriptedTarget::new(3, Service::Fixed(service), 1), &point);
    assert_eq!((outcome.bytes(), outcome.ended), (30 * 4096, Ended::Bytes));
    assert!(
        outcome.duration >= Nanos::from_millis(90) && outcome.duration <= Nanos::from_millis(101)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn measurement_laws_hold_for_any_load(
        depth in 1u32..200, streams in 1u32..5, servers in 1usize..40, micros in 1u64..5000,
        exponential in any::<bool>(), durable in any::<bool>(), kind in 0..4,
        load in 0.1f64..1.5, seed in any::<u64>(),
    ) {
        let rate = load * servers as f64 * 1e6 / micros as f64 / f64::from(streams);
        let arrivals = match kind {
            0 => Arrivals::Closed,
            1 => Arrivals::Fixed { rate },
            2 => Arrivals::Poisson { rate },
            _ => Arrivals::Paced { rate },
        };
        let mut point = point(depth, arrivals, Nanos::from_millis(300));
        (point.streams, point.seed) = (streams, seed);
        if durable {
            point.durability = Durability::Fdatasync;
        }
        let mean = Nanos::from_micros(micros);
        let law = if exponential { Service::Exponential(mean) } else { Service::Fixed(mean) };
        let outcome = run(&mut ScriptedTarget::new(servers, law, seed), &point);
        let asked = (kind == 0).then(|| f64::from(point.in_flight_max()));
        let findings = check_laws(&facts(&outcome, asked));
        let mut found: Vec<Code> = findings.iter().map(|f| f.code).collect();
        // The only expected finding: the queue was not turned over once before the window.
        let turnover = outcome.in_flight_integral / outcome.completed().max(1) as f64;
        found.retain(|code| *code != Code::QueueUnsettled || point.warm_up_ns as f64 > turnover);
        prop_assert_eq!(found, []);
        let series = outcome.series.intervals();
        let counted: u64 = series.iter().map(|i| i.completed[0] + i.completed[1]).sum();
        prop_assert_eq!(counted, outcome.completed(), "the series holds every completion");
        let again = run(&mut ScriptedTarget::new(servers, law, seed), &point);
        prop_assert_eq!(outcome, again, "same seed, same outcome");
    }
}

#[test]
fn simultaneous_loads_have_separate_counters() {
    // One server of 1 ms with a closed-loop reader and a scheduled writer.
    let second = Nanos::from_secs(1);
    let reader = Point { read_share: 1.0, ..point(1, Arrivals::Closed, second) };
    let writer = Point { read_share: 0.0, ..point(8, Arrivals::Fixed { rate: 200.0 }, second) };
    let mut target = ScriptedTarget::new(1, Service::Fixed(Nanos::from_millis(1)), 1);
    let shards = [Shard::whole(&reader), Shard::whole(&writer)];
    let start = target.now();
    let stop = AtomicBool::new(false);
    let mut shown = [0; 2];
    let outcomes =
        measure_together(&mut target, &shards, start, &stop, &mut |driver, _| shown[driver] += 1);
    assert_eq!(shown, [10, 10]);
    let [reads, writes] = [&outcomes[0], &outcomes[1]];
    assert_eq!((reads.directions[1].completed, writes.directions[0].completed), (0, 0));
    // The schedule uses 200 of the 1000 I/Os in a second, and the reader gets the rest.
    assert!(writes.completed().abs_diff(200) <= 1, "{}", writes.completed());
    assert!(reads.completed().abs_diff(800) <= 2, "{}", reads.completed());
    for outcome in &outcomes {
        assert!((outcome.in_flight_integral / outcome.latency_in_window - 1.0).abs() < 0.001);
        assert_eq!(outcome.abandoned, 0);
    }
}

#[test]
fn joined_workers_equal_the_whole_point() {
    let second = Nanos::from_secs(1);
    let whole = Point { streams: 4, ..point(2, Arrivals::Closed, second) };
    let run = |streams: std::ops::Range<u32>, servers: usize| {
        let mut target = ScriptedTarget::new(servers, Service::Fixed(Nanos::from_millis(1)), 1);
        let (shard, start) = (Shard { point: &whole, streams, stop_group: None }, target.now());
        measure_shard(&mut target, &shard, start, &AtomicBool::new(false), &mut |_| {})
    };
    let joined = join(vec![run(0..1, 2), run(1..4, 6)]);
    let alone = run(0..4, 8);
    assert_eq!(joined.directions, alone.directions);
    assert_eq!((joined.issued, joined.duration), (alone.issued, alone.duration));
    assert_eq!(joined.series.intervals().len(), alone.series.intervals().len());
    for index in 0..alone.series.intervals().len() {
        assert_eq!(joined.series.histograms(index), alone.series.histograms(index));
        let counts = |outcome: &Outcome| outcome.series.intervals()[index].completed;
        assert_eq!(counts(&joined), counts(&alone));
    }
}

fn with<'a>(shards: &[Shard<'a>], stop_group: Option<&'a StopGroup>) -> Vec<Shard<'a>> {
    shards.iter().map(|shard| Shard { stop_group, ..shard.clone() }).collect()
}

/// Outcomes of up to three loads that run at the same time, each completing 1000 I/Os a second.
fn in_company(points: &[Point]) -> Vec<Outcome> {
    let mut target = ScriptedTarget::new(3, Service::Fixed(Nanos::from_millis(1)), 1);
    let whole: Vec<Shard<'_>> = points.iter().map(Shard::whole).collect();
    let stop_group = StopGroup::from_shards(whole.iter());
    let shards = with(&whole, stop_group.as_ref());
    let start = target.now();
    measure_together(&mut target, &shards, start, &AtomicBool::new(false), &mut |_, _| {})
}

#[test]
fn loads_with_sample_goals_end_together() {
    let second = Nanos::from_secs(1);
    let wanting = |count: u64| {
        let mut point = point(1, Arrivals::Closed, Nanos(40 * second.0));
        point.stop.samples = Some(Samples { count, least_ns: second.0 });
        point
    };
    let beside = point(1, Arrivals::Fixed { rate: 500.0 }, Nanos(40 * second.0));
    let outcomes = in_company(&[wanting(2_500), beside.clone(), wanting(5_000)]);
    for outcome in &outcomes {
        assert_eq!(outcome.ended, Ended::Precision);
        // All end at the five seconds of the last load, up to one interim check (every 100 ms).
        let (least, most) = (Nanos::from_millis(5_000), Nanos::from_millis(5_200));
        assert!((least..=most).contains(&outcome.duration), "{:?}", outcome.duration);
    }
    // Reaching the samples early does not shorten the step, and never reaching them does not extend
    // it beyond its limit.
    let early = in_company(&[wanting(10)]);
    assert!(early[0].duration >= second && early[0].duration < Nanos::from_millis(1_200));
    let never = in_company(&[wanting(1_000_000), beside]);
    assert_eq!([&never[0], &never[1]].map(|o| o.duration), [Nanos(40 * second.0); 2]);
}

fn until(share: f64) -> Point {
    let mut point = point(1, Arrivals::Closed, Nanos::from_secs(60));
    point.stop.until = Some(Until { share, least_ns: Nanos::from_secs(5).0 });
    point
}

#[test]
fn point_ended_by_precision_covers_true_rate() {
    let mut held = 0;
    for seed in 0..400 {
        // Counts of 100 ms have a standard deviation of 10 %.
        let service = Service::Exponential(Nanos::from_millis(1));
        let outcome = run(&mut ScriptedTarget::new(1, service, seed), &until(0.02));
        assert_eq!(outcome.ended, Ended::Precision);
        let seconds = outcome.duration.as_secs_f64();
        assert!(seconds > 5.0 && seconds < 60.0, "{seconds}");
        assert!(outcome.interim_checks >= 1 && !outcome.interrupted);
        assert_eq!(check_laws(&facts(&outcome, Some(1.0))), []);
        let whole = outcome.series.intervals().iter().filter(|i| i.length.0 == 100_000_000);
        let rates: Vec<f64> =
            whole.map(|i| (i.completed[0] + i.completed[1]) as f64 * 10.0).collect();
        let estimate = series_mean(&rates).interim();
        assert!(estimate.half_width_share().is_some_and(|share| share <= 0.02), "{estimate:?}");
        held += u32::from(estimate.interval.is_some_and(|(low, high)| low <= 1e3 && 1e3 <= high));
    }
    assert!((370..=392).contains(&held), "{held} of 400");
}

#[test]
fn unreachable_precision_ends_by_duration() {
    let service = Service::Exponential(Nanos::from_millis(1));
    let outcome = run(&mut ScriptedTarget::new(1, service, 1), &until(0.001));
    assert_eq!((outcome.ended, outcome.duration), (Ended::Duration, Nanos::from_secs(60)));
    assert_eq!(outcome.interim_checks, 7, "after 5, 7.5, 11.3, 17, 25.5, 38.3 and 57.5 s");
}

#[test]
fn load_that_ends_step_stops_other_loads() {
    let second = Nanos::from_secs(1);
    let mut first = point(1, Arrivals::Closed, Nanos(40 * second.0));
    // 1000 requests, one a millisecond.
    first.stop.bytes_per_stream = 1000 * u64::from(first.block_size.max());
    first.stop.ends_step = true;
    let beside = point(1, Arrivals::Closed, Nanos(40 * second.0));
    let outcomes = in_company(&[first.clone(), beside.clone()]);
    assert_eq!([outcomes[0].ended, outcomes[1].ended], [Ended::Bytes, Ended::Duration]);
    for outcome in &outcomes {
        let (least, most) = (second, Nanos::from_millis(1_200));
        assert!((least..=most).contains(&outcome.duration), "{:?}", outcome.duration);
    }
    // The intervals of a load without a runtime are longer.
    let mut by_bytes = point(1, Arrivals::Closed, Nanos(86_400 * second.0));
    (by_bytes.stop.bytes_per_stream, by_bytes.warm_up_ns) = (1 << 40, 0);
    first.warm_up_ns = 0;
    let outcomes = in_company(&[first.clone(), by_bytes]);
    assert!(outcomes[1].duration <= Nanos::from_millis(1_200), "{:?}", outcomes[1].duration);
    first.stop.ends_step = false;
    let outcomes = in_company(&[first, beside]);
    assert_eq!(outcomes[1].duration, Nanos(40 * second.0));
}

#[test]
fn streams_with_catch_up_transfer_equal_bytes() {
    let second = Nanos::from_secs(1);
    let mut slow = point(1, Arrivals::Closed, second);
    slow.stop.bytes_per_stream = 1 << 40;
    slow.stop.catches_up = true;
    slow.warm_up_ns = 0;
    let fast = Point { queue_depth: 4, ..slow.clone() };
    let outcomes = in_company(&[slow.clone(), fast.clone()]);
    let [slower, faster] = [0, 1].map(|place: usize| &outcomes[place]);
    assert!(slower.bytes_before * 3 < faster.bytes_before * 2, "{}", slower.bytes_before);
    assert_eq!(slower.bytes(), faster.bytes(), "what was in flight at the end of the time counts");
    assert!(faster.duration < Nanos::from_millis(1_100), "{:?}", faster.duration);
    assert!(slower.duration > Nanos::from_millis(1_900), "{:?}", slower.duration);
    assert!(slower.caught_up_from < Nanos::from_millis(1_100), "{:?}", slower.caught_up_from);
    // A load that moved all of its bytes early does not delay the others.
    let mut short = slow.clone();
    short.stop.bytes_per_stream = 10 * u64::from(slow.block_size.max());
    let outcomes = in_company(&[short, slow.clone()]);
    assert_eq!(outcomes[0].ended, Ended::Bytes);
    assert!((second..Nanos::from_millis(1_100)).contains(&outcomes[1].duration));
    // A single load waits for no other.
    let whole = in_company(&[slow]);
    assert!((second..Nanos::from_millis(1_100)).contains(&whole[0].duration));
}

#[test]
fn flow_loads_issue_in_proportion_to_weights() {
    let second = Nanos::from_secs(1);
    let tied = |weight: u32, pause_ns: u64| Point {
        flow: Some(Flow { group: 3, weight, pause_ns }),
        ..point(1, Arrivals::Closed, second)
    };
    let counts = |points: &[Point]| -> Vec<u64> {
        in_company(points).iter().map(|outcome| outcome.issued).collect()
    };
    // Individually, each would complete about 1050 I/Os, including the warm-up.
    for pause_ns in [0, 100_000] {
        let [many, few] = counts(&[tied(8, pause_ns), tied(1, pause_ns)])[..] else { panic!() };
        assert!(many > 800, "{many}");
        assert!(many.abs_diff(8 * few) <= 16, "{many} and {few}, pause {pause_ns}");
    }
    // Untied loads are not delayed, and the last load of a group continues.
    let untied = point(1, Arrivals::Closed, second);
    assert!(counts(&[tied(1, 0), tied(100, 0), untied])[2] > 1_000);
    let mut short = Point { warm_up_ns: 0, ..tied(1, 0) };
    short.stop.bytes_per_stream = 100 * u64::from(short.block_size.max());
    let outcomes = in_company(&[short, tied(1, 0)]);
    assert_eq!(outcomes[0].completed(), 100);
    assert!(outcomes[1].issued > 900, "{}", outcomes[1].issued);
}

#[test]
fn flow_load_pauses_after_its_ios_complete() {
    // The load that is ahead waits 10 ms at a time, so the other sets the pace with one I/O a
    // millisecond.
    let second = Nanos::from_secs(1);
    let tied = |queue_depth: u32, weight: u32| Point {
        warm_up_ns: 0,
        flow: Some(Flow { group: 0, weight, pause_ns: 10_000_000 }),
        ..point(queue_depth, Arrivals::Closed, second)
    };
    let outcomes = in_company(&[tied(1, 1), tied(2, 1)]);
    let series = outcomes[1].longest_gap;
    assert!(series >= Nanos::from_millis(10) && series < Nanos::from_millis(12), "{series:?}");
    let [a, b] = [outcomes[0].issued, outcomes[1].issued];
    assert!(a.abs_diff(b) <= 24, "{a} and {b}");
}
