//! Machine facts for an IOR command line: directories, existing files, space, memory.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use qdepth_files::{Folder, Input, NewFolder, limit};
use qdepth_foreign::ior::{FileSystem, Hog, Ior};
use qdepth_host::measurement_file::spare_bytes;
use qdepth_lab::failure::Usage;
use qdepth_lab::ranks::all_ranks::launched;
use rustix::fs::{StatVfs, statvfs};

/// Bytes reserved for file system metadata, on top of the files' sizes.
const METADATA_RESERVE: u64 = 64 << 20;

/// Creates a directory for each task if `-u` asks for it. Those that did not exist are removed with
/// the returned values, if they are empty.
pub(super) fn directories(ior: &mut Ior, tasks: u32) -> Result<Vec<NewFolder>> {
    let mut made = Vec::new();
    for folder in ior.own_directories(tasks).iter().filter(|_| ior.writes) {
        made.extend(Folder::make_new(Path::new(folder), 0o700)?);
    }
    Ok(made)
}

/// Reads the number of transfers that an earlier run wrote, for a run that only reads.
pub(super) fn status_of(ior: &mut Ior) -> Result<()> {
    let Some(path) = ior.status_file.as_ref().filter(|_| !ior.writes) else { return Ok(()) };
    let why = || Usage(format!("stoneWallingStatusFile: {path} contains no number of transfers"));
    ior.pairs = Some(number_in(path)?.with_context(why)?);
    Ok(())
}

/// The number that a status file contains; `None` if it contains none.
pub(crate) fn number_in(path: &str) -> Result<Option<u64>> {
    let text = Input::at(path, limit::JOB).text()?;
    Ok(text.trim().parse().ok().filter(|number| *number > 0))
}

/// Reduces the writes to the available space: twice their size must be free (G13).
pub(super) fn limit_to_free_space(ior: &mut Ior, targets: &[PathBuf], tasks: u32) {
    let room = |target: &PathBuf| {
        let file_system = statvfs(target).ok()?;
        let free = file_system.f_bavail.saturating_mul(file_system.f_frsize);
        let spare = spare_bytes(file_system.f_blocks.saturating_mul(file_system.f_frsize));
        Some((free / 2).min(free.saturating_sub(spare)).saturating_sub(METADATA_RESERVE))
    };
    // Divided by their number, because directories may share a file system.
    let least = targets.iter().filter_map(room).min().unwrap_or(0) / targets.len().max(1) as u64;
    let each = least / u64::from(tasks).div_ceil(targets.len().max(1) as u64).max(1);
    // If not even one transfer fits, the guard G13 reports it.
    if each >= ior.block.min(ior.transfer) {
        ior.fit(each);
    }
}

/// Checks that the files to read exist and are long enough.
pub(super) fn check_files_exist(ior: &mut Ior, targets: &[PathBuf], tasks: u32) -> Result<()> {
    let files = if ior.file_per_process { tasks } else { 1 };
    let sharing = if ior.file_per_process { 1 } else { u64::from(tasks) };
    let drawn = ior.random > 1;
    let bytes = if drawn { sharing * ior.block } else { end(ior, sharing) };
    let mut least = u64::MAX;
    for rank in 0..files {
        let index = rank as usize % targets.len();
        let stem = Path::new(&ior.files[index]).file_name().unwrap_or_default().to_string_lossy();
        let path = targets[index].join(ior.file_name(&stem, rank));
        let long = std::fs::metadata(&path).map(|found| found.len());
        if let Some(length) = long.as_ref().ok().filter(|length| **length >= bytes) {
            least = least.min(*length);
            continue;
        }
        let found = long.map_or_else(|why| why.to_string(), |length| format!("{length} B"));
        bail!(Usage(format!(
            "-r reads {bytes} B of {}, but found: {found}. Write the file first, with -w -k",
            path.display()
        )));
    }
    if drawn {
        ior.existing_bytes = Some(least / sharing / ior.block * ior.block);
    }
    Ok(())
}

/// Offset of the end of the last transfer of a file, bytes.
fn end(ior: &Ior, sharing: u64) -> u64 {
    let bytes = ior.bytes_per_task();
    if ior.file_per_process {
        return bytes;
    }
    let before = (bytes.max(1) - 1) / ior.block;
    let rest = bytes - before * ior.block;
    (before * sharing).saturating_add(sharing - 1).saturating_mul(ior.block).saturating_add(rest)
}

/// Allocates the memory of `-M`, which the page cache then cannot use. It is touched, and held
/// until the value is dropped.
pub(super) fn allocate_memory(ior: &Ior) -> Result<Vec<u8>> {
    let memory = rustix::system::sysinfo();
    let all = (memory.totalram as u64).saturating_mul(u64::from(memory.mem_unit));
    let ranks = u64::from(launched().unwrap_or(1));
    let bytes = match ior.hog {
        None => return Ok(Vec::new()),
        Some(Hog::Task(bytes)) if launched().is_some() => bytes,
        Some(Hog::Task(bytes)) => bytes.saturating_mul(ior.tasks.unwrap_or(1).into()),
        Some(Hog::Node(bytes)) => bytes / ranks,
        Some(Hog::Share(share)) => (all as f64 * share) as u64 / ranks,
    };
    let free = (memory.freeram as u64).saturating_mul(u64::from(memory.mem_unit));
    let mut held = Vec::new();
    let length = usize::try_from(bytes).ok().filter(|_| bytes.saturating_mul(ranks) <= free);
    if length.is_none_or(|length| held.try_reserve_exact(length).is_err()) {
        bail!(Usage(format!(
            "-M takes {bytes} B of memory, but only {free} B are free: use a smaller value, or \
             drop the page cache first (echo 1 > /proc/sys/vm/drop_caches)"
        )));
    }
    held.resize(length.unwrap_or(0), 1);
    Ok(held)
}

/// File system of the first file, for the header of IOR's output.
pub(super) fn file_system(ior: &Ior) -> Option<FileSystem> {
    let name = ior.names().first()?;
    let path = Path::new(name);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    file_system_of(folder.unwrap_or(Path::new(".")), ior.file_name(name, 0))
}

/// File system of a directory, with the path to print.
pub(crate) fn file_system_of(folder: &Path, path: String) -> Option<FileSystem> {
    let StatVfs { f_blocks, f_bfree, f_frsize, f_files, f_ffree, .. } = statvfs(folder).ok()?;
    Some(FileSystem {
        path,
        total_bytes: f_blocks.saturating_mul(f_frsize),
        free_bytes: f_bfree.saturating_mul(f_frsize),
        inodes: f_files,
        free_inodes: f_ffree,
    })
}
