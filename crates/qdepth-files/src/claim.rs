//! Uses of names in one process: a result must not overwrite a file that the same command reads,
//! keeps, or writes another result to.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, StatxFlags, fstat, statx};

use crate::sort::{Identity, identity};

/// Names in use, and files that were read. A process has one set, because different parts of a
/// command must not conflict.
#[derive(Debug)]
struct Names {
    /// Use of each name, and the number of times that it is reserved.
    used: BTreeMap<(Identity, OsString), (Use, usize)>,
    read: BTreeSet<PermanentIdentity>,
}

static NAMES: Mutex<Names> = Mutex::new(Names { used: BTreeMap::new(), read: BTreeSet::new() });

fn names() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Use of a name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A result, which replaces the current file of the name, if any. Excludes all other uses.
    Result(Option<Identity>),
    /// A kept file to which lines are appended. May be opened any number of times for this use.
    Lines,
    /// A kept file for any other use: written by a library, or read. May be opened any number of
    /// times for these.
    Kept,
}

/// Reservation of a name in a directory, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    key: (Identity, OsString),
}

impl Claim {
    /// Reserves a name; `None` if it has another use.
    pub(crate) fn new(folder: Identity, name: &OsStr, using: Use) -> Option<Self> {
        let key = (folder, name.to_owned());
        let mut names = names();
        let shares = |now: Use| now == using && !matches!(now, Use::Result(_));
        if names.used.get(&key).is_some_and(|(now, _)| !shares(*now)) {
            return None;
        }
        names.used.entry(key.clone()).or_insert((using, 0)).1 += 1;
        Some(Self { key })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut names = names();
        if let Some((_, count)) = names.used.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                names.used.remove(&self.key);
            }
        }
    }
}

/// Permanent identity of a file: inode numbers are reused, so it includes the birth time, if the
/// file system has one.
type PermanentIdentity = (Identity, Option<(i64, u32)>);

fn permanent_identity(file: &File) -> rustix::io::Result<PermanentIdentity> {
    let found = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME);
    let birth = found.ok().filter(|found| found.stx_mask & StatxFlags::BTIME.bits() != 0);
    let birth = birth.map(|found| (found.stx_btime.tv_sec, found.stx_btime.tv_nsec));
    Ok((identity(&fstat(file)?), birth))
}

/// Records that a file is read; false if a result is about to replace it.
pub(crate) fn may_be_read(file: &File) -> rustix::io::Result<bool> {
    let permanent_identity = permanent_identity(file)?;
    let mut names = names();
    let free = !names.used.values().any(|(now, _)| *now == Use::Result(Some(permanent_identity.0)));
    if free {
        names.read.insert(permanent_identity);
    }
    Ok(free)
}

/// True if this file was read.
pub(crate) fn is_read(file: &File) -> rustix::io::Result<bool> {
    let permanent_identity = permanent_identity(file)?;
    Ok(names().read.contains(&permanent_identity))
}
