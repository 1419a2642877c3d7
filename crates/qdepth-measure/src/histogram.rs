//! The latency histogram.
//!
//! Log-linear: each power of two is divided into 256 buckets of equal width; below 512 ns every
//! nanosecond has its own. A bucket is at most 1/256 of its lower edge wide. A reported value is
//! the middle of a bucket, so its error is at most 1/512 = 0.195 % (threshold: 0.4 %).
//!
//! | value          | bucket width | worst error of a reported value |
//! |----------------|--------------|---------------------------------|
//! | 1 … 511 ns     | 1 ns         | 0                               |
//! | 1 µs           | 2 ns         | 0.1 %                           |
//! | 100 µs         | 256 ns       | 0.13 %                          |
//! | 10 ms          | 32.8 µs      | 0.16 %                          |
//! | 1 h            | 8.6 s        | 0.12 %                          |
//!
//! The largest bucket ends at 2^42 ns (73 min). Longer values are counted in it, and their number
//! is kept. Minimum, maximum and sum are stored separately, and are exact.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Buckets per power of two, as a power of two.
const GROUPING_POWER: u8 = 8;
/// Values from 2^42 ns on are counted in the last bucket.
const MAX_VALUE_POWER: u8 = 42;
/// Largest value that is not counted as overflow.
const LIMIT: u64 = (1 << MAX_VALUE_POWER) - 1;
/// Number of buckets.
const BUCKETS: usize = bucket_of(LIMIT) + 1;
/// First byte of the stored form.
const FORMAT: u8 = 1;

/// Latencies in nanoseconds, 1 ns to over 1 h, mergeable, lossless on disk.
///
/// ```
/// use qdepth_measure::{LatencyHistogram, Nanos};
/// let mut h = LatencyHistogram::new();
/// for n in 1..=100 {
///     h.record(Nanos(n));
/// }
/// assert_eq!((h.count(), h.quantile(0.5), h.max()), (100, Some(Nanos(50)), Some(Nanos(100))));
/// ```
// A latency touches one cache line, and one more for its bucket.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "EncodedHistogram", try_from = "EncodedHistogram")]
#[repr(align(64))]
pub struct LatencyHistogram {
    /// All buckets, or only the first ones, if no value is above them: thousands of stored
    /// histograms are in memory at the same time, most of them empty.
    buckets: Box<[u64]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    overflow: u64,
}

/// Error for bytes that are not a stored histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not a histogram of format 1")]
pub struct CorruptHistogram;

impl Default for LatencyHistogram {
    /// An empty histogram without memory, which the first value allocates.
    fn default() -> Self {
        Self { buckets: Box::default(), count: 0, sum: 0, min: u64::MAX, max: 0, overflow: 0 }
    }
}

impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum, self.min, self.max, self.overflow)
            == (other.count, other.sum, other.min, other.max, other.overflow)
            && self.buckets[self.span()] == other.buckets[other.span()]
    }
}

impl LatencyHistogram {
    /// An empty histogram with all its memory, so that recording never allocates.
    pub fn new() -> Self {
        Self { buckets: vec![0; BUCKETS].into(), ..Self::default() }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        let value = value.0;
        self.count += 1;
        self.sum += u128::from(value);
        // Minimum and maximum rarely change: a predicted branch costs less than a store.
        if value < self.min {
            self.widen(value);
        }
        if value > self.max {
            self.widen(value);
        }
        match self.buckets.get_mut(bucket_of(value)) {
            Some(bucket) => *bucket += 1,
            None => self.record_above(value),
        }
    }

    #[cold]
    #[inline(never)]
    fn widen(&mut self, value: u64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Counts a value above the buckets in memory.
    #[cold]
    #[inline(never)]
    fn record_above(&mut self, value: u64) {
        self.make_room(BUCKETS);
        self.overflow += u64::from(value > LIMIT);
        self.buckets[bucket_index(value)] += 1;
    }

    /// Allocates all buckets unless there are `wanted`.
    fn make_room(&mut self, wanted: usize) {
        if self.buckets.len() < wanted {
            let mut all = vec![0; BUCKETS];
            all[..self.buckets.len()].copy_from_slice(&self.buckets);
            self.buckets = all.into();
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Exact sum of all values, nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }
    /// Exact smallest value.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.min))
    }
    /// Exact largest value.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.max))
    }
    /// Exact mean, nanoseconds.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
    /// Values above the largest bucket, which were counted in it.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }
    /// Sum over the buckets; equals [`count`](Self::count) unless something is broken.
    pub fn bucket_sum(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The value of rank ⌈q·n⌉: the middle of its bucket, limited to minimum and maximum.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let rank = (q * self.count as f64).ceil() as u64;
        self.at_rank(rank.clamp(1, self.count.max(1)))
    }

    /// The value with this rank in ascending order, from 1.
    pub fn at_rank(&self, rank: u64) -> Option<Nanos> {
        if rank == 0 || rank > self.count {
            return None;
        }
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let (low, high) = bucket_range(index);
                return Some(Nanos((low + (high - low) / 2).clamp(self.min, self.max)));
            }
        }
        None
    }

    /// Buckets that hold something: lower edge, upper edge (inclusive), count.
    pub fn occupied(&self) -> impl Iterator<Item = (Nanos, Nanos, u64)> + '_ {
        self.buckets.iter().enumerate().filter(|(_, count)| **count > 0).map(|(index, count)| {
            let (low, high) = bucket_range(index);
            (Nanos(low), Nanos(high), *count)
        })
    }

    /// Adds every value of `other`.
    pub fn merge(&mut self, other: &Self) {
        let span = other.span();
        self.make_room(span.end);
        let Self { buckets, count, sum, min, max, overflow } = other;
        let theirs = &buckets[span.clone()];
        for (mine, theirs) in self.buckets[span].iter_mut().zip(theirs) {
            *mine += theirs;
        }
        self.count += count;
        self.sum += sum;
        self.min = self.min.min(*min);
        self.max = self.max.max(*max);
        self.overflow += overflow;
    }

    /// Removes all values, and keeps the memory.
    pub fn clear(&mut self) {
        let span = self.span();
        self.buckets[span].fill(0);
        (self.count, self.sum, self.min, self.max, self.overflow) = (0, 0, u64::MAX, 0, 0);
    }

    /// Index range of the buckets that can hold values. All others are empty, so that work on an
    /// interval's histogram is proportional to its spread, not to all 9,000 buckets.
    fn span(&self) -> std::ops::Range<usize> {
        if self.count == 0 { 0..0 } else { bucket_index(self.min)..bucket_index(self.max) + 1 }
    }

    /// Appends the stored form: format byte, then LEB128 numbers: count, sum (low, high 64 bits),
    /// minimum, maximum, overflow, and for each occupied bucket the gap to the previous one and the
    /// count. Allocates only if `out` has too little room.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(FORMAT);
        let header = [
            self.count,
            self.sum as u64,
            (self.sum >> 64) as u64,
            self.min,
            self.max,
            self.overflow,
        ];
        for number in header {
            put(out, number);
        }
        let span = self.span();
        let mut former = 0;
        for (index, count) in (span.start..).zip(&self.buckets[span.clone()]) {
            if *count > 0 {
                put(out, (index - former) as u64);
                put(out, *count);
                former = index;
            }
        }
    }

    /// Length of the stored form in bytes, computed without encoding.
    pub fn encoded_len(&self) -> usize {
        let buckets = &self.buckets[self.span()];
        let occupied = buckets.iter().filter(|count| **count > 0).count();
        61 + occupied * 12
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// If the bytes are cut short, of another format, or contradict themselves.
    pub fn decode(mut bytes: &[u8]) -> Result<Self, CorruptHistogram> {
        let input = &mut bytes;
        let mut histogram = Self::default();
        let (format, rest) = input.split_first().ok_or(CorruptHistogram)?;
        if *format != FORMAT {
            return Err(CorruptHistogram);
        }
        *input = rest;
        histogram.count = take(input)?;
        histogram.sum = u128::from(take(input)?) | u128::from(take(input)?) << 64;
        histogram.min = take(input)?;
        histogram.max = take(input)?;
        histogram.overflow = take(input)?;
        histogram.buckets = vec![0; histogram.span().end].into();
        let mut index = 0usize;
        let mut total = 0u64;
        while !input.is_empty() {
            let gap = usize::try_from(take(input)?).map_err(|_| CorruptHistogram)?;
            index = index.checked_add(gap).ok_or(CorruptHistogram)?;
            let count = take(input)?;
            let bucket = histogram.buckets.get_mut(index).ok_or(CorruptHistogram)?;
            *bucket = bucket.checked_add(count).ok_or(CorruptHistogram)?;
            total = total.checked_add(count).ok_or(CorruptHistogram)?;
        }
        let ordered = histogram.count == 0 || histogram.min <= histogram.max;
        // Counts outside the range from minimum to maximum would be lost in a merge.
        let inside: u64 = if total == 0 || !ordered {
            0
        } else {
            histogram.buckets[histogram.span()].iter().sum()
        };
        (total == histogram.count && ordered && inside == total)
            .then_some(histogram)
            .ok_or(CorruptHistogram)
    }
}

/// A histogram in its stored form: a few hundred bytes instead of 70 KB. A series of thousands of
/// intervals keeps its histograms in this form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedHistogram(pub Vec<u8>);

impl EncodedHistogram {
    /// Decodes the histogram; no bytes at all give the empty one.
    ///
    /// # Errors
    /// Like [`LatencyHistogram::decode`].
    pub fn decode(&self) -> Result<LatencyHistogram, CorruptHistogram> {
        if self.0.is_empty() {
            return Ok(LatencyHistogram::default());
        }
        LatencyHistogram::decode(&self.0)
    }
}

impl From<LatencyHistogram> for EncodedHistogram {
    fn from(histogram: LatencyHistogram) -> Self {
        Self::from(&histogram)
    }
}

impl TryFrom<EncodedHistogram> for LatencyHistogram {
    type Error = CorruptHistogram;

    fn try_from(encoded: EncodedHistogram) -> Result<Self, CorruptHistogram> {
        encoded.decode()
    }
}

impl From<&LatencyHistogram> for EncodedHistogram {
    fn from(histogram: &LatencyHistogram) -> Self {
        let mut bytes = Vec::with_capacity(histogram.encoded_len());
        histogram.encode(&mut bytes);
        Self(bytes)
    }
}

/// Lower and upper edge (inclusive) of the bucket with this index. The layout is that of the
/// `histogram` crate (H2); a test compares the two.
fn bucket_range(index: usize) -> (u64, u64) {
    let index = index as u64;
    let linear = 1 << (GROUPING_POWER + 1);
    if index < linear {
        return (index, index);
    }
    let octave = (index >> GROUPING_POWER) - 1;
    let low = ((index & ((1 << GROUPING_POWER) - 1)) | 1 << GROUPING_POWER) << octave;
    (low, low + (1 << octave) - 1)
}

/// The index of the bucket that counts this value.
#[inline]
fn bucket_index(value: u64) -> usize {
    bucket_of(value.min(LIMIT))
}

/// The index of the bucket of a value up to [`LIMIT`]; larger values give an index beyond the last.
#[inline(always)]
const fn bucket_of(value: u64) -> usize {
    // The extra bit replaces a branch for values below it, and changes no other value.
    let octave = 63 - GROUPING_POWER as u32 - (value | 1 << GROUPING_POWER).leading_zeros();
    (((octave as u64) << GROUPING_POWER) + (value >> octave)) as usize
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(input: &mut &[u8]) -> Result<u64, CorruptHistogram> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = input.split_first().ok_or(CorruptHistogram)?;
        *input = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err(CorruptHistogram);
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(CorruptHistogram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use histogram::{Config, Histogram};
    use proptest::prelude::*;

    fn build_histogram(values: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        for value in values {
            histogram.record(Nanos(*value));
        }
        histogram
    }

    #[test]
    fn stored_histogram_holds_buckets_up_to_maximum() {
        assert_eq!(LatencyHistogram::default().buckets.len(), 0);
        let mut bytes = Vec::new();
        build_histogram(&[7, 300]).encode(&mut bytes);
        let mut stored = LatencyHistogram::decode(&bytes).unwrap();
        assert_eq!(stored.buckets.len(), 301);
        stored.record(Nanos(5_000));
        assert_eq!((stored.count(), stored.bucket_sum()), (3, 3));
    }

    #[test]
    fn bucket_edges_match_the_histogram_crate() {
        let config = Config::new(GROUPING_POWER, MAX_VALUE_POWER).expect("constant powers");
        let counted = Histogram::with_config(&config);
        let edges: Vec<_> = counted.iter().map(|bucket| bucket.range()).collect();
        for (index, range) in edges.iter().enumerate() {
            assert_eq!(bucket_range(index), (*range.start(), *range.end()), "bucket {index}");
            assert_eq!(bucket_index(*range.start()), index);
            assert_eq!(bucket_index(*range.end()), index);
        }
        assert_eq!(edges.last().map(|range| *range.end()), Some(LIMIT));
        assert_eq!(edges.len(), BUCKETS);
        assert!(bucket_of(LIMIT + 1) == BUCKETS && bucket_of(u64::MAX) > BUCKETS);
    }

    #[test]
    fn value_above_one_hour_is_counted_as_overflow() {
        let hour = 3_600_000_000_000;
        let histogram = build_histogram(&[hour, hour * 100]);
        assert_eq!(histogram.overflow(), 1);
        assert_eq!(histogram.max(), Some(Nanos(hour * 100)));
        let low = histogram.at_rank(1).expect("a value").0;
        assert!(low.abs_diff(hour) * 1000 <= hour * 2, "{low}");
    }

    proptest! {
        #[test]
        fn recorded_value_is_within_the_error_bound(value in 1u64..LIMIT) {
            let back = build_histogram(&[value, value]).occupied().next().expect("a bucket");
            let middle = back.0.0 + (back.1.0 - back.0.0) / 2;
            prop_assert!(back.0.0 <= value && value <= back.1.0);
            prop_assert!(middle.abs_diff(value) as f64 <= value as f64 * 0.002);
        }

        #[test]
        fn quantiles_match_the_sorted_values(
            mut values in prop::collection::vec(1u64..10_000_000_000, 1..400), q in 0.0f64..=1.0,
        ) {
            let histogram = build_histogram(&values);
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let truth = values[rank - 1] as f64;
            let got = histogram.quantile(q).expect("not empty").0 as f64;
            prop_assert!((got - truth).abs() <= truth * 0.004, "{got} {truth}");
        }

        #[test]
        fn merge_equals_recording_all_values(
            a in prop::collection::vec(0u64..u64::MAX, 0..50),
            b in prop::collection::vec(0u64..u64::MAX, 0..50),
        ) {
            let mut ab = build_histogram(&a);
            ab.merge(&build_histogram(&b));
            let mut ba = build_histogram(&b);
            ba.merge(&build_histogram(&a));
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(&ab, &build_histogram(&all));
            prop_assert_eq!(&ab, &ba);
            prop_assert_eq!(ab.bucket_sum(), ab.count());
        }

        #[test]
        fn encoded_histogram_is_lossless(values in prop::collection::vec(0u64..u64::MAX, 0..200)) {
            let histogram = build_histogram(&values);
            let mut bytes = Vec::new();
            histogram.encode(&mut bytes);
            prop_assert!(bytes.len() <= histogram.encoded_len());
            prop_assert_eq!(LatencyHistogram::decode(&bytes), Ok(histogram));
        }

        #[test]
        fn stored_histogram_continues_with_further_values(
            a in prop::collection::vec(0u64..u64::MAX, 0..50),
            b in prop::collection::vec(0u64..u64::MAX, 0..50),
        ) {
            let stored = EncodedHistogram::from(build_histogram(&a)).decode().expect("valid");
            let end = a.iter().map(|value| bucket_index(*value) + 1).max().unwrap_or(0);
            prop_assert_eq!(stored.buckets.len(), end);
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            let (mut merged, mut recorded) = (stored.clone(), stored);
            merged.merge(&build_histogram(&b));
            b.iter().for_each(|value| recorded.record(Nanos(*value)));
            prop_assert_eq!(&merged, &build_histogram(&all));
            prop_assert_eq!(&recorded, &merged);
        }

        #[test]
        fn any_histogram_bytes_decode_without_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = LatencyHistogram::decode(&bytes);
        }
    }
}
