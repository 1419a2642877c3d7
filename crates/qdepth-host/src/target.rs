//! Target named by the user: inspected once, through a descriptor that can neither read nor write.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, IFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::identity::{DeviceIdentity, Identity, created};
use crate::mounts;
use crate::refusal::{Guard, Refusal};
use crate::sysfs::{self, DeviceNumber};
use crate::system::System;

/// An inspected target. It holds a handle of the target itself, so that a later open cannot reach
/// another one that has taken its name.
#[derive(Debug)]
pub struct Inspected {
    /// Path as the user spelled it.
    pub expression: PathBuf,
    /// Real path, with all links resolved.
    pub path: PathBuf,
    /// Kind of target.
    pub kind: Kind,
    handle: OwnedFd,
    stat: Stat,
}

/// Kind of a target.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A directory, in which a measurement file can be made.
    Directory(FileSystem),
    /// A regular file.
    RegularFile {
        /// Length in bytes.
        size_bytes: u64,
        /// True if the file has no other name (hard link).
        sole_name: bool,
        /// File system.
        file_system: FileSystem,
    },
    /// A disk, partition, volume or array.
    BlockDevice(BlockDevice),
}

/// File system of a file or directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystem {
    /// Type of the file system, for example `ext4`; `unknown` if the mount was not found.
    pub kind: String,
    /// Type of the file system that stores what is written: on an overlay, that of its upper layer.
    pub storing: String,
    /// Mount point.
    pub mount_point: PathBuf,
    /// Source of the mount.
    pub source: String,
    /// Mount options; on an overlay, also those of the file system that stores.
    pub options: String,
    /// Kernel names of the block devices directly below; empty for file systems in memory and on
    /// networks, several for a btrfs with several devices.
    pub devices: Vec<String>,
    /// Other paths of the target, through bind mounts in this mount namespace.
    pub aliases: Vec<PathBuf>,
    /// True if btrfs keeps no checksums of the target: attribute `C` (chattr(1)), which new files
    /// inherit from their directory, or mount option.
    pub without_checksums: bool,
}

/// A block device.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDevice {
    /// Identity.
    pub identity: DeviceIdentity,
    /// Size of the smallest request, in bytes.
    pub logical_block_bytes: u64,
    /// Size of the largest request that the kernel does not split, in bytes.
    pub max_request_bytes: Option<u64>,
    /// The maker's name of the model.
    pub model: Option<String>,
    /// True if the kernel forbids writing.
    pub read_only: bool,
    /// Number and disk, for a partition.
    pub partition: Option<Partition>,
    /// Connection.
    pub link: Option<sysfs::Link>,
}

/// A partition of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Number of the partition.
    pub number: u64,
    /// The kernel's name of the disk.
    pub whole: String,
}

impl Inspected {
    /// Identity at the time of the inspection.
    pub fn identity(&self) -> Identity {
        match &self.kind {
            Kind::BlockDevice(device) => Identity::Device(device.identity.clone()),
            Kind::RegularFile { .. } | Kind::Directory(_) => {
                file_identity(&self.handle, &self.stat)
            }
        }
    }

    /// The block device, if it is one.
    pub fn block_device(&self) -> Option<&BlockDevice> {
        match &self.kind {
            Kind::BlockDevice(device) => Some(device),
            Kind::RegularFile { .. } | Kind::Directory(_) => None,
        }
    }

    /// Kernel names of the block devices whose counters include this target's I/O: the device
    /// itself, or those below the file system.
    pub fn devices(&self) -> Vec<String> {
        match &self.kind {
            Kind::BlockDevice(device) => vec![device.identity.kernel_name.clone()],
            Kind::RegularFile { file_system, .. } | Kind::Directory(file_system) => {
                file_system.devices.clone()
            }
        }
    }

    /// True if both are files or directories of one file system, and therefore share its free
    /// space.
    pub fn shares_file_system(&self, other: &Self) -> bool {
        let both_files = self.block_device().is_none() && other.block_device().is_none();
        both_files && self.stat.st_dev == other.stat.st_dev
    }

    /// Device number of the file system of a file or directory.
    pub fn file_system(&self) -> u64 {
        self.stat.st_dev
    }

    /// Bytes that a file occupies on its storage now, without holes; 0 if unknown.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        // stat(2) counts in units of 512 bytes, whatever the block size.
        rustix::fs::fstat(&self.handle)
            .map_or(0, |stat| u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512))
    }

    /// Device of the file system, and inode, for comparison with other files.
    pub(crate) fn inode(&self) -> (DeviceNumber, u64) {
        (DeviceNumber::from_raw(self.stat.st_dev), self.stat.st_ino)
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Opens the inspected target itself. Not public, because only the guards provide descriptors.
    pub(crate) fn open(&self, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        open_handle(&self.handle, flags)
    }
}

fn open_handle(handle: &OwnedFd, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a regular file at a path that a mount names, because users choose such a path, and opening
/// some devices has effects. `None` for anything else.
pub(crate) fn open_regular(path: &Path, flags: OFlags) -> Option<OwnedFd> {
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mode = rustix::fs::fstat(&found).ok()?.st_mode;
    let is_regular = FileType::from_raw_mode(mode) == FileType::RegularFile;
    is_regular.then(|| open_handle(&found, flags).ok())?
}

/// Identity of an open file with its stat(2) result.
pub(crate) fn file_identity(file: impl AsFd, stat: &Stat) -> Identity {
    Identity::File {
        device: DeviceNumber::from_raw(stat.st_dev),
        inode: stat.st_ino,
        size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
        created: created(file),
    }
}

/// Inspects a target: follows links once, and opens nothing for reading or writing.
///
/// # Errors
/// [`Guard::G1Resolve`] if it is missing or is neither a directory, a regular file nor a block
/// device.
pub fn inspect(system: &System, expression: &Path) -> Result<Inspected, Refusal> {
    let no = |found: String, remedy: &str| Err(Refusal::new(Guard::G1Resolve, found, remedy));
    let handle = match rustix::fs::open(expression, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(handle) => handle,
        Err(error @ (Errno::MFILE | Errno::NFILE)) => {
            return no(
                format!("{} could not be opened: {error}", expression.display()),
                "Raise the limit on open files (`ulimit -n`)",
            );
        }
        Err(error) => {
            return no(
                format!("{} could not be found: {error}", expression.display()),
                "Use the path of an existing directory, file or block device",
            );
        }
    };
    inspect_handle(system, expression, handle)
}

/// [`inspect`] for a handle that is held already.
pub(crate) fn inspect_handle(
    system: &System,
    expression: &Path,
    handle: OwnedFd,
) -> Result<Inspected, Refusal> {
    let no = |found: String, remedy: &str| Err(Refusal::new(Guard::G1Resolve, found, remedy));
    let stat = match rustix::fs::fstat(&handle) {
        Ok(stat) => stat,
        Err(error) => {
            return no(
                format!("{} could not be inspected: {error}", expression.display()),
                "Check that its file system responds",
            );
        }
    };
    let path = std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()))
        .unwrap_or_else(|_| expression.to_owned());
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Kind::Directory(file_system(system, &handle, &path)),
        FileType::RegularFile => Kind::RegularFile {
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            sole_name: stat.st_nlink == 1,
            file_system: file_system(system, &handle, &path),
        },
        FileType::BlockDevice => Kind::BlockDevice(block_device(system, expression, &stat)?),
        other => {
            return no(
                format!("{} is {}", expression.display(), describe(other)),
                "Use a directory, a regular file or a block device; qdepth never touches anything \
                 else",
            );
        }
    };
    Ok(Inspected { expression: expression.to_owned(), path, kind, handle, stat })
}

fn describe(kind: FileType) -> &'static str {
    match kind {
        FileType::CharacterDevice => "a character device (a terminal, memory, or a raw interface)",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::Symlink => "a symbolic link that could not be followed",
        _ => "of an unknown kind",
    }
}

fn file_system(system: &System, handle: &OwnedFd, path: &Path) -> FileSystem {
    let mounts = mounts::own(system);
    // The descriptor identifies its mount even if mounts are stacked; a path does not.
    let id = system
        .read_file(format!("/proc/self/fdinfo/{}", handle.as_raw_fd()))
        .ok()
        .and_then(|text| text.lines().find_map(|l| l.strip_prefix("mnt_id:")?.trim().parse().ok()));
    let mount = mounts.iter().find(|mount| Some(mount.id) == id);
    match mount.or_else(|| mounts::holding(&mounts, path)) {
        Some(mount) => {
            let storing = mounts::storing(system, &mounts, mount);
            let mut options = mount.options.clone();
            if storing.id != mount.id {
                options = format!("{options},{}", storing.options);
            }
            FileSystem {
                kind: mount.kind.clone(),
                storing: storing.kind.clone(),
                mount_point: mount.mount_point.clone(),
                source: mount.source.clone(),
                options,
                devices: mounts::devices_below(system, storing).into_iter().collect(),
                aliases: mounts::aliases(&mounts, mount, path),
                without_checksums: storing.kind == "btrfs"
                    && without_checksums(handle, &storing.options),
            }
        }
        None => FileSystem { kind: "unknown".to_owned(), ..FileSystem::default() },
    }
}

fn without_checksums(handle: &OwnedFd, options: &str) -> bool {
    let of_mount = |option| matches!(option, "nodatasum" | "nodatacow");
    // A descriptor opened with O_PATH, as `handle` is, has no flags.
    let of_file = || {
        // Does not wait for the lease of another program.
        let flags = open_handle(handle, OFlags::RDONLY | OFlags::NONBLOCK)
            .and_then(|file| rustix::fs::ioctl_getflags(&file));
        flags.is_ok_and(|flags| flags.contains(IFlags::NOCOW))
    };
    options.split(',').any(of_mount) || of_file()
}

fn block_device(system: &System, expression: &Path, stat: &Stat) -> Result<BlockDevice, Refusal> {
    let number = DeviceNumber::from_raw(stat.st_rdev);
    let no = |found: String, remedy: &str| Refusal::new(Guard::G1Resolve, found, remedy);
    let identity = DeviceIdentity::read(system, number).ok_or_else(|| {
        no(
            format!("{} is block device {number}, which sysfs does not list", expression.display()),
            "Check that the device is still attached and that /sys is mounted",
        )
    })?;
    if identity.size_bytes == 0 {
        return Err(no(
            format!("{} has no size: nothing is attached to it", expression.display()),
            "Attach a medium, or use another device",
        ));
    }
    let name = identity.kernel_name.clone();
    let count = |key: &str| sysfs::number_attribute(system, &name, key);
    Ok(BlockDevice {
        logical_block_bytes: count("queue/logical_block_size").unwrap_or(sysfs::SECTOR_BYTES),
        max_request_bytes: count("queue/max_sectors_kb").map(|kib| kib.saturating_mul(1024)),
        model: sysfs::attribute(system, &name, "device/model"),
        read_only: count("ro") == Some(1),
        partition: partition(system, &name),
        link: sysfs::link_of(system, &name),
        identity,
    })
}

fn partition(system: &System, name: &str) -> Option<Partition> {
    let whole = sysfs::whole_of(system, name)?;
    let number = system.read_trimmed(format!("/sys/class/block/{name}/partition"))?;
    Some(Partition { number: number.parse().ok()?, whole })
}
