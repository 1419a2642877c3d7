//! Thrift's compact protocol, as far as Parquet's metadata needs it.

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// A list's length stands in its header where it is less.
const LONG: usize = 15;

/// What a list is of.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    Integers,
    Texts,
    Structs,
}

/// A structure that is being written; fields come in ascending order of their numbers.
#[derive(Default)]
pub(crate) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn field(&mut self, number: u8, kind: u8) {
        // Numbers ascend by less than 16 in all structures of Parquet.
        self.bytes.push(number.saturating_sub(self.last) << 4 | kind);
        self.last = number;
    }

    pub(crate) fn flag(mut self, number: u8, value: bool) -> Self {
        self.field(number, if value { TRUE } else { FALSE });
        self
    }

    pub(crate) fn i32(mut self, number: u8, value: i32) -> Self {
        self.field(number, I32);
        varint(&mut self.bytes, zigzag(value.into()));
        self
    }

    pub(crate) fn i64(mut self, number: u8, value: i64) -> Self {
        self.field(number, I64);
        varint(&mut self.bytes, zigzag(value));
        self
    }

    pub(crate) fn text(mut self, number: u8, value: &str) -> Self {
        self.field(number, BINARY);
        text(&mut self.bytes, value);
        self
    }

    pub(crate) fn inner(mut self, number: u8, value: Self) -> Self {
        self.field(number, STRUCT);
        self.bytes.extend(value.done());
        self
    }

    /// A list, each of whose elements is there as bytes.
    pub(crate) fn list(mut self, number: u8, element: Of, elements: &[Vec<u8>]) -> Self {
        self.field(number, LIST);
        let kind = match element {
            Of::Integers => I32,
            Of::Texts => BINARY,
            Of::Structs => STRUCT,
        };
        let count = elements.len();
        if count < LONG {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push((LONG as u8) << 4 | kind);
            varint(&mut self.bytes, count as u64);
        }
        self.bytes.extend(elements.iter().flatten());
        self
    }

    /// Its bytes, with its end.
    pub(crate) fn done(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// An integer as an element of a list.
pub(crate) fn integer(value: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(&mut bytes, zigzag(value.into()));
    bytes
}

/// A text as an element of a list.
pub(crate) fn word(value: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    text(&mut bytes, value);
    bytes
}

fn text(bytes: &mut Vec<u8>, value: &str) {
    varint(bytes, value.len() as u64);
    bytes.extend(value.as_bytes());
}

const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Seven bits a byte, the lowest first.
pub(crate) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_those_of_the_specification() {
        // https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
        let inner = Struct::default().flag(1, true).flag(2, false);
        let bytes = Struct::default()
            .i32(1, -1)
            .i64(3, 300)
            .text(4, "ab")
            .list(5, Of::Integers, &[integer(1), integer(-2)])
            .inner(10, inner)
            .done();
        let wanted = [
            0x15, 0x01, // field 1, i32, zigzag of −1
            0x26, 0xd8, 0x04, // field 3, i64, zigzag of 300 is 600
            0x18, 0x02, b'a', b'b', // field 4
            0x19, 0x25, 0x02, 0x03, // field 5, two of i32
            0x5c, 0x11, 0x12, 0x00, // field 10, true, false, end
            0x00,
        ];
        assert_eq!(bytes, wanted);
        let long = Struct::default().list(1, Of::Texts, &vec![word("x"); 200]).done();
        assert_eq!(long[..4], [0x19, 0xf8, 0xc8, 0x01]);
    }
}
