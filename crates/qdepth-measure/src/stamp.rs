//! Stamps: data by which a read recognises the position and the write that it belongs to.

use crate::split_mix::SplitMix;
use crate::units::Seed;

/// Fills `buffer`, before it is written at `offset`, with words that identify their position, the
/// number and the write. Any eight bytes reveal data that is at a wrong position, from a run with
/// another number, from an earlier write, or torn.
pub fn stamp(buffer: &mut [u8], offset: u64, number: u64, generation: u32) {
    let spread = spread(generation);
    for (index, word) in buffer.chunks_mut(8).enumerate() {
        let bytes = (word_at(offset + 8 * index as u64, number) ^ spread).to_le_bytes();
        word.copy_from_slice(&bytes[..word.len()]);
    }
}

/// Generation of the write that filled the whole of `buffer`, read at `offset`, with [`stamp`] and
/// this number; `None` if the data is not from a single write with this number. Fewer than eight
/// bytes contain no generation and are compared with generation 0.
pub fn generation_of(buffer: &[u8], offset: u64, number: u64) -> Option<u32> {
    let first = buffer.first_chunk().map_or(Some(0), |first| {
        let spread = u64::from_le_bytes(*first) ^ word_at(offset, number);
        u32::try_from(spread.wrapping_mul(BACK)).ok()
    })?;
    let spread = spread(first);
    let mut words = buffer.chunks(8).enumerate();
    let is_whole = words.all(|(index, word)| {
        let expected = word_at(offset + 8 * index as u64, number) ^ spread;
        *word == expected.to_le_bytes()[..word.len()]
    });
    is_whole.then_some(first)
}

/// Factor that spreads a generation over a word: odd, so that each has a different product.
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;
/// Inverse of the spreading: SPREAD × BACK = 1, modulo 2^64 (Newton's iteration).
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

/// Word of the position: as incompressible as random bytes.
fn word_at(offset: u64, number: u64) -> u64 {
    SplitMix(offset ^ number).draw()
}

/// Numbers that several runs share: a constant, with this many bits for the key of the number.
const SHARED: u64 = 0x0000_51ed_270b_9f17;
const SHARED_BITS: u32 = 16;
/// Lowest of these bits. No offset reaches it, so that no two numbers stamp equal data; and the
/// highest bit stays free, because integers in TOML are signed.
const SHARED_SHIFT: u32 = 47;

/// Number of stamps that runs with the same `key` share. Its data is recognised without the key
/// ([`SharedStamps`]). Two keys share a number with a probability of 2^-16.
pub fn shared_number(key: &str) -> u64 {
    SHARED | (Seed(0).derive(key).0 >> (u64::BITS - SHARED_BITS)) << SHARED_SHIFT
}

/// Maximum number of searches in one file, each of some 0.1 ms. A file with more numbers is not
/// recognised.
const SEARCHES_MAX: u32 = 1000;

/// Recognises data stamped with a shared number.
#[derive(Debug, Default)]
pub struct SharedStamps {
    /// Numbers found, the last one first: a file usually has one.
    known: Vec<u64>,
    /// Searches among all numbers.
    searches: u32,
}

impl SharedStamps {
    /// True if data read at `offset` was written whole with a shared number. Less than eight bytes
    /// are not recognised.
    pub fn has(&mut self, bytes: &[u8], offset: u64) -> bool {
        let Some(first) = bytes.first_chunk().copied().map(u64::from_le_bytes) else {
            return false;
        };
        let begins = |number: &u64| {
            u32::try_from((first ^ word_at(offset, *number)).wrapping_mul(BACK)).is_ok()
        };
        let is_of =
            |number: &u64| begins(number) && generation_of(bytes, offset, *number).is_some();
        if let Some(place) = self.known.iter().position(is_of) {
            self.known[..=place].rotate_right(1);
            return true;
        }
        if self.searches == SEARCHES_MAX {
            return false;
        }
        self.searches += 1;
        let mut all = (0..1_u64 << SHARED_BITS).map(|key| SHARED | key << SHARED_SHIFT);
        let found = all.find(is_of);
        self.known.splice(..0, found);
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_detects_bit_flips_and_wrong_offsets() {
        let (mut buffer, offset, number, write) = (vec![0; 4096 + 3], 1 << 40, 77, 9);
        stamp(&mut buffer, offset, number, write);
        let is_stamped =
            |buffer: &[u8], offset, number| generation_of(buffer, offset, number) == Some(write);
        assert!(is_stamped(&buffer, offset, number));
        assert!(is_stamped(&buffer[512..1024], offset + 512, number), "any part says where it is");
        assert!(!is_stamped(&buffer, offset + 4096, number));
        assert!(!is_stamped(&buffer, offset, number + 1));
        for index in [0, 7, 8, 2000, 4095, 4098] {
            buffer[index] ^= 0x10;
            assert!(!is_stamped(&buffer, offset, number), "byte {index}");
            assert_eq!(generation_of(&buffer, offset, number), None, "byte {index}");
            buffer[index] ^= 0x10;
        }
    }

    #[test]
    fn stamp_distinguishes_generations_of_writes() {
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

    #[test]
    fn shared_stamps_are_recognised_without_their_key() {
        let mut sector = [0; 512];
        let mut stamps = SharedStamps::default();
        for (key, offset) in [("md5", 0), ("md5", 1 << 40), ("sha1", 512), ("", 7 << 20)] {
            stamp(&mut sector, offset, shared_number(key), 77);
            assert!(stamps.has(&sector, offset), "{key} {offset}");
            assert!(!stamps.has(&sector, offset + 512), "{key} {offset}");
            for byte in [0, 9, 511] {
                sector[byte] ^= 4;
                assert!(!stamps.has(&sector, offset), "{key} {offset} {byte}");
                sector[byte] ^= 4;
            }
        }
        stamp(&mut sector, 0, 77, 1);
        assert!(!stamps.has(&sector, 0), "of a single run");
        assert!(!stamps.has(&[0; 512], 0) && !stamps.has(&[], 0));
    }

    #[test]
    fn verify_methods_have_different_numbers() {
        let methods =
            ["md5", "crc64", "crc32c", "crc32", "crc16", "crc7", "xxhash", "sha1", "meta"];
        let numbers = methods.map(shared_number);
        let distinct: std::collections::BTreeSet<u64> = numbers.into_iter().collect();
        assert_eq!(distinct.len(), methods.len());
        assert!(distinct.iter().all(|number| i64::try_from(*number).is_ok()));
    }
}
