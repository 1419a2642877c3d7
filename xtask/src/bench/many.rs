//! CPU time per I/O on many drives: sixteen loop devices at queue depth 32 on one core, compared
//! with one device. Interleaved; prints the median of the ratios. Both cases load the same number
//! of bytes, so caches help both equally.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::programs::{binary, median, pinned};
use crate::command::{output, root, show};

const DRIVES: usize = 16;
const PAIRS: usize = 9;
/// Number of drives and measurement area of each: 48 MiB in total.
const AREAS: [(usize, &str); 2] = [(1, "48MiB"), (DRIVES, "3MiB")];
const PLAN: &str = r#"
name = "many"
targets = "together"
queue_depth = [32]
warm_up = "300ms"
duration = "2s"

[[profile]]
name = "read"
random = 100
read = 100
block_size = "4KiB"
"#;

/// Loop devices, detached when the value is dropped.
struct Loops(Vec<String>);

impl Loops {
    fn made(folder: &Path) -> Result<Self> {
        let mut loops = Self(Vec::new());
        for number in 0..DRIVES {
            let file = folder.join(format!("drive{number}"));
            // Written, not sparse: reads of a hole do not reach the device.
            std::fs::write(&file, vec![0x5a; 64 << 20])?;
            let made = output("losetup", &["-f", "--show", &file.display().to_string()], &[0])
                .context("loop devices are made by root")?;
            loops.0.push(made.trim().to_owned());
        }
        Ok(loops)
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for device in &self.0 {
            let _ = output("losetup", &["-d", device], &[0]);
        }
    }
}

pub fn many() -> Result<()> {
    show("cargo", &["build", "--release", "--quiet"])?;
    let folder = root().join("target/bench-many");
    std::fs::create_dir_all(&folder)?;
    let plan = folder.join("many.toml");
    std::fs::write(&plan, PLAN)?;
    let measured = Loops::made(&folder).and_then(|loops| pairs(&folder, &plan, &loops));
    std::fs::remove_dir_all(&folder)?;
    let costs = measured?;
    let ratios = costs.iter().map(|[single, all]| all / single).collect();
    let middle = |index: usize| median(costs.iter().map(|pair| pair[index]).collect());
    println!(
        "{DRIVES} drives × 32 on one core: {:.3} times the CPU time per I/O of one ({:.0} against \
         {:.0} ns, medians of {PAIRS} pairs)",
        median(ratios),
        middle(1),
        middle(0)
    );
    Ok(())
}

/// CPU time per I/O, ns, for each pair: on one drive, and on all.
fn pairs(folder: &Path, plan: &Path, loops: &Loops) -> Result<Vec<[f64; 2]>> {
    let mut all = Vec::new();
    for pair in 0..PAIRS {
        let mut costs = [0.0; 2];
        // ABBA, so that a drift of the machine favours neither.
        let order = if pair % 2 == 0 { [0, 1] } else { [1, 0] };
        for index in order {
            let (drives, area) = AREAS[index];
            costs[index] = cost(folder, plan, &loops.0[..drives], area)?;
        }
        all.push(costs);
    }
    Ok(all)
}

fn cost(folder: &Path, plan: &Path, drives: &[String], area: &str) -> Result<f64> {
    let (plan, db) = (plan.display().to_string(), folder.join("many.db").display().to_string());
    let mut words = vec!["run", plan.as_str()];
    words.extend(drives.iter().map(String::as_str));
    words.extend(["--area", area, "--json", "--no-report", "--logbook", &db]);
    let document: Value = serde_json::from_str(&pinned(Some("0"), &binary(), &words, &[0, 1])?)?;
    let (mut rate, mut cpu) = (0.0, 0.0);
    for point in document["points"].as_array().context("no points")? {
        let number = |value: &Value| value.as_f64().context("a figure is missing");
        let here = number(&point["io_per_s"])?;
        let cost = &point["cpu_ns_per_io"];
        rate += here;
        cpu += here * (number(&cost["user"])? + number(&cost["system"])?);
    }
    Ok(cpu / rate)
}
