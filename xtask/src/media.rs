//! Calibration and speed of the emulated devices.

use anyhow::Result;

use crate::command::show;

/// Fits the calibrated numbers of `media/` to the published figures. With `--check`, only shows the
/// errors of the present numbers.
pub fn calibrate(words: &[&str]) -> Result<()> {
    example("calibrate", words)
}

/// Prints the emulated I/Os per second of one core, and the memory of a large drive.
pub fn speed() -> Result<()> {
    example("speed", &[])
}

fn example(name: &str, words: &[&str]) -> Result<()> {
    let mut args =
        vec!["run", "--release", "--quiet", "-p", "qdepth-media", "--example", name, "--"];
    args.extend(words);
    show("cargo", &args)
}
