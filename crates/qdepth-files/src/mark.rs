//! Marks results with a digest of their contents in an extended attribute. A file without a mark,
//! or with a wrong one, belongs to the user.

use std::fs::File;
use std::io::{Read, Seek};

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use sha2::{Digest, Sha256};

const MARK: &str = "user.qdepth-result";
const CHUNK: usize = 64 << 10;

/// Marks a file with these contents. Without support of the file system, the result later counts as
/// a file of the user, and is not replaced unless requested.
pub(crate) fn put(file: &File, bytes: &[u8]) {
    let _ = fsetxattr(file, MARK, &Sha256::digest(bytes), XattrFlags::empty());
}

/// True if a file is a result that has not been changed since it was written.
pub(crate) fn is_unchanged(file: &mut File) -> std::io::Result<bool> {
    let mut mark = [0; 32];
    if fgetxattr(&*file, MARK, &mut mark) != Ok(mark.len()) {
        return Ok(false);
    }
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; CHUNK]);
    file.rewind()?;
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            length => digest.update(&buffer[..length]),
        }
    }
    Ok(digest.finalize().as_slice() == mark)
}
