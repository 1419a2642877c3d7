//! Files of jobs that measure nothing (`create_only`).

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_files::Folder;
use qdepth_foreign::fio::{Converted, NewFile};
use qdepth_host::measurement_file::{Wanted, clear_named};
use qdepth_host::system::System;
use qdepth_host::target::{Kind, inspect};
use qdepth_lab::failure::Usage;

/// Unit of a file that qdepth lays out, bytes.
const UNIT: u64 = 4096;

/// Creates and fills the files of jobs that measure nothing. They are kept and labelled, so that
/// later runs may write to them. No other file is changed.
pub(super) fn lay_out(converted: &Converted) -> Result<()> {
    converted.created.iter().try_for_each(lay_out_file)
}

fn lay_out_file(file: &NewFile) -> Result<()> {
    let system = System::real();
    let path = Path::new(&file.path);
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Usage(format!("{}: is not the name of a file", file.path)))?;
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    if !folder.exists() {
        Folder::make(folder, 0o777)?;
    }
    let directory = inspect(&system, folder)?;
    if !matches!(directory.kind, Kind::Directory(_)) {
        return Err(Usage(format!("{}: is not a directory", folder.display())).into());
    }
    let run_id = uuid::Uuid::now_v7().to_string();
    let size_bytes = file.bytes.checked_next_multiple_of(UNIT).unwrap_or(file.bytes);
    let wanted =
        Wanted { size_bytes, run_id: &run_id, now: Timestamp::now(), keep: true, direct: false };
    let cleared = clear_named(&system, &directory, name, &wanted, 0)?;
    cleared.make(&wanted, &mut |_| ControlFlow::Continue(()))?;
    Ok(())
}
