//! Runs the same job file with fio and `qdepth fio` on the same loop device, alternately: on a
//! file, where the cost of the programs decides, and on a drive with 10 ms latency, where their
//! semantics decide.

#![expect(clippy::disallowed_methods, reason = "two servers run beside the benchmark")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::programs::{binary, fios, median, ready};
use crate::command::{output, output_and_errors, root};

const DEVICE_BYTES: u64 = 1 << 30;

const SHAPES: &str = include_str!("shapes.fio");

/// Largest deviation of a ratio from one, for rates, mean latencies and the 99th percentile.
const BARS: [f64; 3] = [0.01, 0.02, 0.10];

/// Prints the medians of the pairs' ratios, and marks those outside of [`BARS`]. Uses the first fio
/// that `FIO` names, or the installed one.
///
/// # Errors
/// If `only` names none of the two devices, or a program cannot be run.
pub fn job_file(pairs: usize, only: Option<&str>) -> Result<()> {
    if let Some(other) = only.filter(|word| !["file", "slow"].contains(word)) {
        bail!(
            "`{other}` is no device of this benchmark: file or slow, or both where none is named"
        );
    }
    ready()?;
    let folder = root().join("target/bench-job-file");
    fs::create_dir_all(&folder)?;
    let image = folder.join("image");
    fs::File::create(&image)?.set_len(DEVICE_BYTES)?;
    if only != Some("slow") {
        println!("a loop device on a file; ratios qdepth / fio, medians of {pairs} pairs");
        on_image(&image, pairs, &folder)?;
    }
    if only != Some("file") {
        println!(
            "a loop device on a drive that takes 10 ms for each request (nbdkit); {pairs} pairs"
        );
        on_image(&Slow::new(&folder)?.image, pairs, &folder)?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn on_image(image: &Path, pairs: usize, folder: &Path) -> Result<()> {
    let node =
        output("losetup", &["--direct-io=on", "-f", "--show", &image.display().to_string()], &[0])?;
    let answer = on_device(node.trim(), pairs, folder);
    output("losetup", &["-d", node.trim()], &[0])?;
    answer
}

/// A delayed disk: nbdkit, exposed as a file by nbdfuse. Both programs end with the value.
struct Slow {
    image: PathBuf,
    servers: [Child; 2],
}

impl Slow {
    fn new(folder: &Path) -> Result<Self> {
        let (socket, mount) = (folder.join("socket"), folder.join("slow"));
        fs::create_dir_all(&mount)?;
        let nbdkit = Command::new("nbdkit")
            .args(["-f", "-t", "32", "-U"])
            .arg(&socket)
            .args(["--filter=delay", "memory", "1G", "delay-read=10ms", "delay-write=10ms"])
            .spawn()
            .context("nbdkit is not installed")?;
        until_there(&socket)?;
        let image = mount.join("disk");
        let fuse = Command::new("nbdfuse")
            .args(["--connections", "32"])
            .arg(&image)
            .arg(format!("nbd+unix:///?socket={}", socket.display()))
            .spawn()
            .context("nbdfuse is not installed")?;
        until_there(&image)?;
        Ok(Self { image, servers: [nbdkit, fuse] })
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        let mount = self.image.parent().unwrap_or(&self.image).display().to_string();
        let _ = output("umount", &["-l", &mount], &[0, 1, 32]);
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn until_there(path: &Path) -> Result<()> {
    let began = Instant::now();
    while !path.exists() {
        if began.elapsed() > Duration::from_secs(10) {
            bail!("{} does not come", path.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn on_device(device: &str, pairs: usize, folder: &Path) -> Result<()> {
    let file = folder.join("jobs.fio").display().to_string();
    fs::write(&file, SHAPES.replace("DEVICE", device))?;
    output(
        "dd",
        &["if=/dev/urandom", &format!("of={device}"), "bs=4M", "status=none", "oflag=direct"],
        // `dd` reports the end of the device as an error.
        &[0, 1],
    )?;
    let db = folder.join("bench.db").display().to_string();
    let token = token(device, &file, &db)?;
    let consent = consent(&token, &file, &db, folder)?;
    let ours_words = [
        "fio",
        "--destroy",
        &token,
        "--consent",
        &consent,
        "--overwrite-signature",
        "data",
        "--logbook",
        &db,
        "--no-report",
        "--output-format=json",
        &file,
    ];
    let mut both = Vec::new();
    for pair in 0..pairs {
        let ours = || document(&output(&binary(), &ours_words, &[0, 1])?);
        let theirs = || document(&output(&fios()[0], &["--output-format=json", &file], &[0])?);
        // ABBA, so that a drift of the machine favours neither.
        both.push(if pair % 2 == 0 {
            let ours = ours()?;
            (ours, theirs()?)
        } else {
            let theirs = theirs()?;
            (ours()?, theirs)
        });
    }
    print_comparison(&both)
}

/// Consent token of the device, taken from the refusal of a wrong token.
fn token(device: &str, file: &str, db: &str) -> Result<String> {
    let message =
        refusal(&["--destroy", &format!("{device}:{DEVICE_BYTES}"), "--logbook", db, file])?;
    let named = message.split("--destroy ").last().and_then(|rest| rest.split_whitespace().next());
    let token = named.map(|word| word.trim_end_matches('.').to_owned());
    token.filter(|word| word.starts_with(device)).with_context(|| format!("no name in: {message}"))
}

fn refusal(words: &[&str]) -> Result<String> {
    let line = format!("{} fio {} 2>&1 || true", binary(), words.join(" "));
    output_and_errors("sh", &["-c", &line])
}

/// Writes the consent file, whose text the refusal prints; returns its path.
fn consent(token: &str, file: &str, db: &str, folder: &Path) -> Result<String> {
    let words = ["--destroy", token, "--overwrite-signature", "data", "--logbook", db, file];
    let message = refusal(&words)?;
    let Some((_, text)) = message.split_once("--consent FILE:") else {
        bail!("no consent is asked for: {message}");
    };
    let path = folder.join("consent.txt").display().to_string();
    fs::write(&path, text.trim())?;
    Ok(path)
}

fn document(text: &str) -> Result<Value> {
    let start = text.find('{').context("no JSON was printed")?;
    Ok(serde_json::from_str(&text[start..])?)
}

fn print_comparison(both: &[(Value, Value)]) -> Result<()> {
    let (first, _) = both.first().context("no pair was measured")?;
    let (mut compared, mut outside) = (0, [0; 3]);
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    for (index, job) in first["jobs"].as_array().into_iter().flatten().enumerate() {
        let of_both = |document: &Value| {
            let job = &document["jobs"][index];
            number(&job["read"]["iops"]) + number(&job["write"]["iops"])
        };
        // In a mixture, the number of reads among few I/Os is random, so reads and writes are
        // judged together.
        let rate = median(both.iter().map(|(o, t)| of_both(o) / of_both(t)).collect());
        for side in ["read", "write"] {
            if job[side]["total_ios"].as_f64().unwrap_or_default() <= 0.0 {
                continue;
            }
            let ratio = |pick: &dyn Fn(&Value) -> &Value| {
                let figure = |document: &Value| number(pick(&document["jobs"][index][side]));
                median(both.iter().map(|(ours, theirs)| figure(ours) / figure(theirs)).collect())
            };
            let percentile = |name: &'static str| {
                ratio(&move |side: &Value| &side["lat_ns"]["percentile"][name])
            };
            let judged = [rate, ratio(&|side| &side["lat_ns"]["mean"]), percentile("99.000000")];
            let misses = [0, 1, 2].map(|at| {
                // An unknown ratio (NaN) counts as a miss.
                let is_within = (judged[at] - 1.0).abs() <= BARS[at];
                outside[at] += usize::from(!is_within);
                if is_within { "" } else { "!" }
            });
            compared += 1;
            println!(
                "{:<17} {side:<5} rate {:.3}{}, mean latency {:.3}{}, p50 {:.3}, p90 {:.3}, p99 \
                 {:.3}{}, p99.9 {:.3}",
                job["jobname"].as_str().unwrap_or_default(),
                judged[0],
                misses[0],
                judged[1],
                misses[1],
                percentile("50.000000"),
                percentile("90.000000"),
                judged[2],
                misses[2],
                percentile("99.900000"),
            );
        }
    }
    let [rates, means, tails] = outside;
    println!(
        "of {compared}: {rates} rates not within 1 %, {means} means not within 2 %, {tails} p99 \
         not within 10 %"
    );
    Ok(())
}
