//! Two workers on two CPUs against one: what the calibration of the host says of storage that costs
//! nothing, several times.

use anyhow::{Context, Result};

use super::bar::{Bar, Goal};
use super::programs::{binary, median};
use crate::command::{output, show};

/// # Errors
/// Where the calibration has no row of two workers.
pub fn workers(rounds: usize) -> Result<Vec<Bar>> {
    show("cargo", &["build", "--release", "--quiet"])?;
    let texts: Vec<String> = (0..rounds)
        .map(|_| output(&binary(), &["host", "calibrate"], &[0]))
        .collect::<Result<_>>()?;
    let bar = |in_flight: u32| {
        let ratios = texts.iter().map(|text| ratio(text, in_flight)).collect::<Option<Vec<_>>>();
        let ratios = ratios.context("no row of two workers: this machine has one CPU")?;
        println!("two workers, {in_flight} in flight each: {:.3} × one", median(ratios.clone()));
        Ok(Bar::new(format!("two workers / one at {in_flight}"), Goal::AtLeast(1.95), ratios))
    };
    [1, 32, 128].map(bar).into_iter().collect()
}

/// Of the row: workers, in flight each, IO/s, of one worker, CPU.
fn ratio(text: &str, in_flight: u32) -> Option<f64> {
    let in_flight = in_flight.to_string();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        (cells.len() == 5 && cells[0] == "2" && cells[1] == in_flight).then(|| cells[3].parse())
    };
    text.lines().find_map(row)?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_two_workers_is_found() {
        let text = "workers  in flight each        IO/s  of one worker  CPU ns per I/O\n\
                    \x20     1              32     3900000           1.00            28.1\n\
                    \x20     2              32     7600000           1.95            28.3\n";
        assert_eq!(ratio(text, 32), Some(1.95));
        assert_eq!(ratio(text, 1), None);
    }
}
