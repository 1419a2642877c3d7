//! Starts fio, and reads its results.

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

/// Runs a program on one core, and returns its output.
pub(super) fn pinned(core: &str, program: &str, args: &[&str]) -> Result<String> {
    output("taskset", &[&["-c", core, program], args].concat(), &[0])
}

/// Paths of the fios to compare with: those in `FIO`, separated by colons, or the installed one.
pub(super) fn fios() -> Vec<String> {
    let named = std::env::var("FIO").unwrap_or_default();
    let named: Vec<String> =
        named.split(':').filter(|p| !p.is_empty()).map(str::to_owned).collect();
    if named.is_empty() { vec!["fio".to_owned()] } else { named }
}

/// Runs a fio with these options on one core, time-based in one thread, recording latencies as it
/// does by default.
pub(super) fn fio_at(program: &str, options: &str, core: &str) -> Result<Figure> {
    let line = format!(
        "--name=bench {options} --time_based --group_reporting --thread --output-format=json"
    );
    let args: Vec<&str> = line.split_whitespace().collect();
    let text = pinned(core, program, &args)?;
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
