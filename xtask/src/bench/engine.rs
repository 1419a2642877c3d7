//! Benchmark of the measurement loop at its limit, on one core with every latency recorded.
//! Compared with fio: its best comparable configuration, its default, its synchronous engine, and
//! its benchmark program `t/io_uring` if `T_IO_URING` has its path. `FIO` may list several versions
//! of fio by path, each with its own rows.

use anyhow::{Context, Result};
use serde_json::Value;

use super::examples::{self, ONE_POINT};
use super::programs::{Figure, fio_at, fio_is_there, fios, median, pinned, spread};
use super::zram::Zram;
use crate::command::output;

/// Core to which both programs are pinned.
const CORE: &str = "1";
/// Length of each measurement, seconds.
const SECONDS: &str = "0.7";
const BEST: &str = "--ioengine=io_uring --fixedbufs=1 --registerfiles=1 \
                    --iodepth_batch_complete_min=1 --norandommap=1 --randrepeat=0";
const DEFAULT: &str = "--ioengine=io_uring";
/// fio's benchmark program for the highest IOPS.
const CEILING: &str = "t/io_uring";
const PSYNC: &str = "--ioengine=psync --norandommap=1 --randrepeat=0";

/// One comparison: target, queue depth, engine and peers.
struct Row {
    target: String,
    name: &'static str,
    queue_depth: u32,
    engine: &'static str,
    peers: Vec<Peer>,
}

/// A fio by path, with variants of its options; the fastest counts.
struct Peer {
    name: String,
    program: String,
    variants: Vec<String>,
}

/// Version of fio, for example `fio-3.42`; its path is specific to this machine.
fn version(program: &str) -> String {
    output(program, &["--version"], &[0])
        .map_or_else(|_| "fio".to_owned(), |text| text.trim().to_owned())
}

/// Peers: each fio with these kinds of variants.
fn peers(kinds: &[(&str, Vec<String>)]) -> Vec<Peer> {
    let programs = fios();
    let program_peers = |program: &String| {
        let which =
            if programs.len() > 1 { format!(" of {}", version(program)) } else { String::new() };
        let peer = |(kind, variants): &(&str, Vec<String>)| Peer {
            name: format!("{kind}{which}"),
            program: program.clone(),
            variants: variants.clone(),
        };
        kinds.iter().map(peer).collect::<Vec<_>>()
    };
    programs.iter().flat_map(program_peers).collect()
}

/// Runs every row `rounds` times, interleaved, and prints the medians of the ratios with their
/// spread.
///
/// # Errors
/// If fio or zram is not available.
pub fn engine(rounds: usize) -> Result<()> {
    fio_is_there()?;
    examples::build()?;
    let zram = Zram::new()?;
    println!(
        "one core, {SECONDS} s each, {rounds} rounds; rate ours / theirs (median, least to most)"
    );
    rows(&zram.path()).iter().try_for_each(|row| measure(row, rounds))
}

fn rows(zram: &str) -> Vec<Row> {
    let best = |queue_depth: u32| {
        let batch = format!(
            "{BEST} --iodepth_batch_submit={queue_depth} --iodepth_batch_complete_max={queue_depth}"
        );
        // If a target blocks, fio is faster when kernel threads take the I/O immediately.
        vec![batch.clone(), format!("{batch} --force_async=1")]
    };
    let single = |text: &str| vec![text.to_owned()];
    let row = |target: &str, name, queue_depth, engine, kinds: Vec<_>| Row {
        target: target.to_owned(),
        name,
        queue_depth,
        engine,
        peers: peers(&kinds),
    };
    let mut rows = Vec::new();
    for queue_depth in [1, 32, 128] {
        let kinds = vec![("fio best", best(queue_depth)), ("fio default", single(DEFAULT))];
        rows.push(row("/dev/zero", "/dev/zero", queue_depth, "io_uring", kinds));
    }
    for queue_depth in [1, 32, 512] {
        let kinds = vec![("fio best", best(queue_depth)), ("fio default", single(DEFAULT))];
        rows.push(row(zram, "zram", queue_depth, "io_uring", kinds));
    }
    rows.push(row(zram, "zram", 1, "sync", vec![("fio psync", single(PSYNC))]));
    rows
}

fn measure(row: &Row, rounds: usize) -> Result<()> {
    let mut ours = Vec::new();
    let mut theirs: Vec<Vec<Figure>> = vec![Vec::new(); row.peers.len()];
    let mut ceiling = std::env::var("T_IO_URING").ok().filter(|_| row.engine == "io_uring");
    let mut ceilings = Vec::new();
    for _ in 0..rounds {
        ours.push(one_point(row)?);
        for (peer, figures) in row.peers.iter().zip(&mut theirs) {
            let runs = peer.variants.iter().map(|options| run(row, &peer.program, options));
            let runs = runs.collect::<Result<Vec<_>>>()?;
            let best = runs.into_iter().max_by(|a, b| a.io_per_s.total_cmp(&b.io_per_s));
            figures.extend(best);
        }
        if let Some(program) = &ceiling {
            match t_io_uring(program, row) {
                Ok(figure) => ceilings.push(figure),
                Err(why) => {
                    println!("{}: t/io_uring is left out, since {}", row.name, in_short(&why));
                    ceiling = None;
                }
            }
        }
    }
    let mut peers: Vec<(&str, Vec<Figure>)> =
        row.peers.iter().map(|peer| peer.name.as_str()).zip(theirs).collect();
    if ceiling.is_some() {
        peers.push((CEILING, ceilings));
    }
    print_row(row, &ours, &peers);
    Ok(())
}

fn print_row(row: &Row, ours: &[Figure], peers: &[(&str, Vec<Figure>)]) {
    let Row { name, queue_depth, engine, .. } = row;
    let middle =
        |figures: &[Figure], pick: fn(&Figure) -> f64| median(figures.iter().map(pick).collect());
    println!(
        "{name}, {queue_depth} queue_depth, {engine}: {:.0} IO/s, mean {:.2} µs, user {:.1} \
         + system {:.1} ns per I/O",
        middle(ours, |f| f.io_per_s),
        middle(ours, |f| f.mean_ns) / 1e3,
        middle(ours, |f| f.user_ns),
        middle(ours, |f| f.system_ns),
    );
    for (peer, figures) in peers {
        let ratios = |pick: fn(&Figure) -> f64| -> Vec<f64> {
            ours.iter().zip(figures).map(|(a, b)| pick(a) / pick(b)).collect()
        };
        let rates = ratios(|f| f.io_per_s);
        let [least, most] = spread(&rates);
        println!(
            "    {:.2} × {peer} ({least:.2} to {most:.2}; {:.0} IO/s), user CPU per I/O 1/{:.1}",
            median(rates),
            middle(figures, |f| f.io_per_s),
            1.0 / median(ratios(|f| f.user_ns)),
        );
    }
}

fn one_point(row: &Row) -> Result<Figure> {
    let program = examples::program(ONE_POINT);
    let queue_depth = row.queue_depth.to_string();
    let args = [row.target.as_str(), &queue_depth, SECONDS, row.engine];
    let value: Value = serde_json::from_str(&pinned(CORE, &program, &args)?)?;
    let number = |key: &str| value[key].as_f64().context("a figure is missing");
    Ok(Figure {
        io_per_s: number("io_per_s")?,
        mean_ns: number("mean_ns")?,
        user_ns: number("user_ns")?,
        system_ns: number("system_ns")?,
    })
}

fn run(row: &Row, program: &str, options: &str) -> Result<Figure> {
    let direct = u32::from(row.target != "/dev/zero");
    fio_at(
        program,
        &format!(
            "--filename={} --size=1g --bs=4k --rw=randread --iodepth={} --runtime={SECONDS} \
             --ramp_time=200ms --direct={direct} {options}",
            row.target, row.queue_depth
        ),
        CORE,
    )
}

/// Short reason why the ceiling program gave no rate. One branch of it asks each target for its
/// size and refuses character devices, which have none.
fn in_short(why: &anyhow::Error) -> String {
    let text = format!("{why:#}");
    if text.contains("failed getting size") {
        return "it refuses a character device (it finds no size)".to_owned();
    }
    text.lines().next().unwrap_or_default().to_owned()
}

/// Runs fio's ceiling program with a batch of the queue depth, at most 32, its default.
fn t_io_uring(program: &str, row: &Row) -> Result<Figure> {
    let batch = row.queue_depth.min(32);
    let direct = if row.target == "/dev/zero" { "-O0" } else { "-O1" };
    let line = format!(
        "-d {} -s {batch} -c {batch} -b4096 -p0 -F1 -B1 -n1 -R1 -X1 -r2 {direct} {}",
        row.queue_depth, row.target
    );
    let args: Vec<&str> = line.split(' ').collect();
    let text = pinned(CORE, program, &args)?;
    let io_per_s = ceiling_rate(&text).with_context(|| format!("it printed no rate: {text}"))?;
    Ok(Figure { io_per_s, mean_ns: f64::NAN, user_ns: f64::NAN, system_ns: f64::NAN })
}

/// Mean over the seconds that the program printed (`IOPS=4.15M`, `K`, or no suffix), because ours
/// is a mean; the maximum that it prints is its best second.
fn ceiling_rate(text: &str) -> Option<f64> {
    let rate = |line: &str| {
        let number = line.trim().strip_prefix("IOPS=")?.split([',', ' ']).next()?;
        let (digits, factor) = match number.strip_suffix(['M', 'K']) {
            Some(digits) if number.ends_with('M') => (digits, 1e6),
            Some(digits) => (digits, 1e3),
            None => (number, 1.0),
        };
        digits.parse::<f64>().ok().map(|rate| (rate * factor).round())
    };
    let rates: Vec<f64> = text.lines().filter_map(rate).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_device_in_ceiling_benchmark_has_a_reason() {
        let why = |text: &str| in_short(&anyhow::anyhow!("{text}"));
        let refusal = "taskset -c 1 t/io_uring ended with exit status: 1: failed getting size of \
                       device/file\n";
        assert_eq!(why(refusal), "it refuses a character device (it finds no size)");
        assert_eq!(why("cannot start taskset\nand more"), "cannot start taskset");
    }

    #[test]
    fn rate_of_ceiling_program_is_parsed() {
        let text = "IOPS=3.91M, BW=15.2GiB/s, IOS/call=32/31\n\
                    IOPS=4.15M, BW=15.2GiB/s, IOS/call=32/31\nMaximum IOPS=4.15M\n";
        assert_eq!(ceiling_rate(text), Some(4.03e6));
        assert_eq!(ceiling_rate("IOPS=226K, BW=15.2GiB/s\n"), Some(226e3));
        assert_eq!(ceiling_rate("IOPS=812, BW=15.2GiB/s\n"), Some(812.0));
        assert_eq!(ceiling_rate("submitter=0"), None);
    }
}
