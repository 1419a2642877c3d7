//! `cargo xtask bench media`: emulated requests per second of one core, every latency recorded, by
//! the ordinary loop; then the memory of an emulated drive of 2 TB. Printed is the median of the
//! rounds, of CPU time, so that a busy machine counts little.

#![expect(clippy::disallowed_methods, reason = "a tool for those who work on the project")]
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::sync::atomic::AtomicBool;

use qdepth_measure::Nanos;
use qdepth_media::{OpenMedia, TargetExpression};
use qdepth_workload::{Choices, PlanFile, resolve, shipped_plan_text};

const LOADS: [(&str, &str, u32, u64); 6] = [
    ("media:fixed @host=none @servers=4096", "database", 512, 1),
    ("media:p3700-800gb", "database", 1, 400),
    ("media:p3700-800gb", "database", 32, 30),
    ("media:p3700-800gb", "database", 512, 30),
    ("media:p3700-800gb", "file-server", 512, 150),
    ("raid0(media:p3700-800gb*2)", "database", 512, 30),
];
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let only = std::env::args().nth(1);
    for (expression, profile, queue_depth, seconds) in LOADS {
        if only.as_deref().is_some_and(|o| format!("{expression} {profile} {queue_depth}") != o) {
            continue;
        }
        let text = format!(
            "name = \"speed\"\nprofiles = [\"{profile}\"]\nqueue_depth = [{queue_depth}]\n\
             warm_up = \"10ms\"\nduration = \"{seconds}s\""
        );
        let file: PlanFile = toml::from_str(&text)?;
        let medium = TargetExpression::read(expression)?;
        let choices = Choices::default();
        let point = resolve(&file, &choices, &[medium.shape()?])?.points.remove(0);
        let mut rates = Vec::new();
        for _ in 0..ROUNDS {
            let mut target = medium.open(&OpenMedia::for_point(&point))?;
            let before = cpu_seconds();
            let outcome =
                target.measure(&point, &AtomicBool::new(false)).ok_or("nothing measured")?;
            rates.push(outcome.issued as f64 / (cpu_seconds() - before));
        }
        rates.sort_by(f64::total_cmp);
        println!(
            "{expression:<28} {profile:<12} {queue_depth:>4}: {:.1} M/s",
            rates[ROUNDS / 2] / 1e6
        );
    }
    if only.is_none() {
        println!("2 TB under standard: VmHWM {} MiB", memory_of_standard()? >> 10);
        let (short, long) = (ns_per_request(1)?, ns_per_request(20)?);
        println!("cost of a request over 20 times as many: {:.2} times", long / short);
    }
    Ok(())
}

/// Most memory of this process, KiB, after every point of the plan `standard` on a drive of 2 TB.
fn memory_of_standard() -> Result<u64, Box<dyn std::error::Error>> {
    let mut file: PlanFile = toml::from_str(shipped_plan_text("standard").ok_or("no standard")?)?;
    file.duration = Some(Nanos::from_secs(1));
    let medium = TargetExpression::read("media:p3700-2tb")?;
    for point in resolve(&file, &Choices::default(), &[medium.shape()?])?.points {
        let mut target = medium.open(&OpenMedia::for_point(&point))?;
        target.measure(&point, &AtomicBool::new(false)).ok_or("nothing measured")?;
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// CPU time of a request of Database at 512 on a drive of 2 TB, over so many seconds of virtual
/// time.
fn ns_per_request(seconds: u64) -> Result<f64, Box<dyn std::error::Error>> {
    let text = format!(
        "name = \"linear\"\nprofiles = [\"database\"]\nqueue_depth = [512]\n\
         duration = \"{seconds}s\""
    );
    let medium = TargetExpression::read("media:p3700-2tb @area=full")?;
    let file: PlanFile = toml::from_str(&text)?;
    let plan = resolve(&file, &Choices::default(), &[medium.shape()?])?;
    let point = plan.points.first().ok_or("no point")?;
    let mut target = medium.open(&OpenMedia::for_point(point))?;
    let before = cpu_seconds();
    let outcome = target.measure(point, &AtomicBool::new(false)).ok_or("nothing measured")?;
    Ok((cpu_seconds() - before) * 1e9 / outcome.issued as f64)
}

/// CPU time of this process, from the kernel's accounts.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
