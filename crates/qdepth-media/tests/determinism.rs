//! Same seed, same bytes. The hashes were made on x86-64; another machine must make the same.

use crate::common::{measured, point};
use qdepth_engine::Outcome;
use sha2::{Digest, Sha256};

const MIX: &str = "random = 70\nread = 67\nrequest_size = [{ size = \"8KiB\", weight = 3 }, { size = \"64KiB\", weight = 1 }]\n";

/// Everything of an outcome, as text: the histograms with each occupied bucket.
#[cfg(test)]
fn bytes(outcome: &Outcome) -> String {
    let buckets = |d: &qdepth_engine::DirectionOutcome| {
        let all: Vec<_> = d.service_time.occupied().map(|(low, _, n)| (low.0, n)).collect();
        format!("{} {} {} {all:?}", d.completed, d.bytes, d.service_time.sum())
    };
    // The hashes are older than trims, of which these loads have none.
    let [reads, writes, trims, syncs] = &outcome.directions;
    assert_eq!((trims.completed, trims.errors.total()), (0, 0));
    let sides = [reads, writes, syncs].map(buckets);
    format!("{} {} {sides:?}", outcome.issued, outcome.duration.0)
}

#[cfg(test)]
fn hash(spelling: &str, seed: u64) -> String {
    let mut point = point(spelling, 8, 10, MIX);
    point.seed = seed;
    let digest = Sha256::digest(bytes(&measured(spelling, &point)));
    digest.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

#[test]
fn a_thousand_seeds_give_the_same_bytes_twice() {
    for seed in 0..1000 {
        let spelling = [
            "media:p3700-800gb",
            "raid0(media:iodrive-320gb*2)",
            "raid5(media:p3700-800gb*3)",
            "independent(media:sas-12g-hdd-450gb*2)",
            "media:fixed @exponential=1 @servers=2",
        ][seed as usize % 5];
        assert_eq!(hash(spelling, seed), hash(spelling, seed), "{spelling}, seed {seed}");
    }
}

#[test]
fn another_seed_gives_other_bytes() {
    assert_ne!(hash("media:p3700-800gb", 1), hash("media:p3700-800gb", 2));
}

/// Parameters are pinned, so that a new calibration does not change the hashes.
#[test]
fn every_machine_gives_these_bytes() {
    let fixed = [
        ("media:fixed @exponential=1 @servers=3 @service_us=90 @host=none", GOLDEN[0]),
        ("raid5(media:fixed*3) @service_us=70 @host=none", GOLDEN[1]),
    ];
    for (spelling, golden) in fixed {
        assert_eq!(hash(spelling, 7), golden, "{spelling}");
    }
}

/// First eight bytes of SHA-256.
const GOLDEN: [&str; 2] = ["95835c28aef67d60", "3373004f999faa18"];
