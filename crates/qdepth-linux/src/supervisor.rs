//! A process that can be left behind. The kernel does not end a process while a request of it waits
//! for a server that does not answer (FUSE, network file systems), not even by SIGKILL. The program
//! therefore forks before it does anything else. The child does the work; the process that the user
//! started waits for the child, or reports that it hangs and exits.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use qdepth_measure::Nanos;

/// State of the child; set only in the child.
static CHILD: OnceLock<Child> = OnceLock::new();

#[derive(Clone, Copy, Debug)]
struct Child {
    /// Exit status plus one; 0 while the child works.
    status: &'static AtomicU32,
    /// Prints a line.
    say: fn(&str),
}

/// Number of checks of a finished child before it is left behind.
const END_WITHIN: u32 = 10;
/// Unit of time limits.
const TICK: Duration = Duration::from_millis(100);
/// Time between two checks of a probe, and number of checks until it counts as waiting.
const PROBE: Duration = Duration::from_micros(500);
const PROBES: u32 = 1000;
/// Time to print the last line.
const PRINT_WITHIN: Duration = Duration::from_secs(1);
/// Interval for checking the child if no signal arrives.
const EVERY: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Runs `work` in a child process that can be left behind, or in this process if it cannot fork;
/// returns the exit status. Call it before any thread is started.
pub fn supervised(say: fn(&str), work: impl FnOnce() -> u8) -> u8 {
    let Some(status) = shared_word() else { return work() };
    let (signals, parent) = (signals(), rustix::process::getpid());
    let mut before = empty_set();
    // SAFETY: both sets are locals, and no other thread exists. If SIGCHLD is ignored, as some
    // programs leave it, the kernel discards the exit status of a child.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, &raw mut before);
    }
    // SAFETY: this process has one thread, so the child is a complete copy.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: prctl takes numbers; the mask is the one saved above.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
            }
            // The parent is gone, and the death signal will not come.
            if rustix::process::getppid() != Some(parent) {
                return 128 + libc::SIGKILL as u8;
            }
            let _ = CHILD.set(Child { status, say });
            let ended = work();
            let _ = std::io::stdout().flush();
            leave(status, ended);
            ended
        }
        -1 => {
            // SAFETY: as above.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut()) };
            work()
        }
        child => wait(child, status, &signals),
    }
}

/// A time limit for this process, which ends when this value is dropped.
#[derive(Debug)]
pub struct Limit {
    _end: Sender<()>,
}

/// True in a child process that can be left behind.
pub fn can_be_left() -> bool {
    CHILD.get().is_some()
}

/// Starts a time limit. If it is not dropped in time, the child prints the line from `or_say`, and
/// is left behind with this exit status. `None` in a process that cannot be left behind.
pub fn limit(time: Nanos, status: u8, or_say: impl FnOnce() -> String) -> Option<Limit> {
    CHILD.get()?;
    let (end, ended) = channel();
    let line = or_say();
    let late = move || {
        // Counts short waits, so that time in which this process is stopped does not count.
        for _ in 0..time.0.div_ceil(TICK.as_nanos() as u64) {
            if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
        give_up(&line, status);
    };
    std::thread::Builder::new().spawn(late).ok()?;
    Some(Limit { _end: end })
}

/// Prints a line and ends this child, or leaves it behind. Its standard output may not answer
/// either, so the line is not waited for.
pub(crate) fn give_up(line: &str, status: u8) {
    let Some(Child { status: left, say }) = CHILD.get().copied() else { return };
    let (line, (printed, is_printed)) = (line.to_owned(), channel());
    let print = move || {
        say(&line);
        let _ = std::io::stdout().flush();
        printed.send(())
    };
    if std::thread::Builder::new().spawn(print).is_ok() {
        let _ = is_printed.recv_timeout(PRINT_WITHIN);
    }
    // Closing the outputs may wait, too. The parent exits a second after the status.
    left.store(u32::from(status) + 1, Ordering::SeqCst);
    leave(left, status);
    // SAFETY: ends all threads that the kernel can end.
    unsafe { libc::_exit(status.into()) };
}

/// Closes standard input and output, which others such as a pipe's reader wait for, and reports
/// that the work is done.
#[expect(clippy::disallowed_methods, reason = "a device of the kernel that holds nothing")]
fn leave(left: &AtomicU32, status: u8) {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(nothing.as_fd());
        let _ = rustix::stdio::dup2_stdout(nothing.as_fd());
        let _ = rustix::stdio::dup2_stderr(nothing.as_fd());
    }
    left.store(u32::from(status) + 1, Ordering::SeqCst);
}

/// Main function of the parent: forwards signals to the child, and exits like the child, or without
/// it. The second request to stop ends the program at once, even if the child cannot end.
fn wait(child: i32, status: &AtomicU32, signals: &libc::sigset_t) -> u8 {
    let (mut tries, every) = (0, EVERY);
    let mut requests = Vec::new();
    loop {
        let mut ended = 0;
        // SAFETY: the status is a local, and the child belongs to this process.
        if unsafe { libc::waitpid(child, &raw mut ended, libc::WNOHANG) } == child {
            if libc::WIFSIGNALED(ended) {
                die_by(libc::WTERMSIG(ended));
            }
            return libc::WEXITSTATUS(ended) as u8;
        }
        let second = requests.get(1).map(|signal| 128 + *signal as u32);
        if let Some(left) = status.load(Ordering::SeqCst).checked_sub(1).or(second) {
            tries += 1;
            if tries > END_WITHIN {
                return left as u8;
            }
        }
        // SAFETY: a siginfo_t may be all zeros.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: set and time are live, and the information is written to a local.
        let signal = unsafe { libc::sigtimedwait(signals, &raw mut info, &raw const every) };
        if matches!(signal, libc::SIGINT | libc::SIGTERM) {
            requests.push(signal);
        }
        // The child has received signals of the terminal itself.
        if signal > 0 && signal != libc::SIGCHLD && info.si_code <= 0 {
            // SAFETY: the child has not been waited for, so its process ID is still its own.
            unsafe { libc::kill(child, signal) };
        }
    }
}

/// True if changes of the file system with this directory wait (`fsfreeze`). Asks by removing a
/// directory that does not exist, in a process that can be left behind.
pub fn is_frozen(folder: &Path) -> bool {
    let name = folder.join(format!(".qdepth-{}", std::process::id()));
    let Ok(name) = CString::new(name.into_os_string().into_vec()) else { return false };
    // SAFETY: the child only makes system calls. It holds no file that others wait for.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the name is a live string that ends with a zero byte.
        unsafe {
            libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0);
            libc::unlinkat(libc::AT_FDCWD, name.as_ptr(), libc::AT_REMOVEDIR);
            libc::_exit(0);
        }
    }
    let is_left = |_| {
        std::thread::park_timeout(PROBE);
        // SAFETY: a null status is not written. A failure means that the kernel has forgotten it.
        unsafe { libc::waitpid(child, null_mut(), libc::WNOHANG) == 0 }
    };
    child > 0 && (0..PROBES).all(is_left)
}

/// True if this process ignores a signal, for example SIGHUP under `nohup`.
pub fn ignores(signal: i32) -> bool {
    // SAFETY: a sigaction may be all zeros.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call only reads the present action, into a local.
    let known = unsafe { libc::sigaction(signal, null(), &raw mut now) } == 0;
    known && now.sa_sigaction == libc::SIG_IGN
}

/// Ends this process by the signal that ended the child.
fn die_by(signal: i32) {
    let mut set = empty_set();
    // SAFETY: the set is a local; the signal ends this process, or the process exits with its
    // status.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::sigaddset(&raw mut set, signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, null_mut());
    }
}

fn signals() -> libc::sigset_t {
    let mut set = empty_set();
    let handed = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1];
    for signal in handed.into_iter().chain([libc::SIGUSR2, libc::SIGCHLD]) {
        // SAFETY: the set is a local.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

fn empty_set() -> libc::sigset_t {
    // SAFETY: a set may be all zeros, and the call empties it in any case.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        set
    }
}

/// A word in memory shared by parent and child.
fn shared_word() -> Option<&'static AtomicU32> {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of one page, which is never unmapped; an atomic may be zero.
    unsafe {
        let page = libc::mmap(null_mut(), 4096, protection, flags, -1, 0);
        (page != libc::MAP_FAILED).then(|| &*page.cast::<AtomicU32>())
    }
}
