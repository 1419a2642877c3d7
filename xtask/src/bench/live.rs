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

use super::{binary, median};
use crate::command::{output, root, show, there_is};

/// A rate that is looked at, over one that is not, at least.
const RATIO_MIN: f64 = 0.995;
/// Where pages are served.
const OTHER_CPU: &str = "0";
const PLAN: &str = "name = \"bench-live\"\noutstanding = [32]\nwarm_up = \"500ms\"\nduration = \"2s\"\n\
                    [[profile]]\nname = \"read\"\ntitle = \"Read\"\nrandom = 100\nread = 100\n\
                    request_size = \"4KiB\"\n";

pub fn live(pairs: usize) -> Result<()> {
    if !there_is("script") {
        bail!("`script` is not installed (package bsdutils)");
    }
    show("cargo", &["build", "--release", "--quiet", "--bin", "qdepth"])?;
    let number = fs::read_to_string("/sys/class/zram-control/hot_add")
        .context("cannot make a zram device (root and the zram module are needed)")?;
    let number = number.trim().to_owned();
    let answer = on_zram(&number, pairs);
    wait(Duration::from_millis(500));
    let _ = fs::write(format!("/sys/block/zram{number}/reset"), "1");
    let _ = fs::write("/sys/class/zram-control/hot_remove", &number);
    answer
}

#[expect(clippy::disallowed_methods, reason = "a reader that asks once a second")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}

fn on_zram(number: &str, pairs: usize) -> Result<()> {
    fs::write(format!("/sys/block/zram{number}/disksize"), "1G")?;
    let folder = root().join("target/bench-live");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("plan.toml"), PLAN)?;
    let device = format!("/dev/zram{number}");
    let pairs = pairs.max(2);
    let (mut ratios, mut costs, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        // ABBA, so that a drift of the machine favours neither.
        let (alone, seen) = if pair % 2 == 0 {
            let alone = alone(&folder, &device)?;
            (alone, looked_at(&folder, &device)?)
        } else {
            let seen = looked_at(&folder, &device)?;
            (alone(&folder, &device)?, seen)
        };
        println!(
            "{:>10.0} IO/s alone, {:>10.0} looked at: {:.4}; CPU of an I/O {:.4}",
            alone.0,
            seen.0,
            seen.0 / alone.0,
            seen.1 / alone.1
        );
        ratios.push(seen.0 / alone.0);
        costs.push(seen.1 / alone.1);
        rates.push(alone.0);
    }
    costs.sort_by(f64::total_cmp);
    ratios.sort_by(f64::total_cmp);
    // The median's 95 % interval by order statistics: no shape of the noise is assumed.
    let below = (pairs as f64 / 2.0 - 0.98 * (pairs as f64).sqrt()).floor().max(1.0) as usize - 1;
    let (low, high) = (ratios[below], ratios[pairs - 1 - below]);
    let (middle, rate) = (median(ratios), median(rates));
    println!(
        "looked at ÷ alone, {pairs} pairs at {rate:.0} IO/s: {middle:.4} (95 %: {low:.4} to {high:.4})"
    );
    println!(
        "CPU time of the worker for an I/O, looked at ÷ alone: {:.4} (95 %: {:.4} to {:.4})",
        median(costs.clone()),
        costs[below],
        costs[pairs - 1 - below]
    );
    match (high < RATIO_MIN, low < RATIO_MIN) {
        (true, _) => bail!("less than {RATIO_MIN}"),
        (false, true) => println!("more pairs would tell whether it is {RATIO_MIN} or more"),
        (false, false) => {}
    }
    Ok(())
}

fn words(folder: &Path, device: &str) -> String {
    let [plan, db] = ["plan.toml", "qdepth.db"].map(|name| folder.join(name).display().to_string());
    format!("{} run {plan} {device} --no-report --logbook {db}", binary())
}

/// Of the run that ended last: I/Os per second, and CPU time of the worker for each, ns.
fn figures(folder: &Path) -> Result<(f64, f64)> {
    let db = folder.join("qdepth.db").display().to_string();
    let text = output(&binary(), &["export", "latest", "--logbook", &db], &[0, 1])?;
    let document: Value = serde_json::from_str(&text)?;
    let point = &document["points"][0];
    let number = |name: &str| point[name].as_f64().with_context(|| format!("no {name}"));
    let cpu = |part: &str| point["cpu_ns_per_io"][part].as_f64().context("no CPU time");
    Ok((number("io_per_s")?, cpu("user")? + cpu("system")?))
}

fn alone(folder: &Path, device: &str) -> Result<(f64, f64)> {
    let command = words(folder, device);
    let mut parts = command.split(' ');
    let program = parts.next().unwrap_or_default();
    output(program, &parts.collect::<Vec<_>>(), &[0, 1])?;
    figures(folder)
}

/// With a live screen in a terminal, a page that follows the events, and metrics each second.
fn looked_at(folder: &Path, device: &str) -> Result<(f64, f64)> {
    let served = Served::start(folder)?;
    let done = Arc::new(AtomicBool::new(false));
    let readers = [reader(&served.1, &done, "/metrics"), events(&served.1, &done)];
    let command = format!("stty cols 100 rows 30; {}", words(folder, device));
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
    figures(folder)
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
        let place = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Ok(Self(child, place))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn asked(place: &str, path: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(place).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n").ok()?;
    Some(stream)
}

/// Asks for a page each second; how many bytes told of a run.
fn reader(place: &str, done: &Arc<AtomicBool>, path: &'static str) -> JoinHandle<u64> {
    let (place, done) = (place.to_owned(), done.clone());
    std::thread::spawn(move || {
        let mut told = 0;
        while !done.load(Ordering::Relaxed) {
            let mut text = String::new();
            if let Some(mut stream) = asked(&place, path) {
                let _ = stream.read_to_string(&mut text);
            }
            told += u64::from(text.contains("qdepth_io_per_second"));
            wait(Duration::from_secs(1));
        }
        told
    })
}

/// Follows the events of the run, as the live page does; how many were read.
fn events(place: &str, done: &Arc<AtomicBool>) -> JoinHandle<u64> {
    let (place, done) = (place.to_owned(), done.clone());
    std::thread::spawn(move || {
        let mut told = 0;
        while !done.load(Ordering::Relaxed) {
            wait(Duration::from_millis(200));
            let mut page = String::new();
            let Some(mut stream) = asked(&place, "/live") else { continue };
            let _ = stream.read_to_string(&mut page);
            let from = page.split("data-events=\"").nth(1);
            let Some(path) = from.and_then(|text| text.split('"').next()) else { continue };
            let Some(stream) = asked(&place, path) else { continue };
            for line in BufReader::new(stream).lines() {
                match line {
                    Ok(line) => told += u64::from(line.contains("\"interval\"")),
                    Err(_) if done.load(Ordering::Relaxed) => break,
                    Err(_) => {}
                }
            }
        }
        told
    })
}
