//! Instructions of the loop for each I/O, counted by callgrind: unlike times, the same on every run.

use anyhow::{Context, Result, bail};

use crate::command::{output_and_errors, root, show, there_is};

/// Most instructions of the loop for an I/O: drawing it, booking it, pacing, and the smallest
/// target there is. Measured at 32 outstanding: 205 and 229 for the same code on two machines, of
/// them some 25 the target's; the budget leaves room for that.
const BUDGET: f64 = 245.0;

/// Counts them as the difference between a long run and a short one, which takes the program's
/// start out. None where valgrind is not installed.
///
/// # Errors
/// Where the budget is exceeded.
pub fn instructions() -> Result<Option<f64>> {
    if !there_is("valgrind") {
        return Ok(None);
    }
    show(
        "cargo",
        &["build", "--release", "--quiet", "-p", "qdepth-engine", "--example", "echo_loop"],
    )?;
    let (short, long) = (count(20_000)?, count(220_000)?);
    let per_io = (long - short) / 200_000.0;
    println!("the loop takes {per_io:.0} instructions for each I/O (budget {BUDGET})");
    if per_io > BUDGET {
        bail!("the loop takes {per_io:.0} instructions for each I/O; the budget is {BUDGET}");
    }
    Ok(Some(per_io))
}

fn count(ios: u64) -> Result<f64> {
    let program = root().join("target/release/examples/echo_loop").display().to_string();
    let ios = ios.to_string();
    let args = ["--tool=callgrind", "--callgrind-out-file=/dev/null", &program, &ios];
    let text = output_and_errors("valgrind", &args)?;
    let line = text.lines().find_map(|line| line.split("Collected : ").nth(1));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.context("callgrind printed no count")
}
