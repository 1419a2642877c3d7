//! The binaries of tests, in two lanes. The one that runs the program on storage has the machine,
//! and left a quarter of its CPUs' time. The others, which compute, take that.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::root;

/// Tests of the program, most of which run it on storage: package and target.
const MEASURES: (&str, &str) = ("qdepth", "all");
/// All of its tests may wait at a time; `tests/common/turns.rs` says how many run.
const MEASURES_THREADS: usize = 1000;

/// Figures of a run of tests.
#[derive(Default)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// What failed tests printed: told again at the end, where somebody looks.
    pub failures: Vec<String>,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
    }

    /// A check that is no test of cargo's; none where it cannot be made here.
    pub fn check(&mut self, what: &str, answer: Result<Option<()>>) {
        match answer {
            Ok(Some(())) => self.passed += 1,
            Ok(None) => {
                println!("SKIPPED: {what} is not to be had here");
                self.skipped += 1;
            }
            Err(why) => self.fail(what, &why),
        }
    }

    fn fail(&mut self, what: &str, why: &anyhow::Error) {
        let line = format!("{what}: FAILED: {why:#}");
        println!("{line}");
        self.failures.push(line);
        self.failed += 1;
    }

    /// Says what failed and how many there were.
    pub fn close(self) -> Result<()> {
        for line in &self.failures {
            println!("{line}");
        }
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        if self.failed > 0 {
            bail!("{} tests failed", self.failed);
        }
        Ok(())
    }
}

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

    /// Runs it, shows what it prints, and counts.
    fn run(&self, examples: Option<&Path>) -> Counts {
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut command = Command::new(&self.program);
        command.arg("--show-output").current_dir(&self.folder);
        // Many tests wait for storage: with as many threads as CPUs, half of the CPUs' time went
        // by unused. With twice as many, figures depended on the machine being quiet.
        let threads = if self.measures() { MEASURES_THREADS } else { cpus + 1 };
        if std::env::var_os("RUST_TEST_THREADS").is_none() {
            command.env("RUST_TEST_THREADS", threads.to_string());
        }
        command.envs(examples.map(|folder| ("QDEPTH_FIO_EXAMPLES", folder)));
        let name = format!("{} of {}", self.target, self.package);
        println!("running {name}");
        counted(&name, command, self.measures())
    }
}

/// Builds the tests of the workspace, all or those that these words leave.
///
/// # Errors
/// Where they do not compile.
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

/// What a lane does behind its binaries.
pub type Behind = fn(&mut Counts);

/// Runs them in two lanes, and behind each what belongs there.
///
/// # Errors
/// Where the program itself fails.
pub fn run(
    binaries: &[TestBinary],
    examples: Option<&Path>,
    [behind_first, behind_rest]: [Behind; 2],
) -> Result<Counts> {
    let (first, rest): (Vec<&TestBinary>, Vec<&TestBinary>) =
        binaries.iter().partition(|binary| binary.measures());
    let lane = |binaries: Vec<&TestBinary>, behind: Behind| {
        let mut counts = Counts::default();
        binaries.into_iter().for_each(|binary| counts.add(binary.run(examples)));
        behind(&mut counts);
        counts
    };
    std::thread::scope(|scope| {
        let rest = scope.spawn(|| {
            if !first.is_empty() {
                take_what_is_left();
            }
            lane(rest, behind_rest)
        });
        let mut counts = lane(first.clone(), behind_first);
        counts.add(rest.join().map_err(|_| anyhow::anyhow!("a lane of tests panicked"))?);
        Ok(counts)
    })
}

/// This thread, and what it starts, gets CPUs that nobody else wants (`SCHED_IDLE`). Where that
/// cannot be had it goes on as it was.
fn take_what_is_left() {
    let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    if let Some(number) = thread.file_name() {
        let _ = Command::new("chrt").args(["-i", "-p", "0"]).arg(number).status();
    }
}

/// The examples in comments, which cargo runs alone.
pub fn examples_in_comments() -> Counts {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--workspace", "--doc", "--no-fail-fast"]).current_dir(root());
    counted("examples in comments", cargo, true)
}

/// Runs a program that prints as tests do. What is not shown at once comes in one piece.
fn counted(name: &str, mut command: Command, at_once: bool) -> Counts {
    let mut counts = Counts::default();
    let mut run = || -> Result<()> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().context("it has no output")?;
        let (mut failing, mut text) = (false, String::new());
        for line in BufReader::new(out).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            counts.line(&line, &mut failing);
            // Most of that time it waited for its turn.
            if line.ends_with("has been running for over 60 seconds") {
                continue;
            }
            match at_once {
                true => println!("{line}"),
                false => text += &(line + "\n"),
            }
        }
        print!("{text}");
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

impl Counts {
    /// Takes what a line of a test's output says.
    fn line(&mut self, line: &str, failing: &mut bool) {
        *failing = line == "failures:" || *failing && !line.starts_with("test result: ");
        if *failing {
            self.failures.push(line.to_owned());
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += number_before(result, " passed");
            self.failed += number_before(result, " failed");
            self.skipped += number_before(result, " ignored");
        }
        self.skipped += u64::from(line.trim_start().starts_with("SKIPPED"));
    }
}

fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tests_print_is_counted_and_failures_are_told_again() {
        let mut counts = Counts::default();
        let mut failing = false;
        let text = "test a ... ok\n  SKIPPED: b: not root\nfailures:\n---- c ----\nbecause\n\
                    test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured\nbehind";
        text.lines().for_each(|line| counts.line(line, &mut failing));
        assert_eq!((counts.passed, counts.failed, counts.skipped), (12, 1, 3));
        assert_eq!(counts.failures, ["failures:", "---- c ----", "because"]);
    }
}
