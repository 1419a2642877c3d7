//! Request and reply headers of NBD's transmission phase, with simple replies
//! (NetworkBlockDevice/nbd, doc/proto.md). The `nbd` crate does the negotiation; its own
//! transmission phase answers one request at a time, but an emulated device needs many in flight.

/// Bytes of a request before its data.
pub(crate) const REQUEST_BYTES: usize = 28;
/// Bytes of a reply before its data.
pub(crate) const REPLY_BYTES: usize = 16;
/// Maximum request length, bytes: the protocol's default without negotiation.
pub(crate) const LENGTH_MAX: u32 = 32 << 20;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

/// Command of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    /// Followed by its data.
    Write,
    /// The client disconnects.
    Disconnect,
    Flush,
    Trim,
    /// Any command that was not offered.
    Unknown,
}

/// Header of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    /// The client's identifier, returned with the answer.
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

impl Command {
    /// Parses a header. `None` if the bytes are not a request: then nothing after them can be
    /// parsed.
    pub(crate) fn read(bytes: &[u8; REQUEST_BYTES]) -> Option<Self> {
        let [m0, m1, m2, m3, _, _, k0, k1, rest @ ..] = *bytes;
        let (words, length) = rest.split_at(16);
        let word = |at: usize| words[at..at + 8].try_into().map(u64::from_be_bytes).ok();
        if u32::from_be_bytes([m0, m1, m2, m3]) != REQUEST_MAGIC {
            return None;
        }
        let kind = match u16::from_be_bytes([k0, k1]) {
            0 => Kind::Read,
            1 => Kind::Write,
            2 => Kind::Disconnect,
            3 => Kind::Flush,
            4 => Kind::Trim,
            _ => Kind::Unknown,
        };
        let length = length.try_into().map(u32::from_be_bytes).ok()?;
        Some(Self { kind, cookie: word(0)?, offset: word(8)?, length })
    }
}

/// Encodes a request header, as defined in doc/proto.md.
pub(crate) fn request(kind: u16, cookie: u64, offset: u64, length: u32) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    bytes[6..8].copy_from_slice(&kind.to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset.to_be_bytes());
    bytes[24..].copy_from_slice(&length.to_be_bytes());
    bytes
}

/// Encodes a reply header; `errno` 0 is success.
pub(crate) fn reply(cookie: u64, errno: i32) -> [u8; REPLY_BYTES] {
    let mut bytes = [0; REPLY_BYTES];
    bytes[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    bytes[4..8].copy_from_slice(&errno.to_be_bytes());
    bytes[8..].copy_from_slice(&cookie.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nbd_request_round_trips(kind in 0_u16..9, cookie: u64, offset: u64, length: u32) {
            let read = Command::read(&request(kind, cookie, offset, length)).unwrap();
            prop_assert_eq!((read.cookie, read.offset, read.length), (cookie, offset, length));
            prop_assert_eq!(read.kind == Kind::Unknown, kind > 4);
            prop_assert_eq!(read.length, length);
        }

        #[test]
        fn bytes_without_magic_are_rejected(bytes: [u8; REQUEST_BYTES]) {
            let ours = bytes[..4] == REQUEST_MAGIC.to_be_bytes();
            prop_assert_eq!(Command::read(&bytes).is_some(), ours);
        }
    }

    #[test]
    fn request_bytes_match_the_nbd_protocol() {
        let bytes = request(1, 0x0102_0304_0506_0708, 0x1112, 0x2000);
        let head = [0x25, 0x60, 0x95, 0x13, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(bytes[..16], head);
        assert_eq!(bytes[16..], [0, 0, 0, 0, 0, 0, 0x11, 0x12, 0, 0, 0x20, 0]);
    }

    #[test]
    fn reply_returns_the_cookie() {
        let bytes = reply(0x0102_0304_0506_0708, 5);
        assert_eq!(bytes, [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
