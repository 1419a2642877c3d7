//! Every argument that can be a path, with names that lead to objects that must not be touched. The
//! arguments are found in clap's tree of commands, so a new option is covered automatically.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use clap::{Arg, CommandFactory};
use sha2::{Digest, Sha256};

use crate::flags::Flags;

/// Environment variable with the words of the program, separated by line feeds.
const WORDS: &str = "QDEPTH_TEST_WORDS";
/// Placeholder for a hostile name.
const NAME: &str = "{}";
const NOBODY: u32 = 65534;
/// Time limit of a command. None needs ten seconds of CPU time, but other tests may use the CPUs.
const LIMIT: Duration = Duration::from_secs(180);

/// Runs the program in a child process: the test binary has no path to the real one.
#[test]
#[ignore = "is the program that the tests of this file start"]
fn child_runs_the_program() {
    let words = std::env::var_os(WORDS).expect("words of a command line");
    let words = words.as_bytes().split(|byte| *byte == b'\n');
    let words = words.map(|word| OsString::from_vec(word.to_vec()));
    let status = crate::exit_status::run_catching_panics(|| crate::program(words));
    #[expect(clippy::exit, reason = "the status is what is asked for")]
    std::process::exit(i32::from(status));
}

#[expect(clippy::disallowed_methods, reason = "the tests start this very program")]
fn start(folder: &Path, words: &[OsString]) -> Command {
    let all: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "tests::hostile_names::child_runs_the_program",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(
            WORDS,
            OsString::from_vec([b"qdepth".to_vec(), b"\n".to_vec(), all.join(&b'\n')].concat()),
        )
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program; `None` if it hung and was killed.
#[expect(clippy::disallowed_methods, reason = "a hang must end")]
fn ended(folder: &Path, words: &[OsString]) -> Option<Output> {
    let mut child = start(folder, words).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Some(child.wait_with_output().unwrap())
}

/// Further words that a command needs to reach the code that uses its files; commands not listed
/// need none.
const WAYS: &[(&str, &str)] = &[
    ("run", "media:p3700-800gb --profile database --queue-depth 1 --duration 10ms --no-pin"),
    ("answer", "media:p3700-800gb --duration 10ms --no-pin --at p90=0.3ms --within 5s"),
    ("fit-for", "postgres-wal media:p3700-800gb --duration 10ms --no-pin"),
    ("plan", "media:p3700-800gb --profile database"),
    ("fio", "--no-report"),
    ("ior", "--no-report"),
    ("compare", "latest~1 latest"),
    ("predict", "quick --profile database"),
    ("reproduce", "--target nobody=media:p3700-800gb"),
    ("serve", "--address 203.0.113.7 --port 0"),
    ("serve-medium", "independent(media:p3700-800gb*2)"),
    ("schema", "plan"),
    ("note", "latest words"),
    ("retract", "latest words"),
    ("logbook prune", "--state killed --dry-run"),
    ("certify", "--show"),
    ("host calibrate", "--engine sync"),
    ("host check", "--duration 10ms"),
    ("host tune", "no-such-device"),
];

/// Command lines whose paths clap does not see: arguments of other programs, or paths after other
/// words.
const MORE: &[&str] = &[
    "fio --no-report --output-format=json --output={} --name=j --filename=media\\:p3700-800gb \
     --rw=randread --bs=4k --size=1m",
    "fio --no-report --name=j --filename=media\\:p3700-800gb --rw=randread --size=1m \
     --write_bw_log={}",
    "fio --no-report --name=j --filename=media\\:p3700-800gb --rw=read --size=1m --per_job_logs=0 \
     --write_lat_log={}",
    "fio --no-report include.fio",
    "ior --no-report -- -a POSIX -t 1m -b 1m -O summaryFile={} -o made",
    "ior --no-report -- -w -t 1m -b 1m -o {}",
    "run {} --profile database --queue-depth 1 --duration 10ms --no-report",
    "run quick no-target --destroy nothing --consent {} --no-report",
    "report --format md -o {}",
    "report --format csv -o {}",
    "report --format typst,json,html -o {}",
    "report --paper logo.toml",
    "compare {}:all latest",
    "compare latest {}:latest",
    "plan plan.toml",
    "reproduce --html {}",
    "reproduce write-pressure --paper {}",
];

/// Prefixes of command lines that end before the name is read, or that report another name; they
/// must change nothing either.
const NOT_NAMED: &[(&str, &str)] = &[
    ("plan media", "a plan touches nothing, where results would go neither"),
    ("host calibrate ", "what is read is read by every engine, through the door of `run`"),
    ("host prepare ", "a preparation would have to be there, and to be applied"),
    ("host tune ", "the journal is used where something is applied"),
    ("import  --logbook", "nothing is imported"),
    ("trend  --output", "a page that is made under that name with an ending"),
    ("compare latest~1 latest --output", "a page that could be made; the logbook has one run"),
    (
        "certify --show --output",
        "a page that could be made; the logbook keeps no certificate to print",
    ),
    ("logbook merge  --logbook", "no other logbook is given"),
    ("media ", "a description's name ends in .toml"),
    ("reproduce --target nobody", "a whole document would be emulated"),
    ("run quick no-target", "consent is read for a device that is there"),
    ("serve --address", "a logbook need not be there yet; then no port is to be had"),
    ("serve-medium independent", "a directory that is fit is not complained of"),
    ("run /", "a target is told by its real name"),
    ("ior --no-report -- -w", "the directory of the target is told"),
    ("ior --no-report --report", "no report is asked for"),
];

/// Names of arguments that are not paths, whatever their type.
const NO_PATHS: &[&str] = &["words"];

/// Command lines, each with a placeholder for one argument that can be a path.
fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    let mut below = vec![(String::new(), Flags::command())];
    while let Some((path, mut command)) = below.pop() {
        command.build();
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            below.push((path.trim().to_owned(), sub.clone()));
        }
        let tried: Vec<&Arg> = command.get_arguments().filter(|arg| is_path(arg)).collect();
        let way = WAYS.iter().find(|(listed, _)| *listed == path).map_or("", |(_, way)| *way);
        for arg in tried {
            let needed = command.get_arguments().filter(|other| other.is_required_set());
            let needed = needed.filter(|other| other.get_id() != arg.get_id());
            let needed = needed.filter_map(|other| other.get_long());
            let needed: String = needed.map(|long| format!("--{long}=fresh-{long} ")).collect();
            lines.push(match arg.get_long() {
                Some(long) => format!("{path} {way} {needed}--{long}={NAME}"),
                // The placeholder replaces the value that the line has for this argument.
                None => {
                    format!("{path} {needed}{NAME} {}", &way[way.find("--").unwrap_or(way.len())..])
                }
            });
        }
    }
    assert!(lines.len() >= 20, "{lines:#?}");
    lines.extend(MORE.iter().map(|line| (*line).to_owned()));
    lines
}

/// True if an argument is a path by its value type, value name, or id.
fn is_path(arg: &Arg) -> bool {
    let of_type = arg.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>();
    let words: Vec<&str> =
        arg.get_value_names().into_iter().flatten().map(|n| n.as_str()).collect();
    let by_name = words.iter().any(|w| ["FILE", "DIRECTORY", "PATH", "DEVICE"].contains(w));
    (of_type || by_name || arg.get_id() == "name") && !NO_PATHS.contains(&arg.get_id().as_str())
}

/// Device node that does not exist.
const NO_DEVICE: &str = "/dev/qdepth-is-no-device";

/// Directory with objects that must not change.
struct World {
    dir: tempfile::TempDir,
    device: Option<PathBuf>,
    _listener: UnixListener,
}

#[expect(clippy::disallowed_methods, reason = "loop devices are made by programs")]
fn sh(line: &str) -> Option<String> {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        // Binary content, so that no result may replace it.
        let bytes: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
        fs::write(at("binary"), &bytes).unwrap();
        fs::hard_link(at("binary"), at("hard-link")).unwrap();
        symlink(at("binary"), at("link")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        fs::write(at("directory/dear"), "dear").unwrap();
        assert!(sh(&format!("mkfifo {}", at("fifo").display())).is_some());
        let _listener = UnixListener::bind(at("socket")).unwrap();
        File::create(at("huge")).unwrap().set_len(1 << 40).unwrap();
        let device = dir.path().to_str().and_then(|dir| {
            fs::write(format!("{dir}/image"), &bytes).unwrap();
            sh(&format!("losetup -f --show {dir}/image")).map(PathBuf::from)
        });
        match &device {
            Some(device) => symlink(device, at("link-to-device")).unwrap(),
            None => println!("SKIPPED: names of devices: no loop device can be made"),
        }
        if rustix::process::geteuid().is_root() {
            let sticky = at("sticky");
            fs::create_dir(&sticky).unwrap();
            fs::set_permissions(&sticky, fs::Permissions::from_mode(0o1777)).unwrap();
            fs::write(sticky.join("another's"), "dear").unwrap();
            chown(sticky.join("another's"), Some(NOBODY), Some(NOBODY)).unwrap();
            symlink(at("directory"), sticky.join("way")).unwrap();
            std::os::unix::fs::lchown(sticky.join("way"), Some(NOBODY), Some(NOBODY)).unwrap();
        } else {
            println!("SKIPPED: names of another user's: not root");
        }
        Self { dir, device, _listener }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Hostile names.
    fn names(&self) -> Vec<PathBuf> {
        let own =
            ["binary", "hard-link", "link", "fifo", "socket", "huge"].map(|name| self.at(name));
        let mut names = own.to_vec();
        names.extend(
            ["/dev/zero", "/dev/full", NO_DEVICE, "/proc/self/mem", "/proc/sysrq-trigger"]
                .map(PathBuf::from),
        );
        names.push(self.at("directory/"));
        if let Some(device) = &self.device {
            names.push(device.clone());
            names.push(self.at("link-to-device"));
            names.push(Path::new("/proc/self/root").join(device.strip_prefix("/").unwrap()));
        }
        if self.at("sticky").exists() {
            names.extend([self.at("sticky/another's"), self.at("sticky/way/dear")]);
        }
        names
    }

    /// Objects that must not change.
    fn things(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for folder in ["", "directory", "sticky"].map(|name| self.at(name)) {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            paths.extend(entries.map(|entry| entry.unwrap().path()));
        }
        paths.sort();
        paths.retain(|path| !path.ends_with("scratch"));
        paths.extend(["/dev/null", "/dev/zero", "/dev/full"].map(PathBuf::from));
        paths.extend(self.device.clone());
        paths
    }
}

/// Files and directories below `/dev` that are not devices; no command may create any.
fn no_devices() -> Vec<PathBuf> {
    let entries = fs::read_dir("/dev").unwrap().map(|entry| entry.unwrap());
    let plain =
        |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
    entries.filter(plain).map(|entry| entry.path()).collect()
}

/// Entries below a directory, recursively, with their sizes.
fn below(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            found.extend(below(&path));
        }
        found.insert(path, if about.is_dir() { 0 } else { about.len() });
    }
    found
}

/// Descriptions of files for comparison: owner, mode, inode, links, content.
fn described(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| one_described(path)).collect()
}

fn one_described(path: &Path) -> String {
    let found = fs::symlink_metadata(path).unwrap();
    let kind = found.file_type();
    let digest = if kind.is_block_device() || (kind.is_file() && found.len() < 1 << 30) {
        let mut bytes = Vec::new();
        File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        format!("{:02x?}", Sha256::digest(&bytes).as_slice())
    } else {
        format!("{:?}", fs::read_link(path).ok())
    };
    let (mode, node, device) = (found.mode(), found.ino(), found.rdev());
    // The link count of a directory changes with new subdirectories, which are allowed.
    let names = if kind.is_dir() { 0 } else { found.nlink() };
    format!("{} {mode:o} {} {node} {device} {} {digest}", path.display(), found.uid(), names)
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            sh(&format!("losetup -d {}", device.display()));
        }
    }
}

#[test]
fn no_command_line_changes_foreign_files() {
    let lines = lines();
    // Two halves run in parallel, each in its own directory.
    let (first, other) = lines.split_at(lines.len() / 2);
    let (tries, names, wrong) = std::thread::scope(|scope| {
        let halves = [first, other].map(|lines| scope.spawn(|| tried(lines)));
        let halves = halves.map(|half| half.join().unwrap());
        let [(tries, names, wrong), (more_tries, _, more_wrong)] = halves;
        (tries + more_tries, names, [wrong, more_wrong].concat())
    });
    assert!(wrong.is_empty(), "{} of {tries}:\n{}", wrong.len(), wrong.join("\n"));
    println!("TRIES hostile-names {tries} lines={} names={names} changed=0 hung=0", lines.len());
}

/// Number of tries and names, and the problems found.
fn tried(lines: &[String]) -> (usize, usize, Vec<String>) {
    let world = World::new();
    let scratch = world.at("scratch");
    fs::create_dir(&scratch).unwrap();
    let words =
        |line: &str| -> Vec<OsString> { line.split_whitespace().map(OsString::from).collect() };
    // A logbook with one run, for the commands that read one.
    let made =
        "run media:p3700-800gb --profile database --queue-depth 1 --duration 10ms --no-report";
    assert!(ended(&scratch, &words(made)).unwrap().status.code().is_some_and(|code| code < 2));
    let things = world.things();
    let (before, no_devices_before) = (described(&things), no_devices());
    let (mut tries, mut wrong) = (0, Vec::new());
    for line in lines {
        for name in world.names() {
            let text = name.display().to_string();
            fs::write(scratch.join("include.fio"), format!("[a]\ninclude {text}\n")).unwrap();
            fs::write(scratch.join("logo.toml"), format!("logo = {text:?}\n")).unwrap();
            let plan = format!("name = \"x\"\n[[target]]\npath = {text:?}\n");
            fs::write(scratch.join("plan.toml"), plan).unwrap();
            let line = line.replace(NAME, &text);
            tries += 1;
            let untouched = below(&scratch);
            let output = ended(&scratch, &words(&line));
            let refused = output.as_ref().is_some_and(|o| matches!(o.status.code(), Some(2 | 3)));
            wrong.extend(what_is_wrong(&line, &text, output));
            let now = below(&scratch);
            if refused && now != untouched {
                let new = now.iter().filter(|(path, size)| untouched.get(*path) != Some(*size));
                let new: Vec<_> = new.collect();
                wrong.push(format!("refused, and yet changed: {line}\n    {new:?}"));
            }
            for (now, then) in described(&things).iter().zip(&before) {
                assert_eq!(now, then, "{line}");
            }
            let made = no_devices().into_iter().find(|path| !no_devices_before.contains(path));
            assert_eq!(made, None, "{line}");
        }
    }
    (tries, world.names().len(), wrong)
}

/// Failures of a command line.
fn what_is_wrong(line: &str, name: &str, output: Option<Output>) -> Option<String> {
    let Some(output) = output else { return Some(format!("hangs: {line}")) };
    let message = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code();
    if !matches!(status, Some(0..=5)) {
        return Some(format!("{status:?}: {line}\n    {message}"));
    }
    let last = Path::new(name).file_name().map(|last| last.to_string_lossy().into_owned());
    let named = message.contains(&last.unwrap_or_default());
    let excused = NOT_NAMED.iter().any(|(beginning, _)| line.starts_with(beginning));
    let must_be_named = status != Some(0) && line.contains(name) && !excused;
    (must_be_named && !named).then(|| format!("{status:?}, not named: {line}\n    {message}"))
}
