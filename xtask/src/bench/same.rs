//! Comparisons whose answer is known, on storage: a directory with its twin, and a served disk with
//! one that answers 5 % later. Root, since the served disks are attached as loop devices.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::programs::binary;
use crate::command::{output, root, show, there_is};

/// Answers of the served disks, ms: the second is 5 % slower.
const DELAYS_MS: [u32; 2] = [20, 21];
/// Comparisons of the disks that differ, where that many of disks that do not are made.
const DIFFERENT: usize = 10;
const READS: &str = "name = \"reads\"\noutstanding = [4, 16]\nwarm_up = \"100ms\"\n\
    duration = \"1s\"\n\
    [[profile]]\nname = \"reads\"\nrandom = 100\nread = 100\nrequest_size = \"4KiB\"\n";
/// What is compared within one run.
const COLUMNS: &str = "media-comparison --profile database --file-size 64MiB --outstanding 1,8,64 \
    --duration 3s --warm-up 100ms";
/// Runs of each target in a comparison.
const REPEAT: &str = "6";

/// What came of comparisons.
#[derive(Default)]
struct Counts {
    comparisons: usize,
    /// With a figure that is told to be faster or slower.
    decided: usize,
    /// Where the second target is told to be slower in a rate.
    slower: usize,
    figures: usize,
    /// With an interval, and those whose interval excludes 1.
    intervals: usize,
    excluding: usize,
}

/// `count` comparisons of a directory with its twin by `--repeat`, half as many within one run,
/// then ten of disks that differ by 5 %.
pub fn same(count: usize) -> Result<()> {
    if let Some(missing) = ["nbdkit", "nbdfuse", "losetup"].iter().find(|name| !there_is(name)) {
        bail!("{missing} cannot be started: `cargo xtask test` installs it");
    }
    show("cargo", &["build", "--release", "--quiet"])?;
    let folder = root().join("target/bench-same");
    // A socket that an earlier one left would answer as if it were served.
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let twins = ["a", "b"].map(|name| folder.join(name));
    for twin in &twins {
        std::fs::create_dir_all(twin)?;
    }
    let names = twins.each_ref().map(|twin| twin.display().to_string());
    let load = "quick --profile database --file-size 64MiB --outstanding 1,8 --duration 500ms \
                --warm-up 100ms";
    let (mut repeated, mut within) = (Counts::default(), Counts::default());
    for number in 0..count {
        repeated.add(&rows(&folder, load, &names, &["--repeat", REPEAT])?);
        if number % 2 == 0 {
            within.add_quotients(&one_run(&folder, COLUMNS, &names)?);
        }
        println!("{} of {count}", number + 1);
    }
    repeated.print("a directory and its twin, six runs each");
    within.print("a directory and its twin, columns of one run");
    let plan = folder.join("reads.toml");
    std::fs::write(&plan, READS)?;
    let served = DELAYS_MS.map(|delay| Served::start(&folder.join(delay.to_string()), delay));
    let [fast, slow] = served;
    let names = [fast?, slow?];
    let devices = names.each_ref().map(|served| served.device.clone());
    let mut different = Counts::default();
    let load = format!("{} --read-only", plan.display());
    for number in 0..DIFFERENT {
        different.add(&rows(&folder, &load, &devices, &["--repeat", REPEAT])?);
        println!("{} of {DIFFERENT}", number + 1);
    }
    different.print("a served disk and one 5 % slower, six runs each");
    drop(names);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// The rows of one comparison by repetition.
fn rows(folder: &Path, load: &str, targets: &[String; 2], more: &[&str]) -> Result<Vec<Value>> {
    let document = measure(folder, load, targets, more)?;
    document["rows"].as_array().cloned().context("a comparison has rows")
}

/// The quotients of one run with two columns.
fn one_run(folder: &Path, load: &str, targets: &[String; 2]) -> Result<Vec<Value>> {
    let document = measure(folder, load, targets, &[])?;
    let all = document["compared"].as_array().context("a run of two columns compares")?;
    let is_second = |entry: &&Value| entry["variant"] != 0;
    Ok(all.iter().filter(is_second).cloned().collect())
}

fn measure(folder: &Path, load: &str, targets: &[String; 2], more: &[&str]) -> Result<Value> {
    let logbook = folder.join("same.db");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", logbook.display()));
    }
    let logbook = logbook.display().to_string();
    let (plan, rest) = load.split_once(" ").context("a plan and more")?;
    let mut words = vec!["run", plan, targets[0].as_str(), targets[1].as_str()];
    words.extend(rest.split_whitespace());
    words.extend(["--json", "--no-report", "--logbook", &logbook]);
    words.extend(more);
    let text = output(&binary(), &words, &[0, 1, 5])?;
    serde_json::from_str(&text).context("qdepth's output is no JSON")
}

impl Counts {
    fn add(&mut self, rows: &[Value]) {
        let is = |row: &&Value, verdict: &str| row["verdict"] == verdict;
        let decided = rows.iter().any(|row| is(&row, "faster") || is(&row, "slower"));
        let rates = rows.iter().filter(|row| row["figure"] == "io_per_s");
        self.comparisons += 1;
        self.decided += usize::from(decided);
        self.slower += usize::from(rates.clone().any(|row| is(&row, "slower")));
        for row in rows {
            self.add_interval(&row["interval"]);
        }
    }

    fn add_quotients(&mut self, entries: &[Value]) {
        self.comparisons += 1;
        for entry in entries {
            self.add_interval(&entry["quotient_interval"]);
        }
    }

    fn add_interval(&mut self, interval: &Value) {
        self.figures += 1;
        if let (Some(low), Some(high)) = (interval[0].as_f64(), interval[1].as_f64()) {
            self.intervals += 1;
            self.excluding += usize::from(low > 1.0 || high < 1.0);
        }
    }

    fn print(&self, what: &str) {
        let Self { comparisons, decided, slower, figures, intervals, excluding } = self;
        println!(
            "{what}: {comparisons} comparisons, {decided} with a verdict other than equal or \
             cannot tell, {slower} call a rate of the second slower; {intervals} of {figures} \
             quotients have an interval, {excluding} of them exclude 1"
        );
    }
}

/// A disk in memory that answers each read after a delay, attached as a loop device.
struct Served {
    device: String,
    mount: PathBuf,
    programs: Vec<Child>,
}

impl Served {
    fn start(folder: &Path, delay_ms: u32) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (socket, mount) = (folder.join("socket"), folder.join("served"));
        std::fs::create_dir_all(&mount)?;
        let disk = mount.join("disk");
        let start = |program: &str, words: &[String]| {
            let mut command = Command::new(program);
            command.args(words).stdout(Stdio::null());
            command.spawn().with_context(|| format!("{program} cannot be started"))
        };
        let words = format!(
            "-f -t 64 -U {} --filter=delay memory 64M rdelay={delay_ms}ms",
            socket.display()
        );
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let mut served = Self { device: String::new(), mount, programs: Vec::new() };
        served.programs.push(start("nbdkit", &words)?);
        comes(&socket)?;
        let uri = format!("nbd+unix:///?socket={}", socket.display());
        let words = ["--connections", "64", &disk.display().to_string(), &uri].map(str::to_owned);
        served.programs.push(start("nbdfuse", &words)?);
        comes(&disk)?;
        let words = ["--find", "--show", "--direct-io=on", &disk.display().to_string()];
        served.device = output("losetup", &words, &[0])?.trim().to_owned();
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if !self.device.is_empty() {
            let _ = output("losetup", &["-d", &self.device], &[0]);
        }
        let _ = output("umount", &["-l", &self.mount.display().to_string()], &[0]);
        for program in &mut self.programs {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

fn comes(path: &Path) -> Result<()> {
    for _ in 0..100 {
        if path.exists() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("{} does not come within 10 s", path.display())
}
