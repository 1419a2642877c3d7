//! `cargo xtask`: development tasks of the project.

#![expect(clippy::disallowed_methods, reason = "a tool of ours, on files of ours")]

mod bench;
mod book;
mod command;
mod dist;
mod fuzz;
mod nightly;
mod suite;
mod test;
mod tidy;
mod vm;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask test [--quick] | tidy | vm | book | dist [--quick] [--pdf] \
                     | nightly [CAMPAIGN…] | bench engine [ROUNDS] \
                     | bench fio [PAIRS [file|slow]] | bench instructions | bench report \
                     | calibrate [--check] [FIT…] | fuzz [MINUTES [TARGET…]]";

fn main() -> ExitCode {
    // Without the stack trace that CI's settings would add: CI shows only the end of the log.
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn task() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test"] => test::test(),
        ["test", "--quick"] => test::quick(),
        ["tidy"] => tidy::tidy(),
        ["nightly", rest @ ..] => nightly::nightly(rest),
        ["fuzz", rest @ ..] => match rest.split_first() {
            Some((minutes, targets)) => fuzz::fuzz(minutes.parse()?, targets),
            None => fuzz::fuzz(1, &[]),
        },
        ["book"] => book::book(),
        ["dist", rest @ ..] => dist::dist(rest),
        ["vm"] => vm::vm()?.map_or(Ok(()), suite::Counts::close),
        ["bench", "engine", rest @ ..] => {
            bench::engine(rest.first().map_or(Ok(2), |word| word.parse())?)
        }
        ["bench", "fio", rest @ ..] => {
            let pairs = rest.first().map_or(Ok(5), |word| word.parse())?;
            bench::job_file(pairs, rest.get(1).copied())
        }
        ["bench", "instructions"] => match (bench::budget()?, bench::inlined()?) {
            (Some(()), Some(())) => Ok(()),
            (None, _) => bail!("valgrind is not installed"),
            (_, None) => bail!("objdump is not installed, or knows no syscall of this CPU"),
        },
        ["bench", "report"] => bench::report(),
        // Fits the calibrated numbers of `media/` to the published figures. With `--check`, only
        // shows the errors of the present numbers.
        ["calibrate", rest @ ..] => {
            let program = "run --release --quiet -p qdepth-media --example calibrate --";
            let words: Vec<&str> = program.split(' ').chain(rest.iter().copied()).collect();
            command::show("cargo", &words)
        }
        _ => bail!(USAGE),
    }
}
