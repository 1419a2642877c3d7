//! What is written: incompressible by default, since drives and file systems that compress or
//! deduplicate would otherwise be measured instead (docs/method/thresholds.md).

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

/// Fills `buffer`, which is to be written at `offset`, with words that say where they belong, who
/// wrote them and by which write: data at a wrong place, of a former run, of an earlier write, or
/// torn is recognised by any eight bytes.
pub fn stamp(buffer: &mut [u8], offset: u64, number: u64, generation: u32) {
    let spread = spread(generation);
    for (place, word) in buffer.chunks_mut(8).enumerate() {
        let bytes = (word_at(offset + 8 * place as u64, number) ^ spread).to_le_bytes();
        word.copy_from_slice(&bytes[..word.len()]);
    }
}

/// The write that filled the whole of `buffer`, read at `offset`, with [`stamp`] and this number;
/// none where it is not what one write of that number left there. Fewer than eight bytes bear no
/// generation, and are held against the first.
pub fn generation_of(buffer: &[u8], offset: u64, number: u64) -> Option<u32> {
    let first = buffer.first_chunk().map_or(Some(0), |first| {
        let spread = u64::from_le_bytes(*first) ^ word_at(offset, number);
        u32::try_from(spread.wrapping_mul(BACK)).ok()
    })?;
    let spread = spread(first);
    let mut words = buffer.chunks(8).enumerate();
    let is_whole = words.all(|(place, word)| {
        let expected = word_at(offset + 8 * place as u64, number) ^ spread;
        *word == expected.to_le_bytes()[..word.len()]
    });
    is_whole.then_some(first)
}

/// Odd, so that no two generations are spread alike; its bits reach all of a word.
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;
/// What takes the spreading back: SPREAD × BACK = 1, modulo 2^64 (Newton's iteration).
const BACK: u64 = {
    let (mut back, mut step) = (1_u64, 0);
    while step < 6 {
        back = back.wrapping_mul(2_u64.wrapping_sub(SPREAD.wrapping_mul(back)));
        step += 1;
    }
    back
};

fn spread(generation: u32) -> u64 {
    u64::from(generation).wrapping_mul(SPREAD)
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) of the place: as incompressible as random bytes.
fn word_at(place: u64, number: u64) -> u64 {
    let mut word = (place ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_wrong_place_or_other_writer_is_seen() {
        let (mut buffer, offset, number, write) = (vec![0; 4096 + 3], 1 << 40, 77, 9);
        stamp(&mut buffer, offset, number, write);
        let is_stamped =
            |buffer: &[u8], offset, number| generation_of(buffer, offset, number) == Some(write);
        assert!(is_stamped(&buffer, offset, number));
        assert!(is_stamped(&buffer[512..1024], offset + 512, number), "any part says where it is");
        assert!(!is_stamped(&buffer, offset + 4096, number));
        assert!(!is_stamped(&buffer, offset, number + 1));
        for place in [0, 7, 8, 2000, 4095, 4098] {
            buffer[place] ^= 0x10;
            assert!(!is_stamped(&buffer, offset, number), "byte {place}");
            assert_eq!(generation_of(&buffer, offset, number), None, "byte {place}");
            buffer[place] ^= 0x10;
        }
    }

    #[test]
    fn each_write_is_told_from_the_others() {
        let (mut buffer, offset, number) = (vec![0; 4096], 8192, 77);
        for write in [0, 1, 2, 255, 256, 65_536, u32::MAX] {
            stamp(&mut buffer, offset, number, write);
            assert_eq!(generation_of(&buffer, offset, number), Some(write));
        }
        stamp(&mut buffer[..512], offset, number, 5);
        assert_eq!(generation_of(&buffer, offset, number), None, "of two writes");
        let mut few = [0; 5];
        stamp(&mut few, offset, number, 0);
        assert_eq!(generation_of(&few, offset, number), Some(0));
        assert_eq!(generation_of(&[0; 5], offset, number), None);
    }
}
