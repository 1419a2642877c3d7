//! Comparison with fio: both read the same file, interleaved, and their mean latencies are
//! compared.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use qdepth_files::Folder;
use qdepth_host::system::System;
use qdepth_linux::{Engine, EngineChoice, KernelTarget, OpenOptions};
use qdepth_measure::pattern::Pattern;
use qdepth_measure::{Nanos, Ratio, Seed, ratio};
use qdepth_record::{ProofOutcome, ProofRecord, Reason};
use qdepth_workload::{Arrivals, Extent, Operation, Point, SizeMix, Stop};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::Value;

use crate::instrument::calibrate::null_point;
use crate::instrument::proof::{judged, not_tried};

/// Size of the file, of its pieces, and of a read; queue depths.
const SIZE: u64 = 64 << 20;
const PIECE: usize = 1 << 20;
const READ: u32 = 4096;
const OUTSTANDING: [u32; 2] = [1, 8];
/// Number of interleaved pairs at each queue depth. Every second pair starts with fio.
const PAIRS: u32 = 10;
const WARM_UP: Nanos = Nanos::from_millis(50);
/// Shortest and longest measurement of one side of a pair.
const LEAST: Nanos = Nanos::from_millis(50);
const MOST: Nanos = Nanos::from_secs(1);
/// Share by which the mean latencies may differ.
const BAR: f64 = 0.05;

/// Compares with fio, if it is installed, on an unnamed file of 64 MiB in `folder`. `duration` is
/// about the total time.
pub(crate) fn beside_fio(
    system: &System,
    folder: &Path,
    engine: Engine,
    duration: Nanos,
) -> Vec<ProofRecord> {
    let Ok(version) = system.run("fio", &["--version"]) else { return Vec::new() };
    let queue_depth = OUTSTANDING.iter().filter(|n| **n == 1 || queues(engine));
    let each = duration.0 / u64::from(PAIRS) / OUTSTANDING.len() as u64 / 2;
    let each = Nanos(each.clamp(LEAST.0, MOST.0));
    let pairs = |queue_depth: u32| -> Result<Vec<[f64; 2]>> {
        let file = file_in(folder)?;
        let measured = |pair: u32| -> Result<[f64; 2]> {
            let load = load(queue_depth, pair, each)?;
            let ours = || our_latency(&load, engine, &file);
            let theirs = || their_latency(system, &load, engine, &file);
            Ok(if pair.is_multiple_of(2) {
                let ours = ours()?;
                [ours, theirs()?]
            } else {
                let theirs = theirs()?;
                [ours()?, theirs]
            })
        };
        (0..PAIRS).map(measured).collect()
    };
    let proof = |queue_depth: &u32| {
        let subject = format!("{} × {queue_depth}", version.stdout.trim());
        match pairs(*queue_depth) {
            Ok(pairs) => agreement(&subject, &pairs),
            Err(why) => {
                let why = Reason::NotTried { message: format!("{why:#}") };
                not_tried("fio", &subject, BAR, &why)
            }
        }
    };
    queue_depth.map(proof).collect()
}

/// Verdict on pairs of mean latencies of qdepth and fio: they agree if the whole interval is within
/// the threshold, and disagree if none of it is. Otherwise there is no verdict.
fn agreement(subject: &str, pairs: &[[f64; 2]]) -> ProofRecord {
    let [ours, theirs] = [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
    let Some(Ratio { value, low, high, .. }) = ratio(&theirs, &ours, None) else {
        return not_tried("fio", subject, BAR, &Reason::NoQuotient {});
    };
    let values = [
        ("ratio", value),
        ("low", low),
        ("high", high),
        ("pairs", pairs.len() as f64),
        ("bar", BAR),
    ];
    let found = judged("fio", subject, low <= 1.0 + BAR && high >= 1.0 - BAR, values);
    let is_inside = low >= 1.0 - BAR && high <= 1.0 + BAR;
    if found.outcome == ProofOutcome::Passed && !is_inside {
        let [low, high] = [low, high].map(|quotient| format!("{quotient:.2}"));
        let why = Some((&Reason::TooUneven { low, high }).into());
        return ProofRecord { why, outcome: ProofOutcome::NotTried, ..found };
    }
    found
}

fn queues(engine: Engine) -> bool {
    matches!(engine, Engine::IoUring | Engine::LinuxAio)
}

/// Creates a file with data that is not in the page cache.
fn file_in(folder: &Path) -> Result<File> {
    let folder = Folder::open(if folder == Path::new("") { Path::new(".") } else { folder })?;
    let file = folder.nameless()?;
    let mut piece = vec![0; PIECE];
    Pattern::new(1).fill(&mut piece, 0.0);
    for at in (0..SIZE).step_by(PIECE) {
        file.write_all_at(&piece, at).context("cannot fill a file of 64 MiB")?;
    }
    file.sync_all()?;
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags | OFlags::DIRECT)
        .context("this file system does not support direct I/O")?;
    Ok(file)
}

fn load(queue_depth: u32, pair: u32, each: Nanos) -> Result<Point> {
    let point = null_point()?;
    let stop = Stop { duration_ns: each.0, interleaved_segments: 1, ..point.stop };
    Ok(Point {
        read_share: 1.0,
        random_share: 1.0,
        block_size: SizeMix::fixed(READ),
        own_writes: None,
        operation: Operation::Transfer,
        trace: None,
        alignment_bytes: u64::from(READ),
        arrivals: Arrivals::Closed,
        area: Extent { offset_bytes: 0, length_bytes: SIZE },
        queue_depth,
        streams: 1,
        workers: 1,
        warm_up_ns: WARM_UP.0,
        stop,
        seed: Seed(u64::from(pair)).derive("beside fio").0,
        ..point
    })
}

/// Mean latency from submission to completion by qdepth's loop, ns.
fn our_latency(load: &Point, engine: Engine, file: &File) -> Result<f64> {
    let options = OpenOptions::from_point(load, EngineChoice::Only(engine));
    let descriptor: OwnedFd = file.as_fd().try_clone_to_owned()?;
    let outcome = KernelTarget::open(descriptor, &options)?.measure(load);
    if outcome.failure.is_some() || outcome.failed() > 0 {
        bail!("reading the file failed");
    }
    outcome.directions[0].latency.mean().context("nothing was read")
}

/// The same by fio: `lat_ns` of a job with the same reads of this file.
fn their_latency(system: &System, load: &Point, engine: Engine, file: &File) -> Result<f64> {
    let name = match engine {
        Engine::IoUring => "io_uring",
        Engine::LinuxAio => "libaio",
        _ => "psync",
    };
    let ms = |ns: u64| ns.div_ceil(1_000_000);
    let words = format!(
        "--name=certify --readonly --filename=/proc/{}/fd/{} --rw=randread --bs={READ} \
         --size={SIZE} --direct=1 --invalidate=0 --norandommap --randseed={} --ioengine={name} \
         --iodepth={} --time_based --ramp_time={}ms --runtime={}ms --output-format=json",
        std::process::id(),
        file.as_raw_fd(),
        load.seed % 1_000_000 + 1,
        load.queue_depth,
        ms(load.warm_up_ns),
        ms(load.stop.duration_ns),
    );
    let output = system.run("fio", &words.split_whitespace().collect::<Vec<_>>())?;
    let complaint = || output.stderr.lines().next().unwrap_or("no message").to_owned();
    if output.status != Some(0) {
        bail!("fio failed: {}", complaint());
    }
    let text = &output.stdout[output.stdout.find('{').unwrap_or(0)..];
    let document: Value =
        serde_json::from_str(text).with_context(|| format!("fio: {}", complaint()))?;
    let mean = document["jobs"][0]["read"]["lat_ns"]["mean"].as_f64();
    mean.filter(|mean| *mean > 0.0).context("fio measured nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs with noise of 2 %. fio's latencies are `factor` times qdepth's.
    fn pairs(factor: f64, noise: f64) -> Vec<[f64; 2]> {
        let draw = |n: u32| Seed(u64::from(n)).derive("pairs").0 as f64 / u64::MAX as f64 - 0.5;
        let pair = |n: u32| {
            let noisy = |n: u32| 1e5 * (1.0 + 2.0 * noise * draw(n));
            [noisy(2 * n), noisy(2 * n + 1) * factor]
        };
        (0..PAIRS).map(pair).collect()
    }

    #[test]
    fn disagreement_with_fio_fails_but_noise_does_not() {
        for (factor, outcome) in [
            (1.0, ProofOutcome::Passed),
            (1.03, ProofOutcome::Passed),
            (1.2, ProofOutcome::Failed),
            (0.8, ProofOutcome::Failed),
        ] {
            let proof = agreement("fio", &pairs(factor, 0.02));
            assert_eq!(proof.outcome, outcome, "{factor}: {proof:?}");
        }
        let uneven = agreement("fio", &pairs(1.0, 0.9));
        assert_eq!(uneven.outcome, ProofOutcome::NotTried, "{uneven:?}");
        // The interval contains 1 and exceeds the threshold.
        let wide = agreement("fio", &pairs(1.0, 0.2));
        assert_eq!(wide.outcome, ProofOutcome::NotTried, "{wide:?}");
    }
}
