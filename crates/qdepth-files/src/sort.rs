//! Classification of files and file systems.

use rustix::fs::{FileType, Stat, StatFs};

/// Type of a file that is not a regular one, with an article.
pub(crate) fn sort_of(found: &Stat) -> &'static str {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        _ => "of an unknown kind",
    }
}

pub(crate) fn is_regular(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
}

pub(crate) fn is_directory(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Directory
}

pub(crate) fn is_link(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Symlink
}

/// True for `/dev/null`, by its device number, at any path.
pub(crate) fn is_null(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
        && (rustix::fs::major(found.st_rdev), rustix::fs::minor(found.st_rdev)) == (1, 3)
}

/// True if others can create files in this directory: everybody, or a group whose members cannot
/// change each other's files. A directory that a group simply shares does not count.
pub(crate) fn is_shared(directory: &Stat) -> bool {
    directory.st_mode & 0o002 != 0 || directory.st_mode & 0o1020 == 0o1020
}

/// Identity of a file while it exists; inode numbers are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

pub(crate) fn identity(found: &Stat) -> Identity {
    Identity { device: found.st_dev, inode: found.st_ino }
}

/// Magic numbers of kernel file systems, from linux/magic.h and the file systems' sources. Their
/// files control the kernel and its drivers.
const OF_THE_KERNEL: [(u32, &str); 15] = [
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0xcafe_4a11, "bpf"),
    (0x6265_6570, "configfs"),
    (0xde5e_81e4, "efivarfs"),
    (0x6165_676c, "pstore"),
    (0x1cd1, "devpts"),
    (0x1980_0202, "mqueue"),
    (0x6e73_6673, "nsfs"),
];

/// Name of a kernel file system, which holds no user files; `None` for others.
pub(crate) fn of_the_kernel(system: &StatFs) -> Option<&'static str> {
    // The type is signed on some architectures; the magic number has 32 bits.
    let magic = system.f_type as u32;
    OF_THE_KERNEL.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}
