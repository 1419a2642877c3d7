//! Self-tests of the load generator on this machine, without storage except an unnamed file next to
//! fio: each test has a threshold, and a test that cannot run does not affect the others.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_engine::scripted::{ScriptedTarget, Service};
use qdepth_engine::{Shard, Target, measure_any};
use qdepth_host::environment;
use qdepth_host::monitor::Clocks;
use qdepth_host::system::System;
use qdepth_linux::Engine;
use qdepth_measure::{Nanos, ratio, segments_mean};
use qdepth_record::{CertificateRecord, Observation, ProofOutcome, ProofRecord, Reason};
use qdepth_workload::{Point, Stop};

use crate::events::observer::Observer;
use crate::instrument::beside_fio::beside_fio;
use crate::instrument::calibrate::{null_point, null_rate};
use crate::instrument::proof::{judged, not_tried};

/// Share by which the clock may differ from the kernel's (docs/method/thresholds.md).
const CLOCK: f64 = 0.000_5;
/// Shares by which a rate and a median may deviate from the known values.
const RATE: f64 = 0.001;
const MEDIAN: f64 = 0.005;
/// Servers and service time of the scripted target.
const SERVERS: u32 = 8;
const SERVICE: Nanos = Nanos::from_micros(100);
/// Least rate of an engine, below which it could not load a hard disk.
const CEILING: f64 = 10_000.0;
const ENGINES: [Engine; 4] = [Engine::IoUring, Engine::LinuxAio, Engine::Threads, Engine::Sync];
/// Samples of an engine's rate, 45 ms each.
const SAMPLES: usize = 9;
/// Segments for an interval, runs a side of a comparison, and fewest intervals or comparisons for a
/// verdict.
const SEGMENTS: usize = 5;
const RUNS: usize = 5;
const JUDGED: usize = 20;
/// Number of comparisons made from all samples, if there are enough.
const COMPARISONS: usize = 40;
/// Number of standard errors by which a share may deviate from its expected value.
const ERRORS: f64 = 3.0;

/// Runs all tests that are possible on this machine. `duration` is the time of the longest part;
/// `folder` may hold a file for some seconds.
///
/// # Errors
/// If the shipped plan whose load is used cannot be read.
pub fn certify(
    system: &System,
    observer: &dyn Observer,
    duration: Nanos,
    folder: &Path,
) -> Result<CertificateRecord> {
    let at = Timestamp::now().to_string();
    let began = both_clocks();
    let point = null_point()?;
    let mut proofs = known_truth(&point, SERVICE, SERVICE);
    observer.message("measuring the maximum rate of each engine");
    let rates = ENGINES.map(|engine| {
        (engine, (0..SAMPLES).filter_map(|_| null_rate(engine).ok()).collect::<Vec<_>>())
    });
    proofs.extend(rates.iter().map(|(engine, rates)| ceiling(engine.name(), rates)));
    observer.message(format!("measuring the load generator repeatedly for {duration}"));
    let engine = rates.iter().find(|(_, rates)| !rates.is_empty()).map(|(engine, _)| *engine);
    let (mut samples, end) = (Vec::new(), both_clocks().1 + duration.0);
    while let Some(engine) = engine.filter(|_| both_clocks().1 < end) {
        samples.extend(null_rate(engine));
    }
    if let Some(engine) = engine {
        observer.message("comparing with fio, if it is installed");
        proofs.extend(beside_fio(system, folder, engine, Nanos(duration.0 / 2)));
    }
    proofs.push(coverage(&samples));
    proofs.push(same_against_same(&samples, 1.0));
    let ended = both_clocks();
    proofs.insert(0, same_time(ended.0 - began.0, ended.1 - began.1));
    let facts = environment::observe(system);
    let [host, cpu] = machine(&facts);
    Ok(CertificateRecord {
        schema: CertificateRecord::form(),
        id: uuid::Uuid::now_v7().to_string(),
        at,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host,
        kernel: fact(&facts, ("kernel", "release")),
        cpu,
        outcome: worst(&proofs),
        proofs,
    })
}

/// Identity of a machine in certificates: host name and CPU, or nothing. Host names alone are
/// reused, above all by virtual machines.
pub fn machine(facts: &[Observation]) -> [String; 2] {
    [("host", "name"), ("cpu", "model")].map(|wanted| fact(facts, wanted))
}

fn fact(facts: &[Observation], wanted: (&str, &str)) -> String {
    Observation::value_in(facts, wanted).unwrap_or_default().to_owned()
}

fn worst(proofs: &[ProofRecord]) -> ProofOutcome {
    proofs.iter().map(|proof| proof.outcome).max().unwrap_or(ProofOutcome::NotTried)
}

/// qdepth's clock and the kernel's at the same moment: the reading of several with the smallest
/// uncertainty.
fn both_clocks() -> (u64, u64) {
    let once = |_| {
        let before = Clocks::read().monotonic;
        let ours = qdepth_linux::now().0;
        let after = Clocks::read().monotonic;
        (after - before, (ours, before + (after - before) / 2))
    };
    (0..9).map(once).min_by_key(|(spread, _)| *spread).map_or((0, 0), |(_, both)| both)
}

/// Compares the time that passed by qdepth's clock and by the kernel's, ns.
fn same_time(ours: u64, kernel: u64) -> ProofRecord {
    let apart = (ours as f64 / kernel.max(1) as f64 - 1.0).abs();
    let seconds = kernel as f64 / 1e9;
    let values = [("share", apart), ("seconds", seconds), ("bar", CLOCK)];
    judged("clock", "", apart <= CLOCK, values)
}

/// Compares the loop on a scripted target in virtual time with queueing theory: rate and median at
/// each queue depth. `truth` is the service time used in theory, `scripted` that of the target.
fn known_truth(point: &Point, truth: Nanos, scripted: Nanos) -> Vec<ProofRecord> {
    let (mut of_rate, mut of_median) = (0.0_f64, 0.0_f64);
    for queue_depth in [1, 2, 4, 8, 16, 64, 512] {
        let stop = Stop { duration_ns: 1_000_000_000, interleaved_segments: 1, ..point.stop };
        let (warm_up_ns, streams, workers) = (100_000_000, 1, 1);
        let point = Point { queue_depth, streams, workers, warm_up_ns, stop, ..point.clone() };
        let mut target = ScriptedTarget::new(SERVERS as usize, Service::Fixed(scripted), 1);
        let (shard, start) = (Shard::whole(&point), target.now());
        let outcome = measure_any(&mut target, &shard, start, &AtomicBool::new(false), &mut |_| {});
        let mut latencies = outcome.directions[0].latency.clone();
        latencies.merge(&outcome.directions[1].latency);
        let rate = outcome.completed() as f64 / outcome.duration.as_secs_f64().max(1e-9);
        let median = latencies.quantile(0.5).map_or(0.0, |median| median.0 as f64);
        let service = truth.as_secs_f64();
        let expected = f64::from(queue_depth.min(SERVERS)) / service;
        let waits = f64::from(queue_depth) / f64::from(queue_depth.min(SERVERS));
        of_rate = of_rate.max((rate / expected - 1.0).abs());
        of_median = of_median.max((median / (service * waits * 1e9) - 1.0).abs());
    }
    let proof = |code: &str, off: f64, bar: f64| {
        judged(code, "", off <= bar, [("share", off), ("bar", bar)])
    };
    vec![proof("known-rates", of_rate, RATE), proof("known-medians", of_median, MEDIAN)]
}

/// Compares the rate of an engine without storage, at queue depth 1, with the least useful rate.
fn ceiling(engine: &str, rates: &[f64]) -> ProofRecord {
    let code = "own-rate";
    let missed = SAMPLES - rates.len().min(SAMPLES);
    let Some(best) = rates.iter().copied().reduce(f64::max) else {
        return not_tried(code, engine, CEILING, &Reason::EngineNotUsable {});
    };
    let values = [
        ("io_per_s", best),
        ("samples_lost", missed as f64),
        ("samples", SAMPLES as f64),
        ("bar", CEILING),
    ];
    judged(code, engine, best >= CEILING, values)
}

/// Checks how many intervals, each from segments spread over the whole time, contain the mean of
/// all samples.
fn coverage(samples: &[f64]) -> ProofRecord {
    let code = "intervals";
    let count = samples.len() / SEGMENTS;
    let bar = least(0.95, count);
    if count < JUDGED {
        return not_tried(code, "", bar, &too_few(samples));
    }
    let truth = samples.iter().sum::<f64>() / samples.len() as f64;
    let holds = |first: &usize| {
        let segments: Vec<f64> =
            samples.iter().copied().skip(*first).step_by(count).take(SEGMENTS).collect();
        let interval = segments_mean(&segments).interval;
        interval.is_some_and(|(low, high)| (low..=high).contains(&truth))
    };
    let held = (0..count).filter(holds).count() as f64 / count as f64;
    judged(code, "", held >= bar, [("share", held), ("count", count as f64), ("bar", bar)])
}

/// Compares the generator with itself in interleaved runs, and counts the comparisons that find a
/// difference. `forged` is a factor on the rate of one side, for tests.
fn same_against_same(samples: &[f64], forged: f64) -> ProofRecord {
    let code = "same-against-same";
    let of_run = (samples.len() / (2 * RUNS * COMPARISONS)).max(1);
    let runs: Vec<f64> =
        samples.chunks_exact(of_run).map(|run| run.iter().sum::<f64>() / of_run as f64).collect();
    let comparisons = runs.chunks_exact(2 * RUNS);
    let count = comparisons.len();
    let bar = 1.0 - least(0.95, count);
    if count < JUDGED {
        return not_tried(code, "", bar, &too_few(samples));
    }
    let differs = |runs: &&[f64]| {
        let side = |parity: usize| -> Vec<f64> {
            // Order A B B A, so that a drift affects both sides equally.
            let mine =
                |(index, run): (usize, &f64)| (index.div_ceil(2) % 2 == parity).then_some(*run);
            runs.iter().enumerate().filter_map(mine).collect()
        };
        let b: Vec<f64> = side(1).into_iter().map(|figure| figure * forged).collect();
        ratio(&side(0), &b, None).is_some_and(|ratio| ratio.low > 1.0 || ratio.high < 1.0)
    };
    let wrong = comparisons.filter(differs).count() as f64 / count as f64;
    judged(code, "", wrong <= bar, [("share", wrong), ("count", count as f64), ("bar", bar)])
}

fn too_few(samples: &[f64]) -> Reason {
    Reason::TooFewSamples { count: samples.len().to_string() }
}

/// Smallest acceptable share of `count` if the true share is `share`.
fn least(share: f64, count: usize) -> f64 {
    (share - ERRORS * (share * (1.0 - share) / count.max(1) as f64).sqrt()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of 1 %, uniform.
    fn noise(count: u64) -> Vec<f64> {
        let draw = |n: u64| qdepth_measure::Seed(n).derive("noise").0 as f64 / u64::MAX as f64;
        (0..count).map(|n| 1000.0 * (1.0 + 0.02 * (draw(n) - 0.5))).collect()
    }

    #[test]
    fn drifting_clock_fails_the_proof() {
        assert_eq!(same_time(60_000_001_000, 60_000_000_000).outcome, ProofOutcome::Passed);
        assert_eq!(same_time(60_600_000_000, 60_000_000_000).outcome, ProofOutcome::Failed);
        assert_eq!(same_time(59_400_000_000, 60_000_000_000).outcome, ProofOutcome::Failed);
        assert_eq!(same_time(0, 0).outcome, ProofOutcome::Failed);
    }

    #[test]
    fn device_with_different_service_time_fails_the_proof() {
        let point = null_point().unwrap();
        let outcomes = |scripted: u64| {
            let proofs = known_truth(&point, SERVICE, Nanos(scripted));
            proofs.iter().map(|proof| proof.outcome).collect::<Vec<_>>()
        };
        assert_eq!(outcomes(100_000), [ProofOutcome::Passed; 2]);
        assert_eq!(outcomes(101_000), [ProofOutcome::Failed; 2]);
        assert_eq!(outcomes(99_000), [ProofOutcome::Failed; 2]);
    }

    #[test]
    fn engine_without_samples_affects_only_its_proof() {
        assert_eq!(ceiling("a", &[]).outcome, ProofOutcome::NotTried);
        assert_eq!(ceiling("a", &[9_000.0; 9]).outcome, ProofOutcome::Failed);
        let some = ceiling("a", &[9_000.0, 2e6]);
        assert_eq!(some.outcome, ProofOutcome::Passed);
        assert_eq!((some.values["samples_lost"], some.values["samples"]), (7.0, 9.0));
    }

    #[test]
    fn proofs_pass_on_noise_and_fail_on_forgeries() {
        let calm = noise(1200);
        assert_eq!(coverage(&calm).outcome, ProofOutcome::Passed, "{:?}", coverage(&calm));
        // Samples that repeat in every segment look precise, but are not.
        let mut stuck = noise(240);
        stuck = (0..5).flat_map(|_| stuck.clone()).collect();
        assert_eq!(coverage(&stuck).outcome, ProofOutcome::Failed, "{:?}", coverage(&stuck));
        let same = same_against_same(&calm, 1.0);
        assert_eq!(same.outcome, ProofOutcome::Passed, "{same:?}");
        assert_eq!(same_against_same(&calm, 1.05).outcome, ProofOutcome::Failed);
        assert_eq!(coverage(&calm[..50]).outcome, ProofOutcome::NotTried);
        assert_eq!(same_against_same(&calm[..50], 1.0).outcome, ProofOutcome::NotTried);
    }
}
