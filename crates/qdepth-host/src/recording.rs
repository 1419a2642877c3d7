//! Recording of a machine as text: every file, link, directory listing and command that was read,
//! with its result. `qdepth host --record` writes a recording; reading it gives the same facts.
//!
//! ```text
//! file /proc/version
//! | Linux version 6.1.0 …
//! link /sys/block/vda -> ../devices/pci0000:00/0000:00:02.0/virtio1/block/vda
//! list /sys/block: loop0 vda
//! fail /sys/class/dmi/id/product_serial: 13
//! run smartctl -j -x /dev/vda => 2
//! | {"json_format_version":[1,0]…
//! ! what went to standard error
//! ```
//!
//! The number after `fail` is Linux's errno. `=>` is followed by the exit status, or by `-` if a
//! signal ended the command. Control characters are written as their pictures (U+2400 and up).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Exit status; `None` if a signal ended the command.
    pub status: Option<i32>,
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// Standard error; invalid UTF-8 is replaced.
    pub stderr: String,
}

/// An entry of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    File(String),
    Link(PathBuf),
    List(BTreeSet<String>),
    Fail(i32),
}

/// A recorded machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    entries: BTreeMap<PathBuf, Entry>,
    outputs: BTreeMap<String, Output>,
}

/// Error for a text that is not a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} of the recording, `{text}`, must begin with file, link, list, fail, run, | or !"
)]
pub struct ParseRecordingError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Text of the line.
    pub text: String,
}

/// Largest number of links in a row (same as Linux).
const LINKS_MAX: u32 = 40;

/// A path with all links resolved that `link_at` knows, including the last component.
fn resolve(path: &Path, mut link_at: impl FnMut(&Path) -> Option<PathBuf>) -> PathBuf {
    let mut left: Vec<PathBuf> = parts(path);
    let (mut done, mut links) = (PathBuf::from("/"), 0);
    while let Some(part) = left.pop() {
        if part.as_os_str() == OsStr::new("..") {
            done.pop();
            continue;
        }
        done.push(&part);
        if let Some(target) = link_at(&done).filter(|_| links < LINKS_MAX) {
            links += 1;
            done.pop();
            if target.is_absolute() {
                done = PathBuf::from("/");
            }
            left.extend(parts(&target));
        }
    }
    done
}

/// Components of a path in reverse order.
fn parts(path: &Path) -> Vec<PathBuf> {
    let named = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    named.collect()
}

/// A path with links resolved, except for the last component.
fn resolve_parent(path: &Path, link_at: impl FnMut(&Path) -> Option<PathBuf>) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve(parent, link_at).join(name),
        _ => path.to_owned(),
    }
}

/// Recording of answers.
impl Recording {
    /// The resolved path of something that was found. Records the links on the way.
    fn resolved(&mut self, path: &Path) -> PathBuf {
        resolve(path, |prefix| {
            let target = std::fs::read_link(prefix).ok()?;
            self.entries.insert(prefix.to_owned(), Entry::Link(target.clone()));
            Some(target)
        })
    }

    pub(crate) fn saw_file(&mut self, path: &Path, answer: &io::Result<String>) {
        self.saw(path, answer, |text| Entry::File(text.clone()));
    }

    pub(crate) fn saw_list(&mut self, path: &Path, answer: &io::Result<Vec<String>>) {
        self.saw(path, answer, |names| Entry::List(names.iter().cloned().collect()));
    }

    fn saw<T>(&mut self, path: &Path, answer: &io::Result<T>, entry: impl FnOnce(&T) -> Entry) {
        let fail = |error: &io::Error| {
            let errno = error.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error());
            Entry::Fail(errno)
        };
        let entry = answer.as_ref().map_or_else(fail, entry);
        let resolved = self.resolved(path);
        self.entries.insert(resolved, entry);
    }

    pub(crate) fn saw_link(&mut self, path: &Path) {
        self.resolved(path);
    }

    pub(crate) fn saw_path(&mut self, path: &Path) {
        let resolved = self.resolved(path);
        if !self.entries.contains_key(&resolved) && resolved.exists() {
            let entry = if resolved.is_dir() {
                Entry::List(BTreeSet::new())
            } else {
                Entry::File(String::new())
            };
            self.entries.insert(resolved, entry);
        }
    }

    pub(crate) fn saw_output(&mut self, command: &str, output: &Output) {
        self.outputs.insert(command.to_owned(), output.clone());
    }
}

/// Replay of recorded answers.
impl Recording {
    fn link_at(&self, prefix: &Path) -> Option<PathBuf> {
        match self.entries.get(prefix) {
            Some(Entry::Link(target)) => Some(target.clone()),
            _ => None,
        }
    }

    pub(crate) fn canonical(&self, path: &Path) -> PathBuf {
        resolve(path, |prefix| self.link_at(prefix))
    }

    pub(crate) fn read_file(&self, path: &Path) -> io::Result<String> {
        match self.entries.get(&self.canonical(path)) {
            Some(Entry::File(text)) => Ok(text.clone()),
            Some(Entry::Fail(errno)) => Err(io::Error::from_raw_os_error(*errno)),
            Some(Entry::List(_)) => Err(io::ErrorKind::IsADirectory.into()),
            Some(Entry::Link(_)) | None => Err(rustix::io::Errno::NOENT.into()),
        }
    }

    pub(crate) fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let resolved = resolve_parent(path, |prefix| self.link_at(prefix));
        self.link_at(&resolved).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    pub(crate) fn list_dir(&self, path: &Path) -> io::Result<Vec<String>> {
        let canonical = self.canonical(path);
        let mut names = match self.entries.get(&canonical) {
            Some(Entry::List(names)) => names.clone(),
            Some(Entry::Fail(errno)) => return Err(io::Error::from_raw_os_error(*errno)),
            Some(Entry::File(_) | Entry::Link(_)) | None => BTreeSet::new(),
        };
        // A path that was looked for and not found does not create a directory.
        let absent = Entry::Fail(rustix::io::Errno::NOENT.raw_os_error());
        let below =
            self.entries.range(canonical.clone()..).take_while(|(p, _)| p.starts_with(&canonical));
        let below = below.filter(|(path, entry)| **path == canonical || **entry != absent);
        let children = below.filter_map(|(p, _)| p.strip_prefix(&canonical).ok()?.iter().next());
        names.extend(children.map(|name| name.to_string_lossy().into_owned()));
        if names.is_empty() && !self.entries.contains_key(&canonical) {
            return Err(rustix::io::Errno::NOENT.into());
        }
        Ok(names.into_iter().collect())
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        let canonical = self.canonical(path);
        match self.entries.get(&canonical) {
            Some(Entry::Fail(_)) => false,
            Some(_) => true,
            None => self.list_dir(&canonical).is_ok() || self.is_listed(&canonical),
        }
    }

    fn is_listed(&self, path: &Path) -> bool {
        let Some(Entry::List(names)) = path.parent().and_then(|p| self.entries.get(p)) else {
            return false;
        };
        path.file_name().is_some_and(|name| names.contains(&*name.to_string_lossy()))
    }

    pub(crate) fn output(&self, command: &str) -> Option<Output> {
        self.outputs.get(command).cloned()
    }
}

/// Text form of a recording.
impl Recording {
    /// Text for a file.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (path, entry) in &self.entries {
            let path = path.display();
            // Writing to a string cannot fail.
            let _ = match entry {
                Entry::File(text) => write!(out, "file {path}\n{}", quoted('|', text)),
                Entry::Link(target) => writeln!(out, "link {path} -> {}", target.display()),
                Entry::List(names) => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    writeln!(out, "list {path}: {}", names.join(" "))
                }
                Entry::Fail(errno) => writeln!(out, "fail {path}: {errno}"),
            };
        }
        for (command, output) in &self.outputs {
            let status = output.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
            let _ = write!(
                out,
                "run {command} => {status}\n{}{}",
                quoted('|', &output.stdout),
                quoted('!', &output.stderr)
            );
        }
        out
    }

    /// Parses the text form. Empty lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// The first line with an unknown format.
    pub fn parse(text: &str) -> Result<Self, ParseRecordingError> {
        let mut recording = Self::default();
        let mut lines = text.lines().enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            let bad = || ParseRecordingError { line: index + 1, text: line.to_owned() };
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (kind, rest) = line.split_once(' ').ok_or_else(bad)?;
            let mut body = |mark: char| {
                let mut body = String::new();
                while let Some((_, more)) = lines.next_if(|(_, line)| line.starts_with(mark)) {
                    body.push_str(&from_pictures(more[1..].strip_prefix(' ').unwrap_or("")));
                    body.push('\n');
                }
                body
            };
            let entry = match kind {
                "file" => (rest, Entry::File(body('|'))),
                "link" => {
                    let (path, target) = rest.split_once(" -> ").ok_or_else(bad)?;
                    (path, Entry::Link(PathBuf::from(target)))
                }
                "list" => {
                    let (path, names) =
                        rest.rsplit_once(": ").or(rest.split_once(':')).ok_or_else(bad)?;
                    (path, Entry::List(names.split_whitespace().map(str::to_owned).collect()))
                }
                "fail" => {
                    let (path, errno) = rest.rsplit_once(": ").ok_or_else(bad)?;
                    (path, Entry::Fail(errno.trim().parse().map_err(|_| bad())?))
                }
                "run" => {
                    let (command, status) = rest.rsplit_once(" => ").ok_or_else(bad)?;
                    let status = status.trim().parse().ok();
                    let output = Output { status, stdout: body('|'), stderr: body('!') };
                    recording.outputs.insert(command.to_owned(), output);
                    continue;
                }
                _ => return Err(bad()),
            };
            recording.entries.insert(PathBuf::from(entry.0), entry.1);
        }
        Ok(recording)
    }
}

/// Each line with a mark before it.
fn quoted(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark} {}\n", to_pictures(line))).collect()
}

fn to_pictures(line: &str) -> String {
    let picture = |c: char| match c {
        '\t' => c,
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or(c),
        other => other,
    };
    line.chars().map(picture).collect()
}

fn from_pictures(line: &str) -> String {
    let control = |c: char| match c {
        '\u{2400}'..='\u{241f}' => char::from_u32(c as u32 - 0x2400).unwrap_or(c),
        other => other,
    };
    line.chars().map(control).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn recording_replays_the_original_answers() {
        let text = "# a machine\n\
            link /sys/block/vda -> ../devices/pci0/block/vda\n\
            file /sys/devices/pci0/block/vda/size\n| 2048\n\
            list /sys/devices/pci0/block/vda/holders: md0\n\
            fail /sys/devices/pci0/block/vda/serial: 13\n\
            fail /sys/devices/pci0/block/vda/device/model: 2\n\
            run lvs -o name => 5\n| {}\n";
        let recording = Recording::parse(text).unwrap();
        let at = |path: &str| PathBuf::from(path);
        assert_eq!(recording.read_file(&at("/sys/block/vda/size")).unwrap(), "2048\n");
        assert_eq!(recording.list_dir(&at("/sys/block/vda/holders")).unwrap(), ["md0"]);
        assert!(recording.exists(&at("/sys/block/vda/holders/md0")));
        assert_eq!(recording.list_dir(&at("/sys/block")).unwrap(), ["vda"]);
        let denied = recording.read_file(&at("/sys/block/vda/serial")).unwrap_err();
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
        assert!(!recording.exists(&at("/sys/block/vda/device")));
        let up = recording.canonical(&at("/sys/block/vda/../../size"));
        assert_eq!(up, at("/sys/devices/pci0/size"));
        assert_eq!(recording.output("lvs -o name").unwrap().status, Some(5));
        assert_eq!(Recording::parse(&recording.text()).unwrap(), recording);
    }

    #[test]
    fn circular_links_return_an_error() {
        let text = "link /a -> b\nlink /b -> a\nlink /c -> c/c\n";
        let recording = Recording::parse(text).unwrap();
        assert!(recording.read_file(Path::new("/a/x")).is_err());
        assert!(recording.read_file(Path::new("/c")).is_err());
    }

    proptest! {
        #[test]
        fn any_recording_text_never_panics(text in "(?s).{0,400}", path in "[a-z/.]{0,30}") {
            if let Ok(recording) = Recording::parse(&text) {
                let path = Path::new(&path);
                let _ = (recording.read_file(path), recording.list_dir(path));
                let _ = recording.exists(path);
                let _ = recording.read_link(path);
            }
        }

        #[test]
        fn recording_round_trip_is_lossless(
            text in "[ -~\t\u{0}\u{1b}]{0,60}",
            names in "[a-z0-9]{1,8}",
        ) {
            let path = PathBuf::from(format!("/x/{names}"));
            let mut recording = Recording::default();
            recording.entries.insert(path.clone(), Entry::File(format!("{text}\n")));
            recording.entries.insert("/y".into(), Entry::List([names].into()));
            let back = Recording::parse(&recording.text()).unwrap();
            prop_assert_eq!(back, recording);
        }
    }
}
