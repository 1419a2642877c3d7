//! Checks that only root and this user can have created the target of a path: one rule for
//! everything that is executed, loaded or obeyed.

use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Stat, lstat, readlink, stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::{FileError, word};
use crate::sort::is_link;

/// Maximum number of links to follow, like the kernel (path_resolution(7)).
const LINKS_MAX: u32 = 40;
const STICKY: u32 = 0o1000;
const GROUP_WRITE: u32 = 0o020;
const ALL_WRITE: u32 = 0o002;

/// Checks a file or directory, all directories above it, and all links on the way. Each must belong
/// to root, this user or the owner of the running program, and no one else may have write
/// permission. In a sticky directory such as `/tmp`, only the entry itself counts.
///
/// # Errors
/// The first component that others could have changed, with the reason.
pub fn must_be_trusted(path: &Path) -> Result<(), FileError> {
    let failed =
        |at: &Path, errno| FileError::failed(path, &format!("look at {}", at.display()), errno);
    let start = if path.is_absolute() { PathBuf::from("/") } else { here(path)? };
    let mut wanted = start.join(path);
    let mut links = 0;
    'again: loop {
        let mut at = PathBuf::new();
        let parts: Vec<Component<'_>> = wanted.components().collect();
        for (number, part) in parts.iter().enumerate() {
            if *part == Component::ParentDir {
                at.pop();
                continue;
            }
            at.push(part);
            let found = lstat(&at).map_err(|errno| failed(&at, errno))?;
            let is_last = number + 1 == parts.len();
            must_be_ours(path, &at, &found, is_last)?;
            if is_link(&found) {
                links += 1;
                if links > LINKS_MAX {
                    return Err(failed(&at, Errno::LOOP));
                }
                let target = readlink(&at, Vec::new()).map_err(|errno| failed(&at, errno))?;
                let target = PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes()));
                let rest: PathBuf = parts[number + 1..].iter().collect();
                wanted = at.parent().unwrap_or(Path::new("/")).join(target).join(rest);
                continue 'again;
            }
        }
        return Ok(());
    }
}

/// Working directory, without links.
fn here(path: &Path) -> Result<PathBuf, FileError> {
    std::env::current_dir()
        .map_err(|error| FileError::failed_io(path, "find the working directory", &error))
}

fn must_be_ours(path: &Path, at: &Path, found: &Stat, is_last: bool) -> Result<(), FileError> {
    let owner = found.st_uid;
    let refuse = |found: String, remedy: String| Err(FileError::refused(path, found, remedy));
    let (shown, given) = (at.display(), path.display());
    // The owner of the running program can do anything already.
    let of_this_program = || stat("/proc/self/exe").is_ok_and(|program| program.st_uid == owner);
    if owner != geteuid().as_raw() && owner != 0 && !of_this_program() {
        return refuse(
            format!("{shown} belongs to user {owner}, who could have replaced {given}"),
            "Use a copy that you own, in a directory that you own".to_owned(),
        );
    }
    let is_guarded = !is_last && found.st_mode & STICKY != 0;
    // A private group has the user's number and no other members, and comes with a umask of 0002.
    let own_group = owner != 0 && found.st_gid == owner;
    let others_write =
        found.st_mode & ALL_WRITE != 0 || found.st_mode & GROUP_WRITE != 0 && !own_group;
    if !is_link(found) && !is_guarded && others_write {
        return refuse(
            format!(
                "users other than its owner can write to {shown}, and qdepth would run or obey \
                 {given}"
            ),
            format!("Check it, then run `chmod go-w -- {}`", word(at)),
        );
    }
    Ok(())
}
