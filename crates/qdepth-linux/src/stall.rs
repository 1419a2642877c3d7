//! Detection of a file system that does not answer: a call of the watched thread on a file or block
//! device that does not return. Only a process that can be left behind is watched.

#![expect(clippy::disallowed_methods, reason = "files of procfs, each by its one name")]

use std::ffi::OsString;
use std::fs::{read_link, read_to_string};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::thread::{Builder, park_timeout};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use crate::supervisor::{can_be_left, give_up};

/// Interval of the checks.
const EVERY: Duration = Duration::from_millis(500);
/// Number of checks without progress after which a call counts as unanswered: 10 s.
const PATIENCE: u32 = 20;
/// The same for calls that may free much space or write much data, for example to a server that
/// stores a file when it is closed: 5 min.
const PATIENCE_SLOW: u32 = 600;
/// Longest path that is read, bytes.
const PATH_BYTES: usize = 4096;

/// A call on a descriptor (first argument).
const WITH_DESCRIPTOR: [i64; 18] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_fchmod,
    libc::SYS_fsetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
];
/// Like [`WITH_DESCRIPTOR`], and slow.
const WITH_DESCRIPTOR_SLOW: [i64; 7] = [
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_syncfs,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_copy_file_range,
];
/// A call on a path (second argument) in an open directory (first argument).
const IN_DIRECTORY: [i64; 14] = [
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_mkdirat,
    libc::SYS_readlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_fchmodat,
    libc::SYS_utimensat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_name_to_handle_at,
];
/// A call on a path (first argument).
#[cfg(target_arch = "x86_64")]
const WITH_PATH: [i64; 10] = [
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_statfs,
    libc::SYS_mkdir,
    libc::SYS_rename,
    libc::SYS_chmod,
    libc::SYS_chdir,
];
#[cfg(not(target_arch = "x86_64"))]
const WITH_PATH: [i64; 2] = [libc::SYS_statfs, libc::SYS_chdir];

/// Watches the calling thread. If one of its calls is not answered, prints the line from `or_say`,
/// which receives the path if it is known, and leaves this process behind with the status. `None`
/// from `or_say`, for a file that no server has to answer for, goes on waiting: local storage may
/// be slow, but answers. `is_small` returns true during work on a small file, for which no call is
/// slow.
pub fn watch_calls(
    status: u8,
    is_small: fn() -> bool,
    or_say: fn(Option<&Path>) -> Option<String>,
) {
    if !can_be_left() {
        return;
    }
    let thread = rustix::thread::gettid().as_raw_nonzero();
    let watch = move || {
        let (mut before, mut checks) = (None, 0);
        loop {
            park_timeout(EVERY);
            let now = blocked(&format!("/proc/self/task/{thread}"));
            checks = if now.is_some() && now == before { checks + 1 } else { 0 };
            before = now;
            if checks < PATIENCE {
                continue;
            }
            let call = before.as_ref().and_then(|(line, _)| Call::parse(line));
            let is_slow = checks >= PATIENCE_SLOW || is_small();
            let path = call.and_then(|call| call.unanswered(is_slow));
            if let Some(line) = path.and_then(|path| or_say(path.as_deref())) {
                give_up(&line, status);
            }
        }
    };
    // Without another thread, the program works, but waits.
    let _ = Builder::new().spawn(watch);
}

/// Call in which a thread is blocked, and its number of context switches, which shows progress
/// within a call. `None` while it runs.
fn blocked(task: &str) -> Option<(String, String)> {
    let call = read_to_string(format!("{task}/syscall")).ok()?;
    let status = read_to_string(format!("{task}/status")).ok()?;
    let switches = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
    (!call.starts_with("running")).then(|| (call, switches.to_owned()))
}

/// A system call: its number and first arguments. The number -1 is a fault in a mapped page.
struct Call {
    number: i64,
    arguments: [u64; 2],
}

impl Call {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        Some(Self { number, arguments: [argument()?, argument()?] })
    }

    /// The file that has not answered, with its path if known. `is_slow` is true if slow calls
    /// should have been answered, too. `None` for all calls that wait for something else.
    fn unanswered(&self, is_slow: bool) -> Option<Option<PathBuf>> {
        let Self { number, arguments: [first, second] } = *self;
        let after_path = |path: PathBuf| is_waited_for(&path).then_some(Some(path));
        match number {
            // Only the name of a Unix socket is waited for.
            -1 | libc::SYS_bind => Some(None),
            libc::SYS_close => is_slow.then_some(None),
            libc::SYS_ioctl => of_descriptor(first, true),
            _ if WITH_DESCRIPTOR.contains(&number) => of_descriptor(first, false),
            _ if WITH_DESCRIPTOR_SLOW.contains(&number) && is_slow => of_descriptor(first, true),
            _ if IN_DIRECTORY.contains(&number) => after_path(joined(first, second)),
            libc::SYS_unlinkat if is_slow => after_path(joined(first, second)),
            _ if WITH_PATH.contains(&number) => after_path(read_path(first)),
            _ => None,
        }
    }
}

/// A regular file, directory or block device behind a descriptor. A pipe or terminal may wait.
fn of_descriptor(number: u64, may_discard: bool) -> Option<Option<PathBuf>> {
    let link = format!("/proc/self/fd/{number}");
    match kind(Path::new(&link))? {
        FileType::RegularFile | FileType::Directory => {}
        // Discarding a whole device takes long.
        FileType::BlockDevice if !may_discard => {}
        _ => return None,
    }
    let path = read_link(link).ok()?;
    (!is_of_kernel(&path)).then_some(Some(path))
}

/// Type of a file, without asking a server.
fn kind(path: &Path) -> Option<FileType> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let found = statx(CWD, path, flags, StatxFlags::TYPE).ok()?;
    Some(FileType::from_raw_mode(found.stx_mode.into()))
}

/// True if a call on this path should return soon. Other devices than disks may wait.
fn is_waited_for(path: &Path) -> bool {
    match path.starts_with("/dev") {
        true => kind(path) == Some(FileType::BlockDevice),
        false => !is_of_kernel(path),
    }
}

fn is_of_kernel(path: &Path) -> bool {
    path.starts_with("/proc") || path.starts_with("/sys")
}

/// Path in an open directory.
fn joined(directory: u64, name: u64) -> PathBuf {
    let name = read_path(name);
    if name.is_absolute() {
        return name;
    }
    let number = directory as i32;
    let folder = match number {
        libc::AT_FDCWD => read_link("/proc/self/cwd"),
        _ => read_link(format!("/proc/self/fd/{number}")),
    };
    let folder = folder.unwrap_or_default();
    // The directory itself: joining an empty name would append a slash.
    if name.as_os_str().is_empty() { folder } else { folder.join(name) }
}

/// Path in the memory of this process, up to its zero byte. Empty if it cannot be read.
fn read_path(address: u64) -> PathBuf {
    let mut bytes = vec![0_u8; PATH_BYTES];
    // The end of a page may be the end of the memory.
    let length = PATH_BYTES - address as usize % PATH_BYTES;
    let own = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let theirs = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
    // SAFETY: the kernel checks the address, which may have become invalid, and writes at most
    // `length` bytes to the buffer, which is as long.
    let read = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const own, 1, &raw const theirs, 1, 0)
    };
    bytes.truncate(usize::try_from(read).unwrap_or(0));
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_calls_count_as_unanswered() {
        let folder = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(folder.path().join("file")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let path = std::ffi::CString::new(folder.path().to_str().unwrap()).unwrap();
        let unanswered = |number: i64, first: u64, second: u64, is_slow: bool| {
            let call = Call::parse(&format!("{number} {first:#x} {second:#x} 0x0 0x7f 0x7f"));
            call.unwrap().unanswered(is_slow)
        };
        let of_file = Some(Some(folder.path().join("file")));
        let of_folder = Some(Some(folder.path().to_owned()));
        let (number, address) = (number as u64, path.as_ptr() as u64);
        let here = i64::from(libc::AT_FDCWD) as u64;
        assert_eq!(unanswered(libc::SYS_pread64, number, 0, false), of_file);
        assert_eq!(unanswered(libc::SYS_openat, here, address, false), of_folder);
        assert_eq!(unanswered(libc::SYS_statfs, address, 0, false), of_folder);
        assert_eq!(unanswered(libc::SYS_fsync, number, 0, false), None);
        assert_eq!(unanswered(libc::SYS_fsync, number, 0, true), of_file);
        assert_eq!(unanswered(-1, 0, 0, false), Some(None));
        for call in [libc::SYS_futex, libc::SYS_ppoll, libc::SYS_flock, libc::SYS_wait4] {
            assert_eq!(unanswered(call, number, address, true), None, "{call}");
        }
        let (pipe, _end) = std::os::unix::net::UnixStream::pair().unwrap();
        let pipe = std::os::fd::AsRawFd::as_raw_fd(&pipe) as u64;
        assert_eq!(unanswered(libc::SYS_read, pipe, 0, true), None, "a socket may wait");
    }
}
