//! Access to the machine: kernel files below one root, and commands with a time limit.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::device_number::DeviceNumber;
use crate::kernel_file;
use crate::loop_device::{self, LoopHolds};
use crate::recording::Recording;

pub use crate::recording::Output;

const COMMAND_LIMIT: Duration = Duration::from_secs(30);

/// Reason why a command gave no output.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Not installed, or no permission to start it.
    #[error("`{command}` could not be started: {error}; install it or add it to the PATH")]
    NotStarted {
        /// Name of the command.
        command: String,
        /// Error of the system, which the message contains.
        error: io::Error,
    },
    /// It was stopped because it took too long.
    #[error("`{command}` did not end within {seconds} s and was stopped; the device may hang")]
    TooLong {
        /// Name of the command.
        command: String,
        /// Time limit in seconds.
        seconds: u64,
    },
}

/// The machine, or a directory tree that simulates one.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
    staged: Option<Staged>,
    tape: Option<Arc<Mutex<Recording>>>,
    before_action: Option<BeforeAction>,
}

/// Test hook between a check and the action that relies on it; receives the name of the action.
#[derive(Clone)]
struct BeforeAction(Arc<dyn Fn(&str) + Send + Sync>);

impl std::fmt::Debug for BeforeAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BeforeAction")
    }
}

#[derive(Clone, Debug, Default)]
struct Staged {
    outputs: BTreeMap<String, Output>,
    /// Answers in sequence, by the whole command line; shared by all clones.
    sequences: Arc<Mutex<BTreeMap<String, VecDeque<Output>>>>,
    nodes: BTreeMap<PathBuf, DeviceNumber>,
    loops: BTreeMap<String, LoopHolds>,
    recorded: Option<Recording>,
}

impl System {
    /// This machine.
    pub fn real() -> Self {
        Self { root: PathBuf::from("/"), staged: None, tape: None, before_action: None }
    }

    /// This machine; all answers are recorded.
    pub fn recording() -> Self {
        Self { tape: Some(Arc::default()), ..Self::real() }
    }

    /// A recorded machine: no file is read and no command is started.
    pub fn recorded(recording: Recording) -> Self {
        let staged = Staged { recorded: Some(recording), ..Staged::default() };
        Self { root: PathBuf::from("/"), staged: Some(staged), tape: None, before_action: None }
    }

    /// Calls the hook in every interval between a check and the action that relies on it, so that
    /// tests can change the machine at exactly these moments.
    #[must_use]
    pub fn with_before_action(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.before_action = Some(BeforeAction(Arc::new(hook)));
        self
    }

    /// Calls the test hook before an action.
    pub(crate) fn before_action(&self, act: &str) {
        if let Some(BeforeAction(hook)) = &self.before_action {
            hook(act);
        }
    }

    /// True for this machine; false for a simulated or recorded one.
    pub(crate) fn is_real(&self) -> bool {
        self.staged.is_none()
    }

    /// Recording so far; empty if nothing is recorded.
    pub fn tape(&self) -> Recording {
        let mut taken = Recording::default();
        self.record(|tape| taken = tape.clone());
        taken
    }

    fn record(&self, what: impl FnOnce(&mut Recording)) {
        if let Some(tape) = &self.tape {
            what(&mut tape.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn recorded_tree(&self) -> Option<&Recording> {
        self.staged.as_ref()?.recorded.as_ref()
    }

    /// A machine simulated by the files below `root`. No command is started; only answers staged
    /// with [`Self::with_output`] are returned.
    pub fn staged(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), staged: Some(Staged::default()), tape: None, before_action: None }
    }

    /// Stages the output of a command, by its name or by its whole command line.
    #[must_use]
    pub fn with_output(mut self, command: &str, output: Output) -> Self {
        if let Some(staged) = &mut self.staged {
            staged.outputs.insert(command.to_owned(), output);
        }
        self
    }

    /// Stages outputs of a command, by its whole command line, in sequence. After the last one it
    /// answers as if none had been staged.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_outputs(
        self,
        line: &str,
        outputs: impl IntoIterator<Item = Output>,
    ) -> Self {
        if let Some(staged) = &self.staged {
            let mut all = staged.sequences.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(line.to_owned(), outputs.into_iter().collect());
        }
        self
    }

    /// Stages a block device node, because an ordinary user cannot create one.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_node(mut self, path: &str, number: DeviceNumber) -> Self {
        if let Some(staged) = &mut self.staged {
            staged.nodes.insert(PathBuf::from(path), number);
        }
        self
    }

    /// Stages the backing of a loop device; that of all others is unknown.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_loop(mut self, name: &str, holds: LoopHolds) -> Self {
        if let Some(staged) = &mut self.staged {
            staged.loops.insert(name.to_owned(), holds);
        }
        self
    }

    /// Path of an absolute path below the root.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let path = absolute.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Contents of a file; invalid UTF-8 is replaced.
    ///
    /// # Errors
    /// The error of the system.
    pub fn read_file(&self, path: impl AsRef<Path>) -> io::Result<String> {
        let path = path.as_ref();
        if let Some(recorded) = self.recorded_tree() {
            return recorded.read_file(path);
        }
        let answer = kernels_file(&self.path(path));
        self.record(|tape| tape.saw_file(path, &answer));
        answer
    }

    /// Boot ID of the running kernel.
    pub(crate) fn boot(&self) -> Option<String> {
        self.read_trimmed("/proc/sys/kernel/random/boot_id")
    }

    /// Contents of a file without surrounding white space; `None` if it cannot be read or is empty.
    pub fn read_trimmed(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = self.read_file(path).ok()?;
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// The error of the system.
    pub fn list_dir(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let path = path.as_ref();
        if let Some(recorded) = self.recorded_tree() {
            return recorded.list_dir(path);
        }
        let answer = self.names_in(path);
        self.record(|tape| tape.saw_list(path, &answer));
        answer
    }

    fn names_in(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.path(path))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Target of a symbolic link, unresolved.
    ///
    /// # Errors
    /// The error of the system.
    pub fn read_link(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = path.as_ref();
        if let Some(recorded) = self.recorded_tree() {
            return recorded.read_link(path);
        }
        self.record(|tape| tape.saw_link(path));
        std::fs::read_link(self.path(path))
    }

    /// A path of the machine with all links resolved; `None` if it does not exist.
    pub fn canonical(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = path.as_ref();
        if let Some(recorded) = self.recorded_tree() {
            return recorded.exists(path).then(|| recorded.canonical(path));
        }
        self.record(|tape| tape.saw_path(path));
        let real = self.path(path).canonicalize().ok()?;
        let root = self.root.canonicalize().ok()?;
        Some(Path::new("/").join(real.strip_prefix(root).ok()?))
    }

    /// True if the path exists.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        if let Some(recorded) = self.recorded_tree() {
            return recorded.exists(path);
        }
        self.record(|tape| tape.saw_path(path));
        let is_node = self.staged.as_ref().is_some_and(|staged| staged.nodes.contains_key(path));
        is_node || self.path(path).exists()
    }

    /// The block size that a file system reports, in bytes (statfs(2)); `None` for a recorded
    /// machine, since recordings do not contain it.
    ///
    /// # Errors
    /// The error of the system.
    pub fn file_system_block(&self, path: impl AsRef<Path>) -> io::Result<Option<i64>> {
        if self.staged.is_some() {
            return Ok(None);
        }
        Ok(Some(rustix::fs::statfs(path.as_ref())?.f_bsize))
    }

    /// Number of the block device at a path; `None` if it is not a block device.
    pub fn block_node(&self, path: impl AsRef<Path>) -> Option<DeviceNumber> {
        let path = path.as_ref();
        if let Some(staged) = &self.staged {
            return staged.nodes.get(path).copied();
        }
        let stat = rustix::fs::stat(path).ok()?;
        let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        (kind == rustix::fs::FileType::BlockDevice).then(|| DeviceNumber::from_raw(stat.st_rdev))
    }

    /// Backing of a loop device, by its kernel name (`loop0`) and number.
    pub(crate) fn loop_holds(&self, name: &str, number: Option<DeviceNumber>) -> LoopHolds {
        match &self.staged {
            Some(staged) => staged.loops.get(name).copied().unwrap_or(LoopHolds::Unknown),
            None => loop_device::holds(&self.path(Path::new("/dev").join(name)), number),
        }
    }

    /// Value of a file of procfs or sysfs, also for paths given by the user.
    ///
    /// # Errors
    /// If it is not such a file, is not text or is too long, or the system refuses.
    pub(crate) fn read_setting(&self, path: &str) -> io::Result<String> {
        if let Some(recorded) = self.recorded_tree() {
            return Ok(recorded.read_file(Path::new(path))?.trim().to_owned());
        }
        kernel_file::read(&self.root, self.staged.is_none(), Path::new(path))
    }

    /// Writes one value to a file of procfs or sysfs.
    ///
    /// # Errors
    /// If it is not such a file, or the system refuses.
    pub(crate) fn write_setting(&self, path: &str, value: &str) -> io::Result<()> {
        if self.recorded_tree().is_some() {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        kernel_file::write(&self.root, self.staged.is_none(), Path::new(path), value)
    }

    /// Runs a command to its end, with the C locale, without standard input, for at most 30 s.
    ///
    /// # Errors
    /// If it could not be started or took too long. A non-zero exit status is not an error here.
    pub fn run<S: AsRef<OsStr>>(&self, command: &str, args: &[S]) -> Result<Output, CommandError> {
        self.run_for(command, args, COMMAND_LIMIT)
    }

    /// [`Self::run`] with another time limit.
    ///
    /// # Errors
    /// Like [`Self::run`].
    pub fn run_for<S: AsRef<OsStr>>(
        &self,
        command: &str,
        args: &[S],
        limit: Duration,
    ) -> Result<Output, CommandError> {
        self.run_with(command, args, limit, None)
    }

    /// [`Self::run_for`] with this standard input instead of none.
    pub(crate) fn run_with<S: AsRef<OsStr>>(
        &self,
        command: &str,
        args: &[S],
        limit: Duration,
        input: Option<OwnedFd>,
    ) -> Result<Output, CommandError> {
        let Some(staged) = &self.staged else {
            let answer = run_command(command, args, limit, input);
            if let Ok(output) = &answer {
                self.record(|tape| tape.saw_output(&line(command, args), output));
            }
            return answer;
        };
        let line = line(command, args);
        let recorded = staged.recorded.as_ref().and_then(|recorded| recorded.output(&line));
        let next = || {
            let mut all = staged.sequences.lock().unwrap_or_else(PoisonError::into_inner);
            all.get_mut(&line)?.pop_front()
        };
        let fixed = || staged.outputs.get(&line).or(staged.outputs.get(command)).cloned();
        recorded.or_else(next).or_else(fixed).ok_or_else(|| CommandError::NotStarted {
            command: command.to_owned(),
            error: rustix::io::Errno::NOENT.into(),
        })
    }
}

/// Contents of a file of the kernel or the system. Files that users name are opened through
/// qdepth-files.
#[expect(clippy::disallowed_methods, reason = "the one place that reads procfs and sysfs")]
fn kernels_file(path: &Path) -> io::Result<String> {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A command as it would be typed, for words without spaces.
pub(crate) fn line<S: AsRef<OsStr>>(command: &str, args: &[S]) -> String {
    let args = args.iter().map(|arg| arg.as_ref().to_string_lossy());
    std::iter::once(command.into()).chain(args).collect::<Vec<_>>().join(" ")
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that runs commands")]
fn run_command<S: AsRef<OsStr>>(
    command: &str,
    args: &[S],
    limit: Duration,
    input: Option<OwnedFd>,
) -> Result<Output, CommandError> {
    let not_started = |error| CommandError::NotStarted { command: command.to_owned(), error };
    let mut child = std::process::Command::new(command)
        .args(args)
        .env("LC_ALL", "C")
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin")
        .stdin(input.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(not_started)?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let texts =
        stdout.recv_timeout(limit).and_then(|stdout| Ok((stdout, stderr.recv_timeout(limit)?)));
    let Ok((stdout, stderr)) = texts else {
        // Not waited for: a command that hangs in the kernel would also block this process.
        let _ = child.kill();
        let seconds = limit.as_secs();
        return Err(CommandError::TooLong { command: command.to_owned(), seconds });
    };
    let status = child.wait().map_err(not_started)?;
    Ok(Output { status: status.code(), stdout, stderr })
}

/// Reads a pipe to its end on a separate thread, so that neither pipe can fill up and block the
/// command.
fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
