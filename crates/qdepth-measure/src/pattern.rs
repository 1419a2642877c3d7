//! The data pattern: content that a run writes and a later run can recognise.
//!
//! Each sector of 512 bytes consists of some zero words, a nonce, and words that a keyed function
//! derives from the nonce. No storage can compress the words after the zeros, and no other program
//! writes such a sector: foreign data would have to match 64 bits or more.

use crate::split_mix::SplitMix;

/// Size of the unit that can be recognised on its own, in bytes.
pub const SECTOR_BYTES: usize = 512;
/// Smallest part of a sector, at the end of a file, that can be recognised: a nonce and a word.
pub const LEAST_BYTES: usize = 2 * WORD;

const WORD: usize = 8;
/// Sectors over which zeros are spread: a share is exact to 1/512.
const SPREAD: usize = 8;
const KEY: u64 = 0x7164_6570_7468_2e31;

/// Generator of the pattern, from a seed.
#[derive(Debug)]
pub struct Pattern(SplitMix);

impl Pattern {
    /// Two generators with the same seed fill identically.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix(seed))
    }

    /// Fills `bytes` so that this share of them is zero, 0..=1.
    #[inline(never)]
    pub fn fill(&mut self, bytes: &mut [u8], zero_share: f64) {
        let zero_words =
            (zero_share.clamp(0.0, 1.0) * (SPREAD * SECTOR_BYTES / WORD) as f64).round();
        let zero_words = zero_words as usize;
        for (index, sector) in bytes.chunks_mut(SECTOR_BYTES).enumerate() {
            let before = |sectors: usize| sectors * zero_words / SPREAD;
            let zeros = WORD * (before(index % SPREAD + 1) - before(index % SPREAD));
            let (zero, rest) = sector.split_at_mut(zeros.min(sector.len()));
            zero.fill(0);
            // Set the lowest bit, so that the nonce cannot be taken for a zero word.
            let nonce = self.0.draw() | 1;
            let (words, end) = rest.as_chunks_mut();
            for (word, value) in words.iter_mut().zip(words_of(nonce)) {
                *word = value.to_le_bytes();
            }
            let last = words_of(nonce).nth(words.len()).unwrap_or_default().to_le_bytes();
            end.copy_from_slice(&last[..end.len()]);
        }
    }
}

/// The nonce and the words derived from it.
fn words_of(nonce: u64) -> impl Iterator<Item = u64> {
    let mut keyed = SplitMix(nonce ^ KEY);
    std::iter::once(nonce).chain(std::iter::repeat_with(move || keyed.draw()))
}

/// The last two words of a piece with this content, which is written more than once.
pub fn repeated(content: u64) -> [u64; 2] {
    [content, SplitMix::mixed(content ^ KEY)]
}

/// Offset of the first sector in `bytes` that no run wrote. `bytes` must begin at a multiple of
/// 512.
pub fn first_foreign(bytes: &[u8]) -> Option<usize> {
    let at = bytes.chunks(SECTOR_BYTES).position(|sector| !is_ours(sector))?;
    Some(at * SECTOR_BYTES)
}

/// True if a run wrote a sector.
pub fn is_ours(sector: &[u8]) -> bool {
    let (words, end) = sector.as_chunks::<WORD>();
    let zeros = words.iter().take_while(|word| **word == [0; WORD]).count();
    let written = match &words[zeros..] {
        [before @ .., content, check]
            if repeated(u64::from_le_bytes(*content))[1].to_le_bytes() == *check =>
        {
            // The content has replaced all but zeros.
            if before.is_empty() {
                return true;
            }
            before
        }
        all => all,
    };
    let Some((nonce, rest)) = written.split_first() else { return false };
    let mut expected = words_of(u64::from_le_bytes(*nonce)).skip(1).map(u64::to_le_bytes);
    let follows = rest.iter().all(|word| expected.next() == Some(*word));
    let last = expected.next().unwrap_or_default();
    !rest.is_empty() && follows && last.starts_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(zero_share: f64) -> Vec<u8> {
        let mut bytes = vec![1; 16 << 10];
        Pattern::new(7).fill(&mut bytes, zero_share);
        bytes
    }

    #[test]
    fn every_flipped_bit_in_pattern_is_detected() {
        for zero_share in [0.0, 0.1, 0.5, 0.9, 0.95] {
            let mut bytes = filled(zero_share);
            assert_eq!(first_foreign(&bytes), None, "{zero_share}");
            for bit in (0..8 * bytes.len()).step_by(101) {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(first_foreign(&bytes), Some(bit / 8 / 512 * 512), "bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        assert_eq!(first_foreign(&filled(0.0)[512..1500]), None, "sectors stand for themselves");
        assert_eq!(first_foreign(&filled(0.0)[8..1024]), Some(0), "at their places");
    }

    #[test]
    fn zeros_and_random_data_are_foreign() {
        assert_eq!(first_foreign(&[0; 4096]), Some(0));
        assert_eq!(first_foreign(&filled(1.0)), Some(0));
        assert_eq!(first_foreign(b"notes"), Some(0));
        let mut random = SplitMix(3);
        let words: Vec<u8> = (0..4096).flat_map(|_| random.draw().to_le_bytes()).collect();
        assert_eq!(first_foreign(&words), Some(0));
    }

    #[test]
    fn zero_share_is_exact_in_every_4_kib() {
        for share in [0.0, 0.01, 0.3, 0.5, 0.77, 1.0] {
            for block in filled(share).chunks(4096) {
                let zeros = block.chunks(8).filter(|word| **word == [0; 8]).count();
                assert!((zeros as f64 / 512.0 - share).abs() <= 1.0 / 512.0, "{share}: {zeros}");
            }
        }
        assert!(filled(0.0)[..4096] != filled(0.0)[4096..8192], "no two blocks alike");
    }
}
