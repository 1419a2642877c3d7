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

/// Environment variable with the path of a shim elsewhere, for example one that a site keeps for
/// all users.
pub(crate) const NAMED: &str = "QDEPTH_MPI";
/// File name of the shim, which includes the version, since nothing in the shim states it.
const FILE: &str = concat!("libqdepth-mpi-", env!("CARGO_PKG_VERSION"), ".so");

/// `$XDG_CACHE_HOME/qdepth`, else `~/.cache/qdepth`. By the XDG base directory specification, a
/// relative path in the variable is ignored.
fn folder_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Some(cache?.join("qdepth"))
}

fn folder() -> Result<PathBuf> {
    folder_of(|name| std::env::var_os(name)).ok_or_else(|| {
        Usage(
            "neither XDG_CACHE_HOME nor HOME names a directory for the MPI shim. Name one: \
             XDG_CACHE_HOME=$PWD/cache qdepth host mpi"
                .to_owned(),
        )
        .into()
    })
}

/// Path for a new shim. Creates its directory.
///
/// # Errors
/// If the directory cannot be created, belongs to another user, or is writable by others, or if an
/// existing file there could belong to somebody else.
pub fn created_path() -> Result<PathBuf> {
    let folder = folder()?;
    Folder::make(&folder, 0o700)?;
    must_be_trusted(&folder)?;
    let path = folder.join(FILE);
    drop(Kept::open(&path, Trust::Orders, false)?);
    Ok(path)
}

/// Loads the shim and initialises MPI, as one of `ranks`.
///
/// # Errors
/// If there is no shim, somebody else could have written it, it cannot be loaded, or its MPI was
/// not started by this launcher: each rank would then measure the whole plan at the same time.
pub(crate) fn load(ranks: u32) -> Result<Mpi> {
    let path = match std::env::var_os(NAMED) {
        Some(path) => PathBuf::from(path),
        None => folder()?.join(FILE),
    };
    let none = |why: &str| {
        Usage(format!(
            "this is one of {ranks} ranks, but MPI cannot be used: {why}. Compile the shim once \
             with the site's mpicc: qdepth host mpi"
        ))
    };
    let found = Kept::open(&path, Trust::Orders, false)?;
    let kept = found.ok_or_else(|| none(&format!("{} does not exist", path.display())))?;
    // Loaded by its descriptor, so that the checked file is the loaded file.
    let handle = PathBuf::from(format!("/proc/self/fd/{}", kept.file().as_raw_fd()));
    let mpi = Mpi::open(&handle).map_err(|why| none(&loader_message(&path, &handle, &why)))?;
    if mpi.size() < ranks {
        return Err(strangers(ranks, mpi.size()).into());
    }
    Ok(mpi)
}

fn strangers(ranks: u32, size: u32) -> Usage {
    Usage(format!(
        "the launcher started {ranks} ranks, but MPI sees {size}: launcher and MPI library do not \
         match. Use the mpirun of the MPI whose mpicc compiled the shim. Under Slurm, use `srun \
         --mpi=pmix` (Open MPI) or `srun --mpi=pmi2` (MPICH and derivatives); `srun --mpi=list` \
         shows what is available"
    ))
}

/// Error message of the loader, with the path that the user knows.
fn loader_message(path: &Path, handle: &Path, why: &str) -> String {
    let why = why.replace(&*handle.to_string_lossy(), &path.to_string_lossy());
    if why.contains("failed to map segment") {
        // Message of the loader for a file system that is mounted noexec.
        return format!(
            "{why} (its file system may be mounted noexec: set XDG_CACHE_HOME to a directory on \
             another one, both for `qdepth host mpi` and for the run)"
        );
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_directory_follows_xdg_or_home() {
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
    fn loader_message_names_the_file() {
        let message =
            |why: &str| loader_message(Path::new("/c/shim.so"), Path::new("/proc/self/fd/7"), why);
        assert_eq!(message("/proc/self/fd/7: file too short"), "/c/shim.so: file too short");
        let noexec = message("/proc/self/fd/7: failed to map segment from shared object");
        assert!(noexec.contains("/c/shim.so") && noexec.contains("XDG_CACHE_HOME"), "{noexec}");
    }
}
