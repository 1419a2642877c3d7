//! Files that jobs leave behind.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use qdepth_files::Folder;
use qdepth_foreign::fio::NewFile;
use qdepth_host::Problem;
use qdepth_host::label::LABEL_BYTES;
use qdepth_host::measurement_file::{Wanted, clear, clear_named};
use qdepth_host::system::System;
use qdepth_host::target::{Kind, inspect};
use qdepth_lab::failure::Usage;

/// Creates and fills a file. It is kept and labelled, so that later runs may write to it. No other
/// file is changed.
pub(super) fn lay_out(file: &NewFile) -> Result<()> {
    let system = System::real();
    let path = Path::new(&file.path);
    let run_id = uuid::Uuid::now_v7().to_string();
    let size_bytes = file.bytes.checked_next_multiple_of(LABEL_BYTES).unwrap_or(file.bytes);
    let wanted =
        Wanted { size_bytes, run_id: &run_id, now: Timestamp::now(), keep: true, direct: false };
    let mut no_progress = |_| ControlFlow::Continue(());
    if path.exists() {
        // An empty file, which stays if it cannot be filled.
        clear(&system, &inspect(&system, path)?, &wanted, 0)?.make(&wanted, &mut no_progress)?;
        return Ok(());
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Usage(format!("{}: is not the name of a file", file.path)))?;
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    // Removed again if a guard refuses the file.
    let _folders = CreatedFolders::make([folder])?;
    let directory = inspect(&system, folder)?;
    if !matches!(directory.kind, Kind::Directory(_)) {
        return Err(Usage(format!("{}: is not a directory", folder.display())).into());
    }
    clear_named(&system, &directory, name, &wanted, 0)?.make(&wanted, &mut no_progress)?;
    Ok(())
}

/// Creates the files of jobs under their own names, as fio does. Returns the paths of those that
/// the jobs may write to; a file of the same name that others wrote stays as it is.
pub(super) fn lay_out_own(missing: &[NewFile]) -> Result<Vec<String>> {
    let mut own = Vec::new();
    for file in missing {
        let exists = Path::new(&file.path).exists();
        match lay_out(file) {
            Ok(()) => own.push(file.path.clone()),
            Err(error) if exists && is_refusal(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(own)
}

fn is_refusal(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Problem::Refused(_)))
}

/// Missing parent directories, created as fio creates them. Those that are empty at the end are
/// removed again.
pub(super) struct CreatedFolders(Vec<PathBuf>);

impl CreatedFolders {
    pub(super) fn make<'p>(folders: impl IntoIterator<Item = &'p Path>) -> Result<Self> {
        let mut made = Self(Vec::new());
        let elsewhere = |path: &&Path| {
            path.to_str().is_some_and(|name| name.starts_with("media:")) || path.starts_with("/dev")
        };
        for folder in folders.into_iter().filter(|path| !elsewhere(path)) {
            let lacks = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
            let missing: Vec<&Path> = folder.ancestors().take_while(lacks).collect();
            made.0.extend(missing.iter().rev().map(|folder| folder.to_path_buf()));
            if !missing.is_empty() {
                Folder::make(folder, 0o777)?;
            }
        }
        Ok(made)
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            rustix::fs::rmdir(folder).ok();
        }
    }
}
