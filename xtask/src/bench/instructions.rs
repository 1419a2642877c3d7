//! Instructions of the loop for each I/O, counted by callgrind: unlike times, the same on every
//! run; and whether the system calls of each engine are in the loop itself.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use crate::command::{output, output_and_errors, root, show, there_is};

/// Most instructions of the loop for an I/O: drawing it, booking it, pacing, and the smallest
/// target there is. Measured at 32 outstanding: 150, of them 16 the target's.
const BUDGET: f64 = 155.0;

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

/// The loop of each engine must hold its system calls: a function that returns after one is
/// mispredicted, which costs 150 ns (design 0007). None where `objdump` is not installed.
///
/// # Errors
/// Where a loop calls a function that makes them.
pub fn inlined() -> Result<Option<usize>> {
    if !there_is("objdump") {
        return Ok(None);
    }
    show(
        "cargo",
        &["build", "--release", "--quiet", "-p", "qdepth-linux", "--example", "one_point"],
    )?;
    let program = root().join("target/release/examples/one_point").display().to_string();
    let text = output("objdump", &["--disassemble", "--no-show-raw-insn", &program], &[0])?;
    if !text.contains("\tsyscall") {
        return Ok(None);
    }
    let loops = loops(&text);
    let without = loops.values().filter(|calls| **calls == 0).count();
    // One of the five engines makes its calls in threads of its own.
    if loops.is_empty() || without * 5 > loops.len() {
        bail!("{without} of {} loops make their system calls through a function", loops.len());
    }
    println!("{} of {} loops hold their system calls", loops.len() - without, loops.len());
    Ok(Some(loops.len()))
}

/// The copies of the loop in a disassembly, and how many system calls each holds.
fn loops(text: &str) -> BTreeMap<&str, usize> {
    let (mut loops, mut inside) = (BTreeMap::new(), None);
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            inside = name.1.contains("5drive5drive17h").then_some(name.1);
            loops.extend(inside.map(|name| (name, 0)));
        } else if line.trim_end().ends_with("\tsyscall")
            && let Some(calls) = inside.and_then(|name| loops.get_mut(name))
        {
            *calls += 1;
        }
    }
    loops
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_are_found_in_the_loops_that_hold_them() {
        let text = "000000000001a2b0 <_ZN13qdepth_engine5drive5drive17h0aE>:\n   1a2b0:\tpush   %rbp\n\
                    \x20  1a2b4:\tsyscall\n0000000000020000 <_ZN4core3fmt5write17h00E>:\n\
                    \x20  20000:\tsyscall\n\
                    0000000000030000 <_ZN13qdepth_engine5drive5drive17h0bE.llvm.1>:\n\
                    \x20  30000:\tcall   20000 <_ZN4core3fmt5write17h00E>\n";
        let calls: Vec<usize> = loops(text).into_values().collect();
        assert_eq!(calls, [1, 0], "{:?}", loops(text));
    }
}
