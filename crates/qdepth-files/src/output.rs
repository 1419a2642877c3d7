//! Destinations of results.

use std::io::{self, Write};
use std::path::Path;

use crate::destination::{Destination, Privacy, Replaced};
use crate::error::FileError;

/// Names of the standard output, besides `-`.
const STANDARD: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Destination of a result: checked, and held until it is written.
///
/// A name that nothing has is made. A regular file is replaced in one step if that can be seen to
/// lose nothing but an earlier result: it bears our mark and was not changed since, it is the
/// user's own, has one name, and was not read by this process. [`replace_all`](crate::replace_all)
/// lifts the first of these for texts, PDFs, pictures and tables of ours. Everything else is
/// refused and stays as it is: links, devices, FIFOs, sockets, the kernel's files.
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
    /// Looks whether a result may go to this file; `-` and `/dev/stdout` are the standard output,
    /// `/dev/null` is nowhere. Nothing is changed by that.
    ///
    /// # Errors
    /// If the name must not, or cannot, be given to a result.
    pub fn at(path: &Path, privacy: Privacy) -> Result<Self, FileError> {
        let standard = STANDARD.iter().any(|name| path.as_os_str() == *name);
        let to = if standard {
            To::Standard
        } else {
            Destination::at(path, privacy)?.map_or(To::Nowhere, To::File)
        };
        Ok(Self { to, privacy })
    }

    /// Like [`Output::at`], for a result that must have a file of its own.
    ///
    /// # Errors
    /// Also for the standard output.
    pub fn file(path: &Path, privacy: Privacy) -> Result<Self, FileError> {
        let output = Self::at(path, privacy)?;
        if output.is_standard() {
            let found = format!("{} is the standard output, which is in use", path.display());
            return Err(FileError::wrong(path, found, "Name a file"));
        }
        Ok(output)
    }

    /// True if it is the standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self.to, To::Standard)
    }

    /// Writes it, complete or not at all; a file that it replaced. On standard output, a reader
    /// that went away is no failure.
    ///
    /// # Errors
    /// If the name now leads to something else, or the disk is full.
    pub fn write(&self, bytes: &[u8]) -> Result<Option<Replaced>, FileError> {
        match &self.to {
            To::Nowhere => Ok(None),
            To::File(destination) => destination.write(bytes, self.privacy),
            To::Standard => to_standard_output(bytes).map(|()| None),
        }
    }
}

/// A reader that went away is no failure.
fn to_standard_output(bytes: &[u8]) -> Result<(), FileError> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer.map_err(|error| {
            FileError::failed_io(Path::new("-"), "write to standard output", &error)
        }),
    }
}
