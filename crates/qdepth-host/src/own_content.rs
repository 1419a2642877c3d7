//! Proof that qdepth wrote the contents of a file: every sector has the data pattern, or stamps
//! that later runs verify.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use qdepth_measure::pattern::{SECTOR_BYTES, first_foreign};
use qdepth_measure::stamp::SharedStamps;
use rustix::fs::{Advice, SeekFrom};

use crate::aligned::AlignedBuffer;

const CHUNK: usize = 4 << 20;

/// Offset of the first sector before `end` that no run wrote; `None` if there are only sectors with
/// the pattern and holes.
///
/// Reads everything, and leaves none of it in the page cache.
///
/// # Errors
/// The error of a read.
pub(crate) fn foreign_offset(file: &File, begin: u64, end: u64) -> io::Result<Option<u64>> {
    let mut buffer = AlignedBuffer::new(CHUNK);
    let (mut at, mut stamps) = (begin, SharedStamps::default());
    while let Some((from, until)) = next_data(file, at, end) {
        at = from;
        while at < until {
            let length = (until - at).min(CHUNK as u64);
            let bytes = &mut buffer.bytes_mut()[..length as usize];
            file.read_exact_at(bytes, at)?;
            if let Some(offset) = foreign_in(bytes, at, &mut stamps) {
                return Ok(Some(at + offset as u64));
            }
            at += length;
        }
    }
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    Ok(None)
}

/// Offset of the first sector in `bytes`, read at `offset`, that has neither the pattern nor the
/// stamps of writes to be verified by a later run.
fn foreign_in(bytes: &[u8], offset: u64, stamps: &mut SharedStamps) -> Option<usize> {
    let mut from = 0;
    loop {
        let found = from + first_foreign(&bytes[from..])?;
        from = bytes.len().min(found + SECTOR_BYTES);
        if !stamps.has(&bytes[found..from], offset + found as u64) {
            return Some(found);
        }
    }
}

/// The next range that is not a hole, in whole sectors. On a file system without holes, everything
/// is data.
fn next_data(file: &File, at: u64, end: u64) -> Option<(u64, u64)> {
    let sector = SECTOR_BYTES as u64;
    let from = match rustix::fs::seek(file, SeekFrom::Data(at)) {
        Ok(from) => from,
        Err(rustix::io::Errno::NXIO) => return None,
        Err(_) => at,
    };
    let until = rustix::fs::seek(file, SeekFrom::Hole(from)).unwrap_or(end).max(from);
    let (from, until) = (from / sector * sector, until.next_multiple_of(sector).min(end));
    (from < until).then_some((from, until))
}

#[cfg(test)]
mod tests {
    use super::*;
    use qdepth_measure::pattern::Pattern;
    use qdepth_measure::stamp::{shared_number, stamp};

    fn filled(length: usize) -> (File, Vec<u8>) {
        let (file, mut bytes) = (tempfile::tempfile().unwrap(), vec![0; length]);
        Pattern::new(5).fill(&mut bytes, 0.0);
        file.write_all_at(&bytes, 0).unwrap();
        (file, bytes)
    }

    #[test]
    fn single_foreign_byte_is_found_anywhere() {
        let length = (9 << 20) + 317;
        let (file, bytes) = filled(length);
        let check = || foreign_offset(&file, 0, length as u64).unwrap();
        assert_eq!(check(), None);
        let mut draws = qdepth_measure::SplitMix(11);
        for _ in 0..300 {
            let at = draws.draw() as usize % length;
            file.write_all_at(&[!bytes[at]], at as u64).unwrap();
            assert_eq!(check(), Some(at as u64 / 512 * 512), "byte {at}");
            file.write_all_at(&bytes[at..=at], at as u64).unwrap();
        }
        assert_eq!(check(), None);
    }

    #[test]
    fn data_to_be_verified_later_is_not_foreign() {
        let (file, _) = filled(1 << 20);
        let mut stamped = vec![0; 64 << 10];
        stamp(&mut stamped, 128 << 10, shared_number("md5"), 3);
        file.write_all_at(&stamped, 128 << 10).unwrap();
        let check = || foreign_offset(&file, 0, 1 << 20).unwrap();
        assert_eq!(check(), None);
        file.write_all_at(&[0], (130 << 10) + 7).unwrap();
        assert_eq!(check(), Some(130 << 10));
        file.write_all_at(&stamped, 0).unwrap();
        assert_eq!(check(), Some(0), "stamps are valid at their position only");
    }

    #[test]
    fn holes_are_not_foreign_but_written_zeros_are() {
        let (file, _) = filled(1 << 20);
        file.set_len(64 << 20).unwrap();
        assert_eq!(foreign_offset(&file, 0, 64 << 20).unwrap(), None);
        file.write_all_at(&[0; 4096], 32 << 20).unwrap();
        assert_eq!(foreign_offset(&file, 0, 64 << 20).unwrap(), Some(32 << 20));
    }
}
