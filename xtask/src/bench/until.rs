//! What `--until ±2%` saves against points of 30 s: the same small plan both ways, one after the
//! other, within four minutes.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::programs::binary;
use crate::command::{output, root, show};

const PLAN: &str = r#"
name = "until-bench"
outstanding = [1, 32]
warm_up = "1s"
duration = "30s"
file_size = "1GiB"
profiles = ["database"]
"#;

/// A point of either run.
struct Seen {
    outstanding: u64,
    seconds: f64,
    io_per_s: f64,
    interval: Option<[f64; 2]>,
    ended_by: String,
}

impl Seen {
    fn half_width(&self) -> Option<f64> {
        self.interval.map(|[low, high]| (high - low) / 2.0 / self.io_per_s)
    }
    fn precision(&self) -> String {
        self.half_width().map_or("no interval".to_owned(), |half| format!("±{:.2} %", half * 100.0))
    }
}

pub fn until(target: Option<&str>) -> Result<()> {
    show("cargo", &["build", "--release", "--quiet"])?;
    let folder = root().join("target/bench-until");
    std::fs::create_dir_all(&folder)?;
    let plan = folder.join("until.toml");
    std::fs::write(&plan, PLAN)?;
    let target = target.map_or_else(|| folder.clone(), |target| root().join(target));
    let fixed = measure(&plan, &target, &folder, &[])?;
    for tolerance in ["2%", "1%"] {
        let precise = measure(&plan, &target, &folder, &["--until", tolerance])?;
        compare(tolerance, &fixed, &precise)?;
    }
    Ok(())
}

fn measure(plan: &Path, target: &Path, folder: &Path, more: &[&str]) -> Result<Vec<Seen>> {
    let logbook = folder.join("until.db").display().to_string();
    let (plan, target) = (plan.display().to_string(), target.display().to_string());
    let mut args = vec!["run", &plan, &target, "--json", "--no-report", "--logbook", &logbook];
    args.extend(more);
    let text = output(&binary(), &args, &[0, 1])?;
    let document: Value = serde_json::from_str(&text).context("qdepth's output is no JSON")?;
    let points = document["points"].as_array().context("no points")?;
    let seen = |point: &Value| {
        let end = |index: usize| point["interval"].get(index).and_then(Value::as_f64);
        Some(Seen {
            outstanding: point["outstanding"].as_u64()?,
            seconds: point["duration_ns"].as_f64()? / 1e9,
            io_per_s: point["io_per_s"].as_f64()?,
            interval: end(0).zip(end(1)).map(|(low, high)| [low, high]),
            ended_by: point["ended_by"].as_str()?.to_owned(),
        })
    };
    points.iter().map(seen).collect::<Option<_>>().context("a point lacks a figure")
}

fn compare(tolerance: &str, fixed: &[Seen], precise: &[Seen]) -> Result<()> {
    if fixed.len() != precise.len() || fixed.is_empty() {
        bail!("the two runs have other points");
    }
    println!("until ±{tolerance} against 30 s");
    for (long, short) in fixed.iter().zip(precise) {
        println!(
            "{:>4} outstanding: {:>5.1} s, ended by {:<9} {:>9.0} IO/s {:<12} against {:>9.0} IO/s \
             {:<12} ({:+.2} %)",
            short.outstanding,
            short.seconds,
            short.ended_by,
            short.io_per_s,
            short.precision(),
            long.io_per_s,
            long.precision(),
            (short.io_per_s / long.io_per_s - 1.0) * 100.0
        );
    }
    let time = |seen: &[Seen]| seen.iter().map(|point| point.seconds).sum::<f64>();
    let reached = precise.iter().filter(|point| point.ended_by == "precision").count();
    println!(
        "{:.0} s against {:.0} s: {:.1} ×; {reached} of {} points reached it",
        time(precise),
        time(fixed),
        time(fixed) / time(precise),
        precise.len()
    );
    Ok(())
}
