//! Bytes that no storage can compress.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use crate::aligned::AlignedBuffer;

/// Called with the bytes filled so far; [`ControlFlow::Break`] ends the filling.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

const CHUNK: usize = 4 << 20;

/// Writes a file from its beginning to `length_bytes` with draws, which differ from file to file.
pub(crate) fn write(file: &File, length_bytes: u64, progress: Progress<'_>) -> io::Result<()> {
    let mut state = uuid::Uuid::new_v4().as_u64_pair().0;
    let mut buffer = AlignedBuffer::new(CHUNK);
    let mut at = 0;
    while at < length_bytes {
        let length = (length_bytes - at).min(CHUNK as u64);
        let bytes = &mut buffer.bytes_mut()[..length as usize];
        fill(bytes, &mut state);
        file.write_all_at(bytes, at)?;
        at += length;
        if progress(at).is_break() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped by the user"));
        }
    }
    Ok(())
}

/// SplitMix64 (Steele, Lea, Flood 2014): one draw.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills `bytes`, whose length is a multiple of 8, with draws.
pub(crate) fn fill(bytes: &mut [u8], state: &mut u64) {
    for word in bytes.chunks_exact_mut(8) {
        word.copy_from_slice(&split_mix(state).to_le_bytes());
    }
}
