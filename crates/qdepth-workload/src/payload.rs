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

/// Fills `buffer`, which is to be written at `offset`, with words that say where they belong and who
/// wrote them: data at a wrong place, of a former run, or torn is recognised by any eight bytes.
pub fn stamp(buffer: &mut [u8], offset: u64, number: u64) {
    for (place, word) in buffer.chunks_mut(8).enumerate() {
        let bytes = word_at(offset + 8 * place as u64, number);
        word.copy_from_slice(&bytes[..word.len()]);
    }
}

/// Whether `buffer`, read at `offset`, holds what [`stamp`] with this number wrote there.
pub fn is_stamped(buffer: &[u8], offset: u64, number: u64) -> bool {
    buffer
        .chunks(8)
        .enumerate()
        .all(|(place, word)| word == &word_at(offset + 8 * place as u64, number)[..word.len()])
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) of the place: as incompressible as random bytes.
fn word_at(place: u64, number: u64) -> [u8; 8] {
    let mut word = (place ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (word ^ (word >> 31)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_wrong_place_or_other_writer_is_seen() {
        let (mut buffer, offset, number) = (vec![0; 4096 + 3], 1 << 40, 77);
        stamp(&mut buffer, offset, number);
        assert!(is_stamped(&buffer, offset, number));
        assert!(is_stamped(&buffer[512..1024], offset + 512, number), "any part says where it is");
        assert!(!is_stamped(&buffer, offset + 4096, number));
        assert!(!is_stamped(&buffer, offset, number + 1));
        for place in [0, 7, 8, 2000, 4095, 4098] {
            buffer[place] ^= 0x10;
            assert!(!is_stamped(&buffer, offset, number), "byte {place}");
            buffer[place] ^= 0x10;
        }
    }
}
