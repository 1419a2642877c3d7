//! Events of a run in progress, read from its event file next to the logbook.

use std::io::{Read, Seek, SeekFrom};

use qdepth_files::Kept;

/// Maximum bytes per read: more than is written between two reads.
const CHUNK: u64 = 8 << 20;

/// Reader of the events of a run in progress.
#[derive(Debug)]
pub struct LiveEvents {
    sign: Kept,
    at: u64,
}

impl LiveEvents {
    pub(crate) fn new(sign: Kept) -> Self {
        Self { sign, at: 0 }
    }

    /// Position of the next read, bytes: for [`seek`](Self::seek).
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Continues where an earlier reader stopped.
    pub fn seek(&mut self, position: u64) {
        self.at = position;
    }

    /// New lines; `None` after the end of the run if all were read. Follows a file that was
    /// restarted because it had become too long.
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
        // An incomplete last line is returned by the next call.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.at += whole as u64;
        let text = String::from_utf8_lossy(&bytes[..whole]);
        Ok(text.lines().map(str::to_owned).collect())
    }
}
