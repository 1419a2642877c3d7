//! Operations besides transfers of an open file, one at a time: reserving space, truncating, and
//! operations on the entries of a directory, which the caller passes in.

use std::cell::RefCell;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;

use qdepth_engine::moved;
use qdepth_measure::pattern::{Pattern, SECTOR_BYTES, first_foreign};
use qdepth_workload::{Contents, Direction, Duplicates, Operation, Request, stamp_content};
use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, fallocate, fsync, ftruncate, mkdirat, openat, statat,
    syncfs, unlinkat,
};
use rustix::io::Errno;

use crate::buffers::Pieces;
use crate::inline::Perform;

/// Digits of an entry's name. The letter before them is `f` for a file and `d` for a directory.
const DIGITS: usize = 10;

/// Name of the entry with this number, like [`entry_name`], without allocation.
struct Name([u8; DIGITS + 2]);

impl Name {
    fn new(directory: bool, number: u64) -> Self {
        let mut bytes = [0; DIGITS + 2];
        bytes[0] = if directory { b'd' } else { b'f' };
        let mut rest = number;
        for digit in bytes[1..=DIGITS].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        Self(bytes)
    }

    fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }
}

/// Name of the entry with this number. A load's entries are created under these names before it
/// begins.
pub fn entry_name(operation: Operation, number: u64) -> String {
    let name = Name::new(operation.is_of_directories(), number);
    name.text().to_string_lossy().into_owned()
}

pub(crate) struct Operations {
    file: RawFd,
    operation: Operation,
    /// Bytes that represent an entry.
    unit: u64,
    /// Buffers of the target: contents of files to write, or of the last file read.
    pieces: Pieces,
    size_max: u32,
    /// Contents of the files written: all differ, for storage that deduplicates.
    contents: RefCell<Contents>,
}

impl Operations {
    pub(crate) fn new(file: RawFd, operation: Operation, size_max: u32, pieces: Pieces) -> Self {
        let contents = RefCell::new(Contents::new(Duplicates::NONE, crate::clock::now().0, 0));
        let unit = u64::from(size_max.max(1));
        Self { file, operation, unit, pieces, size_max, contents }
    }

    /// The buffer of the only slot.
    #[expect(clippy::mut_from_ref, reason = "requests are performed one at a time")]
    fn buffer(&self, direction: Direction) -> &mut [u8] {
        let piece = self.pieces.piece_ptr(0, direction);
        // SAFETY: the target's buffers have at least `size_max` initialised bytes for each slot,
        // outlive this value, and belong to the one request that is being performed.
        unsafe { std::slice::from_raw_parts_mut(piece, self.size_max as usize) }
    }

    fn on_file(&self, file: BorrowedFd<'_>, request: Request) -> Result<(), Errno> {
        let Request { direction, offset, size } = request;
        match (self.operation, direction) {
            (_, Direction::Sync) => fsync(file),
            (Operation::Reserve, Direction::Write) => {
                fallocate(file, FallocateFlags::empty(), offset, u64::from(size))
            }
            (Operation::Truncate, Direction::Write) => ftruncate(file, offset),
            _ => Err(Errno::INVAL),
        }
    }

    fn on_entry(&self, folder: BorrowedFd<'_>, offset: u64) -> Result<(), Errno> {
        let name = Name::new(self.operation.is_of_directories(), offset / self.unit);
        let name = name.text();
        match self.operation {
            Operation::MakeFiles => make_file(folder, name, OFlags::empty()).map(drop),
            Operation::WriteFiles => {
                // A file that has the name already was not created by this load.
                let file = make_file(folder, name, OFlags::EXCL)?;
                let bytes = self.buffer(Direction::Write);
                stamp(bytes, self.contents.borrow_mut().draw());
                File::from(file).write_all_at(bytes, 0).map_err(errno)
            }
            Operation::OpenFiles => open_file(folder, name).map(drop),
            Operation::ReadFiles | Operation::VerifyFiles => {
                let bytes = self.buffer(Direction::Read);
                let file = File::from(open_file(folder, name)?);
                file.read_exact_at(bytes, 0).map_err(errno)?;
                let is_checked = self.operation == Operation::VerifyFiles;
                match is_checked && first_foreign(bytes).is_some() {
                    true => Err(Errno::ILSEQ),
                    false => Ok(()),
                }
            }
            Operation::StatFiles | Operation::StatDirectories => {
                statat(folder, name, AtFlags::empty()).map(drop)
            }
            Operation::RemoveFiles => unlinkat(folder, name, AtFlags::empty()),
            Operation::MakeDirectories => mkdirat(folder, name, Mode::RWXU),
            Operation::RemoveDirectories => unlinkat(folder, name, AtFlags::REMOVEDIR),
            Operation::Transfer | Operation::Reserve | Operation::Truncate => Err(Errno::INVAL),
        }
    }
}

/// Fills a file's contents, such that no two files have a block or an end in common.
fn stamp(bytes: &mut [u8], content: u64) {
    let (sectors, end) = bytes.split_at_mut(bytes.len() / SECTOR_BYTES * SECTOR_BYTES);
    stamp_content(sectors, content);
    Pattern::new(content).fill(end, 0.0);
}

fn make_file(folder: BorrowedFd<'_>, name: &CStr, how: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | how;
    openat(folder, name, flags, Mode::RUSR | Mode::WUSR)
}

fn open_file(folder: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    openat(folder, name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
}

/// Error number; EIO for a file that ends before the last byte.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it")]
fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

impl Perform for Operations {
    fn perform(&self, _slot: u32, request: Request) -> i32 {
        // SAFETY: the target keeps the file open while requests are in flight.
        let file = unsafe { BorrowedFd::borrow_raw(self.file) };
        let done = match self.operation.is_of_entries() {
            // The final sync of a load covers all entries.
            true if request.direction == Direction::Sync => syncfs(file),
            true => self.on_entry(file, request.offset),
            false => self.on_file(file, request),
        };
        done.map_or_else(|why| -why.raw_os_error(), |()| moved(request.size))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files as a user does")]
mod tests {
    use std::os::fd::AsRawFd;

    use qdepth_workload::{Payload, fill};

    use super::*;
    use crate::buffers::Buffers;

    #[test]
    fn files_of_one_worker_all_differ() {
        let parent = tempfile::tempdir().unwrap();
        let folder = std::fs::File::open(parent.path()).unwrap();
        for size in [16, 511, 3901, 4096, 12_800] {
            let mut buffers = Buffers::new(1, size, false).unwrap();
            fill(buffers.as_mut_slice(), Payload::default(), 1);
            let perform = |operation, numbers: [u64; 2]| {
                let calls = Operations::new(folder.as_raw_fd(), operation, size, buffers.pieces());
                for number in numbers {
                    let offset = number * u64::from(size);
                    let request = Request { direction: Direction::Read, offset, size };
                    assert_eq!(calls.perform(0, request), size as i32, "{operation:?} {size}");
                }
            };
            perform(Operation::WriteFiles, [1, 2]);
            let [one, other] = [1, 2].map(|number| {
                let name = entry_name(Operation::WriteFiles, number);
                std::fs::read(parent.path().join(name)).unwrap()
            });
            for (one, other) in one.chunks(4096).zip(other.chunks(4096)) {
                assert_ne!(one, other, "{size}");
            }
            perform(Operation::VerifyFiles, [1, 2]);
            perform(Operation::RemoveFiles, [1, 2]);
        }
    }

    #[test]
    fn file_operations_create_stat_remove_and_truncate() {
        let parent = tempfile::tempdir().unwrap();
        let folder = std::fs::File::open(parent.path()).unwrap();
        let request = |direction, offset| Request { direction, offset, size: 4096 };
        let mut buffers = Buffers::new(1, 4096, false).unwrap();
        fill(buffers.as_mut_slice(), Payload::default(), 1);
        let pieces = buffers.pieces();
        let performed = |operation, offset| {
            let calls = Operations::new(folder.as_raw_fd(), operation, 4096, pieces);
            calls.perform(0, request(Direction::Read, offset))
        };
        let gone = -Errno::NOENT.raw_os_error();
        assert_eq!(performed(Operation::StatFiles, 8192), gone);
        assert_eq!(performed(Operation::MakeFiles, 8192), 4096);
        assert!(parent.path().join(entry_name(Operation::MakeFiles, 2)).is_file());
        assert_eq!(performed(Operation::StatFiles, 8192), 4096);
        assert_eq!(performed(Operation::RemoveFiles, 8192), 4096);
        assert_eq!(performed(Operation::RemoveFiles, 8192), gone);
        assert_eq!(performed(Operation::WriteFiles, 4096), 4096);
        let written = parent.path().join(entry_name(Operation::WriteFiles, 1));
        assert_eq!(std::fs::metadata(&written).unwrap().len(), 4096);
        let before = std::fs::read(&written).unwrap();
        assert_eq!(performed(Operation::WriteFiles, 4096), -Errno::EXIST.raw_os_error());
        assert_eq!(std::fs::read(&written).unwrap(), before, "it may be somebody else's");
        for operation in [Operation::OpenFiles, Operation::ReadFiles, Operation::VerifyFiles] {
            assert_eq!(performed(operation, 4096), 4096, "{operation:?}");
            assert_eq!(performed(operation, 8192), gone, "{operation:?}");
        }
        std::fs::write(&written, [7; 4096]).unwrap();
        assert_eq!(performed(Operation::ReadFiles, 4096), 4096);
        assert_eq!(performed(Operation::VerifyFiles, 4096), -Errno::ILSEQ.raw_os_error());
        std::fs::write(&written, "short").unwrap();
        assert_eq!(performed(Operation::ReadFiles, 4096), -Errno::IO.raw_os_error());
        assert_eq!(performed(Operation::RemoveFiles, 4096), 4096);
        assert_eq!(performed(Operation::MakeDirectories, 0), 4096);
        assert_eq!(performed(Operation::StatDirectories, 0), 4096);
        assert_eq!(performed(Operation::RemoveDirectories, 0), 4096);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);

        let path = parent.path().join("file");
        let file = std::fs::File::create(&path).unwrap();
        let calls = |operation| Operations::new(file.as_raw_fd(), operation, 4096, pieces);
        let length = || std::fs::metadata(&path).unwrap().len();
        assert_eq!(calls(Operation::Truncate).perform(0, request(Direction::Write, 12_288)), 4096);
        assert_eq!(length(), 12_288);
        let reserved = calls(Operation::Reserve).perform(0, request(Direction::Write, 12_288));
        if reserved == -Errno::OPNOTSUPP.raw_os_error() {
            println!("SKIPPED: room reserved in a file (the file system reserves none)");
        } else {
            assert_eq!((reserved, length()), (4096, 16_384));
        }
        let invalid = -Errno::INVAL.raw_os_error();
        assert_eq!(calls(Operation::Truncate).perform(0, request(Direction::Read, 0)), invalid);
    }
}
