//! Pages, and the runs that levels and places in a dictionary are written as.

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};

use crate::thrift::{Struct, varint};

/// Values that follow one another and are the same, with how many they are.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: Vec<(u64, u32)>,
    pub(crate) count: u64,
}

impl Runs {
    pub(crate) fn push(&mut self, value: u32) {
        self.count += 1;
        match self.runs.last_mut() {
            Some((count, last)) if *last == value => *count += 1,
            _ => self.runs.push((1, value)),
        }
    }

    /// Bytes that are held of it, about.
    pub(crate) fn bytes_held(&self) -> usize {
        self.runs.len() * size_of::<(u64, u32)>()
    }

    /// How many are this value.
    pub(crate) fn count_of(&self, wanted: u32) -> u64 {
        self.runs.iter().filter(|(_, value)| *value == wanted).map(|(count, _)| count).sum()
    }

    /// In Parquet's hybrid encoding, of runs alone: each has its length and its value.
    pub(crate) fn encoded(&self, bits: u32) -> Vec<u8> {
        let width = bits.div_ceil(8) as usize;
        let mut bytes = Vec::with_capacity(self.runs.len() * (1 + width));
        for (count, value) in &self.runs {
            varint(&mut bytes, count << 1);
            bytes.extend(&value.to_le_bytes()[..width]);
        }
        bytes
    }
}

/// What stands before a page's data, by its sort.
pub(crate) enum Sort {
    /// Values by this encoding, with how many they are, nulls among them.
    Data { values: u64, encoding: i32 },
    /// A dictionary of so many values.
    Dictionary { values: u64 },
}

/// `PLAIN` of Parquet's encodings.
pub(crate) const PLAIN: i32 = 0;
/// `RLE`: levels, and flags.
pub(crate) const RLE: i32 = 3;
/// `RLE_DICTIONARY`: places in a dictionary.
pub(crate) const BY_DICTIONARY: i32 = 8;

/// A page with its header, and the size that it would have had uncompressed.
pub(crate) struct Page {
    pub(crate) bytes: Vec<u8>,
    pub(crate) uncompressed: u64,
}

impl Page {
    pub(crate) fn new(sort: &Sort, data: &[u8]) -> Self {
        let packed = gzip(data);
        let mut crc = Crc::new();
        crc.update(&packed);
        // Groups of rows are far smaller than what these fields can say.
        let (kind, counted) = match sort {
            Sort::Data { .. } => (0, 5),
            Sort::Dictionary { .. } => (2, 7),
        };
        let inner = match sort {
            Sort::Data { values, encoding } => {
                Struct::default().i32(1, *values as i32).i32(2, *encoding).i32(3, RLE).i32(4, RLE)
            }
            Sort::Dictionary { values } => Struct::default().i32(1, *values as i32).i32(2, PLAIN),
        };
        let mut bytes = Struct::default()
            .i32(1, kind)
            .i32(2, data.len() as i32)
            .i32(3, packed.len() as i32)
            .i32(4, crc.sum().cast_signed())
            .inner(counted, inner)
            .done();
        let uncompressed = (bytes.len() + data.len()) as u64;
        bytes.extend(packed);
        Self { bytes, uncompressed }
    }
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::with_capacity(data.len() / 4), Compression::fast());
    // Writing to memory does not fail.
    let _ = writer.write_all(data);
    writer.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_of_the_specification() {
        let mut runs = Runs::default();
        for value in [1, 1, 1, 0, 300, 300] {
            runs.push(value);
        }
        // https://parquet.apache.org/docs/file-format/data-pages/encodings/: length << 1, value.
        assert_eq!(runs.encoded(9), [6, 1, 0, 2, 0, 0, 4, 0x2c, 1]);
        assert_eq!((runs.count, runs.count_of(1), runs.count_of(7)), (6, 3, 0));
    }
}
