//! Reading of regular files, up to a size limit.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, Stat, fstat, fstatfs, open, stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::at_work::AtWork;
use crate::claim::may_be_read;
use crate::error::FileError;
use crate::sort::{is_regular, of_the_kernel, sort_of};

/// Kind of file to be read: name for messages, and size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Kind of the file, for example `plan`.
    pub what: &'static str,
    /// Largest size, in bytes.
    pub bytes: u64,
}

const MIB: u64 = 1 << 20;

/// Size limits of files by kind: far above real sizes, and small enough for memory.
pub mod limit {
    use super::{Limit, MIB};

    /// Plan: a hundred times the longest built-in one. Resolved, it takes a thousand times its
    /// size.
    pub const PLAN: Limit = Limit { what: "plan", bytes: MIB / 4 };
    /// Trace to replay.
    pub const TRACE: Limit = Limit { what: "trace", bytes: 64 * MIB };
    /// fio job file, or a file that it includes.
    pub const JOB: Limit = Limit { what: "job file", bytes: 16 * MIB };
    /// Configuration of Iometer.
    pub const ICF: Limit = Limit { what: "Iometer configuration", bytes: 16 * MIB };
    /// Result of another program; fio's logs have a line per request.
    pub const RESULT: Limit = Limit { what: "result", bytes: 1024 * MIB };
    /// Device model.
    pub const DESCRIPTION: Limit = Limit { what: "file", bytes: MIB };
    /// Steps of a preparation.
    pub const PREPARATION: Limit = Limit { what: "preparation", bytes: MIB };
    /// User's consent to overwrite devices.
    pub const CONSENT: Limit = Limit { what: "consent file", bytes: MIB };
    /// Publisher file of a paper.
    pub const PAPER: Limit = Limit { what: "publisher file", bytes: MIB };
    /// Logo.
    pub const PICTURE: Limit = Limit { what: "picture", bytes: 16 * MIB };
    /// Recording of a machine by `host --record`.
    pub const RECORDING: Limit = Limit { what: "recording", bytes: 64 * MIB };
    /// Undo journal of a preparation.
    pub const JOURNAL: Limit = Limit { what: "undo journal", bytes: 64 * MIB };
    /// Part of a document to be typeset, or a font.
    pub const MARKUP: Limit = Limit { what: "part of the document", bytes: 256 * MIB };
    /// File that a program created for qdepth.
    pub const MADE: Limit = Limit { what: "generated file", bytes: 256 * MIB };
}

/// File to be read as a whole: a regular file up to a size limit. A device, a FIFO or a socket
/// would block, never end, or change by being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    path: PathBuf,
    limit: Limit,
    /// Descriptor inherited by this process, instead of the file of this name.
    descriptor: Option<RawFd>,
}

impl Input {
    /// Input from the file of this name.
    pub fn file(path: impl AsRef<Path>, limit: Limit) -> Self {
        Self { path: path.as_ref().to_owned(), limit, descriptor: None }
    }

    /// Like [`Input::file`], but `-` and `/dev/stdin` are the standard input, and `/dev/fd/N` is a
    /// descriptor opened by the shell.
    pub fn at(path: impl AsRef<Path>, limit: Limit) -> Self {
        let input = Self::file(path, limit);
        Self { descriptor: input.path.to_str().and_then(descriptor_number), ..input }
    }

    /// Reads the bytes.
    ///
    /// # Errors
    /// If the file does not exist, is not a regular file, or is too large. All of these are
    /// [`crate::How::Wrong`], unless reading fails on the way.
    pub fn bytes(&self) -> Result<Vec<u8>, FileError> {
        let _work = AtWork::on(&self.path);
        match self.descriptor {
            None => self.read(self.open()?.0),
            Some(0) => self.read(io::stdin().lock()),
            Some(number) => self.read(self.reopened(number)?),
        }
    }

    /// Reads the text.
    ///
    /// # Errors
    /// Like [`Input::bytes`]; also if the text is not UTF-8, with the line.
    pub fn text(&self) -> Result<String, FileError> {
        self.as_text(self.bytes()?)
    }

    /// Reads the text of a file that can authorise the destruction of data: only its owner may have
    /// write permission.
    ///
    /// # Errors
    /// Like [`Input::text`], or if others may write to it.
    pub fn text_of_authority(&self) -> Result<String, FileError> {
        let _work = AtWork::on(&self.path);
        let (file, found) = self.open()?;
        let (owner, us) = (found.st_uid, geteuid().as_raw());
        let (path, what) = (self.path.display(), self.limit.what);
        let word = crate::error::word(&self.path);
        if owner != us && owner != 0 {
            let found = format!("the {what} {path} belongs to user {owner}, not to you");
            let remedy = format!("Check it, then use a copy of your own: `cp -- {word} mine`");
            return Err(FileError::refused(&self.path, found, remedy));
        }
        if found.st_mode & 0o022 != 0 {
            let found = format!("users other than its owner can write to the {what} {path}");
            let remedy = format!("Check it, then run `chmod go-w -- {word}`");
            return Err(FileError::refused(&self.path, found, remedy));
        }
        self.as_text(self.read(&file)?)
    }

    fn as_text(&self, bytes: Vec<u8>) -> Result<String, FileError> {
        String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
            self.wrong(&format!("it is not UTF-8 text (line {line})"))
        })
    }

    fn wrong(&self, why: &str) -> FileError {
        let found = format!("cannot read the {} {}: {why}", self.limit.what, self.path.display());
        FileError::wrong(&self.path, found, "")
    }

    fn open(&self) -> Result<(File, Stat), FileError> {
        let no = |errno: Errno| self.wrong(&io::Error::from(errno).to_string());
        // Some devices act on being opened: check the type before.
        let before = stat(&self.path).map_err(no)?;
        self.must_be_regular(&before)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = open(&self.path, flags, rustix::fs::Mode::empty()).map_err(no)?;
        let found = fstat(&file).map_err(no)?;
        self.must_be_regular(&found)?;
        if let Some(kind) = of_the_kernel(&fstatfs(&file).map_err(no)?) {
            return Err(self.wrong(&format!("it is a file of the kernel ({kind})")));
        }
        if found.st_size as u64 > self.limit.bytes {
            return Err(self.too_large(&format!("{} bytes", found.st_size)));
        }
        let file = File::from(file);
        if !may_be_read(&file).map_err(no)? {
            return Err(self.wrong("it is also an output of this command"));
        }
        Ok((file, found))
    }

    fn must_be_regular(&self, found: &Stat) -> Result<(), FileError> {
        if is_regular(found) {
            return Ok(());
        }
        Err(self.wrong(&format!("it is {}, but must be a regular file", sort_of(found))))
    }

    /// Descriptor opened by the shell, for example `qdepth fio <(make-jobs)`.
    fn reopened(&self, number: RawFd) -> Result<File, FileError> {
        let no = |errno: Errno| self.wrong(&io::Error::from(errno).to_string());
        // Reopen it by its name, which the kernel provides for open descriptors only.
        let path = format!("/proc/self/fd/{number}");
        let kind = FileType::from_raw_mode(stat(&path).map_err(no)?.st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::Fifo) {
            return Err(self.wrong("it is neither a regular file nor a pipe"));
        }
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        open(&path, flags, rustix::fs::Mode::empty()).map(File::from).map_err(no)
    }

    fn read(&self, source: impl Read) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        source.take(self.limit.bytes + 1).read_to_end(&mut bytes).map_err(|error| {
            let doing = format!("read the {} {}", self.limit.what, self.path.display());
            FileError::failed_io(&self.path, &doing, &error)
        })?;
        if bytes.len() as u64 > self.limit.bytes {
            return Err(self.too_large("more"));
        }
        Ok(bytes)
    }

    fn too_large(&self, has: &str) -> FileError {
        let most = match self.limit.bytes {
            bytes if bytes < MIB => format!("{} KiB", bytes / 1024),
            bytes => format!("{} MiB", bytes / MIB),
        };
        self.wrong(&format!("a {} must be at most {most}; this one has {has}", self.limit.what))
    }
}

/// Descriptor number of a name like `/dev/fd/N`.
fn descriptor_number(name: &str) -> Option<RawFd> {
    let number = match name {
        "-" | "/dev/stdin" => return Some(0),
        _ => name.strip_prefix("/dev/fd/").or_else(|| name.strip_prefix("/proc/self/fd/"))?,
    };
    number.parse().ok().filter(|number| *number >= 0)
}
