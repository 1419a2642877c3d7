//! What years of runs cost a reader: 10,000 runs of 100 points, listed, shown, served and merged.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::programs::binary;
use crate::command::{output, root, show};

const RUNS: u32 = 10_000;
const POINTS: u32 = 100;
/// What a list and a run's page may take.
const LIST: Duration = Duration::from_millis(100);
const PAGE: Duration = Duration::from_millis(300);
/// Runs of the smallest of three merges, each of which is twice the one before.
const MERGED: u32 = 250;
/// How often each is merged.
const MERGES: u32 = 2;
/// What twice the runs may cost more than twice, where a merge is linear.
const LINEAR: f64 = 1.25;
const TRIES: usize = 5;

/// A figure beside its bar.
struct Line {
    what: String,
    took: Duration,
    bar: Option<Duration>,
}

pub fn logbook() -> Result<()> {
    show("cargo", &["build", "--release", "--quiet", "--bin", "qdepth"])?;
    let folder = root().join("target/bench-logbook");
    fs::create_dir_all(&folder)?;
    let file = made(&folder, RUNS, POINTS)?;
    let mut lines = commands(&file)?;
    lines.extend(pages(&file)?);
    let mut missed = 0;
    println!("{RUNS} runs, {} points: median of {TRIES}", u64::from(RUNS) * u64::from(POINTS));
    for Line { what, took, bar } in &lines {
        let late = bar.is_some_and(|bar| *took > bar);
        missed += u32::from(late);
        let bar = bar.map_or(String::new(), |bar| format!("of {} ms", bar.as_millis()));
        println!("{what:<44} {:>7.1} ms {bar:<10} {}", ms(*took), if late { "MISSED" } else { "" });
    }
    missed += u32::from(!merges(&folder)?);
    if missed > 0 { bail!("{missed} bars are missed") } else { Ok(()) }
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

/// A logbook with so many runs, made where it is not there.
fn made(folder: &Path, runs: u32, points: u32) -> Result<String> {
    let file = folder.join(format!("{runs}x{points}.db"));
    let text = file.display().to_string();
    if !file.is_file() {
        // A million synchronous writes: where there is memory, into that.
        let memory = Path::new("/dev/shm");
        let part = if memory.is_dir() { memory } else { folder }.join("qdepth-bench-logbook.db");
        let _ = fs::remove_file(&part);
        let part = part.display().to_string();
        let (runs, points) = (runs.to_string(), points.to_string());
        let words = ["run", "--release", "--quiet", "-p", "qdepth-logbook", "--example", "years"];
        show("cargo", &[&words[..], &["--", &part, &runs, &points]].concat())?;
        fs::copy(&part, &file)?;
        fs::remove_file(&part)?;
    }
    Ok(text)
}

/// The median of several tries.
fn median(mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut all = Vec::new();
    for _ in 0..TRIES {
        let start = Instant::now();
        run()?;
        all.push(start.elapsed());
    }
    all.sort_unstable();
    Ok(all[TRIES / 2])
}

fn commands(file: &str) -> Result<Vec<Line>> {
    let asked: [(&str, Option<Duration>); 6] = [
        ("list", Some(LIST)),
        ("list quick host-1 drive-7", Some(LIST)),
        ("list --all", Some(LIST)),
        ("list --json", Some(LIST)),
        ("show latest", Some(PAGE)),
        ("export latest", None),
    ];
    let line = |(words, bar): (&str, Option<Duration>)| {
        let all: Vec<&str> = words.split(' ').chain(["--logbook", file]).collect();
        let took = median(|| output(&binary(), &all, &[0]).map(drop))?;
        Ok(Line { what: format!("qdepth {words}"), took, bar })
    };
    asked.into_iter().map(line).collect()
}

/// A served logbook, which ends with the value.
struct Served(Child, String);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pages(file: &str) -> Result<Vec<Line>> {
    let words = ["serve", "--port", "0", "--logbook", file];
    let (out, err) = (Stdio::piped(), Stdio::null());
    let mut child = Command::new(binary()).args(words).stdout(out).stderr(err).spawn()?;
    let mut address = String::new();
    BufReader::new(child.stdout.take().context("no output")?).read_line(&mut address)?;
    let host = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let served = Served(child, host);
    let id = format!("{:08x}-0000-7000-8000-000000000000", RUNS / 2);
    let asked = [
        ("/".to_owned(), Some(PAGE)),
        ("/?page=60".to_owned(), Some(PAGE)),
        ("/?plan=quick&target=drive-7".to_owned(), Some(PAGE)),
        (format!("/runs/{id}"), Some(PAGE)),
        ("/api/runs".to_owned(), Some(PAGE)),
        (format!("/api/runs/{id}"), Some(PAGE)),
        ("/machines".to_owned(), Some(PAGE)),
    ];
    let line = |(path, bar): (String, Option<Duration>)| {
        let took = median(|| get(&served.1, &path))?;
        Ok(Line { what: format!("GET {path}"), took, bar })
    };
    asked.into_iter().map(line).collect()
}

fn get(host: &str, path: &str) -> Result<()> {
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    if !answer.starts_with(b"HTTP/1.1 200") {
        bail!("{path}: {}", String::from_utf8_lossy(&answer[..answer.len().min(200)]));
    }
    Ok(())
}

/// Whether twice the runs take no more than twice the CPU time, and a little: what else the machine
/// does is in the time on the wall, and the disk's share of it goes with the bytes.
fn merges(folder: &Path) -> Result<bool> {
    let mut took = Vec::new();
    for times in [1, 2, 4] {
        let other = made(folder, MERGED * times, POINTS)?;
        let into = folder.join("merged.db").display().to_string();
        let (start, before) = (Instant::now(), cpu_of_children()?);
        for _ in 0..MERGES {
            for ending in ["", "-wal", "-shm"] {
                let _ = fs::remove_file(format!("{into}{ending}"));
            }
            output(&binary(), &["logbook", "merge", &other, "--logbook", &into], &[0])?;
        }
        let each = |whole: Duration| whole.as_secs_f64() / f64::from(MERGES);
        let (wall, cpu) = (each(start.elapsed()), each(cpu_of_children()? - before));
        println!("merging {:>5} runs: {cpu:.2} s of CPU, {wall:.2} s", MERGED * times);
        took.push(cpu);
    }
    let ratios: Vec<f64> = took.windows(2).map(|pair| pair[1] / pair[0] / 2.0).collect();
    println!("twice the runs cost twice the CPU time, times {:.2} and {:.2}", ratios[0], ratios[1]);
    Ok(ratios.iter().all(|ratio| *ratio <= LINEAR))
}

/// What programs that have ended took of the CPUs.
fn cpu_of_children() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("/proc/self/stat")?;
    let ticks = fields.split_whitespace().skip(13).take(2).map(str::parse::<u64>);
    // A hundredth of a second each, whatever the kernel's own clock: proc(5), USER_HZ.
    Ok(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>()?))
}
