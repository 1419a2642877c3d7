//! Files that jobs leave behind.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_files::{Folder, NewFolder};
use qdepth_foreign::fio::NewFile;
use qdepth_host::Problem;
use qdepth_host::label::LABEL_BYTES;
use qdepth_host::measurement_file::{Wanted, clear, clear_named};
use qdepth_host::system::System;
use qdepth_host::target::{Kind, inspect};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Usage;

/// Creates and fills files. They are kept and labelled, so that later runs may write to them. No
/// other file is changed.
pub(super) fn lay_out(files: &[NewFile]) -> Result<()> {
    let signals = Signals::watch()?;
    files.iter().try_for_each(|file| lay_out_file(file, &signals))
}

fn lay_out_file(file: &NewFile, signals: &Signals) -> Result<()> {
    let system = System::real();
    let path = Path::new(&file.path);
    let run_id = uuid::Uuid::now_v7().to_string();
    let wanted = wanted(file.bytes, &run_id);
    let mut progress = |_| match signals.caught() {
        Some(_) => ControlFlow::Break(()),
        None => ControlFlow::Continue(()),
    };
    if path.exists() {
        // An empty file, which stays if it cannot be filled, or an own one that is too short.
        let target = inspect(&system, path)?;
        if !matches!(target.kind, Kind::RegularFile { .. }) {
            return Err(Usage(format!("{}: is not a regular file", path.display())).into());
        }
        clear(&system, &target, &wanted, 0)?.make(&wanted, &mut progress)?;
        return Ok(());
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Usage(format!("{}: is not the name of a file", file.path)))?;
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    // Removed again if a guard refuses the file.
    let _folders = make_folders([folder])?;
    let directory = inspect(&system, folder)?;
    if !matches!(directory.kind, Kind::Directory(_)) {
        return Err(Usage(format!("{}: is not a directory", folder.display())).into());
    }
    clear_named(&system, &directory, name, &wanted, 0)?.make(&wanted, &mut progress)?;
    Ok(())
}

fn wanted(bytes: u64, run_id: &str) -> Wanted<'_> {
    let size_bytes = bytes.checked_next_multiple_of(LABEL_BYTES).unwrap_or(bytes);
    Wanted { size_bytes, run_id, now: Timestamp::now(), keep: true, direct: false }
}

/// Creates the files of jobs under their own names, as fio does, and extends own ones that are too
/// short. Returns the paths of those that the jobs may write to. An existing file of somebody else
/// stays as it is, and an own one that is long enough keeps what an earlier run wrote.
pub(super) fn lay_out_own(missing: &[NewFile]) -> Result<Vec<String>> {
    let signals = Signals::watch()?;
    let mut own = Vec::new();
    for file in missing {
        let found = std::fs::metadata(&file.path).ok();
        if found.as_ref().is_some_and(|found| !found.is_file()) {
            continue;
        }
        let length = found.map_or(0, |found| found.len());
        let is_own = length == 0 || is_own(file, length)?;
        if length.saturating_sub(LABEL_BYTES) < file.bytes && is_own {
            lay_out_file(file, &signals)?;
        }
        own.extend(is_own.then(|| file.path.clone()));
    }
    Ok(own)
}

/// True if qdepth created and filled an existing file.
fn is_own(file: &NewFile, length: u64) -> Result<bool> {
    let system = System::real();
    let usable = length.saturating_sub(LABEL_BYTES);
    // Reads all of it for the proof.
    let cleared = clear(&system, &inspect(&system, Path::new(&file.path))?, &wanted(usable, ""), 0);
    match cleared {
        Ok(cleared) => Ok(cleared.bytes_to_fill() == 0),
        Err(Problem::Refused(_)) => Ok(false),
        Err(problem) => Err(problem.into()),
    }
}

/// Creates missing parent directories, as fio does. They are removed with the returned values, if
/// they are empty: the deepest first.
pub(super) fn make_folders<'p>(
    folders: impl IntoIterator<Item = &'p Path>,
) -> Result<VecDeque<NewFolder>> {
    let mut made = VecDeque::new();
    let elsewhere = |path: &&Path| {
        path.to_str().is_some_and(|name| name.starts_with("media:")) || path.starts_with("/dev")
    };
    for folder in folders.into_iter().filter(|path| !elsewhere(path)) {
        // A link that leads nowhere exists: a folder would be created where it leads.
        let lacks = |path: &&Path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err();
        let missing: Vec<&Path> = folder.ancestors().take_while(lacks).collect();
        for folder in missing.into_iter().rev() {
            Folder::make_new(folder, 0o777)?.into_iter().for_each(|new| made.push_front(new));
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_folders_are_removed_and_links_are_kept() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        let [link, deep] = [at("link"), at("a/b")];
        let made = make_folders([link.as_path(), deep.as_path()]).unwrap();
        assert!(deep.is_dir());
        drop(made);
        assert!(!at("a").exists() && !at("nowhere").exists());
        assert!(link.symlink_metadata().is_ok());
    }
}
