//! Resolves a path to an open directory, component by component, so that each link on the way is
//! checked before it is followed.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, Stat, fstat, fstatfs, mkdirat, openat, readlinkat, stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::{FileError, word};
use crate::sort::{is_link, of_the_kernel, sort_of};

/// Maximum number of links on a path, like in the kernel.
pub(crate) const LINKS_MAX: usize = 40;
const HANDLE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
const STEP: OFlags = HANDLE.union(OFlags::NOFOLLOW).union(OFlags::DIRECTORY);

/// Handling of a missing directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Report an error.
    Error,
    /// Create it with these permission bits.
    Create(u32),
}

/// Opens the directory `path`. `whole` is the path given by the user, for messages.
pub(crate) fn walk(path: &Path, whole: &Path, missing: Missing) -> Result<OwnedFd, FileError> {
    let here = openat(CWD, c".", STEP, Mode::empty())
        .map_err(|errno| FileError::failed(whole, "open the current directory", errno))?;
    walk_from(here, path, whole, missing)
}

/// Like [`walk`]; a relative path starts at `here`.
pub(crate) fn walk_from(
    mut here: OwnedFd,
    path: &Path,
    whole: &Path,
    missing: Missing,
) -> Result<OwnedFd, FileError> {
    let mut ahead: VecDeque<OsString> = VecDeque::new();
    let mut links = 0;
    if path.is_absolute() {
        here = root(whole)?;
    }
    put_first(&mut ahead, path);
    while let Some(name) = ahead.pop_front() {
        match openat(&here, &name, STEP, Mode::empty()) {
            Ok(next) => here = next,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let target = followed(&here, &name, whole)?;
                links += 1;
                if links > LINKS_MAX {
                    return Err(in_a_circle(whole));
                }
                if target.is_absolute() {
                    here = root(whole)?;
                }
                put_first(&mut ahead, &target);
            }
            Err(Errno::NOENT) => match missing {
                Missing::Error => return Err(no_directory(path, whole)),
                Missing::Create(mode) => here = make_directory(&here, &name, mode, whole)?,
            },
            Err(Errno::ACCESS) => {
                let found = format!("{} is in a directory that you may not enter", whole.display());
                return Err(FileError::refused(whole, found, "Name a file in another directory"));
            }
            Err(errno) => {
                return Err(FileError::failed(whole, &format!("find {}", path.display()), errno));
            }
        }
    }
    Ok(here)
}

fn root(whole: &Path) -> Result<OwnedFd, FileError> {
    openat(CWD, c"/", STEP, Mode::empty())
        .map_err(|errno| FileError::failed(whole, "open the root directory", errno))
}

fn put_first(ahead: &mut VecDeque<OsString>, path: &Path) {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    });
    for (at, name) in names.enumerate() {
        ahead.insert(at, name);
    }
}

/// Target of the link `name`, if it may be followed.
pub(crate) fn followed(
    here: impl AsFd + Copy,
    name: &OsStr,
    whole: &Path,
) -> Result<PathBuf, FileError> {
    let doing =
        || format!("inspect {} on the path to {}", Path::new(name).display(), whole.display());
    let failed = |errno| FileError::failed(whole, &doing(), errno);
    let link = openat(here, name, HANDLE | OFlags::NOFOLLOW, Mode::empty()).map_err(failed)?;
    let found = fstat(&link).map_err(failed)?;
    let shown = Path::new(name).display();
    if !is_link(&found) {
        let found = format!("{}: {shown} is {}, not a directory", whole.display(), sort_of(&found));
        return Err(FileError::wrong(whole, found, "Name a file in a directory"));
    }
    if let Some(kind) = of_the_kernel(&fstatfs(here).map_err(failed)?) {
        let found =
            format!("{} leads through {shown}, a link of the kernel ({kind})", whole.display());
        return Err(FileError::refused(whole, found, "Use the path without the link"));
    }
    let owner = found.st_uid;
    let target = readlinkat(&link, c"", Vec::new()).map_err(failed)?.into_bytes();
    let target = PathBuf::from(OsString::from_vec(target));
    if owner != 0 && owner != geteuid().as_raw() {
        let found = format!(
            "{} leads through the symbolic link {shown}, which user {owner} owns and can change at \
             any time (now to {})",
            whole.display(),
            target.display()
        );
        return Err(FileError::refused(whole, found, "Use the path without the link"));
    }
    Ok(target)
}

pub(crate) fn in_a_circle(whole: &Path) -> FileError {
    let found = format!("{} leads through a loop of symbolic links", whole.display());
    FileError::wrong(whole, found, "Use the path without the link")
}

fn no_directory(path: &Path, whole: &Path) -> FileError {
    let found = format!("there is no directory {} for {}", path.display(), whole.display());
    let remedy = format!("Create it with `mkdir -p -- {}`", word(path));
    FileError { errno: Some(Errno::NOENT), ..FileError::wrong(whole, found, remedy) }
}

fn make_directory(
    here: &OwnedFd,
    name: &OsStr,
    mode: u32,
    whole: &Path,
) -> Result<OwnedFd, FileError> {
    let doing =
        format!("create the directory {}", Path::new(OsStr::from_bytes(name.as_bytes())).display());
    let failed = |errno| FileError::failed(whole, &doing, errno);
    // A directory in cgroup2 or configfs is a kernel object.
    not_the_kernels(here, whole)?;
    if is_of_devices(&fstat(here).map_err(failed)?) {
        return Err(among_devices(whole));
    }
    match mkdirat(here, name, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(failed(errno)),
    }
    openat(here, name, STEP, Mode::empty()).map_err(failed)
}

/// Checks that a directory is not on a kernel file system, which holds no user files.
pub(crate) fn not_the_kernels(folder: &OwnedFd, whole: &Path) -> Result<(), FileError> {
    let failed = |errno| FileError::failed(whole, "inspect its directory", errno);
    let Some(kind) = of_the_kernel(&fstatfs(folder).map_err(failed)?) else { return Ok(()) };
    let found = format!(
        "{} is on a file system of the kernel ({kind}), which cannot store files",
        whole.display()
    );
    let name = PathBuf::from(whole.file_name().unwrap_or(OsStr::new("qdepth-output")));
    let remedy = "Name a file in a directory of your own";
    Err(FileError::refused(whole, found, remedy).instead(name))
}

/// True if a directory is on the file system of device nodes: a file there would be a mistyped
/// device.
pub(crate) fn is_of_devices(folder: &Stat) -> bool {
    let number = |path: &str| stat(path).map(|found| found.st_dev).ok();
    Some(folder.st_dev) == number("/dev") && Some(folder.st_dev) != number("/")
}

/// Error for a new file among device nodes.
pub(crate) fn among_devices(whole: &Path) -> FileError {
    let found = format!("{} would be created among device nodes", whole.display());
    let name = whole.file_name().unwrap_or(OsStr::new("qdepth-output"));
    FileError::refused(whole, found, "Name a file in another directory")
        .instead(PathBuf::from(name))
}
