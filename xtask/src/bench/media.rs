//! Emulated I/Os per second of CPU time on one core, with every latency recorded by the ordinary
//! loop.

use anyhow::{Context, Result};

use super::bar::{Benchmark, Goal};
use super::examples::{self, ONE_EMULATED};
use crate::command::output;

/// Expression, profile, queue depth, virtual time (about five million I/Os), and goal in millions
/// of I/Os per second.
const LOADS: [(&str, &str, u32, u32, f64); 4] = [
    ("media:p3700-800gb", "database", 1, 280_000, 20.0),
    ("media:p3700-800gb", "database", 32, 20_000, 20.0),
    ("media:p3700-800gb", "database", 512, 20_000, 20.0),
    ("raid0(media:p3700-800gb*2)", "database", 512, 10_000, 16.0),
];

/// # Errors
/// If it cannot be built or run.
pub fn media(rounds: usize) -> Result<Vec<Benchmark>> {
    examples::build()?;
    let mut rates = vec![Vec::new(); LOADS.len()];
    for _ in 0..rounds {
        for ((expression, profile, outstanding, ms, _), rates) in LOADS.iter().zip(&mut rates) {
            let run = one_emulated(expression, profile, *outstanding, *ms)?;
            rates.push(run.issued / run.cpu_s / 1e6);
        }
    }
    let benchmark =
        |((expression, _, outstanding, _, goal), rates): (&(&str, &str, u32, u32, f64), _)| {
            let name = format!("emulated {expression} {outstanding}: M/s");
            let benchmark = Benchmark::new(name, Goal::AtLeast(*goal), rates);
            println!("{}: {:.1} {:.1?}", benchmark.name, benchmark.value(), benchmark.spread());
            benchmark
        };
    Ok(LOADS.iter().zip(rates).map(benchmark).collect())
}

/// One emulated point.
pub struct Run {
    pub issued: f64,
    pub cpu_s: f64,
}

fn one_emulated(expression: &str, profile: &str, outstanding: u32, ms: u32) -> Result<Run> {
    let (outstanding, ms) = (outstanding.to_string(), ms.to_string());
    read(&output(
        &examples::program(ONE_EMULATED),
        &[expression, profile, &outstanding, &ms],
        &[0],
    )?)
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
    fn figures_are_read_from_among_other_lines() {
        let run = read("==1== Callgrind\nissued 5000 cpu_s 0.25\n==1== done\n").unwrap();
        assert_eq!((run.issued, run.cpu_s), (5000.0, 0.25));
        assert!(read("issued 5000\n").is_err());
    }
}
