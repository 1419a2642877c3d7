//! Files filled with the data pattern.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use qdepth_measure::pattern::Pattern;

use crate::aligned::AlignedBuffer;

/// Receives the number of bytes filled so far; [`ControlFlow::Break`] ends the filling.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

const CHUNK: usize = 4 << 20;

/// Fills a file from its beginning to `length_bytes`.
pub(crate) fn write(file: &File, length_bytes: u64, progress: Progress<'_>) -> io::Result<()> {
    let mut pattern = pattern();
    let mut buffer = AlignedBuffer::new(CHUNK);
    let mut at = 0;
    while at < length_bytes {
        let length = (length_bytes - at).min(CHUNK as u64);
        let bytes = &mut buffer.bytes_mut()[..length as usize];
        pattern.fill(bytes, 0.0);
        file.write_all_at(bytes, at)?;
        at += length;
        if progress(at).is_break() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped by the user"));
        }
    }
    Ok(())
}

/// A pattern with a random seed.
pub(crate) fn pattern() -> Pattern {
    Pattern::new(uuid::Uuid::new_v4().as_u64_pair().0)
}
