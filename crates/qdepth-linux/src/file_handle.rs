//! The kernel's handle of a file: `struct file_handle` of open_by_handle_at(2).

use std::os::fd::{AsRawFd, BorrowedFd};

/// `MAX_HANDLE_SZ` of <linux/exportfs.h>.
const BYTES_MAX: usize = 128;

#[repr(C)]
struct RawHandle {
    length: u32,
    kind: i32,
    bytes: [u8; BYTES_MAX],
}

const _: () = assert!(size_of::<RawHandle>() == 136, "as open_by_handle_at(2) has it");

/// The handle of an open file, by which its file system knows it from a later file with the same
/// inode number. `None` if the file system has no handles, for example some overlays.
pub fn file_handle(file: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let mut handle = RawHandle { length: BYTES_MAX as u32, kind: 0, bytes: [0; BYTES_MAX] };
    let mut mount: libc::c_int = 0;
    // SAFETY: the kernel fills at most `length` bytes behind the two fields, all within `handle`,
    // and the number of the mount. The path is an empty string with its end.
    let answer = unsafe {
        libc::name_to_handle_at(
            file.as_raw_fd(),
            c"".as_ptr(),
            std::ptr::from_mut(&mut handle).cast(),
            &raw mut mount,
            libc::AT_EMPTY_PATH,
        )
    };
    let used = handle.bytes.get(..handle.length as usize).filter(|_| answer == 0)?;
    Some(used.to_vec())
}
