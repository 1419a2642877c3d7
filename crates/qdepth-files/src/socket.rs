//! Unix sockets to listen on.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, chmod, fstat, stat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};

use crate::at_work::AtWork;
use crate::error::{FileError, word};
use crate::folder::Folder;
use crate::sort::{Identity, identity, sort_of};
use crate::walk::{Missing, among_devices};

/// Maximum number of waiting connections.
const WAITING: i32 = 128;

/// Socket in the file system that only its owner can connect to; its name is removed on drop.
#[derive(Debug)]
pub struct Socket {
    folder: Folder,
    name: OsString,
    path: PathBuf,
    which: Identity,
}

impl Socket {
    /// Listens on a socket with mode 0600, whatever the umask. Replaces a socket of that name that
    /// nobody listens on any more.
    ///
    /// # Errors
    /// If the name is in use, another process listens there, or it cannot be created.
    pub fn listen(path: &Path) -> Result<(Self, UnixListener), FileError> {
        let _work = AtWork::on(path);
        let (folder, name) = Folder::containing(path, Missing::Error)?;
        if folder.among_devices() {
            return Err(among_devices(path));
        }
        let failed = |errno| FileError::cannot("listen on", path, errno);
        // Use the directory's handle instead of its name: it is short and cannot be moved away.
        let address = SocketAddrUnix::new(folder.by_handle().join(&name)).map_err(failed)?;
        clear_the_name(&folder, &name, path, &address)?;
        let own = stream_socket().map_err(failed)?;
        bind(&own, &address).map_err(|errno| match errno {
            Errno::ADDRINUSE => taken(path, "another file got that name".to_owned()),
            _ => failed(errno),
        })?;
        // Nobody can connect before `listen`, so the mode from the umask does no harm.
        let node = folder.open_path(&name).map_err(failed)?;
        let found = fstat(&node).map_err(failed)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
            return Err(taken(path, format!("it became {}", sort_of(&found))));
        }
        let handle = format!("/proc/self/fd/{}", node.as_raw_fd());
        chmod(handle, Mode::from_raw_mode(0o600)).map_err(failed)?;
        listen(&own, WAITING).map_err(failed)?;
        let which = identity(&found);
        let socket = Self { folder, name, path: path.to_owned(), which };
        Ok((socket, UnixListener::from(own)))
    }

    /// Removes its name if it still refers to this socket.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(&self) -> Result<(), FileError> {
        self.folder
            .remove_if(&self.name, self.which)
            .map(|_| ())
            .map_err(|errno| FileError::cannot("remove", &self.path, errno))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = self.folder.remove_if(&self.name, self.which);
    }
}

fn stream_socket() -> rustix::io::Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

/// Removes a socket that a killed process left behind.
fn clear_the_name(
    folder: &Folder,
    name: &OsString,
    path: &Path,
    address: &SocketAddrUnix,
) -> Result<(), FileError> {
    let failed = |errno| FileError::cannot("look at", path, errno);
    let Some(found) = folder.entry_stat(name).map_err(failed)? else { return Ok(()) };
    if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
        return Err(taken(path, format!("it is {}", sort_of(&found))));
    }
    // A socket of another type answers EPROTOTYPE. A bound socket that does not listen yet refuses
    // connections like a dead one.
    let asking = stream_socket().map_err(failed)?;
    rustix::io::ioctl_fionbio(&asking, true).map_err(failed)?;
    match connect(&asking, address) {
        Err(Errno::CONNREFUSED) if !may_be_bound(folder, name) => {}
        Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE | Errno::CONNREFUSED) => {
            return Err(taken(path, "a process is using it".to_owned()));
        }
        Err(errno) => return Err(failed(errno)),
    }
    if !folder.remove_if(name, identity(&found)).map_err(failed)? {
        return Err(taken(path, "it changed while qdepth checked it".to_owned()));
    }
    Ok(())
}

/// True if the kernel's list of live sockets contains one that may have this name: bound to a path
/// with this name, in this directory or relative to an unknown one.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel's, by a fixed name")]
fn may_be_bound(folder: &Folder, name: &OsStr) -> bool {
    let Ok(list) = std::fs::read("/proc/net/unix") else { return true };
    let paths = list.split(|byte| *byte == b'\n').filter_map(|line| {
        // Num, RefCount, Protocol, Flags, Type, St and Inode precede the path.
        line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(7)
    });
    let mut bound = paths.map(|path| Path::new(OsStr::from_bytes(path)));
    bound.any(|path| {
        let is_elsewhere = path.is_absolute() && !path.starts_with("/proc") && {
            let parent = stat(path.parent().unwrap_or(path)).map(|found| identity(&found));
            parent != folder.identity()
        };
        path.file_name() == Some(name) && !is_elsewhere
    })
}

fn taken(path: &Path, why: String) -> FileError {
    let found = format!("cannot listen on {}: {why}", path.display());
    let remedy = format!("Choose another path, or find the owner with `ls -l -- {}`", word(path));
    FileError::refused(path, found, remedy)
}
