//! Other users of a file, as reported by the kernel.

use std::os::fd::{AsFd, AsRawFd};

use crate::call::call;

/// `KCMP_FILES` of <linux/kcmp.h>.
const KCMP_FILES: usize = 2;

/// `F_SETSIG` of <asm-generic/fcntl.h>.
const F_SETSIG: i32 = 10;

/// `NFS_SUPER_MAGIC`, `CIFS_SUPER_MAGIC` and `SMB2_SUPER_MAGIC` of <linux/magic.h>.
const SERVED: [u32; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];

/// True if two threads, given by their ids, share a descriptor table; `None` if the kernel does not
/// report it (kcmp(2)).
pub fn share_descriptors(a: i32, b: i32) -> Option<bool> {
    let numbers = [usize::try_from(a).ok()?, usize::try_from(b).ok()?];
    // SAFETY: kcmp takes five numbers, reads no memory of this process and changes nothing.
    let answer = unsafe { call(libc::SYS_kcmp, [numbers[0], numbers[1], KCMP_FILES, 0, 0, 0]) };
    // Other positive results are an order of the two tables.
    (answer >= 0).then_some(answer == 0)
}

/// Use of a file through other descriptors, mappings or the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenElsewhere {
    /// Nothing else has it open.
    No,
    /// Only for reading.
    Reading,
    /// For writing.
    Writing,
}

/// Finds whether anything else has a regular file open: a descriptor of any process (also one in
/// transit over a socket), a mapping, or the kernel, for example for a mounted image. `file` must
/// be open for reading only, because this process counts, too. `None` if the file system has no
/// leases of its own, or the file belongs to another user.
///
/// The kernel grants a write lease (fcntl(2), `F_SETLEASE`) only if nothing else has the file open,
/// and a read lease only while nothing can write to it. The lease is released at once.
pub fn open_elsewhere(file: impl AsFd) -> Option<OpenElsewhere> {
    // A client of NFS or SMB refuses leases that the server did not offer.
    if SERVED.contains(&(rustix::fs::fstatfs(&file).ok()?.f_type as u32)) {
        return None;
    }
    let file = file.as_fd().as_raw_fd();
    // SAFETY: F_SETSIG and F_SETLEASE take a number, and the descriptor is open while borrowed.
    let control = |command: i32, value: i32| unsafe { libc::fcntl(file, command, value) };
    // A program that opens the file now sends this signal, which is ignored by default. SIGIO would
    // end this process.
    control(F_SETSIG, libc::SIGURG);
    for (lease, found) in
        [(libc::F_WRLCK, OpenElsewhere::No), (libc::F_RDLCK, OpenElsewhere::Reading)]
    {
        if control(libc::F_SETLEASE, lease) == 0 {
            control(libc::F_SETLEASE, libc::F_UNLCK);
            return Some(found);
        }
        if std::io::Error::last_os_error().raw_os_error() != Some(libc::EAGAIN) {
            return None;
        }
    }
    Some(OpenElsewhere::Writing)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

    use std::fs::File;

    use super::*;

    #[test]
    fn other_users_are_visible_until_they_close() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let reading = File::open(file.path()).unwrap();
        assert_eq!(open_elsewhere(&reading), Some(OpenElsewhere::Writing));
        let (written, path) = file.into_parts();
        drop(written);
        assert_eq!(open_elsewhere(&reading), Some(OpenElsewhere::No));
        let second = File::open(&path).unwrap();
        assert_eq!(open_elsewhere(&reading), Some(OpenElsewhere::Reading));
        drop(second);
        assert_eq!(open_elsewhere(&reading), Some(OpenElsewhere::No));
    }

    #[test]
    fn opening_during_a_lease_kills_nobody() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let reading = File::open(&file).unwrap();
        std::thread::scope(|scope| {
            let opener = scope.spawn(|| {
                for _ in 0..20_000 {
                    drop(File::options().write(true).open(&file).unwrap());
                }
            });
            while !opener.is_finished() {
                assert!(open_elsewhere(&reading).is_some());
            }
        });
    }

    #[test]
    fn threads_share_descriptors_but_processes_do_not() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(share_descriptors(own, own), Some(true));
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        assert_ne!(share_descriptors(own, parent), Some(true));
    }
}
