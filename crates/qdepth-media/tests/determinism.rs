//! Same seed, same bytes. The hashes were made on x86-64; another machine must make the same.

use std::sync::atomic::AtomicBool;

use crate::common::{measured, point};
use qdepth_engine::Outcome;
use qdepth_media::{OpenMedia, TargetExpression};
use sha2::{Digest, Sha256};

const MIX: &str = "random = 70\nread = 67\nblock_size = [{ size = \"8KiB\", weight = 3 }, \
                   { size = \"64KiB\", weight = 1 }]\n";

/// Complete outcome as text: the histograms with each occupied bucket.
#[cfg(test)]
fn bytes(outcome: &Outcome) -> String {
    let buckets = |d: &qdepth_engine::DirectionOutcome| {
        let all: Vec<_> = d.latency.occupied().map(|(low, _, n)| (low.0, n)).collect();
        format!("{} {} {} {all:?}", d.completed, d.bytes, d.latency.sum())
    };
    // The hashes are older than trims, of which these loads have none.
    let [reads, writes, trims, syncs] = &outcome.directions;
    assert_eq!((trims.completed, trims.errors.total()), (0, 0));
    let sides = [reads, writes, syncs].map(buckets);
    format!("{} {} {sides:?}", outcome.issued, outcome.duration.0)
}

#[cfg(test)]
fn hash(expression: &str, seed: u64) -> String {
    let mut point = point(expression, 8, 10, MIX);
    point.seed = seed;
    let digest = Sha256::digest(bytes(&measured(expression, &point)));
    digest.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

#[test]
fn same_seed_gives_the_same_bytes() {
    for seed in 0..1000 {
        let expression = [
            "media:p3700-800gb",
            "raid0(media:iodrive-320gb*2)",
            "raid5(media:p3700-800gb*3)",
            "independent(media:sas-12g-hdd-450gb*2)",
            "media:fixed @exponential=1 @servers=2",
        ][seed as usize % 5];
        assert_eq!(hash(expression, seed), hash(expression, seed), "{expression}, seed {seed}");
    }
}

#[test]
fn different_seeds_give_different_bytes() {
    assert_ne!(hash("media:p3700-800gb", 1), hash("media:p3700-800gb", 2));
}

/// A device gives the same results as a concrete type and behind the common interface.
#[test]
fn concrete_and_dynamic_types_give_same_results() {
    let trims = "random = 100\nread = 60\ntrim = 10\nblock_size = \"8KiB\"\n";
    let paced = "random = 100\nread = 67\nblock_size = \"4KiB\"\n\
                 arrivals = { kind = \"poisson\", rate = 20000.0 }\n";
    let syncs = "random = 100\nread = 50\nblock_size = \"8KiB\"\n\
                 fsync = { kind = \"every\", writes = 3 }\n";
    for expression in
        ["media:p3700-800gb", "raid0(media:p3700-800gb*3)", "raid1(media:iodrive-320gb*2)"]
    {
        for profile in [MIX, trims, paced, syncs] {
            for queue_depth in [1, 7, 256] {
                let point = point(expression, queue_depth, 40, profile);
                let any = measured(expression, &point);
                let medium = TargetExpression::read(expression).expect("read");
                let mut target = medium.open(&OpenMedia::for_point(&point)).expect("opens");
                let single = target.measure(&point, &AtomicBool::new(false)).expect("measured");
                assert_eq!(any, single, "{expression}, {queue_depth}: {profile}");
                assert!(single.completed() > 50, "{expression}, {queue_depth}: {profile}");
            }
        }
    }
}

/// Parameters are pinned, so that a new calibration does not change the hashes.
#[test]
fn emulation_is_identical_on_every_machine() {
    let fixed = [
        ("media:fixed @exponential=1 @servers=3 @service_us=90 @host=none", GOLDEN[0]),
        ("raid5(media:fixed*3) @service_us=70 @host=none", GOLDEN[1]),
    ];
    for (expression, golden) in fixed {
        assert_eq!(hash(expression, 7), golden, "{expression}");
    }
}

/// First eight bytes of SHA-256.
const GOLDEN: [&str; 2] = ["95835c28aef67d60", "3373004f999faa18"];
