//! `cargo xtask calibrate [FIT]`: finds the parameters that `media/calibration.toml` names from the
//! published figures that it names, and writes them into the descriptions. Deterministic: the same
//! descriptions and figures give the same numbers.
//!
//! The search is Nelder and Mead's (1965) on the logarithms of the parameters, restarted; the loss
//! is Huber's on the logarithm of the error, so that one odd figure does not bend the others.

#![expect(clippy::disallowed_methods, reason = "a tool for those who work on the project")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

mod cells;
mod descriptions;
mod search;

use std::path::Path;
use std::process::ExitCode;

use cells::{Cell, Fit, Plan, measured};

/// Evaluations for each free parameter before a search is restarted, and restarts.
const EVALUATIONS: usize = 25;
const RESTARTS: usize = 3;

fn main() -> ExitCode {
    match calibrate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("calibrate: {error}");
            ExitCode::from(4)
        }
    }
}

fn calibrate() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let only_check = words.iter().any(|w| w == "--check");
    let wanted: Vec<&String> = words.iter().filter(|w| !w.starts_with("--")).collect();
    let plan = Plan::read(&root)?;
    for fit in plan.fits.iter().filter(|f| wanted.is_empty() || wanted.contains(&&f.name)) {
        let cells = plan.cells(fit, &fit.figures)?;
        let start = descriptions::values(&root, fit)?;
        println!("{}: {} figures, {} parameters", fit.name, cells.len(), start.len());
        let best = if only_check { start } else { found(fit, &cells, start) };
        for (parameter, value) in fit.parameters.iter().zip(&best) {
            println!("  {:<44} {value:.6}", parameter.label());
        }
        show("calibrated", fit, &cells, &best);
        let predictions = plan.cells(fit, &fit.predictions)?;
        show("predicted", fit, &predictions, &best);
        if !only_check {
            descriptions::write(&root, fit, &best)?;
        }
    }
    Ok(())
}

fn found(fit: &Fit, cells: &[Cell], start: Vec<f64>) -> Vec<f64> {
    let ranges: Vec<(f64, f64)> = fit.parameters.iter().map(|p| (p.low, p.high)).collect();
    let mut best = start;
    for round in 0..RESTARTS {
        let size = 0.25 / (1 << round) as f64;
        best = search::minimum(&best, &ranges, size, EVALUATIONS * (ranges.len() + 1), &|x| {
            loss(fit, cells, x)
        });
    }
    best
}

/// Mean Huber loss of the logarithms of the errors, in per cent.
fn loss(fit: &Fit, cells: &[Cell], values: &[f64]) -> f64 {
    let knee: f64 = 0.08;
    let each = |(cell, emulated): (&Cell, f64)| {
        let error = (emulated / cell.published).ln().abs();
        let huber = if error < knee { error * error / (2.0 * knee) } else { error - knee / 2.0 };
        huber * cell.weight
    };
    let sum: f64 = cells.iter().zip(measured(fit, cells, values)).map(each).sum();
    100.0 * sum / cells.len() as f64
}

fn show(what: &str, fit: &Fit, cells: &[Cell], values: &[f64]) {
    if cells.is_empty() {
        return;
    }
    let (mut sum, mut worst) = (0.0, 0.0_f64);
    for (cell, emulated) in cells.iter().zip(measured(fit, cells, values)) {
        let error = 100.0 * (emulated / cell.published - 1.0);
        sum += error.abs();
        worst = worst.max(error.abs());
        println!("  {:<64} {:>10.3} {emulated:>10.3} {error:>+7.1} %", cell.label, cell.published);
    }
    println!("  {what}: mean {:.2} %, worst {worst:.1} %", sum / cells.len() as f64);
}
