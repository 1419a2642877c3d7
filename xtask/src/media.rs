//! Work on the emulated devices from outside: their calibration, and their speed.

use anyhow::Result;

use crate::command::show;

/// Finds the calibrated numbers of `media/` from the published figures; with `--check` it only
/// shows the errors of those that are there.
pub fn calibrate(words: &[&str]) -> Result<()> {
    example("calibrate", words)
}

/// Emulated requests per second of one core, and the memory of a large drive.
pub fn speed() -> Result<()> {
    example("speed", &[])
}

fn example(name: &str, words: &[&str]) -> Result<()> {
    let mut args =
        vec!["run", "--release", "--quiet", "-p", "qdepth-media", "--example", name, "--"];
    args.extend(words);
    show("cargo", &args)
}
