//! Guard G2: other processes that can write to bytes of the target. The kernel's exclusive claim
//! does not cover descriptors opened without one, and files have no such claim. Only root can
//! examine processes of other users; without root they are unknown.

#![expect(clippy::disallowed_methods, reason = "files of procfs, each by its one name")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use qdepth_linux::OpenElsewhere;
use rustix::fs::{AtFlags, CWD, FileType, OFlags, StatxFlags, statx};

use super::exclusive::{TRIES, again};
use super::in_use;
use crate::mounts::{self, Mount};
use crate::refusal::{Guard, Refusal};
use crate::stack::Stack;
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;
use crate::target::{self, Inspected};

/// Refuses a target that another process can write to.
pub(super) fn no_writers(system: &System, stack: &Stack, name: &Path) -> Result<(), Refusal> {
    after_brief_use(|| no_writers_but(system, stack, name, |_| false))
}

/// Repeats a check over a short time. A program that searches for a free loop device briefly opens
/// others. Descriptors in transit over a socket stay there until the receiver has CPU time, which
/// takes seconds on a busy machine.
fn after_brief_use(check: impl Fn() -> Result<(), Writer>) -> Result<(), Refusal> {
    let short = || again(5, |_| true, &check);
    again(IN_SOCKET_TRIES, |writer| writer.access == Access::InSocket, short)
        .map_err(Writer::refusal)
}

/// Number of attempts, half a second apart, while descriptors wait in a socket.
const IN_SOCKET_TRIES: u32 = 10;

/// Way in which a process can write to the target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Open,
    /// In a socket: which descriptors are in transit is unknown.
    InSocket,
    Registered,
    /// Ring without a descriptor, or that does not list its files.
    HiddenRing,
    Mapped,
}

impl Access {
    fn text(self) -> &'static str {
        match self {
            Self::Open => "open for writing",
            Self::InSocket => "possibly among the descriptors in transit in a socket",
            Self::Registered => "registered with an io_uring",
            Self::HiddenRing => "possibly registered with an io_uring that does not show its files",
            Self::Mapped => "mapped for writing",
        }
    }
}

/// A process that can write to the target.
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
            format!("Wait until it ends, or stop it (`kill {process}`)"),
        )
    }
}

/// Looks once for a process that can write, except processes that the lock already excludes.
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
    let stack = &stack.without_served();
    let mut writers =
        Writers { system, stack, known: BTreeMap::new(), namespace: None, mounts: Vec::new() };
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

/// Refuses an existing file that anything else has open, according to the kernel (lease). A reader
/// counts: the kernel reads the image of a mounted file system, which no process shows.
pub(super) fn no_users_by_lease(
    system: &System,
    target: &Inspected,
    stack: &Stack,
) -> Result<(), Refusal> {
    let name = target.expression.display();
    let somewhere = |found| {
        let (found, remedy) = match found {
            OpenElsewhere::Writing => (
                format!("{name} is open for writing in another process"),
                "Find the process (`fuser -v`) and stop it. Results of this run cannot go to a \
                 file that is a target",
            ),
            _ => (
                format!("{name} is open in another process, or the kernel reads it"),
                "Find the process (`fuser -v`) and stop it. If there is none, unmount the image \
                 or remove the read-only loop device (`losetup -a`) that uses the file",
            ),
        };
        Refusal::new(Guard::G2Exclusive, found, remedy)
    };
    // Requests of a killed run, and a program at its start, hold files for a moment. A writer that
    // is found in a process is reported at once.
    let is_left = |reading: &OwnedFd| match qdepth_linux::open_elsewhere(reading) {
        None | Some(OpenElsewhere::No) => Ok(()),
        Some(found) => Err((found, no_writers(system, stack, &target.expression).err())),
    };
    let is_unnamed = |(_, named): &(_, Option<Refusal>)| named.is_none();
    let check = |reading: OwnedFd| {
        again(TRIES, is_unnamed, || is_left(&reading))
            .map_err(|(found, named)| named.unwrap_or_else(|| somewhere(found)))
    };
    // First, because a server has the file behind the target open while the target is open.
    for path in mounts::behind_servers(&mounts::own(system), &target.path) {
        target::open_regular(&path, OFlags::RDONLY).map_or(Ok(()), check)?;
    }
    // Without read permission, the claim itself will be refused later.
    target.open(OFlags::RDONLY).map_or(Ok(()), check)
}

/// Entries of a directory that are numbers: processes, threads.
fn numbered(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let names = entries(folder).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Search for processes that could write to a stack.
struct Writers<'a> {
    system: &'a System,
    stack: &'a Stack,
    /// Devices examined so far: true if they share bytes with the stack.
    known: BTreeMap<DeviceNumber, bool>,
    /// Mount namespace of the current process.
    namespace: Option<PathBuf>,
    /// Mounts in it, if there is an overlay among them.
    mounts: Vec<Mount>,
}

impl Writers<'_> {
    /// Way in which a process can write to the stack; `None` if it cannot.
    fn access(&mut self, process: &str) -> Option<Access> {
        self.find_mounts(process);
        let process = Path::new("/proc").join(process);
        // Threads may have their own descriptors, and the first thread may have ended.
        let tasks = process.join("task");
        let threads = numbered(&tasks).map(|thread| tasks.join(thread)).collect();
        let tables = own_tables(&process, threads);
        for table in &tables {
            if let Some(access) = self.by_descriptor(table) {
                return Some(access);
            }
        }
        // The mappings of a first thread that has ended are empty, those of the others are not.
        let mapped = numbered(&tasks).map(|thread| Path::new("/proc").join(thread));
        let read = |at: PathBuf| Some((std::fs::read_to_string(at.join("maps")).ok()?, at));
        let (maps, at) =
            mapped.filter_map(read).find(|(maps, _)| !maps.is_empty()).unwrap_or_default();
        if self.by_mapping(&at, &maps) {
            return Some(Access::Mapped);
        }
        let hides = self.has_device() && hides_ring(&tables, &maps);
        hides.then_some(Access::HiddenRing)
    }

    /// Reads the mounts of a process's namespace, unless it is that of the process before.
    fn find_mounts(&mut self, process: &str) {
        let namespace = self.system.read_link(format!("/proc/{process}/ns/mnt")).ok();
        if namespace.is_some() && namespace == self.namespace {
            return;
        }
        self.namespace = namespace;
        self.mounts = mounts::of_process(self.system, process);
        // Only files on overlays have other identities.
        if self.mounts.iter().all(|mount| mount.kind != "overlay") {
            self.mounts.clear();
        }
    }

    fn by_descriptor(&mut self, table: &Path) -> Option<Access> {
        for file in entries(&table.join("fd")) {
            let Some(number) = file.file_name() else { continue };
            let info = table.join("fdinfo").join(number);
            let read = || std::fs::read_to_string(&info).unwrap_or_default();
            let mut text = read();
            // A ring that is at work lists nothing.
            for _ in 0..LISTING_TRIES {
                if lists_files(&text) || !is_ring(&file) {
                    break;
                }
                text = read();
            }
            if is_open_for_writing(&text) && self.is_it(&file) {
                return Some(Access::Open);
            }
            // For files the lease covers this; for devices nothing shows which are in transit.
            if carries_descriptors(&text) && self.has_device() {
                return Some(Access::InSocket);
            }
            if let Some(access) = self.by_ring(table, &file, &text) {
                return Some(access);
            }
        }
        None
    }

    /// Files registered with a ring stay open after their descriptors are closed.
    fn by_ring(&mut self, table: &Path, file: &Path, fdinfo: &str) -> Option<Access> {
        let root = table.join("root");
        let seen = |path: &String| [PathBuf::from(path), below_root(&root, path)];
        let paths: Vec<String> = registered(fdinfo).collect();
        if paths.iter().flat_map(seen).any(|path| self.is_it(&path)) {
            return Some(Access::Registered);
        }
        // A removed name leads nowhere, so the file may be the node of a device.
        let exists = |path: &String| seen(path).iter().any(|path| path.symlink_metadata().is_ok());
        let is_node = |path: &String| path.starts_with('/') && !path.starts_with("/memfd:");
        let is_known = || paths.iter().all(|path| !is_node(path) || exists(path));
        let is_hidden = self.has_device() && is_ring(file) && !(lists_files(fdinfo) && is_known());
        is_hidden.then_some(Access::HiddenRing)
    }

    fn has_device(&self) -> bool {
        self.stack.devices().next().is_some()
    }

    /// True for a shared mapping, which can write as long as it exists, even after its descriptor
    /// is closed.
    fn by_mapping(&mut self, process: &Path, maps: &str) -> bool {
        let shared = maps.lines().filter_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let is_shared = rest.split(' ').next()?.ends_with('s');
            is_shared.then_some(range)
        });
        shared.into_iter().any(|range| self.is_it(&process.join("map_files").join(range)))
    }

    /// True if a path leads to bytes of the stack.
    fn is_it(&mut self, path: &Path) -> bool {
        // Must not ask a server that may not answer.
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
                let name = std::fs::read_link(path).unwrap_or_else(|_| path.to_owned());
                Stack::of_file(self.system, &self.mounts, &name, device, found.stx_ino)
                    .meets(self.stack)
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

/// Name of the kernel for a ring.
const RING: &str = "anon_inode:[io_uring]";

fn is_ring(descriptor: &Path) -> bool {
    std::fs::read_link(descriptor).is_ok_and(|to| to == Path::new(RING))
}

/// Path in the file tree of a process.
fn below_root(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// True if a process has mapped a ring that none of its descriptors leads to. A ring lives as long
/// as its mapping, and only its descriptor lists the files that are registered with it.
fn hides_ring(tables: &[PathBuf], maps: &str) -> bool {
    let ring = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(4);
        let (inode, name) = (fields.next()?.parse().ok()?, fields.next()?);
        (name == RING).then_some(inode)
    };
    let mapped: BTreeSet<u64> = maps.lines().filter_map(ring).collect();
    let inode = |file: PathBuf| Some(std::fs::metadata(file).ok()?.ino());
    let open =
        |table: &PathBuf| entries(&table.join("fd")).filter(|file| is_ring(file)).filter_map(inode);
    !mapped.is_empty() && !mapped.is_subset(&tables.iter().flat_map(open).collect())
}

/// Threads of a process with distinct descriptor tables.
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

/// True if a descriptor can write. The flags in `fdinfo` are octal; their last two bits give the
/// access mode (open(2)).
fn is_open_for_writing(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // A descriptor for the path only (O_PATH) cannot write.
    flags.is_some_and(|flags| flags & 0o3 != 0 && flags & 0o10_000_000 == 0)
}

/// True if sent descriptors wait in a socket (unix(7), `SCM_RIGHTS`).
fn carries_descriptors(fdinfo: &str) -> bool {
    let count = fdinfo.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    count.is_some_and(|count| count.trim() != "0")
}

/// Number of attempts to read the list of a ring's files.
const LISTING_TRIES: usize = 50;

fn lists_files(fdinfo: &str) -> bool {
    fdinfo.lines().any(|line| line.starts_with("UserFiles:"))
}

/// Files that an io_uring has registered, as listed in its `fdinfo`: `    0: /a/path`.
fn registered(fdinfo: &str) -> impl Iterator<Item = String> {
    let files = fdinfo.lines().skip_while(|line| !line.starts_with("UserFiles:")).skip(1);
    files
        .map_while(|line| line.trim_start().split_once(": "))
        .map(|(_, path)| mounts::unescape(path))
}

/// True if a process runs the same program as this one.
fn runs_this_program(process: &str) -> bool {
    let program = |process: &str| {
        let path = Path::new("/proc").join(process).join("exe");
        let found = rustix::fs::stat(&path).ok()?;
        Some((found.st_dev, found.st_ino))
    };
    program("self").is_some_and(|own| program(process) == Some(own))
}

/// Guards G2 and G4 to G6 for an open file: it is not mounted, not swap space and not behind a loop
/// device, and no other program can write to it. Ranks of a run use the same files at the same
/// time, and separate runs of qdepth are excluded by the lock.
pub(crate) fn nobody_uses_file(system: &System, file: &File, path: &Path) -> Result<(), Refusal> {
    let Some(stack) = stack_of(system, file, path) else { return Ok(()) };
    in_use::by_kernel(system, &stack)?;
    after_brief_use(|| no_writers_but(system, &stack, path, runs_this_program))
}

fn stack_of(system: &System, file: &File, path: &Path) -> Option<Stack> {
    let found = file.metadata().ok()?;
    let device = DeviceNumber::from_raw(found.dev());
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let seen = std::fs::read_link(link).unwrap_or_else(|_| path.to_owned());
    let stack = Stack::of_file(system, &mounts::own(system), &seen, device, found.ino());
    Some(stack.named(&path.display().to_string()))
}

/// Guard G2 for an open file.
pub(crate) fn no_writers_of_file(system: &System, file: &File, path: &Path) -> Result<(), Refusal> {
    let Some(stack) = stack_of(system, file, path) else { return Ok(()) };
    no_writers(system, &stack, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_names_are_unescaped() {
        let ring = "SqMask:\t0x7\nUserFiles:\t2\n    0: /dev/a\\040b\nUserBufs:\t0\n";
        assert_eq!(registered(ring).collect::<Vec<_>>(), ["/dev/a b"]);
        assert!(lists_files(ring) && !lists_files("pos:\t0\n"));
    }
}
