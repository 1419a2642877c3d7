//! The same job file, run by fio and by `qdepth fio` on the same loop device, by turns: on a file,
//! where what a program costs decides, and on a drive that takes 2 ms, where the semantics do.

#![expect(clippy::disallowed_methods, reason = "two servers run beside the benchmark")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{binary, median, ready};
use crate::command::{output, output_and_errors, root};

const DEVICE_BYTES: u64 = 1 << 30;

/// Total latency is compared, which fio splits into submission and completion and qdepth does not.
/// Jobs that end with their time: closed loops of one and many, mixed sizes, a rate, and writers
/// beside a reader. The first and the last 4 MiB are left alone: qdepth's labels are there.
const JOBS: &str = "[global]
filename=DEVICE
offset=4m
size=1016m
direct=1
time_based
ramp_time=500ms
runtime=2
randrepeat=0
norandommap
thread
group_reporting
ioengine=libaio
percentile_list=50:90:99:99.9
lat_percentiles=1
[one]
rw=randread
bs=4k
[many]
stonewall
rw=randrw
rwmixread=67
bs=8k
iodepth=8
[sizes]
stonewall
rw=randread
bssplit=4k/60:64k/40
iodepth=4
[paced]
stonewall
rw=randwrite
bs=8k
iodepth=8
rate_iops=1000
[pressure-writers]
stonewall
rw=randwrite
bs=8k
iodepth=8
numjobs=4
rate=,4000k
[pressure-reader]
new_group
rw=randread
bs=8k
";

/// Rates and means within 3 %, percentiles within 5 % (median of the pairs' ratios).
pub fn job_file(pairs: usize) -> Result<()> {
    ready()?;
    let folder = root().join("target/bench-job-file");
    fs::create_dir_all(&folder)?;
    let image = folder.join("image");
    fs::File::create(&image)?.set_len(DEVICE_BYTES)?;
    println!("a loop device on a file; ratios qdepth / fio, medians of {pairs} pairs");
    on_image(&image, pairs, &folder)?;
    println!("a loop device on a drive that takes 2 ms for each request (nbdkit)");
    let slow = Slow::new(&folder)?;
    on_image(&slow.image, pairs, &folder)?;
    drop(slow);
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

/// nbdkit with a delay, seen as a file through nbdfuse; both end with it.
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
            .args(["--filter=delay", "memory", "1G", "delay-read=2ms", "delay-write=2ms"])
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
    fs::write(&file, JOBS.replace("DEVICE", device))?;
    output(
        "dd",
        &["if=/dev/urandom", &format!("of={device}"), "bs=4M", "status=none", "oflag=direct"],
        // It ends at the device's end, which it calls an error.
        &[0, 1],
    )?;
    let db = folder.join("bench.db").display().to_string();
    let consent = consent(device, &file, &db, folder)?;
    let token = format!("{device}:{DEVICE_BYTES}");
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
        let theirs = || document(&output("fio", &["--output-format=json", &file], &[0])?);
        // ABBA, so that a drift of the machine favours neither.
        both.push(if pair % 2 == 0 {
            let ours = ours()?;
            (ours, theirs()?)
        } else {
            let theirs = theirs()?;
            (ours()?, theirs)
        });
    }
    tell(&both)
}

/// The refusal prints the text of the consent that it wants.
fn consent(device: &str, file: &str, db: &str, folder: &Path) -> Result<String> {
    let token = format!("{device}:{DEVICE_BYTES}");
    let words =
        ["fio", "--destroy", &token, "--overwrite-signature", "data", "--logbook", db, file];
    let said = output_and_errors(
        "sh",
        &["-c", &format!("{} {} 2>&1 || true", binary(), words.join(" "))],
    )?;
    let Some((_, text)) = said.split_once("--consent FILE:") else {
        bail!("no consent is asked for: {said}");
    };
    let path = folder.join("consent.txt").display().to_string();
    fs::write(&path, text.trim())?;
    Ok(path)
}

fn document(text: &str) -> Result<Value> {
    let start = text.find('{').context("no JSON was printed")?;
    Ok(serde_json::from_str(&text[start..])?)
}

fn tell(both: &[(Value, Value)]) -> Result<()> {
    let (first, _) = both.first().context("no pair was measured")?;
    for (place, job) in first["jobs"].as_array().into_iter().flatten().enumerate() {
        for side in ["read", "write"] {
            let ratio = |pick: &dyn Fn(&Value) -> f64| {
                let of = |document: &Value| pick(&document["jobs"][place][side]);
                median(both.iter().map(|(ours, theirs)| of(ours) / of(theirs)).collect())
            };
            let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
            if number(&job[side]["total_ios"]) <= 0.0 {
                continue;
            }
            let percentile =
                |name: &'static str| ratio(&|side| number(&side["lat_ns"]["percentile"][name]));
            println!(
                "{:<17} {side:<5} rate {:.3}, mean latency {:.3}, p50 {:.3}, p90 {:.3}, p99 {:.3}, p99.9 {:.3}",
                job["jobname"].as_str().unwrap_or_default(),
                ratio(&|side| number(&side["iops"])),
                ratio(&|side| number(&side["lat_ns"]["mean"])),
                percentile("50.000000"),
                percentile("90.000000"),
                percentile("99.000000"),
                percentile("99.900000"),
            );
        }
    }
    Ok(())
}
