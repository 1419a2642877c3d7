//! Data to write: incompressible by default, since otherwise drives and file systems that compress
//! or deduplicate would distort the result (docs/method/thresholds.md).

use qdepth_measure::pattern::{Pattern, repeated};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Data to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Payload {
    /// Share of each 4 KiB that is zero and so compresses away, 0..=1.
    pub compressible_share: f64,
    /// Writes that repeat the data of others; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<Duplicates>,
}

/// Share of duplicates in the written data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Share of the writes with one of a number of contents, 0..=1; each of the others has a
    /// content that no other write has.
    pub share: f64,
    /// Number of contents, at least 1.
    pub contents: u32,
    /// True if the contents are shared by all loads with this setting.
    pub common: bool,
}

impl Duplicates {
    /// No write repeats the data of another one.
    pub const NONE: Self = Self { share: 0.0, contents: 1, common: false };
}

/// Size of a piece of a write, bytes; each piece ends with the content.
const PIECE: usize = 4096;
/// Seed of the contents that loads share.
const COMMON: u64 = 0x6475_7065;

/// Draws the content of each write of a load with duplicates.
#[derive(Debug)]
pub struct Contents {
    duplicates: Duplicates,
    random: Xoshiro256PlusPlus,
    /// Base of this load's contents.
    base: u64,
    /// Last content that no other write has.
    alone: u64,
}

impl Contents {
    /// Contents of a load with this seed; each `worker` of the load draws differently.
    pub fn new(duplicates: Duplicates, seed: u64, worker: u32) -> Self {
        let own = seed ^ u64::from(worker).rotate_left(32);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(own);
        let base = if duplicates.common { COMMON } else { seed };
        let alone = random.next_u64() | (1 << 63);
        Self { duplicates, random, base, alone }
    }

    /// Seed of the data that all writes have around their contents.
    pub fn seed(&self) -> u64 {
        self.base
    }

    /// The content of the next write.
    pub fn draw(&mut self) -> u64 {
        let draw = self.random.next_u64();
        if (draw >> 11) as f64 / (1_u64 << 53) as f64 >= self.duplicates.share {
            self.alone = self.alone.wrapping_add(1) | (1 << 63);
            return self.alone;
        }
        let contents = u64::from(self.duplicates.contents.max(1));
        ((self.random.next_u64() >> 32) * contents) >> 32
    }
}

/// Stamps `buffer` with a content before it is written, at the end of each 4 KiB.
pub fn stamp_content(buffer: &mut [u8], content: u64) {
    let words = repeated(content).map(u64::to_le_bytes);
    for piece in buffer.chunks_mut(PIECE) {
        let bytes = words.as_flattened();
        let from = piece.len().saturating_sub(bytes.len());
        let (before, end) = piece.split_at_mut(from);
        end.copy_from_slice(&bytes[..end.len()]);
        // Nothing would prove that a nonce alone is ours.
        if let Some((rest, nonce)) = before.split_last_chunk_mut::<8>()
            && rest.ends_with(&[0; 8])
        {
            *nonce = [0; 8];
        }
    }
}

/// Fills `buffer` with the data pattern, by which a later run recognises the data of this one.
pub fn fill(buffer: &mut [u8], payload: Payload, seed: u64) {
    Pattern::new(seed).fill(buffer, payload.compressible_share);
}

#[cfg(test)]
mod tests {
    use super::*;

    use qdepth_measure::pattern::first_foreign;

    #[test]
    fn duplicate_share_of_writes_repeats_contents() {
        use std::collections::BTreeMap;
        let duplicates = Duplicates { share: 0.5, contents: 100, common: true };
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        for (seed, worker) in [(1, 0), (1, 1), (2, 0)] {
            let mut contents = Contents::new(duplicates, seed, worker);
            (0..10_000).for_each(|_| *counts.entry(contents.draw()).or_default() += 1);
        }
        let (alone, shared): (Vec<u32>, Vec<u32>) =
            counts.values().copied().partition(|count| *count == 1);
        assert_eq!(shared.len(), 100, "of all loads");
        assert!(alone.len().abs_diff(15_000) < 400, "{}", alone.len());
        let own = Duplicates { common: false, ..duplicates };
        assert_ne!(Contents::new(own, 1, 0).seed(), Contents::new(own, 2, 0).seed());
    }

    #[test]
    fn equal_contents_fill_equal_buffers() {
        let payload = Payload { compressible_share: 0.5, ..Payload::default() };
        let block = |content: u64| {
            let mut buffer = [0; 12 << 10];
            fill(&mut buffer, payload, 7);
            stamp_content(&mut buffer, content);
            buffer
        };
        assert!(block(3) == block(3) && block(3) != block(4));
        assert!(block(3)[..4096] != block(3)[4096..8192], "nor are the parts of one");
        let zeros = block(3).chunks(8).filter(|word| **word == [0; 8]).count();
        assert_eq!(zeros, (12 << 10) / 8 / 2, "as much compresses away");
        assert_eq!(first_foreign(&block(3)), None, "a later run knows it again");
        stamp_content(&mut [0; 5], 9);
        for compressible_share in [0.9, 0.93, 0.95, 0.97, 0.99] {
            let mut buffer = [0; 4096];
            fill(&mut buffer, Payload { compressible_share, ..payload }, 7);
            let before = first_foreign(&buffer);
            stamp_content(&mut buffer, 3 | 1 << 63);
            let after = first_foreign(&buffer);
            // A sector with a single word is recognised only by its stamp.
            let is_kept = after.is_none_or(|after| before.is_some_and(|before| after >= before));
            assert!(is_kept, "{compressible_share}: {before:?}, {after:?}");
            for bit in 8 * 3584..8 * 4096 {
                buffer[bit / 8] ^= 1 << (bit % 8);
                let last = first_foreign(&buffer[3584..]);
                assert_eq!(last, Some(0), "{compressible_share}: bit {bit}");
                buffer[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
