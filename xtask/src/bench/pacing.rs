//! How exactly a schedule is kept where storage costs nothing: `/dev/zero`.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{output, root, show};

/// Streams and I/Os per second of each; the last are the eight writers of Intel's write-pressure
/// set at 500 MB/s: 62,500 KiB/s each in requests of 8 KiB.
const SCHEDULES: &[(u32, f64)] = &[
    (1, 10.0),
    (1, 100.0),
    (1, 1_000.0),
    (1, 10_000.0),
    (1, 100_000.0),
    (1, 1_000_000.0),
    (8, 7_812.5),
];
/// What the achieved rate may differ by.
const BAR: f64 = 0.001;

/// Asked and achieved rate, and how late requests are issued.
///
/// # Errors
/// Where a rate is missed by more than 0.1 %.
pub fn pacing() -> Result<()> {
    let build = ["build", "--release", "--quiet", "-p", "qdepth-linux", "--example", "one_point"];
    show("cargo", &build)?;
    let program = root().join("target/release/examples/one_point").display().to_string();
    println!("reads of 512 B of /dev/zero by a schedule; late = response time of such a read");
    let mut missed = Vec::new();
    for (streams, rate) in SCHEDULES {
        // Ten seconds hold a hundred requests of the slowest: one more or less is a per cent, so
        // it is given as many as the bar needs.
        let seconds = (2_000.0 / rate).clamp(5.0, 120.0);
        let words = [seconds.to_string(), streams.to_string(), rate.to_string()];
        let args =
            ["/dev/zero", "64", &words[0], "io_uring", "512", "1073741824", &words[1], &words[2]];
        let document: Value = serde_json::from_str(&output(&program, &args, &[0])?)?;
        let number = |name: &str| document[name].as_f64().context("a figure is missing");
        let (asked, got) = (rate * f64::from(*streams), number("io_per_s")?);
        let off = got / asked - 1.0;
        println!(
            "{streams} x {rate:>9} IO/s for {seconds:>5.0} s: {got:>12.2} achieved ({:+.4} %), late p50 {:>6.1} µs, p99.9 {:>7.1} µs",
            off * 100.0,
            number("response_p50_ns")? / 1e3,
            number("response_p999_ns")? / 1e3,
        );
        if off.abs() > BAR {
            missed.push(asked);
        }
    }
    if !missed.is_empty() {
        bail!("missed by more than 0.1 %: {missed:?} IO/s");
    }
    Ok(())
}
