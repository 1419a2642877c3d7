//! What is written: incompressible by default, since drives and file systems that compress or
//! deduplicate would otherwise be measured instead (notes on trust, C04).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Payload {
    /// Share of each 4 KiB that is zero and so compresses away, 0..=1.
    pub compressible_share: f64,
}

/// Fills `buffer` with payload: in each 4 KiB, zeros up to the compressible share, then random
/// bytes (xoshiro256++).
pub fn fill(buffer: &mut [u8], payload: Payload, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for block in buffer.chunks_mut(4096) {
        let zeros = (payload.compressible_share * block.len() as f64).round() as usize;
        let (zero, rest) = block.split_at_mut(zeros.min(block.len()));
        zero.fill(0);
        random.fill_bytes(rest);
    }
}
