//! Single-value files of procfs and sysfs, opened without leaving these file systems.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat2};
use rustix::io::Errno;

/// Magic numbers of procfs and sysfs (linux/magic.h).
const KERNEL_TREES: [(&str, u32); 2] = [("proc", 0x9fa0), ("sys", 0x6265_6572)];

/// Longest value, in bytes: the kernel shows at most a page.
pub(crate) const LONGEST_BYTES: u64 = 4096;

/// Reads a value as text, without white space around it.
///
/// # Errors
/// If it is not a file of procfs or sysfs, is longer than [`LONGEST_BYTES`], or is not text.
pub(crate) fn read(root: &Path, is_real: bool, path: &Path) -> io::Result<String> {
    let file = open(root, is_real, path, OFlags::RDONLY)?;
    let mut bytes = Vec::new();
    file.take(LONGEST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_BYTES {
        return Err(io::Error::other(format!("it contains more than {LONGEST_BYTES} bytes")));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| io::Error::other("it does not contain text"))?;
    let text = text.trim();
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(io::Error::other("it does not contain text"));
    }
    Ok(text.to_owned())
}

/// Writes a value.
///
/// # Errors
/// If it is not a file of procfs or sysfs, or the kernel refuses.
pub(crate) fn write(root: &Path, is_real: bool, path: &Path, value: &str) -> io::Result<()> {
    // Files of a simulated machine are ordinary files, so a longer old value must be truncated.
    let flags = if is_real { OFlags::WRONLY } else { OFlags::WRONLY | OFlags::TRUNC };
    open(root, is_real, path, flags)?.write_all(value.as_bytes())
}

fn open(root: &Path, is_real: bool, path: &Path, flags: OFlags) -> io::Result<File> {
    let no = |why: String| io::Error::other(format!("{} {why}", path.display()));
    let mut parts = path.components();
    let tree = match (parts.next(), parts.next()) {
        (Some(Component::RootDir), Some(Component::Normal(tree))) => tree.to_str(),
        _ => None,
    };
    let tree = KERNEL_TREES.iter().find(|(name, _)| Some(*name) == tree);
    let &(name, magic) = tree.ok_or_else(|| no("is not a file below /sys or /proc".to_owned()))?;
    let is_of_tree = |file: &OwnedFd| -> io::Result<()> {
        if !is_real || fstatfs(file)?.f_type as u32 == magic {
            return Ok(());
        }
        Err(no(format!("leads out of the kernel's own files: it is not in /{name}")))
    };
    let start = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = openat2(CWD, root.join(name), start, Mode::empty(), ResolveFlags::NO_MAGICLINKS)?;
    is_of_tree(&top)?;
    // Links of sysfs are relative and stay within it. Anything mounted over one of its files is not
    // part of it.
    let mut within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if is_real {
        within |= ResolveFlags::NO_XDEV;
    }
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = match openat2(&top, parts.as_path(), flags, Mode::empty(), within) {
        Err(Errno::XDEV | Errno::LOOP) => {
            return Err(no(format!("leads out of the kernel's own files in /{name}")));
        }
        answer => answer?,
    };
    is_of_tree(&file)?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(no("is not a file with a value".to_owned()));
    }
    Ok(File::from(file))
}
