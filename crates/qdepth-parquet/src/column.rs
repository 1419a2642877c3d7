//! The values of a column within a group of rows.

use std::collections::BTreeMap;

use jiff::Timestamp;
use qdepth_record::Value;

use crate::page::{BY_DICTIONARY, PLAIN, Page, RLE, Runs, Sort};
use crate::thrift::{Of, Struct, integer, word};

/// `GZIP` of Parquet's codecs.
const GZIP: i32 = 2;

/// What a column holds, by the variant of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Whole,
    Real,
    Flag,
    Time,
}

impl Kind {
    pub(crate) const fn from_value(value: &Value<'_>) -> Self {
        match value {
            Value::Text(_) => Self::Text,
            Value::Whole(_) => Self::Whole,
            Value::Real(_) => Self::Real,
            Value::Flag(_) => Self::Flag,
            Value::Time(_) => Self::Time,
        }
    }

    /// Number of the physical type: BOOLEAN, INT64, DOUBLE, BYTE_ARRAY.
    const fn physical(self) -> i32 {
        match self {
            Self::Flag => 0,
            Self::Whole | Self::Time => 2,
            Self::Real => 5,
            Self::Text => 6,
        }
    }

    /// The column in the schema: every one may be null.
    pub(crate) fn element(self, name: &str) -> Vec<u8> {
        let element = Struct::default().i32(1, self.physical()).i32(3, 1).text(4, name);
        match self {
            Self::Flag | Self::Whole | Self::Real => element,
            // Logical type STRING; UTF8 is its older name.
            Self::Text => {
                element.i32(6, 0).inner(10, Struct::default().inner(1, Struct::default()))
            }
            // Logical type TIMESTAMP(UTC, microseconds); TIMESTAMP_MICROS is its older name.
            Self::Time => {
                let micros = Struct::default().inner(2, Struct::default());
                let time = Struct::default().flag(1, true).inner(2, micros);
                element.i32(6, 10).inner(10, Struct::default().inner(8, time))
            }
        }
        .done()
    }
}

/// What is held of a column until its group of rows is complete.
#[derive(Debug)]
pub(crate) struct Column {
    name: String,
    kind: Kind,
    /// 1 where there is a value, 0 where there is none.
    present: Runs,
    /// Numbers, one after another.
    plain: Vec<u8>,
    flags: Vec<bool>,
    /// Places of texts in the dictionary.
    indices: Runs,
    dictionary: BTreeMap<String, u32>,
    dictionary_bytes: Vec<u8>,
    /// The text before this one, which is the same in most rows.
    last: Option<(String, u32)>,
}

/// A column of a finished group of rows: its bytes, and its part of the metadata, where the column
/// begins at `offset` of the file.
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) metadata: Vec<u8>,
    pub(crate) uncompressed: u64,
}

impl Column {
    pub(crate) fn new(name: String, kind: Kind) -> Self {
        Self {
            name,
            kind,
            present: Runs::default(),
            plain: Vec::new(),
            flags: Vec::new(),
            indices: Runs::default(),
            dictionary: BTreeMap::new(),
            dictionary_bytes: Vec::new(),
            last: None,
        }
    }

    /// Adds a value; one that is not of the column's kind, or is beyond what the type can say, is
    /// none.
    pub(crate) fn push(&mut self, value: &Value<'_>) {
        let is_there = match value {
            _ if Kind::from_value(value) != self.kind => false,
            Value::Text(text) => text.as_deref().map(|text| self.push_text(text)).is_some(),
            Value::Flag(is_so) => is_so.map(|is_so| self.flags.push(is_so)).is_some(),
            Value::Real(figure) => {
                figure.map(|figure| self.plain.extend(figure.to_le_bytes())).is_some()
            }
            Value::Whole(figure) => self.push_whole(figure.and_then(|it| i64::try_from(it).ok())),
            Value::Time(time) => {
                let moment = time.and_then(|time| time.parse::<Timestamp>().ok());
                // Downwards, before 1970 too.
                let micros = moment.map(|moment| moment.as_nanosecond().div_euclid(1000));
                self.push_whole(micros.and_then(|micros| i64::try_from(micros).ok()))
            }
        };
        self.present.push(u32::from(is_there));
    }

    fn push_whole(&mut self, figure: Option<i64>) -> bool {
        figure.map(|figure| self.plain.extend(figure.to_le_bytes())).is_some()
    }

    fn push_text(&mut self, text: &str) {
        let last = self.last.take().filter(|(last, _)| last == text);
        let (text, index) = match last {
            Some(last) => last,
            None => {
                let next = self.dictionary.len() as u32;
                let index = self.dictionary.get(text).copied().unwrap_or(next);
                if index == next {
                    self.dictionary.insert(text.to_owned(), index);
                    append_text(&mut self.dictionary_bytes, text);
                }
                (text.to_owned(), index)
            }
        };
        self.indices.push(index);
        self.last = Some((text, index));
    }

    /// Bytes that are held of it, about.
    pub(crate) fn bytes_held(&self) -> usize {
        let runs = self.present.bytes_held() + self.indices.bytes_held();
        runs + self.plain.len() + self.flags.len() + 3 * self.dictionary_bytes.len()
    }

    /// The column's bytes in a group of rows that is complete; nothing is held of it any more.
    pub(crate) fn take(&mut self, offset: u64) -> Chunk {
        let column = std::mem::replace(self, Self::new(self.name.clone(), self.kind));
        let levels = column.present.encoded(1);
        let mut data = (levels.len() as u32).to_le_bytes().to_vec();
        data.extend(levels);
        let mut dictionary = None;
        let mut encoding = PLAIN;
        match column.kind {
            Kind::Text => {
                let values = column.dictionary.len() as u64;
                let bits = (u64::BITS - values.saturating_sub(1).leading_zeros()).max(1);
                data.push(bits as u8);
                data.extend(column.indices.encoded(bits));
                encoding = BY_DICTIONARY;
                let sort = Sort::Dictionary { values };
                dictionary = Some(Page::new(&sort, &column.dictionary_bytes));
            }
            Kind::Flag => data.extend(packed(&column.flags)),
            Kind::Whole | Kind::Real | Kind::Time => data.extend(&column.plain),
        }
        let sort = Sort::Data { values: column.present.count, encoding };
        column.chunk(offset, dictionary, Page::new(&sort, &data), encoding)
    }

    fn chunk(&self, offset: u64, dictionary: Option<Page>, data: Page, encoding: i32) -> Chunk {
        let before = dictionary.as_ref().map_or(0, |page| page.bytes.len() as u64);
        let has_dictionary = dictionary.is_some();
        let uncompressed = dictionary.as_ref().map_or(0, |page| page.uncompressed);
        let uncompressed = uncompressed + data.uncompressed;
        let mut bytes = dictionary.map(|page| page.bytes).unwrap_or_default();
        bytes.extend(data.bytes);
        let mut encodings = vec![integer(PLAIN), integer(RLE)];
        encodings.extend((encoding != PLAIN).then(|| integer(encoding)));
        let nulls = self.present.count_of(0) as i64;
        let of_column = Struct::default()
            .i32(1, self.kind.physical())
            .list(2, Of::Integers, &encodings)
            .list(3, Of::Texts, &[word(&self.name)])
            .i32(4, GZIP)
            .i64(5, self.present.count as i64)
            .i64(6, uncompressed as i64)
            .i64(7, bytes.len() as i64)
            .i64(9, (offset + before) as i64);
        let of_column = if has_dictionary { of_column.i64(11, offset as i64) } else { of_column };
        let of_column = of_column.inner(12, Struct::default().i64(3, nulls));
        let metadata = Struct::default().i64(2, offset as i64).inner(3, of_column).done();
        Chunk { bytes, metadata, uncompressed }
    }
}

fn append_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// A bit each, the lowest first.
fn packed(flags: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        (0..).zip(eight).fold(0, |byte, (bit, is_so)| byte | u8::from(*is_so) << bit)
    };
    flags.chunks(8).map(byte).collect()
}
