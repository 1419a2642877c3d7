//! Destinations of results.

use std::io::{self, Write};
use std::path::Path;

use crate::at_work::AtWork;
use crate::destination::{Destination, Privacy, Replaced};
use crate::error::FileError;

/// Names of the standard output, besides `-`.
const STANDARD: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Destination of a result: checked and reserved until it is written.
///
/// An unused name is created. A regular file is replaced atomically if that provably loses nothing
/// but an earlier result: it has qdepth's mark and is unchanged, it belongs to the user, has a
/// single name, and was not read by this process. [`replace_all`](crate::replace_all) lifts the
/// first condition for qdepth's texts, PDFs, pictures and tables. Everything else is refused and
/// stays unchanged: links, devices, FIFOs, sockets, files of the kernel.
#[derive(Debug)]
pub struct Output {
    to: To,
    privacy: Privacy,
}

#[derive(Debug)]
enum To {
    Standard,
    Nowhere,
    File(Destination),
}

impl Output {
    /// Checks that a result may be written to this file. `-` and `/dev/stdout` are the standard
    /// output, `/dev/null` discards it. Changes nothing.
    ///
    /// # Errors
    /// If a result must not or cannot have the name.
    pub fn at(path: &Path, privacy: Privacy) -> Result<Self, FileError> {
        let standard = STANDARD.iter().any(|name| path.as_os_str() == *name);
        let _work = AtWork::on(path);
        let to = if standard {
            To::Standard
        } else {
            Destination::at(path, privacy)?.map_or(To::Nowhere, To::File)
        };
        Ok(Self { to, privacy })
    }

    /// Like [`Output::at`], for a result that must be a file.
    ///
    /// # Errors
    /// Like [`Output::at`], and for the standard output.
    pub fn file(path: &Path, privacy: Privacy) -> Result<Self, FileError> {
        let output = Self::at(path, privacy)?;
        if output.is_standard() {
            let found = format!("{} is standard output, which is already in use", path.display());
            return Err(FileError::wrong(path, found, "Name a file"));
        }
        Ok(output)
    }

    /// True if it is the standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self.to, To::Standard)
    }

    /// Writes the result completely or not at all. Returns the file that it replaced, if any. On
    /// standard output, a reader that went away is not an error.
    ///
    /// # Errors
    /// If the name now refers to another file, or the disk is full.
    pub fn write(&self, bytes: &[u8]) -> Result<Option<Replaced>, FileError> {
        match &self.to {
            To::Nowhere => Ok(None),
            To::File(destination) => {
                let _work = AtWork::on(&destination.path);
                destination.write(bytes, self.privacy)
            }
            To::Standard => to_standard_output(bytes).map(|()| None),
        }
    }
}

/// Writes to standard output. A reader that went away is not an error.
fn to_standard_output(bytes: &[u8]) -> Result<(), FileError> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer.map_err(|error| {
            FileError::failed_io(Path::new("-"), "write to standard output", &error)
        }),
    }
}
