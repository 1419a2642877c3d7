//! Pages of a flash drive that were discarded and not written since. They cost no read and no
//! garbage collection.

/// Bytes of a page, the unit of discarding.
const PAGE: u64 = 4096;
/// Words of a part of the bit map: 128 MiB, one bit per page. A part is allocated when one of its
/// pages is discarded.
const WORDS: usize = 512;
/// Maximum number of parts: a drive of 128 TiB.
const PARTS_MAX: usize = 1 << 20;

/// Bit map of the discarded pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discarded {
    parts: Vec<Option<Box<[u64; WORDS]>>>,
}

/// Position of a page's bit: part, word, mask.
fn bit_of(page: u64) -> (usize, usize, u64) {
    let word = (page / 64) as usize;
    (word / WORDS, word % WORDS, 1 << (page % 64))
}

impl Discarded {
    /// Discards the whole pages within a range. Returns the number of bytes that held data before.
    pub(crate) fn discard(&mut self, offset: u64, size: u32) -> u64 {
        let end = (offset + u64::from(size)) / PAGE;
        let mut freed = 0;
        for page in offset.div_ceil(PAGE)..end {
            let (part, word, bit) = bit_of(page);
            if part >= PARTS_MAX {
                break;
            }
            if part >= self.parts.len() {
                self.parts.resize(part + 1, None);
            }
            let words = self.parts[part].get_or_insert_with(|| Box::new([0; WORDS]));
            freed += u64::from(words[word] & bit == 0) * PAGE;
            words[word] |= bit;
        }
        freed
    }

    /// Marks all pages that a write touches as holding data.
    pub(crate) fn write(&mut self, offset: u64, size: u32) {
        for page in touched(offset, size) {
            let (part, word, bit) = bit_of(page);
            if let Some(Some(words)) = self.parts.get_mut(part) {
                words[word] &= !bit;
            }
        }
    }

    /// True if every page of the range is discarded.
    pub(crate) fn holds_nothing(&self, offset: u64, size: u32) -> bool {
        touched(offset, size).all(|page| {
            let (part, word, bit) = bit_of(page);
            let words = self.parts.get(part).and_then(Option::as_deref);
            words.is_some_and(|words| words[word] & bit != 0)
        })
    }
}

/// Pages that a request touches, in whole or in part.
fn touched(offset: u64, size: u32) -> impl Iterator<Item = u64> {
    offset / PAGE..(offset + u64::from(size)).div_ceil(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_are_discarded_until_written() {
        let mut discarded = Discarded::default();
        assert!(!discarded.holds_nothing(0, 4096));
        assert_eq!(discarded.discard(1024, 16 << 10), 12 << 10, "three whole pages");
        assert_eq!(discarded.discard(4096, 8192), 0, "twice is once");
        assert!(discarded.holds_nothing(4096, 12 << 10));
        assert!(!discarded.holds_nothing(0, 8192), "the first page holds something");
        discarded.write(8192, 512);
        assert!(!discarded.holds_nothing(4096, 8192) && discarded.holds_nothing(12288, 4096));
        assert_eq!(discarded.discard(8192, 4096), 4096);
    }
}
