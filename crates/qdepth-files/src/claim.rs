//! Uses of names in one process: a result must not overwrite a file that the same command reads,
//! keeps, or writes another result to.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, StatxFlags, fstat, statx};

use crate::sort::{Identity, identity};

/// Results and kept files that are open under a name, and files that were read. They are many
/// where fields begin and end, so they are the process's and not a caller's.
#[derive(Debug)]
struct Names {
    /// With what has the name now.
    results: BTreeMap<(Identity, OsString), Option<Identity>>,
    /// For what, and how often it is open.
    kept: BTreeMap<(Identity, OsString), (Role, usize)>,
    read: BTreeSet<Born>,
}

static NAMES: Mutex<Names> =
    Mutex::new(Names { results: BTreeMap::new(), kept: BTreeMap::new(), read: BTreeSet::new() });

fn names() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Role of a kept file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Lines are added at its end.
    Lines,
    /// A library writes it, or it is read.
    Other,
}

/// Use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A result goes there, in the place of what has the name: nothing else may.
    Result(Option<Identity>),
    /// A file of ours is kept there for one thing, opened as often as is wanted.
    Kept(Role),
}

/// A name in a directory, while it is used.
#[derive(Debug)]
pub(crate) struct Claim {
    key: (Identity, OsString),
    using: Use,
}

impl Claim {
    /// None where the name is used for something else.
    pub(crate) fn new(folder: Identity, name: &OsStr, using: Use) -> Option<Self> {
        let key = (folder, name.to_owned());
        let mut names = names();
        let of_kept = names.kept.get(&key).map(|(role, _)| Use::Kept(*role));
        let free = !names.results.contains_key(&key) && of_kept.is_none_or(|kept| kept == using);
        free.then(|| {
            match using {
                Use::Result(now) => {
                    names.results.insert(key.clone(), now);
                }
                Use::Kept(role) => names.kept.entry(key.clone()).or_insert((role, 0)).1 += 1,
            }
            Self { key, using }
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut names = names();
        match self.using {
            Use::Result(_) => {
                names.results.remove(&self.key);
            }
            Use::Kept(_) => {
                if let Some((_, count)) = names.kept.get_mut(&self.key) {
                    *count -= 1;
                    if *count == 0 {
                        names.kept.remove(&self.key);
                    }
                }
            }
        }
    }
}

/// A file for good: numbers of inodes are given again, so its birth belongs to it, where the file
/// system knows it.
type Born = (Identity, Option<(i64, u32)>);

fn born(file: &File) -> rustix::io::Result<Born> {
    let found = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME);
    let birth = found.ok().filter(|found| found.stx_mask & StatxFlags::BTIME.bits() != 0);
    let birth = birth.map(|found| (found.stx_btime.tv_sec, found.stx_btime.tv_nsec));
    Ok((identity(&fstat(file)?), birth))
}

/// Notes that this file is read; false where a result is to take its place.
pub(crate) fn may_be_read(file: &File) -> rustix::io::Result<bool> {
    let born = born(file)?;
    let mut names = names();
    let free = !names.results.values().any(|now| *now == Some(born.0));
    if free {
        names.read.insert(born);
    }
    Ok(free)
}

/// True if this file was read.
pub(crate) fn is_read(file: &File) -> rustix::io::Result<bool> {
    let born = born(file)?;
    Ok(names().read.contains(&born))
}
