//! `cargo xtask bench media`: emulated requests per second of one core, every latency recorded, by
//! the ordinary loop. Printed is the median of the rounds, of CPU time, so that a busy machine
//! counts little.

#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::sync::atomic::AtomicBool;

use qdepth_engine::measure;
use qdepth_media::{OpenMedia, Spelled};
use qdepth_workload::{Choices, PlanFile, resolve};

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
    for (spelling, profile, outstanding, seconds) in LOADS {
        if only.as_deref().is_some_and(|o| format!("{spelling} {profile} {outstanding}") != o) {
            continue;
        }
        let text = format!(
            "name = \"speed\"\nprofiles = [\"{profile}\"]\noutstanding = [{outstanding}]\n\
             warm_up = \"10ms\"\nduration = \"{seconds}s\""
        );
        let file: PlanFile = toml::from_str(&text)?;
        let spelled = Spelled::read(spelling)?;
        let choices = Choices::default();
        let point = resolve(&file, &choices, &[spelled.shape()?.into()])?.points.remove(0);
        let mut rates = Vec::new();
        for _ in 0..ROUNDS {
            let mut target = spelled.open(&OpenMedia::for_point(&point))?;
            let before = cpu_seconds();
            let outcome = measure(&mut target, &point, &AtomicBool::new(false), &mut |_| {});
            rates.push(outcome.issued as f64 / (cpu_seconds() - before));
        }
        rates.sort_by(f64::total_cmp);
        println!(
            "{spelling:<28} {profile:<12} {outstanding:>4}: {:.1} M/s",
            rates[ROUNDS / 2] / 1e6
        );
    }
    Ok(())
}

/// CPU time of this process, from the kernel's accounts.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
