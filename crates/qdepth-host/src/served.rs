//! File systems served by a program or another host: a request to one may wait forever, and the
//! kernel cannot cancel it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::mounts::{self, Mount};
use crate::system::System;

/// Types of served file systems; FUSE types are `fuse.something` or `fuseblk`.
const SERVED: [&str; 14] = [
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
    "smb3",
];
/// Longest file that can be a plan or a job file, in bytes.
const LENGTH_MAX: u64 = 256 << 10;

/// Checks the current directory, the paths on a command line, and the paths in its plan and job
/// files: true if one of them is on a served file system.
pub fn is_named(system: &System, words: &[OsString]) -> bool {
    let mounts = mounts::own(system);
    if !mounts.iter().any(is_served) {
        return false;
    }
    let here = std::env::current_dir().unwrap_or_default();
    let lies_there = |path: &Path| {
        let path = here.join(path);
        let holding = mounts::holding(&mounts, &path);
        if holding.is_some_and(is_served) {
            return true;
        }
        // The path may lead there through a link. The kernel can end a process that waits for this
        // call.
        std::fs::canonicalize(&path)
            .is_ok_and(|path| mounts::holding(&mounts, &path).is_some_and(is_served))
    };
    let spelled = |text: &OsStr| paths(text).any(|path| lies_there(&path));
    let in_file = |word: &OsString| {
        let path = here.join(word);
        let length = std::fs::metadata(&path).ok().filter(|found| found.is_file())?.len();
        let text = (length <= LENGTH_MAX).then(|| system.read_file(&path).ok()).flatten()?;
        Some(text.lines().any(|line| spelled(OsStr::new(line))))
    };
    lies_there(&here)
        || words.iter().any(|word| spelled(word))
        || words.iter().any(|word| in_file(word) == Some(true))
}

fn is_served(mount: &Mount) -> bool {
    is_served_kind(&mount.kind)
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
