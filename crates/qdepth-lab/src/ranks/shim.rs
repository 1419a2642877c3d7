//! Location of the shim for a site's MPI. It is code that this process loads, so it is in the
//! user's cache directory, and is loaded only if nobody except the user or root could have created
//! it.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::Result;
use qdepth_files::{Folder, Kept, Trust, must_be_trusted};
use qdepth_linux::Mpi;

use crate::failure::Usage;

/// Names a shim that lies elsewhere, as where a site keeps one for all of its users.
pub(crate) const NAMED: &str = "QDEPTH_MPI";
/// File name of the shim, which includes the version, since nothing in the shim states it.
const FILE: &str = concat!("libqdepth-mpi-", env!("CARGO_PKG_VERSION"), ".so");

/// `$XDG_CACHE_HOME/qdepth`, else `~/.cache/qdepth`; by the XDG base directory specification a
/// relative path there is none.
fn folder_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Some(cache?.join("qdepth"))
}

fn folder() -> Result<PathBuf> {
    folder_of(|name| std::env::var_os(name)).ok_or_else(|| {
        Usage(
            "neither XDG_CACHE_HOME nor HOME names a directory where the shim for MPI could be \
             kept. Name one: XDG_CACHE_HOME=$PWD/cache qdepth host mpi"
                .to_owned(),
        )
        .into()
    })
}

/// Path of a new shim; its directory is created.
///
/// # Errors
/// If the directory cannot be made, is another user's, or others may write to it; and where what
/// lies there already could be somebody else's.
pub fn created_path() -> Result<PathBuf> {
    let folder = folder()?;
    Folder::make(&folder, 0o700)?;
    must_be_trusted(&folder)?;
    let path = folder.join(FILE);
    drop(Kept::open(&path, Trust::Orders, false)?);
    Ok(path)
}

/// Opens the shim and begins MPI, as one of `ranks`.
///
/// # Errors
/// If there is no shim, somebody else could have written it, it cannot be loaded, or its MPI was
/// not started by this launcher: each rank would then measure the whole plan at the same time.
pub(crate) fn load(ranks: u32) -> Result<Mpi> {
    let path = match std::env::var_os(NAMED) {
        Some(path) => PathBuf::from(path),
        None => in_cache()?,
    };
    let none = |why: &str| {
        Usage(format!(
            "this is one of {ranks} ranks, and MPI cannot be used: {why}. Compile the shim once \
             with the site's mpicc: qdepth host mpi"
        ))
    };
    let found = Kept::open(&path, Trust::Orders, false)?;
    let kept = found.ok_or_else(|| none(&format!("there is no {}", path.display())))?;
    // By its handle: it is what was looked at that is loaded.
    let handle = PathBuf::from(format!("/proc/self/fd/{}", kept.file().as_raw_fd()));
    let mpi = Mpi::open(&handle).map_err(|why| none(&loader_message(&path, &handle, &why)))?;
    if mpi.size() < ranks {
        return Err(strangers(ranks, mpi.size()).into());
    }
    Ok(mpi)
}

fn strangers(ranks: u32, size: u32) -> Usage {
    Usage(format!(
        "the launcher started {ranks} ranks, and MPI counts {size}: the two do not know each \
         other. Take the mpirun of the MPI whose mpicc compiled the shim; under Slurm `srun \
         --mpi=pmix` (Open MPI) or `srun --mpi=pmi2` (MPICH and those after it), of what `srun \
         --mpi=list` has"
    ))
}

fn in_cache() -> Result<PathBuf> {
    let folder = folder()?;
    Ok(folder.join(FILE))
}

/// Message of the loader, with the name that the user knows.
fn loader_message(path: &Path, handle: &Path, why: &str) -> String {
    let why = why.replace(&*handle.to_string_lossy(), &path.to_string_lossy());
    if why.contains("failed to map segment") {
        // What the loader says of a file system that is mounted noexec.
        return format!(
            "{why} (its file system may forbid programs: name a directory on another one by \
             XDG_CACHE_HOME, there and here)"
        );
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_xdg_says_else_in_the_home() {
        let with = |cache: Option<&str>, home: Option<&str>| {
            folder_of(|name| match name {
                "XDG_CACHE_HOME" => cache.map(OsString::from),
                _ => home.map(OsString::from),
            })
        };
        let is = |path: &str| Some(PathBuf::from(path));
        assert_eq!(with(Some("/c"), Some("/h")), is("/c/qdepth"));
        assert_eq!(with(None, Some("/h")), is("/h/.cache/qdepth"));
        assert_eq!(with(Some("relative"), Some("/h")), is("/h/.cache/qdepth"));
        assert_eq!(with(Some(""), Some("/h")), is("/h/.cache/qdepth"));
        assert_eq!(with(None, Some("")), None);
        assert_eq!(with(None, None), None);
    }

    #[test]
    fn what_the_loader_says_names_the_file() {
        let message =
            |why: &str| loader_message(Path::new("/c/shim.so"), Path::new("/proc/self/fd/7"), why);
        assert_eq!(message("/proc/self/fd/7: file too short"), "/c/shim.so: file too short");
        let noexec = message("/proc/self/fd/7: failed to map segment from shared object");
        assert!(noexec.contains("/c/shim.so") && noexec.contains("XDG_CACHE_HOME"), "{noexec}");
    }
}
