//! Test binaries in two lanes. The lane that runs the program on storage has priority but leaves a
//! quarter of the CPU time, which the computing tests use.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::root;

mod counts;

pub use counts::Counts;
use counts::Failing;

/// Tests of the program, most of which run it on storage: package and target.
const MEASURES: (&str, &str) = ("qdepth", "all");
/// Tests of the guards that leave descriptors in a socket for seconds. Meanwhile the guards refuse
/// every device, also those of other tests, so that they run in the same lane.
const DISTURBS: (&str, &str) = ("qdepth-host", "stacks");
/// Threads of the measuring tests: enough for all to wait at once. `tests/common/turns.rs` lets a
/// few of them run.
const MEASURES_THREADS: usize = 1000;

/// Environment that makes computing tests keep freed memory, as the program does when it fits
/// models (crates/qdepth-linux/src/memory.rs). Otherwise a test spent 35 of its 73 s on getting
/// memory back from the kernel.
const KEEPS_FREED: [(&str, &str); 3] = [
    ("MALLOC_TRIM_THRESHOLD_", "268435456"),
    ("MALLOC_TOP_PAD_", "16777216"),
    ("MALLOC_MMAP_THRESHOLD_", "33554432"),
];

/// A binary of tests.
pub struct TestBinary {
    package: String,
    target: String,
    program: PathBuf,
    folder: PathBuf,
}

impl TestBinary {
    fn measures(&self) -> bool {
        (&*self.package, &*self.target) == MEASURES
    }

    fn disturbs(&self) -> bool {
        (&*self.package, &*self.target) == DISTURBS
    }

    fn command(&self, examples: Option<&Path>) -> Command {
        let mut command = Command::new(&self.program);
        // A fixed locale, because qdepth's texts depend on it.
        command.arg("--show-output").current_dir(&self.folder).env("LC_ALL", "C.UTF-8");
        command.envs(examples.map(|folder| ("QDEPTH_FIO_EXAMPLES", folder)));
        command
    }

    /// Runs the binary, shows its output, and counts its results.
    fn run(&self, examples: Option<&Path>) -> Counts {
        let cpus = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut command = self.command(examples);
        // One thread more than CPUs. With equal numbers, tests that wait for storage left half of
        // the CPU time unused; with twice as many, results depended on a quiet machine.
        let threads = if self.measures() { MEASURES_THREADS } else { cpus + 1 };
        if std::env::var_os("RUST_TEST_THREADS").is_none() {
            command.env("RUST_TEST_THREADS", threads.to_string());
        }
        if !self.measures() {
            command.envs(KEEPS_FREED);
        }
        let name = format!("{} of {}", self.target, self.package);
        println!("running {name}");
        counted(&name, command, if self.measures() { Shown::AtOnce } else { Shown::Whole })
    }
}

/// Builds the tests of a workspace, all or those that the arguments select.
///
/// # Errors
/// If they do not compile.
pub fn build(which: &[&str]) -> Result<Vec<TestBinary>> {
    let output = Command::new("cargo")
        .args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"])
        .args(which)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo test")?;
    if !output.status.success() {
        bail!("the tests do not compile");
    }
    let text = String::from_utf8(output.stdout)?;
    let binary = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let program = message["executable"].as_str()?;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
        let is_test = message["profile"]["test"] == true;
        is_test.then(|| TestBinary {
            package: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            target: message["target"]["name"].as_str().unwrap_or_default().to_owned(),
            program: program.into(),
            folder: folder.into(),
        })
    };
    Ok(text.lines().filter_map(binary).collect())
}

/// Further work of a lane after its binaries.
pub type FurtherWork = fn(&mut Counts);

/// Runs the binaries in two lanes, followed by each lane's further work.
///
/// # Errors
/// If the program itself fails.
pub fn run(
    binaries: &[TestBinary],
    examples: Option<&Path>,
    [behind_first, behind_rest]: [FurtherWork; 2],
) -> Result<Counts> {
    let (first, rest): (Vec<&TestBinary>, Vec<&TestBinary>) =
        binaries.iter().partition(|binary| binary.measures() || binary.disturbs());
    let lane = |binaries: Vec<&TestBinary>, behind: FurtherWork| {
        let mut counts = Counts::default();
        binaries.into_iter().for_each(|binary| counts.add(binary.run(examples)));
        behind(&mut counts);
        counts
    };
    let shares = !first.is_empty();
    thread::scope(|scope| {
        let rest = scope.spawn(move || {
            if shares {
                lower_to_idle_priority();
            }
            lane(rest, behind_rest)
        });
        let mut counts = lane(first, behind_first);
        counts.add(rest.join().map_err(|_| anyhow::anyhow!("a lane of tests panicked"))?);
        counts.skip_under_steal_time().iter().for_each(|line| println!("{line}"));
        Ok(counts)
    })
}

/// Lowers this thread and its children to idle CPU time (`SCHED_IDLE`). Without permission the
/// priority stays.
fn lower_to_idle_priority() {
    let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    if let Some(number) = thread.file_name() {
        let _ = Command::new("chrt").args(["-i", "-p", "0"]).arg(number).status();
    }
}

/// Runs the doc tests, which only cargo can run.
pub fn examples_in_comments() -> Counts {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--workspace", "--doc", "--no-fail-fast"]).current_dir(root());
    counted("examples in comments", cargo, Shown::AtOnce)
}

/// Moment at which a program's output is shown.
#[derive(Clone, Copy)]
enum Shown {
    /// Line by line.
    AtOnce,
    /// In one piece, once it has ended.
    Whole,
}

/// Time limit for the remaining output of a program that has ended.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Runs a program with the output format of tests, and counts its results.
fn counted(name: &str, mut command: Command, shown: Shown) -> Counts {
    let mut counts = Counts::default();
    let mut run = || -> Result<()> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().context("it has no output")?;
        let (mut failing, mut text) = (Failing::default(), String::new());
        let (sends, lines) = channel();
        // Not a scoped thread: a process left behind by a test may hold the output open for ever.
        thread::spawn(move || {
            BufReader::new(out).split(b'\n').all(|line| sends.send(line).is_ok())
        });
        let (mut status, mut is_held) = (None, false);
        loop {
            let line = match lines.recv_timeout(LAST_WORDS) {
                Ok(line) => String::from_utf8_lossy(&line?).into_owned(),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if status.is_some() => {
                    is_held = true;
                    break;
                }
                Err(RecvTimeoutError::Timeout) => {
                    status = child.try_wait()?;
                    continue;
                }
            };
            counts.line(&line, &mut failing);
            // Most of that time the test waited for its turn.
            if line.ends_with("has been running for over 60 seconds") {
                continue;
            }
            match shown {
                Shown::AtOnce => println!("{line}"),
                Shown::Whole => text += &(line + "\n"),
            }
        }
        print!("{text}");
        if is_held {
            bail!("a program that its tests started still runs, and holds its output");
        }
        let status = child.wait()?;
        if !status.success() && counts.failed == 0 {
            bail!("it ended with {status}");
        }
        Ok(())
    };
    if let Err(why) = run() {
        counts.fail(name, &why);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftover_child_process_does_not_block_the_suite() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 60 & echo 'test result: ok. 1 passed; 0 failed; 0 ignored'"]);
        let begun = std::time::Instant::now();
        let counts = counted("left behind", shell, Shown::Whole);
        assert_eq!((counts.passed, counts.failed), (1, 1));
        assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
    }
}
