//! `qdepth host check`: the machine at rest, its settings, and how well its generator repeats.

use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::Result;
use qdepth_host::check::{Item, Standing, quiet, settings};
use qdepth_host::environment::{inventory, storage};
use qdepth_host::system::System;
use qdepth_host::witness::{Clocks, Sample};
use qdepth_linux::Engine;
use qdepth_measure::{Nanos, Repeatability, repeatability};
use serde_json::json;

use crate::lab::calibrate::{calibrate, null_rate};
use crate::screen::Screen;

/// Runs of each side for which the smallest difference is said (notes on trust, 2.6).
const RUNS: u32 = 5;
/// The generator's figure is a mean over this time.
const FIGURE: Nanos = Nanos::from_secs(1);

/// What was found.
pub(crate) struct Checked {
    items: Vec<Item>,
    generator: String,
    repeats: Option<Repeatability>,
}

/// Looks for so long: half of it at the idle machine, half at the generator.
pub(crate) fn check(
    system: &System,
    screen: &Screen,
    engine: Engine,
    duration: Nanos,
) -> Result<Checked> {
    let mut items = settings(system, &inventory(system));
    let half = Duration::from_nanos(duration.0 / 2);
    screen.say(&format!("looking at the idle machine for {:.0} s", half.as_secs_f64()));
    let devices = storage(system);
    let before = Sample::take(system, &devices);
    rest(half);
    items.extend(quiet(system, &before, &Sample::take(system, &devices)));
    screen.say(&format!("repeating the generator for {:.0} s", half.as_secs_f64()));
    let mut figures = Vec::new();
    let end = Clocks::read().monotonic + duration.0 / 2;
    while Clocks::read().monotonic < end {
        figures.push(figure(engine)?);
    }
    let generator = calibrate(engine, &[], 3)?.text();
    Ok(Checked { items, generator, repeats: repeatability(&figures, RUNS) })
}

fn rest(time: Duration) {
    let (end, ended) = channel::<()>();
    let _ = ended.recv_timeout(time);
    drop(end);
}

/// The mean of the generator's rates over a second.
fn figure(engine: Engine) -> Result<f64> {
    let end = Clocks::read().monotonic + FIGURE.0;
    let (mut sum, mut count) = (0.0, 0.0);
    while Clocks::read().monotonic < end {
        sum += null_rate(engine)?;
        count += 1.0;
    }
    Ok(sum / f64::max(count, 1.0))
}

impl Checked {
    /// For a person: what disturbs first.
    pub(crate) fn text(&self) -> String {
        let width = self.items.iter().map(|item| item.what.chars().count()).max().unwrap_or(0);
        let mut lines = Vec::new();
        for standing in [Standing::Disturbs, Standing::Unknown, Standing::Good] {
            for item in self.items.iter().filter(|item| item.standing == standing) {
                lines.push(format!(
                    "{:<8}  {:<width$}  {}",
                    standing.as_str(),
                    item.what,
                    item.found
                ));
                if !item.advice.is_empty() {
                    lines.push(format!("{:10}{:<width$}  → {}", "", "", item.advice));
                }
            }
        }
        lines.push(String::new());
        lines.push(self.generator.clone());
        lines.push(String::new());
        lines.push(match &self.repeats {
            None => "the generator was repeated too seldom to tell how it scatters: look longer".to_owned(),
            Some(Repeatability { variation, smallest_difference }) => format!(
                "the generator scatters by {:.2} % from second to second: without any storage, {RUNS} runs a side tell\na difference of {:.2} % from none (5 % false, 80 % found); storage adds its own scatter",
                variation * 100.0,
                smallest_difference * 100.0
            ),
        });
        lines.join("\n")
    }

    /// For machines.
    pub(crate) fn json(&self) -> String {
        let item = |item: &Item| {
            json!({
                "what": item.what,
                "standing": item.standing.as_str(),
                "found": item.found,
                "advice": item.advice,
            })
        };
        let document = json!({
            "schema": { "name": "qdepth-host-check", "version": 1 },
            "version": env!("CARGO_PKG_VERSION"),
            "items": self.items.iter().map(item).collect::<Vec<_>>(),
            "variation": self.repeats.map(|repeats| repeats.variation),
            "smallest_difference": self.repeats.map(|repeats| repeats.smallest_difference),
            "runs_a_side": RUNS,
        });
        format!("{document:#}")
    }
}
