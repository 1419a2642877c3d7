//! Errors of reading and writing files.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// Kind of failure, which determines the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The name is unsuitable: wrong usage.
    Wrong,
    /// The file must not or cannot be used; nothing was changed.
    Refused,
    /// The operation failed while in progress.
    Failed,
}

/// Error of reading or writing a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FileError {
    /// Kind of failure.
    pub how: How,
    /// Path as given by the user.
    pub path: PathBuf,
    /// Problem, naming the file; no full stop at the end.
    pub found: String,
    /// Remedy; no full stop at the end. Empty if there is none.
    pub remedy: Box<str>,
    /// Suitable name instead of `path`, if known.
    pub instead: Option<Box<Path>>,
    /// Error number of the system, if any.
    pub errno: Option<Errno>,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.found)?;
        if self.how == How::Refused {
            f.write_str("; nothing was changed")?;
        }
        if !self.remedy.is_empty() {
            write!(f, ". {}", self.remedy)?;
        }
        Ok(())
    }
}

impl FileError {
    fn new(how: How, path: &Path, found: String, remedy: impl Into<Box<str>>) -> Self {
        let (path, remedy) = (path.to_owned(), remedy.into());
        Self { how, path, found, remedy, instead: None, errno: None }
    }

    pub(crate) fn wrong(path: &Path, found: String, remedy: impl Into<Box<str>>) -> Self {
        Self::new(How::Wrong, path, found, remedy)
    }

    pub(crate) fn refused(path: &Path, found: String, remedy: impl Into<Box<str>>) -> Self {
        Self::new(How::Refused, path, found, remedy)
    }

    /// Error of the system during `doing`, for example `make a file in DIR`.
    pub(crate) fn failed(path: &Path, doing: &str, errno: Errno) -> Self {
        let found = format!("cannot {doing}: {}", io::Error::from(errno));
        let mut failed = Self::new(How::Failed, path, found, remedy_of(errno));
        failed.errno = Some(errno);
        failed
    }

    /// Error of the system during an action on the file itself, for example `open`.
    pub(crate) fn cannot(verb: &str, path: &Path, errno: Errno) -> Self {
        Self::failed(path, &format!("{verb} {}", path.display()), errno)
    }

    /// Like [`FileError::failed`], for errors of the standard library.
    pub(crate) fn failed_io(path: &Path, doing: &str, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(code) => Self::failed(path, doing, Errno::from_raw_os_error(code)),
            None => Self::new(How::Failed, path, format!("cannot {doing}: {error}"), ""),
        }
    }

    pub(crate) fn instead(self, instead: PathBuf) -> Self {
        Self { instead: Some(instead.into()), ..self }
    }

    /// The command line with a suitable name instead of this one; `None` if no name is suitable, or
    /// the command line does not contain this one.
    pub fn next_command(&self, words: impl Iterator<Item = OsString>) -> Option<String> {
        let (instead, named) = (self.instead.as_deref()?, self.path.as_os_str());
        let mut found = false;
        let words: Vec<String> = words
            .map(|word| match word.as_bytes().strip_suffix(named.as_bytes()) {
                Some(before) if before.is_empty() || before.ends_with(b"=") => {
                    found = true;
                    let mut word = OsStr::from_bytes(before).to_owned();
                    word.push(instead);
                    self::word(Path::new(&word))
                }
                _ => self::word(Path::new(&word)),
            })
            .collect();
        found.then(|| words.join(" "))
    }

    /// True if the directory does not exist.
    pub(crate) fn is_missing_directory(&self) -> bool {
        self.how == How::Wrong && self.errno == Some(Errno::NOENT)
    }

    /// True if there is no space: file system, quota or size limit.
    pub fn is_full(&self) -> bool {
        matches!(self.errno, Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG))
    }
}

fn remedy_of(errno: Errno) -> &'static str {
    match errno {
        Errno::NOSPC => "Free some space there, or name another file",
        Errno::DQUOT => "The quota is exhausted: delete files, or name another file",
        Errno::FBIG => "The limit on the file size is reached (`ulimit -f`): raise it",
        Errno::ROFS => "The file system is mounted read-only: name another file",
        Errno::ACCESS | Errno::PERM => {
            "Name a file in a directory that you may write to, or ask its owner"
        }
        Errno::MFILE | Errno::NFILE => "Too many files are open (`ulimit -n`): raise the limit",
        _ => "",
    }
}

/// Path, quoted for a shell.
pub(crate) fn word(path: &Path) -> String {
    let text = path.display().to_string();
    shlex::try_quote(&text).map_or_else(|_| text.clone(), |quoted| quoted.into_owned())
}
