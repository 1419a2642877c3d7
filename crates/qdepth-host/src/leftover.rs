//! Files and directories that measurements left, recognised by their marks and contents.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, statat};

use crate::entry;
use crate::guard;
use crate::label::LabelledFile;
use crate::measurement_file::{NAME, own_label};
use crate::own_content::foreign_offset;
use crate::own_folder::{OwnFolder, maker};

/// True if a measurement created the entry, kept or left it, and nobody has stored anything in it
/// since. Reads all of it.
///
/// # Errors
/// If the entry cannot be read.
pub(crate) fn is_leftover(directory: &OwnedFd, name: &str) -> io::Result<bool> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            Ok(OwnFolder::open(directory, name.to_owned())?.left_by()?.is_some())
        }
        FileType::RegularFile if stat.st_nlink == 1 => {
            let file = entry::open(directory, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
            holds_only_ours(&file, name, stat.st_ino)
        }
        _ => Ok(false),
    }
}

fn holds_only_ours(file: &OwnedFd, name: &str, inode: u64) -> io::Result<bool> {
    let is_marked = maker(file, name).is_some();
    let file = File::from(file.try_clone()?);
    let length = file.metadata()?.len();
    if length == 0 {
        // A run that is killed in its first moment leaves its file without a label.
        return Ok(is_marked || name == NAME);
    }
    if is_marked {
        return Ok(foreign_offset(&file, 0, length)?.is_none());
    }
    let itself = Some(LabelledFile::new(inode, Path::new(name)));
    match own_label(&file, length)?.filter(|label| label.file == itself) {
        Some(label) => Ok(guard::foreign_in_area(&file, &label)?.is_none()),
        None => Ok(false),
    }
}
