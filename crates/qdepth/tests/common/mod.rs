//! Helpers of the tests: running the program as a user does, and storage that misbehaves on demand
//! (nbdkit through nbdfuse, and a loop device on top).

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

mod deadline;
mod turns;

pub(crate) use turns::exclusive_turn;

/// Runs a shell line; returns its output, or the error text.
pub(crate) fn sh(line: &str) -> Result<String, String> {
    let output = Command::new("sh").args(["-c", line]).output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("`{line}` ended with {}: {}", output.status, said.trim()))
}

/// Directory for the tests' files, which shell lines contain, so its path has no blanks. Not the
/// system's temporary directory, which may be in memory without direct I/O.
fn place() -> &'static str {
    let built = env!("CARGO_TARGET_TMPDIR");
    if built.contains(char::is_whitespace) { "/var/tmp" } else { built }
}

/// Path of the program for shell lines: a link without blanks if the real path has some.
pub(crate) fn program() -> String {
    let built = env!("CARGO_BIN_EXE_qdepth");
    if !built.contains(char::is_whitespace) {
        return built.to_owned();
    }
    static LINK: OnceLock<String> = OnceLock::new();
    let made = || {
        let folder = format!("{}/qdepth-under-test-{}", place(), std::process::id());
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(built, format!("{folder}/qdepth")).unwrap();
        format!("{folder}/qdepth")
    };
    LINK.get_or_init(made).clone()
}

/// True if root and these tools are available; otherwise prints that the test is skipped.
pub(crate) fn has_tools(test: &str, tools: &[&str]) -> bool {
    let mut lacks: Vec<String> = Vec::new();
    if sh("id -u").as_deref() != Ok("0") {
        lacks.push("not root".to_owned());
    }
    let missing = tools.iter().filter(|tool| sh(&format!("command -v {tool}")).is_err());
    lacks.extend(missing.map(|tool| format!("{tool} is not installed")));
    if !lacks.is_empty() {
        println!("SKIPPED: {test}: {}", lacks.join(", "));
    }
    lacks.is_empty()
}

/// Exit status and output of the program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Asserts that the program finished. Points may be invalid: on a busy machine that can be
    /// correct (steal time, a ceiling lowered by other load), so the caller must check the figures.
    #[track_caller]
    pub(crate) fn expect_finished(self) -> Self {
        let status = if self.status == Some(1) { 1 } else { 0 };
        self.expect(status)
    }

    /// Standard output as JSON; it must be a single document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.out) {
            Ok(value) => value,
            Err(error) => panic!("{error} in {}\nstderr: {}", self.out, self.err),
        }
    }
}

/// The program while it is running.
pub(crate) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

/// Kills the program if it is still running, for example after a failed assertion.
impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Running {
    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.err).unwrap()).into_owned()
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.out).unwrap()).into_owned()
    }

    /// Process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until standard error contains this text.
    #[track_caller]
    pub(crate) fn wait_for_err(&mut self, text: &str) {
        let began = Instant::now();
        while !self.err().contains(text) {
            let ended = self.child.try_wait().unwrap().is_some() && !self.err().contains(text);
            assert!(!ended, "ended without `{text}`: {}", self.err());
            assert!(began.elapsed() < Duration::from_secs(60), "no `{text}`: {}", self.err());
            pause(5);
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let _ = sh(&format!("kill -{name} {}", self.child.id()));
    }

    pub(crate) fn kill(mut self) -> Ended {
        let _ = self.child.kill();
        self.wait()
    }

    pub(crate) fn wait(mut self) -> Ended {
        let status = self.child.wait().unwrap().code();
        Ended { status, out: fs::read_to_string(&self.out).unwrap(), err: self.err() }
    }

    /// Waits for the end of the program; the test fails if it takes longer than the limit.
    #[track_caller]
    pub(crate) fn wait_at_most(mut self, limit: Duration) -> Ended {
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if began.elapsed() > limit {
                let _ = self.child.kill();
                panic!("still there after {limit:?}: {}", self.err());
            }
            pause(20);
        }
        self.wait()
    }
}

pub(crate) fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Temporary directory in which the program runs.
pub(crate) struct Workspace {
    pub(crate) dir: tempfile::TempDir,
    undo: RefCell<Vec<String>>,
    servers: RefCell<Vec<Child>>,
    count: RefCell<u32>,
}

impl Drop for Workspace {
    fn drop(&mut self) {
        for server in self.servers.borrow().iter() {
            let _ = sh(&format!("kill -CONT {} 2>/dev/null", server.id()));
        }
        while let Some(line) = self.undo.borrow_mut().pop() {
            // Another process, for example udev, may keep the device busy for a moment.
            let again = format!("for i in $(seq 30); do {{ {line}; }} && exit 0; sleep 0.1; done");
            if let Err(error) = sh(&format!("{again}; exit 1")) {
                println!("UNDO FAILED: {error}");
            }
        }
        for server in self.servers.borrow_mut().iter_mut() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Workspace {
    pub(crate) fn new() -> Self {
        turns::turn();
        let dir = tempfile::tempdir_in(place()).unwrap();
        Self { dir, undo: RefCell::default(), servers: RefCell::default(), count: RefCell::new(0) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn later(&self, line: impl Into<String>) {
        self.undo.borrow_mut().push(line.into());
    }

    /// Writes a file, and returns its path as an argument.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.join(name), text).unwrap();
        name.to_owned()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.join(name).exists()
    }

    /// Starts the program with these arguments, separated by blanks.
    pub(crate) fn start(&self, words: &str) -> Running {
        self.start_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// Starts the program with these arguments, which may contain blanks.
    pub(crate) fn start_words(&self, words: &[&str]) -> Running {
        *self.count.borrow_mut() += 1;
        let count = *self.count.borrow();
        let (out, err) = (self.join(&format!("{count}.out")), self.join(&format!("{count}.err")));
        let child = Command::new(env!("CARGO_BIN_EXE_qdepth"))
            .args(words)
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Running { child, out, err }
    }

    pub(crate) fn run(&self, words: &str) -> Ended {
        self.start(words).wait()
    }

    /// Mounts a device with these options on a new directory, until the end of the test.
    pub(crate) fn mounted(&self, node: &Path, options: &str, name: &str) -> PathBuf {
        let at = self.join(name);
        fs::create_dir(&at).unwrap();
        let place = at.display();
        sh(&format!("mount {options} {} {place}", node.display())).unwrap();
        self.later(format!("for i in $(seq 50); do umount {place} && break; sleep 0.1; done"));
        at
    }

    /// A loop device on a new image of zeros.
    pub(crate) fn device(&self, name: &str, size: u64) -> PathBuf {
        let image = self.join(name);
        File::create(&image).unwrap().set_len(size).unwrap();
        self.attach(&image)
    }

    pub(crate) fn attach(&self, image: &Path) -> PathBuf {
        let node = sh(&format!("losetup --direct-io=on -f --show {}", image.display())).unwrap();
        // Disables merging: the kernel would merge queued requests of adjacent blocks, even random
        // ones, and one injected error would fail both.
        let merges = format!("/sys/block/{}/queue/nomerges", node.trim_start_matches("/dev/"));
        match fs::write(&merges, "2") {
            Ok(()) => self.later(format!("echo 0 >{merges}")),
            Err(error) => println!("{merges}: {error}"),
        }
        self.later(format!("losetup -d {node}"));
        PathBuf::from(node)
    }

    /// Starts nbdkit with these arguments, exposed as a file by nbdfuse.
    pub(crate) fn served(&self, words: &str) -> Served {
        let (socket, log) = (self.join("socket"), self.join("served.err"));
        let nbdkit = Command::new("nbdkit")
            .args(["-f", "-t", "64", "-U"])
            .arg(&socket)
            .args(words.split_whitespace())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let pid = nbdkit.id();
        self.servers.borrow_mut().push(nbdkit);
        until(|| "nbdkit does not come".to_owned(), || socket.exists());
        let mount = self.join("served");
        fs::create_dir(&mount).unwrap();
        let file = mount.join("disk");
        let fuse_log = self.join("fuse.err");
        self.later(format!("umount -l {0} 2>/dev/null || ! mountpoint -q {0}", mount.display()));
        // Each connection serves one request at a time. nbdfuse has at most ten threads.
        let fuse = Command::new("nbdfuse")
            .args(["--connections", "64"])
            .arg(&file)
            .arg(format!("nbd+unix:///?socket={}", socket.display()))
            .stderr(File::create(&fuse_log).unwrap())
            .spawn()
            .unwrap();
        self.servers.borrow_mut().push(fuse);
        let said = || fs::read_to_string(&fuse_log).unwrap_or_default();
        until(|| format!("nbdfuse does not come: {}", said()), || file.exists());
        Served { pid, file, log, fuse_log: fuse_log.clone() }
    }
}

#[track_caller]
fn until(failing: impl Fn() -> String, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(10), "{}", failing());
        pause(10);
    }
}

/// File that nbdkit serves through nbdfuse.
pub(crate) struct Served {
    pid: u32,
    pub(crate) file: PathBuf,
    log: PathBuf,
    fuse_log: PathBuf,
}

impl Served {
    pub(crate) fn signal(&self, name: &str) {
        sh(&format!("kill -{name} {}", self.pid)).unwrap();
    }

    /// Number of errors that nbdkit logged as injected into this call.
    pub(crate) fn injected(&self, call: &str) -> u64 {
        let log = fs::read_to_string(&self.log).unwrap();
        let is = |line: &&str| line.contains("injecting") && line.contains(call);
        log.lines().filter(is).count() as u64
    }

    /// Other errors that nbdkit and nbdfuse logged, which were not injected.
    pub(crate) fn unexpected_errors(&self) -> String {
        let logs = [&self.log, &self.fuse_log].map(|log| fs::read_to_string(log).unwrap());
        let else_said = |line: &&str| !line.contains("injecting") && !line.contains("pwrite: ");
        logs.iter().flat_map(|log| log.lines()).filter(else_said).take(20).collect()
    }
}

/// Codes of the findings of a point or a run.
pub(crate) fn codes(holder: &Value) -> Vec<String> {
    let findings = holder["findings"].as_array().unwrap();
    findings.iter().map(|f| f["code"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn points(document: &Value) -> &Vec<Value> {
    document["points"].as_array().unwrap()
}

/// Counts of I/Os and bytes of each point, which must equal a single process's.
pub(crate) fn counts(document: &Value) -> Vec<[u64; 5]> {
    let count = |point: &Value, name: &str| point[name].as_u64().unwrap();
    let row = |point: &Value| {
        ["streams", "reads", "writes", "read_bytes", "written_bytes"].map(|name| count(point, name))
    };
    points(document).iter().map(row).collect()
}

/// Path of the shim, compiled for this implementation of MPI.
pub(crate) fn shim(workspace: &Workspace, kind: &str) -> PathBuf {
    let shim = workspace.join(&format!("libqdepth-mpi-{kind}.so"));
    if !shim.exists() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../qdepth-linux/shim/qdepth-mpi.c");
        let compiler = format!("mpicc.{kind} -shared -fPIC -O2 -Wall -Werror");
        sh(&format!("{compiler} -o '{}' '{source}'", shim.display())).unwrap();
    }
    shim
}

/// Value of a point's finding; `None` if the point lacks it.
pub(crate) fn figure(point: &Value, code: &str, name: &str) -> Option<f64> {
    let findings = point["findings"].as_array().unwrap();
    findings.iter().find(|f| f["code"] == code)?["values"][name].as_f64()
}

/// Consent token of a device or file.
pub(crate) fn token(path: impl AsRef<Path>) -> String {
    let system = qdepth_host::system::System::real();
    let target = qdepth_host::target::inspect(&system, path.as_ref()).unwrap();
    qdepth_host::consent::tokens(&system, &target).remove(0)
}

/// Content of the consent file, copied from a refusal.
pub(crate) fn consent_lines(refusal: &str) -> String {
    let keys = ["destroy = ", "size_bytes = ", "expires = "];
    let is = |line: &&str| keys.iter().any(|key| line.starts_with(key));
    let lines: Vec<&str> = refusal.lines().filter(is).collect();
    assert_eq!(lines.len(), 3, "{refusal}");
    lines.join("\n")
}
