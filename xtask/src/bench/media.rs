//! Emulated I/Os per second of CPU time on one core, with every latency recorded by the ordinary
//! loop.

use anyhow::{Context, Result};

use super::examples::{self, ONE_EMULATED};
use super::programs::{median, spread};
use crate::command::output;

/// Expression, queue depth, and virtual time (about five million I/Os, ms).
const LOADS: [(&str, u32, u32); 4] = [
    ("media:p3700-800gb", 1, 280_000),
    ("media:p3700-800gb", 32, 20_000),
    ("media:p3700-800gb", 512, 20_000),
    ("raid0(media:p3700-800gb*2)", 512, 10_000),
];

/// # Errors
/// If it cannot be built or run.
pub fn media(rounds: usize) -> Result<()> {
    examples::build()?;
    let mut rates = vec![Vec::new(); LOADS.len()];
    for _ in 0..rounds {
        for ((expression, queue_depth, ms), rates) in LOADS.iter().zip(&mut rates) {
            let run = one_emulated(expression, *queue_depth, *ms)?;
            rates.push(run.issued / run.cpu_s / 1e6);
        }
    }
    for ((expression, queue_depth, _), rates) in LOADS.iter().zip(rates) {
        let spread = spread(&rates);
        println!("emulated {expression} {queue_depth}: M/s: {:.1} {spread:.1?}", median(rates));
    }
    Ok(())
}

/// One emulated point.
pub struct Run {
    pub issued: f64,
    pub cpu_s: f64,
}

fn one_emulated(expression: &str, queue_depth: u32, ms: u32) -> Result<Run> {
    let (queue_depth, ms) = (queue_depth.to_string(), ms.to_string());
    let words = [expression, "database", &queue_depth, &ms];
    read(&output(&examples::program(ONE_EMULATED), &words, &[0])?)
}

/// Parses the number of I/Os and the CPU seconds that the program prints.
///
/// # Errors
/// If the output lacks one of them.
pub fn read(text: &str) -> Result<Run> {
    let line = text.lines().find_map(|line| line.strip_prefix("issued ")).context("no figures")?;
    let (issued, cpu) = line.split_once(" cpu_s ").context("no CPU time")?;
    Ok(Run { issued: issued.parse()?, cpu_s: cpu.parse()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmark_figures_are_parsed_among_other_lines() {
        let run = read("==1== Callgrind\nissued 5000 cpu_s 0.25\n==1== done\n").unwrap();
        assert_eq!((run.issued, run.cpu_s), (5000.0, 0.25));
        assert!(read("issued 5000\n").is_err());
    }
}
