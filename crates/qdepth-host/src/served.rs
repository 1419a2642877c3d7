//! File systems served by a program or another host, or frozen: a request to one may wait forever,
//! and the kernel cannot cancel it.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::mounts::{self, Mount};
use crate::stack::backing_path;
use crate::sysfs;
use crate::system::System;

/// Types of served file systems; FUSE types are `fuse.something` or `fuseblk`.
const SERVED: [&str; 17] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "pvfs2",
    "smb3",
    "vboxsf",
    "virtiofs",
];
/// Types of local file systems that can be frozen (`fsfreeze`): then every change waits.
const FREEZABLE: [&str; 7] = ["btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "xfs"];
/// Mounts by number: true if they were frozen when a path on them was first looked at.
static FROZEN: Mutex<BTreeMap<u64, bool>> = Mutex::new(BTreeMap::new());
/// Longest file that can be a plan or a job file, in bytes.
const LENGTH_MAX: u64 = 256 << 10;
/// Maximum number of links on a path, like in the kernel.
const LINKS_MAX: usize = 40;
/// Largest number of file systems on each other's files that is followed.
const DEEPEST: usize = 16;

/// Checks what a command may use: the current directory, the standard streams, the paths on its
/// command line, and the paths in its plan and job files. True if one of them may be on a served
/// file system, or is on a frozen one. Asks no server, because it may not answer.
pub fn may_be_used(system: &System, words: &[OsString]) -> bool {
    let mounts = mounts::own(system);
    let here = std::env::current_dir().unwrap_or_default();
    let lies_there = |path: &Path| leads_to_server(system, &mounts, &here.join(path));
    let spelled = |text: &OsStr| paths(text).any(|path| lies_there(&path));
    let in_file = |word: &OsString| {
        let path = here.join(word);
        let length = std::fs::metadata(&path).ok().filter(|found| found.is_file())?.len();
        let text = (length <= LENGTH_MAX).then(|| system.read_file(&path).ok()).flatten()?;
        Some(text.lines().any(|line| spelled(OsStr::new(line))))
    };
    let mut streams = (0..3).filter_map(|n| system.read_link(format!("/proc/self/fd/{n}")).ok());
    // The targets of an interrupted run are in its logbook.
    let has_servers = || mounts.iter().any(|mount| is_served_kind(&mount.kind));
    words.iter().any(|word| word == "--resume") && has_servers()
        || lies_there(&here)
        || streams.any(|path| lies_there(&path))
        || words.iter().any(|word| spelled(word))
        || words.iter().any(|word| in_file(word) == Some(true))
}

/// Follows the links of an absolute path, without asking a server. A loop device counts if its file
/// is on a server.
fn leads_to_server(system: &System, mounts: &[Mount], path: &Path) -> bool {
    let served = |at: &Path| {
        mounts::holding(mounts, at).is_some_and(|mount| is_served(system, mounts, mount, DEEPEST))
    };
    let parts = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect();
    let (mut at, mut links): (PathBuf, usize) = (PathBuf::from("/"), 0);
    let mut ahead: VecDeque<OsString> = parts(path);
    while let Some(part) = ahead.pop_front() {
        match part.as_bytes() {
            b"/" => at = PathBuf::from("/"),
            b"." => {}
            b".." => _ = at.pop(),
            _ => {
                let next = at.join(&part);
                if served(&next) {
                    return true;
                }
                match system.read_link(&next) {
                    Ok(target) if links < LINKS_MAX => {
                        links += 1;
                        let mut target: VecDeque<OsString> = parts(&target);
                        target.append(&mut ahead);
                        ahead = target;
                    }
                    _ => at = next,
                }
            }
        }
    }
    let backing = || backing_path(system, &sysfs::kernel_name(system, system.block_node(&at)?)?);
    backing().is_some_and(|file| served(Path::new(&file)))
}

/// True if a server, a program or another host, may have to answer for this path. Asks none.
pub fn may_wait_for_server(path: &Path) -> bool {
    let system = System::real();
    let here = std::env::current_dir().unwrap_or_default();
    leads_to_server(&system, &mounts::own(&system), &here.join(path))
}

/// True if a server is behind a mount: directly, below its loop device, or below a layer.
fn is_served(system: &System, mounts: &[Mount], mount: &Mount, deepest: usize) -> bool {
    let Some(deepest) = deepest.checked_sub(1) else { return false };
    let lies_on_served = |path: &Path| {
        let below = mounts::holding(mounts, path).filter(|below| below.id != mount.id);
        below.is_some_and(|below| is_served(system, mounts, below, deepest))
    };
    let backing = || backing_path(system, &sysfs::kernel_name(system, mount.number)?);
    is_served_kind(&mount.kind)
        || is_frozen(system, mount)
        || mount.layers.iter().any(|layer| lies_on_served(layer))
        || backing().is_some_and(|file| lies_on_served(Path::new(&file)))
}

fn is_frozen(system: &System, mount: &Mount) -> bool {
    if !system.is_real() || !FREEZABLE.contains(&mount.kind.as_str()) {
        return false;
    }
    let mut known = FROZEN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(mount.id).or_insert_with(|| qdepth_linux::is_frozen(&mount.mount_point))
}

/// True if a program or another host serves file systems of this type.
pub fn is_served_kind(kind: &str) -> bool {
    kind.starts_with("fuse") || SERVED.contains(&kind)
}

/// Candidate paths in a word such as `--filename=/a:/b` or a line such as `target = "/a"`.
fn paths(text: &OsStr) -> impl Iterator<Item = PathBuf> {
    let parts = text.as_bytes().split(|byte| b"=:,;\"' \t[]".contains(byte));
    let whole = std::iter::once(text.as_bytes());
    let named = whole.chain(parts).filter(|part| !part.is_empty());
    named.map(|part| PathBuf::from(OsStr::from_bytes(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    #[test]
    fn server_is_found_below_every_layer() {
        let mounts = "20 1 0:30 / /srv rw - fuse.x none rw\n21 1 7:0 / /img rw - ext4 none rw\n\
                      22 1 0:31 / /over rw - overlay none rw,upperdir=/img/u,workdir=/img/w\n\
                      23 1 8:0 / /disk rw - ext4 none rw\n";
        let machine = FakeMachine::new()
            .disk("loop0", "7:0")
            .attribute("loop0", "loop/backing_file", "/srv/image\n")
            .with_file("proc/self/mountinfo", mounts);
        let is_used = |word: &str| may_be_used(&machine.system, &[OsString::from(word)]);
        for word in ["/srv/a", "--output=/img/x", "/disk/a:/over/b", "/disk/../srv", "--resume"] {
            assert!(is_used(word), "{word}");
        }
        assert!(!is_used("/disk/a") && !is_used("--output=/srvx"));
    }
}
