//! Calendar queue of completion times, earliest first: a ring of equally long days, and a heap for
//! times beyond the ring (Brown, CACM 1988). The order is by time, then by slot, whatever the
//! length of a day.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Days of the ring, a year; a power of two.
const DAYS: usize = 4096;
/// Number of pushes beyond the year after which days are lengthened.
const OVERFLOW_MAX: u32 = 1024;
/// Marker: no slot.
const NONE: u32 = u32::MAX;
/// Marker: no completion, later than any other.
const EMPTY: (u64, u32) = (u64::MAX, NONE);

/// Completion times by slot, each slot at most once.
#[derive(Clone, Debug)]
pub(crate) struct CalendarQueue {
    /// Binary logarithm of the length of a day in ns.
    day: u32,
    /// Day of the last completion taken; the queue holds nothing earlier.
    current_day: u64,
    /// First slot of each day's list, which is sorted by time, then by slot.
    first: Box<[u32; DAYS]>,
    entries: Vec<SlotEntry>,
    /// Bit set of non-empty days; `words` is the bit set of its non-zero words.
    days: [u64; DAYS / 64],
    words: u64,
    overflow: BinaryHeap<Reverse<(u64, u32)>>,
    overflow_count: u32,
    /// Earliest completion and its slot, cached so that `peek` does not search.
    earliest: (u64, u32),
}

/// List entry and result of a slot, together in one cache line.
#[derive(Clone, Copy, Debug)]
struct SlotEntry {
    /// Completion time, ns.
    at: u64,
    /// Next slot of the same day, or `NONE`.
    after: u32,
    result: i32,
}

impl CalendarQueue {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            day: 10,
            current_day: 0,
            first: Box::new([NONE; DAYS]),
            entries: vec![SlotEntry { at: 0, after: NONE, result: 0 }; slots],
            days: [0; DAYS / 64],
            words: 0,
            overflow: BinaryHeap::with_capacity(slots),
            overflow_count: 0,
            earliest: EMPTY,
        }
    }

    /// Adds the completion of a slot with its result; `at` must not be before the last one taken.
    /// Inlined because it runs once per request.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: u64, slot: u32, result: i32) {
        self.entries[slot as usize].result = result;
        let (soonest, first) = self.earliest;
        if at < soonest || (at == soonest && slot < first) {
            self.earliest = (at, slot);
        }
        if (at >> self.day).wrapping_sub(self.current_day) < DAYS as u64 {
            self.insert(at, slot);
        } else {
            self.push_overflow(at, slot);
        }
    }

    #[inline(always)]
    fn insert(&mut self, at: u64, slot: u32) {
        let day = (at >> self.day) as usize % DAYS;
        let next = self.first[day];
        if next == NONE {
            self.first[day] = slot;
            self.days[day / 64] |= 1 << (day % 64);
            self.words |= 1 << (day / 64);
            let entry = &mut self.entries[slot as usize];
            (entry.at, entry.after) = (at, NONE);
        } else {
            self.insert_among(day, next, at, slot);
        }
    }

    /// Inserts into the list of a non-empty day.
    #[inline]
    fn insert_among(&mut self, day: usize, mut next: u32, at: u64, slot: u32) {
        let mut former = NONE;
        while next != NONE {
            let entry = self.entries[next as usize];
            if entry.at > at || (entry.at == at && next > slot) {
                break;
            }
            (former, next) = (next, entry.after);
        }
        let entry = &mut self.entries[slot as usize];
        (entry.at, entry.after) = (at, next);
        if former == NONE {
            self.first[day] = slot;
        } else {
            self.entries[former as usize].after = slot;
        }
    }

    #[cold]
    fn push_overflow(&mut self, at: u64, slot: u32) {
        self.overflow.push(Reverse((at, slot)));
        self.overflow_count += 1;
        if self.overflow_count > OVERFLOW_MAX && self.day < 40 {
            self.overflow_count = 0;
            self.lengthen();
        }
    }

    /// Makes days four times longer and redistributes all completions.
    fn lengthen(&mut self) {
        let mut all: Vec<(u64, u32)> = self.overflow.drain().map(|Reverse(end)| end).collect();
        for first in self.first.iter_mut() {
            let mut slot = std::mem::replace(first, NONE);
            while slot != NONE {
                let entry = self.entries[slot as usize];
                all.push((entry.at, slot));
                slot = entry.after;
            }
        }
        (self.days, self.words) = ([0; DAYS / 64], 0);
        self.day += 2;
        self.current_day >>= 2;
        for (at, slot) in all {
            if (at >> self.day).wrapping_sub(self.current_day) < DAYS as u64 {
                self.insert(at, slot);
            } else {
                self.overflow.push(Reverse((at, slot)));
            }
        }
    }

    /// First non-empty day from today on, as an index of the ring; there must be one.
    #[inline(always)]
    fn first_day(&self) -> usize {
        let current_day = self.current_day as usize % DAYS;
        let here = self.days[current_day / 64] >> (current_day % 64);
        if here != 0 {
            return current_day + here.trailing_zeros() as usize;
        }
        // The words after this one, then around to its low bits.
        let turned = self.words.rotate_right(current_day as u32 / 64 + 1);
        let word = (current_day / 64 + 1 + turned.trailing_zeros() as usize) % (DAYS / 64);
        let bits = self.days[word];
        word * 64 + bits.trailing_zeros() as usize
    }

    /// Earliest completion and its slot.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(u64, u32)> {
        (self.earliest.1 != NONE).then_some(self.earliest)
    }

    /// Removes the completion that [`peek`](Self::peek) returns, and returns its result.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> i32 {
        let (at, slot) = self.earliest;
        let SlotEntry { after, result, .. } = self.entries[slot as usize];
        let day = at >> self.day;
        self.current_day = day;
        if self.overflow.is_empty() {
            self.unlink(day, after);
            self.earliest = self.near();
        } else {
            self.take_with_overflow(at, slot);
        }
        result
    }

    #[cold]
    fn take_with_overflow(&mut self, at: u64, slot: u32) {
        if self.overflow.peek() == Some(&Reverse((at, slot))) {
            self.overflow.pop();
        } else {
            self.unlink(at >> self.day, self.entries[slot as usize].after);
        }
        let near = self.near();
        self.earliest = self.overflow.peek().map_or(near, |Reverse(first)| near.min(*first));
    }

    /// Removes the first slot of a day's list; `after` is the next one.
    #[inline(always)]
    fn unlink(&mut self, day: u64, after: u32) {
        let day = day as usize % DAYS;
        self.first[day] = after;
        if after == NONE {
            self.days[day / 64] &= !(1 << (day % 64));
            if self.days[day / 64] == 0 {
                self.words &= !(1 << (day / 64));
            }
        }
    }

    /// Earliest completion of the ring; `EMPTY` if there is none.
    #[inline(always)]
    fn near(&self) -> (u64, u32) {
        if self.words == 0 {
            return EMPTY;
        }
        let slot = self.first[self.first_day() % DAYS];
        (self.entries[slot as usize].at, slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same order as a sorted list, for ends from nanoseconds to seconds ahead.
        #[test]
        fn calendar_queue_orders_by_time_and_slot(
            steps in prop::collection::vec((0u32..64, 0u32..34, 0u64..1 << 34), 1..400),
        ) {
            let mut calendar = CalendarQueue::new(64);
            let mut model: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            for (slot, bits, ahead) in steps {
                if let Some(index) = model.iter().position(|(_, s)| *s == slot) {
                    let _ = index;
                    let first = *model.iter().min().unwrap();
                    prop_assert_eq!(calendar.peek(), Some(first));
                    prop_assert_eq!(calendar.take(), first.1 as i32);
                    model.retain(|end| *end != first);
                    now = first.0;
                } else {
                    let at = now + (ahead & ((1 << bits) - 1));
                    calendar.push(at, slot, slot as i32);
                    model.push((at, slot));
                }
            }
            model.sort_unstable();
            for end in model {
                prop_assert_eq!(calendar.peek(), Some(end));
                prop_assert_eq!(calendar.take(), end.1 as i32);
            }
            prop_assert_eq!(calendar.peek(), None);
        }
    }
}
