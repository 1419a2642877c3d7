//! What it costs a measurement that it is looked at: the same point alone, and with a live screen,
//! a live page and Prometheus' metrics, in pairs on a memory device.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::programs::{binary, median};
use super::zram::Zram;
use crate::command::{output, root, show, there_is};

/// A rate that is seen, over one that is alone, at least.
const RATIO_MIN: f64 = 0.995;
/// Where the worker runs, and where pages are served.
const CPU: &str = "1";
const OTHER_CPU: &str = "0";
const PLAN: &str = "name = \"bench-live\"\noutstanding = [32]\nwarm_up = \"500ms\"\n\
                    duration = \"2s\"\n\
                    [[profile]]\nname = \"read\"\ntitle = \"Read\"\nrandom = 100\nread = 100\n\
                    request_size = \"4KiB\"\n";

pub fn live(pairs: usize) -> Result<()> {
    if !there_is("script") {
        bail!("`script` is not installed (package bsdutils)");
    }
    show("cargo", &["build", "--release", "--quiet", "--bin", "qdepth"])?;
    let devices = [Zram::new()?, Zram::new()?];
    let sides = ["alone", "seen"].map(|name| root().join("target/bench-live").join(name));
    for folder in &sides {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder)?;
        fs::write(folder.join("plan.toml"), PLAN)?;
    }
    let [alone, seen] = [0, 1].map(|n| Side { folder: &sides[n], device: devices[n].path() });
    in_turn(&alone, &Side { device: alone.device.clone(), ..seen }, pairs.max(2))?;
    at_once(&alone, &seen, pairs.max(2))
}

#[expect(clippy::disallowed_methods, reason = "a reader that asks once a second")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

/// One of a pair: where its runs are kept, and what they read.
struct Side<'a> {
    folder: &'a Path,
    device: String,
}

impl Side<'_> {
    fn words(&self) -> String {
        let path = |name| self.folder.join(name).display().to_string();
        let (plan, db) = (path("plan.toml"), path("qdepth.db"));
        let device = &self.device;
        format!("{} run {plan} {device} --cpus {CPU} --no-report --logbook {db}", binary())
    }
}

/// One after the other on one device, ABBA, so that a drift of the machine favours neither: rates.
fn in_turn(alone: &Side<'_>, seen: &Side<'_>, pairs: usize) -> Result<()> {
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let (unseen, other) = if pair % 2 == 0 {
            let unseen = run_alone(alone)?;
            (unseen, run_seen(seen)?)
        } else {
            let other = run_seen(seen)?;
            (run_alone(alone)?, other)
        };
        let ratio = other.io_per_s / unseen.io_per_s;
        println!("{:>10.0} IO/s alone, {:>10.0} seen: {ratio:.4}", unseen.io_per_s, other.io_per_s);
        ratios.push(ratio);
        rates.push(unseen.io_per_s);
    }
    let found = Median::from_values(ratios);
    println!("rate, seen ÷ alone, {pairs} pairs at {:.0} IO/s: {found}", median(rates));
    Ok(())
}

/// Both at the same time on one core, each with a device of its own, so that what the machine does
/// meets both alike: CPU time of an I/O, whose inverse is the rate of a worker that never waits.
fn at_once(alone: &Side<'_>, seen: &Side<'_>, pairs: usize) -> Result<()> {
    let (mut ratios, mut tries) = (Vec::new(), 0);
    while ratios.len() < pairs {
        tries += 1;
        if tries > 2 * pairs {
            bail!("of {tries} pairs, {} had both workers run at all", ratios.len());
        }
        let (unseen, other) = std::thread::scope(|scope| {
            let running = scope.spawn(|| run_alone(alone));
            let other = run_seen(seen);
            (running.join(), other)
        });
        let unseen = unseen.map_err(|_| anyhow::anyhow!("a thread panicked"))??;
        // The scheduler may let one wait for the whole of the other's point.
        ratios.extend(unseen.cpu_ns.zip(other?.cpu_ns).map(|(cpu_ns, other)| cpu_ns / other));
    }
    let found = Median::from_values(ratios);
    println!(
        "both at once on one core, CPU time of an I/O, alone ÷ seen, {pairs} of {tries} pairs: \
         {found}"
    );
    match (found.high < RATIO_MIN, found.low < RATIO_MIN) {
        (true, _) => bail!("less than {RATIO_MIN}"),
        (false, true) => println!("more pairs would tell whether it is {RATIO_MIN} or more"),
        (false, false) => {}
    }
    Ok(())
}

/// A median with its 95 % interval by order statistics: no shape of the noise is assumed.
struct Median {
    value: f64,
    low: f64,
    high: f64,
}

impl Median {
    fn from_values(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let below = (count / 2.0 - 0.98 * count.sqrt()).floor().max(1.0) as usize - 1;
        let (low, high) = (values[below], values[values.len() - 1 - below]);
        Self { value: median(values), low, high }
    }
}

impl std::fmt::Display for Median {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.4} (95 %: {:.4} to {:.4})", self.value, self.low, self.high)
    }
}

/// What a run found: I/Os per second, and CPU time of the worker for each.
struct Found {
    io_per_s: f64,
    cpu_ns: Option<f64>,
}

/// Of the run that ended last.
fn figures(side: &Side<'_>) -> Result<Found> {
    let db = side.folder.join("qdepth.db").display().to_string();
    let text = output(&binary(), &["export", "latest", "--logbook", &db], &[0, 1])?;
    let document: Value = serde_json::from_str(&text)?;
    let point = &document["points"][0];
    let number = |name: &str| point[name].as_f64().with_context(|| format!("no {name}"));
    let cpu = |part: &str| point["cpu_ns_per_io"][part].as_f64();
    let cpu_ns = cpu("user").zip(cpu("system")).map(|(user, system)| user + system);
    Ok(Found { io_per_s: number("io_per_s")?, cpu_ns })
}

fn run_alone(side: &Side<'_>) -> Result<Found> {
    let command = side.words();
    let mut parts = command.split(' ');
    let program = parts.next().unwrap_or_default();
    output(program, &parts.collect::<Vec<_>>(), &[0, 1])?;
    figures(side)
}

/// With a live screen in a terminal, a page that follows the events, and metrics each second.
fn run_seen(side: &Side<'_>) -> Result<Found> {
    let served = Served::start(side.folder)?;
    let done = Arc::new(AtomicBool::new(false));
    let readers = [reader(&served.1, &done, "/metrics"), events(&served.1, &done)];
    let command = format!("stty cols 100 rows 30; {}", side.words());
    let (out, err) = (Stdio::null(), Stdio::null());
    let status = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .stdout(out)
        .stderr(err)
        .stdin(Stdio::null())
        .status()?;
    done.store(true, Ordering::Relaxed);
    let read: Vec<u64> = readers.into_iter().filter_map(|reader| reader.join().ok()).collect();
    if status.code().is_none_or(|code| code > 1) {
        bail!("{command}: {status}");
    }
    if read.contains(&0) {
        bail!("the pages were not read: {read:?}");
    }
    figures(side)
}

/// A served logbook, which ends with the value.
struct Served(Child, String);

impl Served {
    fn start(folder: &Path) -> Result<Self> {
        let db = folder.join("qdepth.db").display().to_string();
        let program = binary();
        let words = ["-c", OTHER_CPU, &program, "serve", "--port", "0", "--logbook", &db];
        let mut child = Command::new("taskset")
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut address = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut address)?;
        let host = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Ok(Self(child, host))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn asked(host: &str, path: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").ok()?;
    Some(stream)
}

/// Asks for a page each second; how many bytes told of a run.
fn reader(host: &str, done: &Arc<AtomicBool>, path: &'static str) -> JoinHandle<u64> {
    let (host, done) = (host.to_owned(), done.clone());
    std::thread::spawn(move || {
        let mut pages = 0;
        while !done.load(Ordering::Relaxed) {
            let mut text = String::new();
            if let Some(mut stream) = asked(&host, path) {
                let _ = stream.read_to_string(&mut text);
            }
            pages += u64::from(text.contains("qdepth_io_per_second"));
            wait(Duration::from_secs(1));
        }
        pages
    })
}

/// Follows the events of the run, as the live page does; how many were read.
fn events(host: &str, done: &Arc<AtomicBool>) -> JoinHandle<u64> {
    let (host, done) = (host.to_owned(), done.clone());
    std::thread::spawn(move || {
        let mut intervals = 0;
        while !done.load(Ordering::Relaxed) {
            wait(Duration::from_millis(200));
            let mut page = String::new();
            let Some(mut stream) = asked(&host, "/live") else { continue };
            let _ = stream.read_to_string(&mut page);
            let from = page.split("data-events=\"").nth(1);
            let Some(path) = from.and_then(|text| text.split('"').next()) else { continue };
            let Some(stream) = asked(&host, path) else { continue };
            for line in BufReader::new(stream).lines() {
                match line {
                    Ok(line) => intervals += u64::from(line.contains("\"interval\"")),
                    Err(_) if done.load(Ordering::Relaxed) => break,
                    Err(_) => {}
                }
            }
        }
        intervals
    })
}
