//! `qdepth host check`: the idle machine, its settings, and the repeatability of its load
//! generator.

use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::Result;
use qdepth_host::check::{CheckState, Item, quiet, settings};
use qdepth_host::environment::{inventory, storage};
use qdepth_host::monitor::{Clocks, Sample};
use qdepth_host::system::System;
use qdepth_linux::Engine;
use qdepth_measure::{Nanos, Repeatability, repeatability};
use qdepth_record::{Reason, ReasonEntry};
use serde_json::json;

use crate::events::observer::Observer;
use crate::instrument::calibrate::{calibrate, null_rate};

/// Runs per side of the comparison whose smallest detectable difference is reported.
const RUNS: u32 = 5;
/// Time over which a figure of the generator is averaged.
const FIGURE: Nanos = Nanos::from_secs(1);

/// Result of a check.
pub struct Checked {
    items: Vec<Item>,
    generator: String,
    repeats: Option<Repeatability>,
    scatter: Scatter,
}

/// Checks for `duration`: half of it observes the idle machine, half measures the generator.
pub fn check(
    system: &System,
    observer: &dyn Observer,
    engine: Engine,
    duration: Nanos,
) -> Result<Checked> {
    let mut items = settings(system, &inventory(system));
    let half = Duration::from_nanos(duration.0 / 2);
    observer.message(format!("observing the idle machine for {}", Nanos(duration.0 / 2)));
    let devices = storage(system);
    let before = Sample::take(system, &devices);
    rest(half);
    items.extend(quiet(system, &before, &Sample::take(system, &devices)));
    observer
        .message(format!("measuring the load generator repeatedly for {}", Nanos(duration.0 / 2)));
    let now = || Clocks::read().monotonic;
    let end = now() + duration.0 / 2;
    let scatter = Scatter::until(end, now, || null_rate(engine).ok());
    if scatter.taken == scatter.missed {
        // No sample succeeded, so the engine itself reports its problem.
        null_rate(engine)?;
    }
    let generator = calibrate(engine, &[], 3)?.text();
    Ok(Checked { items, generator, repeats: repeatability(&scatter.figures, RUNS), scatter })
}

/// Variation of the load generator: its mean rate in each second, and the samples that failed.
struct Scatter {
    figures: Vec<f64>,
    /// Number of samples that were tried. Several give one figure.
    taken: u32,
    /// Number of failed samples: on a loaded machine a worker may get no CPU during a whole sample.
    missed: u32,
}

impl Scatter {
    fn until(end: u64, now: impl Fn() -> u64, mut sample: impl FnMut() -> Option<f64>) -> Self {
        let mut all = Self { figures: Vec::new(), taken: 0, missed: 0 };
        while now() < end {
            let (figure_end, mut sum, mut count) = (now() + FIGURE.0, 0.0, 0.0);
            while now() < figure_end {
                all.taken += 1;
                match sample() {
                    Some(rate) => (sum, count) = (sum + rate, count + 1.0),
                    None => all.missed += 1,
                }
            }
            if count > 0.0 {
                all.figures.push(sum / count);
            }
        }
        all
    }
}

fn rest(time: Duration) {
    let (end, ended) = channel::<()>();
    let _ = ended.recv_timeout(time);
    drop(end);
}

impl Checked {
    /// Text for the user, with the interferences first. `words` words a reason.
    pub fn text(&self, words: impl Fn(&Reason) -> String) -> String {
        let width = self.items.iter().map(|item| item.what.chars().count()).max().unwrap_or(0);
        let mut lines = Vec::new();
        for state in [CheckState::Disturbs, CheckState::Unknown, CheckState::Good] {
            for item in self.items.iter().filter(|item| item.state == state) {
                lines.push(format!(
                    "{:<8}  {:<width$}  {}",
                    state.as_str(),
                    item.what,
                    item.found.clone().unwrap_or_else(|why| words(&why))
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
            None => {
                "too few repetitions to estimate the variation: use a longer --duration".to_owned()
            }
            Some(Repeatability { variation, smallest_difference }) => format!(
                "the load generator varies by {:.2} % from second to second. Without storage, \
                 {RUNS} runs per side detect\na difference of {:.2} % (5 % significance, 80 % \
                 power); storage adds its own variation",
                variation * 100.0,
                smallest_difference * 100.0
            ),
        });
        let Scatter { taken, missed, .. } = self.scatter;
        if missed > 0 {
            lines.push(format!(
                "{missed} of {taken} samples of the load generator are missing (no CPU in time) \
                 and not included"
            ));
        }
        lines.join("\n")
    }

    /// Machine-readable output.
    pub fn json(&self) -> String {
        let item = |item: &Item| {
            json!({
                "code": item.code,
                "subject": item.subject,
                "standing": item.state.as_str(),
                "values": item.values,
                "labels": item.labels,
                "unknown_because": item.found.as_ref().err().map(ReasonEntry::from),
            })
        };
        let document = json!({
            "schema": { "name": "qdepth-host-check", "version": 1 },
            "version": env!("CARGO_PKG_VERSION"),
            "items": self.items.iter().map(item).collect::<Vec<_>>(),
            "variation": self.repeats.map(|repeats| repeats.variation),
            "smallest_difference": self.repeats.map(|repeats| repeats.smallest_difference),
            "runs_a_side": RUNS,
            "samples": self.scatter.taken,
            "samples_missed": self.scatter.missed,
        });
        format!("{document:#}")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Each sample takes 100 ms of a simulated clock.
    fn scatter(mut gives: impl FnMut(u64) -> bool) -> Scatter {
        let clock = Cell::new(0);
        let sample = || {
            clock.set(clock.get() + 100_000_000);
            gives(clock.get() / 100_000_000).then_some(5.0)
        };
        Scatter::until(10 * FIGURE.0, || clock.get(), sample)
    }

    #[test]
    fn samples_without_figures_are_omitted_and_counted() {
        let whole = scatter(|_| true);
        assert_eq!((whole.figures.len(), whole.taken, whole.missed), (10, 100, 0));
        let every_third = scatter(|n| n % 3 > 0);
        assert_eq!((every_third.figures.len(), every_third.missed), (10, 33));
        assert!(every_third.figures.iter().all(|figure| (figure - 5.0).abs() < 1e-9));
        // A second without a sample has no figure; the others keep theirs.
        let gap = scatter(|n| !(31..=50).contains(&n));
        assert_eq!((gap.figures.len(), gap.missed), (8, 20));
        assert_eq!(scatter(|_| false).missed, 100);
    }
}
