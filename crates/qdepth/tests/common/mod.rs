//! What the tests of the binary share: running it as a user does, and storage that misbehaves on
//! demand (nbdkit through nbdfuse, and a loop device on top).

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

mod deadline;
mod turns;

pub(crate) use turns::alone;

/// Runs a shell line; its output, or what went wrong.
pub(crate) fn sh(line: &str) -> Result<String, String> {
    let output = Command::new("sh").args(["-c", line]).output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("`{line}` ended with {}: {}", output.status, said.trim()))
}

/// Directory of the tests' files, which lines of the shell hold: no blank is in its path. Not a
/// temporary directory of the system, which may be memory without direct I/O.
fn place() -> &'static str {
    let built = env!("CARGO_TARGET_TMPDIR");
    if built.contains(char::is_whitespace) { "/var/tmp" } else { built }
}

/// The program under test as a word of a line of the shell, by a link if blanks are in its path.
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

/// True if a test that needs root and these tools can run here; says so where it cannot.
pub(crate) fn can(test: &str, tools: &[&str]) -> bool {
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

/// How the program ended.
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

    /// Finished. On a busy machine points may honestly be invalid (stolen CPU time, a ceiling that
    /// others lowered), so that is for the figures to say.
    #[track_caller]
    pub(crate) fn expect_finished(self) -> Self {
        let status = if self.status == Some(1) { 1 } else { 0 };
        self.expect(status)
    }

    /// Standard output, which must be one JSON document and nothing else.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.out) {
            Ok(value) => value,
            Err(error) => panic!("{error} in {}\nstderr: {}", self.out, self.err),
        }
    }
}

/// The program, running.
pub(crate) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

/// Of a test that failed nothing goes on.
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

    /// Number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until standard error says this.
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

    /// Waits so long at most; a program that is still there then is the test's failure.
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

/// A directory of its own, in which the program runs.
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
            // What another process looks at for a moment is busy.
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

    /// Writes a file and gives its path as a word of a command line.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.join(name), text).unwrap();
        name.to_owned()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.join(name).exists()
    }

    /// Starts the program with these words, separated by spaces.
    pub(crate) fn start(&self, words: &str) -> Running {
        self.start_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// Starts the program with these words, which may have spaces in them.
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

    /// A loop device on a new image of zeros.
    pub(crate) fn device(&self, name: &str, size: u64) -> PathBuf {
        let image = self.join(name);
        File::create(&image).unwrap().set_len(size).unwrap();
        self.attach(&image)
    }

    pub(crate) fn attach(&self, image: &Path) -> PathBuf {
        let node = sh(&format!("losetup --direct-io=on -f --show {}", image.display())).unwrap();
        // The kernel joins waiting requests of adjacent blocks, also random ones: an error below
        // would be that of both.
        let merges = format!("/sys/block/{}/queue/nomerges", node.trim_start_matches("/dev/"));
        match fs::write(&merges, "2") {
            Ok(()) => self.later(format!("echo 0 >{merges}")),
            Err(error) => println!("{merges}: {error}"),
        }
        self.later(format!("losetup -d {node}"));
        PathBuf::from(node)
    }

    /// What nbdkit serves with these words, as a file.
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
        // One request waits at a time on each connection. Threads are ten at most.
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

/// A file whose contents nbdkit serves.
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

    /// Number of errors that nbdkit says it injected into calls of this name.
    pub(crate) fn injected(&self, call: &str) -> u64 {
        let log = fs::read_to_string(&self.log).unwrap();
        let is = |line: &&str| line.contains("injecting") && line.contains(call);
        log.lines().filter(is).count() as u64
    }

    /// What else the two programs below the device said: errors that nobody injected.
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

/// How often, and how much: what must be equal to a single process's.
pub(crate) fn counts(document: &Value) -> Vec<[u64; 5]> {
    let count = |point: &Value, name: &str| point[name].as_u64().unwrap();
    let row = |point: &Value| {
        ["streams", "reads", "writes", "read_bytes", "written_bytes"].map(|name| count(point, name))
    };
    points(document).iter().map(row).collect()
}

/// The program's shim, compiled for this kind of MPI.
pub(crate) fn shim(workspace: &Workspace, kind: &str) -> PathBuf {
    let shim = workspace.join(&format!("libqdepth-mpi-{kind}.so"));
    if !shim.exists() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../qdepth-linux/shim/qdepth-mpi.c");
        let compiler = format!("mpicc.{kind} -shared -fPIC -O2 -Wall -Werror");
        sh(&format!("{compiler} -o {} {source}", shim.display())).unwrap();
    }
    shim
}

/// A figure of a finding, where a point has that finding.
pub(crate) fn figure(point: &Value, code: &str, name: &str) -> Option<f64> {
    let findings = point["findings"].as_array().unwrap();
    findings.iter().find(|f| f["code"] == code)?["values"][name].as_f64()
}

/// What names a loop device well enough to consent to its loss.
pub(crate) fn token(node: &str, size_bytes: u64) -> String {
    let name = node.trim_start_matches("/dev/");
    let count = std::fs::read_to_string(format!("/sys/block/{name}/diskseq")).unwrap();
    format!("{node}:{size_bytes}:{}", count.trim())
}

/// The lines of the consent file that a refusal prints, as a user copies them.
pub(crate) fn consent_lines(refusal: &str) -> String {
    let keys = ["destroy = ", "size_bytes = ", "expires = "];
    let is = |line: &&str| keys.iter().any(|key| line.starts_with(key));
    let lines: Vec<&str> = refusal.lines().filter(is).collect();
    assert_eq!(lines.len(), 3, "{refusal}");
    lines.join("\n")
}
