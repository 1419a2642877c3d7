//! Last write of each position: the data that a verified read must find. Each block of a file has a
//! number that increases with every write and is part of the data.

use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of blocks with a counter of 8 bytes each: 128 MiB. Data beyond them is checked
/// for its position and the run that wrote it, but not for being the last write.
pub const BLOCKS_MAX: u64 = 16 << 20;
/// Maximum number of blocks of which it is known if they were written, one bit each beyond the
/// counters: 128 MiB.
pub const KNOWN_BLOCKS_MAX: u64 = 1 << 30;

/// The writes of every block of one file, by one process. Several threads may use it at once.
#[derive(Debug)]
pub struct Generations {
    block_bytes: u64,
    /// Number before the first write, which hardly ever equals that of another process.
    base: u32,
    blocks: Vec<AtomicU64>,
    /// A bit for each block behind `blocks`: set once it was written.
    written: Vec<AtomicU64>,
}

/// State of a block. While several writes of it are in flight, any of them may be the last that
/// reaches the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    /// Number of writes that have begun, which is the number of the newest.
    begun: u32,
    /// Distance from the newest write to the oldest one whose data the block may still contain.
    behind: u64,
    /// Number of writes begun since the block last had none in flight, not counting the first.
    beside: u64,
    in_flight: u64,
    /// True if one of these writes failed: the block may then still contain older data.
    failed: bool,
}

/// Bits of `behind`, `beside` and `in_flight`: larger values are stored as the maximum.
const BEHIND: u32 = 12;
const BESIDE: u32 = 8;
const IN_FLIGHT: u32 = 11;

const fn most(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Block {
    fn from_bits(bits: u64) -> Self {
        let part = |from: u32, length: u32| (bits >> from) & most(length);
        Self {
            begun: bits as u32,
            behind: part(32, BEHIND),
            beside: part(32 + BEHIND, BESIDE),
            in_flight: part(32 + BEHIND + BESIDE, IN_FLIGHT),
            failed: bits >> 63 == 1,
        }
    }

    fn bits(self) -> u64 {
        let part = |value: u64, from: u32, length: u32| value.min(most(length)) << from;
        u64::from(self.begun)
            | part(self.behind, 32, BEHIND)
            | part(self.beside, 32 + BEHIND, BESIDE)
            | part(self.in_flight, 32 + BEHIND + BESIDE, IN_FLIGHT)
            | u64::from(self.failed) << 63
    }

    fn begin(self) -> Self {
        let alone = self.in_flight == 0;
        Self {
            begun: self.begun.saturating_add(1),
            behind: self.behind + 1,
            beside: if alone { 0 } else { self.beside + 1 },
            in_flight: self.in_flight + 1,
            failed: self.failed && !alone,
        }
    }

    fn end(self, wrote: bool) -> Self {
        let in_flight = self.in_flight.saturating_sub(1);
        let failed = self.failed || !wrote;
        // Even the first of the writes that were in flight together may have reached the device
        // last.
        let is_sure = in_flight == 0 && !failed && self.beside < most(BESIDE);
        Self { behind: if is_sure { self.beside } else { self.behind }, in_flight, failed, ..self }
    }
}

impl Generations {
    /// Counters for a file whose requests start and end at multiples of `block_bytes` (at least 8),
    /// the last by `end_bytes`. `base` should differ between processes.
    pub fn new(block_bytes: u64, end_bytes: u64, base: u32) -> Self {
        let block_bytes = block_bytes.max(8);
        let count = end_bytes.div_ceil(block_bytes).min(BLOCKS_MAX);
        Self { block_bytes, base, blocks: zeros(count), written: Vec::new() }
    }

    /// The same, which also knows which blocks without a counter were written.
    #[must_use]
    pub fn knowing_written(self, end_bytes: u64) -> Self {
        let known = end_bytes.div_ceil(self.block_bytes).min(KNOWN_BLOCKS_MAX);
        let behind = known.saturating_sub(self.blocks.len() as u64);
        Self { written: zeros(behind.div_ceil(64)), ..self }
    }

    /// Bytes of a block.
    pub fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    fn at(&self, offset: u64) -> Option<&AtomicU64> {
        self.blocks.get((offset / self.block_bytes) as usize)
    }

    fn change(&self, offset: u64, change: impl Fn(Block) -> Block) -> Block {
        let Some(block) = self.at(offset) else { return Block::default() };
        let changed = |bits| Some(change(Block::from_bits(bits)).bits());
        let before = block.fetch_update(Ordering::AcqRel, Ordering::Acquire, changed);
        change(Block::from_bits(before.unwrap_or_default()))
    }

    /// Begins a write in the block at `offset`, and returns the number that its data must contain.
    /// The rest of a short write begins within a block and keeps the number.
    pub fn begin_write(&self, offset: u64) -> u32 {
        let is_rest = !offset.is_multiple_of(self.block_bytes);
        let begun = self.change(offset, |block| {
            let rest = Block { in_flight: block.in_flight + 1, ..block };
            if is_rest { rest } else { block.begin() }
        });
        self.base.wrapping_add(begun.begun)
    }

    /// Ends a write that [`begin_write`](Self::begin_write) began.
    pub fn end_write(&self, offset: u64, wrote: bool) {
        self.change(offset, |block| block.end(wrote));
        if wrote && let Some((word, bit)) = self.bit(offset) {
            word.fetch_or(bit, Ordering::AcqRel);
        }
    }

    /// [`oldest`](Self::oldest), and true if a read that begins now can only find data of this
    /// process in the block at `offset`. False also for blocks of which nothing is known.
    pub fn oldest_and_written(&self, offset: u64) -> (Option<u32>, bool) {
        let is_set = |(word, bit): (&AtomicU64, u64)| word.load(Ordering::Acquire) & bit != 0;
        let oldest = self.oldest(offset);
        (oldest, oldest.is_some() || self.bit(offset).is_some_and(is_set))
    }

    /// Word and bit of a block without a counter.
    fn bit(&self, offset: u64) -> Option<(&AtomicU64, u64)> {
        let index = (offset / self.block_bytes).checked_sub(self.blocks.len() as u64)?;
        Some((self.written.get((index / 64) as usize)?, 1 << (index % 64)))
    }

    /// Number of the oldest write whose data a read that begins now may find in the block at
    /// `offset`; `None` if the read may find data from before this process's first write, or the
    /// block has no counter.
    pub fn oldest(&self, offset: u64) -> Option<u32> {
        let block = Block::from_bits(self.at(offset)?.load(Ordering::Acquire));
        let oldest = block.begun.checked_sub(block.behind as u32).filter(|oldest| *oldest > 0);
        oldest.map(|oldest| self.base.wrapping_add(oldest))
    }

    /// True if a read that has ended may have found this number. `oldest` is the result of
    /// [`oldest`](Self::oldest) at the start of the read.
    pub fn may_be(&self, offset: u64, oldest: Option<u32>, found: u32) -> bool {
        let Some((oldest, block)) = oldest.zip(self.at(offset)) else { return true };
        let newest = self.base.wrapping_add(Block::from_bits(block.load(Ordering::Acquire)).begun);
        found.wrapping_sub(oldest) <= newest.wrapping_sub(oldest)
    }
}

fn zeros(words: u64) -> Vec<AtomicU64> {
    (0..words).map(|_| AtomicU64::new(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 3 * 512;

    fn file() -> Generations {
        Generations::new(512, 8 * 512, u32::MAX - 2)
    }

    #[test]
    fn only_the_last_write_is_valid_on_read() {
        let file = file();
        assert!(file.may_be(AT, file.oldest(AT), 77), "nothing is known of what is there");
        let mut numbers = Vec::new();
        for _ in 0..6 {
            let number = file.begin_write(AT);
            file.end_write(AT, true);
            let oldest = file.oldest(AT);
            assert!(file.may_be(AT, oldest, number));
            assert!(numbers.iter().all(|before| !file.may_be(AT, oldest, *before)), "{numbers:?}");
            assert!(!file.may_be(AT, oldest, number.wrapping_add(1)));
            numbers.push(number);
        }
        assert_eq!(file.oldest(AT + 512), None, "each block has numbers of its own");
    }

    #[test]
    fn written_blocks_are_known_beyond_the_counters() {
        let end = 8 * (BLOCKS_MAX + 100);
        let file = Generations::new(8, end, 0).knowing_written(end);
        let is_written = |offset| file.oldest_and_written(offset).1;
        for block in [0, BLOCKS_MAX - 1, BLOCKS_MAX, BLOCKS_MAX + 70] {
            let offset = 8 * block;
            assert!(!is_written(offset), "{block}");
            file.begin_write(offset);
            assert!(!is_written(offset), "{block} is in flight");
            file.end_write(offset, true);
            assert!(is_written(offset), "{block}");
        }
        file.end_write(8 * (BLOCKS_MAX + 1), false);
        for block in [1, BLOCKS_MAX + 1, BLOCKS_MAX + 71, BLOCKS_MAX + 1000] {
            assert!(!is_written(8 * block), "{block}");
        }
    }

    #[test]
    fn any_concurrent_write_can_be_the_last() {
        let file = file();
        let write = || file.begin_write(AT);
        let before = write();
        file.end_write(AT, true);
        let (first, second) = (write(), write());
        let while_they_fly = file.oldest(AT);
        assert!([before, first, second].iter().all(|n| file.may_be(AT, while_they_fly, *n)));
        file.end_write(AT, true);
        file.end_write(AT, true);
        let after = file.oldest(AT);
        assert!(file.may_be(AT, after, first) && file.may_be(AT, after, second));
        assert!(!file.may_be(AT, after, before), "both are later");
        let third = write();
        file.end_write(AT, true);
        assert!(
            !file.may_be(AT, file.oldest(AT), second) && file.may_be(AT, file.oldest(AT), third)
        );
    }

    #[test]
    fn failed_write_can_be_old_or_new() {
        let file = file();
        let before = file.begin_write(AT);
        file.end_write(AT, true);
        let failed = file.begin_write(AT);
        file.end_write(AT, false);
        let oldest = file.oldest(AT);
        assert!(file.may_be(AT, oldest, before) && file.may_be(AT, oldest, failed));
        let after = file.begin_write(AT);
        file.end_write(AT, true);
        assert!(!file.may_be(AT, file.oldest(AT), before));
        assert!(
            !file.may_be(AT, file.oldest(AT), failed) && file.may_be(AT, file.oldest(AT), after)
        );
    }

    #[test]
    fn block_state_round_trips_through_its_bits() {
        let block =
            Block { begun: u32::MAX, behind: 4095, beside: 255, in_flight: 2047, failed: true };
        assert_eq!(Block::from_bits(block.bits()), block);
        let beyond = Block { behind: 4096, beside: 256, in_flight: 2048, ..block };
        assert_eq!(Block::from_bits(beyond.bits()), block);
    }

    #[test]
    fn offset_beyond_tracked_blocks_accepts_any_write() {
        let file = file();
        let far = 1 << 40;
        let number = file.begin_write(far);
        file.end_write(far, true);
        assert_eq!(file.oldest(far), None);
        assert!(file.may_be(far, None, number));
    }
}
