//! Other users of a file, as reported by the kernel.

use std::os::fd::{AsFd, AsRawFd};

use crate::call::call;

/// `KCMP_FILES` of <linux/kcmp.h>.
const KCMP_FILES: usize = 2;

/// True if two threads, given by their ids, share a descriptor table; `None` if the kernel does not
/// report it (kcmp(2)).
pub fn share_descriptors(a: i32, b: i32) -> Option<bool> {
    let numbers = [usize::try_from(a).ok()?, usize::try_from(b).ok()?];
    // SAFETY: kcmp takes five numbers, reads no memory of this process and changes nothing.
    let answer = unsafe { call(libc::SYS_kcmp, [numbers[0], numbers[1], KCMP_FILES, 0, 0, 0]) };
    // Other positive results are an order of the two tables.
    (answer >= 0).then_some(answer == 0)
}

/// True if anything has a regular file open for writing: a descriptor of any process (also one in
/// transit over a socket), a mapping, or the kernel. `file` must be open for reading only, because
/// this process counts, too. `None` if the file system has no leases, or the file belongs to
/// another user.
///
/// The kernel grants a read lease (fcntl(2), `F_SETLEASE`) only while nothing can write to the
/// file. The lease is released at once.
pub fn has_writer(file: impl AsFd) -> Option<bool> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: F_SETLEASE takes a number, and the descriptor is open while it is borrowed.
    let lease = |kind: i32| unsafe { libc::fcntl(file, libc::F_SETLEASE, kind) };
    if lease(libc::F_RDLCK) == 0 {
        let _ = lease(libc::F_UNLCK);
        return Some(false);
    }
    let error = std::io::Error::last_os_error();
    (error.raw_os_error() == Some(libc::EAGAIN)).then_some(true)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

    use std::fs::File;

    use super::*;

    #[test]
    fn writer_is_visible_until_its_descriptor_closes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let reading = File::open(file.path()).unwrap();
        assert_eq!(has_writer(&reading), Some(true));
        let (_file, path) = file.into_parts();
        drop(_file);
        assert_eq!(has_writer(&reading), Some(false));
        let _second_reader = File::open(&path).unwrap();
        assert_eq!(has_writer(&reading), Some(false));
    }

    #[test]
    fn threads_share_descriptors_but_processes_do_not() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(share_descriptors(own, own), Some(true));
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        assert_ne!(share_descriptors(own, parent), Some(true));
    }
}
