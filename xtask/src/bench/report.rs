//! Cost of a report: CPU time and memory of each format on one core, for 250 and 1,000 points, so
//! that a nonlinear cost is visible. CPU time, because others may use the core too.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::programs::binary;
use crate::command::{output, output_and_errors, root, show, there_is};

/// Numbers of load profiles, each at ten queue depths.
const PROFILES: [u32; 2] = [25, 100];
/// A slow device: its forty samples of 100 ms contain few I/Os, so that the report dominates.
const MEDIUM: &str = "media:generic-7200rpm-hdd";
/// Budget for HTML and Markdown of 1,000 points: CPU seconds, and peak memory in KiB.
const BUDGET: (f64, u64) = (5.0, 500 * 1024);

/// CPU seconds and peak KiB.
type Cost = (f64, u64);

pub fn report() -> Result<()> {
    if !there_is("/usr/bin/time") {
        bail!("/usr/bin/time is not installed (package time)");
    }
    show("cargo", &["build", "--release", "--quiet", "--bin", "qdepth"])?;
    let folder = root().join("target/bench-report");
    fs::create_dir_all(&folder)?;
    let mut missed = Vec::new();
    let formats = ["html", "md", "csv", "json", "typst", "pdf"];
    println!("{:<6} {:>22} {:>22} {:>7}", "", "250 points", "1,000 points", "ratio");
    let (few, many) = (logbook(&folder, PROFILES[0])?, logbook(&folder, PROFILES[1])?);
    for format in formats {
        let pdf = root().join("target/release/qdepth-pdf");
        if format == "pdf" && !pdf.is_file() {
            println!("pdf    SKIPPED: {} was not built", pdf.display());
            continue;
        }
        let (small, large) = (cost(&folder, &few, format)?, cost(&folder, &many, format)?);
        println!(
            "{format:<6} {:>9.2} s {:>6} MiB {:>9.2} s {:>6} MiB {:>7.2}",
            small.0,
            small.1 / 1024,
            large.0,
            large.1 / 1024,
            large.0 / small.0,
        );
        let within = large.0 <= BUDGET.0 && large.1 <= BUDGET.1;
        if matches!(format, "html" | "md") && !within {
            missed.push(format);
        }
    }
    if !missed.is_empty() {
        bail!("more than {} s or {} MiB: {}", BUDGET.0, BUDGET.1 / 1024, missed.join(", "));
    }
    Ok(())
}

/// Logbook with a run of this number of profiles, created if it does not exist.
fn logbook(folder: &Path, profiles: u32) -> Result<PathBuf> {
    let logbook = folder.join(format!("{profiles}.db"));
    if logbook.is_file() {
        return Ok(logbook);
    }
    let mut plan = String::from(
        "name = \"bench-report\"\nqueue_depth = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]\n\
         warm_up = \"100ms\"\nduration = \"4s\"\n",
    );
    for profile in 0..profiles {
        let read = profile % 5 * 25;
        // Writing into a String cannot fail.
        let _ = write!(
            plan,
            "[[profile]]\nname = \"load-{profile}\"\ntitle = \"Load {profile}\"\nrandom = 100\n\
             read = {read}\nblock_size = \"8KiB\"\n"
        );
    }
    let file = folder.join(format!("{profiles}.toml"));
    fs::write(&file, plan)?;
    let (file, made) = (file.display().to_string(), folder.join("made.db"));
    let path = made.display().to_string();
    output(&binary(), &["run", &file, MEDIUM, "--no-report", "--logbook", &path], &[0, 1])?;
    fs::rename(&made, &logbook)?;
    Ok(logbook)
}

/// Lower cost of two reports on one core.
fn cost(folder: &Path, logbook: &Path, format: &str) -> Result<Cost> {
    let out = folder.join("report").display().to_string();
    let (logbook, program) = (logbook.display().to_string(), binary());
    let report = ["report", "--logbook", &logbook, "--format", format, "-o", &out];
    let timed = ["-c", "0", "/usr/bin/time", "-f", "COST %U %S %M", &program];
    let attempt = || -> Result<Cost> {
        let printed = output_and_errors("taskset", &[&timed[..], &report[..]].concat())?;
        let line = printed.lines().find_map(|line| line.strip_prefix("COST "));
        let figures: Vec<&str> = line.context("time printed nothing")?.split(' ').collect();
        let [user, system, memory] = figures[..] else { bail!("time printed {figures:?}") };
        Ok((user.parse::<f64>()? + system.parse::<f64>()?, memory.parse()?))
    };
    let (first, second) = (attempt()?, attempt()?);
    Ok((first.0.min(second.0), first.1.max(second.1)))
}
