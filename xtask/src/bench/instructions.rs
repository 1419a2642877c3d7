//! Instructions per I/O of the measurement loop, counted by callgrind; unlike times, they are the
//! same in every run. Also checks that each engine's system calls are inlined in the loop.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use super::examples::{self, ECHO_LOOP, ONE_EMULATED, ONE_POINT};
use crate::command::{output, output_and_errors, there_is};

/// Budgets of the loop, instructions per I/O by queue depth: generating the I/O, recording it,
/// pacing, and a target that does nothing. At depth 1 every iteration handles a single I/O.
const LOOP: [(u32, f64); 2] = [(32, 148.0), (1, 235.0)];

/// Budgets of the loop with an emulated device: expression, queue depth, virtual time of the short
/// run (ms), and instructions per I/O.
const EMULATED: [(&str, u32, u32, f64); 4] = [
    ("media:p3700-800gb", 1, 1_000, 605.0),
    ("media:p3700-800gb", 32, 100, 610.0),
    ("media:p3700-800gb", 512, 100, 610.0),
    ("raid0(media:p3700-800gb*2)", 512, 50, 835.0),
];

/// Counts instructions per I/O as the difference between a long and a short run, which excludes the
/// start of the program. Returns `None` if valgrind is not installed.
///
/// # Errors
/// If a budget is exceeded.
pub fn budget() -> Result<Option<()>> {
    if !there_is("valgrind") {
        return Ok(None);
    }
    examples::build()?;
    let echo = examples::program(ECHO_LOOP);
    let mut over = Vec::new();
    let mut judge = |name: String, budget: f64, per_io: f64| {
        println!("{name}: {per_io:.1} (≤ {budget})");
        let is_met = per_io <= budget;
        over.extend((!is_met).then(|| format!("{name}: {per_io:.1}")));
    };
    for (queue_depth, budget) in LOOP {
        let depth = queue_depth.to_string();
        let per_io = per_io(&echo, |ms| vec![depth.clone(), ms.to_string()], 10)?;
        judge(format!("loop, {queue_depth} queue_depth: instructions per I/O"), budget, per_io);
    }
    for (expression, queue_depth, ms, budget) in EMULATED {
        let words = |ms: u32| -> Vec<String> {
            [expression, "database", &queue_depth.to_string(), &ms.to_string()]
                .map(str::to_owned)
                .into()
        };
        let per_io = per_io(&examples::program(ONE_EMULATED), words, ms)?;
        let name = format!("emulated {expression} {queue_depth}: instructions per I/O");
        judge(name, budget, per_io);
    }
    if !over.is_empty() {
        bail!("over their budgets: {}", over.join("; "));
    }
    Ok(Some(()))
}

/// Checks that the loop of each engine contains its system calls: a function that returns after a
/// system call is mispredicted, which costs 150 ns (design 0007). Returns `None` without `objdump`.
///
/// # Errors
/// If a loop calls a function that makes them.
pub fn inlined() -> Result<Option<()>> {
    if !there_is("objdump") {
        return Ok(None);
    }
    examples::build()?;
    let program = examples::program(ONE_POINT);
    let text = output("objdump", &["--disassemble", "--no-show-raw-insn", &program], &[0])?;
    if !text.contains("\tsyscall") {
        return Ok(None);
    }
    let loops = loops(&text);
    let without = loops.values().filter(|calls| **calls == 0).count();
    // Two of the seven kinds of engine may have none: one makes its calls in its own threads, and
    // one makes calls that move no data (create, stat, delete) and cost far more than a return.
    if loops.is_empty() || without * 7 > loops.len() * 2 {
        bail!("{without} of {} loops make their system calls through a function", loops.len());
    }
    println!("{} of {} loops hold their system calls", loops.len() - without, loops.len());
    Ok(Some(()))
}

/// Instances of the loop in a disassembly, with the number of system calls in each.
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

/// Instructions per I/O: the difference between a run and one of four times its length.
fn per_io(program: &str, words: impl Fn(u32) -> Vec<String>, ms: u32) -> Result<f64> {
    let run = |ms: u32| {
        let words = words(ms);
        let (instructions, text) =
            counted(program, &words.iter().map(String::as_str).collect::<Vec<_>>())?;
        anyhow::Ok((instructions, issued(&text)?))
    };
    let (short, long) = (run(ms)?, run(4 * ms)?);
    Ok((long.0 - short.0) / (long.1 - short.1))
}

/// Parses the number of I/Os that the program prints.
fn issued(text: &str) -> Result<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("issued ")).context("no figures")?;
    let (issued, _) = line.split_once(" cpu_s ").context("no CPU time")?;
    Ok(issued.parse()?)
}

/// Instructions of a run, and its output.
fn counted(program: &str, words: &[&str]) -> Result<(f64, String)> {
    let args = ["--tool=callgrind", "--callgrind-out-file=/dev/null", program];
    let text = output_and_errors("valgrind", &[&args, words].concat())?;
    let line = text.lines().find_map(|line| line.split("Collected : ").nth(1));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    Ok((number.context("callgrind printed no count")?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_ios_is_read_among_other_lines() {
        let text = "==1== Callgrind\nissued 5000 cpu_s 0.25\n==1== done\n";
        assert_eq!(issued(text).unwrap(), 5000.0);
        assert!(issued("issued 5000\n").is_err());
    }

    #[test]
    fn system_calls_are_counted_per_loop() {
        let text = "000000000001a2b0 <_ZN13qdepth_engine5drive5drive17h0aE>:\n\
                    \x20  1a2b0:\tpush   %rbp\n\
                    \x20  1a2b4:\tsyscall\n0000000000020000 <_ZN4core3fmt5write17h00E>:\n\
                    \x20  20000:\tsyscall\n\
                    0000000000030000 <_ZN13qdepth_engine5drive5drive17h0bE.llvm.1>:\n\
                    \x20  30000:\tcall   20000 <_ZN4core3fmt5write17h00E>\n";
        let calls: Vec<usize> = loops(text).into_values().collect();
        assert_eq!(calls, [1, 0], "{:?}", loops(text));
    }
}
