//! How exactly a schedule is kept where storage costs nothing: `/dev/zero`; beside fio's
//! `rate_iops`.

use anyhow::{Context, Result};
use serde_json::Value;

use super::bar::{Bar, Goal};
use super::examples::{self, ONE_POINT};
use super::programs::fio_with;
use crate::command::output;

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
/// Up to here both programs sleep nearly all the time, and are measured at once.
const SLOW: f64 = 1_000.0;

/// What came of a schedule.
struct Kept {
    io_per_s: f64,
    late_us: [f64; 3],
}

/// Asked and achieved rate, and how late requests are issued.
///
/// # Errors
/// Where a program cannot be run.
pub fn pacing() -> Result<Vec<Bar>> {
    examples::build()?;
    println!("reads of 512 B of /dev/zero by a schedule; late = response time of such a read");
    let mut bars = Vec::new();
    for (streams, rate) in SCHEDULES {
        // A hundred requests more or less are a matter of where the window ends, so the slowest
        // gets as many as the bar needs.
        let seconds = (2_000.0 / rate).clamp(5.0, 120.0).ceil();
        let asked = rate * f64::from(*streams);
        let (ours, fios) = if asked <= SLOW {
            std::thread::scope(|scope| {
                let fios = scope.spawn(|| fio(*streams, *rate, seconds));
                let ours = qdepth(*streams, *rate, seconds);
                (ours, fios.join())
            })
        } else {
            (qdepth(*streams, *rate, seconds), Ok(fio(*streams, *rate, seconds)))
        };
        let fios = fios.map_err(|_| anyhow::anyhow!("fio's run ended with a panic"))??;
        let Kept { io_per_s, late_us: [p50, p99, p999] } = ours?;
        let off = |got: f64| (got / asked - 1.0) * 100.0;
        println!(
            "{streams} x {rate:>9} IO/s for {seconds:>5.0} s: {io_per_s:>12.2} achieved ({:+.4} %; \
             fio {:+.4} %), late p50 {p50:>6.1} µs, p99 {p99:>6.1} µs, p99.9 {p999:>7.1} µs",
            off(io_per_s),
            off(fios),
        );
        let name = format!("{streams} × {rate} IO/s");
        let wide = vec![off(io_per_s).abs()];
        bars.push(Bar::new(format!("{name}: off, %"), Goal::AtMost(0.1), wide));
        bars.push(Bar::new(format!("{name}: late p99, µs"), Goal::AtMost(10.0), vec![p99]));
    }
    Ok(bars)
}

fn qdepth(streams: u32, rate: f64, seconds: f64) -> Result<Kept> {
    let program = examples::program(ONE_POINT);
    let words = [seconds.to_string(), streams.to_string(), rate.to_string()];
    let [seconds, streams, rate] = words.each_ref().map(String::as_str);
    let args = ["/dev/zero", "64", seconds, "io_uring", "512", "1073741824", streams, rate];
    let document: Value = serde_json::from_str(&output(&program, &args, &[0])?)?;
    let number = |name: &str| document[name].as_f64().context("a figure is missing");
    let late = ["response_p50_ns", "response_p99_ns", "response_p999_ns"].map(number);
    let [p50, p99, p999] = late;
    Ok(Kept { io_per_s: number("io_per_s")?, late_us: [p50? / 1e3, p99? / 1e3, p999? / 1e3] })
}

/// The rate that fio reaches; it takes whole numbers.
fn fio(streams: u32, rate: f64, seconds: f64) -> Result<f64> {
    let options = format!(
        "--filename=/dev/zero --size=1g --bs=512 --rw=randread --ioengine=io_uring --iodepth=64 \
         --norandommap=1 --numjobs={streams} --rate_iops={:.0} --runtime={seconds:.0}",
        rate.floor()
    );
    let asked_of_us = rate / rate.floor();
    Ok(fio_with(&options, None)?.io_per_s * asked_of_us)
}
