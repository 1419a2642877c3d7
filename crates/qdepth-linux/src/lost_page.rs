//! Pages of mapped files that the kernel cannot provide: an error of the storage, a full disk, a
//! file cut short by another program. The signal SIGBUS would end the process.

use std::cell::Cell;
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

use rustix::param::page_size;

/// Code of a signal about memory that nobody has accessed (`BUS_MCEERR_AO` of sigaction(2)).
const NOT_ACCESSED: libc::c_int = 5;
/// Ending of the name of the index that SQLite maps.
const INDEX: &[u8] = b"-shm";
/// Room for the list of the process's mappings, bytes.
const MAPS_ROOM: usize = 4 << 20;
const PRIVATE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
const ACCESS: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

thread_local! {
    /// Mapping that this thread copies from or to: address and length.
    static COPIED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// True if a page of it could not be read or written.
    static FAULTED: Cell<bool> = const { Cell::new(false) };
    /// Pages of indexes that became private copies.
    static INDEX_PAGES: Cell<u32> = const { Cell::new(0) };
}

/// Runs `copy`, which accesses this mapping. True if a page could not be read or written: then
/// empty pages were put in its place.
pub(crate) fn is_lost_during(start: usize, length: usize, copy: impl FnOnce()) -> bool {
    COPIED.set((start, length));
    compiler_fence(Ordering::SeqCst);
    copy();
    compiler_fence(Ordering::SeqCst);
    COPIED.set((0, 0));
    FAULTED.replace(false)
}

/// Number of pages of SQLite's indexes that this thread could not write to their file, and that
/// became private copies: the process has an index that is right, but that others do not see.
pub fn private_index_pages() -> u32 {
    INDEX_PAGES.get()
}

/// Handler of SIGBUS before this module's.
static FORMER: OnceLock<libc::sigaction> = OnceLock::new();

/// Keeps the process alive when it writes a page of one of SQLite's indexes (a file ending in
/// `-shm`, mapped by every connection to a database with a write-ahead log) that its storage does
/// not take: see [`private_index_pages`].
pub fn outlive_lost_pages() {
    // The first call reads it from the kernel, which a handler should not do.
    let _ = page_size();
    FORMER.get_or_init(|| {
        // SAFETY: all-zero is a valid `sigaction`; the handler has the type that SA_SIGINFO needs
        // and makes only system calls.
        unsafe {
            let mut former: libc::sigaction = std::mem::zeroed();
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = replace_page as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, &raw mut former);
            former
        }
    });
}

/// Puts an empty page in the place of one of [`is_lost_during`], and a copy in the place of one of
/// an index. For any other address, gives the signal back to the former handler.
extern "C" fn replace_page(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid `siginfo_t`, whose address is that of a fault.
    let (at, code) = unsafe { ((*info).si_addr(), (*info).si_code) };
    if code == NOT_ACCESSED {
        return;
    }
    let (start, length) = COPIED.get();
    // A code above 0 is that of a fault; others are from a program, without an address.
    let is_copied = code > 0 && length > 0 && at.addr() >= start && at.addr() - start < length;
    let page = at.map_addr(|at| at - at % page_size());
    if is_copied {
        FAULTED.set(true);
        let flags = PRIVATE | libc::MAP_FIXED;
        // SAFETY: replaces a page within the mapping that this thread is copying from or to.
        if unsafe { libc::mmap(page, page_size(), ACCESS, flags, -1, 0) } == page {
            return;
        }
    } else if code > 0 && is_index(page.addr()) && make_private(page) {
        INDEX_PAGES.set(INDEX_PAGES.get().saturating_add(1));
        return;
    }
    if let Some(former) = FORMER.get() {
        // SAFETY: the former action is valid. It gets the signal when the access is repeated, or,
        // if a program sent it, as a new one.
        unsafe {
            libc::sigaction(signal, &raw const *former, null_mut());
            if code <= 0 {
                libc::raise(signal);
            }
        }
    }
}

/// Replaces a page by a private copy of it. False if it cannot be read either.
fn make_private(page: *mut libc::c_void) -> bool {
    let size = page_size();
    // SAFETY: a new mapping; the kernel reads the page, and reports an error if it cannot; then the
    // copy takes the place of a page of an index, which SQLite accesses at any time.
    unsafe {
        let copy = libc::mmap(null_mut(), size, ACCESS, PRIVATE, -1, 0);
        if copy == libc::MAP_FAILED {
            return false;
        }
        let to = libc::iovec { iov_base: copy, iov_len: size };
        let from = libc::iovec { iov_base: page, iov_len: size };
        let pid = libc::getpid();
        let read = libc::process_vm_readv(pid, &raw const to, 1, &raw const from, 1, 0);
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if read.cast_unsigned() == size && libc::mremap(copy, size, size, flags, page) == page {
            return true;
        }
        libc::munmap(copy, size);
        false
    }
}

/// True if a shared, writable mapping of an index contains this address.
fn is_index(address: usize) -> bool {
    const MAPS: &CStr = c"/proc/self/maps";
    // SAFETY: memory of its own, which is released at the end; nothing else is called than what a
    // handler may call (signal-safety(7)).
    unsafe {
        let room = libc::mmap(null_mut(), MAPS_ROOM, ACCESS, PRIVATE, -1, 0);
        if room == libc::MAP_FAILED {
            return false;
        }
        let file = libc::open(MAPS.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let mut length = 0;
        while length < MAPS_ROOM {
            let found = libc::read(file, room.byte_add(length), MAPS_ROOM - length);
            if found <= 0 {
                break;
            }
            length += found.cast_unsigned();
        }
        libc::close(file);
        let lines = std::slice::from_raw_parts(room.cast::<u8>(), length);
        let found = lines.split(|byte| *byte == b'\n').any(|line| is_index_line(line, address));
        libc::munmap(room, MAPS_ROOM);
        found
    }
}

/// True for a line `START-END rw-s … NAME-shm` (proc_pid_maps(5)) that contains the address.
fn is_index_line(line: &[u8], address: usize) -> bool {
    let line = line.strip_suffix(b" (deleted)").unwrap_or(line);
    let mut fields = line.splitn(3, |byte| matches!(byte, b'-' | b' '));
    let mut number = || {
        let text = std::str::from_utf8(fields.next()?).ok()?;
        usize::from_str_radix(text, 16).ok()
    };
    let (Some(start), Some(end)) = (number(), number()) else { return false };
    let rest = fields.next().unwrap_or_default();
    (start..end).contains(&address) && rest.starts_with(b"rw-s") && rest.ends_with(INDEX)
}

#[cfg(test)]
mod tests {
    use super::is_index_line;

    #[test]
    fn only_a_writable_index_is_replaced() {
        let line = |text: &str| is_index_line(text.as_bytes(), 0x7f00_0000_1000);
        let range = "7f0000000000-7f0000008000";
        assert!(line(&format!("{range} rw-s 00000000 08:01 12   /data/q.db-shm")));
        assert!(line(&format!("{range} rw-s 00000000 08:01 12   /data/q.db-shm (deleted)")));
        assert!(!line(&format!("{range} r-xp 00000000 08:01 12   /usr/bin/my-shm")));
        assert!(!line(&format!("{range} rw-s 00000000 08:01 12   /data/q.db")));
        assert!(!line("7f0000002000-7f0000008000 rw-s 00000000 08:01 12 /data/q.db-shm"));
        assert!(!line("") && !line("7f00 rw-s -shm"));
    }
}
