//! Every bar in one table, and its history, so that a loss of speed is seen in the commit that
//! makes it. Instruction counts are also tests; times are only here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Result, bail};

use super::bar::{Bar, digits};
use super::{engine, file, instructions, many, media, pacing, workers};
use crate::command::{output, root};

const HISTORY: &str = "bench/history.csv";
const HEADER: &str = "committed,commit,machine,bar,goal,value,least,most\n";

type BenchFn = fn(usize) -> Result<Vec<Bar>>;

/// In the order of the table.
const PARTS: [(&str, BenchFn); 7] = [
    ("instructions", |_| instructions()),
    ("engine", engine),
    ("file", file),
    ("workers", workers),
    ("media", media),
    ("pacing", |_| pacing()),
    ("many", |_| many()),
];

/// Measures every bar in so many rounds, or those of the parts that are named; prints the table,
/// with what the last run on this machine had, and appends to the history.
///
/// # Errors
/// Where a part cannot be measured: its rows are left out, the others are kept.
pub fn all(rounds: usize, only: &[&str]) -> Result<()> {
    if let Some(unknown) = only.iter().find(|name| PARTS.iter().all(|(part, _)| part != *name)) {
        bail!("no part of the bench is called {unknown}");
    }
    let (mut bars, mut failed) = (Vec::new(), Vec::new());
    for (name, part) in PARTS {
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        println!("== {name}");
        match part(rounds) {
            Ok(found) => bars.extend(found),
            Err(why) => {
                println!("not measured: {why:#}");
                failed.push(name);
            }
        }
    }
    let path = root().join(HISTORY);
    let text = fs::read_to_string(&path).unwrap_or_else(|_| HEADER.to_owned());
    let machine = machine();
    println!("{}", table(&bars, &last(&text, &machine)));
    let commit = output("git", &["describe", "--always", "--dirty"], &[0])?;
    let committed = output("git", &["log", "-1", "--format=%cs"], &[0])?;
    fs::create_dir_all(root().join("bench"))?;
    fs::write(&path, text + &rows(&bars, [committed.trim(), commit.trim(), &machine]))?;
    println!("appended: {HISTORY}");
    if !failed.is_empty() {
        bail!("not measured: {}", failed.join(", "));
    }
    Ok(())
}

fn table(bars: &[Bar], before: &BTreeMap<String, f64>) -> String {
    let width = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(3);
    let mut text = format!(
        "{:width$}  {:>10}  {:>9}  {:>21}  {:>9}  met\n",
        "bar", "goal", "value", "least to most", "before"
    );
    for bar in bars {
        let before = before.get(&bar.name).map_or("–".to_owned(), |value| digits(*value));
        let _ = writeln!(
            text,
            "{:width$}  {:>10}  {:>9}  {:>21}  {before:>9}  {}",
            bar.name,
            bar.goal.to_string(),
            digits(bar.value()),
            bar.spread().map(digits).join(" to "),
            if bar.is_met() { "yes" } else { "NO" },
        );
    }
    let met = bars.iter().filter(|bar| bar.is_met()).count();
    text + &format!("{met} of {} bars are met", bars.len())
}

fn rows(bars: &[Bar], [committed, commit, machine]: [&str; 3]) -> String {
    let row = |bar: &Bar| {
        let [least, most] = bar.spread().map(digits);
        let (name, goal, value) = (&bar.name, bar.goal, digits(bar.value()));
        format!("{committed},{commit},{machine},{name},{goal},{value},{least},{most}\n")
    };
    bars.iter().map(row).collect()
}

/// What the last run on this machine found, by bar.
fn last(history: &str, machine: &str) -> BTreeMap<String, f64> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, _, here, bar, _, value, ..] = cells.as_slice() else { return None };
        (*here == machine).then_some(((*bar).to_owned(), value.parse().ok()?))
    };
    history.lines().filter_map(row).collect()
}

/// CPU, how many of them, and kernel: figures of another machine are no history of this one's.
fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown CPU");
    let count = cpus.lines().filter(|line| line.starts_with("processor")).count();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.split(['-', '\n']).next().unwrap_or_default();
    format!("{count} × {model} · Linux {kernel}").replace(',', " ")
}

#[cfg(test)]
mod tests {
    use super::super::bar::Goal;
    use super::*;

    #[test]
    fn what_is_appended_is_what_the_next_run_has_before_it() {
        let bars = [
            Bar::new("a rate", Goal::AtLeast(20.0), vec![18.0, 19.0, 22.0]),
            Bar::new("a time", Goal::AtMost(5.0), vec![4.0]),
        ];
        let history = HEADER.to_owned()
            + &rows(&bars[..1], ["2026-11-01", "1a2b3c4", "here"])
            + &rows(&bars[1..], ["2026-11-01", "1a2b3c4", "elsewhere"]);
        let before = last(&history, "here");
        assert_eq!(before, BTreeMap::from([("a rate".to_owned(), 19.0)]));
        let table = table(&bars, &before);
        assert!(table.contains("NO\na time") && table.ends_with("1 of 2 bars are met"), "{table}");
    }
}
