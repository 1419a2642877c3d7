//! Output file of a command.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use qdepth_files::{Output, Privacy, Replaced};

use crate::terminal::print_line;

/// Output file, checked before the work and written after it, so that an unusable name does not
/// show only after minutes of measuring.
#[derive(Debug)]
pub(crate) struct ResultFile {
    path: PathBuf,
    output: Output,
}

impl ResultFile {
    /// Checks an output path; `-` is standard output.
    pub(crate) fn at(path: impl AsRef<Path>, privacy: Privacy) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let output = Output::at(&path, privacy)?;
        Ok(Self { path, output })
    }

    /// Checks an output path that must be a file, because standard output has another use.
    pub(crate) fn file(path: impl AsRef<Path>, privacy: Privacy) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let output = Output::file(&path, privacy)?;
        Ok(Self { path, output })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the complete content, and reports a replaced file on standard error.
    pub(crate) fn write(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.report_replaced(self.output.write(bytes.as_ref())?);
        Ok(())
    }

    fn report_replaced(&self, replaced: Option<Replaced>) {
        if let Some(old) = replaced {
            let when = Timestamp::from_second(old.written_at);
            let when = when.map_or_else(|_| String::new(), |when| format!(" of {when}"));
            print_line(&format!("replaced {}, {} bytes{when}", self.path.display(), old.bytes));
        }
    }
}
