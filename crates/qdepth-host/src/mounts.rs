//! Mounts in this mount namespace and in all others that can be read.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::lgetxattr;
use rustix::io::Errno;

use crate::sysfs::{self, DeviceNumber};
use crate::system::System;

/// One line of a `mountinfo` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Mount ID within its namespace.
    pub id: u64,
    /// Device of the file system; major 0 if it has none of its own (btrfs, tmpfs, network).
    pub number: DeviceNumber,
    /// Directory within the file system that is mounted.
    pub root: PathBuf,
    /// Path at which it is mounted.
    pub mount_point: PathBuf,
    /// Type of the file system, for example `ext4`.
    pub kind: String,
    /// Source of the mount: a device node, pool or server.
    pub source: String,
    /// Options of mount and file system together.
    pub options: String,
    /// Directories that an overlay combines: the upper one first, then the lower ones in their
    /// order, and the working directory last. Empty for other file systems.
    pub layers: Vec<PathBuf>,
}

/// Parses a `mountinfo` text (proc(5)); lines in another format are skipped.
pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ');
    let id = mount.next()?.parse().ok()?;
    let number = mount.nth(1)?.parse().ok()?;
    let root = PathBuf::from(unescape(mount.next()?));
    let mount_point = PathBuf::from(unescape(mount.next()?));
    let own_options = mount.next()?;
    let mut rest = file_system.splitn(3, ' ');
    let kind = unescape(rest.next()?);
    let source = unescape(rest.next()?);
    let of_file_system = rest.next().unwrap_or_default();
    let options = format!("{own_options},{}", unescape(of_file_system));
    let layers = if kind == "overlay" { overlay_layers(of_file_system) } else { Vec::new() };
    Some(Mount { id, number, root, mount_point, kind, source, options, layers })
}

/// Decodes the kernel's octal escapes (`\040` is a space).
pub fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes
            .get(at + 1..at + 4)
            .filter(|_| bytes[at] == b'\\')
            .filter(|digits| digits.iter().all(|d| (b'0'..=b'7').contains(d)))
            .and_then(|digits| {
                let value = digits.iter().fold(0u32, |n, d| n * 8 + u32::from(d - b'0'));
                u8::try_from(value).ok()
            });
        out.push(octal.unwrap_or(bytes[at]));
        at += if octal.is_some() { 4 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Mounts of this namespace, in the order of mounting.
pub fn own(system: &System) -> Vec<Mount> {
    of_process(system, "self")
}

/// Mounts of the namespace of a process (`self` or a number).
pub fn of_process(system: &System, process: &str) -> Vec<Mount> {
    parse(&system.read_file(format!("/proc/{process}/mountinfo")).unwrap_or_default())
}

/// Mounts of every readable namespace, this one first, each with a process in it (`self` or a
/// number).
pub fn everywhere(system: &System) -> Vec<(String, Vec<Mount>)> {
    let mut seen = BTreeSet::new();
    let mut namespaces = Vec::new();
    let processes = system.list_dir("/proc").unwrap_or_default();
    let numbered = processes.into_iter().filter(|p| p.bytes().all(|b| b.is_ascii_digit()));
    for process in std::iter::once("self".to_owned()).chain(numbered) {
        let known = system.read_link(format!("/proc/{process}/ns/mnt")).ok();
        if known.is_some_and(|namespace| !seen.insert(namespace)) {
            continue;
        }
        if let Ok(text) = system.read_file(format!("/proc/{process}/mountinfo")) {
            namespaces.push((process, parse(&text)));
        }
    }
    namespaces
}

/// The mount that a path is on: the last one mounted among those with the longest matching mount
/// point.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.components().count())
}

/// All other paths of a file on `mount`, through bind mounts of the same file system.
pub fn aliases(mounts: &[Mount], mount: &Mount, path: &Path) -> Vec<PathBuf> {
    let Ok(below) = path.strip_prefix(&mount.mount_point) else { return Vec::new() };
    let inner = join(&mount.root, below);
    mounts
        .iter()
        .filter(|other| other.number == mount.number)
        .filter_map(|other| Some(join(&other.mount_point, inner.strip_prefix(&other.root).ok()?)))
        .filter(|alias| alias != path)
        .collect()
}

/// Joins two paths. For a file bound to a file, `below` is empty, and joining it would make the
/// path a directory.
fn join(base: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { base.to_owned() } else { base.join(below) }
}

/// Kernel names of the block devices directly below a mount: its own device, its source, and other
/// members of a btrfs. Empty for file systems in memory or on a network.
pub fn devices_below(system: &System, mount: &Mount) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    names.extend(sysfs::kernel_name(system, mount.number));
    // Only device nodes are examined: examining the source of a network file system or a daemon may
    // hang.
    let node =
        mount.source.starts_with("/dev/").then(|| system.block_node(&mount.source)).flatten();
    names.extend(node.and_then(|number| sysfs::kernel_name(system, number)));
    for members in btrfs_members(system) {
        if members.iter().any(|member| names.contains(member)) {
            names.extend(members);
        }
    }
    names
}

/// Member devices of every mounted btrfs.
pub fn btrfs_members(system: &System) -> Vec<Vec<String>> {
    let file_systems = system.list_dir("/sys/fs/btrfs").unwrap_or_default();
    file_systems
        .iter()
        .filter_map(|id| system.list_dir(format!("/sys/fs/btrfs/{id}/devices")).ok())
        .collect()
}

/// Directories in the options of an overlay, as `mountinfo` shows them.
fn overlay_layers(options: &str) -> Vec<PathBuf> {
    let options = || options.split(',').filter_map(|option| option.split_once('='));
    let keys = ["upperdir", "lowerdir", "lowerdir+", "datadir+", "workdir"];
    keys.into_iter()
        .flat_map(|key| options().filter(move |(found, _)| *found == key))
        .flat_map(|(_, text)| directories(&unescape(text)))
        .filter(|dir| dir.is_absolute())
        .collect()
}

/// Directories that an option of an overlay may name. A backslash before a colon or comma belongs
/// to the option of mount(2), but to the name in that of fsconfig(2); both readings count.
fn directories(text: &str) -> Vec<PathBuf> {
    let (mut all, mut directory) = (Vec::new(), String::new());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' => all.push(std::mem::take(&mut directory)),
            '\\' => directory.extend(letters.next()),
            letter => directory.push(letter),
        }
    }
    all.push(directory);
    let literal = text.split(':').chain([text]).map(str::to_owned);
    all.into_iter().chain(literal).map(PathBuf::from).collect()
}

/// The mount that stores what is written through `mount`: below an overlay, that of its upper
/// layer. A layer that is not visible here ends the search.
pub fn storing<'a>(system: &System, mounts: &'a [Mount], mount: &'a Mount) -> &'a Mount {
    let below = |mount: &Mount| {
        let upper = mount.layers.first().filter(|dir| system.exists(dir))?;
        holding(mounts, upper).filter(|below| below.id != mount.id)
    };
    let all = std::iter::successors(Some(mount), |mount| below(mount)).take(DEEPEST_OVERLAYS);
    all.last().unwrap_or(mount)
}

/// Largest number of stacked overlays that is followed; the kernel allows two.
pub(crate) const DEEPEST_OVERLAYS: usize = 8;

/// Paths that a file on an overlay may have in the layers directly below, which need not exist; a
/// copy of its metadata may be in another layer than its data, and under another name. Every
/// overlay at the path counts, because another mount may hide the one that the file is on. Empty
/// without an overlay.
pub(crate) fn in_layers(system: &System, mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    let stored = |mount: &Mount| -> Option<Vec<PathBuf>> {
        let inner = join(&mount.root, path.strip_prefix(&mount.mount_point).ok()?);
        let mut names = vec![inner.strip_prefix("/").unwrap_or(&inner).to_owned()];
        for layer in &mount.layers {
            let others: Vec<PathBuf> =
                names.iter().filter_map(|name| redirected(system, layer, name)).collect();
            names.extend(others);
            names.truncate(NAMES_MAX);
        }
        let all = |layer: &PathBuf| names.iter().map(|name| join(layer, name)).collect::<Vec<_>>();
        Some(mount.layers.iter().flat_map(all).collect())
    };
    mounts.iter().filter_map(stored).flatten().filter(|stored| stored != path).collect()
}

/// Paths that a file on a FUSE file system may have in the directory that its server shows
/// (bindfs), which need not exist.
pub(crate) fn behind_servers(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    let source = |mount: &Mount| -> Option<PathBuf> {
        let inner = join(&mount.root, path.strip_prefix(&mount.mount_point).ok()?);
        let is_directory = mount.kind.starts_with("fuse") && mount.source.starts_with('/');
        let inner = inner.strip_prefix("/").unwrap_or(&inner);
        is_directory.then(|| Path::new(&mount.source).join(inner))
    };
    mounts.iter().filter_map(source).collect()
}

/// Largest number of names of a file on an overlay that are followed.
const NAMES_MAX: usize = 16;

/// Name in the layers below, if the overlay has renamed the file or a directory above it in this
/// layer (options `redirect_dir` and `metacopy`).
fn redirected(system: &System, layer: &Path, name: &Path) -> Option<PathBuf> {
    let (mut here, mut below, mut is_redirected) = (PathBuf::new(), PathBuf::new(), false);
    for part in name {
        here.push(part);
        let path = system.path(layer.join(&here));
        let mut text = [0; 4096];
        let mut lengths = ["trusted.overlay.redirect", "user.overlay.redirect"]
            .into_iter()
            .map(|key| lgetxattr(&path, key, &mut text));
        match lengths.find(|length| *length != Err(Errno::NODATA)) {
            Some(Ok(length)) => {
                let target = Path::new(OsStr::from_bytes(&text[..length]));
                // A name replaces the last part, an absolute path all of them.
                below =
                    target.strip_prefix("/").map_or_else(|_| below.join(target), Path::to_owned);
                is_redirected = true;
            }
            // Nothing is below a name that the layer does not have.
            Some(Err(Errno::NOENT)) if !is_redirected => return None,
            _ => below.push(part),
        }
    }
    is_redirected.then_some(below)
}
