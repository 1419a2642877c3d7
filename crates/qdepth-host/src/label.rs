//! Label of devices and files that qdepth wrote: 4 KiB of text with a checksum.
//!
//! A device has one at its start and one at its end; a measurement file has one after its area. A
//! person can read it with `head -c 512`. It names the file that it was written to, so it is
//! invalid in a copy. It does not prove that the data next to it is qdepth's; the data pattern
//! does.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::io::ReadWriteFlags;
use sha2::{Digest, Sha256};

use crate::aligned::AlignedBuffer;

/// Length of a label in bytes.
pub const LABEL_BYTES: u64 = 4096;

/// Bytes at both ends of a labelled device that are excluded from loads. They hold the label, and
/// the signatures of file systems and partition tables.
pub const RESERVED_BYTES: u64 = 1 << 20;

const FIRST_LINE: &str = "QDEPTH LABEL 3";
const TEXT_BYTES: usize = LABEL_BYTES as usize - 32;

/// Contents of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// UUID of this labelling, the same at both ends of a device.
    pub uuid: String,
    /// UUID of the run that wrote the label.
    pub run_id: String,
    /// Time, RFC 3339.
    pub written_at: String,
    /// Size of the device, or of the area of a measurement file, in bytes.
    pub size_bytes: u64,
    /// True if the area before it was filled completely.
    pub complete: bool,
    /// True if the user asked to keep the file.
    pub keep: bool,
    /// File that the label was written to; `None` on a device.
    pub file: Option<LabelledFile>,
}

/// Identity of a file that distinguishes it from its copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledFile {
    /// Inode of the file.
    pub inode: u64,
    /// Name of the file in its directory, with `_` for each space or control character.
    pub name: String,
}

impl LabelledFile {
    pub(crate) fn new(inode: u64, path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_space = |c: char| c.is_whitespace() || c.is_control();
        Self { inode, name: name.replace(is_space, "_").chars().take(300).collect() }
    }
}

impl Label {
    /// A label with a new UUID. Control characters in the texts become spaces.
    pub fn new(run_id: &str, written_at: &str, size_bytes: u64) -> Self {
        let clean = |text: &str| text.replace(char::is_control, " ").chars().take(200).collect();
        Self {
            uuid: uuid::Uuid::new_v4().to_string(),
            run_id: clean(run_id),
            written_at: clean(written_at),
            size_bytes,
            complete: true,
            keep: false,
            file: None,
        }
    }

    /// The block as written: text, zeros, and the SHA-256 of everything before it.
    pub fn encode(&self) -> [u8; LABEL_BYTES as usize] {
        let mut text = format!(
            "{FIRST_LINE}\nuuid {}\nrun {}\nwritten_at {}\nsize_bytes {}\ncomplete {}\nkeep {}\n",
            self.uuid, self.run_id, self.written_at, self.size_bytes, self.complete, self.keep
        );
        if let Some(file) = &self.file {
            text.push_str(&format!("inode {}\nname {}\n", file.inode, file.name));
        }
        let mut block = [0; LABEL_BYTES as usize];
        let len = text.len().min(TEXT_BYTES);
        block[..len].copy_from_slice(&text.as_bytes()[..len]);
        let sum = Sha256::digest(&block[..TEXT_BYTES]);
        block[TEXT_BYTES..].copy_from_slice(&sum);
        block
    }

    /// Decodes a block; `None` if it is not a label or its checksum is wrong.
    pub fn decode(block: &[u8]) -> Option<Self> {
        let text = block.get(..TEXT_BYTES)?;
        let sum = block.get(TEXT_BYTES..LABEL_BYTES as usize)?;
        if !text.starts_with(FIRST_LINE.as_bytes()) || Sha256::digest(text).as_slice() != sum {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        let value = |key: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
            pairs.find(|(name, _)| *name == key).map(|(_, value)| value.to_owned())
        };
        let file = value("inode").zip(value("name"));
        Some(Self {
            file: file
                .and_then(|(inode, name)| Some(LabelledFile { inode: inode.parse().ok()?, name })),
            uuid: value("uuid")?,
            run_id: value("run")?,
            written_at: value("written_at")?,
            size_bytes: value("size_bytes")?.parse().ok()?,
            complete: value("complete")?.parse().ok()?,
            keep: value("keep")?.parse().ok()?,
        })
    }

    /// Reads the label at an offset; `None` if there is none.
    ///
    /// # Errors
    /// The error of the read.
    pub fn read_at(file: &File, offset: u64) -> io::Result<Option<Self>> {
        let mut block = AlignedBuffer::new(LABEL_BYTES as usize);
        match file.read_exact_at(block.bytes_mut(), offset) {
            Ok(()) => Ok(Self::decode(block.bytes())),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the label at an offset that is a multiple of 4096.
    pub(crate) fn write_at(&self, file: &File, offset: u64) -> io::Result<()> {
        let mut block = AlignedBuffer::new(LABEL_BYTES as usize);
        block.bytes_mut().copy_from_slice(&self.encode());
        file.write_all_at(block.bytes(), offset)
    }

    /// Appends the label to the file, after all of its current contents.
    pub(crate) fn append(&self, file: &File) -> io::Result<()> {
        let mut block = AlignedBuffer::new(LABEL_BYTES as usize);
        block.bytes_mut().copy_from_slice(&self.encode());
        let slices = [io::IoSlice::new(block.bytes())];
        let written = rustix::io::pwritev2(file, &slices, 0, ReadWriteFlags::APPEND)?;
        if written == block.bytes().len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

/// Offset of the last label on a device of `size_bytes`: the last whole 4 KiB.
pub(crate) fn end_offset(size_bytes: u64) -> u64 {
    (size_bytes / LABEL_BYTES).saturating_sub(1) * LABEL_BYTES
}
