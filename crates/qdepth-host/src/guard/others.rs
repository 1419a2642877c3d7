//! G2: which other processes can write to bytes of a target. The kernel's exclusive claim does not
//! see who opened a device without one, and a file has none. Of processes of other users only root
//! is told; of the rest nothing is known.

#![expect(clippy::disallowed_methods, reason = "files of procfs, each by its one name")]

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, OFlags, StatxFlags, statx};

use super::exclusive::{TRIES, again};
use super::in_use;
use super::stack::Stack;
use crate::refusal::{Guard, Refusal};
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;
use crate::target::Inspected;

/// Refuses what another process can write to.
pub(super) fn no_writers(system: &System, stack: &Stack, name: &Path) -> Result<(), Refusal> {
    after_brief_use(|| no_writers_but(system, stack, name, |_| false))
}

/// A program that searches for a free loop device opens others for a moment. Descriptors in a
/// socket stay there until the receiver has CPU time, which on a busy machine takes seconds.
fn after_brief_use(check: impl Fn() -> Result<(), Writer>) -> Result<(), Refusal> {
    let short = || again(5, |_| true, &check);
    again(IN_SOCKET_TRIES, |writer| writer.access == Access::InSocket, short)
        .map_err(Writer::refusal)
}

/// Number of attempts, half a second apart, while descriptors wait in a socket.
const IN_SOCKET_TRIES: u32 = 10;

/// Way in which a process can write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Open,
    /// Nothing says which descriptors wait in a socket.
    InSocket,
    Registered,
    Mapped,
}

impl Access {
    fn text(self) -> &'static str {
        match self {
            Self::Open => "open for writing",
            Self::InSocket => "perhaps among the descriptors that wait in a socket",
            Self::Registered => "registered with an io_uring",
            Self::Mapped => "mapped for writing",
        }
    }
}

/// Process that can write to a target.
struct Writer {
    target: PathBuf,
    access: Access,
    process: String,
    program: String,
}

impl Writer {
    fn refusal(self) -> Refusal {
        let Self { target, access, process, program } = self;
        let (target, access) = (target.display(), access.text());
        Refusal::new(
            Guard::G2Exclusive,
            format!("{target} is {access} in process {process} ({program})"),
            format!("Wait for its end, or end it (`kill {process}`)"),
        )
    }
}

/// Finds at once a process that can write, unless the lock keeps that process apart.
fn no_writers_but(
    system: &System,
    stack: &Stack,
    name: &Path,
    is_kept_apart: impl Fn(&str) -> bool,
) -> Result<(), Writer> {
    if !system.is_real() {
        return Ok(());
    }
    let own = std::process::id().to_string();
    let mut writers = Writers { system, stack, known: BTreeMap::new() };
    for process in numbered(Path::new("/proc")).filter(|process| *process != own) {
        let Some(access) = writers.access(&process) else { continue };
        if is_kept_apart(&process) {
            continue;
        }
        let program = system.read_trimmed(format!("/proc/{process}/comm"));
        let program = program.unwrap_or_else(|| "?".to_owned());
        return Err(Writer { target: name.to_owned(), access, process, program });
    }
    Ok(())
}

/// Refuses an existing file that anything has open for writing, as the kernel counts it.
pub(super) fn no_writers_by_lease(
    system: &System,
    target: &Inspected,
    stack: &Stack,
) -> Result<(), Refusal> {
    // Whoever may not read it learns so when it is claimed.
    let Ok(reading) = target.open(OFlags::RDONLY | OFlags::NONBLOCK) else { return Ok(()) };
    let somewhere = || {
        Refusal::new(
            Guard::G2Exclusive,
            format!("{} is open for writing somewhere", target.expression.display()),
            "Find out where (`fuser -v` on it), and end that; this run keeps its own results in \
             files that are no targets",
        )
    };
    // A killed run's requests, and a program that is just being started, hold files for a moment.
    // Who is found in a process stays.
    let is_left = || match qdepth_linux::has_writer(&reading) {
        Some(true) => Err(no_writers(system, stack, &target.expression).err()),
        _ => Ok(()),
    };
    again(TRIES, Option::is_none, is_left).map_err(|named| named.unwrap_or_else(somewhere))
}

/// Entries of a folder that are numbers: processes, threads.
fn numbered(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let names = entries(folder).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Looks for whatever could write to a stack.
struct Writers<'a> {
    system: &'a System,
    stack: &'a Stack,
    /// True if bytes of a device are bytes of the stack.
    known: BTreeMap<DeviceNumber, bool>,
}

impl Writers<'_> {
    /// Way in which a process can write to the stack; `None` if it cannot.
    fn access(&mut self, process: &str) -> Option<Access> {
        let process = Path::new("/proc").join(process);
        // Threads may have descriptors of their own, and the first thread may have ended.
        let tasks = process.join("task");
        let threads = numbered(&tasks).map(|thread| tasks.join(thread)).collect();
        for table in own_tables(&process, threads) {
            if let Some(access) = self.by_descriptor(&table) {
                return Some(access);
            }
        }
        self.by_mapping(&process).then_some(Access::Mapped)
    }

    fn by_descriptor(&mut self, table: &Path) -> Option<Access> {
        for file in entries(&table.join("fd")) {
            let Some(number) = file.file_name() else { continue };
            let info = table.join("fdinfo").join(number);
            let text = std::fs::read_to_string(&info).unwrap_or_default();
            if is_open_for_writing(&text) && self.is_it(&file) {
                return Some(Access::Open);
            }
            // A lease tells of files; nothing tells which devices are on their way.
            if carries_descriptors(&text) && self.stack.devices().next().is_some() {
                return Some(Access::InSocket);
            }
            // Files that are registered with a ring stay open after their descriptors are closed.
            if registered(&text).any(|path| self.is_it(Path::new(path))) {
                return Some(Access::Registered);
            }
        }
        None
    }

    /// A shared mapping writes as long as it is, whatever became of its descriptor.
    fn by_mapping(&mut self, process: &Path) -> bool {
        let maps = std::fs::read_to_string(process.join("maps")).unwrap_or_default();
        let shared = maps.lines().filter_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let is_shared = rest.split(' ').next()?.ends_with('s');
            is_shared.then_some(range)
        });
        shared.into_iter().any(|range| self.is_it(&process.join("map_files").join(range)))
    }

    /// True if a path leads to bytes of the stack.
    fn is_it(&mut self, path: &Path) -> bool {
        // Never asks a server that may not answer.
        let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
        let Ok(found) = statx(CWD, path, flags, StatxFlags::TYPE | StatxFlags::INO) else {
            return false;
        };
        match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::BlockDevice => {
                let (major, minor) = (found.stx_rdev_major, found.stx_rdev_minor);
                self.is_device(DeviceNumber { major, minor })
            }
            FileType::RegularFile => {
                let (major, minor) = (found.stx_dev_major, found.stx_dev_minor);
                let device = DeviceNumber { major, minor };
                Stack::of_file(String::new(), device, found.stx_ino).meets(self.stack)
            }
            _ => false,
        }
    }

    fn is_device(&mut self, number: DeviceNumber) -> bool {
        let (system, stack) = (self.system, self.stack);
        *self.known.entry(number).or_insert_with(|| {
            sysfs::kernel_name(system, number)
                .is_some_and(|name| Stack::of_device(system, &name).meets(stack))
        })
    }
}

/// The threads of a process whose descriptors are not those of a thread before them.
fn own_tables(process: &Path, threads: Vec<PathBuf>) -> Vec<PathBuf> {
    let id = |path: &Path| path.file_name()?.to_str()?.parse::<i32>().ok();
    let shared = |a: &Path, b: &Path| {
        let ids = id(a).zip(id(b));
        ids.is_some_and(|(a, b)| qdepth_linux::share_descriptors(a, b) == Some(true))
    };
    let mut tables: Vec<PathBuf> = Vec::new();
    for thread in threads {
        if !tables.iter().any(|table| shared(table, &thread)) {
            tables.push(thread);
        }
    }
    if tables.is_empty() {
        tables.push(process.to_owned());
    }
    tables
}

/// True if a descriptor can write: the flags in `fdinfo` are octal, and their last two bits say how
/// it was opened (open(2)).
fn is_open_for_writing(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // Opened as a path only (O_PATH), it can do nothing.
    flags.is_some_and(|flags| flags & 0o3 != 0 && flags & 0o10_000_000 == 0)
}

/// True if descriptors that were sent wait in a socket (unix(7), `SCM_RIGHTS`).
fn carries_descriptors(fdinfo: &str) -> bool {
    let count = fdinfo.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    count.is_some_and(|count| count.trim() != "0")
}

/// The files that an io_uring has registered, as its `fdinfo` lists them: `    0: /a/path`.
fn registered(fdinfo: &str) -> impl Iterator<Item = &str> {
    let files = fdinfo.lines().skip_while(|line| !line.starts_with("UserFiles:")).skip(1);
    files.map_while(|line| line.trim_start().split_once(": ")).map(|(_, path)| path)
}

/// True if a process runs the program that this one runs.
fn runs_this_program(process: &str) -> bool {
    let program = |process: &str| {
        let path = Path::new("/proc").join(process).join("exe");
        let found = rustix::fs::stat(&path).ok()?;
        Some((found.st_dev, found.st_ino))
    };
    program("self").is_some_and(|own| program(process) == Some(own))
}

/// G2, G4 to G6 of a file that is open: neither mounted, swap space nor the back of a loop device,
/// and no other program writes to it. The ranks of a run look at the same files at the same time,
/// and runs of qdepth are kept apart by the lock.
pub(crate) fn nobody_uses_file(system: &System, file: &File, path: &Path) -> Result<(), Refusal> {
    let Some(stack) = stack_of(file, path) else { return Ok(()) };
    in_use::by_kernel(system, &stack)?;
    after_brief_use(|| no_writers_but(system, &stack, path, runs_this_program))
}

fn stack_of(file: &File, path: &Path) -> Option<Stack> {
    let found = file.metadata().ok()?;
    let device = DeviceNumber::from_raw(found.dev());
    Some(Stack::of_file(path.display().to_string(), device, found.ino()))
}

/// G2 of a file that is open.
pub(crate) fn no_writers_of_file(system: &System, file: &File, path: &Path) -> Result<(), Refusal> {
    let Some(stack) = stack_of(file, path) else { return Ok(()) };
    no_writers(system, &stack, path)
}
