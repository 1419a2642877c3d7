//! `cargo xtask fuzz [MINUTES [TARGET…]]`: coverage-guided fuzzing of each parser with libFuzzer,
//! on the stable compiler.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{output, root};

/// Enables LLVM's coverage pass with the options that `-Zsanitizer` uses for libFuzzer; stable
/// compilers accept it through `passes`. Arithmetic overflow panics.
const RUSTFLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                         -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                         -Cllvm-args=-sanitizer-coverage-pc-table \
                         -Cllvm-args=-sanitizer-coverage-trace-compares \
                         -Cdebug-assertions -Coverflow-checks";
/// Memory of a process, MiB, beyond which an input counts as a failure.
const MEMORY_MIB: u32 = 256;
/// Seconds for one input, beyond which it counts as a hang.
const TIMEOUT_S: u32 = 10;
/// Longest input, bytes.
const LENGTH_MAX: u32 = 256 << 10;

/// Fuzzes the named targets, or all, for `minutes` of time each. The corpus is kept in
/// `target/fuzz/corpus`, failing inputs in `crates/qdepth-fuzz/corpus`.
///
/// # Errors
/// If the fuzzer cannot be built, or an input failed.
pub fn fuzz(minutes: u64, targets: &[&str]) -> Result<()> {
    let program = build()?;
    let known = known_targets(&program)?;
    let targets = if targets.is_empty() {
        known.iter().map(String::as_str).collect()
    } else {
        targets.to_vec()
    };
    let mut failed = Vec::new();
    for target in targets {
        let before = cpu_of_children()?;
        let passed = run(&program, target, minutes.max(1) * 60)?;
        let cpu = cpu_of_children()? - before;
        let state = if passed { "no failure" } else { "FAILED" };
        println!("fuzz {target}: {cpu} s of CPU time, {state}");
        if !passed {
            failed.push(target);
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("inputs failed: {}", failed.join(", ")) }
}

fn build() -> Result<PathBuf> {
    let version = output("rustc", &["-vV"], &[0])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc -vV names no host")?;
    let target = root().join("target/fuzz");
    // `--target` keeps the coverage counters out of build scripts and procedural macros.
    let status = Command::new("cargo")
        .args(["build", "--release", "--package", "qdepth-fuzz", "--features", "coverage"])
        .args(["--target", host, "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", RUSTFLAGS)
        .current_dir(root())
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("the fuzzer does not compile");
    }
    Ok(target.join(host).join("release/qdepth-fuzz"))
}

fn known_targets(program: &Path) -> Result<Vec<String>> {
    let out = Command::new(program).env("QDEPTH_FUZZ", "list").output()?;
    let names = String::from_utf8(out.stdout)?;
    Ok(names.lines().map(str::to_owned).collect())
}

fn run(program: &Path, target: &str, seconds: u64) -> Result<bool> {
    let corpus = root().join("target/fuzz/corpus").join(target);
    let inputs = root().join("target/fuzz/inputs").join(target);
    let failures = root().join("crates/qdepth-fuzz/corpus").join(target);
    for folder in [&corpus, &inputs, &failures] {
        std::fs::create_dir_all(folder)?;
    }
    let status = Command::new(program)
        .env("QDEPTH_FUZZ", target)
        .env("QDEPTH_FUZZ_INPUTS", &inputs)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
        .arg(format!("-timeout={TIMEOUT_S}"))
        .arg(format!("-max_len={LENGTH_MAX}"))
        .arg(format!("-artifact_prefix={}/", failures.display()))
        .args(["-verbosity=0", "-print_final_stats=1"])
        .args([&corpus, &inputs])
        .status()
        .context("cannot start the fuzzer")?;
    Ok(status.success())
}

/// CPU time of all ended children of this process, seconds.
fn cpu_of_children() -> Result<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    // cutime and cstime, fields 16 and 17 of proc(5), in ticks of 1/100 s.
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(ticks / 100)
}
