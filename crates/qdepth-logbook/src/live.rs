//! The events of a run that is measured right now, read from its sign beside the logbook.

use std::io::{Read, Seek, SeekFrom};

use qdepth_files::Kept;

/// Read at once: more than anybody writes between two looks.
const CHUNK: u64 = 8 << 20;

/// The events of a run that a process is measuring, read as they come.
#[derive(Debug)]
pub struct LiveEvents {
    sign: Kept,
    at: u64,
}

impl LiveEvents {
    pub(crate) fn new(sign: Kept) -> Self {
        Self { sign, at: 0 }
    }

    /// Position of the next read, in bytes: for [`seek`](Self::seek).
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Goes on where an earlier reader stopped.
    pub fn seek(&mut self, position: u64) {
        self.at = position;
    }

    /// The lines that have come since; none at all once the run has ended and all is read. A writer
    /// that began its file anew, since it had become too long, is followed.
    pub fn more(&mut self) -> Option<Vec<String>> {
        let gone = !self.sign.is_in_place();
        let lines = self.lines().unwrap_or_default();
        if gone && lines.is_empty() { None } else { Some(lines) }
    }

    fn lines(&mut self) -> std::io::Result<Vec<String>> {
        let mut file = self.sign.file();
        if file.metadata()?.len() < self.at {
            self.at = 0;
        }
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        file.take(CHUNK).read_to_end(&mut bytes)?;
        // What has no end yet comes whole the next time.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.at += whole as u64;
        let text = String::from_utf8_lossy(&bytes[..whole]);
        Ok(text.lines().map(str::to_owned).collect())
    }
}
