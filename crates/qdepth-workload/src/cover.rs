//! Random places for requests of several sizes, each block of an area once per pass, like fio's
//! random map: a place that is taken stands for the next free one, and a request ends before the
//! next taken block.

use std::iter::successors;

use rand_xoshiro::rand_core::Rng;

/// Maximum number of blocks: a map of 256 MiB. Beyond it, places repeat.
const BLOCKS_MAX: u64 = 1 << 31;

/// Map of the blocks that a pass has covered.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    block_bytes: u64,
    blocks: u64,
    /// A bit for each taken block; on each further level, one for each full word below.
    levels: Vec<Vec<u64>>,
    /// Number of free blocks.
    free: u64,
}

impl Cover {
    /// Memory for a map of `blocks` free blocks, in bytes; 0 if they are too many for one.
    pub(crate) fn bytes(blocks: u64) -> u64 {
        // The levels above the first add a 63rd part.
        if blocks > BLOCKS_MAX { 0 } else { blocks / 8 + blocks / 8 / 63 }
    }

    /// Map of `blocks` (above 0) free blocks; `None` if they are too many.
    pub(crate) fn new(block_bytes: u64, blocks: u64) -> Option<Self> {
        let words = |bits: u64| bits.div_ceil(64);
        let sizes = successors(Some(words(blocks)), |above| (*above > 1).then(|| words(*above)));
        let mut cover = Self { block_bytes, blocks, levels: Vec::new(), free: blocks };
        if blocks > BLOCKS_MAX {
            return None;
        }
        cover.levels = sizes.map(|words| vec![0; words as usize]).collect();
        Some(cover)
    }

    /// Begins a new pass.
    pub(crate) fn restart(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
        self.free = self.blocks;
    }

    /// Start and length of the next request of at most `size` bytes.
    pub(crate) fn draw(&mut self, random: &mut impl Rng, size: u64) -> (u64, u64) {
        if self.free == 0 {
            self.restart();
        }
        let drawn = ((u128::from(random.next_u64()) * u128::from(self.blocks)) >> 64) as u64;
        let first = self.next_free(drawn).or_else(|| self.next_free(0)).unwrap_or(0);
        let wanted = size.div_ceil(self.block_bytes).max(1);
        let end = first.saturating_add(wanted).min(self.blocks);
        let mut block = first;
        while block < end && !self.is_taken(block) {
            self.take(block);
            block += 1;
        }
        (first * self.block_bytes, size.min((block - first) * self.block_bytes))
    }

    fn is_taken(&self, block: u64) -> bool {
        self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    fn take(&mut self, block: u64) {
        self.free -= 1;
        let mut index = block;
        for level in &mut self.levels {
            let word = &mut level[(index / 64) as usize];
            *word |= 1 << (index % 64);
            if *word != u64::MAX {
                break;
            }
            index /= 64;
        }
    }

    /// First free block from `from`; `None` if there is none.
    fn next_free(&self, from: u64) -> Option<u64> {
        let mut index = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = *level.get((index / 64) as usize)?;
            let free = !word & (u64::MAX << (index % 64));
            if free != 0 {
                let bit = |word: u64| u64::from(word.trailing_zeros());
                let at = index / 64 * 64 + bit(free);
                // Down again: to the first free bit of each word below.
                let down = |at: u64, level: &Vec<u64>| {
                    level.get(at as usize).map(|word| at * 64 + bit(!word))
                };
                let block = self.levels[..height].iter().rev().try_fold(at, down)?;
                return Some(block).filter(|block| *block < self.blocks);
            }
            index = index / 64 + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn each_block_is_covered_once_per_pass() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for blocks in [1, 2, 63, 64, 65, 4096, 4097, 300_000] {
            let mut cover = Cover::new(512, blocks).unwrap();
            passes_once(&mut cover, &mut random, blocks);
            passes_once(&mut cover, &mut random, blocks);
        }
        assert!(Cover::new(512, BLOCKS_MAX + 1).is_none());
    }

    #[test]
    fn memory_of_cover_is_known_before() {
        for blocks in [1 << 12, 1 << 20, 12_345_678] {
            let cover = Cover::new(512, blocks).unwrap();
            let bytes: usize = cover.levels.iter().map(|level| level.len() * 8).sum();
            assert!(bytes.abs_diff(Cover::bytes(blocks) as usize) <= 64, "{blocks}");
        }
        assert_eq!(Cover::bytes(BLOCKS_MAX + 1), 0);
    }

    /// Draws a pass, in which no block may be drawn twice.
    fn passes_once(cover: &mut Cover, random: &mut Xoshiro256PlusPlus, blocks: u64) {
        let mut covered = vec![false; blocks as usize];
        let (mut shortened, mut left) = (false, blocks);
        while left > 0 {
            let size = 512 << (random.next_u64() % 3);
            let (start, bytes) = cover.draw(random, size);
            shortened |= bytes < size;
            for block in start / 512..(start + bytes) / 512 {
                assert!(!covered[block as usize], "{blocks}: {block}");
                covered[block as usize] = true;
                left -= 1;
            }
        }
        assert!(!covered.contains(&false) && (shortened || blocks == 1), "{blocks}");
    }
}
