//! Starts qdepth and fio with the same load, and reads their results.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{output, root, show, there_is};

/// One measurement of either program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) io_per_s: f64,
    pub(super) mean_ns: f64,
    pub(super) user_ns: f64,
    pub(super) system_ns: f64,
}

/// A load that both programs run.
pub(super) struct Load<'a> {
    pub(super) target: &'a Path,
    pub(super) area_bytes: u64,
    pub(super) size: &'a str,
    pub(super) read_percent: u32,
    pub(super) queue_depth: u32,
    pub(super) seconds: u32,
    /// Core to pin to, for benchmarks of a single core.
    pub(super) core: Option<&'a str>,
}

pub(super) fn ready() -> Result<()> {
    fio_is_there()?;
    show("cargo", &["build", "--release", "--quiet"])
}

pub(super) fn fio_is_there() -> Result<()> {
    if let Some(missing) = fios().iter().find(|fio| !there_is(fio)) {
        bail!("{missing} cannot be started: install fio, or name it: FIO=/path/to/fio");
    }
    Ok(())
}

/// File of 1 GiB of random bytes that both programs may write to. qdepth would guard a file of its
/// own against fio's writes.
pub(super) fn shared_file(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("shared-file");
    let mut file = fs::File::create(&path)?;
    io::copy(&mut fs::File::open("/dev/urandom")?.take(1 << 30), &mut file)?;
    file.sync_all()?;
    Ok(path)
}

/// Consent for writing to the file during a benchmark.
pub(super) fn consent(folder: &Path, file: &Path) -> Result<[String; 4]> {
    let found = file.metadata()?;
    let named = format!("{}:{}:{}", file.display(), found.len(), found.ino());
    let until = output("date", &["-u", "-d", "+30 minutes", "+%FT%TZ"], &[0])?;
    let text = format!(
        "destroy = \"{named}\"\nsize_bytes = {}\nexpires = \"{}\"\n",
        found.len(),
        until.trim()
    );
    let path = folder.join("consent.toml");
    fs::write(&path, text)?;
    Ok(["--destroy".to_owned(), named, "--consent".to_owned(), path.display().to_string()])
}

pub(super) fn binary() -> String {
    root().join("target/release/qdepth").display().to_string()
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { (values[(n - 1) / 2] + values[n / 2]) / 2.0 }
}

/// Smallest and largest value.
pub(super) fn spread(values: &[f64]) -> [f64; 2] {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    [least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

pub(super) fn pinned(
    core: Option<&str>,
    program: &str,
    args: &[&str],
    accepted: &[i32],
) -> Result<String> {
    match core {
        None => output(program, args, accepted),
        Some(core) => {
            let mut all = vec!["-c", core, program];
            all.extend(args);
            output("taskset", &all, accepted)
        }
    }
}

pub(super) fn qdepth(load: &Load<'_>, folder: &Path) -> Result<Figure> {
    let plan: PathBuf = folder.join("plan.toml");
    fs::write(
        &plan,
        format!(
            "name = \"bench\"\nqueue_depth = [{}]\nwarm_up = \"500ms\"\nduration = \"{}s\"\n\
             [[profile]]\nname = \"bench\"\nrandom = 100\nread = {}\nblock_size = \"{}\"\n",
            load.queue_depth, load.seconds, load.read_percent, load.size
        ),
    )?;
    let db = folder.join("bench.db").display().to_string();
    let (plan, target) = (plan.display().to_string(), load.target.display().to_string());
    let mut args = vec!["run", &plan, &target, "--json", "--no-report", "--logbook", &db];
    args.extend(["--area", "1GiB"]);
    let consent =
        if load.target.is_file() { consent(folder, load.target)?.to_vec() } else { vec![] };
    args.extend(consent.iter().map(String::as_str));
    let text = pinned(load.core, &binary(), &args, &[0, 1])?;
    let document: Value = serde_json::from_str(&text)?;
    let point = &document["points"][0];
    let number = |value: &Value| value.as_f64().context("a figure is missing in qdepth's JSON");
    Ok(Figure {
        io_per_s: number(&point["io_per_s"])?,
        mean_ns: number(&point["latency_ns"]["all"]["mean"])?,
        user_ns: number(&point["cpu_ns_per_io"]["user"])?,
        system_ns: number(&point["cpu_ns_per_io"]["system"])?,
    })
}

pub(super) fn fio(load: &Load<'_>) -> Result<Figure> {
    let rw = match load.read_percent {
        100 => "--rw=randread".to_owned(),
        share => format!("--rw=randrw --rwmixread={share}"),
    };
    fio_with(
        &format!(
            "--filename={} --size={} --bs={} {rw} --iodepth={} --runtime={} --ramp_time=500ms \
             --direct=1 --ioengine=io_uring --fixedbufs=1 --registerfiles=1 \
             --iodepth_batch_submit={} --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max={} --norandommap=1 --randrepeat=0",
            load.target.display(),
            load.area_bytes,
            load.size.trim_end_matches("iB"),
            load.queue_depth,
            load.seconds,
            load.queue_depth,
            load.queue_depth,
        ),
        load.core,
    )
}

/// Paths of the fios to compare with: those in `FIO`, separated by colons, or the installed one.
pub(super) fn fios() -> Vec<String> {
    let named = std::env::var("FIO").unwrap_or_default();
    let named: Vec<String> =
        named.split(':').filter(|p| !p.is_empty()).map(str::to_owned).collect();
    if named.is_empty() { vec!["fio".to_owned()] } else { named }
}

/// Runs the first of [`fios`] with these options, time-based in one thread, recording latencies as
/// it does by default.
pub(super) fn fio_with(options: &str, core: Option<&str>) -> Result<Figure> {
    fio_at(&fios()[0], options, core)
}

/// Like [`fio_with`], by path.
pub(super) fn fio_at(program: &str, options: &str, core: Option<&str>) -> Result<Figure> {
    let line = format!(
        "--name=bench {options} --time_based --group_reporting --thread --output-format=json"
    );
    let args: Vec<&str> = line.split_whitespace().collect();
    let text = pinned(core, program, &args, &[0])?;
    let start = text.find('{').context("fio printed no JSON")?;
    let document: Value = serde_json::from_str(&text[start..])?;
    let job = &document["jobs"][0];
    let sides = [&job["read"], &job["write"]];
    let sum = |pick: &dyn Fn(&Value) -> f64| sides.iter().map(|side| pick(side)).sum::<f64>();
    let io_per_s = sum(&|side| side["iops"].as_f64().unwrap_or(0.0));
    let ios = sum(&|side| side["total_ios"].as_f64().unwrap_or(0.0));
    let latency = sum(&|side| {
        side["lat_ns"]["mean"].as_f64().unwrap_or(0.0) * side["total_ios"].as_f64().unwrap_or(0.0)
    });
    let runtime_ns = job["job_runtime"].as_f64().unwrap_or(0.0) * 1e6;
    let cpu = |name: &str| job[name].as_f64().unwrap_or(0.0) / 100.0 * runtime_ns / ios;
    Ok(Figure {
        io_per_s,
        mean_ns: latency / ios,
        user_ns: cpu("usr_cpu"),
        system_ns: cpu("sys_cpu"),
    })
}
