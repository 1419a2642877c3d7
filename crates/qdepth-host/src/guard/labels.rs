//! Labels on devices and in files.

use std::fs::File;

use super::writing::Writing;
use crate::label::{LABEL_BYTES, Label, RESERVED_BYTES, end_offset};
use crate::refusal::Failure;
use crate::target::{Inspected, Kind};

/// The complete label of a device (same at both ends, made for this size) or of a file.
pub(super) fn own_label(target: &Inspected, file: &File, size_bytes: u64) -> Option<Label> {
    match &target.kind {
        Kind::Directory(_) => None,
        Kind::RegularFile { .. } => {
            let label = Label::read_at(file, size_bytes.checked_sub(LABEL_BYTES)?).ok()??;
            (label.size_bytes.checked_add(LABEL_BYTES) == Some(size_bytes)).then_some(label)
        }
        Kind::BlockDevice(_) => {
            let first = Label::read_at(file, 0).ok()??;
            let last = Label::read_at(file, end_offset(size_bytes)).ok()??;
            (first == last && first.size_bytes == size_bytes).then_some(first)
        }
    }
}

/// A device to whose loss the user consented.
#[derive(Debug)]
pub(super) struct ToLabel {
    pub(super) kernel_name: String,
    pub(super) size_bytes: u64,
}

/// Guard G8: writes the label. These are the first bytes that are ever written to a device.
pub(super) fn put_label(
    file: &File,
    device: &ToLabel,
    writing: &Writing<'_>,
) -> Result<Label, Failure> {
    let label = Label::new(writing.run_id, &writing.now.to_string(), device.size_bytes);
    let write = || {
        clear_reserved(file, device.size_bytes)?;
        label.write_at(file, 0)?;
        label.write_at(file, end_offset(device.size_bytes))?;
        file.sync_all()
    };
    write().map_err(|error| Failure {
        doing: "label",
        thing: format!("/dev/{}", device.kernel_name),
        error,
        remedy: "The device cannot be written: check the kernel's log (`dmesg`)",
    })?;
    Ok(label)
}

/// Overwrites old signatures at both ends, to whose loss the user consented, so that a later run
/// does not find half a file system next to the label.
fn clear_reserved(file: &File, size_bytes: u64) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt;
    let zeros = crate::aligned::AlignedBuffer::new(RESERVED_BYTES as usize);
    file.write_all_at(zeros.bytes(), 0)?;
    let start = (size_bytes - RESERVED_BYTES).next_multiple_of(4096);
    let length = (size_bytes - start) / 4096 * 4096;
    file.write_all_at(&zeros.bytes()[..length as usize], start)
}
